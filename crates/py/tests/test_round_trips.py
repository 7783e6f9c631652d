"""Whatever the messages hold: they come back, and so do the originals."""

import json

import pytest
import strongroom

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import strategies as some

TEXT = some.text(some.characters(codec="utf-8"), max_size=200)
LONG = some.builds(lambda text, times: (text + "\n") * times, TEXT.filter(str.strip), some.integers(1, 60))
ARGUMENTS = some.dictionaries(some.text("abcdefg_", min_size=1, max_size=8), TEXT | some.integers(), max_size=4)


@some.composite
def runs(draw):
    """A run of an agent: the user's words, then calls with results and some words between them."""
    messages = [{"role": "user", "content": draw(TEXT.filter(str.strip))}]
    for number in range(draw(some.integers(1, 6))):
        call = {
            "name": draw(some.sampled_from(["read_file", "bash", "search"])),
            "arguments": json.dumps(draw(ARGUMENTS)),
        }
        calls = [{"id": f"call_{number}", "type": "function", "function": call}]
        messages.append({"role": "assistant", "content": draw(some.none() | TEXT), "tool_calls": calls})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": draw(LONG)})
    messages.append({"role": "assistant", "content": draw(TEXT)})
    messages.append({"role": "user", "content": "What is next?"})
    return messages


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    with strongroom.open(tmp_path_factory.mktemp("round-trips")) as archive:
        yield archive


def original(archive, pointer):
    """The bytes behind a pointer; nothing, where narrative went without an original."""
    try:
        return archive.original_bytes(pointer)
    except strongroom.NotFound:
        return b""


@hypothesis.settings(max_examples=12, deadline=None, derandomize=True)
@hypothesis.given(runs(), some.integers(5, 90))
def test_what_goes_can_be_had_back(archive, messages, percent):
    before = json.dumps(messages)
    compaction = archive.compact(messages, budget=f"{percent}%", name="run", best_effort=True)
    assert json.dumps(messages) == before, "what was given is not changed"
    users = [message["content"] for message in compaction.messages if message["role"] == "user"]
    assert messages[0]["content"] in users and messages[-1]["content"] in users
    answered = [message["tool_call_id"] for message in compaction.messages if message["role"] == "tool"]
    called = [call["id"] for message in compaction.messages for call in message.get("tool_calls") or []]
    assert answered == called
    if not compaction.changed:
        assert compaction.messages is messages
        return
    originals = b"".join(original(archive, span.pointer) for span in archive.spans(compaction.report.pointer))
    left = json.dumps(compaction.messages)
    for message in messages:
        if message["role"] == "tool" and json.dumps(message["content"]) not in left:
            written = {json.dumps(message["content"], ensure_ascii=ascii).encode() for ascii in (True, False)}
            assert any(own in originals for own in written)
