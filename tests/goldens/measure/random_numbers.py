"""Measures jax.random for tests/goldens/random.json: keys, bits and numbers, as bit patterns.

    pip install jax==0.10.2 numpy==2.4.6
    python3 tests/goldens/measure/random_numbers.py > tests/goldens/random.json
"""
import json
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
assert jax.config.jax_threefry_partitionable

DTYPES = {"bf16": jnp.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
          **{f"{kind[0]}{bits}": np.dtype(f"{kind}{bits}") for kind in ("uint", "int") for bits in (8, 16, 32, 64)}}


def key(word):
    return jax.random.wrap_key_data(jnp.array([word >> 32, word & 0xFFFFFFFF], jnp.uint32))


def words(keys):
    data = np.asarray(jax.random.key_data(keys)).astype(np.uint64).reshape(-1, 2)
    return [int(high) << 32 | int(low) for high, low in data]


def patterns(x):
    x = np.ascontiguousarray(x)
    if x.dtype.kind == "b":
        return [int(v) for v in x.ravel()]
    if x.dtype.kind == "c":
        x = x.view(x.real.dtype)
    return [int(v) for v in x.view(f"u{x.dtype.itemsize}").ravel()]


def case(function, name, word, shape, *arguments):
    made = getattr(jax.random, function)(key(word), *arguments[:0], shape=shape, **dict(arguments))
    return {"function": function, "dtype": name, "key": word, "shape": list(shape), "bits": patterns(made)}


KEYS = [0, 1, 42, 0x123456789ABCDEF0, 2**64 - 1]
SHAPES = [(), (7,), (2, 3)]
cases = []
for word in KEYS:
    for shape in SHAPES:
        for name in ["u8", "u16", "u32", "u64"]:
            cases.append(case("bits", name, word, shape, ("dtype", DTYPES[name])))
        for name in ["bf16", "f16", "f32", "f64"]:
            cases.append(case("uniform", name, word, shape, ("dtype", DTYPES[name])))
            cases.append(case("exponential", name, word, shape, ("dtype", DTYPES[name])))
        for name in ["bf16", "f16", "f32", "f64", "c64", "c128"]:
            cases.append(case("normal", name, word, shape, ("dtype", DTYPES[name])))
    for name, low, high in [("u8", 0, 256), ("u8", 0, 16), ("u8", 3, 10), ("i8", -128, 128), ("i8", -5, 100), ("u16", 0, 1000),
                            ("i16", -200, 0), ("i32", 1, 7), ("i32", 0, 65536), ("i32", 0, 65537), ("i32", -2**31, 2**31 - 1),
                            ("u32", 0, 2**31), ("i64", -10, 10**12), ("u64", 0, 2**63 - 1), ("i64", 0, 3)]:
        made = jax.random.randint(key(word), (9,), low, high, DTYPES[name])
        cases.append({"function": "randint", "dtype": name, "key": word, "shape": [9], "range": [low, high], "bits": patterns(made)})
    for p in [0.25, 0.5, 0.999]:
        for name in ["f32", "f64"]:
            made = jax.random.bernoulli(key(word), jnp.asarray(p, DTYPES[name]), (40,))
            cases.append({"function": "bernoulli", "dtype": name, "key": word, "shape": [40], "p": p, "bits": patterns(made)})
    for n in [0, 1, 2, 10, 100, 3000]:
        made = np.asarray(jax.random.permutation(key(word), n))
        cases.append({"function": "permutation", "dtype": "i64", "key": word, "shape": [n], "bits": [int(v) for v in made]})

print(json.dumps({
    "method": f"jax {jax.__version__}, jax_threefry_partitionable, 64-bit types on; a key is its two words, the first in the high half; numbers as the bits of each part",
    "seeds": [{"seed": seed, "key": words(jax.random.key(np.uint64(seed)))[0]} for seed in [0, 1, 42, 2**31, 2**32, 2**63 + 7, 2**64 - 1]],
    "split": [{"key": word, "keys": words(jax.random.split(key(word), 6))} for word in KEYS],
    "fold_in": [{"key": word, "data": data, "to": words(jax.random.fold_in(key(word), data))[0]}
                for word in KEYS for data in [0, 1, 77, 2**32 - 1]],
    "million": [{"key": word, "sum": int(np.asarray(jax.random.bits(key(word), (1000, 1000), np.uint32)).astype(np.uint64).sum()),
                 "last": patterns(jax.random.bits(key(word), (1000, 1000), np.uint32)[-1, -3:])} for word in KEYS],
    "cases": cases,
}, separators=(",", ":")).replace('{"function"', '\n{"function"'))
