"""Who writes the prose of a summary: a callable of one's own.

Whatever it writes is taken apart into sentences, and each is proved by the originals or struck; see
`docs/operations.md`. Which spans go was decided before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

__all__ = ["Request", "Span", "Summarizer", "Text"]


@dataclass(frozen=True)
class Text:
    """A text of a span, secrets left out; of a long one its beginning and its end."""

    speaker: str
    text: str


@dataclass(frozen=True)
class Span:
    """A span that goes. A sentence names it as `[#3]`, by its number."""

    number: int
    kind: str
    outcome: Optional[str]
    texts: Sequence[Text]


@dataclass(frozen=True)
class Request:
    """What is asked of a summarizer."""

    instructions: str
    """What a model is told first: its system prompt."""
    message: str
    """What it is told then: the room there is, and the spans as JSON."""
    words_max: int
    spans: Sequence[Span]


Summarizer = Union[str, Callable[[Request], str]]
"""A callable that writes a draft, or `"exec:COMMAND"`, `"openai:MODEL"`, `"anthropic:MODEL"`, `"built-in"`."""


class Writing:
    """A callable as the native module calls it."""

    def __init__(self, summarizer: Callable[[Request], str]) -> None:
        self._summarizer = summarizer
        self.stopped: Optional[BaseException] = None
        """What ends the program, and not only the draft."""

    def __call__(self, request: str) -> str:
        try:
            return self._summarizer(_request(json.loads(request)))
        except Exception:
            raise
        except BaseException as error:
            self.stopped = error
            raise

    @property
    def name(self) -> str:
        """The callable's name, for reports."""
        return getattr(self._summarizer, "__name__", type(self._summarizer).__name__)


def _request(data: Mapping[str, Any]) -> Request:
    spans = [
        Span(span["number"], span["kind"], span.get("outcome"), [Text(**text) for text in span["texts"]])
        for span in data["spans"]
    ]
    listed = json.dumps(data["spans"], ensure_ascii=False, separators=(",", ":"))
    message = f"At most {data['words_max']} words. The spans:\n{listed}"
    return Request(data["instructions"], message, data["words_max"], spans)
