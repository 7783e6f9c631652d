"""The rules that the vendors' APIs enforce on a list of messages, checked with the vendors' own types.

Each function returns the broken rules as a set of sentences, so that a caller can tell what a compaction broke from
what was broken before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from anthropic.types import MessageParam
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter, ValidationError

Message = Mapping[str, Any]

ANTHROPIC = TypeAdapter(MessageParam)
OPENAI_CHAT = TypeAdapter(ChatCompletionMessageParam)
OPENAI_ITEM = TypeAdapter(ResponseInputItemParam)


def typed(adapter: TypeAdapter[Any], values: Iterable[Any]) -> set[str]:
    """What the vendor's types refuse. Lists are validated lazily, so everything is read to its end."""
    broken = set()
    for at, value in enumerate(values):
        try:
            exhaust(adapter.validate_python(value))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            kind = value.get("role") or value.get("type") if isinstance(value, dict) else type(value)
            broken.add(f"type of {kind}: {first['loc'][-1]} {first['msg']} (first at {at})")
    return {sentence.split(" (first", 1)[0] for sentence in broken}


def exhaust(value: Any) -> None:
    """Reads lazily validated lists, which raise only when they are read."""
    if isinstance(value, Mapping):
        for inner in value.values():
            exhaust(inner)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for inner in value:
            exhaust(inner)


def parts(message: Message) -> list[dict[str, Any]]:
    """The content of a message as a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or [] if isinstance(part, dict)]


def ids(message: Message, kind: str, key: str) -> list[str]:
    """The ids in the parts of one kind."""
    return [str(part.get(key)) for part in parts(message) if part.get("type") == kind]


def merged(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Neighbours of one role joined, as the API joins them."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1]["content"].extend(parts(message))
        else:
            joined.append({"role": message["role"], "content": list(parts(message))})
    return joined


def anthropic(messages: list[Message]) -> set[str]:
    """Rules of the Anthropic Messages API."""
    broken = typed(ANTHROPIC, messages)
    turns = merged(messages)
    if not turns or turns[0]["role"] != "user":
        broken.add("the first message is not the user's")
    if any(one["role"] == two["role"] for one, two in zip(turns, turns[1:])):
        broken.add("roles do not alternate")
    calls: list[str] = []
    for at, turn in enumerate(turns):
        if not turn["content"]:
            broken.add(f"an empty message of {turn['role']}")
        if any(part.get("type") == "text" and not str(part.get("text", "")).strip() for part in turn["content"]):
            broken.add(f"an empty text of {turn['role']}")
        own = ids(turn, "tool_use", "id")
        calls += own
        before = ids(turns[at - 1], "tool_use", "id") if at else []
        after = ids(turns[at + 1], "tool_result", "tool_use_id") if at + 1 < len(turns) else []
        broken |= {f"call {call} without a result in the next message" for call in own if call not in after}
        results = ids(turn, "tool_result", "tool_use_id")
        broken |= {f"result {call} without a call in the message before" for call in results if call not in before}
        broken |= {f"two results of {call}" for call in results if results.count(call) > 1}
    return broken | {f"two calls with id {call}" for call in calls if calls.count(call) > 1}


def results_first(messages: list[Message]) -> set[str]:
    """Results stand before other parts of their message. Agents reorder this themselves, request bodies must obey."""
    broken = set()
    for turn in merged(messages):
        kinds = [part.get("type") == "tool_result" for part in turn["content"]]
        if kinds != sorted(kinds, reverse=True):
            broken.add("a result stands behind another part")
    return broken


def openai_chat(messages: list[Message]) -> set[str]:
    """Rules of OpenAI Chat Completions."""
    broken = typed(OPENAI_CHAT, messages)
    open_calls: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            call = str(message.get("tool_call_id"))
            if call in open_calls:
                open_calls.remove(call)
            else:
                broken.add(f"result {call} without a call before it")
            continue
        broken |= {f"call {call} is not answered before the next {message.get('role')}" for call in open_calls}
        open_calls = [str(call.get("id")) for call in message.get("tool_calls") or []]
        for call in message.get("tool_calls") or []:
            if not isinstance(call.get("function", {}).get("arguments", ""), str):
                broken.add("arguments are not a string")
    return broken | {f"call {call} is never answered" for call in open_calls}


def responses(items: list[Message]) -> set[str]:
    """Rules of the Responses API, of which the items of a Codex history are made."""
    # Items of Codex alone; the agent turns them into something else before it sends them.
    own = {"ghost_snapshot", "compaction", "context_compaction", "tool_search_call", "tool_search_output", "web_search_call"}
    broken = typed(OPENAI_ITEM, [item for item in items if item.get("type") not in own])
    calls: dict[str, int] = {}
    for at, item in enumerate(items):
        kind, call = str(item.get("type")), str(item.get("call_id"))
        if kind in {"function_call", "custom_tool_call", "local_shell_call"}:
            if call in calls:
                broken.add(f"two calls with id {call}")
            calls[call] = at
        elif kind in {"function_call_output", "custom_tool_call_output"} and calls.pop(call, None) is None:
            broken.add(f"output {call} without a call before it")
        elif kind == "reasoning" and item.get("encrypted_content") and at + 1 == len(items):
            broken.add("sealed reasoning without the item behind it")
        elif kind == "message":
            wanted = "output_text" if item.get("role") == "assistant" else "input_"
            if not all(str(part.get("type")).startswith(wanted) for part in parts(item)):
                broken.add(f"a content part that does not fit role {item.get('role')}")
    return broken | {f"call {call} without an output" for call in calls}
