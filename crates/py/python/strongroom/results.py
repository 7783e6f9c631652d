"""What the archive answers with. All of it is frozen; fields may be added."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, Optional, TypeVar

T = TypeVar("T")
M = TypeVar("M")

__all__ = [
    "Answer",
    "Certificate",
    "Citation",
    "Compaction",
    "Effect",
    "Finding",
    "HoleCount",
    "Import",
    "Ledger",
    "Original",
    "PassedOver",
    "Refused",
    "Report",
    "Searched",
    "Source",
    "SourceCount",
    "Span",
    "Value",
    "Verdict",
]


class Verdict(str, Enum):
    """What an answer is worth."""

    SUPPORTED = "supported"
    """The citations show it."""
    ABSENT = "absent"
    """Everything was searched, and nothing is there: see the certificate."""
    CONFLICTING = "conflicting"
    """Two sources disagree; both are cited."""
    UNVERIFIED = "unverified"
    """Somebody says so, and nothing shows it."""
    INSUFFICIENT = "insufficient"
    """What is missing is named in the scope."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Value:
    """A recorded value, file, or other short finding with its name."""

    key: str
    value: str


@dataclass(frozen=True)
class Citation:
    """A quotation with its place. `quote` is exactly the decoding of `bytes` of the source."""

    session: str
    source: str
    item: str
    locator: str
    """`L12`, or a JSON pointer where there are no lines."""
    record: Optional[int]
    """The physical line, from 1, where there are lines."""
    json_pointer: Optional[str]
    bytes: tuple[int, int]
    """The first byte, and the byte behind the last."""
    attribution: str
    """Who speaks."""
    agent: Optional[str]
    quote: str
    pointer: Optional[str]
    """What `Archive.show` takes, where the original was reclaimed."""
    note: Optional[str]


@dataclass(frozen=True)
class PassedOver:
    """Something that nearly matched, or that keeps an answer from being a plain one, and why."""

    citation: Citation
    why: str


@dataclass(frozen=True)
class HoleCount:
    """How many places of one kind could not be searched."""

    kind: str
    count: int


@dataclass(frozen=True)
class Searched:
    """What was searched, and what could not be."""

    sessions: int
    records: int
    calls: int
    blocking: tuple[PassedOver, ...]
    holes: tuple[HoleCount, ...]


@dataclass(frozen=True)
class SourceCount:
    """A source in a certificate, with the root hash over its bytes."""

    source: str
    records: int
    bytes: int
    root: Optional[str]


@dataclass(frozen=True)
class Certificate:
    """What an absence rests on."""

    digest: str
    reading: str
    assumptions: tuple[str, ...]
    sources: tuple[SourceCount, ...]
    calls: int
    effects: int
    opaque: int
    holes: int


@dataclass(frozen=True)
class Answer:
    """An answer. `str(answer)` is the same in words, as the command line prints it."""

    verdict: Verdict
    answer: Optional[str]
    reading: str
    """The query that was answered."""
    values: tuple[Value, ...]
    citations: tuple[Citation, ...]
    passed_over: tuple[PassedOver, ...]
    scope: Searched
    assumptions: tuple[str, ...]
    certificate: Optional[Certificate]
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Finding:
    """Something noticed while the messages were read."""

    code: str
    line: Optional[int]
    pointer: str
    message: str


@dataclass(frozen=True)
class Struck:
    """A sentence of a draft that is not borne out."""

    why: str
    sentence: str


@dataclass(frozen=True)
class Prose:
    """What became of the draft of a summarizer."""

    by: str
    sentences: int
    """How many of its sentences stand in the summary."""
    struck: tuple[Struck, ...]
    failure: Optional[str]
    """Why there is no prose, where there is none."""


@dataclass(frozen=True)
class Report:
    """What came of a compaction, in numbers. Tokens are counted by `o200k_base`."""

    outcome: str
    """`compacted`, `unchanged` or `budget-not-met`."""
    reason: Optional[str]
    """Why nothing was changed."""
    name: str
    format: str
    tokens_before: int
    tokens_after: int
    budget: int
    vendor_factor: Optional[float]
    """The vendor's own tokens for one of these, where the messages let it be learned."""
    bytes_before: int
    bytes_after: int
    spans: int
    reclaimed: Mapping[str, int]
    """Reclaimed spans by class."""
    grounds: Mapping[str, int]
    refused: Mapping[str, int]
    """Spans that the gate refused, by reason; they stay verbatim."""
    pinned: Mapping[str, int]
    masked: int
    unknown_summaries: int
    pointer: Optional[str]
    """The pointer to everything reclaimed; `#` and a number behind it name one span."""
    kept: str
    """How long the originals are kept."""
    prose: Optional[Prose]
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Compaction(Generic[M]):
    """Compacted messages, of the kind that was given, and the report."""

    messages: M
    report: Report

    @property
    def changed(self) -> bool:
        """Whether the messages differ from those that were given."""
        return self.report.outcome == "compacted"


@dataclass(frozen=True)
class Effect:
    """What a tool call did or may have done."""

    id: str
    seq: int
    time: Optional[str]
    session: str
    agent: Optional[str]
    call_id: Optional[str]
    source: str
    record: Optional[int]
    locator: str
    bytes: tuple[int, int]
    tool: str
    program: str
    kind: str
    target: str
    scope: str
    env: Optional[str]
    privilege: str
    certainty: str
    match: str
    outcome: str
    citation: Optional[Citation]
    outcome_evidence: Optional[Citation]
    reversibility: str
    reversible_by: Optional[str]
    rolled_back_by: Optional[str]
    rolled_back_how: Optional[str]
    retry_of: Optional[str]
    renditions: int
    requires: tuple[str, ...]
    artifact: Optional[str]
    bounded_by: Optional[str]
    pointer: Optional[str]


@dataclass(frozen=True)
class Refused:
    """What is missing from a ledger: a gap with its citation, or a span with its pointer."""

    kind: str
    citation: Optional[Citation] = None
    pointer: Optional[str] = None
    evidential_class: Optional[str] = None
    why: Optional[str] = None


@dataclass(frozen=True)
class Ledger:
    """What was done, in order. It is complete where `refused` is empty."""

    reading: str
    total: int
    """How many effects there are, those that were not asked for included."""
    effects: tuple[Effect, ...]
    refused: tuple[Refused, ...]


@dataclass(frozen=True)
class Span:
    """A span under a pointer, as the summary tells it."""

    pointer: str
    evidential_class: str
    rendering: str


@dataclass(frozen=True)
class Original:
    """The original of a span. `str(original)` is its text."""

    pointer: str
    evidential_class: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Import:
    """What came of an import, file by file."""

    imported: tuple[str, ...]
    unchanged: tuple[str, ...]
    passed_over: Mapping[str, str]
    """Files that are no transcripts, with the reason."""
    failed: Mapping[str, str]
    """Files that could not be taken in, with the reason."""


@dataclass(frozen=True)
class Source:
    """A source in custody."""

    id: str
    name: str
    format: str
    session: Optional[str]
    bytes: int
    revision: int
    root: str
    imported_at: str


def _plain(own: type[T], data: Mapping[str, Any], **replaced: Any) -> T:
    """An instance of what stands in `data`; members that this version does not know are left out."""
    names = [field.name for field in dataclasses.fields(own) if field.name not in replaced]  # type: ignore[arg-type]
    return own(**{name: data[name] for name in names if name in data}, **replaced)


def _counts(data: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(data))


def _citation(data: Optional[Mapping[str, Any]]) -> Optional[Citation]:
    return data and _plain(Citation, data, bytes=tuple(data["bytes"]))  # type: ignore[return-value]


def _passed_over(data: list[Mapping[str, Any]]) -> tuple[PassedOver, ...]:
    return tuple(PassedOver(_citation(row["citation"]), row["why"]) for row in data)  # type: ignore[arg-type]


def _certificate(data: Optional[Mapping[str, Any]]) -> Optional[Certificate]:
    if data is None:
        return None
    sources = tuple(_plain(SourceCount, row) for row in data["sources"])
    return _plain(Certificate, data, sources=sources, assumptions=tuple(data["assumptions"]))


def answer(reply: Mapping[str, Any]) -> Answer:
    """The answer in a reply of the native module."""
    data = reply["answer"]
    scope = data["scope"]
    return _plain(
        Answer,
        data,
        verdict=Verdict(data["verdict"]),
        values=tuple(_plain(Value, row) for row in data["values"]),
        citations=tuple(_citation(row) for row in data["citations"]),
        passed_over=_passed_over(data["passed_over"]),
        scope=_plain(
            Searched,
            scope,
            blocking=_passed_over(scope["blocking"]),
            holes=tuple(_plain(HoleCount, row) for row in scope["holes"]),
        ),
        assumptions=tuple(data["assumptions"]),
        certificate=_certificate(data["certificate"]),
        text=reply["text"],
    )


def report(data: Mapping[str, Any]) -> Report:
    """The report in a reply of the native module."""
    tokens, sizes = data["tokens"], data["bytes"]
    return _plain(
        Report,
        data,
        tokens_before=tokens["before"],
        tokens_after=tokens["after"],
        budget=tokens["budget"],
        vendor_factor=tokens["vendor_factor"],
        bytes_before=sizes["before"],
        bytes_after=sizes["after"],
        prose=_prose(data["prose"]),
        findings=tuple(_plain(Finding, row) for row in data["findings"]),
        **{name: _counts(data[name]) for name in ("reclaimed", "grounds", "refused", "pinned")},
    )


def _prose(data: Optional[Mapping[str, Any]]) -> Optional[Prose]:
    struck = tuple(_plain(Struck, row) for row in data["struck"]) if data else ()
    return _plain(Prose, data, struck=struck) if data else None


def _effect(data: Mapping[str, Any]) -> Effect:
    cited = {name: _citation(data[name]) for name in ("citation", "outcome_evidence")}
    return _plain(Effect, data, bytes=tuple(data["bytes"]), requires=tuple(data["requires"]), **cited)


def _refused(data: Mapping[str, Any]) -> Refused:
    missing = data["refused"]
    citation = _citation(missing.get("citation"))
    why = missing.get("why") or (citation.note if citation else None)
    return _plain(Refused, missing, citation=citation, why=why, evidential_class=missing.get("class"))


def ledger(data: Mapping[str, Any]) -> Ledger:
    """The ledger in a reply of the native module."""
    effects = tuple(_effect(row) for row in data["rows"])
    return Ledger(data["reading"], data["total"], effects, tuple(_refused(row) for row in data["refused"]))


def original(data: Mapping[str, Any]) -> Original:
    """The original in a reply of the native module."""
    return _plain(Original, data, evidential_class=data["class"])


def spans(data: list[Mapping[str, Any]]) -> tuple[Span, ...]:
    """The spans in a reply of the native module."""
    return tuple(_plain(Span, row, evidential_class=row["class"]) for row in data)


def imported(data: Mapping[str, Any]) -> Import:
    """What came of an import, in a reply of the native module."""
    return Import(
        tuple(data["imported"]),
        tuple(data["unchanged"]),
        MappingProxyType(dict(data["passed_over"])),
        MappingProxyType({path: message for path, _, message in data["failed"]}),
    )


def sources(data: list[Mapping[str, Any]]) -> tuple[Source, ...]:
    """The sources in a reply of the native module."""
    return tuple(_plain(Source, row) for row in data)
