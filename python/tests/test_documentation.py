"""The examples of documentation run."""

import doctest
import importlib
import re
from pathlib import Path

import ndjit
import pytest


@pytest.mark.parametrize("name", ["tree", "_jit", "_transforms", "_control"])
def test_the_examples_give_what_they_say(name):
    failed, attempted = doctest.testmod(importlib.import_module(f"ndjit.{name}"))
    assert attempted > 0 and failed == 0


@pytest.mark.parametrize("name", ["docs/tutorial.md", "docs/numpy.md", "docs/jax.md", "docs/sharp-bits.md", "README.md"])
def test_the_blocks_of_a_page_run(name):
    text = (Path(__file__).parent.parent / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, name, "exec"), names)


@pytest.mark.parametrize("name", ["docs/numpy.md", "docs/jax.md"])
def test_every_row_of_differences_has_a_block(name):
    text = (Path(__file__).parent.parent / name).read_text(encoding="utf-8")
    sections = {heading.lower().replace(" ", "-"): body for heading, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S)}
    rows = re.findall(r"^\| .* \|$", text, re.M)[2:]
    assert len(rows) > 10
    linked = [re.search(r"\[.*\]\(#(.*?)\) \|$", row) for row in rows]
    for row, link in zip(rows, linked):
        assert link, f"no link: {row}"
        assert re.search(r"^```python\n.*(?:assert|raise)", sections[link[1]], re.M | re.S), f"no test: {row}"
    assert {link[1] for link in linked} == set(sections)


def test_the_function_of_the_readme_learns():
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    block = next(block for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S) if "def step" in block)
    names = {"ndjit": ndjit}
    exec(compile(block, "README.md", "exec"), names)
    x = ndjit.reshape(ndjit.linspace(-1, 1, 40), (20, 2))
    y, params = x @ ndjit.asarray([2.0, -1.0]) + 0.5, {"w": ndjit.zeros(2), "b": 0.0}
    for _ in range(500):
        params, loss = names["step"](params, x, y)
    assert float(loss) < 1e-3 and names["step"].trace_count <= 2
