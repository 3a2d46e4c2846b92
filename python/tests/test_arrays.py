"""Arrays as users handle them: indexing, assignment, operators, conversions, pickles, printing."""

import copy
import pickle
import threading

import ndjit
import numpy as np
import pytest


def test_a_slice_is_a_value_and_assignment_rebinds():
    x = ndjit.arange(6)
    part, other = x[1:4], x
    x[1] = 10
    assert part.tolist() == [1, 2, 3]
    assert other is x and x.tolist() == [0, 10, 2, 3, 4, 5]
    x[x > 4] = 0
    x[[0, 2]] = ndjit.asarray([7, 8])
    assert x.tolist() == [7, 0, 8, 3, 4, 0]


@pytest.mark.parametrize("key", [2, -1, slice(None, None, -2), slice(4, 1, -1), slice(10, None), (..., 1), (None, 0), slice(2, 99)])
def test_slices_are_those_of_numpy(key):
    x = np.arange(20).reshape(5, 4)
    assert ndjit.asarray(x)[key].tolist() == x[key].tolist()
    y, z = ndjit.asarray(x), x.copy()
    y[key], z[key] = 7, 7
    assert y.tolist() == z.tolist()


def test_masks_and_arrays_of_indices_are_those_of_numpy():
    x = np.arange(24).reshape(2, 3, 4)
    y = ndjit.asarray(x)
    mask = x % 3 == 0
    assert y[ndjit.asarray(mask)].tolist() == x[mask].tolist()
    assert y[:, ndjit.asarray([2, 0]), 1].tolist() == x[:, [2, 0], 1].tolist()
    rows = np.array([True, False])
    assert y[ndjit.asarray(rows), 1].tolist() == x[rows, 1].tolist()


def test_values_are_put_at_masks_one_by_one():
    x = np.arange(12).reshape(3, 4)
    y, mask = ndjit.asarray(x), x % 5 == 0
    y[ndjit.asarray(mask)] = ndjit.asarray([7, 8, 9])
    x[mask] = [7, 8, 9]
    assert y.tolist() == x.tolist()
    y[ndjit.asarray([True, False, True])] = ndjit.arange(4)
    x[[True, False, True]] = np.arange(4)
    assert y.tolist() == x.tolist()
    y[ndjit.asarray(mask)] = 0
    assert not ndjit.any(y[ndjit.asarray(mask)])
    assert y[ndjit.zeros(0, dtype=ndjit.bool)].shape == (0, 4)
    for wrong in (ndjit.ones(2, dtype=ndjit.bool), ndjit.ones((3, 5), dtype=ndjit.bool), ndjit.ones((3, 4, 1), dtype=ndjit.bool)):
        with pytest.raises(IndexError, match="mask"):
            y[wrong]
        with pytest.raises(IndexError, match="mask"):
            y[wrong] = 1


def test_an_array_without_axes_is_assigned():
    x = ndjit.asarray(1.5)
    x[()] = 2
    x[...] += 1
    assert float(x) == 3.0


def test_at_gives_other_arrays():
    x = ndjit.zeros(3)
    assert x.at[[0, 0, 2]].add(1).tolist() == [2, 0, 1]
    assert x.at[1].set(5).tolist() == [0, 5, 0]
    assert x.at[0].get() == 0 and x.tolist() == [0, 0, 0]


def test_operators_in_place_keep_dtype_and_shape():
    x = y = ndjit.asarray([1, 2], dtype=ndjit.int8)
    x += 1
    assert x is y and x.tolist() == [2, 3] and x.dtype == ndjit.int8
    with pytest.raises(TypeError, match="float32"):
        x += 0.5
    with pytest.raises(ValueError, match="shape"):
        x += ndjit.zeros((2, 2), dtype=ndjit.int8)
    x -= x
    assert x.tolist() == [0, 0]


def test_numbers_are_weak_and_arrays_are_not():
    x = ndjit.asarray([1], dtype=ndjit.int8)
    assert (x + 1).dtype == ndjit.int8 and (2 * x).dtype == ndjit.int8
    assert (x + ndjit.asarray(1)).dtype == ndjit.int32
    assert (x + np.int64(1)).dtype == ndjit.int64
    with pytest.raises(OverflowError):
        x + 1000


def test_policies_are_chosen_for_the_process_or_a_block():
    x = ndjit.asarray([1], dtype=ndjit.int32)
    assert (x / 2).dtype == ndjit.float32
    with ndjit.policy("numpy2"):
        assert (x / 2).dtype == ndjit.float64 and ndjit.asarray(1.5).dtype == ndjit.float64
        seen = []
        thread = threading.Thread(target=lambda: seen.append(ndjit.get_policy()))
        thread.start()
        thread.join()
        assert seen == ["standard"]
    assert ndjit.get_policy() == "standard"
    with pytest.raises(ValueError, match="numpy9"):
        ndjit.set_policy("numpy9")


@pytest.mark.parametrize("name", "bool int8 uint64 bfloat16 float16 float32 float64 complex64 complex128".split())
def test_pickles_hold_dtype_shape_and_bits(name):
    x = ndjit.astype(ndjit.asarray([[0.0, 1.0], [1.0, 0.0]]), name)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert (y.dtype, y.shape) == (x.dtype, x.shape) and ndjit.all(x == y)
    assert pickle.loads(pickle.dumps(x.dtype)) is x.dtype
    z = copy.deepcopy(x)
    z[0, 0] = z[0, 1]
    assert z[0, 0] and not x[0, 0]


def test_dtypes_equal_numpys():
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split():
        dtype = getattr(ndjit, name)
        assert dtype == np.dtype(name) and np.dtype(name) == dtype and np.dtype(dtype) == np.dtype(name)
        assert dtype == getattr(np, name if name != "bool" else "bool_") and dtype != ndjit.bfloat16
        assert ndjit.asarray([1], dtype=np.dtype(name)).dtype is dtype
        assert np.zeros(1, dtype).dtype == np.dtype(name)
    assert ndjit.float32 == "float32" and ndjit.float32 != "float64" and ndjit.float32 != "f4" and ndjit.float32 != float
    assert ndjit.ones(2).dtype in ("float16", "float32") and {"float32": 1}[ndjit.float32] == 1
    assert len({ndjit.float32, ndjit.float64, ndjit.asarray(1.0).dtype}) == 2


def test_conversions_to_python():
    assert float(ndjit.asarray(1.5)) == 1.5 and int(ndjit.asarray([3])) == 3 and complex(ndjit.asarray(1j)) == 1j
    assert bool(ndjit.asarray([2])) and [10, 20][ndjit.asarray(1)] == 20 and list(ndjit.arange(2)) == [0, 1]
    assert f"{ndjit.asarray(1.5):.2f}" == "1.50" and len(ndjit.zeros((3, 2))) == 3
    for wrong in (lambda: float(ndjit.zeros(2)), lambda: float(ndjit.asarray(1j)), lambda: len(ndjit.asarray(1))):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: hash(ndjit.zeros(2)), lambda: iter(ndjit.asarray(1)), lambda: [1][ndjit.asarray(0.0)]):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="any"):
        bool(ndjit.zeros(2))


def test_printing():
    assert repr(ndjit.asarray([[1, 2], [3, 4]])) == "Array([[1 2]\n        [3 4]], dtype=int32)"
    assert repr(ndjit.zeros((0, 2))) == "Array([], dtype=float32, shape=(0, 2))"
    assert str(ndjit.asarray([1.5])) == "[1.5]"
    html = ndjit.zeros((20, 3))._repr_html_()
    assert "float32[20, 3]" in html and html.count("<tr>") == 9


def test_numpy_functions_give_arrays():
    x = ndjit.asarray([1.0, 4.0])
    for result in (np.sqrt(x), np.ones(2) + x, np.float32(1) + x, np.add(x, np.ones(2)), np.arctan2(x, x)):
        assert isinstance(result, ndjit.Array)
    assert (np.ones(2) + x).dtype == ndjit.float64
    assert np.bitwise_count(ndjit.asarray([7, 8])).tolist() == [3, 1] if hasattr(np, "bitwise_count") else True
    with pytest.raises(TypeError, match=r"takes no out=: `ndjit.add` gives a new array"):
        np.add(x, x, out=np.zeros(2))
    with pytest.raises(TypeError, match=r"take `ndjit.sum\(x, axis=0\)`"):
        np.add.reduce(x)
    with pytest.raises(TypeError, match=r"numpy.spacing has no counterpart"):
        np.spacing(x)
    with pytest.raises(TypeError):
        x + "1"


def test_explanations():
    x = ndjit.asarray([1], dtype=ndjit.uint8)
    assert "u8" in (x / 2).explain_dtype()


def test_many_threads_compute():
    x = ndjit.arange(1000)
    results = [None] * 16

    def work(n):
        for _ in range(20):
            results[n] = int(ndjit.sum(x * n))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [499500 * n for n in range(16)]


def test_masks_without_axes_select_along_a_new_axis():
    for truth in (True, False):
        for source in (np.array(5.0), np.array([[1.0, 2.0], [3.0, 4.0]])):
            x, mask = ndjit.asarray(source), ndjit.asarray(truth)
            assert x[mask].shape == source[np.asarray(truth)].shape
            assert np.asarray(x[mask]).tolist() == source[np.asarray(truth)].tolist()
            source[np.asarray(truth)] = 7
            x[mask] = 7
            assert x.shape == source.shape and x.tolist() == source.tolist()


def test_the_power_2_is_the_square():
    x = ndjit.linspace(-3, 3, 1001)
    expected = np.asarray(x) * np.asarray(x)
    for made in (x**2, x**2.0, ndjit.pow(x, 2), ndjit.jit(lambda x: x**2)(x), ndjit.jit(lambda x: ndjit.pow(x, 2.0))(x)):
        assert np.array_equal(np.asarray(made), expected) and made.dtype == ndjit.float32
    assert "square" in ndjit.jit(lambda x: x**2).explain("graph", x)
    for dtype, by, expected in [
        ("int8", 2, ndjit.int8),
        ("int8", 2.0, ndjit.float32),
        ("bool", 2, ndjit.int32),
        ("float64", 2, ndjit.float64),
        ("complex64", 2, ndjit.complex64),
        ("float16", 2.0, ndjit.float16),
    ]:
        y = ndjit.asarray([0, 1], dtype=getattr(ndjit, dtype))
        general = y ** ndjit.jit(lambda n: n)(by) if dtype != "bool" else ndjit.astype(y, ndjit.int32)
        assert (y**by).dtype == expected and (y**by).tolist() == [0, 1] and general.shape == (2,)
    # Another exponent, an array, and a power of 2 are no squares.
    assert (x**True).tolist() == x.tolist() and (2**x).dtype == ndjit.float32 and (x ** ndjit.asarray([2.0])).shape == x.shape
    x **= 2
    assert np.array_equal(np.asarray(x), np.linspace(-3, 3, 1001, dtype=np.float32) ** 2)


def test_an_empty_list_is_an_empty_index():
    x = ndjit.arange(4)
    for empty in ([], (([],),), np.array([]), np.array([], dtype=int), ndjit.asarray([])):
        key = empty[0] if isinstance(empty, tuple) else empty
        assert x[key].size == 0 and x[key].dtype == x.dtype
        assert x.at[key].set(7).tolist() == x.at[key].add(7).tolist() == [0, 1, 2, 3]
    assert x[[[]]].shape == (1, 0) and ndjit.ones((3, 2))[:, []].shape == (3, 0)
    x[[]] = 5
    assert x.tolist() == [0, 1, 2, 3]


def test_indices_of_many_bits_are_not_there():
    for index in (2**70, -(2**70)):
        with pytest.raises(IndexError, match=str(index)):
            ndjit.arange(3)[index]


def test_imaginary_parts_are_not_dropped():
    for given in ([1j], np.array([1j]), np.complex64(1j), ndjit.asarray([1j])):
        with pytest.raises(TypeError, match="real"):
            ndjit.asarray(given, dtype=ndjit.float32)
        assert ndjit.asarray(given, dtype=ndjit.complex64).dtype == ndjit.complex64


def test_a_block_of_a_policy_ends_its_own():
    def generator():
        with ndjit.policy("numpy2"):
            yield
            yield

    first = generator()
    next(first)
    with ndjit.policy("torch"):
        first.close()
        assert ndjit.get_policy().startswith("torch")
    assert ndjit.get_policy().startswith("standard")
    block = ndjit.policy("numpy2")
    with block, block:
        pass
    assert ndjit.get_policy().startswith("standard")


def test_functions_take_what_others_take():
    assert ndjit.cumulative_sum(np.ones(3)).tolist() == [1, 2, 3]
    assert ndjit.astype(np.ones(3), ndjit.int32).dtype == ndjit.astype(1.5, ndjit.int32).dtype == ndjit.int32
