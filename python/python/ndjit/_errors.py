"""The exceptions: a class per code of the engine, each also the built-in class that its users expect."""

import builtins

from . import _ndjit


class Error(Exception):
    """An error of the engine.

    `code` is its kind, `help` a way out, `facts` are the operands, `place` is (file, line, column) of the user's code.
    """

    code = None
    help = None
    facts = ()
    place = None


def _class(code, builtin):
    name = {"dtype": "DType"}.get(code, code.title())
    base = getattr(builtins, builtin)
    doc = f"An error of the code `{code}`, which is a `{builtin}` too."
    return type(f"{name}Error", (Error, base), {"__doc__": doc, "__module__": "ndjit"})


# By the codes of the engine.
CLASSES = {code: _class(code, builtin) for code, builtin in _ndjit.error_codes()}
CLASSES["axis"] = type(
    "AxisError",
    (CLASSES["shape"], builtins.IndexError),
    {"__doc__": "An axis that is not there, is named twice, or has another extent.", "__module__": "ndjit"},
)
CLASSES["expression"] = type(
    "ExpressionError",
    (builtins.SyntaxError, CLASSES["parse"], builtins.TypeError),
    {
        "__doc__": "A text that is no expression. numexpr raises whichever of three exceptions Python gives; this is all of them.",
        "__module__": "ndjit",
    },
)
globals().update({cls.__name__: cls for cls in CLASSES.values()})
__all__ = ["Error", *(cls.__name__ for cls in CLASSES.values())]
Error.__module__ = "ndjit"
