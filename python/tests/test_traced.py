"""Arrays in traced functions: the functions of the namespace, assignments, lists; and handles that change meanwhile."""

import inspect
import threading
import types

import ndjit
import numpy as np
import pytest

X = ndjit.asarray([[0.25, 0.75, -0.5], [0.5, -0.25, 0.125]])
N = ndjit.asarray([[1, 3, 2], [5, 4, 1]])
SQUARE = ndjit.asarray([[1.0, 2.0], [3.0, 4.0]])
ROW = ndjit.asarray([1.0, 2.0, 3.0])

# Arguments of functions that do not take one matrix for each parameter without a default.
ARGUMENTS = {
    "arange": lambda f, x: f(3) + x[0, 0],
    "astype": lambda f, x: f(x, ndjit.float64),
    "broadcast_arrays": lambda f, x: f(x, x[0]),
    "broadcast_to": lambda f, x: f(x, (2, 2, 3)),
    "clip": lambda f, x: f(x, 0, 0.5),
    "concat": lambda f, x: f([x, x]),
    "stack": lambda f, x: f([x, x]),
    "cumulative_sum": lambda f, x: f(x[0]),
    "cumulative_prod": lambda f, x: f(x[0]),
    "cummax": lambda f, x: f(x[0]),
    "cummin": lambda f, x: f(x[0]),
    "expand_dims": lambda f, x: f(x, 0),
    "full_like": lambda f, x: f(x, 2),
    "isin": lambda f, x: f(x, x[0]),
    "linspace": lambda f, x: f(0, 1, 3) + x[0],
    "matmul": lambda f, x: f(x, x.T),
    "meshgrid": lambda f, x: f(x[0], x[1]),
    "moveaxis": lambda f, x: f(x, 0, 1),
    "permute_dims": lambda f, x: f(x, (1, 0)),
    "polygamma": lambda f, x: f(1, x + 2),
    "repeat": lambda f, x: f(x, 2),
    "reshape": lambda f, x: f(x, (3, 2)),
    "roll": lambda f, x: f(x, 1),
    "searchsorted": lambda f, x: f(ROW, x),
    "squeeze": lambda f, x: f(x[:1], 0),
    "take": lambda f, x: f(x[0], ndjit.asarray([2, 0])),
    "take_along_axis": lambda f, x: f(x, ndjit.asarray([[0], [1]])),
    "tensordot": lambda f, x: f(x, x),
    "threefry2x32": lambda f, x: f(*[ndjit.astype(x > n, ndjit.uint64) for n in (0, 1)]),
    "tile": lambda f, x: f(x, (2, 1)),
    "where": lambda f, x: f(x > 0, x, -x),
    "ldexp": lambda f, x: f(x, 2),
    "complex": lambda f, x: f(x, x),
}

# Functions whose results have shapes that depend on elements.
OF_ELEMENTS = {"nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
# Functions without arrays, those of functions, and `empty`, whose elements are any.
OTHERS = {
    "broadcast_shapes", "can_cast", "default_dtypes", "doctor", "empty", "empty_like", "finfo", "from_dlpack", "get_policy", "iinfo", "isdtype",
    "result_type", "set_defaults", "set_policy", "eye", "full", "ones", "zeros", "jit", "stop_gradient", "map",
}  # fmt: skip


def functions():
    for name in sorted(dir(ndjit)):
        function = getattr(ndjit, name)
        plain = isinstance(function, (types.FunctionType, types.BuiltinFunctionType))
        if plain and not name.startswith("_") and name not in OTHERS | OF_ELEMENTS:
            yield name


def call_with_defaults(name, x):
    function = getattr(ndjit, name)
    if name in ARGUMENTS:
        return ARGUMENTS[name](function, x)
    parameters = inspect.signature(function).parameters.values()
    count = sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    return function(*[x] * count)


def same(own, plain):
    if isinstance(plain, (tuple, list)):
        return len(own) == len(plain) and all(map(same, own, plain))
    own, plain = np.asarray(own), np.asarray(plain)
    return own.dtype == plain.dtype and own.shape == plain.shape and np.array_equal(own, plain, equal_nan=plain.dtype.kind in "fc")


@pytest.mark.parametrize("name", list(functions()))
def test_a_function_gives_the_same_in_a_traced_function(name):
    for x in (X, N, X > 0, SQUARE):
        try:
            plain = call_with_defaults(name, x)
        except ndjit.Error:
            # Of another dtype or shape.
            continue
        assert same(ndjit.jit(lambda x: call_with_defaults(name, x))(x), plain)
        return
    pytest.fail("no argument fits")



CAPTURES = {
    "jit": lambda put: ndjit.jit(put)(1.0),
    "grad": lambda put: ndjit.grad(put)(1.0),
    "jvp": lambda put: ndjit.jvp(put, (1.0,), (1.0,)),
    "vmap": lambda put: ndjit.vmap(put)(ndjit.ones(2)),
    "fori_loop": lambda put: ndjit.fori_loop(0, 2, lambda _, x: put(x), 1.0),
    "while_loop": lambda put: ndjit.while_loop(lambda x: x < 2, put, 1.0),
    "scan": lambda put: ndjit.scan(lambda x, _: (put(x), None), 1.0, length=2),
    "cond": lambda put: ndjit.cond(True, put, lambda x: x, 1.0),
    "cond in jit": lambda put: ndjit.jit(lambda x: ndjit.cond(x > 0, put, lambda x: x, x))(1.0),
}


@pytest.mark.parametrize("how", CAPTURES)
def test_traced_values_are_not_assigned_to_captured_arrays(how):
    for assign in ("captured[0] = x", "captured += x", "captured[...] = captured * x"):
        captured = ndjit.zeros(3)

        def put(x):
            exec(assign, {"captured": captured, "x": x})
            return x * x

        with pytest.raises(ndjit.TracedError, match="captured from outside of the traced function") as info:
            CAPTURES[how](put)
        assert "return the new array instead" in info.value.help
        assert captured.tolist() == [0, 0, 0]
    assert (captured + 1).tolist() == [1, 1, 1]


def test_arrays_of_an_outer_traced_function_are_captured_too():
    def f(x):
        y = x * 1

        def body(_, s):
            y[0] = s
            return s

        return ndjit.fori_loop(0, 2, body, 1.0), y

    with pytest.raises(ndjit.TracedError, match="captured"):
        ndjit.jit(f)(ndjit.zeros(3))


def test_traced_values_are_assigned_to_arrays_of_the_traced_function():
    @ndjit.jit
    def f(x, y):
        own = ndjit.zeros(3)
        own[1] = x
        y[0] = x
        y += own
        z = y * 1
        z[2] *= 2
        return own, y, ndjit.fori_loop(0, 2, body, z)

    def body(i, z):
        z[i] = 7
        return z

    given = ndjit.ones(3)
    assert [x.tolist() for x in f(5.0, given)] == [[0, 5, 0], [5, 6, 1], [7, 7, 2]]
    assert given.tolist() == [1, 1, 1]


def test_lists_that_hold_themselves_are_an_error():
    def of_self(*first):
        made = list(first)
        made += [made, made]
        return made

    for make in (lambda x: of_self(), lambda x: of_self(x), lambda x: [1, of_self(2)], lambda x: (x, of_self(x))):
        with pytest.raises((TypeError, ValueError), match="64 deep|several lengths"):
            ndjit.jit(lambda x: ndjit.asarray(make(x)))(1.0)
        with pytest.raises((TypeError, ValueError), match="64 deep|several lengths"):
            ndjit.asarray(make(1.0))
    deep = 1.0
    for _ in range(8):
        deep = [deep]
    assert ndjit.asarray(deep).shape == ndjit.jit(lambda x: ndjit.asarray(deep) * x)(1.0).shape == (1,) * 8


def test_objects_that_give_themselves_are_an_error():
    class Own:
        dtype = np.dtype(">f4")
        shape = (1,)

        def __dlpack__(self, **_):
            raise BufferError

        def __dlpack_device__(self):
            return (1, 0)

        def astype(self, *_):
            return self

        def tolist(self):
            return self

    for x in (Own(), [Own()]):
        with pytest.raises((TypeError, ValueError, BufferError)):
            ndjit.asarray(x)

    class Named(np.ndarray):
        def tolist(self):
            return self

    assert ndjit.asarray([np.ones(2).view(Named)]).tolist() == [[1, 1]]


def test_code_that_an_operation_calls_may_assign_to_the_array():
    x = ndjit.asarray([1.0, 2.0])

    class Assigns:
        def __index__(self):
            x[0] = 5.0
            return 1

    class Fits:
        def __array__(self, *_, **__):
            x[0] = 7.0
            return np.ones(2)

    assert float(x[Assigns()]) == 2 and x.tolist() == [5, 2]
    x.at[Assigns()].set(3)
    x[Assigns()] = 9
    assert x.tolist() == [5, 9] or x.tolist() == [1, 9]
    x[:] = Fits()
    assert x.tolist() == [1, 1]


def test_threads_may_assign_and_read_at_once():
    x = ndjit.zeros(1000)
    failed, stop = [], threading.Event()

    def run(body):
        try:
            while not stop.is_set():
                body()
        except BaseException as error:
            failed.append(error)

    def assign():
        x[3] = 1.0
        x.__iadd__(1.0)

    reads = (lambda: x.tolist(), lambda: x + 1, lambda: str(x), lambda: x[ndjit.asarray([1, 2])].tolist(), lambda: np.asarray(x).sum())
    threads = [threading.Thread(target=run, args=(body,)) for body in (assign, assign, *reads)]
    for thread in threads:
        thread.start()
    stop.wait(0.3)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failed
