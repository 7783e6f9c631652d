"""A compactor for agent transcripts that never loses evidence.

>>> import strongroom, tempfile
>>> archive = strongroom.open(tempfile.mkdtemp())
>>> done = [
...     {"role": "user", "content": "Set the port to 8434."},
...     {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {
...         "name": "write_file", "arguments": '{"path": "/etc/app/conf.yaml", "content": "port: 8434"}'}}]},
...     {"role": "tool", "tool_call_id": "c1", "content": "wrote 10 bytes"},
... ]
>>> print(archive.ask("did we ever modify system config?", done).answer)
yes
"""

from . import _native
from .archive import Archive, open
from .errors import (
    BudgetNotMet,
    Busy,
    CompactionRefused,
    Corrupt,
    Expired,
    InvalidInput,
    NotFound,
    StrongroomError,
    Unavailable,
)
from .results import Answer, Citation, Compaction, Effect, Import, Ledger, Original, Report, Source, Span, Verdict

__version__ = _native.VERSION

__all__ = [
    "Answer",
    "Archive",
    "BudgetNotMet",
    "Busy",
    "Citation",
    "Compaction",
    "CompactionRefused",
    "Corrupt",
    "Effect",
    "Expired",
    "Import",
    "InvalidInput",
    "Ledger",
    "NotFound",
    "Original",
    "Report",
    "Source",
    "Span",
    "StrongroomError",
    "Unavailable",
    "Verdict",
    "open",
]
