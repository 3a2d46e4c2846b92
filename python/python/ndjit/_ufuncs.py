"""NumPy's universal functions on arrays of this package: `np.add(x, y)`, and operators whose left operand is NumPy's."""

import ndjit

# Functions that have another name here.
NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "bitwise_count": "bitwise_count",
    "conjugate": "conj",
    "fabs": "abs",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
}


def call(ufunc, method, inputs, kwargs):
    """The result of a universal function, or `NotImplemented`."""
    function = getattr(ndjit, NAMES.get(ufunc.__name__, ufunc.__name__), None)
    if method != "__call__" or kwargs or function is None:
        return NotImplemented
    return function(*inputs)
