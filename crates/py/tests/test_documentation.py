"""The examples in the documentation run."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name, at_least", [("strongroom", 4), ("strongroom.archive", 8), ("strongroom.aio", 3)])
def test_examples(name, at_least):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted >= at_least
    assert result.failed == 0
