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
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, TypeVar, Union

from . import archive as blocking
from . import results
from .archive import PathLike, Policy
from .summarizers import Request, Summarizer

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    P = ParamSpec("P")

__all__ = ["AsyncArchive", "open"]

M = TypeVar("M")
T = TypeVar("T")


async def open(
    dir: Optional[PathLike] = None,
    policy: Optional[Policy] = None,
    *,
    key_file: Optional[PathLike] = None,
    passphrase: Optional[str] = None,
) -> AsyncArchive:
    """As `strongroom.open`."""
    return AsyncArchive(await asyncio.to_thread(blocking.open, dir, policy, key_file=key_file, passphrase=passphrase))


def _awaited(
    method: Callable[Concatenate[blocking.Archive, P], T],
) -> Callable[Concatenate[AsyncArchive, P], Coroutine[Any, Any, T]]:
    """The method of an archive as one that is awaited, with its parameters and its documentation."""

    @functools.wraps(method)
    async def call(archive: AsyncArchive, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(method, archive.blocking, *args, **kwargs)

    return call


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

    @property
    def encrypted(self) -> bool:
        """Whether what it holds is sealed on disk."""
        return self.blocking.encrypted

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

    ask = _awaited(blocking.Archive.ask)
    claim = _awaited(blocking.Archive.claim)
    ledger = _awaited(blocking.Archive.ledger)
    show = _awaited(blocking.Archive.show)
    original_bytes = _awaited(blocking.Archive.original_bytes)
    spans = _awaited(blocking.Archive.spans)
    import_path = _awaited(blocking.Archive.import_path)
    sessions = _awaited(blocking.Archive.sessions)
    close = _awaited(blocking.Archive.close)

    async def __aenter__(self) -> AsyncArchive:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
