"""Runs the Array API's conformance suite: `python tests/conformance.py [--max-examples 100] [arguments of pytest]`.

`NDJIT_ARRAY_API_TESTS` names a checkout of data-apis/array-api-tests with its submodule `array-api`. The policy is `array_api`:
the dtypes of the standard, 64-bit defaults, and its preferred floor division; `--policy standard` runs under the default one.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# Extensions that are not there yet; the suite disables their tests, but not those of their names.
MISSING = ("linalg", "fft")


def main():
    """Runs the suite, and exits with its status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-examples", default="100")
    parser.add_argument("--policy", default="array_api")
    options, arguments = parser.parse_known_args()
    suite = os.environ.get("NDJIT_ARRAY_API_TESTS")
    if not suite or not (Path(suite) / "array_api_tests").is_dir():
        sys.exit("NDJIT_ARRAY_API_TESTS names no checkout of data-apis/array-api-tests")
    module = f"exec('import ndjit as xp; xp.set_policy(\"{options.policy}\")')"
    names = "array_api_tests/test_has_names.py::test_has_names"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", f"{suite}/pytest.ini"),
        *("--disable-deadline", "--derandomize", "--max-examples", options.max_examples),
        *("--disable-extension", *MISSING),
        *(f"--deselect={names}[{extension}-" for extension in MISSING),
        f"--xfails-file={HERE / 'xfails.txt'}",
        *arguments,
        "array_api_tests",
    ]
    environment = {**os.environ, "ARRAY_API_TESTS_MODULE": module}
    sys.exit(subprocess.run(command, cwd=suite, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
