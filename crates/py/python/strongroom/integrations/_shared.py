"""What the integrations have in common: when to compact, and the tools that a model is given."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Optional, Union

from ..archive import Archive
from ..errors import StrongroomError
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
SHOW_DESCRIPTION = "Gives back the original behind a pointer such as sr1:0123…#4, which stands in summaries and answers."

CHARS_MAX = 12_000
"""The longest text that a tool gives a model."""


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
