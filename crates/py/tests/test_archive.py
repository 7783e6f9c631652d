"""The archive: compaction of every kind of messages, questions, errors."""

import copy
import json

import pytest
import strongroom
from conftest import RULE, WRITTEN, anthropic_messages, openai_messages, responses_items

QUESTION = "did we ever modify system config?"


def test_compaction_keeps_the_rule_and_answers_from_the_originals(compacted_once):
    archive, compaction = compacted_once
    assert compaction.changed
    assert compaction.report.tokens_after <= compaction.report.budget < compaction.report.tokens_before
    assert RULE in json.dumps(compaction.messages)
    assert "{}" in [
        call["function"]["arguments"] for message in compaction.messages for call in message.get("tool_calls", [])
    ]

    answer = archive.ask(QUESTION, compaction.messages, name="run")
    assert answer.verdict is strongroom.Verdict.SUPPORTED
    assert answer.answer == "yes"
    pointers = [citation.pointer for citation in answer.citations if citation.pointer]
    original = archive.show(pointers[0])
    assert json.dumps(WRITTEN)[1:-1] in original.text or WRITTEN in original.text
    assert original.evidential_class == "side-effecting"
    assert b"eu-central-1" in archive.original_bytes(pointers[0])
    assert pointers[0] in [span.pointer for span in archive.spans(compaction.report.pointer)]


def test_absence_has_a_certificate(compacted_once):
    archive, compaction = compacted_once
    answer = archive.ask("calls tool:delete_file", compaction.messages, name="run")
    assert answer.verdict == "absent"
    assert answer.certificate.calls == 13
    assert str(answer).startswith("absent")


def test_ledger_and_claim(compacted_once):
    archive, compaction = compacted_once
    ledger = archive.ledger(compaction.messages, name="run", where={"kind": "fs.write"})
    assert [effect.target for effect in ledger.effects] == ["/etc/app/conf.yaml"]
    assert "port: 8434" in ledger.effects[0].citation.quote
    assert ledger.refused == ()
    claim = archive.claim("The agent wrote /etc/app/conf.yaml.", compaction.messages, name="run")
    assert claim.verdict == "supported"


def test_what_did_not_change_is_the_object_that_was_given(archive):
    messages = openai_messages()
    before = copy.deepcopy(messages)
    compaction = archive.compact(messages, budget="40%", name="run")
    assert messages == before
    given = {id(message) for message in messages}
    kept = [message for message in compaction.messages if id(message) in given]
    assert messages[0] in kept and messages[1] in kept and messages[-1] in kept
    assert len(compaction.messages) - len(kept) > 0


@pytest.mark.parametrize(
    "messages, format",
    [
        (openai_messages(), "openai-chat"),
        (anthropic_messages(), "anthropic-messages"),
        (responses_items(), "openai-responses"),
        ({"model": "m", "system": "You operate one host.", "messages": anthropic_messages()}, "anthropic-messages"),
        ({"model": "m", "input": responses_items()}, "openai-responses"),
        (tuple(openai_messages()), "openai-chat"),
    ],
)
def test_the_same_kind_comes_back_in_two_generations(archive, messages, format):
    compaction = archive.compact(messages, budget="40%", name="run")
    assert compaction.changed
    assert compaction.report.format == format
    assert type(compaction.messages) is type(messages)
    if isinstance(messages, dict):
        assert list(compaction.messages) == list(messages)
    again = archive.compact(compaction.messages, budget="80%", name="run", best_effort=True)
    answer = archive.ask(QUESTION, again.messages, name="run")
    assert answer.answer == "yes", answer.text


def test_the_conversation_is_found_without_a_name(archive):
    messages = openai_messages()
    first = archive.compact(messages, budget="40%")
    longer = [*first.messages, {"role": "assistant", "content": "Nothing."}, {"role": "user", "content": "Good."}]
    second = archive.compact(longer, budget="99%", best_effort=True)
    assert first.report.name == second.report.name
    other = [{"role": "user", "content": "Something else."}]
    assert archive.compact(other, budget=1000).report.name != first.report.name
    assert len(archive.sessions()) == 1


def test_the_same_messages_give_the_same_output(tmp_path):
    archive = strongroom.open(tmp_path)
    once = archive.compact(openai_messages(), budget="40%", name="run").messages
    again = archive.compact(openai_messages(), budget="40%", name="run").messages
    assert json.dumps(once) == json.dumps(again)


def test_what_fits_is_returned_as_it_is(archive):
    messages = [{"role": "user", "content": "Hello."}]
    compaction = archive.compact(messages, budget=1000)
    assert compaction.messages is messages
    assert not compaction.changed


def test_a_budget_that_cannot_be_met(archive):
    messages = openai_messages()
    with pytest.raises(strongroom.BudgetNotMet) as caught:
        archive.compact(messages, budget=10)
    assert not isinstance(caught.value, strongroom.CompactionRefused)
    assert caught.value.smallest > 10
    assert archive.compact(messages, budget=10, best_effort=True).changed


def test_a_refusal_has_its_reasons(tmp_path):
    # Originals would go after a day, and the evidence is needed for 180.
    archive = strongroom.open(tmp_path, policy={"retention": "1d"})
    with pytest.raises(strongroom.CompactionRefused, match="may expire") as caught:
        archive.compact(openai_messages(), budget="40%")
    assert sum(caught.value.reasons.values()) > 10
    with pytest.raises(strongroom.BudgetNotMet):
        archive.compact(openai_messages(), budget="40%")


def test_a_policy_from_a_file_and_in_full(tmp_path):
    rules = {
        "horizon": "10d",
        "retention": "90d",
        "hold": [{"reason": 'audit "2026" \\ ü\x7f', "source": "**"}],
        "retention-rule": [{"source": "**/scratch/**", "keep": "30d"}],
    }
    assert strongroom.open(tmp_path / "a", policy=rules).compact(openai_messages(), budget="40%").changed
    file = tmp_path / "policy.toml"
    file.write_text('retention = "1d"\n', encoding="utf-8")
    with pytest.raises(strongroom.CompactionRefused):
        strongroom.open(tmp_path / "a", policy=file).compact(openai_messages(), budget="40%")
    with pytest.raises(strongroom.InvalidInput, match="horizont"):
        strongroom.open(tmp_path / "a", policy={"horizont": "1d"})
    with pytest.raises(strongroom.InvalidInput, match="cannot be read"):
        strongroom.open(tmp_path / "a", policy=tmp_path / "none.toml")


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda archive: archive.show("sr1:" + "0" * 32 + "#1"), strongroom.NotFound),
        (lambda archive: archive.show("no pointer"), strongroom.InvalidInput),
        (lambda archive: archive.ask("", [{"role": "user", "content": "Hi."}]), strongroom.InvalidInput),
        (lambda archive: archive.ask("\ud800", [{"role": "user", "content": "Hi."}]), strongroom.InvalidInput),
        (lambda archive: archive.ask("calls", path="/nowhere/at/all.jsonl"), strongroom.NotFound),
        (lambda archive: archive.ask("calls", [], path="a"), strongroom.InvalidInput),
        (lambda archive: archive.compact([object()]), strongroom.InvalidInput),
        (lambda archive: archive.compact([{"role": "user", "content": object()}]), strongroom.InvalidInput),
        (lambda archive: archive.compact("messages"), strongroom.InvalidInput),
        (lambda archive: archive.compact({"model": "m"}), strongroom.InvalidInput),
        (lambda archive: archive.compact(openai_messages(), budget="a lot"), strongroom.InvalidInput),
        (lambda archive: archive.compact(openai_messages(), format="morse"), strongroom.InvalidInput),
        (lambda archive: archive.import_path("/nowhere/at/all"), strongroom.NotFound),
    ],
)
def test_errors_tell_what_to_do(archive, call, error):
    with pytest.raises(error) as caught:
        call(archive)
    assert isinstance(caught.value, strongroom.StrongroomError)
    assert caught.value.__suppress_context__ or caught.value.__cause__ or not caught.value.__context__


def test_a_place_that_is_no_archive(tmp_path):
    file = tmp_path / "file"
    file.write_text("taken")
    with pytest.raises(strongroom.StrongroomError):
        strongroom.open(file)


def test_a_closed_archive_is_unavailable(archive):
    archive.close()
    with pytest.raises(strongroom.Unavailable):
        archive.sessions()


def test_damage_is_no_answer(tmp_path):
    import sqlite3

    archive = strongroom.open(tmp_path)
    compaction = archive.compact(openai_messages(), budget="40%", name="run")
    pointer = archive.ask(QUESTION, compaction.messages, name="run").citations[0].pointer
    archive.close()
    damage(tmp_path, sqlite3)
    archive = strongroom.open(tmp_path)
    with pytest.raises((strongroom.Corrupt, strongroom.NotFound, strongroom.Expired)):
        archive.show(pointer)
    assert archive.ask(QUESTION, compaction.messages, name="run").verdict == "insufficient"


def damage(dir, sqlite3):
    """Changes a byte of every original that is stored."""
    connection = sqlite3.connect(dir / "strongroom.db")
    connection.create_function("hurt", 1, lambda body: body[:-1] + bytes([body[-1] ^ 1]))
    assert connection.execute("update blob set body = hurt(body)").rowcount > 0
    connection.commit()
    connection.close()


def test_half_a_character_in_a_text_is_kept(archive):
    messages = openai_messages()
    messages[3]["content"] += "\n\ud83d end"
    compaction = archive.compact(messages, budget="40%", name="run")
    assert archive.ask("results end", compaction.messages, name="run").verdict == "supported"


def test_import_and_questions_to_files_and_to_everything(archive, tmp_path):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps({"messages": openai_messages()}), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no transcript")
    taken = archive.import_path(file, tmp_path / "notes.txt")
    assert taken.imported == (str(file),)
    assert list(taken.passed_over) == [str(tmp_path / "notes.txt")]
    assert archive.import_path(file).unchanged == (str(file),)
    (source,) = archive.sessions()
    assert (source.name, source.format) == (str(file), "openai-chat")
    for asked in (archive.ask(QUESTION, path=file), archive.ask(QUESTION)):
        assert asked.answer == "yes"
    file.unlink()
    assert archive.ask(QUESTION, path=file).answer == "yes"
    assert len(archive.ledger(path=file, where={"kind": ["fs.write", "net"]}).effects) == 1


def test_strict_questions_rest_on_no_assumption(archive):
    messages = [
        {"role": "user", "content": "Run the tests."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "pytest"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "3 passed"},
    ]
    assert archive.ask("changes system-config", messages).verdict == "absent"
    assert archive.ask("changes system-config", messages, strict=True).verdict == "insufficient"
