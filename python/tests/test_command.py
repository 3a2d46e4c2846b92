"""The command line of the package, and `ndjit.doctor()`."""

import subprocess
import sys

import ndjit
import numpy as np


def command(*arguments, **options):
    options = {"capture_output": True, "text": True, "check": False, **options}
    return subprocess.run([sys.executable, "-m", "ndjit", *arguments], **options)


def test_expressions_are_evaluated_over_files(tmp_path):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "x.npy", x)
    run = command("eval", "x * 2 + 1", "x=x.npy", "--output", "y.npy", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert np.load(tmp_path / "y.npy").tolist() == (x * 2 + 1).tolist()
    assert command("eval", "sum(x)", "x=x.npy", cwd=tmp_path).stdout == "f32[]\n15.\n"


def test_errors_have_an_exit_code_and_the_expression():
    run = command("eval", "1 +")
    assert run.returncode == 1 and " 1 | 1 +\n" in run.stderr and "Traceback" not in run.stderr
    assert command("evaluate").returncode == 2


def test_the_version_and_the_help_are_those_of_the_program():
    assert command("--version").stdout == f"ndjit {ndjit.__version__}\n"
    assert "Usage: ndjit <COMMAND>" in command("--help").stdout
    # A stage, though the package is without the disassembler.
    assert "multiply" in command("explain", "x * 2", "x:f32[3]", "--stage", "graph").stdout


def test_the_script_is_installed():
    from importlib.metadata import entry_points

    script = entry_points(group="console_scripts", name="ndjit")
    if not script:
        import pytest

        pytest.skip("the package is not installed, but on the path")
    assert {each.value for each in script} == {"ndjit.__main__:main"}


def test_the_doctor_tells_the_machine_and_the_versions():
    report = ndjit.doctor()
    assert report.passed and repr(report) == str(report)
    for part in (f"ndjit {ndjit.__version__}", "machine code for", "self-test          passed", f"NumPy              {np.__version__}"):
        assert part in report, part
    printed = command("doctor").stdout
    rows = {line[:18].strip() for line in printed.splitlines()}
    assert rows <= {line[:18].strip() for line in report.splitlines()} and "threads" in rows


def test_the_command_line_and_numexpr_are_imported_only_where_they_are_needed():
    code = "import sys, ndjit; assert not {'numpy', 'platform', 'ndjit.numexpr', 'ndjit.__main__'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
