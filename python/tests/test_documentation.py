"""The examples of documentation run."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["tree", "_jit", "_transforms", "_control"])
def test_the_examples_give_what_they_say(name):
    failed, attempted = doctest.testmod(importlib.import_module(f"ndjit.{name}"))
    assert attempted > 0 and failed == 0
