"""What NumPy's indexing gives: `indexing.json` of `tests/goldens/arrays`. Run after `arrays.py`, whose opening says how.

`index` are arrays of positions, or one mask, each with its dtype. What moves elements is written as in `movement.json`, measured with each
dtype; the others are `[result dtype, elements]` for each dtype. `get_or` gives one where a position is not there, which NumPy has not: it is
made of `where`. Elements are put one after the other, as `ufunc.at` puts them; those put at the same position by `set` in NumPy's order,
in which the last stays. `searchsorted` searches in the sorted operand for the other one, or for its own elements at `index`; bf16 as the
floats it holds.
"""
import numpy as np
from arrays import DTYPES, ONE, SHORT, Labels, kind, operands, text, write
from sorts import sortable

# Function, shape, axis, shape of the positions and their dtype.
TAKES = [
    ("take", [7], 0, [5], "i32"), ("take", [7], -1, [2, 3], "i8"), ("take", [1], 0, [4], "i64"), ("take", [5], 0, [], "i16"), ("take", [5], 0, [0], "i64"),
    ("take", [3, 5], 0, [7], "u8"), ("take", [3, 5], 1, [4], "i64"), ("take", [3, 5], -1, [], "i32"), ("take", [3, 1], 1, [3], "i32"),
    ("take", [2, 3, 4], 1, [5], "i64"), ("take", [2, 3, 4], 1, [2, 2], "i32"), ("take", [2, 3, 4], 0, [3], "u64"), ("take", [2, 3, 4], -1, [0, 2], "i32"),
    ("take", [2, 0, 4], 0, [3], "u16"), ("take", [0, 3], 1, [2], "i32"), ("take", [2, 1, 2, 1, 3], 4, [2], "u32"),
    ("take_along_axis", [7], 0, [5], "i32"), ("take_along_axis", [1], 0, [3], "i8"), ("take_along_axis", [3, 5], 1, [3, 2], "i64"),
    ("take_along_axis", [3, 5], 0, [7, 5], "u8"), ("take_along_axis", [2, 3, 4], 1, [2, 5, 4], "i32"), ("take_along_axis", [2, 3, 4], -1, [1, 3, 2], "i16"),
    ("take_along_axis", [1, 3, 4], 1, [2, 2, 1], "i64"), ("take_along_axis", [3, 5], 1, [3, 0], "i32"), ("take_along_axis", [0, 3], 1, [0, 2], "u16"),
    ("take_along_axis", [2, 3, 4], 0, [1, 3, 4], "u64"),
]
# Shape, shapes of the positions along its first axes, their dtype.
PLACES = [
    ([7], [[5]], "i32"), ([7], [[]], "i64"), ([1], [[4]], "i8"), ([5], [[0]], "i32"), ([3, 5], [[7]], "i64"), ([3, 5], [[4], [4]], "i32"),
    ([3, 5], [[2, 1], [3]], "i16"), ([3, 5], [[], [4]], "u8"), ([2, 3, 4], [[2, 2]], "i32"), ([2, 3, 4], [[3], [3]], "i64"),
    ([2, 3, 4], [[5], [5], [5]], "i32"), ([2, 3, 4], [[], [], []], "i64"), ([4, 0, 2], [[3]], "i32"), ([2, 1, 3], [[3], [1]], "u32"),
]
# Shape, shapes of positions, shape of what is put, dtype of the positions.
PUTS = [
    ([7], [[5]], [5], "i64"), ([3], [[9]], [9], "i32"), ([7], [[]], [], "i8"), ([1], [[3]], [3], "i32"), ([5], [[0]], [0], "i32"), ([5], [[4]], [], "u16"),
    ([3, 5], [[7]], [7, 5], "i32"), ([3, 5], [[7]], [5], "i64"), ([3, 5], [[2, 3]], [3, 1], "u8"), ([3, 5], [[9], [9]], [9], "i32"),
    ([3, 5], [[3, 1], [4]], [3, 4], "i64"), ([2, 3, 4], [[5]], [5, 3, 4], "i16"), ([2, 3, 4], [[6], [6]], [6, 4], "i32"), ([2, 3, 4], [[8], [8], [8]], [8], "u64"),
    ([2, 0, 4], [[3]], [4], "i32"), ([127], [[127]], [127], "i32"),
]
# Shape, shape of the mask, shape of what is put.
MASKS = [([7], [7], []), ([7], [7], [7]), ([3, 5], [3, 5], [5]), ([3, 5], [3], [3, 5]), ([3, 5], [3], []), ([2, 3, 4], [2, 3], [4]), ([2, 3, 4], [2], [3, 1]),
         ([0, 3], [0], [3]), ([1], [1], [1]), ([], [], [])]
# Shape of what is sorted and of the values, or of positions of values in it.
SEARCHES = [([7], [20], None), ([1], [5], None), ([0], [3], None), ([20], [], None), ([26], [3, 4], None), ([127], None, [40]), ([20], None, [5, 6]),
            ([1], None, [3]), ([64], [0], None), ([65], None, [130])]


def positions(shape, extent, dtype, seed, outside=False):
    """Positions in no order, negative ones and the same ones among them; some that are not there."""
    n = np.arange(int(np.prod(shape))) + seed
    at = (n * 37 + 11) % max(extent, 1)
    at = np.where((n % 3 == 1) & (dtype[0] == "i"), at - extent, at)
    if outside:
        at = np.where(n % 4 == 2, at + extent, np.where((n % 4 == 3) & (dtype[0] == "i"), at - 2 * extent, at))
    return at.reshape(shape).astype(DTYPES[dtype])


def given(index):
    return [{"dtype": SHORT[i.dtype], "shape": list(i.shape), "at": text(i)} for i in index]


def labelled(shapes):
    sizes = [int(np.prod(shape)) for shape in shapes]
    begins = np.cumsum([1, *sizes])
    return [np.arange(a, a + n).reshape(shape).view(Labels) for a, n, shape in zip(begins, sizes, shapes)]


def moved(function, shapes, index, compute, axis=None):
    result = np.asarray(compute(*labelled(shapes), *index))
    case = {"fn": function, "in": shapes, "args": [] if axis is None else [axis], "index": given(index)}
    return case | {"out": [[list(result.shape), " ".join(str(int(n)) for n in result.ravel())]]}


def computed(function, shapes, index, compute, special=False, **more):
    out, to = {}, None
    for short in DTYPES:
        if function == "searchsorted" and short[0] == "c":
            continue
        result = np.asarray(compute(*operands(shapes, short, special), *index))
        out[short], to = [SHORT[result.dtype], text(result)], list(result.shape)
    case = {"fn": function, "in": shapes, "index": given(index), "to": to, "out": out} | more
    return case | {"special": True} if special else case


def get_or(x, *index):
    extents = x.shape[:len(index)]
    wrapped = [np.where(i < 0, i.astype(int) + n, i.astype(int)) for i, n in zip(index, extents)]
    inside = np.logical_and.reduce(np.broadcast_arrays(*[(i >= 0) & (i < n) for i, n in zip(wrapped, extents)]))
    found = x[tuple(np.clip(i, 0, n - 1) for i, n in zip(wrapped, extents))]
    return np.where(inside.reshape(inside.shape + (1,) * (x.ndim - len(index))), found, ONE)


def one_by_one(x, index, y, combine):
    x = x.copy()
    index = np.broadcast_arrays(*index)
    y = np.broadcast_to(y, index[0].shape + x.shape[len(index):])
    for n in np.ndindex(index[0].shape):
        at = tuple(int(i[n]) for i in index)
        x[at] = combine(x[at], y[n])
    return x


def set_at(x, y, *index):
    result = x.copy()
    result[index] = y
    assert np.array_equal(result, one_by_one(x, index, y, lambda old, new: new))
    return result


def put(ufunc):
    def at(x, y, *index):
        result = x.copy()
        ufunc.at(result, index, y)
        with np.errstate(all="ignore"):
            loop = one_by_one(x, index, y, lambda old, new: ufunc(old, new).astype(x.dtype))
        assert np.array_equal(sortable(result), sortable(loop), equal_nan=kind(x.dtype) in "fc"), (ufunc, x.dtype, result, loop)
        return result
    return at


def masked(ufunc):
    def at(x, y, mask):
        mask = mask.reshape(mask.shape + (1,) * (x.ndim - mask.ndim))
        return np.where(mask, y if ufunc is None else ufunc(x, y), x)
    return at


UFUNCS = {"add": np.add, "min": np.minimum, "max": np.maximum}


def cases():
    for n, (function, shape, axis, of, dtype) in enumerate(TAKES):
        index = positions(of, shape[axis], dtype, n)
        compute = np.take if function == "take" else np.take_along_axis
        yield moved(function, [shape], [index], lambda x, i, compute=compute, axis=axis: compute(x, i.astype(int), axis), axis)
    for n, (shape, of, dtype) in enumerate(PLACES):
        index = [positions(extents, shape[k], dtype, n + k) for k, extents in enumerate(of)]
        yield moved("at.get", [shape], index, lambda x, *index: x[tuple(index)])
        outside = [positions(extents, shape[k], dtype, n + 2 * k, True) for k, extents in enumerate(of)]
        yield moved("at.get_or", [shape], outside, get_or)
    for n, (shape, of, update, dtype) in enumerate(PUTS):
        index = [positions(extents, shape[k], dtype, n + k) for k, extents in enumerate(of)]
        yield moved("at.set", [shape, update], index, set_at)
        for m, (name, ufunc) in enumerate(UFUNCS.items()):
            yield computed(f"at.{name}", [shape, update], index, put(ufunc), special=(n + m) % 2 == 0 or n in (1, 15))
    for n, (shape, of, update) in enumerate(MASKS):
        mask = [(np.arange(int(np.prod(of))) * 5 % 7 < 4).reshape(of)]
        yield moved("at.set", [shape, update], mask, masked(None))
        for m, (name, ufunc) in enumerate(UFUNCS.items()):
            if (n + m) % 2 == 0:
                yield computed(f"at.{name}", [shape, update], mask, masked(ufunc), special=n % 4 == 0)
    for n, (shape, of, own) in enumerate(SEARCHES):
        for side in ["left", "right"]:
            for special in [False, True]:
                index = [] if own is None else [positions(own, shape[0], "i32", n)]
                shapes = [shape] if of is None else [shape, of]
                search = lambda x, v, own=own, side=side: np.searchsorted(np.sort(sortable(x)), sortable(x[v] if own is not None else v), side)
                yield computed("searchsorted", shapes, index, search, special, side=side)


if __name__ == "__main__":
    write("indexing", {"numpy": np.__version__, "cases": list(cases())})
