"""Derivatives and vectorization of Python functions, against finite differences, formulas and loops."""

import ndjit
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def numpy2():
    """64-bit numbers."""
    with ndjit.policy("numpy2"):
        yield


def difference(f, x, step=1e-6):
    """The gradient of a function of one array by central differences."""
    x = np.asarray(x, dtype=np.float64)
    slopes = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        slopes[index] = (float(f(ndjit.asarray(up))) - float(f(ndjit.asarray(down)))) / (2 * step)
    return slopes


FUNCTIONS = {
    "polynomial": lambda x: ndjit.sum(x**3 - 2 * x),
    "softmax": lambda x: ndjit.logsumexp(ndjit.sin(x) * x) + ndjit.prod(x),
    "matmul": lambda x: ndjit.sum(ndjit.tanh(ndjit.reshape(x, (2, 3)) @ ndjit.reshape(x, (3, 2)))),
    "indices": lambda x: ndjit.sum(x[ndjit.asarray([0, 3, 3])] ** 2) + x[-1] * ndjit.max(x[1:4]),
    "put": lambda x: ndjit.sum(ndjit.zeros(6).at[1:4].set(x[:3] * x[3:]) ** 2),
    "loop": lambda x: ndjit.fori_loop(0, 3, lambda i, s: ndjit.sin(s) * x[i], x[0]),
    "branch": lambda x: ndjit.cond(x[0] > 0, lambda x: ndjit.sum(x**2), lambda x: ndjit.sum(x), x),
    "scan": lambda x: ndjit.scan(lambda s, x: (s * x, s + x), 1.0, x)[0],
    "jitted": ndjit.jit(lambda x: ndjit.sum(ndjit.exp(x))),
    "remade": ndjit.checkpoint(lambda x: ndjit.sum(ndjit.sin(x) ** 2)),
    "stacked": lambda x: ndjit.sum(ndjit.stack([x, 2 * x]) ** 2) + ndjit.sum(ndjit.asarray([x[0], x[1] * 2])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_those_of_differences(name):
    f, x = FUNCTIONS[name], ndjit.asarray([0.7, -0.3, 1.2, 0.5, 2.0, -1.1])
    slopes = ndjit.grad(f)(x)
    assert slopes.dtype == ndjit.float64
    np.testing.assert_allclose(np.asarray(slopes), difference(f, x), rtol=1e-6, atol=1e-8)
    assert np.array_equal(np.asarray(ndjit.jit(ndjit.grad(f))(x)), np.asarray(slopes))
    np.testing.assert_allclose(np.asarray(ndjit.jacfwd(f)(x)), np.asarray(slopes), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.asarray(ndjit.jacrev(f)(x)), np.asarray(slopes), rtol=1e-12, atol=1e-14)


def test_gradients_of_structures_and_several_arguments():
    def loss(line, x, y, power):
        assert isinstance(power, int)
        return ndjit.sum((line["w"] * x + line["b"] - y) ** power)

    line = {"w": ndjit.asarray(1.0), "b": 0.0}
    x, y = ndjit.asarray([1.0, 2.0]), ndjit.asarray([3.0, 5.0])
    slopes = ndjit.grad(loss)(line, x, y, 2)
    assert float(slopes["w"]) == -16 and float(slopes["b"]) == -10
    value, (by_line, by_y) = ndjit.value_and_grad(loss, argnums=(0, 2))(line, x, y, 2)
    assert float(value) == 13 and float(by_line["w"]) == -16 and by_y.tolist() == [4, 6]
    assert float(ndjit.grad(lambda x, y: x * y, argnums=-1)(2.0, 5.0)) == 2


def test_other_data_beside_the_value():
    f = lambda x: (ndjit.sum(x * x), {"next": x + 1, "n": 3})
    slopes, aux = ndjit.grad(f, has_aux=True)(ndjit.asarray([1.0, 3.0]))
    assert slopes.tolist() == [2, 6] and aux["next"].tolist() == [2, 4] and int(aux["n"]) == 3
    (value, aux), slopes = ndjit.jit(ndjit.value_and_grad(f, has_aux=True))(ndjit.asarray([1.0, 3.0]))
    assert float(value) == 10 and slopes.tolist() == [2, 6] and aux["next"].tolist() == [2, 4]
    with pytest.raises(TypeError, match="gives a pair"):
        ndjit.grad(lambda x: x, has_aux=True)(1.0)


def test_nesting_and_perturbations():
    assert float(ndjit.grad(lambda x: x * ndjit.grad(lambda y: x + y)(1.0))(2.0)) == 1
    third = ndjit.jit(ndjit.grad(ndjit.grad(ndjit.grad(lambda x: x**4))))
    assert float(third(2.0)) == 48
    assert ndjit.vmap(ndjit.grad(lambda x: x**3))(ndjit.asarray([1.0, 2.0])).tolist() == [3, 12]
    rows = ndjit.jit(ndjit.grad(lambda x: ndjit.sum(ndjit.vmap(lambda r: ndjit.prod(r))(x))))(ndjit.asarray([[1.0, 2.0], [3.0, 4.0]]))
    assert rows.tolist() == [[2, 1], [4, 3]]


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: ndjit.grad(lambda x: x * x)(3), ndjit.DTypeError, "write the number as a float"),
        (lambda: ndjit.grad(lambda x: x)(ndjit.asarray([1, 2])), ndjit.DTypeError, "ndjit.astype"),
        (lambda: ndjit.grad(lambda x: x * x)(ndjit.ones(2)), ndjit.ShapeError, "reduce it"),
        (lambda: ndjit.grad(lambda x: (x, x))(1.0), TypeError, "one number"),
        (lambda: ndjit.grad(lambda x: None)(1.0), TypeError, "one number"),
        (lambda: ndjit.grad(lambda x: x, argnums=1)(1.0), TypeError, "no positional argument 1"),
        (lambda: ndjit.grad(3), TypeError, "a function is needed"),
        (lambda: ndjit.jvp(ndjit.sin, 1.0, 1.0), TypeError, "tuple"),
        (lambda: ndjit.jvp(ndjit.sin, (1.0,), ((1.0, 2.0),)), TypeError, "structure"),
        (lambda: ndjit.jvp(ndjit.sin, (1.0,), (ndjit.ones(2),)), ndjit.ShapeError, "tangent"),
        (lambda: ndjit.vjp(ndjit.sin, 1.0)[1]((1.0,)), TypeError, "structure"),
        (lambda: ndjit.jacrev(lambda x: x)(1), ndjit.DTypeError, "float"),
        (lambda: ndjit.vmap(lambda x, y: x, in_axes=(0,))(ndjit.ones(2), 1.0), ValueError, "in_axes"),
        (lambda: ndjit.vmap(lambda x, y: x)(ndjit.ones(2), ndjit.ones(3)), ndjit.ShapeError, "lanes"),
        (lambda: ndjit.vmap(lambda x: x, in_axes=None)(1.0), ndjit.ShapeError, "lanes"),
        (lambda: ndjit.vmap(lambda x: x, in_axes=2)(ndjit.ones(2)), ndjit.AxisError, "axis"),
        (lambda: ndjit.grad(lambda x: ndjit.sum(x + ndjit.ones(3)))(ndjit.ones(2)), ndjit.ShapeError, "broadcast"),
    ],
)
def test_errors_say_what_to_write(call, error, text):
    with pytest.raises(error, match=text) as info:
        call()
    if isinstance(info.value, ndjit.Error) and info.value.place:
        assert info.value.place[0] == __file__


def test_exceptions_of_the_function_pass_through():
    exception = KeyError("own")

    def f(x):
        raise exception

    for call in (ndjit.grad(f), ndjit.jit(ndjit.grad(f)), ndjit.vmap(f), ndjit.checkpoint(f), ndjit.jacrev(f)):
        with pytest.raises(KeyError) as info:
            call(ndjit.ones(2))
        assert info.value is exception


def test_jvp_vjp_and_linearize():
    f = lambda x, y: {"p": x * y, "s": ndjit.sin(x)}
    x, y = ndjit.asarray([1.0, 2.0]), ndjit.asarray(3.0)

    def all_of(x, y):
        value, tangent = ndjit.jvp(f, (x, y), (ndjit.ones_like(x), 2.0))
        again, back = ndjit.vjp(f, x, y)
        by_x, by_y = back({"p": ndjit.ones(2), "s": ndjit.zeros(2)})
        other, along = ndjit.linearize(f, x, y)
        return value["p"], tangent, by_x, by_y, along(ndjit.ones_like(x), 2.0), again["s"], other["s"]

    for call in (all_of, ndjit.jit(all_of)):
        value, tangent, by_x, by_y, along, again, other = call(x, y)
        assert value.tolist() == [3, 6] and tangent["p"].tolist() == [5, 7] == along["p"].tolist()
        assert by_x.tolist() == [3, 3] and float(by_y) == 3
        np.testing.assert_allclose(np.asarray(tangent["s"]), np.cos([1, 2]))
        assert again.tolist() == other.tolist()
    value, back, aux = ndjit.vjp(lambda x: (x * x, x + 1), 3.0, has_aux=True)
    assert (float(value), float(back(1.0)[0]), float(aux)) == (9, 6, 4)


def test_jacobians_of_structures_and_hessians():
    f = lambda x, y: {"p": x * y, "s": ndjit.sum(x)}
    x, y = ndjit.asarray([1.0, 2.0]), ndjit.asarray([3.0, 4.0])
    for jacobian in (ndjit.jacfwd, ndjit.jacrev):
        made = jacobian(f, argnums=(0, 1))(x, y)
        assert made["p"][0].tolist() == [[3, 0], [0, 4]] and made["p"][1].tolist() == [[1, 0], [0, 2]]
        assert made["s"][0].tolist() == [1, 1] and made["s"][1].tolist() == [0, 0]
    g = lambda x: ndjit.sum(x**3) * x[0]
    hessian = np.asarray(ndjit.jit(ndjit.hessian(g))(x))
    np.testing.assert_allclose(hessian, [[12, 12], [12, 12]])
    np.testing.assert_allclose(np.asarray(ndjit.hvp(g, (x,), (y,))[0]), hessian @ np.asarray(y))


@pytest.mark.parametrize("in_axes, out_axes", [(0, 0), (1, -1), ((0, None), 1), (({"a": 1, "b": None}, 0), 0)])
def test_vmap_is_a_loop_over_lanes(in_axes, out_axes):
    tree = isinstance(in_axes, tuple) and isinstance(in_axes[0], dict)
    f = (lambda d, y: ndjit.cumulative_sum(d["a"]) * y + d["b"]) if tree else (lambda x, y: ndjit.cumulative_sum(x) * ndjit.sum(y))
    x, y = ndjit.reshape(ndjit.arange(9.0), (3, 3)), ndjit.reshape(ndjit.linspace(0, 1, 9), (3, 3))
    given = ({"a": x, "b": ndjit.asarray(2.0)}, y[:, 0]) if tree else (x, y)
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes, in_axes)

    def lane(value, axis, n):
        if isinstance(axis, dict):
            return {key: lane(value[key], axis[key], n) for key in axis}
        return value if axis is None else ndjit.take(value, ndjit.asarray(n), axis=axis) if value.ndim > 1 else value[n]

    loop = [f(*(lane(value, axis, n) for value, axis in zip(given, axes))) for n in range(3)]
    expected = np.stack([np.asarray(x) for x in loop], axis=out_axes)
    mapped = ndjit.vmap(f, in_axes, out_axes)
    assert np.array_equal(np.asarray(mapped(*given)), expected)
    assert np.array_equal(np.asarray(ndjit.jit(mapped)(*given)), expected)


def test_vmap_of_other_arguments():
    f = ndjit.vmap(lambda x, mode, k=1.0: x * k if mode == "scale" else x, in_axes=(0, None))
    assert f(ndjit.asarray([1.0, 2.0]), "scale", k=ndjit.asarray([3.0, 4.0])).tolist() == [3, 8]
    assert ndjit.vmap(lambda x: x + 1, in_axes=None, axis_size=2)(1.0).tolist() == [2, 2]


def test_rules_for_tangents():
    @ndjit.custom_jvp
    def log1pexp(x):
        return ndjit.log1p(ndjit.exp(x))

    with pytest.raises(TypeError, match="no rule is defined"):
        ndjit.grad(log1pexp)(1.0)

    @log1pexp.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        return log1pexp(x), t * (1 - 1 / (1 + ndjit.exp(x)))

    assert log1pexp.__name__ == "log1pexp" and float(log1pexp(0.0)) == pytest.approx(np.log(2))
    assert float(ndjit.grad(log1pexp)(1000.0)) == 1 and float(ndjit.grad(ndjit.grad(log1pexp))(0.0)) == 0.25
    assert ndjit.jit(ndjit.vmap(ndjit.grad(log1pexp)))(ndjit.asarray([0.0, 1000.0])).tolist() == [0.5, 1]

    # The result in the rule is the function's, with the rule.
    @ndjit.custom_jvp
    def exp(x):
        return ndjit.exp(x) + 0 * x

    @exp.defjvp
    def exp_rule(primals, tangents):
        y = exp(*primals)
        return y, 2 * y * tangents[0]

    assert float(ndjit.grad(exp)(0.0)) == 2 and float(ndjit.grad(ndjit.grad(exp))(0.0)) == 4


def test_rules_for_cotangents():
    @ndjit.custom_vjp
    def f(x, y):
        return {"p": x * y}

    def forward(x, y):
        return f(x, y), (y, [x])

    def back(rest, g):
        y, [x] = rest
        return 10 * g["p"] * y, None

    f.defvjp(forward, back)
    assert float(f(2.0, 3.0)["p"]) == 6
    by_x, by_y = ndjit.grad(lambda x, y: f(x, y=y)["p"], argnums=(0, 1))(2.0, 3.0)
    assert (float(by_x), float(by_y)) == (30, 0)
    _, tangent = ndjit.jvp(lambda x: f(x, 3.0)["p"], (2.0,), (1.0,))
    assert float(tangent) == 30
    f.defvjp(forward, lambda rest, g: g["p"])
    with pytest.raises(TypeError, match="tuple of cotangents"):
        ndjit.grad(lambda x: f(x, 3.0)["p"])(2.0)


def test_constants_of_derivatives():
    assert float(ndjit.grad(lambda x: x * ndjit.stop_gradient({"x": x})["x"])(3.0)) == 3
    assert ndjit.stop_gradient(2) == 2


def test_conventions():
    assert complex(ndjit.grad(lambda z: ndjit.real(z * ndjit.conj(z)))(ndjit.asarray(3 + 4j))) == 6 + 8j
    assert float(ndjit.grad(lambda x: ndjit.abs(x))(0.0)) == 0
    assert float(ndjit.grad(lambda x: ndjit.where(x > 0, ndjit.sqrt(x), 0.0))(0.0)) == 0


def test_a_result_without_an_axis_is_the_same_in_all_lanes():
    x, k = ndjit.asarray([1.0, 2.0]), ndjit.asarray(3.0)
    both = ndjit.vmap(lambda x, k: (x + k, k * 2), in_axes=(0, None), out_axes=(0, None))
    assert [part.tolist() for part in both(x, k)] == [[4, 5], 6]
    assert int(ndjit.vmap(lambda x: ndjit.fori_loop(0, 3, lambda i, s: s + i, 0), out_axes=None)(x)) == 3
    for f in (lambda x: x, lambda x: ndjit.sum(k * x), lambda x: ndjit.fori_loop(0, 3, lambda i, s: s + x, 0.0), lambda x: ndjit.cond(x > 1, lambda: 1, lambda: 2)):
        with pytest.raises(ValueError, match="differs from lane to lane"):
            ndjit.vmap(f, out_axes=None)(x)
        with pytest.raises(ValueError, match="differs from lane to lane"):
            ndjit.jit(ndjit.vmap(f, out_axes=None))(x)
