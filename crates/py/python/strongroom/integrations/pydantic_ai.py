"""Pydantic AI: a history processor that compacts, with tools to ask about what was compacted.

archive = strongroom.open()
agent = Agent(
    model,
    capabilities=[ProcessHistory(CompactHistory(archive, trigger=60_000, budget=20_000))],
    toolsets=[evidence_toolset(archive)],
)
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Any, Optional, Union

from pydantic_ai import FunctionToolset, RunContext, Tool
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import to_jsonable_python

from ..archive import Archive
from ..messages import places
from . import _shared

__all__ = ["CompactHistory", "evidence_toolset"]

FORMAT = _shared.Chat.FORMAT


class CompactHistory:
    """A history processor that compacts the messages when they have grown, and keeps every original.

    `trigger` is the size in tokens from which on it does, `budget` what is left: a share (`"40%"`) or a number of
    tokens. Where a compaction fails the messages stay as they are, with a warning to the logger `strongroom`.
    Thinking, files of the model and calls of the provider's own tools are passed by: they stay as they are.
    """

    def __init__(self, archive: Archive, *, trigger: int = 60_000, budget: Union[str, int] = "40%") -> None:
        self.archive = archive
        self.trigger = trigger
        self.budget = budget
        self._growth = _shared.Growth()

    async def __call__(self, ctx: RunContext[Any], messages: list[ModelMessage]) -> list[ModelMessage]:
        """The messages to go on with."""
        return await asyncio.to_thread(self._run, _name(ctx), messages)

    def _run(self, name: Optional[str], messages: list[ModelMessage]) -> list[ModelMessage]:
        history = _History(messages)
        if not history.chat:
            return messages
        size = history.tokens()
        if size < self.trigger or not self._growth.is_enough(name, size):
            return messages
        after = _shared.compacted(self.archive, history.chat, self.budget, name, format=FORMAT)
        made = messages if after is None else history.with_chat(after)
        self._growth.note(name, _History(made).tokens())
        return made


def evidence_toolset(archive: Archive) -> FunctionToolset[Any]:
    """Tools for an agent: to ask about its own conversation, and to see an original."""

    async def evidence_ask(ctx: RunContext[Any], question: str) -> str:
        chat, name = _History(ctx.messages).chat, _name(ctx)
        return await asyncio.to_thread(_shared.answered, lambda: archive.ask(question, chat, name=name, format=FORMAT))

    async def evidence_show(pointer: str) -> str:
        return await asyncio.to_thread(_shared.shown, archive, pointer)

    return FunctionToolset(
        [
            Tool(evidence_ask, name=_shared.ASK, description=_shared.ASK_DESCRIPTION),
            Tool(evidence_show, name=_shared.SHOW, description=_shared.SHOW_DESCRIPTION),
        ]
    )


def _name(ctx: RunContext[Any]) -> Optional[str]:
    conversation = getattr(ctx, "conversation_id", None)
    return f"pydantic-ai/{conversation}" if conversation else None


class _History(_shared.Chat):
    """The messages in the form of OpenAI Chat: one for each part of a request and one for each response."""

    def __init__(self, messages: Sequence[ModelMessage]) -> None:
        super().__init__()
        self.messages = messages
        for number, message in enumerate(messages):
            if isinstance(message, ModelRequest):
                for part, own in enumerate(message.parts):
                    self.add(_of_request_part(own), (number, part))
            elif isinstance(message, ModelResponse):
                self.add(_of_response(message), (number, None))

    def with_chat(self, after: list[dict[str, Any]]) -> list[ModelMessage]:
        """The messages with the contents of `after`."""
        changed = [list(message.parts) for message in self.messages]
        inserted: list[tuple[int, int, str]] = []
        found = places(self.chat, after)
        for index, (chat, place) in enumerate(zip(after, found)):
            if place is None:
                number, part = self.at[index]
                inserted.append((number, part or 0, _shared.joined(chat["content"])))
            elif chat != self.chat[place]:
                number, part = self.at[place]
                if part is None:
                    changed[number] = _with_response(changed[number], chat)
                else:
                    changed[number][part] = _with_content(changed[number][part], chat["content"])
        made = [_with_parts(message, parts) for message, parts in zip(self.messages, changed)]
        for number, part, summary in reversed(inserted):
            _insert(made, number, part, summary)
        return made


def _with_parts(message: ModelMessage, parts: list[Any]) -> ModelMessage:
    if all(own is given for own, given in zip(parts, message.parts)):
        return message
    return dataclasses.replace(message, parts=parts)  # type: ignore[arg-type]


def _insert(messages: list[ModelMessage], number: int, part: int, summary: str) -> None:
    """Puts the summary before a part of a request, or before a response in a request of its own."""
    beside = messages[number]
    timestamp = beside.timestamp or getattr(beside.parts[0] if beside.parts else None, "timestamp", None)
    own = UserPromptPart(summary, timestamp=timestamp) if timestamp else UserPromptPart(summary)
    if isinstance(beside, ModelRequest):
        parts = [*beside.parts[:part], own, *beside.parts[part:]]
        messages[number] = dataclasses.replace(beside, parts=parts)
    else:
        messages.insert(number, ModelRequest([own]))


def _of_request_part(part: Any) -> Optional[dict[str, Any]]:
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        if isinstance(part.content, str):
            return {"role": "user", "content": part.content}
        return {"role": "user", "content": [_of_user_content(own) for own in part.content]}
    if isinstance(part, ToolReturnPart):
        content = part.model_response_str()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "name": part.tool_name, "content": content}
    # Until version 2 a failed call is answered by a part of its own.
    if getattr(part, "part_kind", None) == "retry-prompt" and part.tool_name is not None:
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response()}
    return None


def _of_user_content(content: Any) -> dict[str, Any]:
    if isinstance(content, str):
        return {"type": "text", "text": content}
    kind = getattr(content, "kind", "file")
    return {"type": "file", "kind": kind, "file": to_jsonable_python(content, bytes_mode="base64", fallback=repr)}


def _of_response(response: ModelResponse) -> Optional[dict[str, Any]]:
    texts = [{"type": "text", "text": text} for text in map(_text, response.parts) if text]
    calls = [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": part.args_as_json_str()},
        }
        for part in response.parts
        if isinstance(part, ToolCallPart)
    ]
    if not texts and not calls:
        return None
    message: dict[str, Any] = {"role": "assistant", "content": texts or None}
    return {**message, "tool_calls": calls} if calls else message


def _text(part: Any) -> Optional[str]:
    """The text of a part. The APIs refuse empty texts, and some models send them beside calls."""
    return part.content or None if isinstance(part, TextPart) else None


def _with_content(part: Any, content: Any) -> Any:
    if isinstance(part, UserPromptPart) and not isinstance(content, str):
        parts = zip(part.content, content)
        content = [own if _of_user_content(own) == new else new["text"] for own, new in parts]
    return dataclasses.replace(part, content=content)


def _with_response(parts: list[Any], chat: dict[str, Any]) -> list[Any]:
    """The parts as `chat` has them; where one text stands for several, the others are left out."""
    texts = iter(_shared.texts(chat.get("content")))
    calls = iter(chat.get("tool_calls") or [])
    made = []
    for part in parts:
        if _text(part):
            text = next(texts, None)
            if text is None:
                continue
            part = part if text == part.content else dataclasses.replace(part, content=text)
        elif isinstance(part, ToolCallPart):
            arguments = next(calls)["function"]["arguments"]
            same = arguments == part.args_as_json_str()
            part = part if same else dataclasses.replace(part, args=arguments)
        made.append(part)
    return made
