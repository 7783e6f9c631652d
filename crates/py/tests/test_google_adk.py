"""Inside Google ADK, with a scripted model."""

import asyncio

import pytest
from conftest import RULE, TURNS, steps

pytest.importorskip("google.adk")
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from strongroom.integrations.google_adk import EvidencePlugin

STEPS = list(steps())
RESULTS = {arguments["path"]: result for _, arguments, result in STEPS}
QUESTION = "did we ever modify system config?"
SEEN = []


class Scripted(BaseLlm):
    """Reads manuals, changes a file, asks what it has done, and says what it was told."""

    async def generate_content_async(self, llm_request, stream=False):
        SEEN.append(list(llm_request.contents))
        parts = [part for content in llm_request.contents for part in content.parts or []]
        made = sum(part.function_call is not None for part in parts)
        if made < len(STEPS):
            name, arguments, _ = STEPS[made]
            part = types.Part(function_call=types.FunctionCall(name=name, args=arguments))
        elif made == len(STEPS):
            call = types.FunctionCall(name="strongroom__evidence_ask", args={"question": QUESTION})
            part = types.Part(function_call=call)
        else:
            told = [part.function_response.response for part in parts if part.function_response is not None]
            part = types.Part(text=str(told[-1]))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def read_file(path: str) -> str:
    """Reads a file."""
    return RESULTS[path]


def write_file(path: str, content: str) -> str:
    """Writes a file."""
    return RESULTS[path]


async def answer(plugin):
    agent = LlmAgent(name="ops", model=Scripted(model="scripted"), tools=[read_file, write_file, *plugin.tools()])
    runner = InMemoryRunner(app=App(name="ops", root_agent=agent, plugins=[plugin]))
    session = await runner.session_service.create_session(app_name="ops", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text=RULE)])
    texts = []
    async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        texts += [part.text for part in (event.content.parts if event.content else []) if part.text]
    return texts[-1]


def test_a_long_run_is_compacted_and_asked(archive):
    SEEN.clear()
    told = asyncio.run(answer(EvidencePlugin(archive, trigger=4_000, budget=2_500)))
    assert "supported: yes" in told and "/etc/app/conf.yaml" in told
    assert len(SEEN) == TURNS + 3
    parts = [part for content in SEEN[-1] for part in content.parts]
    texts = [part.text for part in parts if part.text]
    assert RULE in texts
    assert any(text.startswith("[strongroom] Derived, not evidence") for text in texts)
    calls = [part.function_call.id for part in parts if part.function_call]
    results = [part.function_response.id for part in parts if part.function_response]
    assert calls == results and len(calls) == TURNS + 2
    assert len(archive.sessions()) == 1


def test_small_requests_and_failures_leave_the_contents_alone(archive):
    contents = [types.Content(role="user", parts=[types.Part(text=RULE)])]
    assert EvidencePlugin(archive)._run("name", contents) is contents
    archive.close()
    assert EvidencePlugin(archive, trigger=1, budget=1)._run("name", contents) is contents
