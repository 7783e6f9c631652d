"""Plays a session of Claude Code: it grows, the installed hooks fire, the agent compacts, and its past is asked.

    played.py BINARY [--all]

`install` writes its entries into an empty home; what stands there afterwards is what is run, hooks as well as server.
The sessions are an example and, where it is at hand, a recorded one; both hold a compaction by the agent itself.
"""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_server import check, found

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared" / "transcripts"
# A summary that dropped much, and one that dropped a rule of the user's; the second takes long without optimisation.
RECORDED = (
    "fdd24234-3c2a-4958-91ed-59c63b12ba1e.jsonl",
    "2026-01-13-44df7d08-6bc4-4532-bef8-167ea3797cee.jsonl",
)
# How long a hook may take here, in seconds.
PATIENCE = 300


@dataclass(frozen=True)
class Recorded:
    """A transcript with a compaction, line by line, and the index of the line where the new context begins."""

    lines: list[str]
    boundary: int

    @classmethod
    def read(cls, path: Path) -> Recorded:
        """Up to its last compaction, and on."""
        lines = path.read_bytes().decode().split("\n")
        lines = [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
        return cls(lines, max(at for at, line in enumerate(lines) if '"subtype":"compact_boundary"' in line))

    @property
    def session(self) -> str:
        """What the agent calls it."""
        return next(record["sessionId"] for record in map(json.loads, self.lines) if "sessionId" in record)

    @property
    def cwd(self) -> str:
        """Where the agent works."""
        return next(record["cwd"] for record in map(json.loads, self.lines) if "cwd" in record)


def recorded(count: int) -> dict[str, Recorded]:
    """The example, and so many recorded sessions where they are at hand."""
    plays = {"example": Recorded.read(ROOT / "examples" / "lost.jsonl")}
    for name in RECORDED[:count]:
        path = REAL / "claude-code" / "entireio__cli" / name
        if path.exists():
            plays[name] = Recorded.read(path)
        else:
            print(f"SKIPPED: {path} is not here")
    return plays


class Play:
    """A home into which the program was installed, and a transcript in it that grows."""

    def __init__(self, binary: Path, home: Path, own: Recorded) -> None:
        self.home, self.own = home, own
        self.bin = home / "bin"
        self.bin.mkdir()
        (self.bin / "strongroom").symlink_to(binary)
        self.environment = {"HOME": str(home), "PATH": f"{self.bin}:{os.environ.get('PATH', '')}"}
        self.transcript = home / ".claude" / "projects" / "played" / f"{own.session}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.fired: list[str] = []
        self.run("install", "claude-code")
        self.settings = json.loads((home / ".claude" / "settings.json").read_text(encoding="utf-8"))
        self.servers = json.loads((home / ".claude.json").read_text(encoding="utf-8"))["mcpServers"]

    def run(self, *words: str) -> str:
        """Runs the program as a user would."""
        command = [self.bin / "strongroom", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment)
        check(done.returncode in (0, 1), (words, done))
        return done.stdout

    def shell(self, command: str, text: str) -> subprocess.CompletedProcess[str]:
        """Runs a line as the agent runs the commands of its settings."""
        words = ["sh", "-c", command]
        return subprocess.run(words, input=text, capture_output=True, text=True, check=False, env=self.environment)

    def grow(self, end: int) -> None:
        """The agent has written so many lines."""
        self.transcript.write_text("".join(self.own.lines[:end]), encoding="utf-8")

    def hook(self, event: str, **more: Any) -> dict[str, Any]:
        """Does what the agent does at an event: every command of the settings that is meant for it, through a shell."""
        payload = {
            "session_id": self.own.session,
            "transcript_path": str(self.transcript),
            "cwd": self.own.cwd,
            "hook_event_name": event,
            "permission_mode": "default",
        } | more
        matched = more.get("source") or more.get("trigger") or ""
        told: dict[str, Any] = {}
        for entry in self.settings["hooks"].get(event, []):
            matcher = entry.get("matcher", "")
            if matcher not in ("", "*") and matched not in matcher.split("|"):
                continue
            for hook in entry["hooks"]:
                # A build without optimisation on a busy machine is slow; how fast it is, is not asked here.
                done = self.shell(f"{hook['command']} --deadline {PATIENCE}", json.dumps(payload))
                check(done.returncode == 0, (event, done))
                told |= json.loads(done.stdout) if done.stdout.strip() else {}
                self.fired.append(event)
        return told

    def card(self, source: str) -> str:
        """What the model is told when its session begins or goes on."""
        told = self.hook("SessionStart", source=source)
        check("systemMessage" not in told, told)
        return told.get("hookSpecificOutput", {}).get("additionalContext", "")

    def until_compacted(self) -> str:
        """Everything up to the agent's own compaction; gives the card behind it."""
        check(self.card("startup") == "", "a new session has no past")
        before = self.own.boundary
        for end in (before // 3, 2 * before // 3, before):
            self.grow(end)
            check(self.hook("Stop", stop_hook_active=False) == {}, "a turn ends without a word")
        check(self.hook("PreCompact", trigger="auto", custom_instructions=None) == {}, "custody without a word")
        self.grow(before + 2)
        card = self.card("compact")
        check(card != "", "no card after a compaction")
        return card

    def to_the_end(self) -> None:
        """The rest of the session; afterwards every byte is in custody."""
        self.grow(len(self.own.lines))
        check(self.hook("SessionEnd", reason="other") == {}, "a session ends without a word")
        check(self.run("export", str(self.transcript)) == "".join(self.own.lines), "bytes are missing in custody")
        check(set(self.settings["hooks"]) >= set(self.fired) and "PreCompact" in self.fired, self.fired)

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[Client]:
        """The server as the settings start it, by a client of the protocol."""
        own = self.servers["strongroom"]
        parameters = StdioServerParameters(
            command=own["command"], args=own.get("args", []), env=self.environment, cwd=str(self.home)
        )
        async with Client(stdio_client(parameters)) as client:
            yield client


def lost(play: Play) -> dict[str, Any]:
    """What the agent's last compaction lost."""
    told = json.loads(play.run("lost", str(play.transcript), "--all", "--json"))
    compactions = [one for session in told["sessions"] for one in session["compactions"]]
    check(compactions != [], told)
    return compactions[-1]


def is_said_before(play: Play, literal: str) -> bool:
    """By the bytes alone: it stands before the boundary, and the summary does not have it."""
    spelled = json.dumps(literal, ensure_ascii=False)[1:-1]
    return any(spelled in line for line in play.own.lines[: play.own.boundary]) and not any(
        spelled in line for line in play.own.lines[play.own.boundary : play.own.boundary + 2]
    )


async def what_was_lost(client: Client, play: Play) -> int:
    """Every literal that the summary lost is found again, by its words and before the boundary; gives how many."""
    items = [item["text"] for tally in lost(play)["kinds"] for item in tally["lost"]]
    literals = [text for text in items if is_said_before(play, text)][:12]
    check(literals != [], items)
    for literal in literals:
        hits = await found(client, "search", text=literal, session=play.own.session)
        check(hits["found"] >= 1, (literal, hits))
        lines = [int(re.search(r"L(\d+)", hit["locator"])[1]) for hit in hits["hits"]]
        check(min(lines) <= play.own.boundary, (literal, lines))
    return len(literals)


async def what_nobody_can_know(client: Client, play: Play) -> None:
    """A value that never stood anywhere, a state of the world, and a name that nobody used."""
    for question in ("value values max_open_wombats", "Is the service running now?"):
        told = await found(client, "ask", question=question, session=play.own.session)
        check(told["verdict"] == "insufficient" and told["missing"], (question, told))
    hits = await found(client, "search", text="wombat-7731-quux", session=play.own.session)
    check(hits["found"] == 0, hits)


async def what_was_forbidden(client: Client, play: Play, card: str) -> int:
    """Rules that the summary dropped stand on the card in the user's words, and the server has them too."""
    rules = lost(play)["rules"]
    told = await found(client, "ask", question="list rules by:user state:in-force", session=play.own.session)
    known = " ".join(" ".join(value["value"].split()) for value in told.get("values", []))
    for rule in rules:
        words = " ".join(rule["quote"].split())
        check(words in known, (words, known))
        check(words in card, (words, card))
    return len(rules)


async def played(binary: Path, home: Path, own: Recorded) -> str:
    """One session from its beginning to its end; says what was seen."""
    play = Play(binary, home, own)
    card = play.until_compacted()
    async with play.asked() as client:
        literals = await what_was_lost(client, play)
        rules = await what_was_forbidden(client, play, card)
        await what_nobody_can_know(client, play)
    play.to_the_end()
    return f"{len(play.fired)} hooks, {literals} lost literals found again, {rules} lost rules shown"


async def run(binary: Path, count: int) -> int:
    """Everything; gives the number of failures."""
    failed = 0
    for name, own in recorded(count).items():
        with tempfile.TemporaryDirectory() as home:
            try:
                print(f"played {name}: {await played(binary, Path(home), own)}")
            except Exception as why:  # noqa: BLE001  every failure is told
                failed += 1
                print(f"REJECTED {name}: {innermost(why)!r}")
    return failed


def innermost(why: BaseException) -> BaseException:
    """The failure itself, out of the groups that tasks wrap it in."""
    while isinstance(why, BaseExceptionGroup):
        why = why.exceptions[0]
    return why


def main() -> int:
    """Says what asks, then plays."""
    binary, *rest = sys.argv[1:] or [""]
    if not binary or rest not in ([], ["--all"]):
        print(__doc__)
        return 2
    print("played for mcp", importlib.metadata.version("mcp"))
    return 1 if anyio.run(functools.partial(run, Path(binary).resolve(), len(RECORDED) if rest else 1)) else 0


if __name__ == "__main__":
    sys.exit(main())
