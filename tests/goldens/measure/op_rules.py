"""Measures which dtype each function of an array library returns, for every operand dtype, and writes it as JSON.

    python3 -m venv v && v/bin/pip install numpy==2.4.6 && v/bin/python tests/goldens/measure/op_rules.py numpy2

writes `tests/goldens/ops/numpy2_result_dtypes.json`. One library to a virtual environment (Python 3.11):

    numpy2                      numpy==2.4.6
    numpy1                      numpy==1.26.4
    torch                       torch==2.15.0 numpy==2.4.6
    ivy_precise ivy_imprecise   ivy==1.0.0.5 numpy==1.26.4        (NumPy backend, PreciseMode on and off)
    tensorflow                  tensorflow-cpu==2.21.0
    array_api                   array-api-strict==2.6.1 numpy==2.4.6
    numexpr                     numexpr==2.14.2 numpy==2.4.6    (writes promotion/numexpr.json, too)

Operands are one-dimensional arrays of ones and, for `i*` `f*` `c*`, the Python scalars 1, 1.0 and 1j (lists of them in
reductions). Nothing here knows a promotion rule but `highest_kind_first`, which checks the rule stated for NumPy.
"""

import functools
import importlib
import itertools
import json
import operator
import pathlib
import random
import re
import sys
import warnings
from types import SimpleNamespace

CONCRETE = "bool u8 u16 u32 u64 i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128".split()
WEAK = {"i*": 1, "f*": 1.0, "c*": 1j}
TYPES = CONCRETE + list(WEAK)
LONG = {"u": "uint", "i": "int", "f": "float", "c": "complex"}

UNARY = (
    "abs negative positive sign square sqrt reciprocal floor ceil trunc round exp log sin cos tanh isnan isinf isfinite logical_not "
    "bitwise_invert acos acosh asin asinh atan atanh conj cosh expm1 imag log1p log2 log10 real signbit sinh tan exp2 cbrt rint "
    "deg2rad rad2deg sinc angle nan_to_num i0 isneginf isposinf bitwise_count frexp modf fabs "
    "rsqrt sigmoid relu gelu silu softplus erf gammaln"
).split()
BINARY = (
    "add subtract multiply divide floor_divide remainder minimum maximum equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift pow logaddexp "
    "atan2 hypot copysign nextafter logaddexp2 fmin fmax fmod float_power heaviside gcd lcm ldexp divmod"
).split()
REDUCTIONS = (
    "sum prod mean max min var std any all argmax argmin cumsum cumprod cumulative_sum cumulative_prod nansum nanmean median sort "
    "argsort count_nonzero ptp logsumexp"
).split()
CREATION = (
    "asarray(True)|asarray(1)|asarray(1.0)|asarray(1j)|asarray(2**31)|asarray(2**63)|asarray([1])|asarray([1.0])|asarray([True, 1])|"
    "asarray([1, 1.0])|asarray([1.0, 1j])|zeros(3)|ones(3)|empty(3)|eye(2)|full((), True)|full((), 1)|full((), 1.0)|full((), 1j)|"
    "arange(3)|arange(3.0)|arange(0, 3, 0.5)|linspace(0, 1, 3)|linspace(0.0, 1.0, 3)|zeros_like(i8)|ones_like(f32)|full_like(f32, 1)|"
    "full_like(i8, 1)|full_like(i8, 1.0)|full_like(bool_, 1)"
).split("|")
OPERATORS = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "pow": operator.pow, "equal": operator.eq,
    "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le, "greater": operator.gt,
    "greater_equal": operator.ge, "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift, "bitwise_right_shift": operator.rshift,
}  # fmt: skip


def long_name(name):
    """`bfloat16` for `bf16`, `uint8` for `u8`, `bool` for `bool`."""
    return {"bool": "bool", "bf16": "bfloat16"}.get(name) or LONG[name[0]] + name[1:]


SHORT = {long_name(name): name for name in CONCRETE} | {"complex32": "c32", "bcomplex32": "bc32"}


# --- The libraries: where functions are found, which names differ, how arrays are made ---


def numpy(name):
    np = importlib.import_module("numpy")
    other = dict(
        acos="arccos", acosh="arccosh", asin="arcsin", asinh="arcsinh", atan="arctan", atanh="arctanh", atan2="arctan2",
        bitwise_invert="invert", bitwise_left_shift="left_shift", bitwise_right_shift="right_shift", pow="power",
    )  # fmt: skip
    nary = {
        "result_type": np.result_type,
        "concatenate": lambda *x: np.concatenate([np.atleast_1d(v) for v in x]),
        "stack": lambda *x: np.stack(x),
        "clip": np.clip,
        "select": lambda a, b, c: np.select([[True], [True]], [a, b], c),
        "einsum": lambda *x: np.einsum("i,i,i", *x),
    }
    return SimpleNamespace(
        title="numpy", version=np.__version__, spaces=[np], other=other, pair=np.result_type, nary=nary,
        make=lambda dtype, n: None if dtype == "bfloat16" else np.ones(n, dtype),
        clip=np.clip, can_cast={c: lambda a, b, c=c: np.can_cast(a, b, c) for c in ("safe", "same_kind")},
    )  # fmt: skip


def torch(name):
    th = importlib.import_module("torch")
    along = {op: lambda x, op=op: getattr(th, op)(x, 0) for op in ("cumsum", "cumprod", "logsumexp")}
    other = along | dict(bitwise_invert="bitwise_not", equal="eq", gammaln="lgamma", max="amax", min="amin", median="median")
    nary = {
        "cat": lambda *x: th.cat([th.atleast_1d(v) for v in x]),
        "stack": lambda *x: th.stack(x),
        "clamp": th.clamp,
        "addcmul": th.addcmul,
        "lerp": th.lerp,
    }
    return SimpleNamespace(
        title="torch", version=th.__version__, spaces=[th, th.special, th.nn.functional], other=other,
        pair=th.result_type, nary=nary,
        make=lambda dtype, n: th.ones(n, dtype=getattr(th, dtype)),
        clip=th.clip, can_cast={"can_cast": lambda a, b: th.can_cast(getattr(th, a), getattr(th, b))},
    )  # fmt: skip


def ivy(name):
    ivy = importlib.import_module("ivy")
    ivy.set_backend("numpy")
    ivy.set_precise_mode(name == "ivy_precise")
    nary = {"result_type": ivy.result_type, "concat": lambda *x: ivy.concat(x), "stack": lambda *x: ivy.stack(x), "clip": ivy.clip}
    version = f"{ivy.__version__}, backend numpy {importlib.import_module('numpy').__version__}"
    return SimpleNamespace(
        title="ivy", version=version, spaces=[ivy], other={"gammaln": "lgamma"}, pair=ivy.add, nary=nary,
        make=lambda dtype, n: None if dtype == "bfloat16" else ivy.ones(n, dtype=dtype),
        clip=ivy.clip, can_cast={"can_cast": ivy.can_cast},
    )  # fmt: skip


def tensorflow(name):
    tf = importlib.import_module("tensorflow")
    reduced = {op: "reduce_" + op for op in ("sum", "prod", "mean", "max", "min", "any", "all", "logsumexp")}
    other = reduced | dict(
        bitwise_invert="invert", bitwise_left_shift="left_shift", bitwise_right_shift="right_shift", floor_divide="floordiv",
        remainder="floormod", fmod="truncatemod", isnan="is_nan", isinf="is_inf", isfinite="is_finite", gammaln="lgamma",
        var="reduce_variance", std="reduce_std", asarray="constant", full="fill", arange="range",
    )  # fmt: skip
    return SimpleNamespace(
        title="tensorflow", version=tf.__version__, spaces=[tf.math, tf, tf.bitwise, tf.nn], other=other, pair=tf.add,
        nary={"stack": lambda *x: tf.stack(x), "clip_by_value": tf.clip_by_value},
        make=lambda dtype, n: tf.cast(tf.ones([n] if n > 1 else []), dtype), clip=tf.clip_by_value, can_cast={},
    )  # fmt: skip


def array_api(name):
    xp = importlib.import_module("array_api_strict")
    nary = {"result_type": xp.result_type, "concat": lambda *x: xp.concat(x), "stack": lambda *x: xp.stack(x), "clip": xp.clip}
    return SimpleNamespace(
        title="array-api-strict", version=f"{xp.__version__}, standard {xp.__array_api_version__}", spaces=[xp], other={},
        pair=xp.result_type, nary=nary, make=lambda dtype, n: xp.ones(n, dtype=getattr(xp, dtype)) if hasattr(xp, dtype) else None, clip=xp.clip,
        can_cast={"can_cast": lambda a, b: xp.can_cast(getattr(xp, a), getattr(xp, b))},
    )  # fmt: skip


def numexpr(name):
    ne, np = importlib.import_module("numexpr"), importlib.import_module("numpy")
    symbols = dict(
        add="+", subtract="-", multiply="*", divide="/", floor_divide="//", remainder="%", pow="**", equal="==", not_equal="!=",
        less="<", less_equal="<=", greater=">", greater_equal=">=", bitwise_and="&", bitwise_or="|", bitwise_xor="^",
        bitwise_left_shift="<<", bitwise_right_shift=">>",
    )  # fmt: skip
    texts = {op: f"{{}} {symbol} {{}}" for op, symbol in symbols.items()} | dict(negative="-{}", positive="+{}", bitwise_invert="~{}")
    older = dict(acos="arccos", acosh="arccosh", asin="arcsin", asinh="arcsinh", atan="arctan", atan2="arctan2", atanh="arctanh")

    def function(op, text):
        def evaluate(*operands):
            # Numbers stand in the text, one for a list: as arguments they are arrays, an integer an i64.
            operands = [x[0] if isinstance(x, list) else x for x in operands]
            names = {f"x{n}": operand for n, operand in enumerate(operands) if isinstance(operand, np.ndarray)}
            return ne.evaluate(text.format(*(f"x{n}" if f"x{n}" in names else repr(x) for n, x in enumerate(operands))), names)

        return evaluate

    functions = {op: f"{older.get(op, op)}({', '.join(['{}'] * count)})" for count, ops in ((1, UNARY), (2, BINARY)) for op in ops}
    known = ne.expressions.functions
    texts |= {op: text for op, text in functions.items() if older.get(op, op) in known}
    texts |= {op: f"{op}({{}})" for op in ("sum", "prod", "min", "max")} | dict(where="where({}, {}, {})")
    return SimpleNamespace(
        title="numexpr", version=f"{ne.__version__}, numpy {np.__version__}", spaces=[],
        other={op: function(op, text) for op, text in texts.items()}, pair=function("add", "{} + {}"), nary={},
        make=lambda dtype, n: None if dtype == "bfloat16" else np.ones(n, dtype), clip=None, can_cast={},
    )  # fmt: skip


LIBRARIES = dict(
    numpy2=numpy, numpy1=numpy, torch=torch, ivy_precise=ivy, ivy_imprecise=ivy, tensorflow=tensorflow, array_api=array_api,
    numexpr=numexpr,
)  # fmt: skip


# What was read off the results and where the source says so; written to the files as `notes`.
NUMPY_TREE = {"numpy2": "https://github.com/numpy/numpy/blob/v2.4.6/numpy/_core", "numpy1": "https://github.com/numpy/numpy/blob/v1.26.4/numpy/core"}
NUMPY_NOTES = [
    "result_type of many operands promotes pairwise from the left, operands of the highest kind first (floats and complex, c*, f*, integers, i*, bool), so floats meet each integer and integers do not meet each other first; checked in nary.highest_kind_first. The source sorts by type number and promotes the last with each other one, which comes to the same: {tree}/src/multiarray/common_dtype.c (PyArray_PromoteDTypeSequence), {tree}/src/multiarray/dtypemeta.c (default_builtin_common_dtype)",
    "concatenate, stack, clip and einsum take that dtype; so does select in NumPy 2, while in 1.26 it promotes the default last",
]
IVY_NOTES = [
    "PreciseMode changes promote_types only: result_type, stack and hypot take NumPy's table in both modes; https://github.com/ivy-llc/ivy/blob/main/ivy/functional/ivy/data_type.py (promote_types_of_inputs) and .../backends/numpy/data_type.py (result_type)",
    "result_type, concat and clip fold from the left; stack is np.stack; nary folds compare with ivy.add",
]
NOTES = {
    "numpy2": NUMPY_NOTES + ["Python scalars are weak by kind: https://numpy.org/neps/nep-0050-scalar-promotion.html and {tree}/src/multiarray/abstractdtypes.c; as the first operand of clip they are not, it is made an array"],
    "numpy1": NUMPY_NOTES + ["Python scalars are typed by their values: the cells hold for 1, 1.0, 1j only, see promotion/numpy1.json"],
    "torch": [
        "result_type folds from the left, operands with dimensions, without dimensions and Python numbers each by themselves; then a category gives way only to one of a higher kind: https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/TypeProperties.cpp (update_result_type_state, combine_categories)",
        "integers become the default dtype (f32; torch.set_default_dtype changes it) in sqrt, exp and division; kernels on the CPU are missing for many dtypes, u16 u32 u64 above all: such a refusal says nothing of promotion",
    ],
    "ivy_precise": IVY_NOTES,
    "ivy_imprecise": IVY_NOTES,
    "tensorflow": ["functions take operands of one dtype; a Python number is converted to the tensor's dtype, as a first operand by the operators only"],
    "array_api": ["clip gives the dtype of its first operand: https://data-apis.org/array-api/2024.12/API_specification/generated/array_api.clip.html"],
    "numexpr": [
        "kinds, not dtypes: operands become bool, int32, int64, float32, float64 or complex128 first, and the greatest kind is computed in; a number in the text is an int32, a float64 or a complex128: https://github.com/pydata/numexpr/blob/v2.14.2/numexpr/expressions.py (commonKind, ConstantNode) and necompiler.py (getArguments)",
        "some functions have a least kind (func in expressions.py), and integers are float64 in all but copy, ones_like, round and sign",
    ],
}  # fmt: skip


# --- Cells ---


class Measurement:
    """One library with the operands it can make; `cell` runs a function and names the dtype of what comes back."""

    def __init__(self, name):
        self.name, self.errors = name, []
        self.library = LIBRARIES[name](name)
        self.ones = {ty: self.operand(ty, 1) for ty in TYPES}
        self.threes = {ty: self.operand(ty, 3) for ty in TYPES}
        self.have = [ty for ty in TYPES if self.ones[ty] is not None]

    def operand(self, ty, length):
        if ty in WEAK:
            return WEAK[ty] if length == 1 else [WEAK[ty]] * length
        return self.library.make(long_name(ty), length)

    def find(self, op):
        """The library's function for an op, or `None`."""
        named = self.library.other.get(op, op)
        return named if callable(named) else next((getattr(s, named) for s in self.library.spaces if hasattr(s, named)), None)

    def cell(self, function, *operands):
        """The result's dtype; `!n` if the function raises, `-` if the library lacks an operand's dtype."""
        if any(operand is None for operand in operands):
            return "-"
        try:
            return self.describe(function(*operands))
        except Exception as error:
            return self.refusal(error)

    def describe(self, result):
        if isinstance(result, (tuple, list)):
            return [self.describe(part) for part in result]
        if type(result) in (bool, int, float, complex):
            return f"python {type(result).__name__}"
        found = re.search(r"(u?int|float|bfloat|b?complex|bool)(\d*)", str(getattr(result, "dtype", result)))
        return SHORT.get(found.group(0), found.group(0))

    def refusal(self, error):
        """The number of the error in `errors`, where messages stand once, without dtypes and values."""
        text = " ".join(str(error).split()).split("; NodeDef")[0].split(" All kernels")[0].split(", and the inputs could not")[0]
        text = re.sub(r"tf\.Tensor\(.*?\)|tensor\(.*?\)|array\(.*?\)|<tf\.Tensor.*?>|device_\S+|/\S+|0x[0-9a-f]+", "...", text)
        text = re.sub(r"<class '.*?'>|dtype\('.*?'\)|DT_\w+|'[UB]?(Int|Float|Complex)\w*'|'(Bool|Byte|Char|Short|Long|Half|Double)'", "<dtype>", text)
        text = re.sub(r"(promote|but|type|Got:|got:?) (\w+) and (\w+)", r"\1 <dtype> and <dtype>", text)
        text = re.sub(r"\b((u?int|float|bfloat|complex|half|double)\d*(_ref)?|bool)\b", "<dtype>", text)
        text = re.sub(r"<dtype>(, <dtype>)+", "<dtype>, ...", text)
        text = re.sub(r"matching opcode for '\w+'", "matching opcode", text)
        refusal = {"type": type(error).__name__, "message": text[:120]}
        if refusal not in self.errors:
            self.errors.append(refusal)
        return f"!{self.errors.index(refusal)}"

    def row(self, function, operands):
        return [self.cell(function, operands[ty]) for ty in TYPES]

    def table(self, function, alternative=None):
        """All pairs; `alternative` is asked where a function refuses to take one Python scalar."""

        def pair(a, b):
            cell = self.cell(function, self.ones[a], self.ones[b])
            again = cell[0] == "!" and alternative and (a in WEAK) != (b in WEAK)
            return self.cell(alternative, self.ones[a], self.ones[b]) if again else cell

        return [[pair(a, b) for b in TYPES] for a in TYPES]


def measure(name):
    m = Measurement(name)
    library, find = m.library, m.find
    where, truth = find("where"), m.ones["bool"]
    unary = {op: m.row(find(op), m.ones) for op in UNARY if find(op)}
    binary = {op: m.table(find(op), OPERATORS.get(op)) for op in BINARY if find(op)}
    return {
        "library": library.title,
        "version": library.version,
        "encoding": "cell 'f32' = an f32 result; '!k' = raises errors[k]; '-' = the library lacks an operand's dtype; a list = tuple result; 'python int' = no array came back",
        "method": "operands are 1-d arrays of ones (1 element, 3 for reductions; TensorFlow: 0-d), for i* f* c* the Python scalars 1, 1.0, 1j (reductions: lists); where a function refuses one Python scalar, the Python operator is asked; clip[a][b] = clip(a, b, b); where[a][b] = where(bool, a, b); where_cond[c] = where(c, f32, i8); defaults: the expression evaluated among the library's functions with f32, i8, bool_ arrays",
        "notes": [note.replace("{tree}", NUMPY_TREE.get(name, "")) for note in NOTES[name]],
        "lacks": [ty for ty in TYPES if ty not in m.have],
        "types": TYPES,
        "unary": unary,
        "binary": without_repeats(binary),
        "where": m.table(lambda a, b: where(truth, a, b)),
        "where_cond": m.row(lambda c: where(c, m.ones["f32"], m.ones["i8"]), m.ones),
        **({"clip": m.table(lambda a, b: library.clip(a, b, b))} if library.clip else {}),
        "reductions": {op: m.row(find(op), m.threes) for op in REDUCTIONS if find(op)},
        "defaults": defaults(m),
        "can_cast": {rule: can_cast(m, ask) for rule, ask in library.can_cast.items()},
        "nary": nary(m),
        "errors": m.errors,
    }


def without_repeats(tables):
    """Tables equal to an earlier one name it instead."""
    kept = {}
    for op, table in tables.items():
        same = next((first for first, other in kept.items() if other == table), None)
        kept[op] = {"same_as": same} if same else table
    return kept


def defaults(m):
    arrays = {"f32": m.ones["f32"], "i8": m.ones["i8"], "bool_": m.ones["bool"]}
    results = {}
    for expression in CREATION:
        function = re.match(r"\w+", expression).group(0)
        if m.find(function):
            named = m.find(function).__name__ if function in m.library.other else function
            evaluate = lambda _: eval(expression, {function: m.find(function)} | arrays)
            results[expression.replace(function, named, 1)] = m.cell(evaluate, 0)
    return results


def can_cast(m, ask):
    known = lambda *types: all(ty in m.have for ty in types)
    return [[int(ask(long_name(a), long_name(b))) if known(a, b) else "-" for b in CONCRETE] for a in CONCRETE]


# --- More than two operands ---


def nary(m):
    """Which triples a function of three arrays types otherwise than by promoting pairwise from the left.

    Pairs are the library's `result_type`, or `add` where that takes no two arrays or differs; a fold stops at a refused pair."""
    verdict = lambda cell: "!" if cell[0] == "!" else cell
    types = [ty for ty in m.have if ty not in WEAK]
    pair = {(a, b): verdict(m.cell(m.library.pair, m.ones[a], m.ones[b])) for a in TYPES for b in TYPES}
    fold = lambda a, b, c: pair.get((pair[a, b], c), "!")
    triples = list(itertools.product(types, repeat=3))
    found = {"triples": len(triples)}
    found["non_associative"] = [t for t in triples if fold(*t) != pair.get((t[0], pair[t[1:]]), "!")]
    for name, function in m.library.nary.items():
        cells = {t: verdict(m.cell(function, *(m.ones[ty] for ty in t))) for t in triples}
        differ = [[*t, cells[t], fold(*t)] for t in triples if "!" not in (cells[t], fold(*t)) and cells[t] != fold(*t)]
        found[name] = {
            "refuses": sum(cell == "!" for cell in cells.values()),
            "differs_from_left_fold": len(differ),
            "a_b_c_result_fold": differ[:40],
        }
    if m.library.title == "numpy":
        found["highest_kind_first"] = highest_kind_first(m, pair)
    return found


def highest_kind_first(m, pair):
    """Checks the rule stated for NumPy: promoting pairwise from the left, operands of the highest kind first."""
    kinds = {"bool": 0, "i*": 1, "u": 2, "i": 2, "f*": 3, "c*": 4, "f": 5, "c": 5}
    kind = {ty: kinds.get(ty, kinds.get(ty[0])) for ty in m.have}
    weak = list(WEAK)
    if m.name == "numpy1":  # its Python scalars go by their values
        kind = {ty: rank for ty, rank in kind.items() if ty not in WEAK}

    def join(a, b):
        return max(a, b, key=weak.index) if a in WEAK and b in WEAK else pair[a, b]

    def rule(types):
        result = functools.reduce(join, sorted(types, key=kind.get, reverse=True))
        return pair[result, result] if result in WEAK else result

    chance = random.Random(0)
    longer = [chance.choices(list(kind), k=chance.randint(4, 7)) for _ in range(20000)]
    lists = [*itertools.product(kind, repeat=3), *longer]
    wrong = [t for t in lists if m.describe(m.library.nary["result_type"](*(m.ones[ty] for ty in t))) != rule(t)]
    return {"kinds": kind, "lists": len(lists), "mismatches": len(wrong), "examples": wrong[:20]}


# --- Output ---


def layout(value, indent=0):
    """JSON with one line for each row of a table."""
    flat = lambda v: not isinstance(v, (dict, list, tuple)) or (isinstance(v, (list, tuple)) and len(v) <= 3 and all(map(flat, v)))
    pad = " " * (indent + 1)
    if isinstance(value, dict) and (len(value) > 2 or not all(map(flat, value.values()))):
        lines = [f"{pad}{json.dumps(key)}: {layout(item, indent + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + " " * indent + "}"
    if isinstance(value, list) and not all(map(flat, value)):
        return "[\n" + ",\n".join(pad + layout(item, indent + 1) for item in value) + "\n" + " " * indent + "]"
    return json.dumps(value, separators=(",", ":"))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    name = sys.argv[1]
    path = pathlib.Path(__file__).parent.parent / "ops" / f"{name}_result_dtypes.json"
    measured = measure(name)
    files = {path: measured}
    if name == "numexpr":
        table = [[None if cell in "-" or cell[0] == "!" else cell for cell in row] for row in measured["binary"]["add"]]
        promotion = {"name": name, "library": name, "version": measured["version"], "method": "a + b; the numbers 1, 1.0, 1j in the text", "types": TYPES, "table": table}
        files[path.parent.parent / "promotion" / "numexpr.json"] = promotion
    for path, content in files.items():
        path.write_text(layout(content) + "\n")
        print(f"{path}: {path.stat().st_size} bytes")
