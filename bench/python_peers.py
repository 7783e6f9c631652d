"""What compactors in Python make of the same messages: time, tokens, facts kept, facts that can be had again.

    python bench/python_peers.py --peers langchain-trim langchain-summary deepagents headroom \
        --real airline 'transcripts/openai-chat/*.json'

Prints one table in Markdown: a row for each group of lists and compactor, with the sums over the lists of the group.
The lists and their facts are those of lists.py. Peers are run by bench/peers/run, each with as many tokens as the
budget is for Strongroom; where one wants a model it gets a scripted one that copies what it is shown. All are timed in
a process that is warm: the median of several compactions of a list, imports and the first one apart. Strongroom
compacts each time into a new archive, which is opened before.

A fact is kept when it stands in what is left. It can be had again when it is kept, or when what the compactor itself
gives an agent for that finds it: `archive.ask` and the originals that the answer cites, the search of deepagents in
its files, the retrieval of headroom.
"""

import argparse
import glob
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import lists
import strongroom
from strongroom import _native

HERE = Path(__file__).parent


class Outcome(NamedTuple):
    """What a compactor has made of one list, and the literals that it finds again."""

    ms: float
    messages: list
    recalled: set


def tokens(messages):
    return _native.count_tokens(json.dumps(messages, ensure_ascii=False, separators=(",", ":")))


def quoted(literal):
    escaped = literal.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def recalled(archive, messages, literal):
    """Whether an answer, or an original that it cites, holds the literal."""
    for query in ("list results {}", "list calls arg:{}", "list said {}"):
        answer = archive.ask(query.format(quoted(literal)), messages, name="bench")
        if answer.verdict != "supported":
            continue
        cited = [citation.pointer for citation in answer.citations if citation.pointer]
        if any(lists.stands(literal, archive.show(pointer).text) for pointer in cited):
            return True
    return False


def new_archive_ms(messages, budget, runs):
    """How long a compaction into a new archive takes, in milliseconds."""
    times = []
    for _ in range(runs + 1):
        with tempfile.TemporaryDirectory() as dir, strongroom.open(dir) as archive:
            begin = time.perf_counter()
            archive.compact(messages, budget, "bench", best_effort=True)
            times.append((time.perf_counter() - begin) * 1_000)
    return statistics.median(times[1:])


def with_strongroom(messages, facts, budget, runs):
    ms = new_archive_ms(messages, budget, runs)
    with tempfile.TemporaryDirectory() as dir, strongroom.open(dir) as archive:
        compaction = archive.compact(messages, budget, "bench", best_effort=True)
        gone = missing(facts, compaction.messages)
        found = {literal for literal in gone if recalled(archive, compaction.messages, literal)}
    return Outcome(ms, compaction.messages, found), compaction.report.budget


def with_peer(name, messages, facts, budget_tokens, runs):
    literals = sorted({literal for _, literal in facts})
    task = {"schema": 1, "budget_tokens": budget_tokens, "tokenizer": "o200k_base", "messages": messages}
    with tempfile.TemporaryDirectory() as dir:
        done = subprocess.run(
            [str(HERE / "peers/run"), name],
            input=json.dumps({**task, "runs": runs, "literals": literals}),
            env={**os.environ, "EVIDENCE_BENCH_DIR": dir},
            text=True,
            check=True,
            capture_output=True,
        )
    reply = json.loads(done.stdout)
    return Outcome(reply["ms"], reply["messages"], set(reply.get("recalled", ())))


def missing(facts, messages):
    """The facts that do not stand in the messages."""
    text = lists.plain(messages)
    return {literal for _, literal in facts if not lists.stands(literal, text)}


class Sum:
    """One row of the table."""

    def __init__(self):
        self.ms = self.before = self.after = self.facts = self.kept = self.again = 0

    def add(self, messages, facts, outcome):
        gone = missing(facts, outcome.messages)
        self.ms += outcome.ms
        self.before += tokens(messages)
        self.after += tokens(outcome.messages)
        self.facts += len(facts)
        self.kept += sum(literal not in gone for _, literal in facts)
        self.again += sum(literal not in gone or literal in outcome.recalled for _, literal in facts)

    def cells(self):
        share = f"{100 * self.after / self.before:.0f} %"
        return f"{self.ms:.1f} | {self.after:,} ({share}) | {self.kept} | {self.again} |"


def groups(real):
    """Each group of lists: its name, and the lists with their facts."""
    for name, make in lists.MADE.items():
        yield f"{name}, made here", [make()]
    for name, pattern in real:
        paths = sorted(glob.glob(pattern))
        if not paths:
            sys.exit(f"{pattern}: no such file")
        yield name, [(messages, lists.found_facts(messages)) for messages in map(lists.read, paths)]


def rows(held, words):
    """The rows of a group, by compactor."""
    table = {"strongroom": Sum(), **{name: Sum() for name in words.peers}}
    for messages, facts in held:
        outcome, budget_tokens = with_strongroom(messages, facts, words.budget, words.runs)
        table["strongroom"].add(messages, facts, outcome)
        for name in words.peers:
            try:
                outcome = with_peer(name, messages, facts, budget_tokens, words.runs)
            except subprocess.CalledProcessError as failure:
                sys.exit(f"{name} failed:\n{failure.stderr}")
            table[name].add(messages, facts, outcome)
    return table


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--budget", default="30%")
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--peers", nargs="*", default=[])
    words.add_argument("--real", nargs=2, action="append", default=[], metavar=("NAME", "GLOB"))
    given = words.parse_args()
    versions = {
        line.split("\t")[0]: line.split("\t")[1] for line in (HERE / "peers/peers.tsv").read_text().splitlines()
    }
    packages = sorted({versions[name] for name in given.peers})
    print(f"Python {platform.python_version()}, strongroom {strongroom.__version__}, {', '.join(packages)}\n")
    print("| messages | compactor | ms | tokens left | facts kept | facts to be had |\n|---|---|--:|--:|--:|--:|")
    for name, held in groups(given.real):
        count = sum(len(messages) for messages, _ in held)
        for compactor, row in rows(held, given).items():
            first = f"{name}: {len(held)} of {count} messages, {row.before:,} tokens, {row.facts} facts"
            print(f"| {first if compactor == 'strongroom' else ''} | {compactor} | {row.cells()}", flush=True)


if __name__ == "__main__":
    main()
