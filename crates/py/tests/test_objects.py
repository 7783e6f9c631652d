"""Objects of the vendors' packages among the messages."""

import pytest
from conftest import anthropic_messages, openai_messages

QUESTION = "did we ever modify system config?"


def test_messages_of_openai(archive):
    chat = pytest.importorskip("openai.types.chat")
    given = [
        chat.ChatCompletionMessage.model_validate(message) if message["role"] == "assistant" else message
        for message in openai_messages()
    ]
    compaction = archive.compact(given, budget="40%", name="run")
    assistant = [message for message in compaction.messages if not isinstance(message, dict)]
    assert len(assistant) == sum(not isinstance(message, dict) for message in given)
    assert all(isinstance(message, chat.ChatCompletionMessage) for message in assistant)
    assert "{}" in [message.tool_calls[0].function.arguments for message in assistant if message.tool_calls]
    assert given[-2] is compaction.messages[-2]
    assert archive.ask(QUESTION, compaction.messages, name="run").answer == "yes"


def test_parts_of_anthropic(archive):
    types = pytest.importorskip("anthropic.types")
    given = [
        {**message, "content": [part_of(types, part) for part in message["content"]]}
        if message["role"] == "assistant"
        else message
        for message in anthropic_messages()
    ]
    compaction = archive.compact(given, budget="40%", name="run")
    assert compaction.report.format == "anthropic-messages" and compaction.changed
    assert compaction.messages[-1] is given[-1]
    assert archive.ask(QUESTION, compaction.messages, name="run").answer == "yes"


def part_of(types, part):
    own = types.ToolUseBlock if part["type"] == "tool_use" else types.TextBlock
    return own.model_validate(part)
