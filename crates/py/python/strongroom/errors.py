"""What can go wrong, by what the caller should do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from . import _native

if TYPE_CHECKING:
    from .results import Report

T = TypeVar("T")

__all__ = [
    "BudgetNotMet",
    "Busy",
    "CompactionRefused",
    "Corrupt",
    "Expired",
    "InvalidInput",
    "NotFound",
    "StrongroomError",
    "Unavailable",
]


class StrongroomError(Exception):
    """An operation that did not happen. `kind` is the word that the command line prints in JSON."""

    kind = "bug"


class InvalidInput(StrongroomError, ValueError):
    """The messages or the arguments must be corrected."""

    kind = "invalid-input"


class NotFound(StrongroomError, LookupError):
    """The named thing does not exist here."""

    kind = "not-found"


class Expired(StrongroomError):
    """The original was kept once, and its retention has ended."""

    kind = "expired"


class Corrupt(StrongroomError):
    """Stored bytes differ from their hash."""

    kind = "corrupt"


class Unavailable(StrongroomError):
    """The archive or a file cannot be used now."""

    kind = "unavailable"


class Busy(Unavailable):
    """Another process holds what is needed; trying again later helps."""

    kind = "busy"


class BudgetNotMet(StrongroomError):
    """The budget cannot be met, and the messages stay as they are.

    `smallest` is the smallest size in tokens that can be reached; a larger budget, or `best_effort=True`, helps.
    """

    kind = "budget-not-met"

    def __init__(self, message: str, smallest: int, report: Report) -> None:
        super().__init__(message)
        self.smallest = smallest
        self.report = report


class CompactionRefused(BudgetNotMet):
    """The budget cannot be met because the gate refused spans, for want of an original that is kept long enough.

    `reasons` counts the refused spans by reason.
    """

    kind = "refused"

    @property
    def reasons(self) -> dict[str, int]:
        """How many spans were refused, by reason."""
        return dict(self.report.refused)


_BY_KIND: dict[str, type[StrongroomError]] = {
    own.kind: own for own in (InvalidInput, NotFound, Expired, Corrupt, Unavailable, Busy)
}


def native(call: Callable[..., T], *arguments: object) -> T:
    """Calls the native module, and raises its failures as exceptions of this package."""
    try:
        return call(*arguments)
    except _native.Failure as failure:
        kind, message = failure.args
        raise _BY_KIND.get(kind, StrongroomError)(message) from None
