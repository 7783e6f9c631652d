"""Answers from whatever files a compactor left in its folder, as an agent with a search tool would.

The words in quotes are looked for; what stands around them is handed back. Nothing is denied.
"""

import json
import os
import re
import sys
from pathlib import Path

AROUND = 2_000

texts = [path.read_text(errors="replace") for path in sorted(Path(os.environ["EVIDENCE_BENCH_DIR"]).rglob("*")) if path.is_file()]
for line in sys.stdin:
    asked = json.loads(line)
    words = re.search(r'"((?:[^"\\]|\\.)*)"', asked["query"])
    found = []
    for text in texts if words else []:
        at = text.find(words.group(1))
        if at >= 0:
            found.append(text[max(0, at - AROUND) : at + AROUND])
    verdict = "supported" if found else "insufficient"
    print(json.dumps({"id": asked["id"], "verdict": verdict, "answer": "yes" if found else None, "text": "\n".join(found)}))
