"""What NumPy's functions that combine elements along axes give: `reductions.json` and `scans.json` of `tests/goldens/arrays`. Run
after `arrays.py`, whose opening says how.

`out[dtype]` is `[result dtype, elements, scales]`; inexact elements are computed in `longdouble` or `float64`, so that they are exact to
far below what the result's dtype holds. Where NumPy has no such function of bf16, the dtype is bf16. Bounds of errors are multiples of
`scales`: for sums and means the sum of magnitudes of finite parts, for variances that of squares over the divisor, for a complex
`logsumexp` the sum of the exponentials' magnitudes over the magnitude of their sum. With `every`, only every so many elements of the
flattened result stand in the file.
"""
import functools
import itertools

import numpy as np
import scipy.special
from arrays import DTYPES, SHORT, WIDE, kind, operands, text, write

BF16 = DTYPES["bf16"]
# Shape, axes (None for all), keepdims.
AXES = [
    ([], None, False), ([1], [0], False), ([7], None, True), ([1, 1], [1], False), ([3, 5], [0], False), ([3, 5], [-1], True),
    ([2, 3, 4], [0, 2], False), ([2, 3, 4], [-1, 1], True), ([2, 3], [], False), ([2, 0, 3], [0], False), (WIDE, [1, 4, -1], False),
    ([2, 1300], [1], False), ([1300, 2], [0], False),
]
NOTHING = [([0], None, False), ([2, 0], [1], True)]
SPECIAL = [([127], None, False), ([9, 5], [0], False), ([5, 9], [-1], False)]
EXTREME = ["max", "min", "argmax", "argmin", "ptp"]
TRUTH = ["max", "min", "any", "all"]
REDUCTIONS = [*EXTREME, "sum", "prod", "mean", "var", "std", "any", "all", "count_nonzero", "logsumexp", "norm"]
ASKED = {"sum": ["i8", "i64", "bf16", "f16", "f64", "c64"], "prod": ["i64", "f64"], "mean": ["f32", "f64", "c128"], "var": ["f32", "f64"],
         "std": ["f64"], "argmax": ["i64", "u16"], "argmin": ["i8"], "count_nonzero": ["i64"], "logsumexp": ["f16", "f64", "c128"],
         "norm": ["bf16", "f32"]}
REAL_GIVEN = ("var", "norm", "argmax", "argmin", "count_nonzero")
CORRECTIONS = [1, 0.5, 3]
ORDERS = [0, 1, 2, "inf", "-inf", 3, 0.5, -1]


def wide(x):
    """Numbers in a dtype that holds what rounds in the result's, which is `float64` of integers."""
    narrow = x.dtype.itemsize <= {"f": 4, "c": 8}.get(kind(x.dtype), 0)
    return x.astype({"c": "c16" if narrow else "clongdouble"}.get(kind(x.dtype), "f8" if narrow else "longdouble"))


def finite(x):
    """The sum of the magnitudes of finite parts."""
    part = lambda part: np.nan_to_num(np.abs(part), nan=0, posinf=0)
    return part(x.real) + part(x.imag)


def logsumexp(y, every, keepdims):
    """In another way than the one measured: pair by pair, or of complex numbers as it is written."""
    if y.dtype.kind == "c":
        result = np.log(np.sum(np.exp(y), axis=every, keepdims=keepdims))
        scale = np.exp(np.log(np.sum(np.exp(y.real), axis=every, keepdims=keepdims)) - result.real)
    else:
        total = functools.reduce(lambda x, axis: np.logaddexp.reduce(x, axis, keepdims=True), every, y)
        result, scale = np.sum(total, axis=every, keepdims=keepdims), None
    if y.size and every:
        theirs = scipy.special.logsumexp(y.astype("c16" if y.dtype.kind == "c" else "f8"), axis=every, keepdims=keepdims)
        assert np.allclose(theirs, result.astype(theirs.dtype), rtol=1e-9, equal_nan=True)
    return result, np.ones_like(result, dtype="f8") if scale is None else scale


def reduced(function, x, axes, keepdims, asked, correction, order):
    """NumPy's dtype, the elements, and what bounds are multiples of."""
    every = tuple(range(x.ndim)) if axes is None else tuple(a % x.ndim for a in axes)
    if function in ("argmax", "argmin"):
        # NumPy takes one axis: several are joined.
        rest = [a for a in range(x.ndim) if a not in every]
        joined = np.transpose(x, [*rest, *sorted(every)]).reshape([x.shape[a] for a in rest] + [-1] if x.size else
                                                                  [x.shape[a] for a in rest] + [int(np.prod([x.shape[a] for a in every]))])
        result = np.asarray(getattr(np, function)(joined, -1))
        result = result.reshape([1 if a in every else n for a, n in enumerate(x.shape) if keepdims or a not in every])
        return asked or result.dtype, result, None
    along = dict(axis=every, keepdims=keepdims)
    if function == "count_nonzero":
        result = np.asarray(np.count_nonzero(x, **along))
        return asked or result.dtype, result, None
    if function == "ptp" and x.dtype == np.bool:
        # NumPy subtracts no truth values.
        return x.dtype, np.logical_xor(np.max(x, **along), np.min(x, **along)), None
    if function in (*TRUTH, "ptp"):
        result = np.asarray(getattr(np, function)(x, **along))
        return result.dtype, result, None
    moments, norms = function in ("var", "std"), function in ("norm", "vector_norm")
    if asked:
        x = x.astype(asked.type(0) + 1j if (moments or norms) and kind(x.dtype) == "c" else asked)
    y = wide(x)
    if norms:
        along["ord"] = float(order)
        out = asked or np.linalg.vector_norm(x[:0].ravel() if x.ndim else x).dtype
        result = np.asarray(np.linalg.vector_norm(y, **along))
        return out, result.astype("f8"), None
    if function == "logsumexp":
        out = asked or (x.dtype if kind(x.dtype) in "fc" else np.logaddexp(x[:0], x[:0]).dtype if x.ndim else np.logaddexp(x, x).dtype)
        result, scale = logsumexp(y, every, keepdims)
        return out, result.astype("c16" if result.dtype.kind == "c" else "f8"), scale
    more = dict(correction=correction) if moments else {}
    result = np.asarray(getattr(np, function)(y, **along, **more))
    if moments and x.dtype == BF16:
        out = asked or BF16
    else:
        measured = np.asarray(getattr(np, function)(x, **along, **more))
        out = asked or measured.dtype
        if measured.dtype.kind in "biu":
            return out, measured.astype(out) if asked else measured, None
        for of in [np.real, np.imag]:
            ours = of(measured.astype(result.dtype))
            assert function == "prod" or x.dtype == BF16 or np.allclose(ours, of(result), rtol=0.05, atol=0.3, equal_nan=True)
    scale = None
    if moments:
        count = np.prod([x.shape[a] for a in every]) - correction
        scale = np.sum(np.abs(y) ** 2, **along) / max(count, 0)
    elif function != "prod":
        scale = np.sum(finite(y), **along)
    return out, result.astype("c16" if result.dtype.kind == "c" else "f8"), scale


def row(dtype, result, scale, every=1):
    row = [SHORT[np.dtype(dtype)], text(np.ravel(result)[::every])]
    return row if scale is None else [*row, " ".join(f"{float(s):.2e}" for s in np.ravel(scale)[::every])]


def reduction(function, shape, axes, keepdims, special=False, asked=None, correction=0, order=2):
    out = {}
    for short, dtype in DTYPES.items():
        asked_dtype = asked and DTYPES[asked]
        x, = operands([shape], short, special)
        if kind(dtype) == "c" and asked and kind(DTYPES[asked]) != "c" and function not in REAL_GIVEN:
            continue
        with np.errstate(all="ignore"):
            result_dtype, result, scale = reduced(function, x, axes, keepdims, asked_dtype, correction, order)
        out[short] = row(result_dtype, result, scale)
        to = list(result.shape)
    case = {"fn": function, "in": [shape], "axes": axes, "keepdims": keepdims, "to": to, "out": out}
    more = [("special", special), ("dtype", asked), ("correction", correction), ("order", function == "vector_norm" and str(order))]
    return case | {key: value for key, value in more if value}


def reductions():
    for function in REDUCTIONS:
        for shape, axes, keepdims in AXES + ([] if function in EXTREME else NOTHING):
            # Long products leave every dtype's range.
            if function != "prod" or max(shape, default=0) < 1000:
                yield reduction(function, shape, axes, keepdims)
        for shape, axes, keepdims in SPECIAL:
            if function != "prod":
                yield reduction(function, shape, axes, keepdims, special=True)
        for asked in ASKED.get(function, []):
            yield reduction(function, [3, 5], [0], False, asked=asked)
    for function, correction in itertools.product(["var", "std"], CORRECTIONS):
        yield reduction(function, [3, 5], [0], True, correction=correction)
        yield reduction(function, [1], None, False, correction=correction)
    for order in ORDERS:
        for shape, axes, keepdims in [([], None, False), ([1], [0], True), ([3, 5], [0], False), ([2, 3, 4], [-1, 1], True),
                                      (WIDE, [1, 4, -1], False), ([1300, 2], [0], False)]:
            yield reduction("vector_norm", shape, axes, keepdims, order=order)
        if order != "-inf" and order != "inf":
            yield reduction("vector_norm", [2, 0], [1], True, order=order)
        yield reduction("vector_norm", [9, 5], [0], False, special=True, order=order)


# Shape, axis.
SCANS = [([1], 0), ([7], 0), ([0], 0), ([1, 1], 1), ([3, 5], 0), ([3, 5], -1), ([2, 3, 4], 1), ([2, 0, 3], 0), ([2, 0, 3], 1), (WIDE, 4)]
LONG = [([2, 1300], 1), ([1300, 2], 0)]
ACCUMULATED = {"cummax": np.maximum, "cummin": np.minimum}


def scanned(function, x, axis, initial, asked, n, ends, others):
    """As `reduced`."""
    if function in ACCUMULATED:
        result = ACCUMULATED[function].accumulate(x, axis)
        return result.dtype, result, None
    if function == "diff":
        result = np.diff(x, n, axis, **dict(zip(ends, others)))
        return result.dtype, result, None
    if function == "trapezoid" and others:
        x, (given,) = wide(x), others
        out = np.trapezoid(np.empty_like(x, dtype=given.dtype), given, axis=axis).dtype
        # Distances of integers wrap in their dtype.
        distances = wide(np.diff(given, axis=axis % given.ndim)) if kind(given.dtype) in "biu" else np.diff(wide(given), axis=axis % given.ndim)
        if given.ndim < x.ndim:
            distances = distances.reshape([-1] + [1] * (x.ndim - 1 - axis % x.ndim))
        ends = finite(x)
        means = lambda y: (np.take(y, range(1, y.shape[axis]), axis) + np.take(y, range(y.shape[axis] - 1), axis)) / 2
        result, scale = np.sum(distances * means(x), axis), np.sum(finite(distances) * means(ends), axis)
        return out, np.asarray(result).astype("c16" if result.dtype.kind == "c" else "f8"), scale
    if function == "trapezoid":
        y = wide(x)
        ends = finite(y)
        result, scale = np.trapezoid(y, dx=0.75, axis=axis), np.trapezoid(ends, dx=0.75, axis=axis)
        out = np.trapezoid(x, dx=0.75, axis=axis).dtype
        return out, np.asarray(result).astype("c16" if result.dtype.kind == "c" else "f8"), scale
    along = dict(axis=axis, include_initial=initial)
    if asked:
        x = x.astype(asked)
    measured = getattr(np, function)(x, dtype=asked, **along)
    if measured.dtype.kind in "biu":
        return measured.dtype, measured, None
    y = wide(x)
    result = getattr(np, function)(y, **along)
    scale = np.cumulative_sum(finite(y), **along) if function == "cumulative_sum" else None
    return measured.dtype, result.astype("c16" if result.dtype.kind == "c" else "f8"), scale


def scan(function, shape, axis, special=False, asked=None, initial=False, n=0, every=1, ends=(), others=()):
    out = {}
    for short, dtype in DTYPES.items():
        x, *more = operands([shape, *others], short, special)
        if kind(dtype) == "c" and (asked and kind(DTYPES[asked]) != "c" or special and function in ("cumulative_prod", "trapezoid")):
            # Which parts of an infinite or NaN product are NaN depends on how it is written.
            continue
        with np.errstate(all="ignore"):
            result_dtype, result, scale = scanned(function, x, axis, initial, asked and DTYPES[asked], n, ends, more)
        out[short] = row(result_dtype, result, scale, every)
        to = list(np.shape(result))
    case = {"fn": function, "in": [shape, *others], "axes": [axis], "to": to, "out": out}
    more = [("special", special), ("dtype", asked), ("initial", initial), ("n", n), ("every", every > 1 and every), ("ends", ends)]
    return case | {key: value for key, value in more if value}


def scans():
    for function in ["cumulative_sum", "cumulative_prod", "cummax", "cummin", "trapezoid"]:
        for shape, axis in SCANS:
            yield scan(function, shape, axis)
        # Long products leave every dtype's range.
        for shape, axis in LONG if function != "cumulative_prod" else []:
            yield scan(function, shape, axis, every=1 if function == "trapezoid" else 97)
        yield scan(function, [9, 5], 0, special=True)
        yield scan(function, [5, 9], -1, special=True)
    for function in ["cumulative_sum", "cumulative_prod"]:
        for shape, axis in [([7], 0), ([3, 5], 0), ([3, 5], -1), ([0], 0), ([2, 0, 3], 1), (WIDE, 4)]:
            yield scan(function, shape, axis, initial=True)
        for asked in ["i8", "i64", "bf16", "f16", "f64", "c64"]:
            yield scan(function, [3, 5], 0, asked=asked)
        yield scan(function, [3, 5], 1, asked="f64", initial=True)
    for n in [1, 2]:
        for shape, axis in SCANS:
            yield scan("diff", shape, axis, n=n)
        yield scan("diff", [9, 5], 0, special=True, n=n)
        yield scan("diff", [5, 9], -1, special=True, n=n)
        for shape, axis, ends, others in [
            ([5], 0, ["prepend"], [[2]]), ([5], 0, ["append"], [[]]), ([3, 4], 0, ["prepend", "append"], [[], [2, 4]]),
            ([3, 4], -1, ["append", "prepend"], [[3, 1], [3, 2]]), ([0], 0, ["prepend", "append"], [[], []]), (WIDE, 4, ["append"], [[]]),
        ]:
            yield scan("diff", shape, axis, n=n, ends=ends, others=others)
    for shape, axis, positions in [([5], 0, [5]), ([3, 5], 0, [3]), ([3, 5], -1, [5]), ([3, 5], 1, [3, 5]), ([2, 3, 4], 1, [3]), ([1], 0, [1]),
                                   ([2, 0], 1, [0]), ([0, 3], -1, [3]), (WIDE, 4, [3]), (WIDE, 4, WIDE), ([1300, 2], 0, [1300])]:
        yield scan("trapezoid", shape, axis, others=[positions])


def main():
    version = {"numpy": np.__version__, "scipy": scipy.__version__}
    write("reductions", version | {"cases": list(reductions())})
    write("scans", version | {"cases": list(scans())})


if __name__ == "__main__":
    main()
