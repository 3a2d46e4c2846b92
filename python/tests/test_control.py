"""Branches and loops that depend on values, jitted and not."""

import inspect

import ndjit
import numpy as np
import pytest


def line():
    """The number of the caller's line."""
    return inspect.currentframe().f_back.f_lineno


def both(f):
    """A function, and the same jitted."""
    return [f, ndjit.jit(f)]


def test_branches_choose_by_value():
    for f in both(lambda x, k: ndjit.cond(ndjit.sum(x) > 0, lambda t: {"y": t[0] * t[1]}, lambda t: {"y": t[0] - 1.0}, (x, k))):
        assert f(ndjit.asarray([1.0, 2.0]), 3.0)["y"].tolist() == [3, 6]
        assert f(ndjit.asarray([-1.0, -2.0]), 3.0)["y"].tolist() == [-2, -3]
    assert float(ndjit.cond(True, lambda: 1.0, lambda: 2.0)) == 1
    for f in both(lambda i, x: ndjit.switch(i, [lambda x: x, lambda x: x * 10, lambda x: x * 100], x)):
        assert [int(f(i, 5)) for i in (-3, 0, 1, 2, 9)] == [5, 5, 50, 500, 500]


def test_loops():
    for f in both(lambda a: ndjit.while_loop(lambda s: s["x"] != s["before"], lambda s: {"x": (s["x"] + a / s["x"]) / 2, "before": s["x"]}, {"x": a, "before": ndjit.zeros_like(a)})):
        assert float(f(ndjit.asarray(2.0, dtype=ndjit.float64))["x"]) == pytest.approx(2**0.5, abs=1e-15)
    for f in both(lambda x, n: ndjit.fori_loop(0, n, lambda i, s: (s[0] * x, s[1] + i), (ndjit.ones_like(x), 0))):
        power, sum_ = f(ndjit.asarray([2, 3]), 5)
        assert power.tolist() == [32, 243] and int(sum_) == 10


@pytest.mark.parametrize("reverse", [False, True])
def test_scans(reverse):
    xs = {"a": ndjit.asarray([1.0, 2.0, 3.0]), "b": ndjit.reshape(ndjit.arange(6), (3, 2))}
    for f in both(lambda xs: ndjit.scan(lambda s, x: (s + x["a"], (s, None, x["b"] * 2)), 0.0, xs, reverse=reverse)):
        last, (before, nothing, doubled) = f(xs)
        order = [2, 1, 0] if reverse else [0, 1, 2]
        expected, total = [0.0] * 3, 0.0
        for n in order:
            expected[n] = total
            total += n + 1
        assert float(last) == 6 and before.tolist() == expected and nothing is None
        assert doubled.tolist() == (np.arange(6).reshape(3, 2) * 2).tolist()
    last, ys = ndjit.scan(lambda s, x: (s * 2, s) if x is None else None, 1, length=4)
    assert int(last) == 16 and ys.tolist() == [1, 2, 4, 8]
    assert ndjit.map(lambda x: {"s": x * x}, ndjit.asarray([1, 2, 3]))["s"].tolist() == [1, 4, 9]


def test_bodies_use_values_around_them_and_nest():
    @ndjit.jit
    def f(x, n):
        def outer(i, s):
            return ndjit.fori_loop(0, i, lambda j, s: s + x * j, s)

        return ndjit.fori_loop(0, n, outer, ndjit.zeros_like(x))

    assert f(ndjit.asarray([1, 2]), 4).tolist() == [4, 8]


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: ndjit.while_loop(lambda s: s[0] < 3, lambda s: s[0], (0, 1)), TypeError, "`body_fun` gives .*, and the state is"),
        (lambda: ndjit.fori_loop(0, 3, lambda i, s: {"a": s["a"], "w": ndjit.zeros(3)}, {"a": 0, "w": ndjit.zeros(2)}), ndjit.ShapeError, r"`init_val\['w'\]` is shape"),
        (lambda: ndjit.fori_loop(0, 3, lambda i, s: (s[0], s[1] * 0.5), (0, ndjit.asarray(1))), ndjit.DTypeError, r"`init_val\[1\]` is i32"),
        (lambda: ndjit.scan(lambda s, x: ((s[0], ndjit.zeros(2)), x), (0, 1.0), ndjit.ones(3)), ndjit.ShapeError, r"`init\[1\]` is shape"),
        (lambda: ndjit.scan(lambda s, x: s, 0.0, ndjit.ones(3)), TypeError, "gives a pair"),
        (lambda: ndjit.scan(lambda s, x: (s, x), 0.0), ValueError, "length"),
        (lambda: ndjit.scan(lambda s, x: (s, x), 0.0, ndjit.ones(3), length=4), ValueError, "length"),
        (lambda: ndjit.cond(True, lambda x: x, lambda x: (x,), 1.0), TypeError, "different structures"),
        (lambda: ndjit.cond(True, lambda x: x, lambda x: x * 1.5, 1), ndjit.Error, "cond"),
        (lambda: ndjit.cond(ndjit.ones(2), lambda x: x, lambda x: x, 1), ndjit.ShapeError, "condition"),
        (lambda: ndjit.while_loop(lambda s: s, lambda s: s, 1), ndjit.DTypeError, "condition"),
        (lambda: ndjit.switch(0, []), ValueError, "a branch"),
    ],
)
def test_errors_name_the_part_and_the_line(call, error, text):
    with pytest.raises(error, match=text) as info:
        call()
    if isinstance(info.value, ndjit.Error):
        assert info.value.place[:2] == (__file__, call.__code__.co_firstlineno)


def test_exceptions_of_bodies_pass_through():
    exception = KeyError("own")

    def f(*_):
        raise exception

    calls = [
        lambda: ndjit.cond(True, f, f, 1),
        lambda: ndjit.while_loop(lambda s: s < 1, f, 1),
        lambda: ndjit.while_loop(f, lambda s: s, 1),
        lambda: ndjit.fori_loop(0, 3, f, 1),
        lambda: ndjit.scan(f, 1, ndjit.ones(3)),
    ]
    for call in calls:
        for own in (call, ndjit.jit(call)):
            with pytest.raises(KeyError) as info:
                own()
            assert info.value is exception


def test_a_traced_truth_in_a_body_names_its_line():
    def body(i, s):
        return s if s > 0 else -s

    with pytest.raises(ndjit.TracedError, match="ndjit.cond") as info:
        ndjit.fori_loop(0, 3, body, 1.0)
    assert info.value.place[:2] == (__file__, body.__code__.co_firstlineno + 1)


def test_a_value_of_a_body_is_none_outside():
    kept = []

    @ndjit.jit
    def f(x):
        ndjit.fori_loop(0, 3, lambda i, s: kept.append(s) or s + i, x)
        return x + kept[0]

    with pytest.raises(ndjit.TracedError, match="outside its trace"):
        f(1)
