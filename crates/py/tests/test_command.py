"""The command line, as a module and as a script."""

import json
import os
import subprocess
import sys
import sysconfig

from conftest import openai_messages

MODULE = [sys.executable, "-m", "strongroom"]


def run(*words, home, command=MODULE, **how):
    env = {name: value for name, value in os.environ.items() if not name.startswith("STRONGROOM")}
    env.update(HOME=str(home), XDG_DATA_HOME="", CLAUDE_CONFIG_DIR="")
    return subprocess.run([*command, *map(str, words)], env=env, capture_output=True, text=True, **how)


def test_it_compacts_and_answers(tmp_path):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(openai_messages()))
    done = run("compact", file, "--budget", "40%", "--json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome"] == "compacted"
    asked = run("ask", "calls tool:delete_file", "--in", tmp_path / "chat.compacted.json", home=tmp_path)
    assert asked.returncode == 1
    assert asked.stdout.startswith("absent")


def test_usage_and_help(tmp_path):
    assert run("compact", home=tmp_path).returncode == 2
    version = run("--version", home=tmp_path)
    assert (version.returncode, version.stdout.split()[0]) == (0, "strongroom")


def test_it_shares_the_archive_of_the_package(tmp_path):
    code = "import strongroom; print(strongroom.open().dir)"
    told = run("-c", code, home=tmp_path, command=[sys.executable])
    assert told.stdout.strip() == str(tmp_path / ".local/share/strongroom")


def test_an_agent_is_told_to_run_the_script(tmp_path):
    script = os.path.join(sysconfig.get_path("scripts"), "strongroom")
    done = run("install", "claude-code", "--scope", "user", home=tmp_path)
    assert done.returncode == 0, done.stderr
    settings = (tmp_path / ".claude/settings.json").read_text()
    assert script in settings
    assert run("sessions", home=tmp_path, command=[script]).returncode == 2
