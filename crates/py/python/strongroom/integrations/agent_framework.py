"""Microsoft Agent Framework: a compaction strategy, with tools to ask about what was compacted.

compaction = EvidenceCompaction(strongroom.open(), trigger=60_000, budget=20_000)
agent = Agent(client, tools=[*tools, *compaction.tools()], compaction_strategy=compaction)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Optional, Union

from agent_framework import Content, FunctionTool, Message

from ..archive import Archive
from ..messages import Conversation, places
from . import _shared

__all__ = ["EvidenceCompaction"]

FORMAT = _shared.Chat.FORMAT

_SEEN: ContextVar[Sequence[Message]] = ContextVar("strongroom_seen", default=())
"""The messages of the model's last request, of which a tool is asked that it calls."""


class EvidenceCompaction:
    """A `CompactionStrategy` that compacts the messages when they have grown, and keeps every original.

    `trigger` is the size in tokens from which on it does, `budget` what is left: a share (`"40%"`) or a number of
    tokens; `name` is what the archive calls the conversation, without which one is made from its beginning. Where a
    compaction fails the messages stay as they are, with a warning to the logger `strongroom`. Reasoning, and contents
    that are neither text, calls nor results, are passed by: they stay as they are.
    """

    def __init__(
        self, archive: Archive, *, trigger: int = 60_000, budget: Union[str, int] = "40%", name: Optional[str] = None
    ) -> None:
        self.archive = archive
        self.trigger = trigger
        self.budget = budget
        self.name = name
        self._growth = _shared.Growth()

    async def __call__(self, messages: list[Message]) -> bool:
        """Compacts `messages` where they stand, and tells whether it has."""
        changed = await asyncio.to_thread(self._run, messages)
        _SEEN.set(messages)
        return changed

    def tools(self) -> list[FunctionTool]:
        """Tools for the agent: to ask about its own conversation, and to see an original."""

        async def evidence_ask(question: str) -> str:
            chat, archive = _History(_SEEN.get()).chat, self.archive
            return await asyncio.to_thread(
                _shared.answered, lambda: archive.ask(question, chat, name=self.name, format=FORMAT)
            )

        async def evidence_show(pointer: str) -> str:
            return await asyncio.to_thread(_shared.shown, self.archive, pointer)

        return [
            FunctionTool(name=_shared.ASK, description=_shared.ASK_DESCRIPTION, func=evidence_ask),
            FunctionTool(name=_shared.SHOW, description=_shared.SHOW_DESCRIPTION, func=evidence_show),
        ]

    def _run(self, messages: list[Message]) -> bool:
        history = _History(messages)
        if not history.chat:
            return False
        name = self.name or Conversation(history.chat, FORMAT).usual_name()
        size = history.tokens()
        if size < self.trigger or not self._growth.is_enough(name, size):
            return False
        after = _shared.compacted(self.archive, history.chat, self.budget, name, format=FORMAT)
        if after is not None:
            messages[:] = history.with_chat(after)
        self._growth.note(name, _History(messages).tokens())
        return after is not None


class _History(_shared.Chat):
    """The messages in the form of OpenAI Chat: one for each result, and one for each other message."""

    def __init__(self, messages: Sequence[Message]) -> None:
        super().__init__()
        self.messages = list(messages)
        for number, message in enumerate(self.messages):
            if message.additional_properties.get("_excluded"):
                continue
            for place, content in enumerate(message.contents):
                if content.type == "function_result":
                    self.add(_of_result(content), (number, place))
            self.add(_of_message(message), (number, None))

    def with_chat(self, after: list[dict[str, Any]]) -> list[Message]:
        """The messages with the contents of `after`."""
        made = list(self.messages)
        inserted: list[tuple[int, str]] = []
        for index, (chat, found) in enumerate(zip(after, places(self.chat, after))):
            if found is None:
                inserted.append((self.at[index][0], _shared.joined(chat["content"])))
            elif chat != self.chat[found]:
                number, place = self.at[found]
                made[number] = _changed(made[number], place, chat)
        for number, summary in reversed(inserted):
            made.insert(number, Message("user", [summary]))
        return made


def _of_result(content: Content) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": content.call_id, "content": _result(content)}


def _result(content: Content) -> str:
    if content.result is None:
        return content.exception or ""
    return content.result if isinstance(content.result, str) else json.dumps(content.result, default=str)


def _arguments(content: Content) -> str:
    arguments = content.arguments
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def _of_message(message: Message) -> Optional[dict[str, Any]]:
    texts = [{"type": "text", "text": own.text} for own in message.contents if own.type == "text" and own.text]
    calls = [
        {
            "id": own.call_id,
            "type": "function",
            "function": {"name": own.name, "arguments": _arguments(own)},
        }
        for own in message.contents
        if own.type == "function_call"
    ]
    if not texts and not calls:
        return None
    chat: dict[str, Any] = {"role": message.role, "content": texts or None}
    return {**chat, "tool_calls": calls} if calls else chat


def _changed(message: Message, place: Optional[int], chat: dict[str, Any]) -> Message:
    """The message with the content of `chat`: of one result, or of everything else."""
    contents = list(message.contents)
    if place is not None:
        contents[place] = _with_result(contents[place], chat["content"])
    else:
        texts = iter(_shared.texts(chat.get("content")))
        calls = iter(chat.get("tool_calls") or [])
        changed = (_with_chat(own, texts, calls) for own in contents)
        contents = [own for own in changed if own is not None]
    properties = dict(message.additional_properties)
    return Message(
        message.role,
        contents,
        author_name=message.author_name,
        message_id=message.message_id,
        additional_properties=properties,
    )


def _with_result(content: Content, text: str) -> Content:
    if text == _result(content):
        return content
    return Content.from_function_result(content.call_id or "", result=text)


def _with_chat(content: Content, texts: Iterator[str], calls: Iterator[dict[str, Any]]) -> Optional[Content]:
    """The content as `texts` and `calls` have it; nothing where one text stands for it and others."""
    if content.type == "text" and content.text:
        text = next(texts, None)
        if text is None:
            return None
        return content if text == content.text else Content.from_text(text)
    if content.type == "function_call":
        arguments = next(calls)["function"]["arguments"]
        if arguments == _arguments(content):
            return content
        return Content.from_function_call(content.call_id or "", content.name or "", arguments=arguments)
    return content
