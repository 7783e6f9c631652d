"""Lists of messages for benchmarks, and the facts in them.

In lists made here they are planted. In real ones they are what looks like a path, an id, a number, an error or a rule
to patterns of this file's own, which know nothing of any compactor.
"""

import json
import random
import re
from pathlib import Path

KINDS = ("path", "id", "number", "error", "rule")

PATTERNS = {
    "path": r"(?<![\w/.:@-])(?:~|\.{1,2})?/(?:[\w.@+-]+/)+[\w.@+-]*\w|(?<![\w/.:-])(?:[\w-]+/)+[\w-]+\.[a-z]{1,5}\b",
    "id": r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=\w*\d)(?=\w*[a-f])[0-9a-f]{7,40}\b"
    r"|\b[A-Z]{2,6}-\d{2,6}\b|\b(?=[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{6}\b|\b[a-z]+_[a-z]+_\d{3,5}\b",
    "number": r"(?<![\w.,/-])\d{3,}(?:\.\d+)?(?![\w/-]|\.\d)",
    "error": r"[^\n]*\b(?:[Ee]rror|ERROR|failed|FAILED|panicked|denied|not found)\b[^\n]{4,}",
    "rule": r"[^.!?\n]*\b(?:[Nn]ever|must|[Dd]o not|[Dd]on't|[Oo]nly)\b[^.!?\n]+[.!]",
}

LONGEST_LINE = 160
"""Lines that are longer are no facts: they are whole outputs."""

MOST_OF_A_KIND = 40
"""Of more facts of a kind in a list, this many are taken at even distances."""


def strings(value):
    """Every text and number in a value, arguments of calls read."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, dict):
        for own in value.values():
            yield from strings(own)
    elif isinstance(value, list):
        for own in value:
            yield from strings(own)


def texts(message):
    """The texts of a message, those of its calls included."""
    yield from strings(message.get("content"))
    for call in message.get("tool_calls") or []:
        try:
            yield from strings(json.loads(call["function"]["arguments"]))
        except ValueError:
            yield call["function"]["arguments"]


def plain(messages):
    """What the messages say, as one text."""
    return "\n".join(text for message in messages for text in texts(message))


def found_facts(messages):
    """What looks like a fact, by kind. Rules are those of the user and the operator."""
    facts = []
    for kind in KINDS:
        speakers = ("user", "system") if kind == "rule" else ("user", "assistant", "tool")
        seen = {}
        for message in messages:
            if message["role"] in speakers:
                for text in texts(message):
                    for match in re.finditer(PATTERNS[kind], text):
                        literal = match[0].strip()
                        if len(literal) <= LONGEST_LINE:
                            seen.setdefault(literal)
        step = max(1, -(-len(seen) // MOST_OF_A_KIND))
        facts += [(kind, literal) for literal in list(seen)[::step]]
    return facts


def stands(literal, text):
    """Whether the literal stands in the text by itself, and not within a longer word or number."""
    before = r"(?<!\w)" if literal[0].isalnum() else ""
    after = r"(?!\w)" if literal[-1].isalnum() else ""
    return re.search(before + re.escape(literal) + after, text) is not None


class Writer:
    """Writes a list of messages of OpenAI Chat, and notes what is planted in it."""

    def __init__(self, system, task):
        self.messages = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        self.facts = []

    def fact(self, kind, literal):
        self.facts.append((kind, literal))
        return literal

    def call(self, tool, arguments, result):
        at = f"call_{len(self.messages):04}"
        function = {"name": tool, "arguments": json.dumps(arguments)}
        self.messages.append(
            {"role": "assistant", "content": None, "tool_calls": [{"id": at, "type": "function", "function": function}]}
        )
        self.messages.append({"role": "tool", "tool_call_id": at, "content": result})

    def say(self, role, text):
        self.messages.append({"role": role, "content": text})

    def done(self):
        self.say("assistant", "That is done.")
        self.say("user", "Good. What is next?")
        return self.messages, self.facts


def hexes(rng, count):
    return f"{rng.getrandbits(4 * count):0{count}x}"


def source_file(rng, lines):
    names = ("limit", "retry", "cache", "queue", "worker", "batch")
    return "\n".join(
        f"{line:4}    let {names[line % 6]}_{line} = settings.value({rng.randrange(90)}, {line})?;"
        for line in range(lines)
    )


def coding(steps=40):
    """An agent that reads sources, edits them, and runs tests that fail at first."""
    rng = random.Random("coding")
    list_ = Writer(
        "You are a coding agent in one repository.", "The import of orders drops rows. Find out why and mend it."
    )
    list_.say("user", list_.fact("rule", "Never change anything below vendor/ledger."))
    for step in range(steps):
        path = list_.fact("path", f"src/orders/{hexes(rng, 6)}/rows.rs")
        if step % 4 == 0:
            list_.call("read_file", {"path": path}, source_file(rng, 60))
        elif step % 4 == 1:
            new = list_.fact("number", str(rng.randrange(10_000, 99_999)))
            list_.call(
                "edit_file", {"path": path, "old": "limit = 8", "new": f"limit = {new}"}, f"{path}: 1 place changed"
            )
        elif step % 4 == 2:
            fault = list_.fact(
                "error", f"error[E0{rng.randrange(300, 400)}]: row {rng.randrange(10**5, 10**6)} was dropped"
            )
            passed = "\n".join(f"test orders::case_{rng.randrange(10**5)} ... ok" for _ in range(50))
            list_.call(
                "run_command", {"command": f"cargo test -- {path}"}, f"{passed}\n{fault}\n3 failed, exit status 101"
            )
        else:
            commit = list_.fact("id", hexes(rng, 40))
            list_.call("run_command", {"command": f"git log -1 --format=%H -- {path}"}, commit)
            list_.say("assistant", f"Rows are lost in {path}, since {commit[:9]}.")
    return list_.done()


def operations(steps=40):
    """An agent that reads long logs and manuals of a host, and changes its settings now and then."""
    rng = random.Random("operations")
    list_ = Writer("You operate one host.", "Requests to the shop are slow. Find the cause.")
    list_.say("user", list_.fact("rule", "Do not restart the database before the export is done."))
    for step in range(steps):
        if step % 3 == 0:
            lines = [
                f"2026-05-{1 + step % 28:02}T{n % 24:02}:14:07Z info shop request served in {rng.randrange(90)} ms"
                for n in range(90)
            ]
            fault = list_.fact(
                "error", f"error: upstream {hexes(rng, 8)} timed out after {rng.randrange(10**4, 10**5)} ms"
            )
            lines[rng.randrange(90)] = f"2026-05-{1 + step % 28:02}T09:14:07Z {fault}"
            path = list_.fact("path", f"/var/log/shop/{hexes(rng, 6)}.log")
            list_.call("query_logs", {"file": path}, "\n".join(lines))
        elif step % 3 == 1:
            path = list_.fact("path", f"/etc/shop/{hexes(rng, 6)}.conf")
            value = list_.fact("number", str(rng.randrange(10_000, 99_999)))
            list_.call("write_file", {"path": path, "content": f"pool = {value}\n"}, "wrote 13 bytes")
        else:
            ticket = list_.fact("id", f"OPS-{rng.randrange(10**4, 10**5)}")
            list_.call(
                "http_request",
                {"method": "POST", "url": f"https://desk.example/{ticket}", "body": "seen"},
                "201 Created",
            )
    return list_.done()


def records(steps=24):
    """An agent of a shop: answers of interfaces are long lists in JSON, and money moves."""
    rng = random.Random("records")
    list_ = Writer("You work for a shop.", "Go through the orders that are late, and refund what is due.")
    list_.say("user", list_.fact("rule", "Only refund orders that were paid by card."))
    for step in range(steps):
        rows = [
            {
                "order": f"R{rng.randrange(10**6)}",
                "state": "late",
                "cents": rng.randrange(10**4),
                "country": "SE",
                "card": True,
            }
            for _ in range(40)
        ]
        own = rows[rng.randrange(40)]
        own["order"], own["cents"] = list_.fact("id", f"RX-{rng.randrange(10**4, 10**6)}"), rng.randrange(10**5, 10**6)
        list_.fact("number", str(own["cents"]))
        list_.call("list_orders", {"page": step}, json.dumps(rows))
        refund = list_.fact("id", str(hexes(rng, 12)))
        list_.call(
            "refund", {"order": own["order"], "cents": own["cents"]}, json.dumps({"refund": refund, "state": "done"})
        )
        if step % 6 == 5:
            fault = list_.fact("error", f"error: card of RX-{rng.randrange(10**4, 10**6)} was denied")
            list_.call("refund", {"order": f"R{rng.randrange(10**6)}", "cents": 100}, fault)
    return list_.done()


MADE = {"coding": coding, "operations": operations, "records": records}


def chat_of_anthropic(messages):
    """Messages of Anthropic as those of OpenAI Chat; images are left out."""
    chat = []
    for message in messages:
        parts = (
            message["content"]
            if isinstance(message["content"], list)
            else [{"type": "text", "text": message["content"]}]
        )
        for part in parts:
            if part["type"] == "tool_result":
                said = "\n".join(text for text in strings(part.get("content")) if text != "text")
                chat.append({"role": "tool", "tool_call_id": part["tool_use_id"], "content": said})
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        uses = [part for part in parts if part["type"] == "tool_use"]
        if text or uses:
            own = {"role": message["role"], "content": text or None}
            if uses:
                own["tool_calls"] = [
                    {
                        "id": use["id"],
                        "type": "function",
                        "function": {"name": use["name"], "arguments": json.dumps(use["input"])},
                    }
                    for use in uses
                ]
            chat.append(own)
    return chat


def read(path):
    """A list of messages of OpenAI Chat or Anthropic from a file, as messages of OpenAI Chat."""
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    messages = data if isinstance(data, list) else data["messages"]
    kinds = {part.get("type") for own in messages if isinstance(own.get("content"), list) for part in own["content"]}
    return chat_of_anthropic(messages) if kinds & {"tool_use", "tool_result"} else messages
