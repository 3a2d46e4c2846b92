"""Writes digamma.txt: orders n, doubles x, and the doubles nearest to the nth derivative of digamma at x, as bits. Needs mpmath."""

import random
import struct

import mpmath as mp

mp.mp.prec = 300


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def polygamma(n, x):
    """By Euler and Maclaurin's formula, relative to (n - 1)! x^-n; by the recurrence for negative x, and for digamma mpmath's own."""
    x = mp.mpf(x)
    if n == 0:
        return mp.digamma(x)
    s, steps, terms = mp.mpf(n) + 1, 0, mp.mpf(0)
    while x + steps < 40:
        terms += (x + steps) ** -s
        steps += 1
    w = x + steps
    # Until the tail's terms fall at once.
    while w < n / 3 and steps < 60:
        terms += w**-s
        steps += 1
        w = x + steps
    tail, rising = w / n + mp.mpf(1) / 2, s / w
    for j in range(1, 31):
        tail += mp.bernoulli(2 * j) / mp.factorial(2 * j) * rising
        rising *= (s + 2 * j - 1) * (s + 2 * j) / w**2
    return (-1) ** (n + 1) * mp.factorial(n) * (terms + tail * w**-s)


random.seed(1)
rows = []
for _ in range(70):
    rows += [(0, 10 ** random.uniform(-20, 20)), (0, random.uniform(0, 10)), (0, -random.uniform(0, 12)), (0, random.uniform(1, 2))]
    rows += [(0, 1.4616321449683623 + random.uniform(-1, 1) * 2.0 ** -random.randrange(53)), (0, -random.uniform(0, 1e4))]
for n in list(range(1, 25)) + [30, 50, 99, 170, 200, 500, 1000, 10**4, 10**6]:
    for _ in range(8):
        rows += [(n, 10 ** random.uniform(-3, 3)), (n, (n + 3) * random.uniform(0.1, 1))]
        rows += [(n, (n + 20) * random.uniform(0.9, 1.3) / 2.718), (n, random.uniform(0, 30))]
for n in (1, 2):
    for _ in range(80):
        rows += [(n, -random.uniform(0, 12)), (n, -random.uniform(0, 1e3))]
rows += [(0, 1.4616321449683623), (0, -0.504083008264455), (0, 5e-324), (0, 1.7976931348623157e308), (1, 1.7976931348623157e308)]
with open("digamma.txt", "w") as file:
    for n, x in rows:
        y = float(polygamma(n, x))
        if y != 0 and abs(y) < 1.8e308:
            file.write(f"{n} {bits(x):016x} {bits(y):016x}\n")
