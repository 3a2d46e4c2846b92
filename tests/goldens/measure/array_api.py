"""The functions of the Array API standard's core, and what NumPy's of the same names give: tests/goldens/array_api.json.

    pip install numpy==2.4.6
    python3 tests/goldens/measure/array_api.py > tests/goldens/array_api.json

The names are those of `__all__` in the standard's stubs, version 2025.12, in their groups; `linalg` has those of the core alone. Each
is called once; a result is its shape and its elements (those of complex numbers as two), or text of what is no array.
"""
import json

import numpy as np

NAMES = {
    "Elementwise": """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert bitwise_or
        bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal hypot
        imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum
        minimum multiply negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh square sqrt subtract
        tan tanh trunc""",
    "Statistical": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "Searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "Sorting": "argsort sort",
    "Sets": "isin unique_all unique_counts unique_inverse unique_values",
    "Utility": "all any diff",
    "Manipulation": """broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims repeat reshape roll squeeze
        stack tile unstack""",
    "Creation": """arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril triu zeros
        zeros_like""",
    "Data types": "astype can_cast finfo iinfo isdtype result_type",
    "Indexing": "take take_along_axis",
    "Linear algebra": "matmul matrix_transpose tensordot vecdot",
}

x = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
y = np.array([[0.5, -7.0, 1.0], [2.0, -2.5, 9.0]])
u = np.array([0.25, -0.5, 0.75])
i = np.array([[3, 1, 2], [6, 5, 4]])
v, w = np.array([4, 1, 3, 2]), np.array([1, 2, 4, 7])
d = np.array([2, 1, 2, 3])
z = np.array([1 + 2j, -0.5j])
b, c = np.array([True, False, True]), np.array([True, True, False])
a = np.arange(24).reshape(2, 3, 4)

UNARY_OF_U = "acos asin asinh atan atanh cos cosh exp expm1 log1p sin sinh tan tanh".split()
ARGUMENTS = {
    **{name: (u,) for name in UNARY_OF_U},
    **{name: (x, y) for name in "add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp maximum "
       "minimum multiply nextafter not_equal remainder subtract".split()},
    **{name: (v, w) for name in "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift pow".split()},
    **{name: (b, c) for name in "logical_and logical_or logical_xor".split()},
    **{name: (z,) for name in "conj imag real".split()},
    **{name: (x,) for name in "acosh log log2 log10 max mean min prod reciprocal sqrt square std sum var argmax argmin".split()},
    **{name: (y,) for name in "abs ceil floor isfinite isinf isnan negative positive round sign signbit trunc".split()},
    "bitwise_invert": (v,), "clip": (y, -2.0, 2.0), "logical_not": (b,), "cumulative_prod": (v,), "cumulative_sum": (v,),
    "count_nonzero": (b,), "nonzero": (b,), "searchsorted": (w, np.array([0, 2, 5, 9])), "where": (b, u, 0.0), "argsort": (v,), "sort": (v,),
    "isin": (v, w), **{name: (d,) for name in "unique_all unique_counts unique_inverse unique_values".split()},
    "all": (b,), "any": (b,), "diff": (w,), "broadcast_arrays": (v, w.reshape(4, 1)), "broadcast_shapes": ((2, 1), (3,)),
    "broadcast_to": (v, (2, 4)), "concat": ([v, w],), "expand_dims": (v, 0), "flip": (i,), "moveaxis": (a, 0, -1),
    "permute_dims": (a, (1, 2, 0)), "repeat": (v, 2), "reshape": (i, (3, 2)), "roll": (v, 1), "squeeze": (i[:1], 0), "stack": ([v, w],),
    "tile": (v, (2, 1)), "unstack": (i,), "arange": (5,), "asarray": ([1, 2, 3],), "empty": ((0, 3),), "empty_like": (np.zeros((0, 3)),), "eye": (3,),
    "from_dlpack": (v,), "full": ((2, 3), 7), "full_like": (v, 7), "linspace": (0, 1, 5), "meshgrid": (v, w), "ones": ((2, 3),),
    "ones_like": (v,), "tril": (i,), "triu": (i,), "zeros": ((2, 3),), "zeros_like": (v,), "astype": (y, np.int32),
    "can_cast": (np.int8, np.int32), "finfo": (np.float32,), "iinfo": (np.int16,), "isdtype": (np.dtype("f4"), "real floating"),
    "result_type": (np.int8, np.int16), "take": (v, np.array([3, 0])), "take_along_axis": (i, np.array([[2], [0]])), "matmul": (i, i.T),
    "matrix_transpose": (i,), "tensordot": (i, i.T, 1), "vecdot": (v, w),
}
AXES = {"take_along_axis": {"axis": 1}, "stack": {"axis": 0}, "take": {"axis": 0}, "repeat": {"axis": 0}, "flip": {"axis": 0},
        "unique_values": {"sorted": True}}


def shown(result):
    if isinstance(result, np.finfo):
        return f"{result.bits} {float(result.eps)!r}"
    if isinstance(result, np.iinfo):
        return f"{result.min} {result.max}"
    if isinstance(result, np.dtype):
        return result.name
    if isinstance(result, tuple) and all(isinstance(extent, int) for extent in result):
        return str(list(result))
    if isinstance(result, (tuple, list)):
        return " | ".join(shown(part) for part in result)
    result = np.asarray(result)
    if result.dtype.kind == "c":
        result = np.stack([result.real, result.imag], -1)
        return shown(result)
    return f"{list(result.shape)}" + "".join(f" {float(n)!r}" for n in result.ravel())


groups = {group: names.split() for group, names in NAMES.items()}
assert sum(map(len, groups.values())) == 135
made = {name: shown(getattr(np, name)(*ARGUMENTS[name], **AXES.get(name, {}))) for names in groups.values() for name in names}
# In which order the standard does not say.
made["unique_values"] = shown(np.sort(np.unique_values(*ARGUMENTS["unique_values"])))
print(json.dumps({
    "method": f"numpy {np.__version__}; names of the Array API standard 2025.12",
    "groups": groups,
    "results": made,
}, indent=0))
