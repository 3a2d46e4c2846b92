"""Control flow that depends on values: in a jitted function Python's `if` and `for` run while it is traced, these when it is called.

Outside of a jitted function each is traced, compiled and run at each call.
"""

import re

from . import _ndjit, tree
from ._errors import Error
from ._jit import PublicFunction, evaluated

__all__ = ["cond", "switch", "while_loop", "fori_loop", "scan", "map"]


def _flat(what, name, made, like, state):
    """The leaves of what a body gives, which has the structure of the state."""
    leaves, structure = tree.flatten(made)
    if structure != like:
        raise TypeError(f"{what}: `{name}` gives {tree.described(made)}, and the state is {tree.described(state)}: it gives the structure that it gets")
    return leaves


def _run(what, state, name, call, *arguments):
    """The leaves of a loop. An error of one leaf names it as the user does."""
    try:
        return call(*arguments)
    except Error as error:
        names = tree.paths(state, name)
        found = re.match(rf"{what}: leaf (\d+) of the state", str(error))
        if found and int(found[1]) < len(names) and len(names) > 1:
            error.args = (error.args[0].replace(f"leaf {found[1]} of the state", f"`{names[int(found[1])]}`", 1),)
        raise


@PublicFunction
def cond(pred, true_fun, false_fun, *operands):
    """`true_fun(*operands)` if `pred` is true, `false_fun(*operands)` if not. Only one of them is computed.

    Both give the same structure of the same dtypes and shapes. `ndjit.where(mask, x, y)` selects elements of both.

    >>> import ndjit
    >>> f = ndjit.jit(lambda x: ndjit.cond(ndjit.sum(x) > 0, lambda x: x, lambda x: -x, x))
    >>> f(ndjit.asarray([1.0, -2.0]))
    Array([-1.  2.], dtype=float32)
    """

    def branch(pred, operands):
        leaves, structure = tree.flatten(operands)
        made = []

        def traced(function):
            def call(own):
                result = function(*tree.unflatten(structure, own))
                results, like = tree.flatten(result)
                if made and made[0][0] != like:
                    raise TypeError(f"cond: the branches give different structures, {tree.described(made[0][1])} and {tree.described(result)}")
                made.append((like, result))
                return results

            return call

        results = _ndjit._cond(pred, traced(true_fun), traced(false_fun), leaves)
        return tree.unflatten(made[0][0], results)

    return evaluated(branch, pred, operands)


@PublicFunction
def switch(index, branches, *operands):
    """The result of one of several functions: `branches[index](*operands)`, with the index clamped to the branches.

    >>> import ndjit
    >>> ndjit.switch(1, [lambda x: x, lambda x: x * 10, lambda x: x * 100], 5)
    Array(50, dtype=int32)
    """
    branches = list(branches)
    if not branches:
        raise ValueError("switch: give a branch at least")

    def among(index, first, last, operands):
        if last - first == 1:
            return branches[first](*operands)
        middle = (first + last) // 2
        lower = lambda *operands: among(index, first, middle, operands)
        upper = lambda *operands: among(index, middle, last, operands)
        return cond(index < middle, lower, upper, *operands)

    return evaluated(lambda index, operands: among(index, 0, len(branches), operands), index, operands)


@PublicFunction
def while_loop(cond_fun, body_fun, init_val):
    """Applies `body_fun` to the state while `cond_fun` of it is true. The state keeps its structure, dtypes and shapes.

    >>> import ndjit
    >>> ndjit.while_loop(lambda x: x < 100, lambda x: x * 2, 1)
    Array(128, dtype=int32)
    """

    def loop(init):
        leaves, structure = tree.flatten(init)

        def condition(own):
            return [cond_fun(tree.unflatten(structure, own))]

        def body(own):
            return _flat("while_loop", "body_fun", body_fun(tree.unflatten(structure, own)), structure, init)

        return tree.unflatten(structure, _run("while_loop", init, "init_val", _ndjit._while_loop, condition, body, leaves))

    return evaluated(loop, init_val)


@PublicFunction
def fori_loop(lower, upper, body_fun, init_val):
    """Applies `body_fun(i, state)` for each `i` from `lower` below `upper`, which may be traced values.

    >>> import ndjit
    >>> ndjit.fori_loop(0, 5, lambda i, x: x + i, 100)
    Array(110, dtype=int32)
    """

    def loop(lower, upper, init):
        leaves, structure = tree.flatten(init)

        def body(index, own):
            return _flat("fori_loop", "body_fun", body_fun(index[0], tree.unflatten(structure, own)), structure, init)

        return tree.unflatten(structure, _run("fori_loop", init, "init_val", _ndjit._fori_loop, lower, upper, body, leaves))

    return evaluated(loop, lower, upper, init_val)


@PublicFunction
def scan(f, init, xs=None, length=None, reverse=False):
    """Applies `f(state, x)` to the state and each slice of `xs` along the first axis. `f` gives the next state and a value; the results
    are the last state and all values, stacked along a new first axis.

    Without `xs`, `length` is the number of steps. With `reverse` the slices are taken from the last to the first.

    >>> import ndjit
    >>> ndjit.scan(lambda sum, x: (sum + x, sum + x), 0.0, ndjit.asarray([1.0, 2.0, 3.0]))
    (Array(6., dtype=float32), Array([1. 3. 6.], dtype=float32))
    """
    given = tree.leaves(xs)
    if not given and length is None:
        raise ValueError("scan: without `xs` give the number of steps, `length`")
    counted = not given

    def loop(init, xs):
        if counted:
            xs = _ndjit.arange(length)
        elif length is not None and any(x.shape[0] != length for x in tree.leaves(xs)):
            raise ValueError(f"scan: `length` is {length}, and `xs` have {[x.shape[0] for x in tree.leaves(xs)]} slices")
        (leaves, structure), (slices, of_slices) = tree.flatten(init), tree.flatten(xs)
        stacked = []

        def body(own, x):
            made = f(tree.unflatten(structure, own), None if counted else tree.unflatten(of_slices, x))
            if not isinstance(made, tuple) or len(made) != 2:
                raise TypeError(f"scan: `f` gives a pair, the next state and a value, which may be `None`; it gave {made!r}")
            state = _flat("scan", "f", made[0], structure, init)
            values, like = tree.flatten(made[1])
            stacked[:] = [like]
            return [*state, *values]

        what = "scan_reversed" if reverse else "scan"
        results = _run(what, init, "init", _ndjit._scan, body, leaves, slices, reverse)
        count = len(leaves)
        return tree.unflatten(structure, results[:count]), tree.unflatten(stacked[0], results[count:])

    return evaluated(loop, init, xs)


@PublicFunction
def map(f, xs):
    """`f` of each slice of `xs` along the first axis, one after another, stacked. `ndjit.vmap` computes them at once.

    >>> import ndjit
    >>> ndjit.map(lambda x: x * x, ndjit.asarray([1, 2, 3]))
    Array([1 4 9], dtype=int32)
    """
    return scan(lambda _, x: ((), f(x)), (), xs)[1]
