"""The twelve kernels, for each library: inputs, formulas, and how each is called."""

import re

import numpy as np

COEFFICIENTS = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8, 0.9, -1.0, 1.1]
NAMES = ["axpy", "poly", "bs", "gelu", "sincos", "hypot3", "mixed", "sumsq", "softmax", "outer", "elu", "mandel"]
STEPS = 20


def inputs(name, n):
    """The arguments of a kernel with about `n` elements, in float32 where it is not about others."""
    rng = np.random.default_rng(0)

    def uniform(low, high, shape=n):
        return rng.uniform(low, high, shape).astype(np.float32)

    side = max(int(n**0.5), 1)
    match name:
        case "axpy" | "sumsq":
            return uniform(-1, 1), uniform(-1, 1)
        case "poly":
            return (uniform(-1, 1),)
        case "gelu" | "sincos" | "elu":
            return (uniform(-3, 3),)
        case "bs":
            return uniform(50, 150), uniform(50, 150), uniform(0.1, 2), uniform(0.1, 0.6)
        case "hypot3":
            return uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)
        case "mixed":
            integers = rng.integers(-100, 100, n)
            return integers.astype(np.int32), uniform(-1, 1), integers[::-1].astype(np.int8)
        case "softmax":
            return (uniform(-3, 3, (side, side)),)
        case "outer":
            return uniform(-2, 2, (side, 1)), uniform(-2, 2, (1, side))
        case "mandel":
            return ((uniform(-0.2, 0.2) + 1j * uniform(-0.2, 0.2)).astype(np.complex64),)


def formulas(xp, where=None):
    """The kernels in the functions of an array library."""

    def poly(x):
        total = x * COEFFICIENTS[10] + COEFFICIENTS[9]
        for c in COEFFICIENTS[8::-1]:
            total = total * x + c
        return total

    def bs(s, k, t, v):
        deviation = v * xp.sqrt(t)
        d1 = (xp.log(s / k) + (0.03 + 0.5 * v * v) * t) / deviation
        d2 = d1 - deviation
        return s * (1 / (1 + xp.exp(-1.702 * d1))) - k * xp.exp(-0.03 * t) * (1 / (1 + xp.exp(-1.702 * d2)))

    def softmax(a):
        e = xp.exp(a - xp.max(a, axis=1, keepdims=True))
        return e / xp.sum(e, axis=1, keepdims=True)

    def mandel(c):
        z = c
        for _ in range(STEPS):
            z = z * z + c
        return z

    def mixed(i, f, b):
        # NumPy and jax would compute in float64: the elements are of float32.
        return (i.astype(f.dtype) if xp is np else i) * f + b

    return {
        "axpy": lambda x, y: x + y * 2,
        "poly": poly,
        "bs": bs,
        "gelu": lambda x: 0.5 * x * (1 + xp.tanh(0.79788456 * (x + 0.044715 * x * x * x))),
        "sincos": lambda x: xp.sin(x) * xp.sin(x) + xp.cos(x) * xp.cos(x),
        "hypot3": lambda x, y, z: xp.sqrt(x * x + y * y + z * z),
        "mixed": mixed,
        "sumsq": lambda x, y: xp.sum((x - y) ** 2),
        "softmax": softmax,
        "outer": lambda a, b: xp.exp(-((a - b) ** 2)),
        "elu": lambda x: xp.where(x > 0, x, xp.expm1(x)),
        "mandel": mandel,
    }


def _nested():
    text = f"x*{COEFFICIENTS[10]}+{COEFFICIENTS[9]}"
    for c in COEFFICIENTS[8::-1]:
        text = f"({text})*x+({c})"
    return text


_D1 = "((log(s/k)+(0.03+0.5*v*v)*t)/(v*sqrt(t)))"
# As texts, with the names of the arguments.
TEXTS = {
    "axpy": ("x+y*2", "xy"),
    "poly": (_nested(), "x"),
    "bs": (f"s*(1/(1+exp(-1.702*{_D1})))-k*exp(-0.03*t)*(1/(1+exp(-1.702*({_D1}-v*sqrt(t)))))", "sktv"),
    "gelu": ("0.5*x*(1+tanh(0.79788456*(x+0.044715*x*x*x)))", "x"),
    "sincos": ("sin(x)*sin(x)+cos(x)*cos(x)", "x"),
    "hypot3": ("sqrt(x*x+y*y+z*z)", "xyz"),
    "mixed": ("i*f+b", "ifb"),
    "sumsq": ("sum((x-y)**2)", "xy"),
    "outer": ("exp(-(a-b)**2)", "ab"),
    "elu": ("where(x>0,x,expm1(x))", "x"),
}


def of_texts(ne):
    """Calls of a module with numexpr's interface. A float in a text is a double there, so floats are arguments of float32."""

    def call(text, names):
        floats = sorted(set(re.findall(r"(?<![\w.])\d+\.\d+", text)), key=len, reverse=True)
        constants = {f"c{n}": np.float32(value) for n, value in enumerate(floats)}
        text = re.sub(r"(?<![\w.])\d+\.\d+", lambda found: f"c{floats.index(found.group(0))}", text)
        return lambda *x: ne.evaluate(text, {**dict(zip(names, x)), **constants})

    def softmax(a):
        # It has no reductions within expressions.
        e = ne.evaluate("exp(a-m)", {"a": a, "m": a.max(axis=1, keepdims=True)})
        return ne.evaluate("e/s", {"e": e, "s": e.sum(axis=1, keepdims=True)})

    def mandel(c):
        z = c
        for _ in range(STEPS):
            z = ne.evaluate("z*z+c", {"z": z, "c": c})
        return z

    return {**{name: call(*row) for name, row in TEXTS.items()}, "softmax": softmax, "mandel": mandel}


def of_loops(nb, parallel):
    """Loops compiled by numba, which write into a given array."""
    jit = nb.njit(fastmath=True, parallel=parallel, error_model="numpy", boundscheck=False)
    scope = {"np": np, "prange": nb.prange, "f4": np.float32}

    def loop(arguments, value, before="pass"):
        text = f"def k({arguments}, o):\n    for i in prange(o.size):\n        {before}\n        o[i] = {value}\n"
        exec(text, scope)
        return jit(scope["k"])

    def wrapped(text):
        exec(text, scope)
        return jit(scope["k"])

    def floats(text):
        return re.sub(r"(?<![\w.])\d+\.\d+", lambda found: f"f4({found.group(0)})", text)

    nested = floats(_nested().replace("x", "v"))
    d1 = "d=(np.log(s[i]/k_[i])+(0.03+0.5*v[i]*v[i])*t[i])/(v[i]*np.sqrt(t[i]))"
    bs = "s[i]*(1.0/(1.0+np.exp(-1.702*d)))-k_[i]*np.exp(-0.03*t[i])*(1.0/(1.0+np.exp(-1.702*(d-v[i]*np.sqrt(t[i])))))"
    return {
        "axpy": loop("x, y", floats("x[i]+y[i]*2.0")),
        "poly": loop("x", nested, "v=x[i]"),
        "bs": loop("s, k_, t, v", floats(bs), floats(d1)),
        "gelu": loop("x", floats("0.5*v*(1.0+np.tanh(0.79788456*(v+0.044715*v*v*v)))"), "v=x[i]"),
        "sincos": loop("x", "np.sin(v)*np.sin(v)+np.cos(v)*np.cos(v)", "v=x[i]"),
        "hypot3": loop("x, y, z", "np.sqrt(x[i]*x[i]+y[i]*y[i]+z[i]*z[i])"),
        "mixed": loop("p, x, b", "f4(p[i])*x[i]+f4(b[i])"),
        "elu": loop("x", "v if v>0 else f4(np.expm1(v))", "v=x[i]"),
        "sumsq": wrapped(
            "def k(x, y):\n    total = f4(0)\n    for i in prange(x.size):\n        d = x[i] - y[i]\n        total += d * d\n    return total\n"
        ),
        "softmax": wrapped(
            "def k(x, o):\n    for r in prange(x.shape[0]):\n        m = x[r, 0]\n        for j in range(x.shape[1]):\n"
            "            m = max(m, x[r, j])\n        t = f4(0)\n        for j in range(x.shape[1]):\n"
            "            o[r, j] = np.exp(x[r, j] - m)\n            t += o[r, j]\n        t = f4(1) / t\n"
            "        for j in range(x.shape[1]):\n            o[r, j] *= t\n"
        ),
        "outer": wrapped(
            "def k(a, b, o):\n    for r in prange(o.shape[0]):\n        for j in range(o.shape[1]):\n"
            "            d = a[r, 0] - b[0, j]\n            o[r, j] = np.exp(-d * d)\n"
        ),
        "mandel": wrapped(
            "def k(c, o):\n    for i in prange(o.size):\n        re = c[i].real\n        im = c[i].imag\n"
            f"        for _ in range({STEPS}):\n            t = re * re - im * im + c[i].real\n"
            "            im = re * im + re * im + c[i].imag\n            re = t\n        o[i] = complex(re, im)\n"
        ),
    }
