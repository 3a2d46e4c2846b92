"""Runs numexpr's own tests on `ndjit.numexpr`: `python tests/numexpr_suite.py [arguments of pytest]`.

The tests are those of the installed package numexpr, or of the file that `NDJIT_NUMEXPR_TESTS` names. They run in a folder where
`import numexpr` gives `ndjit.numexpr`. `numexpr_skips.txt` lists tests that are skipped, with reasons; every other one must pass, and
a name in the list that no test has is an error.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TESTS = "test_numexpr.py"
# Settings of the run: the marker that numexpr's own conftest.py declares, and the listed tests.
CONFTEST = """
import pytest

LIST = {skips!r}


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: not in parallel")


def pytest_collection_modifyitems(config, items):
    left = set(LIST)
    for item in items:
        name = item.nodeid.partition("::")[2]
        for listed, reason in LIST.items():
            if name == listed or name.startswith(listed + "::") or name.partition("[")[0] == listed:
                item.add_marker(pytest.mark.skip(reason=reason))
                left.discard(listed)
    if left and not config.args_source.name == "ARGS":
        raise pytest.UsageError(f"no tests have these names of numexpr_skips.txt: {{sorted(left)}}")
"""


def skips():
    """The listed tests, each with its reason: the comment above it."""
    listed, reason = {}, ""
    for line in (HERE / "numexpr_skips.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            reason = line.removeprefix("# ")
        elif line:
            listed[line] = reason
    return listed


def tests():
    """The file of tests, or `None` if there is none."""
    named = os.environ.get("NDJIT_NUMEXPR_TESTS")
    if named:
        return Path(named)
    found = importlib.util.find_spec("numexpr")
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(found.submodule_search_locations[0]) / "tests" / TESTS
    return path if path.exists() else None


def main():
    """Runs the tests, and exits with their status."""
    source = tests()
    if source is None:
        sys.exit("neither NDJIT_NUMEXPR_TESTS nor an installed numexpr has tests")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copy(source, root / TESTS)
        (root / "numexpr.py").write_text("import ndjit.numexpr\n\nndjit.numexpr.install()\n", encoding="utf-8")
        (root / "conftest.py").write_text(CONFTEST.format(skips=skips()), encoding="utf-8")
        (root / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        path = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
        # By the folder, so that a name that no test has is noticed.
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]
        run = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": path}, check=False)
    sys.exit(run.returncode)


if __name__ == "__main__":
    main()
