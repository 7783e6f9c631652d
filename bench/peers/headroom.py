"""headroom's compress() with its own settings; it knows no budget. Its store goes below the folder of the compaction."""

import os
import sys

# This file has the name of the package it drives.
sys.path.append(sys.path.pop(0))

if "EVIDENCE_BENCH_DIR" in os.environ:
    os.environ["HOME"] = os.environ["EVIDENCE_BENCH_DIR"]
# No model is loaded and nobody is told.
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HEADROOM_TELEMETRY="off", DO_NOT_TRACK="1")

from headroom import compress

from peer import given, hand_back

task = given()
if task:
    # What it writes on the way is no answer.
    answer, sys.stdout = sys.stdout, sys.stderr
    after = compress(task["messages"], model="gpt-4o", optimize=True).messages
    sys.stdout = answer
    hand_back(after)
