"""Messages of the frameworks as the native module reads them, and back again as they were.

Dicts (OpenAI Chat and Responses, Anthropic) are their own JSON. Messages of LangChain take the form in which LangChain
dumps them. Objects of the vendors' packages are dumped by pydantic. What a compaction leaves alone comes back as the
very object that was given; the rest is made anew, of the same class.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Optional

from . import _native
from .errors import InvalidInput, native

__all__ = ["Conversation", "places"]

_LISTS = ("messages", "input", "items")
"""Where the messages stand in the body of a request."""

_SHELL = ("role", "type", "tool_call_id", "call_id", "id", "name")
"""What a compaction never changes of a message."""

_DERIVED = "[strongroom] Derived"
"""How a summary of ours begins."""


def _is_langchain(message: Any) -> bool:
    return hasattr(message, "model_dump") and any(
        base.__module__.startswith("langchain_core.messages") for base in type(message).__mro__
    )


def _plain(value: Any) -> Any:
    """What `json` asks for an object that it does not know."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise InvalidInput(f"{type(value).__name__} in a message has no JSON form")


def _or_named(value: Any) -> Any:
    """As `_plain`; what has no JSON form is named by its type. It is nothing that a model is sent."""
    try:
        return _plain(value)
    except InvalidInput:
        return f"<{type(value).__name__}>"


def _written(value: Any, default: Callable[[Any], Any] = _plain) -> str:
    """JSON in UTF-8, or with escapes where a text holds half a character, which UTF-8 cannot say."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=default)
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, separators=(",", ":"), default=default)
    except InvalidInput:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"a message has no JSON form: {error}") from error
    return text


class _Kind(NamedTuple):
    """How one message becomes JSON, and is made again from it."""

    write: Callable[[Any], str]
    load: Callable[[Any, Any, Any], Any]
    """From its JSON now, its JSON before, and the message; the last two are missing of a new message."""


def _write_langchain(message: Any) -> str:
    # An artifact is the program's own; a model is never sent it.
    data = message.model_dump(exclude={"artifact"})
    return _written({"type": message.type, "data": data}, _or_named)


def _load_langchain(data: Any, before: Any, message: Any) -> Any:
    if message is None:
        from langchain_core.messages import messages_from_dict

        return messages_from_dict([data])[0]
    now, was = data["data"], before["data"]
    return message.model_copy(update={name: now[name] for name in now if now[name] != was.get(name)})


_DICT = _Kind(write=_written, load=lambda data, before, message: data)
_LANGCHAIN = _Kind(write=_write_langchain, load=_load_langchain)
_MODEL = _Kind(write=_written, load=lambda data, before, message: type(message).model_validate(data))


def _kind(message: Any) -> _Kind:
    if isinstance(message, Mapping):
        return _DICT
    if _is_langchain(message):
        return _LANGCHAIN
    if hasattr(message, "model_dump"):
        return _MODEL
    raise InvalidInput(f"{type(message).__name__} is no message that is known here")


def _shell(message: Any) -> Any:
    """What of a message stays through a compaction: who speaks, and the ids of calls and results."""
    if not isinstance(message, dict):
        return None
    inside = message["data"] if isinstance(message.get("data"), dict) else message
    shell: dict[str, Any] = {name: inside[name] for name in _SHELL if isinstance(inside.get(name), str)}
    for name in ("tool_calls", "content"):
        parts = inside.get(name)
        if isinstance(parts, list):
            ids = [part.get("id") or part.get("tool_use_id") for part in parts if isinstance(part, dict)]
            shell[name] = [own for own in ids if own]
    return shell


def _is_summary(message: Any) -> bool:
    """Whether a message begins like a summary of ours; in what we made ourselves that tells it from others."""
    return f'"{_DERIVED}' in json.dumps(message, ensure_ascii=False)


def places(before: list[Any], after: list[Any]) -> list[Optional[int]]:
    """For each message of `after` the message of `before` that it is; `None` for the summary."""
    if len(before) == len(after):
        return list(range(len(before)))
    old, new = [_shell(message) for message in before], [_shell(message) for message in after]
    for at in range(len(after)):
        if new[:at] == old[:at] and new[at + 1 :] == old[at:] and _is_summary(after[at]):
            return [*range(at), None, *range(at, len(before))]
    return [None] * len(after)


class Conversation:
    """Messages, in a list or in the body of a request, with their JSON."""

    def __init__(self, messages: Any, format: Optional[str] = None) -> None:
        self._given = messages
        self._key: Optional[str] = None
        held = messages
        if isinstance(messages, Mapping):
            self._key = next((key for key in _LISTS if isinstance(messages.get(key), Sequence)), None)
            if self._key is None:
                raise InvalidInput("a body without a list of messages")
            held = messages[self._key]
        if isinstance(held, (str, bytes)) or not isinstance(held, Sequence):
            raise InvalidInput(f"{type(held).__name__} is no list of messages")
        self._messages: list[Any] = list(held)
        self._kinds = [_kind(message) for message in self._messages]
        own = {"langchain" for kind in self._kinds if kind is _LANGCHAIN}
        if own and any(kind is not _LANGCHAIN for kind in self._kinds):
            raise InvalidInput("messages of LangChain and others are mixed")
        self.format = format or next(iter(own), None)
        self._texts = [kind.write(message) for kind, message in zip(self._kinds, self._messages)]

    @property
    def text(self) -> str:
        """The JSON of the messages, or of the body around them."""
        messages = "[" + ",".join(self._texts) + "]"
        if self._key is None:
            return messages
        fields = [
            f"{_written(key)}:{messages if key == self._key else _written(value)}" for key, value in self._given.items()
        ]
        return "{" + ",".join(fields) + "}"

    def tokens(self) -> int:
        """About how many tokens the messages are, by `o200k_base`."""
        return native(_native.count_tokens, self.text)

    def usual_name(self) -> str:
        """A name by the beginning of the conversation, which no later message and no compaction changes."""
        digest = hashlib.sha256()
        for text in self._texts:
            if _DERIVED in text:
                continue
            digest.update(text.encode())
            message = json.loads(text)
            if "user" in (message.get("role"), message.get("type")) or message.get("type") == "human":
                break
        return f"messages-{digest.hexdigest()[:16]}"

    def with_json(self, text: str) -> Any:
        """The messages that `text` holds, of the kind that was given."""
        data = json.loads(text)
        after = data if self._key is None else data[self._key]
        before = [json.loads(own) for own in self._texts]
        messages = [self._one(message, at, before) for message, at in zip(after, places(before, after))]
        if isinstance(self._given, tuple):
            return tuple(messages)
        return messages if self._key is None else {**data, self._key: messages}

    def _one(self, message: Any, at: Optional[int], before: list[Any]) -> Any:
        if at is not None and message == before[at]:
            return self._messages[at]
        if at is None:
            # A summary is a message of its own; objects of a vendor's package take dicts beside them.
            kind = _LANGCHAIN if self._kinds[0] is _LANGCHAIN else _DICT
            return kind.load(message, None, None)
        return self._kinds[at].load(message, before[at], self._messages[at])
