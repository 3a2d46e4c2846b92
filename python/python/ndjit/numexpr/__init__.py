"""Expressions in text over NumPy's arrays, with the interface and the dtypes of numexpr.

    import ndjit.numexpr as ne
    ne.evaluate("where(a > 0, a, expm1(a)) * 2")

Variables are those of the caller, or of `local_dict` and `global_dict`. Arrays are read where they are, and results are
NumPy's. Expressions are compiled at their first use with arrays of given dtypes and ranks. `install()` lets pandas and others
use this module as `numexpr`. Beyond numexpr, expressions have all forms of the command line: slices, methods, scans and more.
There are no texts (bytes and str) and no virtual machine here, so `contains`, comparisons of texts and `disassemble` are refused.
"""

import os
import sys
import threading
from contextlib import AbstractContextManager

import numpy

from .._errors import ExpressionError
from .._ndjit import ArrayExpression
from .expressions import E, text_of

# The version of numexpr whose interface and dtypes these are: its users look for it.
__version__ = version = "2.14.2"

use_vml = False
MAX_THREADS = 64
# Compiled expressions that are kept, by their texts.
_MOST = 256
_compiled = {}
# The last expression of each thread, for `re_evaluate`.
_last = threading.local()
_threads = None


def detect_number_of_cores():
    """The number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


detect_number_of_threads = detect_number_of_cores


def _from_environment(*names):
    for name in names:
        if os.environ.get(name):
            return int(os.environ[name])
    return None


def _init_num_threads():
    """The number of threads that the environment asks for: `NUMEXPR_NUM_THREADS`, `OMP_NUM_THREADS`, or one per processor."""
    asked = _from_environment("NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS")
    return min(asked or detect_number_of_cores(), MAX_THREADS)


MAX_THREADS = _from_environment("NUMEXPR_MAX_THREADS") or MAX_THREADS
ncores = detect_number_of_cores()
nthreads = _init_num_threads()
# Without a wish the library decides, which makes small arrays cheaper.
if _from_environment("NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS"):
    _threads = nthreads


def get_num_threads():
    """The number of threads of evaluations."""
    return nthreads


def set_num_threads(number):
    """Sets the number of threads of evaluations, and gives the former one."""
    global _threads, nthreads
    former = nthreads
    if not 1 <= number <= MAX_THREADS:
        raise ValueError(f"the number of threads is from 1 to {MAX_THREADS}, not {number}")
    _threads = nthreads = int(number)
    return former


def set_vml_accuracy_mode(mode):
    """Without Intel's VML there is no mode: `None`."""
    return None


def set_vml_num_threads(number):
    """Without Intel's VML it has no threads."""


def get_vml_version():
    """Without Intel's VML it has no version: `None`."""
    return None


def disassemble(expression):
    """Not here: expressions are compiled to machine code. `python -m ndjit explain` shows all stages."""
    raise NotImplementedError("there is no virtual machine: `python -m ndjit explain EXPRESSION` shows what is compiled")


_OPTIONS = {"optimization": ("none", "moderate", "aggressive"), "truediv": ("auto", True, False)}


def _expression(text, options, sanitize, cached=True):
    """The compiled expression of a text."""
    for name, value in options.items():
        if name not in _OPTIONS:
            raise ValueError(f"there is no option {name!r}; there are {', '.join(_OPTIONS)}")
        if value not in _OPTIONS[name]:
            raise ValueError(f"{name} is one of {_OPTIONS[name]}, not {value!r}")
    text = text_of(text)
    if cached:
        found = _compiled.get(text)
        if found is not None:
            return found
    if sanitize is None:
        sanitize = os.environ.get("NUMEXPR_SANITIZE", "1") != "0"
    try:
        made = ArrayExpression(" ".join(text.split()), None)
    except ExpressionError as error:
        # Nothing in a text is executed, so there is nothing to sanitize; those who ask get the exception that they expect.
        raise error.with_traceback(None) from None
    for name in made.names:
        if sanitize and name.startswith("__") and name.endswith("__"):
            raise ValueError(f"expression {text!r}: {name} is a name of Python's own")
    if cached:
        if len(_compiled) >= _MOST:
            _compiled.clear()
        _compiled[text] = made
    return made


def _arguments(expression, local_dict, global_dict, frame):
    """The values of the names of an expression."""
    if local_dict is None:
        local_dict = frame.f_locals
    return expression.arguments(local_dict, frame.f_globals if global_dict is None else global_dict)


def _is_transposed(arguments):
    """Whether all arrays are in column-major order, and none in row-major."""
    found = 0
    for x in arguments:
        rank = x.ndim if type(x) is numpy.ndarray else getattr(x, "ndim", 0)
        if rank:
            flags = getattr(x, "flags", None)
            if rank == 1 or found not in (0, rank) or flags is None or flags.c_contiguous or not flags.f_contiguous:
                return False
            found = rank
    return found > 1


def _run(expression, arguments, out, order, casting):
    """The result, in `out` if it is given."""
    if out is None:
        if order != "C" and _is_transposed(arguments) and expression.is_elementwise:
            return expression.evaluate(tuple([getattr(x, "T", x) for x in arguments]), _threads).T
        result = expression.evaluate(arguments, _threads)
        return numpy.asfortranarray(result) if order == "F" and result.ndim > 1 else result
    if not isinstance(out, numpy.ndarray):
        raise TypeError(f"`out` is an array of NumPy, not {type(out).__name__}")
    # Where an argument shares its memory, which is read while the result is written, the result goes through memory of its own.
    result = expression.evaluate(arguments, _threads, out)
    if result is not out:
        if numpy.broadcast_shapes(result.shape, out.shape) != out.shape:
            raise ValueError(f"the result has the shape {result.shape}, which does not fit `out` of {out.shape}")
        numpy.copyto(out, result, casting=casting)
    return out


def evaluate(
    ex,
    local_dict=None,
    global_dict=None,
    out=None,
    order="K",
    casting="same_kind",
    sanitize=None,
    _frame_depth=3,
    disable_cache=False,
    **kwargs,
):
    """The value of an expression, as an array of NumPy.

    `local_dict` and `global_dict` hold the variables; without them, they are those of the caller. With `out`, an array, the result
    is written there, cast as `casting` allows, and returned. `order` is that of the result: "C", "F", or "K" and "A", that of the
    arguments. `disable_cache` compiles the expression anew. `optimization` and `truediv` are accepted, and change nothing.

    Raises `KeyError` for a variable that is not there, `ndjit.ExpressionError` (a `SyntaxError`, `TypeError` and `ValueError`) for a
    text that is no expression, `ValueError` for shapes that do not broadcast, `NotImplementedError` for texts among the variables.
    """
    expression = _expression(ex, kwargs, sanitize, not disable_cache)
    frame = None if local_dict is not None and global_dict is not None else sys._getframe(_frame_depth - 2)
    try:
        arguments = _arguments(expression, local_dict, global_dict, frame)
    finally:
        del frame
    result = _run(expression, arguments, out, order, casting)
    _last.call = (expression, order, casting, None if out is None else _weak(out))
    return result


def _weak(out):
    import weakref

    return weakref.ref(out)


def validate(
    ex,
    local_dict=None,
    global_dict=None,
    out=None,
    order="K",
    casting="safe",
    _frame_depth=2,
    sanitize=None,
    **kwargs,
):
    """The exception that `evaluate` would raise before it computes, or `None`. `re_evaluate()` may follow."""
    try:
        expression = _expression(ex, kwargs, sanitize)
        frame = sys._getframe(_frame_depth - 1)
        arguments = _arguments(expression, local_dict, global_dict, frame)
        dtype, _ = expression.result(arguments)
        if out is not None and not numpy.can_cast(dtype, out.dtype, casting):
            raise TypeError(f"{dtype} does not become {out.dtype} under {casting!r}")
    except Exception as error:
        return error
    _last.call = (expression, order, casting, None if out is None else _weak(out))
    return None


def re_evaluate(local_dict=None, global_dict=None, _frame_depth=2):
    """The value of the last expression of this thread, for the variables as they are now."""
    try:
        expression, order, casting, out = _last.call
    except AttributeError:
        raise RuntimeError("there is no expression to evaluate again: call `evaluate` or `validate` first") from None
    if out is not None:
        out = out()
        if out is None:
            raise RuntimeError("the array `out` of the last evaluation is gone")
    if local_dict is None or global_dict is None:
        frame = sys._getframe(_frame_depth - 1)
        local_dict = frame.f_locals if local_dict is None else local_dict
        global_dict = frame.f_globals if global_dict is None else global_dict
    return _run(expression, expression.arguments(local_dict, global_dict), out, order, casting)


class NumExpr:
    """An expression as a function of its variables.

    `signature` gives their names and types, in order; without it, they are in the order of the alphabet, of type double.
    """

    def __init__(self, ex, signature=(), sanitize=True, **kwargs):
        text = text_of(ex)
        names = _expression(text, kwargs, sanitize, cached=False).names
        types = dict(signature)
        self.input_names = tuple(types) if types else tuple(names)
        missing = [name for name in names if name not in self.input_names]
        if missing:
            raise NameError(f"the signature lacks {', '.join(missing)}")
        self._types = tuple(numpy.dtype(types.get(name, float)) for name in self.input_names)
        self._expression = ArrayExpression(" ".join(text.split()), list(self.input_names))

    def __call__(self, *args, **kwargs):
        return self.run(*args, **kwargs)

    def run(self, *args, out=None, order="K", casting="safe", ex_uses_vml=False):
        """The value for these arguments, which are cast to the types of the signature as `casting` allows."""
        if len(args) != len(self.input_names):
            raise ValueError(f"{len(self.input_names)} arguments are needed, {len(args)} given")
        pairs = zip(map(numpy.asanyarray, args), self._types)
        arguments = tuple([x if x.dtype == dtype else x.astype(dtype, casting=casting) for x, dtype in pairs])
        return _run(self._expression, arguments, out, order, casting)

    def __repr__(self):
        return f"<ndjit.numexpr.NumExpr of ({', '.join(self.input_names)})>"


def print_versions():
    """Prints the versions of this package, of Python and of NumPy."""
    from .. import doctor

    print(doctor())


from . import necompiler, utils  # noqa: E402
from . import necompiler as interpreter  # noqa: E402

_MODULES = ("", ".expressions", ".necompiler", ".utils", ".interpreter")
# What modules of the names of numexpr were before `install`.
_former = {}


class _Installed(AbstractContextManager):
    def __exit__(self, *raised):
        uninstall()


def _tell_pandas(module):
    """Sets what pandas learned of numexpr when it was imported."""
    check = sys.modules.get("pandas.core.computation.check")
    expressions = sys.modules.get("pandas.core.computation.expressions")
    if check is None or expressions is None:
        return
    check.ne = expressions.ne = module
    for of in (check, expressions, sys.modules.get("pandas.core.computation")):
        if hasattr(of, "NUMEXPR_INSTALLED"):
            of.NUMEXPR_INSTALLED = module is not None
    use = module is not None and sys.modules["pandas"].get_option("compute.use_numexpr")
    expressions.set_use_numexpr(use)


def install():
    """Lets `import numexpr` give this module, in pandas and elsewhere, until `uninstall()`, or in `with install(): …`."""
    if not _former:
        _former.update({name: sys.modules.get(name) for name in map("numexpr{}".format, _MODULES)})
    for name in _MODULES:
        sys.modules[f"numexpr{name}"] = interpreter if name == ".interpreter" else sys.modules[f"{__name__}{name}"]
    _tell_pandas(sys.modules[__name__])
    return _Installed()


def uninstall():
    """Undoes `install()`."""
    for name, module in _former.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module
    former = _former.get("numexpr")
    _former.clear()
    _tell_pandas(former)
