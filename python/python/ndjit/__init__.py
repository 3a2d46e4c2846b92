"""Arrays whose operations are compiled: lazy, fused, with explained dtypes and the same bits on any number of threads.

The namespace is that of the Array API standard, with more functions of the engine. Numbers without a dtype are 32 bits wide
(`ndjit.asarray(1.5)` is float32), as in JAX; `ndjit.set_policy("numpy2")` chooses NumPy's promotion and 64 bits.
"""

from math import e, inf, nan, pi

from . import tree
from ._control import *
from ._doctor import doctor
from ._errors import *
from ._info import __array_namespace_info__
from ._jit import Jitted, jit
from ._namespace import *
from ._ndjit import (
    Array,
    Compiled,
    DType,
    FunctionStats,
    KernelStats,
    Lowered,
    __version__,
    arange,
    asarray,
    astype,
    bfloat16,
    bool,
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    can_cast,
    clip,
    complex64,
    complex128,
    concat,
    default_dtypes,
    diff,
    empty,
    empty_like,
    expand_dims,
    eye,
    finfo,
    flip,
    float16,
    float32,
    float64,
    from_dlpack,
    full,
    full_like,
    get_policy,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    isin,
    linspace,
    matmul,
    matrix_transpose,
    meshgrid,
    moveaxis,
    nonzero,
    ones,
    ones_like,
    permute_dims,
    policy,
    repeat,
    reshape,
    result_type,
    roll,
    searchsorted,
    set_defaults,
    set_policy,
    squeeze,
    stack,
    take,
    take_along_axis,
    tensordot,
    tile,
    tril,
    triu,
    uint8,
    uint16,
    uint32,
    uint64,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    unstack,
    vecdot,
    zeros,
    zeros_like,
)
from ._transforms import *

newaxis = None

# The versions of the Array API that `x.__array_namespace__` gives this module for.
_API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
__array_api_version__ = _API_VERSIONS[-1]
