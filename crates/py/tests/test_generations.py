"""An agent that goes on and on: after every compaction the messages are as legal and the answers as good as before."""

import json

from conftest import RULE, WRITTEN, manual

QUESTION = "did we ever modify system config?"


def call(name, number, arguments, result):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": result},
    ]


def ids(messages):
    return [own["id"] for message in messages for own in message.get("tool_calls", [])]


def test_eight_generations(archive):
    messages = [
        {"role": "user", "content": RULE},
        *call("write_file", 0, {"path": "/etc/app/conf.yaml", "content": WRITTEN}, "done"),
    ]
    pointers = set()
    for generation in range(1, 9):
        for number in range(3):
            number = generation * 10 + number
            messages += call("read_file", number, {"path": f"/srv/{number}"}, manual(number))
        messages.append({"role": "user", "content": f"Go on with part {generation}."})
        compaction = archive.compact(messages, budget=2_500, name="long", best_effort=True)
        assert compaction.changed
        after = compaction.messages
        summaries = [message for message in after if str(message["content"]).startswith("[strongroom] Derived")]
        assert len(summaries) == 1
        assert ids(after) == ids(messages)
        assert [message["role"] for message in after if message not in summaries] == [
            message["role"] for message in messages if not str(message["content"]).startswith("[strongroom] Derived")
        ]
        assert RULE in [message["content"] for message in after] and after[-1] is messages[-1]
        messages = list(after)

        answer = archive.ask(QUESTION, messages, name="long")
        assert answer.answer == "yes", answer.text
        assert len(answer.values) == 1
        pointer = answer.citations[0].pointer
        assert "eu-central-1" in archive.show(pointer).text
        pointers.add(pointer)
    # Pointers of every generation stay good.
    assert all("eu-central-1" in archive.show(pointer).text for pointer in pointers)
    (source,) = archive.sessions()
    assert source.revision >= 8
    assert archive.ask(QUESTION).answer == "yes"
