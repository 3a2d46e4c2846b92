"""What NumPy's functions that multiply arrays and sum products give: `contractions.json` of `tests/goldens/arrays`. Run after `arrays.py`, whose
opening says how.

`out[dtype]` is `[result dtype, elements, scales]`, as in `reductions.json`: inexact elements are computed in `longdouble` or `float64`, and
`scales` are the sums of the products' magnitudes. `count` products make an element. `dtypes` are those of a case of several. With `every`, only
every so many elements of the flattened result stand in the file.
"""
import numpy as np
from arrays import DTYPES, SHORT, kind, operands, write
from reductions import BF16, finite, row, wide

FUNCTIONS = {
    "matmul": lambda xs, case: np.matmul(*xs),
    "vecdot": lambda xs, case: np.vecdot(*xs, axis=case["axes"][0]),
    "tensordot": lambda xs, case: np.tensordot(*xs, case["pairs"]),
    "outer": lambda xs, case: np.outer(*xs),
    "kron": lambda xs, case: np.kron(*xs),
    "trace": lambda xs, case: np.trace(xs[0], case["n"], *case["axes"]),
    "einsum": lambda xs, case: np.einsum(case["subscripts"], *xs, optimize=False),
}
MATMUL = [
    ([7], [7]), ([3, 5], [5]), ([5], [5, 3]), ([3, 5], [5, 4]), ([1, 1], [1, 1]), ([0, 3], [3, 2]), ([2, 0], [0, 3]), ([2, 3, 4], [4, 2]),
    ([3, 4], [2, 4, 2]), ([2, 1, 3, 4], [5, 4, 2]), ([3], [2, 3, 2]), ([2, 2, 3], [3]), ([1, 9], [9, 1]), ([9, 1], [1, 9]), ([0, 3, 2], [2, 4]),
]
LARGE = [([3, 1300], [1300, 2], 1), ([17, 33], [33, 19], 7), ([2, 40, 50], [50, 30], 97)]
VECDOT = [([7], [7], 0), ([3, 5], [5], -1), ([2, 3, 5], [3, 5], -1), ([3, 5], [3, 1], 0), ([0], [0], 0), ([4, 0], [0], -1), ([2, 3, 4], [2, 3, 4], 1)]
TENSORDOT = [
    ([2, 3, 4], [4, 3], 1), ([2, 3, 4], [3, 4, 2], 2), ([2, 3], [4], 0), ([2, 3, 4], [4, 3], [[1, 2], [1, 0]]), ([2, 3], [2, 3], [[0], [0]]),
    ([2, 3], [2, 3], [[-1, 0], [1, 0]]), ([2, 0], [0, 3], 1), ([2, 3], [4], [[], []]),
]
OUTER = [([3], [4]), ([2, 2], [3]), ([0], [3]), ([], [3])]
KRON = [([2], [3]), ([2, 3], [2, 2]), ([2, 2], [3]), ([2, 1, 2], [2, 3]), ([], [2, 2]), ([0, 2], [3])]
TRACE = [([4, 4], 0, [0, 1]), ([3, 5], 1, [-2, -1]), ([2, 3, 3], -1, [1, 2]), ([3, 2, 4], 2, [2, 0]), ([2, 2], 7, [0, 1])]
EINSUM = [
    ("ij,jk->ik", [3, 5], [5, 4]), ("ij,jk", [3, 5], [5, 4]), ("ij,jk->ki", [3, 5], [5, 4]), ("ii", [4, 4]), ("ii->i", [4, 4]), ("ij->j", [3, 5]),
    ("ba", [2, 3]), ("i,i", [7], [7]), ("i,j->ji", [3], [4]), ("ij,ij->ij", [2, 3], [2, 3]), ("ij,ij->i", [2, 3], [2, 3]),
    ("...ij,...jk->...ik", [2, 1, 3, 4], [5, 4, 2]), ("...i->...", [2, 3]), ("i...->...", [2, 3]), ("i...,j...->...ij", [2, 3], [4, 3]),
    ("bij,bjk->bik", [2, 3, 4], [2, 4, 2]), ("iij->ij", [3, 3, 2]), ("iij,jk->ik", [3, 3, 2], [2, 4]), ("iii->", [3, 3, 3]),
    ("ij,kl->", [2, 3], [3, 2]), ("ij,k->i", [2, 3], [4]), (",->", [], []), (",ij->ji", [], [2, 3]), ("->", []), ("aB,Bc", [2, 3], [3, 2]),
    ("ij,jk->ik", [3, 1], [5, 4]), ("ij,j->", [0, 3], [3]), ("ij,jk,kl->il", [2, 3], [3, 4], [4, 2]), ("ij,ik,il->jkl", [5, 2], [5, 3], [5, 2]),
    ("i,i,i->", [9], [9], [9]), ("ij,jk,ki", [2, 3], [3, 4], [4, 2]), ("ab,b...,...->a...", [2, 3], [3, 4], [4]),
    ("ij,jk,kl,lm->im", [2, 3], [3, 4], [4, 3], [3, 2]), ("b i j , b j -> b i", [2, 3, 4], [2, 4]), ("...,...->...", [2, 1, 3], [4, 1]),
]
MIXED = [["i8", "f32"], ["u8", "i8"], ["f32", "c64"], ["bool", "i16"], ["f16", "f32"], ["f64", "f32"], ["c64", "f64"], ["u16", "u8"]]


def product(case, shorts):
    """The row of a case on operands of these dtypes."""
    function = FUNCTIONS[case["fn"]]
    xs = []
    begin = 0
    for shape, short in zip(case["in"], shorts):
        size = int(np.prod(shape))
        xs.append(operands([[begin], shape], short)[1])
        begin += size
    every = case.get("every", 1)
    dtypes = {x.dtype for x in xs}
    out = BF16 if dtypes == {BF16} else None
    if out is None:
        measured = np.asarray(function(xs, case))
        out, to = measured.dtype, list(measured.shape)
        if kind(out) in "biu":
            return row(out, measured, None, every), to
    with np.errstate(all="ignore"):
        result = np.asarray(function([wide(x) if kind(x.dtype) in "fc" else x.astype("longdouble") for x in xs], case))
        scale = np.asarray(function([np.atleast_1d(finite(wide(x))).reshape(x.shape).astype("f8") for x in xs], case))
    assert result.shape == scale.shape
    return row(out, result.astype("c16" if result.dtype.kind == "c" else "f8"), scale, every), list(result.shape)


def case(function, shapes, dtypes=None, **more):
    made = {"fn": function, "in": list(shapes)} | more
    if dtypes:
        out, to = product(made, dtypes)
        return made | {"dtypes": dtypes, "to": to, "out": out}
    out = {}
    for short in DTYPES:
        out[short], to = product(made, [short] * len(shapes))
    return made | {"to": to, "out": out}


def contractions():
    for x, y in MATMUL:
        yield case("matmul", [x, y], count=x[-1])
    for x, y, every in LARGE:
        yield case("matmul", [x, y], count=x[-1], every=every)
    for dtypes in MIXED:
        yield case("matmul", [[3, 5], [5, 4]], dtypes, count=5)
        yield case("einsum", [[3, 5], [5, 4]], dtypes, count=5, subscripts="ij,jk")
        yield case("outer", [[3], [4]], dtypes, count=1)
        yield case("vecdot", [[3, 5], [3, 5]], dtypes, count=5, axes=[-1])
    for x, y, axis in VECDOT:
        if x[axis] == y[axis]:
            yield case("vecdot", [x, y], count=x[axis], axes=[axis])
    for x, y, pairs in TENSORDOT:
        yield case("tensordot", [x, y], count=int(np.prod(x)), pairs=pairs)
    for x, y in OUTER:
        yield case("outer", [x, y], count=1)
    for x, y in KRON:
        yield case("kron", [x, y], count=1)
    for x, offset, axes in TRACE:
        yield case("trace", [x], count=max(x), n=offset, axes=axes)
    for subscripts, *shapes in EINSUM:
        yield case("einsum", shapes, count=int(max([np.prod(shape) for shape in shapes])), subscripts=subscripts)


if __name__ == "__main__":
    write("contractions", {"numpy": np.__version__, "cases": list(contractions())})
