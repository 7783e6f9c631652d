"""What the Python package costs beyond the library, and what other compactors in Python make of the same messages.

    python bench/python_overhead.py examples/openai-chat.json --peers langchain-summary deepagents

Prints two tables in Markdown. Peers are run by bench/peers/run, with a scripted model that copies what it is shown;
their time holds the start of a Python, which is measured by itself and taken off.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import strongroom
from strongroom import _native
from strongroom.messages import Conversation

HERE = Path(__file__).parent


def best(runs, work):
    """The shortest time of several, in milliseconds, and the last result."""
    shortest = float("inf")
    for _ in range(runs):
        begin = time.perf_counter()
        result = work()
        shortest = min(shortest, (time.perf_counter() - begin) * 1_000)
    return shortest, result


def overhead(archive, messages, budget, runs):
    """Rows of call, whole time, time in the library, and what is left for the package."""
    compact = {"of": {"name": "bench", "format": None}, "budget": budget, "unmet": "best-effort", "now_ms": 0}
    question = "did we ever modify system config?"
    ask = {"of": {"messages": compact["of"]}, "text": question, "strictness": "assume"}
    text, native = Conversation(messages).text, archive._native()
    calls = [
        (
            "compact",
            lambda: archive.compact(messages, budget, "bench", best_effort=True),
            lambda: native.compact(json.dumps(compact), text),
        ),
        (
            "ask",
            lambda: archive.ask(question, messages, name="bench"),
            lambda: native.ask(json.dumps(ask), text),
        ),
    ]
    pointer = archive.compact(messages, budget, "bench", best_effort=True).report.pointer
    if pointer:
        first = archive.spans(pointer)[0].pointer
        calls.append(("show", lambda: archive.show(first), lambda: native.show(first, False)))
    for name, whole, inside in calls:
        whole_ms, _ = best(runs, whole)
        inside_ms, _ = best(runs, inside)
        yield name, whole_ms, inside_ms


def peer(name, messages, budget_tokens):
    """What a peer leaves, and how long it took with the start of its Python."""
    task = json.dumps({"schema": 1, "budget_tokens": budget_tokens, "tokenizer": "o200k_base", "messages": messages})
    command = [str(HERE / "peers/run"), name]
    # The first time installs it.
    subprocess.run(command, input="null", text=True, check=True, capture_output=True)
    start_ms, _ = best(1, lambda: subprocess.run(command, input="null", text=True, check=True, capture_output=True))
    took_ms, done = best(1, lambda: subprocess.run(command, input=task, text=True, check=True, capture_output=True))
    return json.loads(done.stdout)["messages"], took_ms - start_ms


def words_of_the_user(messages):
    return [
        message["content"] for message in messages if message["role"] == "user" and isinstance(message["content"], str)
    ]


def arguments(messages):
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    return [call["function"]["arguments"] for call in calls if len(call["function"]["arguments"]) > 2]


def row(name, before, after, took_ms, recovered):
    text = json.dumps([message.get("content") for message in after], ensure_ascii=False)
    kept = [words for words in words_of_the_user(before) if json.dumps(words, ensure_ascii=False)[1:-1] in text]
    left = set(arguments(after))
    gone = [own for own in arguments(before) if own not in left]
    tokens = _native.count_tokens(json.dumps(after, ensure_ascii=False))
    return (
        f"| {name} | {tokens} | {took_ms:.0f} | {len(kept)} of {len(words_of_the_user(before))} "
        f"| {len(arguments(before)) - len(gone)} | {recovered(gone)} |"
    )


def recovered(archive, compaction):
    """How many of the arguments that are gone stand byte for byte in an original that a pointer of the summary names."""

    def count(gone):
        spans = archive.spans(compaction.report.pointer) if compaction.report.pointer else ()
        originals = [archive.original_bytes(span.pointer) for span in spans]
        written = [json.dumps(own, ensure_ascii=False).encode() for own in gone]
        return sum(any(own in original for original in originals) for own in written)

    return count


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("transcript", type=Path, help="a list of messages of OpenAI Chat, or a body with one")
    words.add_argument("--budget", default="40%")
    words.add_argument("--runs", type=int, default=20)
    words.add_argument("--peers", nargs="*", default=[])
    own = words.parse_args()
    data = json.loads(own.transcript.read_text(encoding="utf-8"))
    messages = data if isinstance(data, list) else data["messages"]
    with tempfile.TemporaryDirectory() as dir, strongroom.open(dir) as archive:
        size = len(Conversation(messages).text)
        print(
            f"{own.transcript}: {len(messages)} messages, {size} bytes, {own.runs} runs, Python {sys.version.split()[0]}\n"
        )
        print("| call | ms | of it in the library | in the package |\n|---|---|---|---|")
        for name, whole, inside in overhead(archive, messages, own.budget, own.runs):
            print(f"| {name} | {whole:.2f} | {inside:.2f} | {whole - inside:.2f} |")
        took_ms, compaction = best(own.runs, lambda: archive.compact(messages, own.budget, "bench", best_effort=True))
        print(
            "\n| compactor | tokens | ms | words of the user | arguments left | recovered |\n|---|---|---|---|---|---|"
        )
        print(row("none", messages, messages, 0, lambda gone: 0))
        print(row("strongroom", messages, compaction.messages, took_ms, recovered(archive, compaction)))
        for name in own.peers:
            after, took_ms = peer(name, messages, compaction.report.budget)
            print(row(name, messages, after, took_ms, lambda gone: 0))


if __name__ == "__main__":
    main()
