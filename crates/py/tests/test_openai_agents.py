"""The OpenAI Agents SDK: the session under a runner with a scripted model."""

import asyncio
import json

import pytest

pytest.importorskip("agents")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from conftest import RULE, steps
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from strongroom.integrations.openai_agents import EvidenceSession, evidence_tools

RESULTS = {(name, arguments["path"]): result for name, arguments, result in steps()}


@function_tool
def read_file(path: str) -> str:
    """Reads a file."""
    return RESULTS["read_file", path]


@function_tool
def write_file(path: str, content: str) -> str:
    """Writes a file."""
    return RESULTS["write_file", path]


def said(text):
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])


def called(number, name, arguments):
    arguments = json.dumps(arguments)
    return ResponseFunctionToolCall(call_id=f"call_{number}", type="function_call", name=name, arguments=arguments)


class Script(Model):
    """A model that follows a script, and refuses what the API would refuse."""

    def __init__(self, replies):
        self.replies = replies
        self.seen = []

    async def get_response(self, system_instructions, input, *args, **kwargs):
        check_pairs(input)
        self.seen.append(list(input))
        reply = self.replies[len(self.seen) - 1]
        return ModelResponse(output=[reply], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


def check_pairs(items):
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert sorted(calls) == sorted(results)
    assert len(set(calls)) == len(calls)


def is_summary(item):
    return '"[strongroom] Derived' in json.dumps(item.get("content"))


def test_the_session_is_compacted_and_a_later_question_is_answered(archive):
    asked = called(99, "strongroom__evidence_ask", {"question": "did we ever modify system config?"})
    calls = [called(number, name, arguments) for number, (name, arguments, _) in enumerate(steps())]
    model = Script([*calls, said("The service answers."), asked, said("Yes, /etc/app/conf.yaml.")])

    async def run():
        session = EvidenceSession("7", SQLiteSession("7"), archive=archive, trigger=6_000, budget="40%")
        agent = Agent("ops", tools=[read_file, write_file, *evidence_tools(session)], model=model)
        quiet = RunConfig(tracing_disabled=True)
        await Runner.run(agent, RULE, session=session, max_turns=50, run_config=quiet)
        grown = await session.underlying_session.get_items()
        result = await Runner.run(agent, "Did we ever modify system config?", session=session, run_config=quiet)
        return grown, await session.get_items(), result.final_output

    grown, after, output = asyncio.run(run())
    assert output.startswith("Yes")
    second = model.seen[-2]
    assert is_summary(second[0])
    assert RULE in [item.get("content") for item in second]
    assert len(json.dumps(second)) < len(json.dumps(grown)) / 2
    answer = [item["output"] for item in model.seen[-1] if item.get("type") == "function_call_output"][-1]
    assert answer.startswith("supported: yes") and "/etc/app/conf.yaml" in answer
    assert {source.name for source in archive.sessions()} == {"conversation:openai-agents/7"}
    assert archive.ask("did we ever modify system config?", after, name="openai-agents/7").answer == "yes"


def test_a_single_long_run_is_compacted_within(archive):
    asked = called(99, "strongroom__evidence_ask", {"question": "did we ever modify system config?"})
    calls = [called(number, name, arguments) for number, (name, arguments, _) in enumerate(steps())]
    model = Script([*calls, asked, said("Yes, /etc/app/conf.yaml.")])

    async def run():
        session = EvidenceSession("7", SQLiteSession("7"), archive=archive, trigger=4_000, budget=2_500)
        agent = Agent("ops", tools=[read_file, write_file, *evidence_tools(session)], model=model)
        config = RunConfig(tracing_disabled=True, call_model_input_filter=session.model_input)
        return await Runner.run(agent, RULE, session=session, max_turns=50, run_config=config)

    assert asyncio.run(run()).final_output.startswith("Yes")
    last = model.seen[-1]
    assert sum(map(is_summary, last)) == 1
    assert RULE in [item.get("content") for item in last]
    answer = [item["output"] for item in last if item.get("type") == "function_call_output"][-1]
    assert answer.startswith("supported: yes") and "/etc/app/conf.yaml" in answer
    # Between two compactions what was sent is sent again, so that a cache holds.
    same = sum(after[: len(before)] == before for before, after in zip(model.seen, model.seen[1:]))
    assert same >= len(model.seen) // 2


class Failing(SQLiteSession):
    """A store that fails when it is given a summary."""

    async def add_items(self, items):
        if "[strongroom]" in json.dumps(items):
            raise OSError("disk full")
        await super().add_items(items)


def test_a_store_that_fails_keeps_what_it_had(archive):
    from conftest import responses_items

    async def run():
        session = EvidenceSession("7", Failing("7"), archive=archive, trigger=10)
        await session.add_items(responses_items())
        with pytest.raises(OSError):
            await session.compact()
        return await session.underlying_session.get_items()

    assert asyncio.run(run()) == responses_items()


def test_the_session_is_a_session(archive):
    async def run():
        session = EvidenceSession("7", SQLiteSession("7"), archive=archive)
        await session.add_items([{"role": "user", "content": str(number)} for number in range(3)])
        assert not await session.compact()
        assert [item["content"] for item in await session.get_items(2)] == ["1", "2"]
        assert (await session.pop_item())["content"] == "2"
        await session.clear_session()
        return await session.get_items()

    assert asyncio.run(run()) == []


def test_an_archive_that_fails_leaves_the_history(archive, caplog):
    from conftest import responses_items

    archive.close()

    async def run():
        session = EvidenceSession("7", SQLiteSession("7"), archive=archive, trigger=10)
        await session.add_items(responses_items())
        return await session.get_items()

    assert asyncio.run(run()) == responses_items()
    assert "not compacted" in caplog.text
