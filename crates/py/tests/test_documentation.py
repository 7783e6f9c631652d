"""The examples in the documentation run."""

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name, at_least", [("strongroom", 4), ("strongroom.archive", 8), ("strongroom.aio", 3)])
def test_examples(name, at_least):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted >= at_least
    assert result.failed == 0


def test_the_example_of_the_readme_prints_what_stands_there(tmp_path):
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## In Python\n")[1]
    code, printed = re.findall(r"```\w+\n(.*?)```", section, re.DOTALL)[:2]
    env = {**os.environ, "STRONGROOM_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True)
    assert run.stderr == ""
    assert run.stdout == printed
