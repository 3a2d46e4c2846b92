"""What NumPy's functions that sort give, and those made of sorts: `sorts.json` of `tests/goldens/arrays`. Run after `arrays.py`, whose
opening says how.

`out[dtype]` is `[result dtype, elements, scales]`, scales as in `reductions.py`: of medians and quantiles between two elements the sum of
their magnitudes, of which the elements are exact to far below the dtype. `descending` is NumPy's sort of the flipped array, flipped, so that
it is stable too. bf16 is sorted as the floats it holds.
"""
import numpy as np
from arrays import DTYPES, SHORT, WIDE, kind, operands, text, write

BF16 = DTYPES["bf16"]
# Shape, axis.
SORTS = [([1], 0), ([7], 0), ([3, 5], 0), ([3, 5], -1), ([2, 3, 4], 1), ([2, 3, 4, 5], 2), ([0], 0), ([2, 0, 3], 0), ([2, 0, 3], 1), (WIDE, 4),
         ([2, 1300], 1), ([1300, 2], 0)]
SPECIAL = [([127], 0), ([9, 14], 0), ([14, 9], -1)]
QUANTILES = [0, 0.1, 0.25, 0.5, 0.77, 1]
METHODS = ["linear", "lower", "higher", "midpoint", "nearest"]
# Shape, axes (None for all), keepdims.
AXES = [([], None, False), ([1], [0], False), ([7], None, True), ([8], [0], False), ([3, 5], [0], False), ([3, 6], [-1], True), ([2, 3, 4], [0, 2], False),
        ([2, 3, 4], [-1, 1], True), ([2, 3], [], False), ([2, 0, 3], [0], False), (WIDE, [1, 4, -1], False), ([2, 1300], [1], False)]


def sortable(x):
    return x.astype("f4") if x.dtype == BF16 else x


def order(x, axis, descending):
    if not descending:
        return np.argsort(sortable(x), axis, stable=True)
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(sortable(x), axis), axis, stable=True), axis)


def row(dtype, result, scale=None):
    row = [SHORT[np.dtype(dtype)], text(np.ravel(result))]
    return row if scale is None else [*row, " ".join(f"{float(s):.2e}" for s in np.ravel(scale))]


def sorting(function, shape, axis, special=False, descending=False, every=1):
    out = {}
    for short, dtype in DTYPES.items():
        x, = operands([shape], short, special)
        indices = order(x, axis, descending)
        if function == "argsort":
            dtype, result = indices.dtype, indices
        else:
            result = np.take_along_axis(x, indices, axis)
            theirs = np.sort(sortable(x), axis, stable=True)
            assert descending or np.array_equal(theirs, sortable(result), equal_nan=x.dtype.kind not in "bui")
        out[short] = row(dtype, np.ravel(result)[::every])
    case = {"fn": function, "in": [shape], "axes": [axis], "to": shape, "out": out}
    more = [("special", special), ("descending", descending), ("every", every if every > 1 else None)]
    return case | {key: value for key, value in more if value}


def magnitude(part):
    return np.nan_to_num(np.abs(part), nan=0, posinf=0)


def quantile(function, shape, axes, keepdims, q=0.5, method="linear", special=False):
    out = {}
    for short, dtype in DTYPES.items():
        x, = operands([shape], short, special)
        every = tuple(range(x.ndim)) if axes is None else tuple(a % x.ndim for a in axes)
        count = int(np.prod([x.shape[a] for a in every]))
        if function == "quantile" and (x.dtype.kind == "c" or count == 0):
            continue
        rest = [a for a in range(x.ndim) if a not in every]
        rows = np.transpose(x, [*rest, *sorted(every)]).reshape([*[x.shape[a] for a in rest], count])
        rows = np.take_along_axis(rows, order(rows, -1, False), -1) if count else rows
        to = [1 if a in every else n for a, n in enumerate(x.shape) if keepdims or a not in every]
        h = q * (count - 1)
        chosen = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}.get(method)
        if count == 0:
            measured = np.median(x[..., :0] if dtype != BF16 else x[..., :0].astype("f4"), axis=-1)
            result, scale, result_dtype = np.full(to, np.nan), np.zeros(to), measured.dtype if dtype != BF16 else BF16
        elif chosen is not None:
            result, scale, result_dtype = rows[..., int(chosen(h))], None, dtype
        else:
            below, distance = int(np.floor(h)), 0.5 if method == "midpoint" and h % 1 else h % 1
            exact = rows.astype("c16" if x.dtype.kind == "c" else "longdouble")
            a, b = exact[..., below], exact[..., min(below + 1, count - 1)]
            with np.errstate(all="ignore"):
                result = a if distance == 0 else (a + b) / 2 if function == "median" else a + (b - a) * distance if distance < 0.5 else b - (b - a) * (1 - distance)
            scale = magnitude(a.real) + magnitude(b.real) + magnitude(a.imag) + magnitude(b.imag)
            result_dtype = dtype if kind(dtype) in "fc" else np.dtype("f8")
        last = rows[..., -1:]
        if kind(dtype) in "fc" and count:
            nan = np.isnan(last[..., 0].astype("c16"))
            result = np.where(nan, last[..., 0].astype("c16" if x.dtype.kind == "c" else "f8") if chosen is None else last[..., 0], result)
        # NumPy says the same, but of what it computes with an infinite neighbour.
        if count and dtype != BF16:
            with np.errstate(all="ignore"):
                exactly = x.astype("f8") if kind(dtype) == "b" or dtype in (DTYPES["f16"], DTYPES["f32"]) else x
                theirs = np.median(exactly, axis=every) if function == "median" else np.quantile(exactly, q, axis=every, method=method)
            result_type = "c16" if x.dtype.kind == "c" else "f8"
            ours, theirs = (np.ravel(np.asarray(r).astype(result_type)) for r in (result, theirs))
            either = np.isnan(theirs) | np.isinf(ours)
            assert np.allclose(ours[~either], theirs[~either], rtol=5e-3, atol=5e-3), (function, short, q, method)
        to_write = np.asarray(result)
        if to_write.dtype == np.longdouble:
            to_write = to_write.astype("f8")
        out[short] = row(result_dtype, to_write, scale)
    case = {"fn": function, "in": [shape], "axes": axes, "keepdims": keepdims, "to": to, "out": out}
    more = [("special", special)] + ([("q", q), ("method", method)] if function == "quantile" else [])
    return case | {key: value for key, value in more if value or key == "q"}


def cases():
    for function in ["sort", "argsort"]:
        for shape, axis in SORTS:
            yield sorting(function, shape, axis, every=97 if max(shape) > 1000 else 1)
        for shape, axis in SPECIAL:
            for descending in [False, True]:
                yield sorting(function, shape, axis, special=True, descending=descending)
        for shape, axis in [([0], 0), ([1], 0), ([3, 5], 0), (WIDE, 4)]:
            yield sorting(function, shape, axis, descending=True)
    for shape, axes, keepdims in AXES:
        yield quantile("median", shape, axes, keepdims)
        for n, method in enumerate(METHODS):
            if 0 not in shape:
                yield quantile("quantile", shape, axes, keepdims, QUANTILES[(n + len(shape)) % len(QUANTILES)], method)
    for shape, axes in [([27], None), ([9, 14], [0]), ([14, 8], [-1])]:
        yield quantile("median", shape, axes, False, special=True)
        for q in QUANTILES if len(shape) == 2 else []:
            for method in METHODS if axes == [0] else METHODS[:1]:
                yield quantile("quantile", shape, axes, False, q, method, special=True)


if __name__ == "__main__":
    write("sorts", {"numpy": np.__version__, "cases": list(cases())})
