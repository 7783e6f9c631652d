"""What the tests have in common: an archive of their own, and a long run of an agent."""

import json

import pytest
import strongroom

RULE = "Move the service to port 8434. Never restart the database."
WRITTEN = "region: eu-central-1\nport: 8434\n"
TURNS = 12


def manual(number):
    """A text that nobody has written: long, and without any interest."""
    return "\n".join(f"{line}. of manual {number}: see section {line * 7919 + number:x}" for line in range(60))


def steps():
    """What the scripted agent does: it reads manuals, and changes one file among them."""
    for number in range(TURNS):
        yield "read_file", {"path": f"/srv/app/manual-{number}.md"}, manual(number)
        if number == 1:
            change = {"path": "/etc/app/conf.yaml", "content": WRITTEN}
            yield "write_file", change, f"wrote {len(WRITTEN)} bytes"


def openai_messages():
    messages = [{"role": "system", "content": "You operate one host."}, {"role": "user", "content": RULE}]
    for number, (tool, arguments, result) in enumerate(steps()):
        call = {"name": tool, "arguments": json.dumps(arguments)}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result})
    messages.append({"role": "assistant", "content": "The service answers."})
    messages.append({"role": "user", "content": "Thank you. What is next?"})
    return messages


def anthropic_messages():
    messages = [{"role": "user", "content": RULE}]
    for number, (tool, arguments, result) in enumerate(steps()):
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": arguments}
        messages.append({"role": "assistant", "content": [call]})
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": result}
        messages.append({"role": "user", "content": [result]})
    messages.append({"role": "assistant", "content": [{"type": "text", "text": "The service answers."}]})
    messages.append({"role": "user", "content": "Thank you. What is next?"})
    return messages


def responses_items():
    items = [{"role": "user", "content": RULE}]
    for number, (tool, arguments, result) in enumerate(steps()):
        call_id = f"call_{number}"
        arguments = json.dumps(arguments)
        items.append({"type": "function_call", "call_id": call_id, "name": tool, "arguments": arguments})
        items.append({"type": "function_call_output", "call_id": call_id, "output": result})
    items.append({"role": "user", "content": "Thank you. What is next?"})
    return items


@pytest.fixture
def archive(tmp_path):
    with strongroom.open(tmp_path / "archive") as archive:
        yield archive


@pytest.fixture(scope="session")
def compacted_once(tmp_path_factory):
    """An archive with one compaction, and what came of it."""
    archive = strongroom.open(tmp_path_factory.mktemp("once"))
    return archive, archive.compact(openai_messages(), budget="40%", name="run")
