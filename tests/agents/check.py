"""Has our output accepted by the agents' own code.

    check.py BINARY

Compacts the examples, and a sample of the real transcripts beside the repository where they exist, and reads the results
with the packages of the agents' vendors. A rule counts as broken when the input kept it and the output does not.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import api
import claude_agent_sdk as sdk

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "transcripts"
OPENING = "[strongroom"
# How many real files of a kind are looked at, and how large they may be.
SAMPLE, LARGEST_BYTES = 5, 2_000_000
# A quote of the user longer than this may be a paste, which may go.
WORDS_CHARS = 400


@dataclass
class Bench:
    """The program under test, with an archive of its own."""

    binary: Path
    home: Path

    def compact(self, file: Path, *arguments: str) -> tuple[dict[str, Any], list[str]]:
        """Runs a compaction; gives the report and what is printed behind it."""
        words = [self.binary, "--dir", self.home / "archive", "--json", "compact", file, "--best-effort", *arguments]
        done = subprocess.run(words, capture_output=True, text=True, check=False, encoding="utf-8")
        if done.returncode != 0:
            raise Rejected([f"exit {done.returncode}: {done.stderr.strip()}"])
        lines = (done.stdout or done.stderr).splitlines()
        report = next(at for at, line in enumerate(lines) if '"outcome"' in line)
        return json.loads(lines[report][lines[report].index("{") :]), lines[report + 1 :]


class Rejected(Exception):
    """What an agent's code, or a rule of its API, does not accept."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons[:6]))


def demand(reasons: set[str] | list[str]) -> None:
    """Rejects when there is a reason to."""
    if reasons:
        raise Rejected(sorted(reasons))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a log; damaged lines are passed over, as the agents do."""
    records = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


# Claude Code


def claude_code(bench: Bench, file: Path) -> str:
    """Two generations, with a turn in between, read by the SDK where the agent keeps its sessions."""
    config = bench.home / "claude"
    os.environ["CLAUDE_CONFIG_DIR"] = str(config)
    records = read_lines(file)
    cwd = next((record["cwd"] for record in records if record.get("cwd")), "/")
    project = config / "projects" / sdk.project_key_for_directory(cwd)
    project.mkdir(parents=True)
    session = next(record["sessionId"] for record in records if record.get("sessionId"))
    first = project / f"{session}.jsonl"
    shutil.copyfile(file, first)

    generation = resume_claude(bench, first, cwd, session)
    if generation is None:
        return "unchanged"
    second = resume_claude(bench, go_on(generation, cwd), cwd, generation.stem)
    return "compacted" if second is None else "compacted twice"


def resume_claude(bench: Bench, file: Path, cwd: str, session: str) -> Path | None:
    """Compacts for resuming and has the result listed and loaded."""
    before = sdk.get_session_messages(session, directory=cwd)
    report, printed = bench.compact(file, "--resume")
    if report["outcome"] != "compacted":
        return None
    command = printed[-1] if printed else ""
    match = re.fullmatch(r"claude --resume (\S+)", command)
    if match is None:
        raise Rejected([f"no command to go on with, but {command!r}"])
    output = file.with_name(f"{match[1]}.jsonl")
    if not output.is_file():
        raise Rejected([f"{command}: {output.name} is not beside the input"])
    listed = {info.session_id for info in sdk.list_sessions(directory=cwd)}
    if session in listed and match[1] not in listed:
        raise Rejected(["the session is not listed"])
    after = sdk.get_session_messages(match[1], directory=cwd)
    demand(lost_or_broken(before, after, report))
    return output


def lost_or_broken(before: list[Any], after: list[Any], report: dict[str, Any]) -> set[str]:
    """What is wrong with the messages that the agent loads."""
    if not after:
        return {"no message is loaded"}
    reasons = set()
    foreign = sum(is_summary(message) and OPENING not in text_of(message) for message in before)
    opening = [at for at, message in enumerate(after) if is_summary(message) and OPENING in text_of(message)]
    if opening != [opening[0] if opening else -1] or opening[0] > foreign:
        reasons.add(f"our summary stands at {opening} and not in front")
    if {message.session_id for message in after} != {after[-1].session_id}:
        reasons.add("the messages are of several sessions")
    everything = "\n".join(text_of(message) for message in after)
    if not report.get("masked"):
        reasons |= {f"the user's words are gone: {words[:80]!r}" for words in users_words(before) if words not in everything}
    sent = [message.message for message in before], [message.message for message in after]
    return reasons | (api.anthropic(sent[1]) - api.anthropic(sent[0]))


def text_of(message: Any) -> str:
    """The text of a message."""
    return "\n".join(str(part.get("text", "")) for part in api.parts(message.message))


def is_summary(message: Any) -> bool:
    """Whether a loaded message is a summary: of ours by its opening, of the agent by its own."""
    text = text_of(message)
    return message.type == "user" and (text.startswith(OPENING) or text.startswith("This session is being continued"))


def users_words(messages: list[Any]) -> list[str]:
    """What the user typed: no summary, nothing the harness wraps in tags or brackets, no paste."""
    typed = [text_of(message).strip() for message in messages if message.type == "user" and not is_summary(message)]
    harness = ("<", "[", "Caveat:", "This session is being continued")
    return [words for words in typed if words and len(words) <= WORDS_CHARS and not words.startswith(harness)]


def go_on(file: Path, cwd: str) -> Path:
    """Adds a turn as the agent does, large enough to be worth a second compaction."""
    last = sdk.get_session_messages(file.stem, directory=cwd)[-1]
    listing = "\n".join(f"{at:6}\tlet total_{at} = sum(rows[{at}]) + {at * 37 % 1009};" for at in range(1200))
    turns = [
        ("user", "Now read src/next.rs and tell me what it adds up."),
        ("assistant", [{"type": "tool_use", "id": "toolu_next", "name": "Read", "input": {"file_path": f"{cwd}/src/next.rs"}}]),
        ("user", [{"type": "tool_result", "tool_use_id": "toolu_next", "content": listing}]),
        ("assistant", [{"type": "text", "text": "It adds up 1200 rows."}]),
        ("user", "Good. What is left to do?"),
    ]
    parent = last.uuid
    with file.open("a", encoding="utf-8") as out:
        for at, (role, content) in enumerate(turns):
            uuid = f"0e57{at:04}-0000-4000-8000-{file.stem[-12:]}"
            message: dict[str, Any] = {"role": role, "content": content}
            if role == "assistant":
                message |= {"id": f"msg_next{at}", "type": "message", "model": "claude-sonnet-4-5"}
            line = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": cwd, "sessionId": file.stem}
            line |= {"type": role, "message": message, "uuid": uuid, "timestamp": "2026-11-29T10:00:00.000Z"}
            out.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
            parent = uuid
    return file


# Codex


def codex(bench: Bench, file: Path) -> str:
    """The newest history is one the Responses API takes, under the id that the file's name says."""
    meta = next(record["payload"] for record in read_lines(file) if record.get("type") == "session_meta")
    day = bench.home / "codex" / "sessions" / "2026" / "11" / "29"
    day.mkdir(parents=True)
    first = day / f"rollout-2026-11-29T10-00-00-{meta['id']}.jsonl"
    shutil.copyfile(file, first)
    report, printed = bench.compact(first, "--resume")
    if report["outcome"] != "compacted":
        return "unchanged"
    match = re.fullmatch(r"codex resume (\S+)", printed[-1] if printed else "")
    if match is None:
        raise Rejected([f"no command to go on with, but {printed}"])
    output = [path for path in day.iterdir() if path.stem.endswith(match[1])]
    # The agent finds a rollout by this pattern, and reads time and id from the name.
    name = r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl"
    if len(output) != 1 or not re.fullmatch(name, output[0].name):
        raise Rejected([f"no file of {match[1]} as the agent looks for it: {output}"])
    records = read_lines(output[0])
    if records[0].get("type") != "session_meta" or records[0]["payload"]["id"] != match[1]:
        raise Rejected(["the first line is not the session_meta of that id"])
    before, after = codex_history(read_lines(first)), codex_history(records)
    demand(api.responses(after) - api.responses(before))
    demand(codex_words(before, after, report))
    return "compacted"


def codex_history(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the agent sends on: the newest replacement history and the items behind it, without turns taken back."""
    items: list[dict[str, Any]] = []
    for record in records:
        payload = record.get("payload") or {}
        if record.get("type") == "response_item":
            items.append(payload)
        elif record.get("type") == "compacted" and payload.get("replacement_history") is not None:
            items = list(payload["replacement_history"])
    return items


def codex_words(before: list[dict[str, Any]], after: list[dict[str, Any]], report: dict[str, Any]) -> set[str]:
    """The summary is there once, and no short message of the user is gone."""
    def said(items: list[dict[str, Any]]) -> list[str]:
        users = [item for item in items if item.get("type") == "message" and item.get("role") == "user"]
        return ["\n".join(str(part.get("text", "")) for part in api.parts(item)) for item in users]

    reasons = set()
    if sum(text.startswith(OPENING) for text in said(after)) != 1:
        reasons.add("our summary is not there exactly once")
    kept = "\n".join(said(after))
    short = [text for text in said(before) if len(text) <= WORDS_CHARS and not text.startswith(("<", "[", "#"))]
    if not report.get("masked"):
        reasons |= {f"the user's words are gone: {text[:80]!r}" for text in short if text not in kept}
    return reasons


# Request bodies


def body(rules: Callable[[list[Any]], set[str]]) -> Callable[[Bench, Path], str]:
    """Two generations of a request body, by the rules of its API."""

    def check(bench: Bench, file: Path) -> str:
        outcome, before = "unchanged", file
        for generation, budget in enumerate(("30%", "60%"), 1):
            output = bench.home / f"generation-{generation}.json"
            report, _ = bench.compact(before, "--budget", budget, "--out", str(output))
            if report["outcome"] != "compacted":
                break
            demand(rules(messages(output)) - rules(messages(before)))
            outcome, before = f"compacted {generation}x", output
        return outcome

    return check


def messages(path: Path) -> list[Any]:
    """The messages of a body: bare, or under `messages` or `input`."""
    value = json.loads(path.read_text(encoding="utf-8"))
    return value if isinstance(value, list) else value.get("messages") or value["input"]


def anthropic_body(body_messages: list[Any]) -> set[str]:
    """Request bodies go to the API as they are."""
    return api.anthropic(body_messages) | api.results_first(body_messages)


# (name, example, real files, check)
KINDS: list[tuple[str, str, str, Callable[[Bench, Path], str]]] = [
    ("claude-code", "claude-code.jsonl", "claude-code/*/*.jsonl", claude_code),
    ("codex", "codex.jsonl", "codex/*/*.jsonl", codex),
    ("openai-chat", "openai-chat.json", "derived/openai-chat/*.json", body(api.openai_chat)),
    ("anthropic-messages", "anthropic-messages.json", "derived/anthropic-messages/*.json", body(anthropic_body)),
    ("openai-responses", "openai-responses.json", "derived/openai-responses/019ed836*.json", body(api.responses)),
]


def sample(pattern: str) -> list[Path]:
    """Real files of a kind, evenly from small to large."""
    found = [path for path in REAL.glob(pattern) if 20_000 <= path.stat().st_size <= LARGEST_BYTES or "derived" in pattern]
    found.sort(key=lambda path: (path.stat().st_size, path.name))
    count = int(os.environ.get("AGENTS_SAMPLE", SAMPLE))
    return found if len(found) <= count else [found[at * (len(found) - 1) // (count - 1)] for at in range(count)]


def run(binary: Path) -> int:
    """Checks every file; gives the number of rejected ones."""
    rejected = 0
    for name, example, pattern, check in KINDS:
        real = sample(pattern)
        if not real:
            print(f"SKIPPED: no real transcripts of {name} in {REAL}")
        outcomes: dict[str, int] = {}
        for file in [ROOT / "examples" / example, *real]:
            with tempfile.TemporaryDirectory() as home:
                try:
                    outcome = check(Bench(binary, Path(home)), file)
                except Rejected as why:
                    rejected += 1
                    outcome = "REJECTED"
                    print(f"REJECTED {file}: {why}")
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            if file.parent.name == "examples" and outcome == "unchanged":
                rejected += 1
                print(f"REJECTED {file}: nothing was compacted, so nothing was checked")
        print(f"{name}: {', '.join(f'{count} {outcome}' for outcome, count in sorted(outcomes.items()))}")
    return rejected


def main() -> int:
    """Says what checks, then checks."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    packages = ("claude-agent-sdk", "anthropic", "openai", "pydantic")
    print("accepting with", ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages))
    return 1 if run(Path(sys.argv[1]).resolve()) else 0


if __name__ == "__main__":
    sys.exit(main())
