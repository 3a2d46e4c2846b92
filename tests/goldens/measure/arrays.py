"""What NumPy's functions that move, join and reduce elements give: `tests/goldens/arrays/*.json`.

In `tests/goldens/arrays`: pip install numpy==2.4.6 && python ../measure/arrays.py

The same version gives the same bytes.

- `operands.json`: for each dtype the elements that operands repeat, in row-major order: the first operand of a case begins with the first,
  the next where that ended. `special` has infinities, NaN and zeros of both signs, or what makes integers wrap.
- `movement.json`: for each result its shape and where its elements come from: 1 is the first element of the operands, in order; 0 is
  zero, -1 is one. Measured with each dtype.
- `joins.json`: arrays of two dtypes after each other: `[result dtype, elements]`.
- `reductions.json`: `out[dtype]` is `[result dtype, elements, scales]`; inexact elements are computed in `longdouble` or `float64`, so
  that they are exact to far below what the result's dtype holds. Bounds of errors are multiples of `scales`: for sums and means the sum
  of magnitudes of finite parts, for variances that of squares over the divisor.

Numbers are the shortest decimals that give them back; complex ones `re:im`.
"""
import itertools
import json
import warnings

import numpy as np

warnings.simplefilter("ignore")
NAMES = {
    "bool": "bool", "i8": "int8", "u16": "uint16", "i32": "int32", "i64": "int64", "u64": "uint64", "f16": "float16",
    "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}
DTYPES = {short: np.dtype(long) for short, long in NAMES.items()}
SHORT = {dtype: short for short, dtype in DTYPES.items()} | {np.dtype("uint32"): "u32"}
# No divisor of it is a power of two, so that rows differ and lanes do.
PERIOD = 127


def elements(short, special):
    """The elements that operands of a dtype repeat."""
    dtype, n = DTYPES[short], np.arange(PERIOD)
    if dtype.kind == "b":
        return (n * 5 % 13 < (6 if special else 12)).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        small = (n * 37 + 11) % 101 - (50 if dtype.kind == "i" else 0)
        edges = [info.max, info.min, info.max - 1, info.max // 3, info.min // 5]
        values = [edges[i % 5] if special and i % 3 == 1 else int(small[i]) for i in range(PERIOD)]
        return np.array(values, dtype)
    # Odd numerators and a cubed divisor: products and sums round in every float dtype.
    real = ((n * 53 + 7) % 127 * 2 + 1 - 127) / 27.0
    imaginary = ((n * 29 + 3) % 127 * 2 + 1 - 127) / 27.0
    values = (real + 1j * imaginary if dtype.kind == "c" else real).astype(dtype)
    if special:
        parts = values.view(dtype.type(0).real.dtype)
        edges = [np.inf, 0.0, -0.0, -np.inf, 0.0, np.nan]
        for i, at in enumerate(range(4, len(parts), 9)):
            parts[at] = edges[i % 6]
    return values


def text(values):
    part = lambda x: repr(float(x)).removesuffix(".0")
    values = np.asarray(values).ravel()
    if values.dtype.kind == "c":
        return " ".join(f"{part(z.real)}:{part(z.imag)}" for z in values)
    return " ".join(str(int(x)) if values.dtype.kind in "biu" else part(x) for x in values)


def write(name, content):
    rows = ",\n".join(f"{json.dumps(key)}: " + (
        "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in value) + "\n]" if isinstance(value, list)
        else json.dumps(value)) for key, value in content.items())
    with open(f"{name}.json", "w") as file:
        file.write("{\n" + rows + "\n}\n")


def operands(shapes, short, special=False):
    """Arrays of these shapes, filled one after the other."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    all_of_them = np.resize(elements(short, special), sum(sizes))
    ends = list(itertools.accumulate(sizes, initial=0))
    return [all_of_them[a:b].reshape(shape) for a, b, shape in zip(ends, ends[1:], shapes)]


def part(given):
    """A part of a slice as two steps: the range, then the step, which counts from the range's last if negative."""
    if isinstance(given, int):
        return given
    if isinstance(given, list):
        return slice(given[0], given[1])
    return {"new": None, "rest": Ellipsis}[given]


def sliced(x, parts):
    ranges = x[tuple(part(p) for p in parts)]
    steps = [slice(None, None, p[2]) if isinstance(p, list) else Ellipsis if p == "rest" else slice(None)
             for p in parts if not isinstance(p, int)]
    return ranges[tuple(steps)]


# How NumPy spells each function: the operands, then the arguments.
MOVES = {
    "reshape": lambda xs, to: [np.reshape(xs[0], to)],
    "permute_dims": lambda xs, axes: [np.permute_dims(xs[0], axes)],
    "moveaxis": lambda xs, a, b: [np.moveaxis(xs[0], a, b)],
    "matrix_transpose": lambda xs: [np.matrix_transpose(xs[0])],
    "swapaxes": lambda xs, a, b: [np.swapaxes(xs[0], a, b)],
    "expand_dims": lambda xs, axes: [np.expand_dims(xs[0], tuple(axes))],
    "squeeze": lambda xs, axes: [np.squeeze(xs[0], tuple(axes))],
    "flip": lambda xs, axes: [np.flip(xs[0], tuple(axes))],
    "broadcast_to": lambda xs, to: [np.broadcast_to(xs[0], to)],
    "broadcast_arrays": lambda xs: np.broadcast_arrays(*xs),
    "slice": lambda xs, parts: [sliced(xs[0], parts)],
    "diagonal": lambda xs, offset, axes: [np.diagonal(xs[0], offset, *axes)],
    "sliding_window": lambda xs, e, axes: [np.lib.stride_tricks.sliding_window_view(xs[0], tuple(e), tuple(axes))],
    "unstack": lambda xs, axis: np.unstack(xs[0], axis=axis),
    "concat": lambda xs, axis: [np.concat(xs, axis)],
    "stack": lambda xs, axis: [np.stack(xs, axis)],
    "tile": lambda xs, times: [np.tile(xs[0], times)],
    "repeat": lambda xs, times, axis: [np.repeat(xs[0], times, axis)],
    "roll": lambda xs, shifts, axes: [np.roll(xs[0], tuple(shifts), tuple(axes))],
    "pad": lambda xs, widths, mode: [padded(xs[0], widths, mode)],
    "tril": lambda xs, k: [np.tril(xs[0], k)],
    "triu": lambda xs, k: [np.triu(xs[0], k)],
}
ONE = -1


def padded(x, widths, mode):
    all_widths = widths + [[0, 0]] * (x.ndim - len(widths))
    if x.ndim == 0:
        return x
    if mode == "constant":
        return np.pad(x, all_widths, mode, constant_values=ONE if x.dtype == np.int16 else 1)
    # NumPy takes no extent of 0 to be padded by 0 in these modes.
    return np.pad(x, all_widths, mode) if x.size else x


WIDE = [2, 1, 2, 1, 3, 1, 2, 2]
CASES = {
    "reshape": [([[]], [[]]), ([[]], [[1, 1]]), ([[1]], [[]]), ([[0]], [[3, 0]]), ([[2, 6]], [[-1, 4]]), ([[2, 6]], [[12]]),
                ([[3, 4]], [[2, 2, 3]]), ([[2, 3, 4]], [[4, 6]]), ([[2, 3, 4]], [[6, -1]]), ([WIDE], [[4, 12]]),
                ([[48]], [WIDE]), ([[5, 1]], [[1, 5, 1]])],
    "permute_dims": [([[]], [[]]), ([[3]], [[0]]), ([[2, 3]], [[1, 0]]), ([[2, 3, 4]], [[2, 0, 1]]),
                     ([[2, 3, 4]], [[-1, 1, 0]]), ([[2, 0, 4]], [[1, 2, 0]]), ([WIDE], [[7, 0, 6, 1, 5, 2, 4, 3]])],
    "moveaxis": [([[2, 3]], [[0], [-1]]), ([[2, 3, 4]], [[0, 1], [2, 0]]), ([[2, 3, 4]], [[], []]), ([WIDE], [[-1, 0], [1, -2]])],
    "matrix_transpose": [([[2, 3]], []), ([[1, 5]], []), ([[0, 3]], []), ([[2, 3, 4]], []), ([WIDE], [])],
    "swapaxes": [([[3]], [0, 0]), ([[2, 3, 4]], [0, -1]), ([[2, 1, 0]], [1, 2]), ([WIDE], [4, 7])],
    "expand_dims": [([[]], [[0]]), ([[3]], [[0, -1]]), ([[2, 3]], [[1]]), ([[2, 3]], [[0, 2, 4]]), ([[0]], [[1]]), ([[2, 3]], [[]])],
    "squeeze": [([[1]], [[0]]), ([[1, 3, 1]], [[0]]), ([[1, 3, 1]], [[0, -1]]), ([WIDE], [[1, 3, -3]]), ([[1, 0]], [[0]])],
    "flip": [([[]], [[]]), ([[1]], [[0]]), ([[9]], [[0]]), ([[0, 2]], [[0, 1]]), ([[2, 3, 4]], [[1]]), ([[2, 3, 4]], [[0, -1]]),
             ([WIDE], [[0, 4, 7]])],
    "broadcast_to": [([[]], [[]]), ([[]], [[2, 3]]), ([[1]], [[4]]), ([[1]], [[0]]), ([[3, 1]], [[2, 3, 4]]), ([[2, 1, 3]], [[2, 2, 3]]),
                     ([[3, 1, 1]], [[2, 1, 2, 1, 3, 1, 2]]), ([[0]], [[2, 0]])],
    "broadcast_arrays": [([[], [3]], []), ([[2, 1], [1, 3], [3]], []), ([[1], [0]], []), ([WIDE, [3, 1, 1, 2]], [])],
    "slice": [([[9]], [[[None, None, 1]]]), ([[9]], [[[None, None, 2]]]), ([[9]], [[[None, None, -2]]]), ([[9]], [[[2, 7, 3]]]),
              ([[9]], [[[2, 8, -3]]]), ([[9]], [[[-4, -1, 1]]]), ([[9]], [[[-4, None, -1]]]), ([[9]], [[[5, 2, 1]]]),
              ([[9]], [[[9, 9, -1]]]), ([[9]], [[[None, None, 100]]]), ([[9]], [[-1]]), ([[3, 4]], [[1]]), ([[3, 4]], [["rest", -2]]),
              ([[3, 4]], [["new", [1, None, 1], "new", 0, "new"]]), ([[3, 4, 5]], [[-1, "rest", [None, None, -2]]]),
              ([[3, 4, 5]], [[[None, None, 2], [1, -1, 1], [None, 4, -3]]]), ([[0, 3]], [[[0, 0, -1], 2]]), ([[]], [["rest", "new"]]),
              ([WIDE], [[1, "rest", [None, None, -1], 0]])],
    "diagonal": [([[3, 3]], [0, [0, 1]]), ([[3, 5]], [1, [0, 1]]), ([[3, 5]], [-2, [0, 1]]), ([[3, 5]], [7, [0, 1]]),
                 ([[3, 5]], [1, [1, 0]]), ([[2, 3, 4]], [0, [-2, -1]]), ([[2, 3, 4]], [1, [2, 0]]), ([[0, 3]], [0, [0, 1]]),
                 ([[1, 1]], [0, [0, 1]]), ([WIDE], [1, [4, 7]])],
    "sliding_window": [([[7]], [[3], [0]]), ([[7]], [[7], [0]]), ([[7]], [[1], [0]]), ([[3, 5]], [[2, 3], [0, 1]]), ([[3, 5]], [[3, 2], [1, 0]]),
                       ([[3, 5]], [[4], [-1]]), ([[0, 5]], [[2], [1]]), ([WIDE], [[2, 2], [4, -1]])],
    "unstack": [([[3]], [0]), ([[2, 3]], [1]), ([[2, 3, 4]], [-1]), ([[0, 3]], [0]), ([[1, 3]], [0]), ([WIDE], [4])],
    "concat": [([[2], [3]], [0]), ([[2, 3]], [1]), ([[2, 3], [4, 3]], [0]), ([[2, 3], [2, 1], [2, 2]], [-1]), ([[0], [3], [0]], [0]),
               ([[0, 3], [0, 2]], [1]), ([WIDE, WIDE], [4]), ([[2, 1, 3], [2, 4, 3]], [1])],
    "stack": [([[], []], [0]), ([[3], [3]], [0]), ([[3], [3]], [-1]), ([[2, 3], [2, 3], [2, 3]], [1]), ([[0, 2], [0, 2]], [0]), ([[2, 3]], [2])],
    "tile": [([[]], [[2, 3]]), ([[3]], [[2]]), ([[3]], [[2, 2]]), ([[2, 3]], [[2]]), ([[2, 3]], [[2, 1, 2]]), ([[2, 3]], [[0]]), ([[2, 3]], [[]]),
             ([[0]], [[3]]), ([WIDE], [[2, 1, 1, 2]])],
    "repeat": [([[3]], [2, 0]), ([[3]], [0, 0]), ([[2, 3]], [3, 0]), ([[2, 3]], [3, -1]), ([[0, 2]], [2, 0]), ([[1]], [5, 0]), ([WIDE], [2, 4])],
    "roll": [([[5]], [[2], [0]]), ([[5]], [[-7], [0]]), ([[5]], [[10], [0]]), ([[3, 4]], [[1, 2], [0, 1]]), ([[3, 4]], [[1, 1], [0, 0]]),
             ([[0]], [[3], [0]]), ([[3, 4]], [[], []]), ([WIDE], [[1, 1], [4, -1]])],
    "pad": [([shape], [widths, mode]) for mode in ["constant", "edge", "reflect", "symmetric", "wrap"] for shape, widths in
            [([4], [[2, 1]]), ([4], [[0, 3]]), ([3, 4], [[1, 2], [2, 1]]), ([3, 4], [[2, 0]]), ([2, 3, 2], [[0, 0], [1, 1], [1, 1]]),
             ([3, 1, 2], [[0, 1], [0, 0], [1, 0]]), ([4], []), (WIDE, [[0, 0], [0, 0], [0, 0], [0, 0], [1, 1]])]]
           + [([[]], [[], "constant"]), ([[0, 2]], [[[1, 1], [1, 0]], "constant"]), ([[1]], [[[2, 3]], "edge"])],
    "tril": [([[3, 3]], [0]), ([[3, 5]], [1]), ([[3, 5]], [-2]), ([[3, 5]], [9]), ([[3, 5]], [-9]), ([[0, 3]], [0]), ([[2, 3, 2]], [0]), ([WIDE], [-1])],
    "triu": [([[3, 3]], [0]), ([[3, 5]], [1]), ([[3, 5]], [-2]), ([[3, 5]], [9]), ([[3, 5]], [-9]), ([[0, 3]], [0]), ([[2, 3, 2]], [0]), ([WIDE], [-1])],
}


def movement(function, shapes, arguments):
    sizes = [int(np.prod(shape)) for shape in shapes]
    starts = [1, *itertools.accumulate(sizes, initial=1)][1:]
    labels = [np.arange(at, at + size, dtype=np.int16).reshape(shape) for at, size, shape in zip(starts, sizes, shapes)]
    results = MOVES[function](labels, *arguments)
    for short, dtype in DTYPES.items():
        xs = operands(shapes, short, True)
        source = np.concatenate([np.zeros(1, dtype), *[x.ravel() for x in xs], np.ones(1, dtype)])
        for got, result in zip(MOVES[function](xs, *arguments), results, strict=True):
            assert got.dtype == dtype and got.tobytes() == source[result].tobytes(), (function, shapes, arguments, short)
    return {"fn": function, "in": shapes, "args": arguments, "out": [[list(r.shape), text(r)] for r in results]}


def join(left, right):
    shapes = [[3], [2]]
    xs = [operands(shapes, left)[0], operands(shapes, right)[1]]
    result = np.concat(xs)
    return {"fn": "concat", "in": shapes, "dtypes": [left, right], "args": [0], "out": [SHORT[result.dtype], text(result)]}


# Shape, axes (None for all), keepdims.
AXES = [
    ([], None, False), ([1], [0], False), ([7], None, True), ([1, 1], [1], False), ([3, 5], [0], False), ([3, 5], [-1], True),
    ([2, 3, 4], [0, 2], False), ([2, 3, 4], [-1, 1], True), ([2, 3], [], False), ([2, 0, 3], [0], False), (WIDE, [1, 4, -1], False),
    ([2, 1300], [1], False), ([1300, 2], [0], False),
]
NOTHING = [([0], None, False), ([2, 0], [1], True)]
SPECIAL = [([127], None, False), ([9, 5], [0], False), ([5, 9], [-1], False)]
REDUCTIONS = ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "count_nonzero"]
ASKED = {"sum": ["i8", "i64", "f16", "f64", "c64"], "prod": ["i64", "f64"], "mean": ["f32", "f64", "c128"], "var": ["f32", "f64"],
         "std": ["f64"], "argmax": ["i64", "u16"], "argmin": ["i8"], "count_nonzero": ["i64"]}
CORRECTIONS = [1, 0.5, 3]


def wide(x):
    """Numbers in a dtype that holds what rounds in the result's, which is `float64` of integers."""
    narrow = x.dtype.itemsize <= {"f": 4, "c": 8}.get(x.dtype.kind, 0)
    return x.astype({"c": "c16" if narrow else "clongdouble"}.get(x.dtype.kind, "f8" if narrow else "longdouble"))


def reduced(function, x, axes, keepdims, asked, correction):
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
    if function in ("max", "min", "any", "all"):
        result = np.asarray(getattr(np, function)(x, **along))
        return result.dtype, result, None
    moments = function in ("var", "std")
    more = dict(correction=correction) if moments else {}
    if asked:
        x = x.astype(asked.type(0) + 1j if moments and x.dtype.kind == "c" else asked)
    measured = np.asarray(getattr(np, function)(x, **along, **more))
    out = asked or measured.dtype
    if measured.dtype.kind in "biu":
        return out, measured.astype(out) if asked else measured, None
    y = wide(x)
    result = np.asarray(getattr(np, function)(y, **along, **more))
    for of in [np.real, np.imag]:
        assert function == "prod" or np.allclose(of(measured), of(result), rtol=0.05, atol=0.3, equal_nan=True)
    scale = None
    if moments:
        count = np.prod([x.shape[a] for a in every]) - correction
        scale = np.sum(np.abs(y) ** 2, **along) / max(count, 0)
    elif function != "prod":
        finite = lambda part: np.nan_to_num(np.abs(part), nan=0, posinf=0)
        scale = np.sum(finite(y.real) + finite(y.imag), **along)
    return out, result.astype("c16" if result.dtype.kind == "c" else "f8"), scale


def reduction(function, shape, axes, keepdims, special=False, asked=None, correction=0):
    out = {}
    for short, dtype in DTYPES.items():
        asked_dtype = asked and DTYPES[asked]
        x, = operands([shape], short, special)
        if dtype.kind == "c" and asked and DTYPES[asked].kind != "c" and function not in ("var", "argmax", "argmin", "count_nonzero"):
            continue
        with np.errstate(all="ignore"):
            result_dtype, result, scale = reduced(function, x, axes, keepdims, asked_dtype, correction)
        row = [SHORT[np.dtype(result_dtype)], text(result)]
        if scale is not None:
            row.append(" ".join(f"{float(s):.2e}" for s in np.ravel(scale)))
        out[short] = row
        to = list(result.shape)
    case = {"fn": function, "in": [shape], "axes": axes, "keepdims": keepdims, "to": to, "out": out}
    return case | {key: value for key, value in [("special", special), ("dtype", asked), ("correction", correction)] if value}


def reductions():
    for function in REDUCTIONS:
        needs_elements = function in ("max", "min", "argmax", "argmin")
        for shape, axes, keepdims in AXES + ([] if needs_elements else NOTHING):
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


def main():
    version = {"numpy": np.__version__}
    write("operands", version | {name: {short: text(elements(short, special)) for short in DTYPES}
                                 for name, special in [("plain", False), ("special", True)]})
    write("movement", version | {"cases": [movement(f, *case) for f, cases in CASES.items() for case in cases]})
    write("joins", version | {"cases": [join(a, b) for a, b in itertools.product(DTYPES, repeat=2)]})
    write("reductions", version | {"cases": list(reductions())})


main()
