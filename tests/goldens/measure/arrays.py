"""What NumPy's functions that move and join elements give: `operands.json`, `movement.json` and `joins.json` of
`tests/goldens/arrays`; `reductions.py` writes the others.

In `tests/goldens/arrays`: pip install numpy==2.4.6 ml_dtypes==0.6.0 scipy==1.17.1, then python ../measure/arrays.py and
python ../measure/reductions.py

The same versions give the same bytes.

- `operands.json`: for each dtype the elements that operands repeat, in row-major order: the first operand of a case begins with the first,
  the next where that ended. `special` has infinities, NaN and zeros of both signs, or what makes integers wrap.
- `movement.json`: for each result its shape and where its elements come from: 1 is the first element of the operands, in order; 0 is
  zero, -1 is one. Measured with each dtype.
- `joins.json`: arrays of two dtypes after each other: `[result dtype, elements]`. Pairs that NumPy does not join are left out.

Numbers are the shortest decimals that give them back; complex ones `re:im`.
"""
import itertools
import json
import warnings

import ml_dtypes
import numpy as np

warnings.simplefilter("ignore")
NAMES = {
    "bool": "bool", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "i8": "int8", "i16": "int16",
    "i32": "int32", "i64": "int64", "bf16": ml_dtypes.bfloat16, "f16": "float16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128",
}
DTYPES = {short: np.dtype(long) for short, long in NAMES.items()}
SHORT = {dtype: short for short, dtype in DTYPES.items()}
# No divisor of it is a power of two, so that rows differ and lanes do.
PERIOD = 127


def kind(dtype):
    """NumPy's letter for the kind, which has none for bf16."""
    return "f" if dtype == ml_dtypes.bfloat16 else dtype.kind


def elements(short, special):
    """The elements that operands of a dtype repeat."""
    dtype, n = DTYPES[short], np.arange(PERIOD)
    if kind(dtype) == "b":
        return (n * 5 % 13 < (6 if special else 12)).astype(dtype)
    if kind(dtype) in "iu":
        info = np.iinfo(dtype)
        small = (n * 37 + 11) % 101 - (50 if kind(dtype) == "i" else 0)
        edges = [info.max, info.min, info.max - 1, info.max // 3, info.min // 5]
        values = [edges[i % 5] if special and i % 3 == 1 else int(small[i]) for i in range(PERIOD)]
        return np.array(values, dtype)
    # Odd numerators and a cubed divisor: products and sums round in every float dtype.
    real = ((n * 53 + 7) % 127 * 2 + 1 - 127) / 27.0
    imaginary = ((n * 29 + 3) % 127 * 2 + 1 - 127) / 27.0
    values = (real + 1j * imaginary if kind(dtype) == "c" else real).astype(dtype)
    if special:
        parts = values.view(dtype.type(0).real.dtype) if kind(dtype) == "c" else values
        edges = [np.inf, 0.0, -0.0, -np.inf, 0.0, np.nan]
        for i, at in enumerate(range(4, len(parts), 9)):
            parts[at] = edges[i % 6]
    return values


def text(values):
    part = lambda x: repr(float(x)).removesuffix(".0")
    values = np.asarray(values).ravel()
    if kind(values.dtype) == "c":
        return " ".join(f"{part(z.real)}:{part(z.imag)}" for z in values)
    return " ".join(str(int(x)) if kind(values.dtype) in "biu" else part(x) for x in values)


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
    "repeat": lambda xs, times, axis: [np.repeat(xs[0], np.array(times, int), axis)],
    "roll": lambda xs, shifts, axes: [np.roll(xs[0], tuple(shifts), tuple(axes))],
    "pad": lambda xs, widths, mode: [padded(xs[0], widths, mode)],
    "tril": lambda xs, k: [np.tril(xs[0], k)],
    "triu": lambda xs, k: [np.triu(xs[0], k)],
}
ONE = -1


class Labels(np.ndarray):
    """Where elements come from, told from elements of the same dtype."""


def padded(x, widths, mode):
    all_widths = widths + [[0, 0]] * (x.ndim - len(widths))
    if x.ndim == 0:
        return x
    if mode == "constant":
        return np.pad(x, all_widths, mode, constant_values=ONE if isinstance(x, Labels) else 1)
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
    "repeat": [([[3]], [2, 0]), ([[3]], [0, 0]), ([[2, 3]], [3, 0]), ([[2, 3]], [3, -1]), ([[0, 2]], [2, 0]), ([[1]], [5, 0]), ([WIDE], [2, 4]),
               ([[3]], [[1, 0, 2], 0]), ([[2, 3]], [[2, 2, 3], -1]), ([[6, 2]], [[0, 2, 2, 1, 1, 0], 0]), ([[2, 3]], [[2], 0]),
               ([[4]], [[0, 0, 0, 0], 0]), ([[0, 2]], [[], 0]), ([[3, 0]], [[1, 0, 2], 0]), ([WIDE], [[1, 2, 0], 4])],
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
    labels = [np.arange(at, at + size).reshape(shape).view(Labels) for at, size, shape in zip(starts, sizes, shapes)]
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
    try:
        result = np.concat(xs)
    except TypeError:
        return None
    return {"fn": "concat", "in": shapes, "dtypes": [left, right], "args": [0], "out": [SHORT[result.dtype], text(result)]}


def main():
    version = {"numpy": np.__version__}
    write("operands", version | {name: {short: text(elements(short, special)) for short in DTYPES}
                                 for name, special in [("plain", False), ("special", True)]})
    write("movement", version | {"cases": [movement(f, *case) for f, cases in CASES.items() for case in cases]})
    write("joins", version | {"cases": [case for a, b in itertools.product(DTYPES, repeat=2) if (case := join(a, b))]})


if __name__ == "__main__":
    main()
