"""What the integrations have in common: when to compact, and the tools that a model is given."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Optional, Union

from ..archive import Archive
from ..errors import StrongroomError
from ..messages import Conversation
from ..results import Answer

logger = logging.getLogger("strongroom")

# With this prefix a later question knows the tools for our own, whose results are made from the session and are no
# evidence in it.
ASK = "strongroom__evidence_ask"
SHOW = "strongroom__evidence_show"

ASK_DESCRIPTION = (
    "Asks what really happened in this conversation, from its records, compacted ones included. Use it before saying "
    "that something was or was not done, and for exact paths, values, commands, errors, and the user's own words. "
    "Takes a plain question ('did we ever modify system config?') or a query ('calls tool:Bash arg:--force'). "
    "'insufficient' means that nobody can tell: say so."
)
SHOW_DESCRIPTION = (
    "Gives back the original behind a pointer such as sr1:0123…#4, which stands in summaries and answers."
)

CHARS_MAX = 12_000
"""The longest text that a tool gives a model."""


class Growth:
    """Keeps a compaction from being made again for a few tokens: each one changes the beginning of the messages, and
    with it what the provider has cached.
    """

    _FACTOR = 1.25
    _NAMES_MAX = 1_000

    def __init__(self) -> None:
        self._after: OrderedDict[Optional[str], float] = OrderedDict()
        self._lock = threading.Lock()

    def is_enough(self, name: Optional[str], size: float) -> bool:
        """Whether a conversation has grown since its last compaction; the first time it has."""
        with self._lock:
            return size >= self._after.get(name, 0) * self._FACTOR

    def note(self, name: Optional[str], size: float) -> None:
        """Notes the size that a compaction has left."""
        with self._lock:
            self._after[name] = size
            self._after.move_to_end(name)
            if len(self._after) > self._NAMES_MAX:
                self._after.popitem(last=False)


class Chat:
    """What stands for a framework's messages in the form of OpenAI Chat, each with the place that it was made from."""

    FORMAT = "openai-chat"

    def __init__(self) -> None:
        self.chat: list[dict[str, Any]] = []
        self.at: list[tuple[int, Optional[int]]] = []
        """For each chat message the number of the framework's message, and of the part of it that it is, if one."""

    def add(self, chat: Optional[dict[str, Any]], at: tuple[int, Optional[int]]) -> None:
        """Adds what was made of a message, if anything was."""
        if chat is not None:
            self.chat.append(chat)
            self.at.append(at)

    def tokens(self) -> int:
        """About how many tokens the messages are."""
        return Conversation(self.chat, self.FORMAT).tokens()


def texts(content: Any) -> list[str]:
    """The texts of a content of OpenAI Chat: a stub may stand as one text where parts stood."""
    return [content] if isinstance(content, str) else [part["text"] for part in content or []]


def joined(content: Any) -> str:
    """The texts of a content as one."""
    return "\n".join(texts(content))


def told(text: str) -> str:
    """A text, cut to what a model can be expected to read."""
    if len(text) <= CHARS_MAX:
        return text
    return f"{text[:CHARS_MAX]}\n… {len(text) - CHARS_MAX} more characters; ask more narrowly"


def answered(run: Callable[[], Answer]) -> str:
    """An answer, or why there is none, as a model reads it."""
    return _guarded(lambda: told(run().text))


def shown(archive: Archive, pointer: str) -> str:
    """An original, or why there is none, as a model reads it."""
    return _guarded(lambda: told(archive.show(pointer).text))


def _guarded(run: Callable[[], str]) -> str:
    try:
        return run()
    except StrongroomError as error:
        return f"{error.kind}: {error}. This is no answer: nothing about the past follows from it."


def compacted(archive: Archive, messages: Any, budget: Union[str, int], name: Optional[str], **how: Any) -> Any:
    """Compacted messages; `None` where nothing is gained. An agent goes on with what it has where that fails."""
    try:
        compaction = archive.compact(messages, budget, name, best_effort=True, **how)
    except StrongroomError as error:
        logger.warning("messages were not compacted: %s: %s", error.kind, error)
        return None
    return compaction.messages if compaction.changed else None
