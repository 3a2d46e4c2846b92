"""`ndjit.jit`: functions that are traced once per signature, compiled, and called."""

import functools
import importlib
import inspect

from . import _ndjit

__all__ = ["jit"]


class Jitted(_ndjit.Jitted):
    """A function that is traced once per signature, compiled, and called: what `ndjit.jit` gives. It has the name, the documentation
    and the attributes of the function, and this as `__wrapped__`."""

    __module__ = "ndjit"

    def __init__(self, function, *_):
        functools.update_wrapper(self, function)


def jit(function=None, /, *, static_argnums=(), static_argnames=(), threads=None, policy=None):
    """A function that is compiled: `ndjit.jit(f)`, or a decorator, `@ndjit.jit`.

    The Python function runs once for each signature: the dtypes, shapes and layouts of its arrays, the structure of its arguments
    (tuples, lists, dicts, named tuples, dataclasses, `None`; see `ndjit.tree`), its static arguments, and the promotion policy. It
    gets traced arrays, which have a dtype and a shape, and no elements. Numbers are arguments without a width: another number of the
    same kind needs no other trace. The plans of the last 64 signatures are kept.

    `static_argnums` and `static_argnames` are of arguments that are passed as they are, and compared: they have a hash. `threads` is
    the most threads of a call, `policy` a promotion policy of its own.

    >>> import ndjit
    >>> @ndjit.jit
    ... def f(x, y):
    ...     return {"sum": x + y, "product": x * y}
    >>> f(ndjit.asarray([1, 2]), 3)["product"]
    Array([3 6], dtype=int32)
    >>> f(ndjit.asarray([1, 2]), 5)["sum"], f.trace_count
    (Array([6 7], dtype=int32), 1)
    """
    if function is None:
        return lambda function: jit(
            function, static_argnums=static_argnums, static_argnames=static_argnames, threads=threads, policy=policy
        )
    if not callable(function):
        raise TypeError(f"jit: a function is needed, not {type(function).__name__}")
    positions = [static_argnums] if isinstance(static_argnums, int) else list(static_argnums)
    names = [static_argnames] if isinstance(static_argnames, str) else list(static_argnames)
    positions, names = _static(function, positions, names)
    return Jitted(function, positions, names, threads, policy)


def _static(function, positions, names):
    """The positions and the names of static arguments, each also in the other way if the signature has it."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return positions, names
    by_position = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    starred = {p.kind for p in parameters}
    for name in names:
        known = any(p.name == name for p in parameters)
        if not known and inspect.Parameter.VAR_KEYWORD not in starred:
            raise ValueError(f"jit: the function has no parameter `{name}`; it has {', '.join(p.name for p in parameters)}")
    for n in positions:
        if not -len(by_position) <= n < len(by_position) and inspect.Parameter.VAR_POSITIONAL not in starred:
            raise ValueError(f"jit: the function has no parameter {n}; it has {len(by_position)}, counted from 0")
    named = [by_position[n] for n in positions if -len(by_position) <= n < len(by_position)]
    placed = [by_position.index(name) for name in names if name in by_position]
    return sorted({*positions, *placed}), sorted({*names, *named})


class PublicFunction(_ndjit._PublicFunction):
    """A function of this package as users see it: exceptions that pass through it show frames of their code only."""

    def __init__(self, function):
        functools.update_wrapper(self, function)


def _named(module, name):
    """The function of a module: what a pickle holds."""
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def evaluated(function, *arguments):
    """The results of a function that needs a trace: it is traced, compiled and called, or is part of the trace that is open."""
    if _ndjit._is_tracing():
        return function(*arguments)
    return _ndjit.Jitted(function, [], [], None, None)(*arguments)
