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
    "bitwise_count": "popcount",
    "conjugate": "conj",
    "fabs": "abs",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
}


# Methods of universal functions that are functions here.
REDUCTIONS = {
    ("add", "reduce"): "sum",
    ("add", "accumulate"): "cumulative_sum",
    ("multiply", "reduce"): "prod",
    ("multiply", "accumulate"): "cumulative_prod",
    ("maximum", "reduce"): "max",
    ("maximum", "accumulate"): "cummax",
    ("minimum", "reduce"): "min",
    ("minimum", "accumulate"): "cummin",
    ("logical_and", "reduce"): "all",
    ("logical_or", "reduce"): "any",
}


def call(ufunc, method, inputs, kwargs):
    """The result of a universal function. What is not of this package is an exception with a way out."""
    name = NAMES.get(ufunc.__name__, ufunc.__name__)
    function = getattr(ndjit, name, None)
    others = (*inputs, *(kwargs or {}).get("out", ()))
    if any(hasattr(x, "__array_ufunc__") and not isinstance(x, ndjit.Array) and type(x).__module__ != "numpy" for x in others):
        # Another class may know.
        return NotImplemented
    if function is None:
        raise TypeError(f"numpy.{ufunc.__name__} has no counterpart in ndjit; `numpy.asarray(x)` is an array for NumPy's function")
    if method != "__call__":
        instead = REDUCTIONS.get((ufunc.__name__, method))
        instead = f"`ndjit.{instead}(x, axis=0)`, or " if instead else ""
        raise TypeError(f"numpy.{ufunc.__name__}.{method} of ndjit's arrays: take {instead}`numpy.{ufunc.__name__}.{method}(numpy.asarray(x))`")
    if kwargs:
        given = ", ".join(f"{key}=" for key in kwargs)
        raise TypeError(f"numpy.{ufunc.__name__} of ndjit's arrays takes no {given}: `ndjit.{name}` gives a new array, and `numpy.asarray(x)` one for NumPy")
    return function(*inputs)
