"""The archive: where originals are kept, and where questions are answered from."""

from __future__ import annotations

import json
import os
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Optional, TypeVar, Union

from . import _native, results
from .errors import BudgetNotMet, CompactionRefused, InvalidInput, Unavailable, native
from .messages import Conversation
from .summarizers import Summarizer, Writing

__all__ = ["Archive", "open"]

M = TypeVar("M")
PathLike = Union[str, "os.PathLike[str]"]
Policy = Union[PathLike, Mapping[str, Any]]
Words = Union[str, Iterable[str], None]


def open(
    dir: Optional[PathLike] = None,
    policy: Optional[Policy] = None,
    *,
    key_file: Optional[PathLike] = None,
    passphrase: Optional[str] = None,
) -> Archive:
    """Opens the archive in `dir`, and makes one where there is none.

    Without `dir` it is the archive of the command line: `$STRONGROOM_DIR`, `$XDG_DATA_HOME/strongroom` or
    `~/.local/share/strongroom`. `policy` is the path of a policy file, or the same as a mapping; without it,
    `$STRONGROOM_POLICY` or the defaults.

    An encrypted archive is opened by the key in `key_file`, which nobody else may read, or by `passphrase`; without
    them by what `$STRONGROOM_KEY_FILE`, `$STRONGROOM_PASSPHRASE_FILE` or `$STRONGROOM_PASSPHRASE_COMMAND` name. A new
    archive is encrypted with the secret; one that is not encrypted opens as it is, and `archive.encrypted` tells.
    A passphrase stays in memory as long as the archive, for a process that is forked; it is never pickled.

    >>> import strongroom, tempfile
    >>> archive = strongroom.open(tempfile.mkdtemp(), policy={"horizon": "90d"})
    >>> archive.sessions()
    ()
    """
    return Archive(dir, policy, key_file=key_file, passphrase=passphrase)


class Archive:
    """An archive that is open. It may be used from any thread, and from a process that was forked or spawned.

    >>> import strongroom, tempfile
    >>> archive = strongroom.open(tempfile.mkdtemp())
    >>> log = "\\n".join(f"{n} step done, checksum {n * 7919:x}" for n in range(400))
    >>> messages = [
    ...     {"role": "user", "content": "Build it. Never touch the release branch."},
    ...     {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {
    ...         "name": "run_command", "arguments": '{"command": "make release"}'}}]},
    ...     {"role": "tool", "tool_call_id": "c1", "content": log},
    ...     {"role": "assistant", "content": "The build is through."},
    ...     {"role": "user", "content": "Thank you. What is next?"},
    ... ]
    >>> compaction = archive.compact(messages, budget="40%", name="run-17")
    >>> compaction.changed, compaction.messages[0] == messages[0]
    (True, False)
    >>> answer = archive.ask('results "checksum 1eef"', compaction.messages, name="run-17")
    >>> answer.verdict
    <Verdict.SUPPORTED: 'supported'>
    >>> "1 step done, checksum 1eef" in archive.show(answer.citations[0].pointer).text
    True
    """

    _lock: threading.Lock
    _opened: Optional[_native.Archive]

    def __init__(
        self,
        dir: Optional[PathLike] = None,
        policy: Optional[Policy] = None,
        *,
        key_file: Optional[PathLike] = None,
        passphrase: Optional[str] = None,
    ) -> None:
        self._dir = Path(dir) if dir is not None else native(_native.usual_dir)
        self._policy = _policy(policy)
        self._key_file = None if key_file is None else Path(key_file)
        self._passphrase = passphrase
        self._closed = False
        self._forget()
        self._native()
        _OPEN.add(self)

    @property
    def dir(self) -> Path:
        """The archive's directory."""
        return self._dir

    @property
    def encrypted(self) -> bool:
        """Whether what it holds is sealed on disk."""
        return self._native().encrypted

    def compact(
        self,
        messages: M,
        budget: Union[str, int] = "20%",
        name: Optional[str] = None,
        *,
        best_effort: bool = False,
        format: Optional[str] = None,
        summarizer: Optional[Summarizer] = None,
    ) -> results.Compaction[M]:
        """Shortens messages; what is reclaimed is in custody when this returns. Secrets are hidden.

        `messages` are those of OpenAI (Chat or Responses), Anthropic or LangChain, as dicts or objects, in a list or
        in the body of a request; the same kind comes back. `budget` is a share (`"20%"`) or a number of tokens
        (`30_000`, `"30k"`). `name` is what the archive calls the conversation: the same each time, and another for
        each conversation; without it one is made from the first messages. With `best_effort` the smallest form is
        returned where the budget cannot be met.

        `summarizer` writes the prose of the summary: a callable that is given a `strongroom.summarizers.Request` and
        returns a draft, or `"openai:MODEL"` and the like; without it, whoever the policy names. Each sentence is
        proved by the originals or struck, as `report.prose` tells; when it fails there is no prose, and that is all.

        Raises `BudgetNotMet` where it cannot be met, and `CompactionRefused` where refused spans stand in its way.
        """
        conversation = Conversation(messages, format)
        request = {
            "of": _named(conversation, name),
            "budget": str(budget),
            "unmet": "best-effort" if best_effort else "stop",
            "now_ms": _now_ms(),
        }
        writing = Writing(summarizer) if callable(summarizer) else None
        request["summarizer"] = writing.name if writing else summarizer
        told, text = native(self._native().compact, json.dumps(request), conversation.text, writing)
        if writing and writing.stopped:
            raise writing.stopped
        reply = json.loads(told)
        report = results.report(reply["report"])
        if reply["smallest"] is not None:
            raise _not_met(report, reply["smallest"])
        if text is None:
            return results.Compaction(messages, report)
        return results.Compaction(conversation.with_json(text), report)

    def ask(
        self,
        question: str,
        messages: Any = None,
        *,
        path: Optional[PathLike] = None,
        name: Optional[str] = None,
        format: Optional[str] = None,
        strict: bool = False,
    ) -> results.Answer:
        """Answers a question, plain or in the query language, from originals.

        It is asked of `messages`, of the transcript at `path`, or of everything in custody; always with the originals
        behind the summaries in them. With `strict` no assumption closes a scope.
        """
        of, text = _of(messages, path, name, format)
        request = {"of": of, "text": question, "strictness": _strictness(strict)}
        return results.answer(json.loads(native(self._native().ask, json.dumps(request), text)))

    def claim(
        self,
        sentence: str,
        messages: Any = None,
        *,
        path: Optional[PathLike] = None,
        name: Optional[str] = None,
        format: Optional[str] = None,
        strict: bool = False,
    ) -> results.Answer:
        """Weighs a sentence against the originals: supported, conflicting, unverified. Asked of the same as `ask`."""
        of, text = _of(messages, path, name, format)
        request = {"of": of, "text": sentence, "strictness": _strictness(strict)}
        return results.answer(json.loads(native(self._native().claim, json.dumps(request), text)))

    def ledger(
        self,
        messages: Any = None,
        *,
        path: Optional[PathLike] = None,
        name: Optional[str] = None,
        format: Optional[str] = None,
        where: Optional[Mapping[str, Words]] = None,
        terms: Words = None,
    ) -> results.Ledger:
        """What was done, in order: target, scope, outcome with its evidence, and what was rolled back by what.

        Asked of the same as `ask`. `where` holds fields of effects (`kind`, `scope`, `outcome`, `certainty`, `from`,
        `to`), each with one word or several of which one must be met; `terms` are further terms of the query language.
        """
        of, text = _of(messages, path, name, format)
        fields = [[field, _words(words)] for field, words in (where or {}).items()]
        request = {"of": of, "fields": fields, "terms": _words(terms)}
        return results.ledger(json.loads(native(self._native().ledger, json.dumps(request), text)))

    def show(self, pointer: str, *, reveal: bool = False) -> results.Original:
        """The original behind the pointer of one span, in words. Secrets are hidden unless `reveal`.

        Raises `NotFound`, `Expired` or `Corrupt` where it cannot be given back whole.
        """
        return results.original(json.loads(native(self._native().show, pointer, reveal)))

    def original_bytes(self, pointer: str) -> bytes:
        """The exact bytes of one span, secrets included."""
        return native(self._native().original_bytes, pointer)

    def spans(self, pointer: str) -> tuple[results.Span, ...]:
        """The spans under a pointer, in order."""
        return results.spans(json.loads(native(self._native().spans, pointer)))

    def import_path(self, *paths: PathLike) -> results.Import:
        """Takes files and whole trees into custody, and of them what has changed."""
        request = {"paths": [os.fspath(path) for path in paths], "now_ms": _now_ms()}
        return results.imported(json.loads(native(self._native().import_paths, json.dumps(request))))

    def sessions(self) -> tuple[results.Source, ...]:
        """The sources in custody."""
        return results.sources(json.loads(native(self._native().sources)))

    def close(self) -> None:
        """Closes the archive. Whatever is asked of it afterwards is `Unavailable`."""
        with self._lock:
            self._closed, self._opened, self._passphrase = True, None, None

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"strongroom.open({str(self._dir)!r})"

    def __reduce__(self) -> Any:
        if self._passphrase is not None:
            raise InvalidInput("an archive opened with a passphrase is not pickled; a key file is named by its path")
        return _again, (self._dir, self._policy, self._key_file)

    def _native(self) -> _native.Archive:
        with self._lock:
            if self._closed:
                raise Unavailable("the archive is closed")
            if self._opened is None:
                self._opened = native(_native.Archive, self._dir, self._policy, self._key_file, self._passphrase)
            return self._opened

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._opened = None


def _again(dir: Path, policy: Optional[tuple[str, str]], key_file: Optional[Path]) -> Archive:
    archive = Archive.__new__(Archive)
    archive._dir, archive._policy, archive._closed = dir, policy, False
    archive._key_file, archive._passphrase = key_file, None
    archive._forget()
    _OPEN.add(archive)
    return archive


_OPEN: weakref.WeakSet[Archive] = weakref.WeakSet()

_INHERITED: list[Any] = []
"""A connection to SQLite must neither be used nor closed in a process that was forked."""


def _after_fork() -> None:
    for archive in list(_OPEN):
        _INHERITED.append(archive._opened)
        archive._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _strictness(strict: bool) -> str:
    return "strict" if strict else "assume"


def _words(words: Words) -> list[str]:
    if words is None:
        return []
    return [words] if isinstance(words, str) else list(words)


def _named(conversation: Conversation, name: Optional[str]) -> dict[str, Any]:
    return {"name": name or conversation.usual_name(), "format": conversation.format}


def _of(messages: Any, path: Optional[PathLike], name: Optional[str], format: Optional[str]) -> tuple[Any, str]:
    """What is asked, and the messages beside it."""
    if messages is not None and path is not None:
        raise InvalidInput("messages and a path: only one of them can be asked")
    if messages is not None:
        conversation = Conversation(messages, format)
        return {"messages": _named(conversation, name)}, conversation.text
    if path is not None:
        return {"file": {"path": os.fspath(path), "format": format}}, ""
    return "custody", ""


def _policy(policy: Optional[Policy]) -> Optional[tuple[str, str]]:
    """The text of a policy and its name."""
    if isinstance(policy, Mapping):
        # JSON strings, numbers and lists are TOML as well; tables stand in one line.
        lines = [f"{_toml(key)} = {_toml(value)}\n" for key, value in policy.items()]
        return "".join(lines), "given as a mapping"
    path = policy if policy is not None else _native.usual_policy()
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8"), os.fspath(path)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"policy {os.fspath(path)} cannot be read: {error}") from error


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(own)}" for key, own in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _not_met(report: results.Report, smallest: int) -> BudgetNotMet:
    message = f"{smallest} tokens is the smallest size that can be reached, the budget is {report.budget}"
    if not report.refused:
        return BudgetNotMet(message, smallest, report)
    reasons = ", ".join(f"{count} {reason}" for reason, count in report.refused.items())
    return CompactionRefused(f"{message}; refused: {reasons}", smallest, report)
