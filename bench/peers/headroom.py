"""headroom's compress() with its own settings; it knows no budget. Its store goes below the folder of the compaction."""

import importlib.util
import os
import re
import sys
from pathlib import Path

# This file has the name of the package it drives.
sys.path.append(sys.path.pop(0))

from peer import serve, text_of

if "EVIDENCE_BENCH_DIR" in os.environ:
    os.environ["HOME"] = os.environ["EVIDENCE_BENCH_DIR"]
# No model is loaded and nobody is told.
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HEADROOM_TELEMETRY="off", DO_NOT_TRACK="1")
# Its tokenizer would be fetched; litellm, which it needs, brings the same file.
litellm = Path(importlib.util.find_spec("litellm").origin).parent
os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(litellm / "litellm_core_utils/tokenizers"))

from headroom import compress
from headroom.cache.compression_store import get_compression_store

MARKER = re.compile(r"(?:ccr:|hash=)([0-9a-f]{12,24})")


def compact(task, folder):
    return compress(task["messages"], model="gpt-4o", optimize=True).messages


def recall(folder, messages, literal):
    """Whether the literal stands in what its store gives back for a marker that was left in the messages."""
    marked = {found for message in messages for found in MARKER.findall(text_of(message.get("content")))}
    entries = (get_compression_store().retrieve(own) for own in sorted(marked))
    return any(entry is not None and literal in str(entry.original_content) for entry in entries)


serve(compact, recall)
