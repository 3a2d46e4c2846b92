"""Transformations of functions: derivatives and vectorization. Their results are functions, which can be transformed and jitted.

Called with arrays outside of a jitted function, each is traced, compiled and run at each call: jit what is called often.
"""

import contextlib
import functools
import threading

from . import _ndjit, _namespace, tree
from ._jit import PublicFunction, evaluated
from ._ndjit import _is_tracing

__all__ = [
    "grad", "value_and_grad", "jvp", "vjp", "linearize", "jacfwd", "jacrev", "hessian", "hvp", "vmap", "checkpoint", "stop_gradient",
    "custom_jvp", "custom_vjp",
]  # fmt: skip


def _wrapped(function, what):
    """A decorator for a transformed function: it has the name and the documentation of the function, if it has any."""

    def wrap(made):
        if not callable(function):
            raise TypeError(f"{what}: a function is needed, not {type(function).__name__}")
        public = PublicFunction(made)
        functools.update_wrapper(public, function)
        public.__name__ = f"{what}({getattr(function, '__name__', 'function')})"
        return public

    return wrap


def _chosen(what, argnums, arguments):
    """The positions of arguments by which a function is derived."""
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for n in numbers:
        if not -len(arguments) <= n < len(arguments):
            raise TypeError(
                f"{what}: there is no positional argument {n}, the function has {len(arguments)}; arguments by which a function is derived "
                "are passed by position"
            )
    return [n % len(arguments) for n in numbers]


def _with(arguments, numbers, values):
    """The arguments with other ones at these positions."""
    arguments = list(arguments)
    for n, value in zip(numbers, values):
        arguments[n] = value
    return arguments


@PublicFunction
def value_and_grad(fun, argnums=0, has_aux=False):
    """The value of a function and its gradient by the arguments `argnums`: one, or a tuple of several, each any structure.

    The function gives one real number; with `has_aux` a pair of this and other data, which is given beside the value.

    >>> import ndjit
    >>> f = ndjit.jit(ndjit.value_and_grad(lambda x: ndjit.sum(x * x)))
    >>> f(ndjit.asarray([1.0, 3.0]))
    (Array(10., dtype=float32), Array([2. 6.], dtype=float32))

    Conventions: by a complex argument the gradient is the adjoint, `z - rate * g` descends (JAX's is its conjugate); at kinks it is
    the subgradient of least norm; a zero wins over an infinite slope.
    """
    return _value_and_grad("value_and_grad", fun, argnums, has_aux)


def _value_and_grad(what, fun, argnums, has_aux):
    @_wrapped(fun, what)
    def made(*arguments, **options):
        numbers = _chosen(what, argnums, arguments)

        def derived(*values):
            leaves, structure = tree.flatten(values)
            beside = []

            def called(own):
                result = fun(*_with(arguments, numbers, tree.unflatten(structure, own)), **options)
                if has_aux:
                    if not isinstance(result, tuple) or len(result) != 2:
                        raise TypeError(f"{what}: with `has_aux` the function gives a pair, a value and other data; it gave {_kind(result)}")
                    result, aux = result
                    aux, aux_structure = tree.flatten(aux)
                    beside[:] = [aux_structure]
                else:
                    aux = []
                if not _is_value(result):
                    raise TypeError(f"{what}: the function gives one number to derive; it gave {_kind(result)}; `has_aux` is for other data")
                return [result, *aux]

            outputs, slopes = _ndjit._gradients(what, leaves, called)
            slopes = tree.unflatten(structure, slopes)
            slopes = slopes[0] if isinstance(argnums, int) else slopes
            value = (outputs[0], tree.unflatten(beside[0], outputs[1:])) if has_aux else outputs[0]
            return value, slopes

        return evaluated(derived, *(arguments[n] for n in numbers))

    return made


def _is_value(x):
    return not isinstance(x, (tuple, list, dict)) and x is not None and _ndjit._is_operand(x)


def _kind(x):
    return f"a {type(x).__name__}" if not isinstance(x, (tuple, list, dict)) else tree.described(x)


@PublicFunction
def grad(fun, argnums=0, has_aux=False):
    """The gradient of a function by the arguments `argnums`, as `value_and_grad` without the value.

    >>> import ndjit
    >>> slope = ndjit.grad(lambda x: x**3)
    >>> slope(2.0), ndjit.grad(slope)(2.0)
    (Array(12., dtype=float32), Array(12., dtype=float32))

    With `has_aux` the results are the gradient and the other data.
    """
    both = _value_and_grad("grad", fun, argnums, has_aux)

    @_wrapped(fun, "grad")
    def made(*arguments, **options):
        value, slopes = both(*arguments, **options)
        return (slopes, value[1]) if has_aux else slopes

    return made


def _tuple(what, name, x):
    if not isinstance(x, (tuple, list)):
        raise TypeError(f"{what}: `{name}` is a tuple with one for each argument, not {_kind(x)}: write `({name[:-1]},)`")
    return tuple(x)


def _linear(what, fun, primals, has_aux=False):
    """The variables of a function, its outputs, their structures, and other data."""
    leaves, structure = tree.flatten(primals)
    variables = _ndjit._variables(what, leaves)
    result, aux = fun(*tree.unflatten(structure, variables)), None
    if has_aux:
        result, aux = result
    outputs, of = tree.flatten(result)
    outputs = [_ndjit._traced(x) for x in outputs]
    return variables, structure, outputs, of, aux


def _tangents(what, linear, tangents):
    variables, structure, outputs, of, _ = linear
    leaves, own = tree.flatten(tangents)
    if own != structure:
        raise TypeError(f"{what}: tangents have the structure of their values, {_like(structure)}; these have {tree.described(tangents)}")
    return tree.unflatten(of, _ndjit._tangents(what, variables, outputs, leaves))


def _cotangents(what, linear, cotangents):
    variables, structure, outputs, of, _ = linear
    leaves, own = tree.flatten(cotangents)
    if own != of:
        raise TypeError(f"{what}: cotangents have the structure of the results, {_like(of)}; these have {tree.described(cotangents)}")
    return tree.unflatten(structure, _ndjit._cotangents(what, variables, outputs, leaves))


def _like(structure):
    count = sum(1 for part in structure if part == 0)
    for leaves in range(count, len(structure) + 1):
        try:
            return tree.described(tree.unflatten(structure, [0] * leaves))
        except ValueError:
            continue
    return "another"


@PublicFunction
def jvp(fun, primals, tangents, has_aux=False):
    """The value of a function of `primals` and its tangent along `tangents`: forward mode.

    >>> import ndjit
    >>> ndjit.jvp(ndjit.sin, (0.0,), (2.0,))
    (Array(0., dtype=float32), Array(2., dtype=float32))
    """
    primals, tangents = _tuple("jvp", "primals", primals), _tuple("jvp", "tangents", tangents)

    def derived(primals, tangents):
        linear = _linear("jvp", fun, primals, has_aux)
        made = tree.unflatten(linear[3], linear[2]), _tangents("jvp", linear, tangents)
        return (*made, linear[4]) if has_aux else made

    return evaluated(derived, primals, tangents)


@PublicFunction
def vjp(fun, *primals, has_aux=False):
    """The value of a function, and a function from cotangents of its results to a tuple of cotangents of its arguments.

    >>> import ndjit
    >>> y, back = ndjit.vjp(lambda x, y: x * y, 2.0, 5.0)
    >>> y, back(1.0)
    (Array(10., dtype=float32), (Array(5., dtype=float32), Array(2., dtype=float32)))

    Outside of a trace the function is traced again at each call of the second one.
    """
    return _both("vjp", fun, primals, has_aux, _cotangents)


@PublicFunction
def linearize(fun, *primals, has_aux=False):
    """The value of a function, and its linear map from tangents of its arguments to those of its results.

    >>> import ndjit
    >>> y, slope = ndjit.linearize(lambda x: x * x, 3.0)
    >>> y, slope(10.0)
    (Array(9., dtype=float32), Array(60., dtype=float32))
    """
    return _both("linearize", fun, primals, has_aux, lambda what, linear, tangents: _tangents(what, linear, tangents), starred=True)


def _both(what, fun, primals, has_aux, apply, starred=False):
    if _is_tracing():
        linear = _linear(what, fun, primals, has_aux)
        value = tree.unflatten(linear[3], linear[2])
        mapped = (lambda *given: apply(what, linear, given)) if starred else (lambda given: apply(what, linear, given))
    else:

        def valued(*primals):
            return fun(*primals)

        def derived(primals, given):
            return apply(what, _linear(what, fun, primals, has_aux), given)

        value = evaluated(valued, *primals)
        linear = (None, None, None, None, value[1] if has_aux else None)
        value = value[0] if has_aux else value
        mapped = (lambda *given: evaluated(derived, primals, given)) if starred else (lambda given: evaluated(derived, primals, given))
    mapped = PublicFunction(mapped)
    return (value, mapped, linear[4]) if has_aux else (value, mapped)


def _units(x):
    """Arrays with one element 1 and the others 0, for each element."""
    import ndjit

    n = x.size
    return ndjit.reshape(ndjit.eye(n, dtype=x.dtype), (n, *x.shape))


def _jacobian(what, fun, argnums, has_aux, by_column):
    @_wrapped(fun, what)
    def made(*arguments, **options):
        numbers = _chosen(what, argnums, arguments)

        def derived(*values):
            def own(*values):
                return fun(*_with(arguments, numbers, values), **options)

            for leaf in tree.leaves(values):
                _differentiable(what, _ndjit._traced(leaf))
            linear = _linear(what, own, values, has_aux)
            slopes = by_column(what, linear)
            result = [parts[0] if isinstance(argnums, int) else parts for parts in slopes]
            result = tree.unflatten(linear[3], [_Opaque(x) for x in result])
            result = _opened(result, linear[3])
            return (result, linear[4]) if has_aux else result

        return evaluated(derived, *(arguments[n] for n in numbers))

    return made


class _Opaque:
    """A structure as a leaf of another."""

    def __init__(self, held):
        self.held = held


def _opened(x, structure):
    """The structure with what its opaque leaves hold in their place."""
    if isinstance(x, _Opaque):
        return x.held
    if type(x) is dict:
        return {key: _opened(value, structure) for key, value in x.items()}
    if type(x) in (tuple, list):
        return type(x)(_opened(value, structure) for value in x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(_opened(value, structure) for value in x))
    raise TypeError("a Jacobian is of a function that gives arrays, tuples, lists and dicts")


def _differentiable(what, x):
    import ndjit

    if ndjit.isdtype(x.dtype, "complex floating"):
        way_out = "derive by its parts; of holomorphic functions `jvp` gives the derivative"
        raise _ndjit._error("dtype", f"{what}: an argument is {x.dtype}", way_out)
    if not ndjit.isdtype(x.dtype, "real floating"):
        raise _ndjit._error("dtype", f"{what}: an argument is {x.dtype}, of which there is no derivative", "write a float, as 2.0, or cast it")


def _zeros(x):
    return _ndjit.zeros(x.shape, dtype=x.dtype)


def _columns(what, linear):
    """For each output the slopes by each argument: forward mode, one tangent for each element of the arguments."""
    import ndjit

    variables, structure, outputs, _, _ = linear
    rows = [[] for _ in outputs]
    for n, x in enumerate(variables):
        def along(own, n=n):
            tangents = [own[0] if k == n else _zeros(v) for k, v in enumerate(variables)]
            return _ndjit._tangents(what, variables, outputs, tangents)

        for row, y, slope in zip(rows, outputs, _ndjit._vmap(what, [_units(x)], [0], None, along)):
            row.append(ndjit.reshape(ndjit.moveaxis(slope, 0, -1), (*y.shape, *x.shape)))
    return [tree.unflatten(structure, row) for row in rows]


def _rows(what, linear):
    """For each output the slopes by each argument: reverse mode, one cotangent for each element of the outputs."""
    import ndjit

    variables, structure, outputs, _, _ = linear
    rows = []
    for n, y in enumerate(outputs):
        if ndjit.isdtype(y.dtype, "complex floating"):
            raise _ndjit._error("dtype", f"{what}: a result is {y.dtype}", "derive its parts, as `ndjit.real(z)`")

        def back(own, n=n):
            return _ndjit._cotangents(what, variables, outputs, [own[0] if k == n else _zeros(v) for k, v in enumerate(outputs)])

        slopes = _ndjit._vmap(what, [_units(y)], [0], None, back)
        rows.append(tree.unflatten(structure, [ndjit.reshape(s, (*y.shape, *x.shape)) for s, x in zip(slopes, variables)]))
    return rows


@PublicFunction
def jacfwd(fun, argnums=0, has_aux=False):
    """The Jacobian of a function by the arguments `argnums`, in forward mode: for functions with at least as many results as arguments.

    >>> import ndjit
    >>> ndjit.jacfwd(lambda x: x * x)(ndjit.asarray([1.0, 3.0]))
    Array([[2. 0.]
            [0. 6.]], dtype=float32)
    """
    return _jacobian("jacfwd", fun, argnums, has_aux, _columns)


@PublicFunction
def jacrev(fun, argnums=0, has_aux=False):
    """The Jacobian of a function by the arguments `argnums`, in reverse mode: for functions with fewer results than arguments.

    >>> import ndjit
    >>> ndjit.jacrev(lambda x: x * x)(ndjit.asarray([1.0, 3.0]))
    Array([[2. 0.]
            [0. 6.]], dtype=float32)
    """
    return _jacobian("jacrev", fun, argnums, has_aux, _rows)


@PublicFunction
def hessian(fun, argnums=0, has_aux=False):
    """The Hessian of a function, the Jacobian of its gradient.

    >>> import ndjit
    >>> ndjit.hessian(lambda x: ndjit.sum(x**3))(ndjit.asarray([1.0, 3.0]))
    Array([[ 6.  0.]
            [ 0. 18.]], dtype=float32)
    """
    return jacfwd(grad(fun, argnums, has_aux), argnums, has_aux)


@PublicFunction
def hvp(fun, primals, tangents):
    """The product of the Hessian of a function of `primals` with `tangents`, without the Hessian.

    >>> import ndjit
    >>> ndjit.hvp(lambda x: ndjit.sum(x**3), (ndjit.asarray([1.0, 3.0]),), (ndjit.asarray([1.0, 1.0]),))
    (Array([ 6. 18.], dtype=float32),)
    """
    primals = _tuple("hvp", "primals", primals)
    return jvp(grad(fun, tuple(range(len(primals)))), primals, tangents)[1]


@PublicFunction
def stop_gradient(x):
    """The arrays of a structure as constants of derivatives.

    >>> import ndjit
    >>> ndjit.grad(lambda x: x * ndjit.stop_gradient(x))(3.0)
    Array(3., dtype=float32)
    """
    if not _is_tracing():
        return x
    leaves, structure = tree.flatten(x)
    return tree.unflatten(structure, _ndjit._stop_gradient(leaves))


@PublicFunction
def checkpoint(fun):
    """A function whose intermediate values derivatives compute again instead of keeping them.

    >>> import ndjit
    >>> layer = ndjit.checkpoint(lambda x: ndjit.sin(x) * x)
    >>> ndjit.grad(lambda x: layer(layer(x)))(0.0)
    Array(0., dtype=float32)
    """

    @_wrapped(fun, "checkpoint")
    def made(*arguments, **options):
        if not _is_tracing():
            return fun(*arguments, **options)
        given = [n for n, x in enumerate(arguments) if _are_arrays(x)]
        leaves, structure = tree.flatten([arguments[n] for n in given])
        of = []

        def called(own):
            results, like = tree.flatten(fun(*_with(arguments, given, tree.unflatten(structure, own)), **options))
            of[:] = [like]
            return results

        results = _ndjit._checkpoint(leaves, called)
        return tree.unflatten(of[0], results)

    return made


def _are_arrays(x):
    """Whether all leaves of a structure are arrays and numbers."""
    return all(_ndjit._is_operand(leaf) for leaf in tree.leaves(x))


def _axes(what, name, axes, values):
    """The axis of each leaf of values: `axes` is one, or a structure around axes that is the beginning of theirs."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(tree.leaves(values))
    if isinstance(axes, (tuple, list)) and isinstance(values, (tuple, list)) and len(axes) == len(values):
        return [axis for own, value in zip(axes, values) for axis in _axes(what, name, own, value)]
    if isinstance(axes, dict) and isinstance(values, dict) and set(axes) == set(values):
        # In the order of leaves.
        try:
            keys = sorted(values)
        except TypeError:
            keys = list(values)
        return [axis for key in keys for axis in _axes(what, name, axes[key], values[key])]
    raise ValueError(f"{what}: `{name}` is an integer, `None`, or a structure of these like the beginning of {tree.described(values)}; it is {axes!r}")


@PublicFunction
def vmap(fun, in_axes=0, out_axes=0, axis_size=None):
    """A function of one lane, vectorized over arrays of lanes, with the bits of a loop over these.

    `in_axes` has the axis of lanes of each positional argument, `None` for what is the same in all of them: one for all, or a tuple of
    structures. Keyword arguments have lanes along their first axes, as in JAX. `out_axes` is the axis of results.

    >>> import ndjit
    >>> rows = ndjit.vmap(lambda x, y: ndjit.sum(x * y), in_axes=(0, None))
    >>> rows(ndjit.asarray([[1.0, 2.0], [3.0, 4.0]]), ndjit.asarray([10.0, 1.0]))
    Array([12. 34.], dtype=float32)
    """

    @_wrapped(fun, "vmap")
    def made(*arguments, **options):
        if isinstance(in_axes, (tuple, list)) and len(in_axes) != len(arguments):
            raise ValueError(f"vmap: `in_axes` has {len(in_axes)} axes for {len(arguments)} positional arguments")
        axes = in_axes if isinstance(in_axes, (tuple, list)) else [in_axes] * len(arguments)
        # What has no lanes stays as it is, and need not be an array.
        mapped = [n for n in range(len(arguments)) if any(axis is not None for axis in _flat(axes[n]))]

        def lanes(values, options):
            leaves, structure = tree.flatten((values, options))
            along = [axis for n, value in zip(mapped, values) for axis in _axes("vmap", "in_axes", axes[n], value)]
            along += [0] * (len(leaves) - len(along))
            with_lanes = [n for n, axis in enumerate(along) if axis is not None]
            of = []

            def called(own):
                full = list(leaves)
                for n, x in zip(with_lanes, own):
                    full[n] = x
                values, named = tree.unflatten(structure, full)
                result = fun(*_with(arguments, mapped, values), **named)
                results, like = tree.flatten(result)
                of[:] = [like, _axes("vmap", "out_axes", out_axes, result)]
                same = [x for x, axis in zip(results, of[1]) if axis is None]
                if same and any(_ndjit._depend("vmap", same, own)):
                    raise ValueError("vmap: a result has the axis `None` in `out_axes`, and differs from lane to lane; name its axis")
                return results

            results = _ndjit._vmap("vmap", [leaves[n] for n in with_lanes], [along[n] for n in with_lanes], axis_size, called)
            results = [_moved(x, axis) for x, axis in zip(results, of[1])]
            return tree.unflatten(of[0], results)

        return evaluated(lanes, tuple(arguments[n] for n in mapped), options)

    return made


def _flat(axes):
    """The axes of a structure around axes and `None`."""
    if isinstance(axes, dict):
        axes = list(axes.values())
    return [axis for part in axes for axis in _flat(part)] if isinstance(axes, (tuple, list)) else [axes]


def _moved(x, axis):
    """Lanes along another axis than the first; of `None` the first lane."""
    if axis is None:
        return x[0]
    return x if axis == 0 else _ndjit.moveaxis(x, 0, axis)


class _Ruled:
    """A function with a rule. Where the rule is traced the function is called as it is written: rules compute it, too."""

    def __init__(self, fun, nondiff_argnums=()):
        functools.update_wrapper(self, fun)
        self.fun, self.nondiff = fun, (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        self._open = threading.local()

    def __get__(self, instance, cls=None):
        return self if instance is None else functools.partial(self, instance)

    @contextlib.contextmanager
    def _rule(self, known=None):
        """The rule is traced; `known` are leaves, and the result of the function for them."""
        before = getattr(self._open, "known", None)
        self._open.known = known or ([], None)
        try:
            yield
        finally:
            self._open.known = before

    def _called(self, arguments, options):
        """The result of the function as it is written; in the rule for the same values that of the call with the rule."""
        leaves, result = getattr(self._open, "known", None) or ([], None)
        own = tree.leaves((arguments, options))
        if leaves and len(own) == len(leaves) and all(x is y for x, y in zip(own, leaves)):
            return result
        return self.fun(*arguments, **options)

    def _plain(self):
        """Whether the function is called as it is written."""
        return not _is_tracing() or getattr(self._open, "known", None) is not None


class custom_jvp(_Ruled):
    """A function with a rule for its tangents: a decorator.

    >>> import ndjit
    >>> @ndjit.custom_jvp
    ... def log1pexp(x):
    ...     return ndjit.log1p(ndjit.exp(x))
    >>> @log1pexp.defjvp
    ... def rule(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return log1pexp(x), t * (1 - 1 / (1 + ndjit.exp(x)))
    >>> ndjit.grad(log1pexp)(100.0)
    Array(1., dtype=float32)

    The rule is linear in the tangents; both modes use it, and higher derivatives.
    """

    rule = None

    def defjvp(self, rule):
        """Sets the rule: from a tuple of arguments and one of tangents to the result and its tangent."""
        self.rule = rule
        return rule

    @PublicFunction
    def __call__(self, *arguments, **options):
        if self._plain():
            return self._called(arguments, options)
        if self.rule is None:
            raise TypeError(f"custom_jvp: no rule is defined: decorate one with `@{getattr(self, '__name__', 'f')}.defjvp`")
        arguments = _bound(self.fun, arguments, options)
        numbers = [n for n in range(len(arguments)) if n not in self.nondiff]
        kept = [arguments[n] for n in self.nondiff]
        leaves, structure = tree.flatten(tuple(arguments[n] for n in numbers))
        of = []

        def called(own):
            results, like = tree.flatten(self.fun(*_with(arguments, numbers, tree.unflatten(structure, own))))
            of[:] = [like]
            return results

        def rule(own, outputs, tangents):
            with self._rule((own, tree.unflatten(of[0], outputs))):
                _, tangent = self.rule(*kept, tree.unflatten(structure, own), tree.unflatten(structure, tangents))
            leaves, like = tree.flatten(tangent)
            if like != of[0]:
                raise TypeError(f"custom_jvp: the rule gives a tangent with the structure of the result; it gave {_kind(tangent)}")
            return leaves

        results = _ndjit._custom_jvp(leaves, called, rule)
        return tree.unflatten(of[0], results)


class custom_vjp(_Ruled):
    """A function with a rule for its cotangents: a decorator.

    >>> import ndjit
    >>> @ndjit.custom_vjp
    ... def clipped(x):
    ...     return x
    >>> clipped.defvjp(lambda x: (x, None), lambda _, g: (ndjit.clip(g, -1, 1),))
    >>> ndjit.grad(lambda x: ndjit.sum(clipped(x) * 5))(ndjit.asarray([1.0, 2.0]))
    Array([1. 1.], dtype=float32)

    Forward mode is the adjoint of a rule that is linear.
    """

    forward = back = None

    def defvjp(self, forward, back):
        """Sets the rule: `forward` gives the result and residuals, `back` from these and a cotangent a tuple of cotangents."""
        self.forward, self.back = forward, back

    @PublicFunction
    def __call__(self, *arguments, **options):
        if self._plain():
            return self._called(arguments, options)
        if self.forward is None:
            raise TypeError(f"custom_vjp: no rule is defined: call `{getattr(self, '__name__', 'f')}.defvjp(forward, back)`")
        arguments = _bound(self.fun, arguments, options)
        numbers = [n for n in range(len(arguments)) if n not in self.nondiff]
        kept = [arguments[n] for n in self.nondiff]
        leaves, structure = tree.flatten(tuple(arguments[n] for n in numbers))
        of = []

        def forward(own):
            with self._rule():
                made = self.forward(*_with(arguments, numbers, tree.unflatten(structure, own)))
            if not isinstance(made, tuple) or len(made) != 2:
                raise TypeError(f"custom_vjp: the forward function gives a pair, the result and residuals; it gave {_kind(made)}")
            (results, like), (residuals, residual_structure) = tree.flatten(made[0]), tree.flatten(made[1])
            of[:] = [like, residual_structure, len(residuals)]
            return [*results, *residuals]

        def back(residuals, cotangents):
            made = self.back(*kept, tree.unflatten(of[1], residuals), tree.unflatten(of[0], cotangents))
            if not isinstance(made, tuple) or len(made) != len(numbers):
                raise TypeError(f"custom_vjp: the rule gives a tuple of cotangents, one for each of {len(numbers)} arguments; it gave {_kind(made)}")
            return [x for n, cotangent in zip(numbers, made) for x in _filled(cotangent, arguments[n])]

        results = _ndjit._custom_vjp(leaves, forward, lambda: of[2] if of else 0, back)
        return tree.unflatten(of[0], results)


def _filled(cotangent, argument):
    """The leaves of a cotangent; `None` stands for zeros."""
    if cotangent is None:
        return [_namespace.multiply(_ndjit._traced(leaf), 0) for leaf in tree.leaves(argument)]
    return tree.leaves(cotangent)


def _bound(fun, arguments, options):
    """Keyword arguments in the places of positional ones."""
    if not options:
        return list(arguments)
    import inspect

    bound = inspect.signature(fun).bind(*arguments, **options)
    bound.apply_defaults()
    return list(bound.args)
