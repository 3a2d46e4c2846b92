"""`ndjit.doctor()`: the machine, Python, NumPy, and this build."""

from . import _ndjit


class Report(str):
    """A text that a prompt shows as it is. `passed` tells whether the self-test passed."""

    passed = True

    def __repr__(self):
        return str(self)


def _version(package):
    """The version of an installed package, which is not imported."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def doctor():
    """What this machine is, whether compiled code runs on it, and the versions that a report of a problem needs.

    It is the text of `python -m ndjit doctor`, with Python, NumPy and the build of this package. `.passed` of the result is false if
    something does not work.
    """
    # Imported here: they would take half of the time of `import ndjit`.
    import platform
    import sys

    text, passed = _ndjit._doctor()
    rows = {
        "Python": f"{platform.python_version()} ({platform.python_implementation()}, {platform.machine()})",
        "NumPy": _version("numpy"),
        "package": f"{_ndjit.__file__} ({_ndjit._build})",
        "platform": platform.platform(),
        "threads of Python": "free" if not getattr(sys, "_is_gil_enabled", lambda: True)() else "one lock",
    }
    first, _, rest = text.partition("\n")
    own = "".join(f"{name:<18} {value}\n" for name, value in rows.items())
    report = Report(f"{first}\n{own}{rest}".rstrip())
    report.passed = passed
    return report
