"""What a call costs through Python beyond the same call of the library.

    cargo build --release -p strongroom --example calls
    python bench/python_overhead.py target/release/examples/calls

Makes each call in turns, once in the library (crates/strongroom/examples/calls.rs) and once through the package, and
prints a table in Markdown: the medians of both, and the median of the ratios of the turns. `import` is the time of the
import in an interpreter of its own, without the start of that.
"""

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lists
import strongroom
from strongroom.messages import Conversation

BUDGET = "30%"
QUESTION = "did we ever modify system config?"


def ms(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1_000


class Library:
    """The calls in the library, in a process that stays."""

    def __init__(self, program, file):
        words = [str(program), str(file), BUDGET, QUESTION]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ms(self, call):
        print(call, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def package_calls(archive, messages):
    """The calls through the package, by name."""
    pointer = archive.compact(messages, BUDGET, "bench", best_effort=True).report.pointer
    first = archive.spans(pointer)[0].pointer
    return {
        "compact": lambda: archive.compact(messages, BUDGET, "bench", best_effort=True),
        "ask": lambda: archive.ask(QUESTION, messages, name="bench"),
        "show": lambda: archive.show(first),
    }


def turns(library, call, work, runs):
    """Medians of the library's time, of the package's, and of their ratio; the first turn is not counted."""
    pairs = [(library.ms(call), ms(work)) for _ in range(runs + 1)][1:]
    own, whole = (statistics.median(side) for side in zip(*pairs))
    return own, whole, statistics.median(whole / own for own, whole in pairs)


def rows(program, messages, runs):
    with tempfile.TemporaryDirectory() as dir, strongroom.open(Path(dir) / "archive") as archive:
        file = Path(dir) / "messages.json"
        file.write_text(Conversation(messages).text, encoding="utf-8")
        library = Library(program, file)
        for call, work in package_calls(archive, messages).items():
            yield call, *turns(library, call, work, runs)
        library.close()


def longer(messages, times):
    """The messages over and over, the calls with ids of their own."""
    text = json.dumps(messages)
    return [own for round in range(times) for own in json.loads(text.replace('"call_', f'"call_{round}_'))]


def import_ms(runs):
    code = "import time; begin = time.perf_counter(); import strongroom; print((time.perf_counter() - begin) * 1_000)"
    told = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(runs + 1)]
    return statistics.median(float(own.stdout) for own in told[1:])


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("library", type=Path, help="the example `calls`, in a release build")
    words.add_argument("--runs", type=int, default=30)
    given = words.parse_args()
    print(f"Python {platform.python_version()}, strongroom {strongroom.__version__}, {given.runs} turns\n")
    print(f"`import strongroom`: {import_ms(given.runs):.0f} ms\n")
    print("| messages | call | library, ms | package, ms | ratio |\n|---|---|--:|--:|--:|")
    coding, _ = lists.coding()
    for messages in (coding[:12], coding, longer(coding, 10)):
        size = f"{len(messages)}, {len(Conversation(messages).text):,} bytes"
        for call, own, whole, ratio in rows(given.library, messages, given.runs):
            print(
                f"| {size if call == 'compact' else ''} | {call} | {own:.2f} | {whole:.2f} | {ratio:.3f} |", flush=True
            )


if __name__ == "__main__":
    main()
