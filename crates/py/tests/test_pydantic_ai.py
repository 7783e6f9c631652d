"""Pydantic AI: the history processor in an agent with a scripted model."""

import json
from datetime import datetime, timezone

import pytest

pytest.importorskip("pydantic_ai")

from conftest import RULE, WRITTEN, steps
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from strongroom.integrations.pydantic_ai import CompactHistory, _with_response, evidence_toolset

try:
    from pydantic_ai.capabilities import ProcessHistory
except ImportError:  # before version 2
    ProcessHistory = None

RESULTS = {(name, arguments["path"]): result for name, arguments, result in steps()}
ASKED = ToolCallPart("strongroom__evidence_ask", {"question": "did we ever modify system config?"}, "call_99")


def read_file(path: str) -> str:
    return RESULTS["read_file", path]


def write_file(path: str, content: str) -> str:
    return RESULTS["write_file", path]


def parts(messages, kind):
    return [part for message in messages for part in message.parts if isinstance(part, kind)]


def check_pairs(messages):
    open_calls = []
    for message in messages:
        if isinstance(message, ModelResponse):
            assert not open_calls, f"no result for {open_calls}"
            open_calls = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                open_calls.remove(part.tool_call_id)
    assert not open_calls


class Script:
    def __init__(self, replies):
        self.replies = replies
        self.seen = []

    def __call__(self, messages, info):
        check_pairs(messages)
        self.seen.append(list(messages))
        return ModelResponse([self.replies[len(self.seen) - 1]])


def agent(archive, model, **how):
    processor = CompactHistory(archive, **how)
    own = {"capabilities": [ProcessHistory(processor)]} if ProcessHistory else {"history_processors": [processor]}
    tools = {"tools": [read_file, write_file], "toolsets": [evidence_toolset(archive)]}
    return Agent(FunctionModel(model), system_prompt="You operate one host.", **tools, **own)


def test_a_long_run_is_compacted_and_a_later_question_is_answered(archive):
    calls = [ToolCallPart(name, arguments, f"call_{n}") for n, (name, arguments, _) in enumerate(steps())]
    script = Script([*calls, TextPart("The service answers."), ASKED, TextPart("Yes, /etc/app/conf.yaml.")])
    ops = agent(archive, script, trigger=6_000, budget=4_000)
    first = ops.run_sync(RULE)
    result = ops.run_sync("Did we ever modify system config?", message_history=first.all_messages())

    assert result.output.startswith("Yes")
    last = script.seen[-1]
    prompts = [part.content for part in parts(last, UserPromptPart)]
    assert RULE in prompts
    assert sum(str(prompt).startswith("[strongroom] Derived") for prompt in prompts) == 1
    assert WRITTEN not in [call.args_as_dict().get("content") for call in parts(last, ToolCallPart)]
    answer = parts(last, ToolReturnPart)[-1].content
    assert answer.startswith("supported: yes") and "/etc/app/conf.yaml" in answer
    # What the run returns is compacted too, and can be stored.
    assert ModelMessagesTypeAdapter.validate_json(result.all_messages_json()) == result.all_messages()


def history():
    at = datetime(2026, 3, 1, tzinfo=timezone.utc)
    picture = BinaryContent(b"\x89PNG", media_type="image/png")
    made = [
        ModelRequest([SystemPromptPart("You operate."), UserPromptPart([RULE, picture], timestamp=at)], timestamp=at)
    ]
    for number, (name, arguments, result) in enumerate(steps()):
        call = ToolCallPart(name, json.dumps(arguments), f"call_{number}")
        made.append(ModelResponse([ThinkingPart("Hm.", signature="s"), TextPart("I look."), call], timestamp=at))
        made.append(ModelRequest([ToolReturnPart(name, result, f"call_{number}", timestamp=at)]))
    return [*made, ModelResponse([TextPart("Done.")]), ModelRequest([UserPromptPart("Good. What is next?")])]


def test_only_what_was_reclaimed_is_made_anew(archive):
    given = history()
    before = ModelMessagesTypeAdapter.dump_json(given)
    after = CompactHistory(archive, trigger=100, budget="40%")._run("run", given)
    assert ModelMessagesTypeAdapter.dump_json(given) == before
    check_pairs(after)
    assert after[-1] is given[-1]
    first = after[0].parts
    assert first[0] is given[0].parts[0] and first[-1].content[0] == RULE
    assert first[1].content.startswith("[strongroom] Derived") and first[1].timestamp == given[0].timestamp
    assert len(parts(after, ThinkingPart)) == len(parts(given, ThinkingPart))
    assert {} in [call.args_as_dict() for call in parts(after, ToolCallPart)]
    assert len(ModelMessagesTypeAdapter.dump_json(after)) < len(before)
    # A later compaction replaces the summary, and the last words are still there.
    longer = [*after, ModelResponse([TextPart("Rest.")]), ModelRequest([UserPromptPart("Why?")])]
    again = CompactHistory(archive, trigger=100, budget="95%")._run("run", longer)
    summaries = [part for part in parts(again, UserPromptPart) if str(part.content).startswith("[strongroom]")]
    assert len(summaries) == 1 and again[-1] is longer[-1]


def test_an_archive_that_fails_leaves_the_messages(archive, caplog):
    archive.close()
    given = history()
    assert CompactHistory(archive, trigger=100)._run("run", given) is given
    assert "not compacted" in caplog.text


def test_a_stub_may_stand_for_several_texts():
    parts = [TextPart("one"), ToolCallPart("read_file", {"path": "a"}, "c1"), TextPart("two")]
    calls = [{"function": {"arguments": parts[1].args_as_json_str()}}]
    stub, call = _with_response(parts, {"content": "both went", "tool_calls": calls})
    assert stub.content == "both went" and call is parts[1]
    kept = [{"type": "text", "text": text} for text in ("one", "two")]
    assert _with_response(parts, {"content": kept, "tool_calls": calls}) == parts
