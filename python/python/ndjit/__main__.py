"""The command line: `python -m ndjit eval "x + 1" x=a.npy`, or `ndjit`."""

import sys

from . import _ndjit


def main():
    """Runs the command line, and exits with its code."""
    sys.stdout.flush()
    sys.exit(_ndjit._command(["ndjit", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
