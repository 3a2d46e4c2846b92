"""The names of numexpr's modules `necompiler` and `interpreter` that others use."""

from . import NumExpr, disassemble, evaluate, re_evaluate, use_vml, validate
from .._ndjit import ArrayExpression

__all__ = ["NumExpr", "disassemble", "evaluate", "getExprNames", "re_evaluate", "use_vml", "validate"]


def getExprNames(text, context=None, sanitize=True):
    """The names of the variables of an expression, and whether it uses Intel's VML: never."""
    return list(ArrayExpression(" ".join(text.split()), None).names), use_vml
