"""Writes values/special_unary.json and values/special_pairs.json: NumPy's and JAX's results where parts are zeros, infinities, NaN, the largest
and the least numbers, for the functions whose rules (tests/values/rules.rs) the other files do not try. numpy 2.4.6, jax 0.10.2 on the CPU.

    JAX_ENABLE_X64=1 python3 special_operands.py ../values
"""

import itertools
import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

DTYPES = {"bool": np.bool_, "i8": np.int8, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
NAMES = {"acos": "arccos", "pow": "power"}
# What NumPy lacks.
JAX = {"rsqrt": lax.rsqrt, "sigmoid": jax.nn.sigmoid, "lgamma": lax.lgamma}
UNARY = {"sign": "c64 c128 bf16", "square": "c64 c128", "reciprocal": "c64 c128", "acos": "c64 c128", "sin": "c64 c128", "sinh": "c64 c128 i8",
         "cosh": "c64 c128 i8", "exp": "c64 c128 i8", "exp2": "c64 c128 i8", "expm1": "c64 c128", "log1p": "c64 c128", "round": "bool",
         "rsqrt": "bf16 f64 c64 c128", "sigmoid": "f32 f64 c64 c128", "lgamma": "f32 f64", "tanh": "i8"}
PAIRS = {"divide": "c64 c128", "multiply": "c64 c128", "pow": "c64 c128", "logaddexp": "f32 f64 i8", "logaddexp2": "f32 f64 i8",
         "floor_divide": "bool", "fmod": "bool"}


def tokens(x):
    parts = np.stack([x.real, x.imag], 1) if x.dtype.kind == "c" else x.reshape(-1, 1)
    if x.dtype == np.bool_:
        return " ".join(str(int(element)) for element in x)
    nan = np.isnan(parts.astype("f8"))
    words = np.ascontiguousarray(parts).view(f"u{parts.itemsize}").copy()
    if nan.any():
        words[nan] = np.array([np.nan], parts.dtype).view(words.dtype)
    return " ".join(":".join(f"{int(word):0{2 * parts.itemsize}x}" for word in row) for row in words)


def special(name):
    dtype = np.dtype(DTYPES[name])
    if name == "bool":
        return np.array([False, True])
    if name == "i8":
        return np.arange(-128, 128).astype(dtype)
    info = ml_dtypes.finfo(dtype)
    parts = [0.0, 1, 2.5, float(info.max), float(info.tiny), float(info.smallest_subnormal), np.inf]
    parts += [float(info.tiny) ** 0.5] if dtype.kind == "c" else [1 + float(info.eps), 1 - float(info.eps) / 2, 2 + 2 * float(info.eps), 7, 95, 740]
    parts = [np.nan, *(sign * part for part in parts for sign in (1, -1))]
    if dtype.kind == "c":
        return np.array([complex(*pair) for pair in itertools.product(parts, parts)]).astype(dtype)
    return np.array(parts).astype(dtype)


def measured(function, name, operands):
    case = {"fn": function, "in": name}
    names = {**DTYPES, "f16": np.float16, "i32": np.int32}
    name_of = lambda x: next(n for n, d in names.items() if x.dtype == d)
    if function not in JAX:
        numpy = getattr(np, NAMES.get(function, function))(*operands)
        case |= {"out": name_of(numpy), "numpy": tokens(numpy)}
    if function == "round" and name == "bool":
        return case
    result = np.asarray((JAX.get(function) or getattr(jnp, NAMES.get(function, function)))(*map(jnp.asarray, operands)))
    return case | {"jax_out": name_of(result), "jax": tokens(result)}


def write(file, functions, operands):
    names = sorted({name for of in functions.values() for name in of.split()})
    inputs = {name: operands(name) for name in names}
    with np.errstate(all="ignore"):
        cases = [measured(function, name, inputs[name]) for function, of in functions.items() for name in of.split()]
    texts = {name: [tokens(x) for x in xs] if len(xs) > 1 else tokens(xs[0]) for name, xs in inputs.items()}
    (Path(sys.argv[1]) / file).write_text(json.dumps({"inputs": texts, "cases": cases}, indent=1) + "\n")


def pairs(name):
    every = special(name)
    chosen = np.random.default_rng(26).integers(0, len(every), (2, 700))
    return [every[at] for at in chosen]


write("special_unary.json", UNARY, lambda name: [special(name)])
write("special_pairs.json", PAIRS, pairs)
