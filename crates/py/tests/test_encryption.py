"""An encrypted archive: its key or passphrase is an argument, and stands in nothing that is written."""

import base64
import os
import pickle
import subprocess
import sys

import pytest
import strongroom
from conftest import RULE, openai_messages

WORDS = "a heron in the reeds"


@pytest.fixture(autouse=True)
def nothing_in_the_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith("STRONGROOM"):
            monkeypatch.delenv(name)


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "archive.key"
    path.write_text(f"STRONGROOM-KEY-1 {base64.b64encode(os.urandom(32)).decode()}\n")
    path.chmod(0o600)
    return path


def stored(dir):
    return b"".join(path.read_bytes() for path in dir.rglob("*") if path.is_file())


def test_a_key_file_seals_a_new_archive_and_opens_it_again(tmp_path, key_file):
    dir = tmp_path / "archive"
    with strongroom.open(dir, key_file=key_file) as archive:
        assert archive.encrypted
        pointer = archive.compact(openai_messages(), budget="40%", name="run").report.pointer
    assert RULE.encode() not in stored(dir)
    with pytest.raises(strongroom.Unavailable, match="key file"):
        strongroom.open(dir)
    with strongroom.open(dir, key_file=str(key_file)) as archive:
        assert archive.spans(pointer)
        assert pickle.loads(pickle.dumps(archive)).spans(pointer)


def test_the_command_line_opens_what_the_package_has_sealed(tmp_path, key_file):
    strongroom.open(tmp_path / "archive", key_file=key_file).close()
    command = [sys.executable, "-m", "strongroom", "--dir", tmp_path / "archive", "--key-file", key_file, "verify"]
    assert subprocess.run(command, capture_output=True).returncode == 0


def test_a_passphrase_opens_it_also_in_a_process_that_was_forked(tmp_path):
    with strongroom.open(tmp_path, passphrase=WORDS) as archive:
        assert archive.encrypted
        archive.compact(openai_messages(), budget="40%", name="run")
        child = os.fork() if hasattr(os, "fork") else None
        if child == 0:
            try:
                os._exit(0 if archive.ask("calls tool:write_file").verdict == "supported" else 1)
            finally:
                os._exit(2)
        assert child is None or os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with pytest.raises(strongroom.InvalidInput, match="key file"):
            pickle.dumps(archive)
        assert WORDS not in repr(archive)
    for wrong in ("another passphrase", None):
        with pytest.raises(strongroom.Unavailable) as caught:
            strongroom.open(tmp_path, passphrase=wrong)
        assert "another" not in str(caught.value)


def test_secrets_that_are_none(tmp_path, key_file):
    open_key = tmp_path / "open.key"
    open_key.write_bytes(key_file.read_bytes())
    open_key.chmod(0o644)
    no_key = tmp_path / "no.key"
    no_key.write_text("something else")
    no_key.chmod(0o600)
    for words, told in [
        ({"passphrase": "short"}, "at least 8 bytes"),
        ({"passphrase": WORDS, "key_file": key_file}, "give one"),
        ({"key_file": open_key}, "others"),
        ({"key_file": no_key}, "no.key"),
    ]:
        with pytest.raises(strongroom.InvalidInput, match=told):
            strongroom.open(tmp_path / "archive", **words)
    with pytest.raises(strongroom.NotFound):
        strongroom.open(tmp_path / "archive", key_file=tmp_path / "none.key")
    assert not (tmp_path / "archive").exists()


def test_an_archive_that_is_not_encrypted_opens_as_it_is(tmp_path, key_file):
    strongroom.open(tmp_path / "archive").close()
    assert not strongroom.open(tmp_path / "archive", key_file=key_file).encrypted
