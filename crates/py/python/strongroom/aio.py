"""The same for programs that wait with `await`: each call runs in a thread, outside the interpreter's lock.

>>> import asyncio, strongroom.aio, tempfile
>>> async def main():
...     async with await strongroom.aio.open(tempfile.mkdtemp()) as archive:
...         return (await archive.ask("calls tool:Bash", [{"role": "user", "content": "Hello."}])).verdict
>>> asyncio.run(main())
<Verdict.ABSENT: 'absent'>
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Optional, TypeVar, Union

from . import archive as blocking
from . import results
from .archive import PathLike, Policy, Words
from .summarizers import Request, Summarizer

__all__ = ["AsyncArchive", "open"]

M = TypeVar("M")


async def open(dir: Optional[PathLike] = None, policy: Optional[Policy] = None) -> AsyncArchive:
    """As `strongroom.open`."""
    return AsyncArchive(await asyncio.to_thread(blocking.open, dir, policy))


def _waiting(summarizer: Any, loop: asyncio.AbstractEventLoop) -> Any:
    """A summarizer that can be called in another thread than that of the loop."""
    if summarizer is None or isinstance(summarizer, str):
        return summarizer

    @functools.wraps(summarizer, updated=())
    def write(request: Request) -> str:
        draft: Any = summarizer(request)
        if inspect.iscoroutine(draft):
            draft = asyncio.run_coroutine_threadsafe(draft, loop).result()
        text: str = draft
        return text

    return write


class AsyncArchive:
    """An archive that is open; its methods are those of `strongroom.Archive`. It may be used from any loop."""

    def __init__(self, archive: blocking.Archive) -> None:
        self.blocking = archive
        """The archive itself."""

    @property
    def dir(self) -> Path:
        """The archive's directory."""
        return self.blocking.dir

    async def compact(
        self,
        messages: M,
        budget: Union[str, int] = "20%",
        name: Optional[str] = None,
        *,
        best_effort: bool = False,
        format: Optional[str] = None,
        summarizer: Union[Summarizer, Callable[[Request], Awaitable[str]], None] = None,
    ) -> results.Compaction[M]:
        """As `Archive.compact`; a summarizer may be awaited, in the loop of the caller."""
        loop = asyncio.get_running_loop()
        return await asyncio.to_thread(
            self.blocking.compact,
            messages,
            budget,
            name,
            best_effort=best_effort,
            format=format,
            summarizer=_waiting(summarizer, loop),
        )

    async def ask(
        self,
        question: str,
        messages: Any = None,
        *,
        path: Optional[PathLike] = None,
        name: Optional[str] = None,
        format: Optional[str] = None,
        strict: bool = False,
    ) -> results.Answer:
        """As `Archive.ask`."""
        return await asyncio.to_thread(
            self.blocking.ask, question, messages, path=path, name=name, format=format, strict=strict
        )

    async def claim(
        self,
        sentence: str,
        messages: Any = None,
        *,
        path: Optional[PathLike] = None,
        name: Optional[str] = None,
        format: Optional[str] = None,
        strict: bool = False,
    ) -> results.Answer:
        """As `Archive.claim`."""
        return await asyncio.to_thread(
            self.blocking.claim, sentence, messages, path=path, name=name, format=format, strict=strict
        )

    async def ledger(
        self,
        messages: Any = None,
        *,
        path: Optional[PathLike] = None,
        name: Optional[str] = None,
        format: Optional[str] = None,
        where: Optional[Mapping[str, Words]] = None,
        terms: Words = None,
    ) -> results.Ledger:
        """As `Archive.ledger`."""
        return await asyncio.to_thread(
            self.blocking.ledger, messages, path=path, name=name, format=format, where=where, terms=terms
        )

    async def show(self, pointer: str, *, reveal: bool = False) -> results.Original:
        """As `Archive.show`."""
        return await asyncio.to_thread(self.blocking.show, pointer, reveal=reveal)

    async def original_bytes(self, pointer: str) -> bytes:
        """As `Archive.original_bytes`."""
        return await asyncio.to_thread(self.blocking.original_bytes, pointer)

    async def spans(self, pointer: str) -> tuple[results.Span, ...]:
        """As `Archive.spans`."""
        return await asyncio.to_thread(self.blocking.spans, pointer)

    async def import_path(self, *paths: PathLike) -> results.Import:
        """As `Archive.import_path`."""
        return await asyncio.to_thread(self.blocking.import_path, *paths)

    async def sessions(self) -> tuple[results.Source, ...]:
        """As `Archive.sessions`."""
        return await asyncio.to_thread(self.blocking.sessions)

    async def close(self) -> None:
        """As `Archive.close`."""
        await asyncio.to_thread(self.blocking.close)

    async def __aenter__(self) -> AsyncArchive:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
