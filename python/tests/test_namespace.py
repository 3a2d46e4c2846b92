"""The namespace: generated files are current, every row of the tables is there, signatures and documentation."""

import inspect
import subprocess
import sys
from pathlib import Path

import ndjit
import pytest

ROWS = {row["name"]: row for row in ndjit._ndjit._tables()}


def test_the_generated_files_are_current():
    script = Path(__file__).parent.parent / "tools" / "generate.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)


@pytest.mark.parametrize("name", ROWS)
def test_every_row_is_a_function_with_a_signature_and_documentation(name):
    function = getattr(ndjit, name)
    assert inspect.signature(function).parameters and ROWS[name]["doc"][:20].split("`")[0] in function.__doc__
    if ROWS[name]["kind"] == "op" and name != "clip":
        assert "Dtype:" in function.__doc__ and "Accuracy:" in function.__doc__


def test_every_public_name_has_documentation():
    for name in dir(ndjit):
        value = getattr(ndjit, name)
        if not name.startswith("_") and (inspect.isroutine(inspect.unwrap(value)) or inspect.isclass(value)):
            assert value.__doc__, name


def test_operands_have_the_names_of_the_array_api():
    assert str(inspect.signature(ndjit.add)) == "(x1, x2, /)"
    assert str(inspect.signature(ndjit.where)) == "(condition, x1, x2, /)"
    assert "`x1 % x2`" in ndjit.remainder.__doc__


def test_numpy_is_imported_only_where_it_is_needed():
    code = "import sys, ndjit; x = ndjit.asarray([1, 2]) + 1; assert x.tolist() == [2, 3]; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
