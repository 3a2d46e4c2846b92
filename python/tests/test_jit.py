"""`ndjit.jit`: signatures, structures, static arguments, tracer errors, threads, memory."""

import collections
import copy
import dataclasses
import functools
import gc
import inspect
import pickle
import sys
import threading
import traceback
import weakref

import ndjit
import numpy as np
import pytest


def line():
    """The number of the caller's line."""
    return inspect.currentframe().f_back.f_lineno


def test_a_signature_is_traced_once_and_numbers_are_no_part_of_it():
    runs = []

    @ndjit.jit
    def f(x, k):
        runs.append(1)
        return x * k + 1

    x = ndjit.asarray([1.0, 2.0])
    assert f(x, 2).tolist() == [3, 5] and f(x, 5).tolist() == [6, 11] and f(-x, 7).tolist() == [-6, -13]
    assert f.trace_count == len(runs) == 1
    assert f(x, 0.5).dtype == ndjit.float32 and f.trace_count == 2
    assert f(ndjit.asarray([1, 2]), 2).dtype == ndjit.int32 and f.trace_count == 3
    assert f(ndjit.ones(3), 2).shape == (3,) and f.trace_count == 4
    assert f.compile_count >= 2
    with ndjit.policy("numpy2"):
        assert f(ndjit.asarray([1, 2], dtype=ndjit.int32), 2).dtype == ndjit.int32
    assert f.trace_count == 5


def test_the_results_are_those_of_the_function_without_jit():
    def f(x, y):
        return ndjit.sum(ndjit.exp(-x * x) @ y, axis=0), x[1:, ::2], ndjit.where(x > 0, x, y.T) if x.shape[0] == y.shape[1] else x

    x, y = ndjit.reshape(ndjit.linspace(-1, 1, 16), (4, 4)), ndjit.eye(4)
    for own, plain in zip(ndjit.jit(f)(x, y), f(x, y)):
        assert own.dtype == plain.dtype and np.array_equal(np.asarray(own), np.asarray(plain))


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Line:
    slope: object
    offset: object
    name: str = dataclasses.field(default="", metadata={"static": True})


def test_structures_go_in_and_out():
    @ndjit.jit
    def f(tree, *more, flag=None):
        (a, [b]), d = tree
        assert isinstance(d["p"], Point) and isinstance(d["l"], Line) and d["l"].name == "n"
        return {"sum": a + b + d["p"].x, "l": d["l"], "p": Point(d["p"].y, None), "more": list(more), "flag": flag}

    one = ndjit.asarray(1.0)
    tree = ((one, [2 * one]), {"p": Point(3.0, 4.0), "l": Line(one, 5, "n")})
    made = f(tree, one, 2, flag=(7,))
    assert float(made["sum"]) == 6 and isinstance(made["l"], Line) and made["l"].name == "n" and int(made["l"].offset) == 5
    assert isinstance(made["p"], Point) and float(made["p"].x) == 4 and made["p"].y is None
    assert [float(x) for x in made["more"]] == [1, 2] and int(made["flag"][0]) == 7
    f(tree, one, 3, flag=(8,))
    assert f.trace_count == 1
    f(tree, one, flag=(8,))
    f(tree, one, 2)
    assert f.trace_count == 3
    # The order of a dict's keys is no part of it.
    g = ndjit.jit(lambda d: d["a"] - d["b"])
    assert float(g({"a": 3.0, "b": one})) == float(g({"b": one, "a": 3.0})) == 2 and g.trace_count == 1


def test_a_structure_within_itself_is_an_error():
    own = []
    own.append(own)
    with pytest.raises(ValueError, match="deep"):
        ndjit.jit(lambda x: x)(own)


def test_numpy_arrays_and_scalars_are_arguments():
    f = ndjit.jit(lambda x, k: x + k)
    a = np.arange(3.0)
    made = f(a, np.float32(2))
    assert made.dtype == ndjit.float64 and made.tolist() == [2, 3, 4]
    # Nothing of the argument is in the result.
    same = ndjit.jit(lambda x: x)(a)
    a[0] = 9
    assert same.tolist() == [0, 1, 2]


def test_static_arguments_are_passed_as_they_are():
    seen = []

    @functools.partial(ndjit.jit, static_argnums=1, static_argnames="mode")
    def f(x, n, *, mode="sum"):
        seen.append((n, mode))
        for _ in range(n):
            x = x * 2
        return x if mode == "keep" else ndjit.sum(x)

    x = ndjit.asarray([1.0, 2.0])
    assert float(f(x, 2)) == 12 and float(f(x, n=2)) == 12 and f(x, 1, mode="keep").tolist() == [2, 4]
    assert float(f(x, 2)) == 12 and f.trace_count == 3
    f(x, True)
    assert seen[-1] == (True, "sum") and f.trace_count == 4
    with pytest.raises(TypeError, match="argument 1 is static, and of a class without a hash, list: pass a tuple"):
        f(x, [1])
    with pytest.raises(ValueError, match="no parameter `other`"):
        ndjit.jit(lambda x: x, static_argnames="other")
    with pytest.raises(ValueError, match="no parameter 3"):
        ndjit.jit(lambda x: x, static_argnums=3)


def test_what_is_no_array_is_an_error_that_names_the_argument_and_the_way_out():
    f = ndjit.jit(lambda x, mode=None: x)
    with pytest.raises(TypeError, match=r"argument 1 has a str.*static_argnums=1"):
        f(1, "a")
    with pytest.raises(TypeError, match=r"argument `mode` has a str.*static_argnames=\"mode\""):
        f(1, mode=["a"])
    with pytest.raises(TypeError, match="gives a str"):
        ndjit.jit(lambda x: "a")(1)
    with pytest.raises(TypeError, match="a function is needed, not int"):
        ndjit.jit(3)
    with pytest.raises(TypeError):
        f()


def raised(function, *arguments):
    with pytest.raises(ndjit.TracedError) as info:
        ndjit.jit(function)(*arguments)
    return info.value


@pytest.mark.parametrize(
    "use, way_out",
    [
        (lambda x: x if x[0] > 0 else -x, "ndjit.cond"),
        (lambda x: range(x[0]), "fori_loop"),
        (lambda x: int(x[0]), "static_argnums"),
        (lambda x: float(x[0]), "ndjit.exp"),
        (lambda x: complex(x[0]), "ndjit.exp"),
        (lambda x: np.asarray(x), "numpy"),
        (lambda x: x.item(), "outside"),
        (lambda x: x.tolist(), "outside"),
        (lambda x: pickle.dumps(x), "outside"),
        (lambda x: ndjit.nonzero(x), "mask"),
        (lambda x: x[x > 1], "mask"),
    ],
)
def test_reading_elements_of_a_traced_value_names_the_line_and_the_way_out(use, way_out):
    error = raised(use, ndjit.asarray([1, 2]))
    assert error.place[:2] == (__file__, use.__code__.co_firstlineno)
    assert way_out in error.help and isinstance(error, TypeError)


def test_what_a_trace_knows_can_be_used():
    @ndjit.jit
    def f(x):
        assert x.shape == (2, 3) and x.ndim == 2 and x.size == 6 and x.dtype == ndjit.float32 and len(x) == 2
        assert repr(x) == str(x) == "Array(traced, dtype=float32, shape=(2, 3))" and f"{x}" == repr(x)
        rows = [row * n for n, row in enumerate(x)]
        stacked = ndjit.asarray([rows[1][0], 1.0])
        y = ndjit.zeros(3)
        y[1:] = rows[1][1:]
        y = y.at[ndjit.asarray(0)].add(10)
        x += 1
        return rows[1], stacked, y, copy.copy(x), x.block_until_ready().T

    rows, stacked, y, more, turned = f(ndjit.reshape(ndjit.arange(6.0), (2, 3)))
    assert rows.tolist() == [3, 4, 5] and stacked.tolist() == [3, 1] and y.tolist() == [10, 4, 5]
    assert more.tolist() == [[1, 2, 3], [4, 5, 6]] and turned.shape == (3, 2)


def test_a_value_after_its_trace_is_an_error():
    leaked = []
    ndjit.jit(lambda x: leaked.append(x))(ndjit.ones(2))
    for use in (lambda x: x + 1, lambda x: x.shape, lambda x: ndjit.sum(x), lambda x: bool(x), lambda x: ndjit.jit(lambda y: y)(x)):
        with pytest.raises(ndjit.TracedError, match="outside its trace"):
            use(leaked[0])
    assert "after its trace" in repr(leaked[0])
    error = raised(lambda y: y + leaked[0], ndjit.ones(2))
    assert "outside its trace" in str(error)


def test_a_value_in_another_thread_is_an_error():
    errors = []

    def work(x):
        try:
            x + 1
        except ndjit.TracedError as error:
            errors.append(error)

    def f(x):
        thread = threading.Thread(target=work, args=(x,))
        thread.start()
        thread.join()
        return x

    ndjit.jit(f)(ndjit.ones(2))
    assert len(errors) == 1 and errors[0].place[0] == __file__


def test_an_exception_passes_through_unchanged():
    def f(x):
        raise exception

    exception = KeyError("own")
    with pytest.raises(KeyError) as info:
        ndjit.jit(f)(1)
    assert info.value is exception
    files = {frame.filename for frame in traceback.extract_tb(info.tb)}
    assert files == {__file__}


def test_an_error_may_be_caught_while_tracing():
    @ndjit.jit
    def f(x):
        try:
            x + ndjit.ones(3)
        except ndjit.ShapeError as error:
            assert error.place[:2] == (__file__, here)
        return x + 1

    here = f.__wrapped__.__code__.co_firstlineno + 3
    assert f(ndjit.zeros(2)).tolist() == [1, 1]


def test_functions_call_functions_and_see_values_around_them():
    g = ndjit.jit(lambda y, n: y * n)

    @ndjit.jit
    def f(x):
        inner = ndjit.jit(lambda y: y + x)
        return g(x, 2) + inner(1)

    assert f(ndjit.asarray([1.0])).tolist() == [4]
    assert f.trace_count == 1 and g.trace_count == 0

    # What is called with values that are not traced is evaluated, as operations on arrays are.
    seen = []

    @ndjit.jit
    def outer(x):
        known = g(ndjit.asarray([2.0]), 3)
        assert known.tolist() == [6] and float(known[0]) == 6 and g(2, 4).tolist() == 8
        for _ in range(2):
            # It closes over a traced value: so it is part of the trace, after a first trace that found that out.
            part = inner({"y": 1.0}, "name")["sum"]
            assert repr(part).startswith("Array(traced")
        return x + known, part

    @functools.partial(ndjit.jit, static_argnums=1)
    def inner(tree, name):
        seen.append((type(tree["y"]), name))
        return {"sum": tree["y"] + around[0], "kept": 1}

    around = []

    def with_around(x):
        around[:] = [x]
        return outer.__wrapped__(x)

    made, part = ndjit.jit(with_around)(ndjit.asarray([1.0]))
    assert made.tolist() == [7] and part.tolist() == [2] and seen == [(ndjit.Array, "name")] * 3 and g.trace_count == 2
    # Arguments of a function in a trace are traced values as elsewhere, numbers too, and so are results.
    with pytest.raises(ndjit.TracedError, match="index: a traced value"):
        ndjit.jit(lambda x: ndjit.jit(lambda x, n: [x for _ in range(n)])(x, 3))(1.0)
    constant = ndjit.jit(lambda x: ndjit.jit(lambda x: (3, x))(x)[0].dtype == ndjit.int32 and x)
    assert float(constant(2.0)) == 2
    # A leaked value is the error that it is elsewhere.
    leaked = []
    ndjit.jit(lambda x: leaked.append(x))(1.0)
    with pytest.raises(ndjit.TracedError, match="outside its trace"):
        ndjit.jit(lambda x: x + ndjit.jit(lambda y: y + leaked[0])(1.0))(1.0)

    def endless(x):
        return jitted(x)

    jitted = ndjit.jit(endless)
    with pytest.raises(RecursionError):
        jitted(1)


def test_methods_names_copies_and_pickles():
    class Scaled:
        def __init__(self, k):
            self.k = k

        @functools.partial(ndjit.jit, static_argnums=0)
        def __call__(self, x):
            """Scales."""
            return x * self.k

        @staticmethod
        @ndjit.jit
        def twice(x):
            return x * 2

    assert float(Scaled(3)(2.0)) == 6 and float(Scaled(4)(2.0)) == 8 and float(Scaled.twice(4.0)) == 8
    assert by_name.__name__ == by_name.__qualname__ == "by_name" and by_name.__doc__ == by_name.__wrapped__.__doc__ == "Adds one."
    assert by_name.__module__ == __name__ and by_name.kind == "own" and isinstance(by_name, ndjit.Jitted)
    assert inspect.getdoc(Scaled.__call__) == "Scales." and not hasattr(by_name, "other")
    assert ndjit.jit(functools.partial(max, 1)).__wrapped__(2) == 2
    assert str(inspect.signature(by_name)) == "(x, y=1)"
    assert copy.copy(by_name) is by_name and copy.deepcopy(by_name) is by_name
    assert pickle.loads(pickle.dumps(by_name)) is by_name
    assert "by_name" in repr(by_name)


def _own(function):
    function.kind = "own"
    return function


@ndjit.jit
@_own
def by_name(x, y=1):
    """Adds one."""
    return x + y


def test_stages_and_the_page():
    f = ndjit.jit(lambda x: ndjit.exp(x) * 2)
    assert "not called" in f._repr_html_()
    x = ndjit.ones(4)
    assert "exp" in f.explain("graph", x) and "multiply" in f.explain("simplified", x) and f.trace_count == 1
    assert f.page(x).startswith("<!doctype html>")
    f(x)
    html = f._repr_html_()
    assert "<iframe srcdoc=" in html and "&lt;!doctype html&gt;" in html and f.page().startswith("<!doctype")
    with pytest.raises(ValueError, match="the stages are graph"):
        f.explain("other", x)
    f(ndjit.ones(5))
    assert "f32[5]" in f.explain_cache_misses()[-1]
    # The lines are those of Python.
    assert "test_jit.py" in f.explain("graph", x)


def test_statistics_of_a_function():
    f = ndjit.jit(lambda x, y: (x + y * 2.0, ndjit.sum(x)))
    assert f.stats().traces == f.stats().launches == 0 and f.stats().kernels == []
    x = ndjit.ones(1000)
    f(x, x)
    stats = f.stats()
    assert stats.traces == 1 and stats.compilations == f.compile_count and 1 <= stats.launches == len(stats.kernels) <= 2
    assert stats.flops == 3000 and stats.bytes_written == stats.result_bytes == 4004 and stats.bytes_read >= 8000
    assert stats.peak_bytes >= stats.result_bytes and stats.intermediate_bytes == 0 and stats.allocations == 2
    assert list(stats.stages)[0] == "trace" and all(seconds >= 0 for seconds in stats.stages.values())
    assert sum(kernel.flops for kernel in stats.kernels) == 3000 and all(kernel.code_bytes > 0 for kernel in stats.kernels)
    assert "traces: 1" in repr(stats) and "flops" in repr(stats) and "flops" in repr(stats.kernels[0])
    f(ndjit.ones(5), 1)
    assert f.stats().traces == 2 and f.stats().flops == 15


def test_a_function_is_lowered_and_compiled_for_one_signature():
    @functools.partial(ndjit.jit, static_argnums=1, static_argnames="mode")
    def f(x, n, y, *, mode, k):
        return {"sum": (x["a"] * n + y) * k, "mode": None if mode else y}

    x = ndjit.asarray([1.0, 2.0])
    lowered = f.lower({"a": x}, 3, y=x, mode=True, k=1)
    assert f.trace_count == 1 and "multiply" in lowered.explain() and lowered.as_text() == lowered.explain("graph")
    assert "nest" in lowered.explain("loops") and lowered.page().startswith("<!doctype html>")
    compiled = lowered.compile()
    # Static arguments are left out, as in JAX.
    assert compiled({"a": x * 10}, y=x, k=2)["sum"].tolist() == [62, 124] and f.trace_count == 1
    assert f({"a": x}, 3, y=x, mode=True, k=1)["sum"].tolist() == [4, 8] and f.trace_count == 1
    assert compiled.stats().flops == lowered.stats().flops > 0 and len(compiled.as_text()) > 0
    assert "lower" in repr(lowered) and "compile()" in repr(compiled)
    for wrong in (lambda: compiled(x, y=x, k=1), lambda: compiled({"a": x}, 3, y=x, k=1), lambda: compiled({"a": x}, y=x, mode=True, k=1)):
        with pytest.raises(TypeError, match="another structure"):
            wrong()
    with pytest.raises(ndjit.ArgumentError, match=r"compiled for f32\[2\]"):
        compiled({"a": ndjit.ones(3)}, y=x, k=1)
    with pytest.raises(ValueError, match="the stages are graph"):
        lowered.explain("other")
    # The program lives with what is made of it.
    del f, lowered
    gc.collect()
    assert compiled({"a": x}, y=x, k=1)["sum"].tolist() == [4, 8]


def test_threads_and_policies_of_a_function():
    f = ndjit.jit(lambda x, y: x + y, policy="numpy2", threads=2)
    assert f(ndjit.asarray([1.0]), ndjit.asarray([1])).dtype == ndjit.float64
    g = ndjit.jit(lambda x, y: x + y, policy="standard")
    with ndjit.policy("numpy2"):
        assert g(ndjit.asarray([1.0], dtype=ndjit.float32), ndjit.asarray([1])).dtype == ndjit.float32

        @ndjit.jit
        def h(x, y):
            with ndjit.policy("standard"):
                return x + y, g(x, y), f(x, y)

        one, other, wide = h(ndjit.asarray([1.0], dtype=ndjit.float32), ndjit.asarray([1]))
        assert one.dtype == other.dtype == ndjit.float32 and wide.dtype == ndjit.float64
    with pytest.raises(ValueError, match="policy"):
        ndjit.jit(lambda x: x, policy="other")


def test_many_threads_call_and_trace():
    f = ndjit.jit(lambda x, k: ndjit.sum(x * k) + x)
    expected, failures = {}, []
    for n in range(1, 9):
        expected[n] = np.asarray(ndjit.sum(ndjit.arange(n) * 2) + ndjit.arange(n))
    start = threading.Barrier(64)

    def work(seed):
        start.wait()
        try:
            for step in range(40):
                n = (seed + step) % 8 + 1
                assert np.array_equal(np.asarray(f(ndjit.arange(n), 2)), expected[n])
                assert np.array_equal(np.asarray(ndjit.sum(ndjit.arange(n) * 2) + ndjit.arange(n)), expected[n])
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and f.trace_count == 8


def test_the_lock_is_released_while_a_function_runs():
    f = ndjit.jit(lambda x: ndjit.fori_loop(0, 30_000_000, lambda i, x: x * 0.5 + 1, x), threads=1)
    done = threading.Event()
    thread = threading.Thread(target=lambda: (f(1.0), done.set()))
    thread.start()
    steps = 0
    while not done.is_set():
        steps += 1
    thread.join()
    assert steps > 1000


def test_a_handle_may_be_set_while_its_elements_are_computed():
    x, failures, done = ndjit.ones(1_000_000), [], threading.Event()

    def sets():
        nonlocal x
        try:
            while not done.is_set():
                x += 1
                x[0] = 0
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=sets)
    thread.start()
    for _ in range(30):
        x.block_until_ready()
        str(x)
        next(iter(x[:2]))
        float(x[5])
    done.set()
    thread.join()
    assert not failures


def rss():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_calls_and_traces_leak_nothing():
    captured = object()

    def function(tree, k=1, *, s=None):
        assert captured
        return {"a": tree[0] + k, "b": [tree[1]]}

    f = ndjit.jit(function, static_argnames="s")
    x = ndjit.ones(8)

    def calls(n):
        for step in range(n):
            f((x, 2.0), step, s="s")

    calls(2000)
    gc.collect()
    before, refs = rss(), sys.getrefcount(captured)
    calls(100_000)
    gc.collect()
    assert rss() - before < 4 << 20 and sys.getrefcount(captured) == refs
    # A function without users goes, though it refers to itself.
    def made():
        def own(x):
            return x + (0 if jitted is None else 1)

        jitted = ndjit.jit(own)
        jitted(x)
        return weakref.ref(own)

    gone = made()
    gc.collect()
    assert gone() is None

    def traces(n):
        for _ in range(n):
            ndjit.jit(lambda x: ndjit.sin(x) + 1)(x)

    traces(200)
    gc.collect()
    before = rss()
    traces(2000)
    gc.collect()
    assert rss() - before < 8 << 20


def test_static_arguments_do_not_live_for_ever():
    class Key:
        pass

    f = ndjit.jit(lambda x, key: x, static_argnums=1)
    first = weakref.ref(key := Key())
    f(1, key)
    del key
    for n in range(1100):
        f(1, (n,))
    gc.collect()
    assert first() is None


def test_equal_static_values_of_other_types_are_traced_apart():
    @dataclasses.dataclass(frozen=True)
    class Config:
        factor: object = dataclasses.field(metadata={"static": True})

    seen = ndjit.jit(lambda x, c: x * 0 + len(repr(c)), static_argnums=1)
    for values in ((2, 2.0), ((2,), (2.0,)), ((0, (1,)), (0, (True,))), (0.0, -0.0), (Config(2), Config(2.0)), (frozenset([1]), frozenset([True]))):
        for value in values:
            assert int(seen(1, value)) == len(repr(value)), value
    field = ndjit.jit(lambda c, x: x * 0 + len(repr(c.factor)))
    assert [int(field(Config(value), 1)) for value in (2, 2.0, (2,), (2.0,))] == [1, 3, 4, 6]
    keys = ndjit.jit(lambda d: {key: value + 1 for key, value in d.items()})
    assert repr(list(keys({True: 1}))) == "[True]" and repr(list(keys({1: 1}))) == "[1]" and repr(list(keys({1.0: 1}))) == "[1.0]"
    assert ndjit.tree.structure({1: 0}) != ndjit.tree.structure({True: 0})
