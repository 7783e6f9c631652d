"""Inside the Microsoft Agent Framework, with a scripted model."""

import asyncio
import json

import pytest
from conftest import RULE, TURNS, steps

framework = pytest.importorskip("agent_framework")
from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, tool
from strongroom.integrations.agent_framework import EvidenceCompaction

STEPS = list(steps())
QUESTION = "did we ever modify system config?"


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Reads manuals, changes a file, asks what it has done, and says what it was told."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def _inner_get_response(self, *, messages, stream, options, **how):
        async def respond():
            self.seen.append(list(messages))
            made = sum(own.type == "function_call" for message in messages for own in message.contents)
            if made < len(STEPS):
                name, arguments, _ = STEPS[made]
                call = Content.from_function_call(f"call_{made}", name, arguments=json.dumps(arguments))
            elif made == len(STEPS):
                call = Content.from_function_call("ask", "strongroom__evidence_ask", arguments={"question": QUESTION})
            else:
                results = [own for message in messages for own in message.contents if own.type == "function_result"]
                return ChatResponse(messages=[Message("assistant", [str(results[-1].result)])])
            return ChatResponse(messages=[Message("assistant", [call])])

        return respond()


RESULTS = {json.dumps(arguments): result for _, arguments, result in STEPS}


@tool(approval_mode="never_require")
def read_file(path: str) -> str:
    """Reads a file."""
    return RESULTS[json.dumps({"path": path})]


@tool(approval_mode="never_require")
def write_file(path: str, content: str) -> str:
    """Writes a file."""
    return RESULTS[json.dumps({"path": path, "content": content})]


def test_a_long_run_is_compacted_and_asked(archive):
    client = Scripted()
    client.function_invocation_configuration["max_iterations"] = 40
    compaction = EvidenceCompaction(archive, trigger=4_000, budget=2_500, name="af/1")
    agent = Agent(client, tools=[read_file, write_file, *compaction.tools()], compaction_strategy=compaction)
    answer = asyncio.run(agent.run(RULE))
    assert "supported: yes" in answer.text and "/etc/app/conf.yaml" in answer.text
    assert len(client.seen) == TURNS + 3
    last = client.seen[-1]
    texts = [message.text for message in last]
    assert RULE in texts
    assert any(text.startswith("[strongroom] Derived, not evidence") for text in texts)
    calls = [own.call_id for message in last for own in message.contents if own.type == "function_call"]
    results = [own.call_id for message in last for own in message.contents if own.type == "function_result"]
    assert calls == results and len(calls) == TURNS + 2
    assert len(archive.sessions()) == 1


def test_small_conversations_and_failures_leave_the_messages_alone(archive):
    messages = [Message("user", [RULE]), Message("assistant", ["The service answers."])]
    before = list(messages)
    assert asyncio.run(EvidenceCompaction(archive)(messages)) is False
    assert messages == before
    archive.close()
    assert asyncio.run(EvidenceCompaction(archive, trigger=1, budget=1)(messages)) is False
    assert messages == before
