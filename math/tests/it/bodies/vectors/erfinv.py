"""Writes erfinv.txt: doubles x and the doubles nearest to erfinv(x), as bits. Needs mpmath."""

import random
import struct

import mpmath as mp

mp.mp.prec = 200


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def erfinv(x):
    """By Newton's method on log(erfc), which is almost a parabola, or on erf where x is small."""
    x = mp.mpf(x)
    complement = 1 - x
    if x < 0.5:
        y = x * mp.sqrt(mp.pi) / 2
        step = lambda y: (mp.erf(y) - x) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
    else:
        y = mp.sqrt(-mp.log(complement))
        step = lambda y: -mp.log(mp.erfc(y) / complement) * mp.erfc(y) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
    for _ in range(100):
        d = step(y)
        y -= d
        if abs(d) < abs(y) * mp.mpf(2) ** -150:
            return y
    raise ArithmeticError(x)


random.seed(1)
inputs = [1 - 2.0**-k for k in range(1, 54)] + [2.0**-k for k in range(1, 60)] + [5e-324, 2.0**-1022, 1e-300]
inputs += [random.random() for _ in range(900)]
inputs += [1 - random.random() * 2.0 ** -random.randrange(1, 53) for _ in range(900)]
inputs += [random.random() * 2.0 ** -random.randrange(1, 40) for _ in range(300)]
with open("erfinv.txt", "w") as file:
    for x in inputs:
        if x < 1:
            file.write(f"{bits(x):016x} {bits(float(erfinv(x))):016x}\n")
