"""Facts about dtypes from NumPy, ml_dtypes, array-api-strict and Ivy, each into the file of its library.

In `tests/goldens/dtypes`, each in an environment of its own:

    pip install numpy==2.4.6 ml_dtypes==0.6.0 array-api-strict==2.6.1 && python ../measure/dtypes.py numpy2
    pip install numpy==1.26.4 ivy==1.0.0.5 && python ../measure/dtypes.py ivy
"""
import json
import sys
from importlib.metadata import version

NAMES = {
    "bool": "bool", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "i8": "int8", "i16": "int16",
    "i32": "int32", "i64": "int64", "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128",
}
SHORT = {long: short for short, long in NAMES.items()}


def numpy2():
    import array_api_strict as xp
    import ml_dtypes
    import numpy as np

    dtypes = {s: np.dtype(ml_dtypes.bfloat16 if s == "bf16" else long) for s, long in NAMES.items()}
    casting = ["no", "equiv", "safe", "same_kind", "unsafe"]

    def finfo(short):
        info = (ml_dtypes.finfo if short == "bf16" else np.finfo)(dtypes[short])
        bits = lambda name: format(np.float64(getattr(info, name)).view("u8"), "016x")
        limits = ["eps", "max", "min", "smallest_normal", "smallest_subnormal"]
        return {"dtype": SHORT[str(info.dtype)], "bits": int(info.bits), "nmant": int(info.nmant), "nexp": int(info.nexp),
                **{name: bits(name) for name in limits}}

    def isdtype(module, kind, short):
        return short != "bf16" and hasattr(module, NAMES[short]) and module.isdtype(getattr(module, NAMES[short]), kind)

    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"]
    return {
        "versions": {name: version(name) for name in ["numpy", "ml_dtypes", "array-api-strict"]},
        "method": "can_cast[mode][from][to] is numpy.can_cast; bf16, and its finfo, are ml_dtypes'. Limits are bit patterns of "
                  "f64. isdtype lists members of each kind, without bf16, alike in NumPy and array-api-strict but for f16, which "
                  "the latter lacks. npy is numpy.lib.format.dtype_to_descr.",
        "types": list(NAMES),
        "can_cast": {mode: ["".join(str(int(np.can_cast(a, b, mode))) for b in dtypes.values()) for a in dtypes.values()]
                     for mode in casting},
        "finfo": {s: finfo(s) for s in ["bf16", "f16", "f32", "f64", "c64", "c128"]},
        "iinfo": {s: {"bits": np.iinfo(d).bits, "min": str(np.iinfo(d).min), "max": str(np.iinfo(d).max)}
                  for s, d in dtypes.items() if d.kind in "iu"},
        "isdtype": {kind: [s for s in NAMES if isdtype(np, kind, s)] for kind in kinds},
        "isdtype_strict": {kind: [s for s in NAMES if isdtype(xp, kind, s)] for kind in kinds},
        "npy": {s: np.lib.format.dtype_to_descr(d) for s, d in dtypes.items()},
    }


def ivy():
    import ivy

    # The names that ivy.functional.ivy.data_type expands; `all_*` is `valid_*` before a backend takes some out.
    classes = {"valid": "all_dtypes", "numeric": "all_numeric_dtypes", "float": "all_float_dtypes",
               "integer": "all_int_dtypes", "unsigned": "all_uint_dtypes", "complex": "all_complex_dtypes"}
    return {
        "versions": {"ivy": version("ivy")},
        "method": "classes[name] are the members of ivy.all_* for the names that functional/ivy/data_type.py expands, in "
                  "the order of types",
        "types": list(NAMES),
        "classes": {name: [s for s in NAMES if NAMES[s] in getattr(ivy, attribute)] for name, attribute in classes.items()},
    }


name = sys.argv[1]
measured = {"name": name, **{"numpy2": numpy2, "ivy": ivy}[name]()}
lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in measured.items())
with open(f"{name}.json", "w", encoding="utf-8") as file:
    file.write("{\n" + lines + "\n}\n")
