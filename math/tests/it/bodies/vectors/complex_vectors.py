"""Writes exact values of complex functions for the tests: python3 complex_vectors.py FAMILY DTYPE COUNT SEED > FAMILY_DTYPE.txt

FAMILY is a key of FAMILIES, DTYPE c64 or c128, COUNT the operands per function. Needs mpmath. See complex_support.rs for the format."""

import random
import struct
import sys
from fractions import Fraction
from math import inf, isfinite, ldexp

import mpmath
from mpmath import acos, acosh, asin, asinh, atan2, cos, cosh, exp, log, mp, mpc, mpf, pi, sin, sinh, sqrt, tan, tanh

mp.prec = 2400

FAMILY, DTYPE, COUNT, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
SINGLE = DTYPE == "c64"
BITS, LEAST, MOST = (24, -149, 127) if SINGLE else (53, -1074, 1023)
rng = random.Random(f"{FAMILY} {DTYPE} {SEED}")


def rounded(x):
    """The nearest float of the dtype."""
    x = float(x)
    return struct.unpack("f", struct.pack("f", x))[0] if SINGLE else x


def token(x):
    return struct.pack(">f" if SINGLE else ">d", x).hex()


def exact(x):
    """The nearest double, and for c128 hundredths of its unit in the last place beyond it."""
    sign, mantissa, exponent, size = mpf(x)._mpf_
    if mantissa and abs(exponent + size) > 3000:
        return struct.pack(">d", (-1 if sign else 1) * (inf if exponent + size > 0 else 0.0)).hex()
    value = Fraction(-mantissa if sign else mantissa) * Fraction(2) ** exponent
    try:
        nearest = float(value)
    except OverflowError:
        nearest = -inf if sign else inf
    text = struct.pack(">d", nearest).hex()
    if SINGLE or not isfinite(nearest):
        return text
    bits = struct.unpack(">Q", struct.pack(">d", nearest))[0] >> 52 & 0x7FF
    unit = Fraction(2) ** (max(bits, 1) - 1075)
    return text + f"{round((value - Fraction(nearest)) / unit * 100):+d}"


def signed(x):
    return x if rng.random() < 0.5 else -x


def real(low, high):
    """A float with an exponent in low..high."""
    mantissa = rng.getrandbits(BITS - 1) | 1 << (BITS - 1)
    if rng.random() < 0.1:
        mantissa = rng.randrange(1, 9) << (BITS - 4)
    return signed(rounded(ldexp(mantissa, rng.randint(low, high) - BITS + 1)))


def near(x, steps=3):
    """A float of the dtype a few units in the last place from x."""
    x = rounded(x)
    bits = max(int(token(x), 16) + rng.randint(-steps, steps), 0)
    return struct.unpack(">f" if SINGLE else ">d", bits.to_bytes(4 if SINGLE else 8, "big"))[0]


def plain():
    return real(-4, 2), real(-4, 2)


def wide():
    return real(LEAST, MOST), real(LEAST, MOST)


def edges():
    """The ends of the format's ranges, powers of two and small numbers."""

    def part():
        top = ldexp(2 - ldexp(1, 1 - BITS), MOST)
        e = ldexp(1, rng.choice([LEAST, 2 - (1 << (7 if SINGLE else 10)), -BITS, -1, 0, 1, BITS, MOST]))
        # mpmath has no -0.
        return signed(rng.choice([0.0, 1.0, 1.5, 0.1, top, e, near(e, 1)])) or 0.0

    return rounded(part()), rounded(part())


def small():
    e = rng.randint(-2 * BITS, -1)
    return real(e - 6, e), real(e - 6, e)


def quadrants():
    """Imaginary parts near multiples of pi/2, real parts where the exponential neither overflows nor vanishes."""
    return rounded(rng.uniform(-1, 1) * MOST * 0.69), signed(near(rng.randint(1, 1 << rng.randint(1, 20)) * pi / 2))


def overflowing():
    """e^x overflows, its product with a tiny sine or cosine need not."""
    tiny = real(LEAST, -8)
    y = tiny if rng.random() < 0.6 else near(pi / 2, 1)
    size = 0.693 * (MOST - (0 if y > 1 else log(abs(mpf(tiny)), 2)))
    return rounded(size + rng.uniform(-30, 3)), y


def cancelling():
    """e^x cos y near 1."""
    y = mpf(rng.uniform(0.001, 1.5) if rng.random() < 0.5 else real(-BITS, -1))
    return near(-log(cos(y)), 2), signed(rounded(y))


def unit_circle():
    t = rng.uniform(-3.1416, 3.1416) if rng.random() < 0.7 else real(-2 * BITS, 0)
    z = near(cos(mpf(t)), 1), near(sin(mpf(t)), 1) if abs(t) > 1e-30 else rounded(t)
    return z if rng.random() < 0.7 else (z[1], z[0])


def circle_about_minus_one():
    x, y = unit_circle()
    y = mpf(y)
    return near(sqrt(1 - y * y) - 1, 1) if rng.random() < 0.6 and abs(y) < 1 else near(x - 1, 1), rounded(y)


def lopsided():
    e = rng.randint(LEAST // 2, MOST // 2)
    z = real(e, e), real(max(e - 2 * BITS, LEAST), e)
    return z if rng.random() < 0.5 else (z[1], z[0])


def one_argument(function):
    return lambda z: function(mpc(*z))


def log_of(base):
    def value(z):
        x, y = map(mpf, z)
        scale = 1 if base is None else 1 / log(mpf(base))
        return mpc(log(x * x + y * y) / 2 * scale, atan2(y, x) * scale)

    return value


def powers():
    """Pairs whose power neither overflows nor vanishes."""
    while True:
        z = rng.choice([plain, unit_circle, lopsided])()
        w = rng.choice([plain, lambda: (real(-8, 5), real(-8, 5)), lambda: (signed(float(rng.randint(1, 40))), 0.0)])()
        size = w[0] * log(abs(mpc(*z))) - w[1] * atan2(mpf(z[1]), mpf(z[0]))
        if abs(size) < 0.69 * MOST:
            return z + w


def angles():
    """Powers whose angle is large beside their modulus."""
    z = unit_circle()
    return z + (real(4, 9), real(-12, -2))


def axes():
    """A part of any size beside an ordinary one."""
    z = real(-4, 4), real(LEAST, 4)
    return z if rng.random() < 0.5 else (z[1], z[0])


def poles():
    """Near the zeros and poles of sine, cosine and tangent on the real axis."""
    return signed(near(rng.randint(0, 200) * pi / 2, 2)), real(-2 * BITS, 1)


def large_products():
    """An exponential beyond the format times a tiny sine or cosine, and where tanh is 1."""
    y = real(LEAST, -8) if rng.random() < 0.5 else near(pi / 2, 1)
    return y, signed(rounded(rng.uniform(5, 1.35 * MOST)))


def near_one():
    """Near the branch points 1 and -1."""
    x = near(1, 1 << rng.randint(0, BITS)) if rng.random() < 0.8 else 1.0
    return signed(x), real(rng.choice([LEAST, -2 * BITS, -BITS]), 0)


def of_exchanged(function):
    """`-i f(iz)`: what is hard for `f` is so there."""
    return [(lambda source=source: (lambda z: (-z[1], z[0]))(source()), weight) for source, weight in function]


def atanh_of(z):
    """From moduli and angles: a difference of logarithms would lose small results."""
    x, y = map(mpf, z)
    re = mp.log1p(4 * abs(x) / ((1 - abs(x)) ** 2 + y * y)) / 4
    return mpc(re if x > 0 else -re, (atan2(y, 1 - x) - atan2(-y, 1 + x)) / 2)


def atan_of(z):
    w = atanh_of((-z[1], z[0]))
    return mpc(w.imag, -w.real)


CIRCULAR = [(plain, 2), (axes, 2), (poles, 3), (large_products, 2), (wide, 1)]
INVERSE = [(plain, 3), (axes, 2), (near_one, 3), (unit_circle, 1), (small, 2), (lopsided, 2), (wide, 2)]


# A function: its value, and where its operands come from, by weight.
FAMILIES = {
    "exp_log": {
        "exp": (one_argument(exp), [(plain, 3), (quadrants, 3), (overflowing, 2), (wide, 1), (edges, 1)]),
        "expm1": (one_argument(lambda z: exp(z) - 1), [(plain, 3), (small, 2), (cancelling, 3), (quadrants, 2), (overflowing, 1), (wide, 1), (edges, 1)]),
        "exp2": (one_argument(lambda z: exp(z * log(mpf(2)))), [(plain, 3), (quadrants, 2), (wide, 1), (edges, 1)]),
        "log": (log_of(None), [(plain, 2), (unit_circle, 4), (lopsided, 2), (wide, 1), (edges, 1)]),
        "log2": (log_of(2), [(plain, 2), (unit_circle, 2), (lopsided, 2), (wide, 1), (edges, 1)]),
        "log10": (log_of(10), [(plain, 2), (unit_circle, 2), (lopsided, 2), (wide, 1), (edges, 1)]),
        "log1p": (one_argument(lambda z: log_of(None)((1 + z.real, z.imag))), [(plain, 2), (small, 2), (circle_about_minus_one, 4), (lopsided, 2), (wide, 1), (edges, 1)]),
        "rsqrt": (one_argument(lambda z: 1 / sqrt(z)), [(plain, 2), (lopsided, 2), (wide, 2), (edges, 1)]),
        "pow": (lambda a: exp(mpc(a[2], a[3]) * log_of(None)(a[:2])), [(powers, 5), (angles, 1)]),
    },
    "trig": {
        "sin": (one_argument(sin), CIRCULAR),
        "cos": (one_argument(cos), CIRCULAR),
        "tan": (one_argument(tan), CIRCULAR),
        "sinh": (one_argument(sinh), of_exchanged(CIRCULAR)),
        "cosh": (one_argument(cosh), of_exchanged(CIRCULAR)),
        "tanh": (one_argument(tanh), of_exchanged(CIRCULAR)),
    },
    "inverse": {
        "asin": (one_argument(asin), INVERSE),
        "acos": (one_argument(acos), INVERSE),
        "atan": (atan_of, of_exchanged(INVERSE)),
        "asinh": (one_argument(asinh), of_exchanged(INVERSE)),
        "acosh": (one_argument(acosh), INVERSE),
        "atanh": (atanh_of, INVERSE),
    },
}

print(f"# complex_vectors.py {FAMILY} {DTYPE} {COUNT} {SEED}")
for name, (value, sources) in FAMILIES[FAMILY].items():
    for source in rng.choices([s for s, _ in sources], [w for _, w in sources], k=COUNT):
        operands = source()
        try:
            result = value(operands) if all(map(isfinite, operands)) else None
        except ZeroDivisionError:
            continue
        if result is None or not mpmath.isfinite(result):
            continue
        print(name, DTYPE, *map(token, operands), "=", exact(result.real), exact(result.imag))
