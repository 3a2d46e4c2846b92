"""Whole programs with loops in NumPy, numba and JAX, on the data and numbers of steps of `ndjit-bench programs`.

`python benches/peers/programs.py > peers.jsonl` prints a line of JSON for each backend, program and size: the least time of a call, the time of
the first one, and the sum of the results. Arguments name programs, `S` or `L`, and backends; without any all are run. What is not installed is left out.
"""

import json
import os
import sys
import time

os.environ.setdefault("NUMBA_NUM_THREADS", "2")
import numpy as np

try:
    import numba
    from numba import njit, prange
except ImportError:
    numba = None

    def njit(*_, **__):
        return lambda f: f

    prange = range
try:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax import lax
except ImportError:
    jax = None
from functools import partial


def unit(n):
    return (np.arange(n, dtype=np.int64) * 7919 % 100003) / 100003.0


def letters(n, of, start=0):
    return (np.arange(start, start + n, dtype=np.int64) * 7919 % 100003 % of).astype(np.uint8)


PROGRAMS = {}


def program(f):
    """A function that gives, for a size, arguments and functions of them for each backend."""
    PROGRAMS[f.__name__] = f
    return f


def jitted(f, **static):
    return jax.jit(partial(f, **static)) if jax else None


@program
def wave(large):
    n, steps = (1024, 50) if large else (128, 200)
    u = unit(n * n).reshape(n, n)
    u[0] = u[-1] = u[:, 0] = u[:, -1] = 0.0

    def numpy(u):
        u, before = u.copy(), u.copy()
        for _ in range(steps):
            inner = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            before[1:-1, 1:-1] = inner * 2 - before[1:-1, 1:-1] + (around - inner * 4) * 0.25
            u, before = before, u
        return u

    def jx(u):
        def step(_, state):
            u, before = state
            inner = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            new = inner * 2 - before[1:-1, 1:-1] + (around - inner * 4) * 0.25
            return before.at[1:-1, 1:-1].set(new), u

        return lax.fori_loop(0, steps, step, (u, u))[0]

    return (u,), {"numpy": numpy, "numba": lambda u: nb_wave(u, steps), "jax": jitted(jx)}


@njit(parallel=True)
def nb_wave(begin, steps):
    u, before = begin.copy(), begin.copy()
    n, m = u.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                before[i, j] = u[i, j] * 2 - before[i, j] + (around - u[i, j] * 4) * 0.25
        u, before = before, u
    return u


@program
def life(large):
    n, steps = (2048, 20) if large else (256, 100)
    cells = (unit(n * n) < 0.4).astype(np.uint8).reshape(n, n)
    cells[0] = cells[-1] = cells[:, 0] = cells[:, -1] = 0

    def around(c):
        return (
            c[:-2, :-2] + c[:-2, 1:-1] + c[:-2, 2:] + c[1:-1, :-2] + c[1:-1, 2:] + c[2:, :-2] + c[2:, 1:-1] + c[2:, 2:]
        )

    def numpy(c):
        c = c.copy()
        for _ in range(steps):
            k = around(c)
            c[1:-1, 1:-1] = (k == 3) | ((k == 2) & (c[1:-1, 1:-1] == 1))
        return c

    def jx(c):
        def step(_, c):
            k = around(c)
            return c.at[1:-1, 1:-1].set(((k == 3) | ((k == 2) & (c[1:-1, 1:-1] == 1))).astype(jnp.uint8))

        return lax.fori_loop(0, steps, step, c)

    return (cells,), {"numpy": numpy, "numba": lambda c: nb_life(c, steps), "jax": jitted(jx)}


@njit(parallel=True)
def nb_life(begin, steps):
    c, new = begin.copy(), begin.copy()
    n, m = c.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                k = np.uint8(
                    c[i - 1, j - 1] + c[i - 1, j] + c[i - 1, j + 1] + c[i, j - 1] + c[i, j + 1]
                    + c[i + 1, j - 1] + c[i + 1, j] + c[i + 1, j + 1]
                )
                new[i, j] = (k == 3) | ((k == 2) & (c[i, j] == 1))
        c, new = new, c
    return c


@program
def gray_scott(large):
    n, steps = (1024, 20) if large else (128, 100)
    i = np.abs(np.arange(n) - n // 2) < n // 8
    middle = i[:, None] & i[None, :]
    u = np.where(middle, 0.5, 1.0)
    v = unit(n * n).reshape(n, n) * 0.1 + np.where(middle, 0.25, 0.0)

    def step(np, u, v):
        def laplace(x):
            return np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - x * 4

        reaction = u * v * v
        return u + laplace(u) * 0.16 - reaction + (1 - u) * 0.035, v + laplace(v) * 0.08 + reaction - v * 0.1

    def numpy(u, v):
        for _ in range(steps):
            u, v = step(np, u, v)
        return u, v

    def jx(u, v):
        return lax.fori_loop(0, steps, lambda _, s: step(jnp, *s), (u, v))

    return (u, v), {"numpy": numpy, "numba": lambda u, v: nb_gray(u, v, steps), "jax": jitted(jx)}


@njit(parallel=True)
def nb_gray(u, v, steps):
    u, v = u.copy(), v.copy()
    p, q = u.copy(), v.copy()
    n = u.shape[0]
    for _ in range(steps):
        for i in prange(n):
            a, b = (i - 1) % n, (i + 1) % n
            for j in range(n):
                c = n - 1 if j == 0 else j - 1
                d = 0 if j == n - 1 else j + 1
                r = u[i, j] * v[i, j] * v[i, j]
                lu = u[a, j] + u[b, j] + u[i, c] + u[i, d] - u[i, j] * 4
                lv = v[a, j] + v[b, j] + v[i, c] + v[i, d] - v[i, j] * 4
                p[i, j] = u[i, j] + lu * 0.16 - r + (1 - u[i, j]) * 0.035
                q[i, j] = v[i, j] + lv * 0.08 + r - v[i, j] * 0.1
        u, p = p, u
        v, q = q, v
    return u, v


GAMMA, CFL = 1.4, 0.9


@program
def shock_tube(large):
    n, end = (100_000, 0.001) if large else (1000, 0.1)
    dx = 1.0 / n
    left = np.arange(n) < n // 2
    a, b, c = np.where(left, 1.0, 0.125), np.zeros(n), np.where(left, 1.0 / (GAMMA - 1), 0.1 / (GAMMA - 1))

    def parts(np, a, b, c, t):
        speed = b / a
        pressure = (c - b * speed * 0.5) * (GAMMA - 1)
        fastest = np.max(np.abs(speed) + np.sqrt(pressure * GAMMA / a))
        dt = np.minimum(CFL * dx / fastest, end - t)

        def change(x, flux):
            between = (flux[:-1] + flux[1:] - (x[1:] - x[:-1]) * fastest) * 0.5
            return (between[:-1] - between[1:]) * (dt / dx)

        return change(a, b), change(b, b * speed + pressure), change(c, (c + pressure) * speed), dt

    def numpy(a, b, c):
        a, b, c, t = a.copy(), b.copy(), c.copy(), 0.0
        while t < end - 1e-12:
            x, y, z, dt = parts(np, a, b, c, t)
            a[1:-1] += x
            b[1:-1] += y
            c[1:-1] += z
            t += dt
        return a, b, c

    def jx(a, b, c):
        def step(s):
            a, b, c, t = s
            x, y, z, dt = parts(jnp, a, b, c, t)
            return a.at[1:-1].add(x), b.at[1:-1].add(y), c.at[1:-1].add(z), t + dt

        return lax.while_loop(lambda s: s[3] < end - 1e-12, step, (a, b, c, 0.0))[:3]

    one, two = njit(nb_shock), njit(nb_shock, parallel=True) if numba else None
    return (a, b, c), {
        "numpy": numpy,
        "numba": lambda a, b, c: one(a, b, c, dx, end),
        "numba parallel": lambda a, b, c: two(a, b, c, dx, end),
        "jax": jitted(jx),
    }


def nb_shock(a, b, c, dx, end):
    a, b, c = a.copy(), b.copy(), c.copy()
    n = len(a)
    f, g = np.empty(n), np.empty(n)
    p, q, r = a.copy(), b.copy(), c.copy()
    t = 0.0
    while t < end - 1e-12:
        fastest = 0.0
        for i in prange(n):
            speed = b[i] / a[i]
            pressure = (c[i] - b[i] * speed * 0.5) * (GAMMA - 1)
            fastest = max(fastest, abs(speed) + np.sqrt(pressure * GAMMA / a[i]))
            f[i] = b[i] * speed + pressure
            g[i] = (c[i] + pressure) * speed
        dt = min(CFL * dx / fastest, end - t)
        k = dt / dx * 0.5
        for i in prange(1, n - 1):
            p[i] = a[i] + (b[i - 1] - b[i + 1] + (a[i + 1] - a[i] * 2 + a[i - 1]) * fastest) * k
            q[i] = b[i] + (f[i - 1] - f[i + 1] + (b[i + 1] - b[i] * 2 + b[i - 1]) * fastest) * k
            r[i] = c[i] + (g[i - 1] - g[i + 1] + (c[i + 1] - c[i] * 2 + c[i - 1]) * fastest) * k
        a, p = p, a
        b, q = q, b
        c, r = r, c
        t += dt
    return a, b, c


@program
def gauss_seidel(large):
    n, steps = (1026, 20) if large else (130, 100)
    u, f = unit(n * n).reshape(n, n), 1.0 - unit(n * n).reshape(n, n)
    colors = [(1, 1), (2, 2), (1, 2), (2, 1)]

    def part(u, f, i, j):
        def at(x, i, j):
            return x[i : i + n - 3 : 2, j : j + n - 3 : 2]

        return (at(u, i - 1, j) + at(u, i + 1, j) + at(u, i, j - 1) + at(u, i, j + 1) - at(f, i, j)) * 0.25

    def numpy(u, f):
        u = u.copy()
        for _ in range(steps):
            for i, j in colors:
                u[i : i + n - 3 : 2, j : j + n - 3 : 2] = part(u, f, i, j)
        return u

    def jx(u, f):
        def step(_, u):
            for i, j in colors:
                u = u.at[i : i + n - 3 : 2, j : j + n - 3 : 2].set(part(u, f, i, j))
            return u

        return lax.fori_loop(0, steps, step, u)

    return (u, f), {"numpy": numpy, "numba": lambda u, f: nb_seidel(u, f, steps), "jax": jitted(jx)}


@njit(parallel=True)
def nb_seidel(u, f, steps):
    u = u.copy()
    n = u.shape[0]
    for _ in range(steps):
        for color in range(2):
            for i in prange(1, n - 1):
                for j in range(1 + (i + 1 + color) % 2, n - 1, 2):
                    u[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j]) * 0.25
    return u


@program
def thomas(large):
    n, systems = (200, 10_000) if large else (64, 1000)
    x = unit(n * systems).reshape(n, systems)
    arguments = (x - 0.5, 3.0 + x, 0.7 - x, x * 2 - 1)

    def numpy(a, b, c, d):
        p, q = np.empty_like(a), np.empty_like(a)
        e = g = np.zeros(systems)
        for i in range(n):
            scale = 1 / (b[i] - a[i] * e)
            p[i], q[i] = c[i] * scale, (d[i] - a[i] * g) * scale
            e, g = p[i], q[i]
        for i in range(n - 2, -1, -1):
            q[i] -= p[i] * q[i + 1]
        return q

    def jx(a, b, c, d):
        def forth(s, x):
            (e, g), (a, b, c, d) = s, x
            scale = 1 / (b - a * e)
            s = (c * scale, (d - a * g) * scale)
            return s, s

        def back(x, s):
            x = s[1] - s[0] * x
            return x, x

        zero = jnp.zeros(systems)
        _, s = lax.scan(forth, (zero, zero), (a, b, c, d))
        return lax.scan(back, zero, s, reverse=True)[1]

    return arguments, {"numpy": numpy, "numba": nb_thomas, "jax": jitted(jx)}


@njit(parallel=True)
def nb_thomas(a, b, c, d):
    n, m = a.shape
    p, q = np.empty_like(a), np.empty_like(a)
    block = 256
    for t in prange((m + block - 1) // block):
        low, high = t * block, min(m, (t + 1) * block)
        for j in range(low, high):
            p[0, j] = c[0, j] / b[0, j]
            q[0, j] = d[0, j] / b[0, j]
        for i in range(1, n):
            for j in range(low, high):
                scale = 1 / (b[i, j] - a[i, j] * p[i - 1, j])
                p[i, j] = c[i, j] * scale
                q[i, j] = (d[i, j] - a[i, j] * q[i - 1, j]) * scale
        for i in range(n - 2, -1, -1):
            for j in range(low, high):
                q[i, j] -= p[i, j] * q[i + 1, j]
    return q


def symmetric(n):
    x = unit(n * n).reshape(n, n)
    return np.tril(x) + np.tril(x, -1).T + np.eye(n) * n


@program
def ldlt(large):
    n = 512 if large else 64
    a = symmetric(n)

    def numpy(a):
        l, d = np.zeros_like(a), np.zeros(n)
        for k in range(n):
            column = a[k:, k] - l[k:, :k] @ (l[k, :k] * d[:k])
            d[k] = column[0]
            l[k:, k] = column / d[k]
        return l, d

    def jx(a):
        rows = jnp.arange(n)

        def step(k, s):
            l, d = s
            column = a[:, k] - l @ (l[k] * d)
            pivot = column[k]
            return l.at[:, k].set(jnp.where(rows >= k, column / pivot, 0)), d.at[k].set(pivot)

        return lax.fori_loop(0, n, step, (jnp.zeros_like(a), jnp.zeros(n)))

    return (a,), {"numpy": numpy, "numba": nb_ldlt, "jax": jitted(jx)}


@njit()
def nb_ldlt(a):
    n = a.shape[0]
    l, d, s = np.zeros_like(a), np.zeros(n), np.zeros(n)
    for k in range(n):
        for j in range(k):
            s[j] = l[k, j] * d[j]
        for i in range(k, n):
            dot = 0.0
            for j in range(k):
                dot += l[i, j] * s[j]
            l[i, k] = a[i, k] - dot
        d[k] = l[k, k]
        for i in range(k, n):
            l[i, k] /= d[k]
    return l, d


@program
def forward(large):
    n = 2000 if large else 200
    l, b = np.tril(symmetric(n)), unit(n)

    def numpy(l, b):
        x = np.zeros(n)
        for i in range(n):
            x[i] = (b[i] - l[i, :i] @ x[:i]) / l[i, i]
        return x

    def jx(l, b):
        return lax.fori_loop(0, n, lambda i, x: x.at[i].set((b[i] - jnp.sum(l[i] * x)) / l[i, i]), jnp.zeros(n))

    return (l, b), {"numpy": numpy, "numba": nb_forward, "jax": jitted(jx)}


@njit()
def nb_forward(l, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        dot = 0.0
        for j in range(i):
            dot += l[i, j] * x[j]
        x[i] = (b[i] - dot) / l[i, i]
    return x


@program
def needleman(large):
    n = 5000 if large else 500
    a, b = letters(n, 4), letters(n, 5, 1000)
    gaps = np.arange(n + 1, dtype=np.int32)

    def numpy(a, b):
        row = -gaps
        best = np.empty_like(row)
        for letter in a:
            best[0] = row[0] - 1
            best[1:] = np.maximum(row[:-1] + np.where(b == letter, 1, -1), row[1:] - 1)
            row = np.maximum.accumulate(best + gaps) - gaps
        return row

    def jx(a, b):
        def step(row, letter):
            best = jnp.maximum(row[:-1] + jnp.where(b == letter, 1, -1).astype(jnp.int32), row[1:] - 1)
            best = jnp.concatenate([row[:1] - 1, best])
            return lax.cummax(best + gaps) - gaps, None

        return lax.scan(step, -jnp.asarray(gaps), a)[0]

    return (a, b), {"numpy": numpy, "numba": nb_needleman, "jax": jitted(jx)}


@njit()
def nb_needleman(a, b):
    n = len(b)
    row = np.empty(n + 1, np.int32)
    for j in range(n + 1):
        row[j] = -j
    for letter in a:
        corner = row[0]
        row[0] -= 1
        left = row[0]
        for j in range(1, n + 1):
            above = row[j]
            best = max(np.int32(corner + (1 if b[j - 1] == letter else -1)), np.int32(above - 1))
            left = max(best, np.int32(left - 1))
            row[j] = left
            corner = above
    return row


@program
def lcs(large):
    n = 3000 if large else 300
    a, b = letters(n, 5), letters(n, 5, 1000)

    def jx(a, b):
        # Row by row: within a row a running maximum.
        def step(above, letter):
            corner = jnp.where(b == letter, above[:-1] + 1, 0)
            row = lax.cummax(jnp.concatenate([above[:1], jnp.maximum(corner, above[1:])]))
            return row, row

        first = jnp.zeros(n + 1, jnp.int32)
        return jnp.concatenate([first[None], lax.scan(step, first, a)[1]])

    def numpy(a, b):
        table = np.zeros((n + 1, n + 1), np.int32)
        for i, letter in enumerate(a):
            corner = np.where(b == letter, table[i, :-1] + 1, 0)
            table[i + 1, 1:] = np.maximum.accumulate(np.maximum(corner, table[i, 1:]))
        return table

    return (a, b), {"numpy": numpy, "numba": nb_lcs, "jax": jitted(jx)}


@njit()
def nb_lcs(a, b):
    n = len(b)
    table = np.zeros((len(a) + 1, n + 1), np.int32)
    for i in range(1, len(a) + 1):
        for j in range(1, n + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table


@program
def sieve(large):
    n = 5_000_000 if large else 50_000
    x = np.ones(n, bool)
    x[:2] = False

    def numpy(x):
        x = x.copy()
        for i in range(2, int(n**0.5) + 1):
            if x[i]:
                x[i * i :: i] = False
        return x

    return (x,), {"numpy": numpy, "numba": nb_sieve}


@njit()
def nb_sieve(x):
    x = x.copy()
    n = len(x)
    i = 2
    while i * i < n:
        if x[i]:
            j = i * i
            while j < n:
                x[j] = False
                j += i
        i += 1
    return x


@program
def viterbi(large):
    steps, states = (2000, 200) if large else (500, 20)
    emitted, moved = unit(steps * states).reshape(steps, states), unit(states * states).reshape(states, states)

    def numpy(emitted, moved):
        likely = np.zeros(states)
        before = np.empty((steps, states), np.int32)
        for i in range(steps):
            made = likely[:, None] + moved
            before[i] = made.argmax(0)
            likely = made.max(0) + emitted[i]
        return likely, before

    def jx(emitted, moved):
        def step(likely, emitted):
            made = likely[:, None] + moved
            return made.max(0) + emitted, made.argmax(0)

        return lax.scan(step, jnp.zeros(states), emitted)

    return (emitted, moved), {"numpy": numpy, "numba": nb_viterbi, "jax": jitted(jx)}


@njit()
def nb_viterbi(emitted, moved):
    steps, states = emitted.shape
    likely = np.zeros(states)
    before = np.empty((steps, states), np.int32)
    for i in range(steps):
        made = np.full(states, -np.inf)
        for j in range(states):
            for k in range(states):
                new = likely[j] + moved[j, k]
                if new > made[k]:
                    made[k] = new
                    before[i, k] = j
        likely = made + emitted[i]
    return likely, before


@program
def adler32(large):
    x = letters(10_000_000 if large else 100_000, 251)

    def jx(x):
        def step(s, byte):
            a = (s[0] + byte) % jnp.uint32(65521)
            return (a, (s[1] + a) % jnp.uint32(65521)), None

        a, b = lax.scan(step, (jnp.uint32(1), jnp.uint32(0)), x)[0]
        return b * jnp.uint32(65536) + a

    return (x,), {"numba": nb_adler, "jax": jitted(jx)}


@njit()
def nb_adler(x):
    a, b = np.uint32(1), np.uint32(0)
    for byte in x:
        a = np.uint32(np.uint32(a + np.uint32(byte)) % np.uint32(65521))
        b = np.uint32(np.uint32(b + a) % np.uint32(65521))
    return np.uint32(b * np.uint32(65536) + a)


@program
def fnv1a(large):
    x = letters(10_000_000 if large else 100_000, 251)

    def jx(x):
        prime = jnp.uint64(0x100000001B3)
        step = lambda h, byte: ((h ^ byte.astype(jnp.uint64)) * prime, None)
        return lax.scan(step, jnp.uint64(0xCBF29CE484222325), x)[0]

    return (x,), {"numba": nb_fnv, "jax": jitted(jx)}


@njit()
def nb_fnv(x):
    h = np.uint64(0xCBF29CE484222325)
    for byte in x:
        h = (h ^ np.uint64(byte)) * np.uint64(0x100000001B3)
    return h


@program
def blend(large):
    n = 1 << 24 if large else 1 << 16
    a, b = letters(n, 251), letters(n + 1000, 256)[1000:]

    def numpy(a, b):
        total = a.astype(np.uint16) * np.uint16(77) + b.astype(np.uint16) * np.uint16(178)
        return (total // np.uint16(255)).astype(np.uint8)

    def jx(a, b):
        total = a.astype(jnp.uint16) * jnp.uint16(77) + b.astype(jnp.uint16) * jnp.uint16(178)
        return (total // jnp.uint16(255)).astype(jnp.uint8)

    return (a, b), {"numpy": numpy, "numba": nb_blend, "jax": jitted(jx)}


@njit()
def nb_blend(a, b):
    out = np.empty(len(a), np.uint8)
    for i in range(len(a)):
        out[i] = (np.uint32(a[i]) * np.uint32(77) + np.uint32(b[i]) * np.uint32(178)) // np.uint32(255)
    return out


@program
def logistic(large):
    n, steps = (1_000_000, 200) if large else (1000, 1000)
    x = unit(n)

    def numpy(x):
        for _ in range(steps):
            x = x * 3.7 * (1 - x)
        return x

    def jx(x):
        return lax.fori_loop(0, steps, lambda _, x: x * 3.7 * (1 - x), x)

    one, two = njit(nb_logistic), njit(nb_logistic, parallel=True) if numba else None
    return (x,), {
        "numpy": numpy,
        "numba": lambda x: one(x, steps),
        "numba parallel": lambda x: two(x, steps),
        "jax": jitted(jx),
    }


def nb_logistic(x, steps):
    out = x.copy()
    block = 64
    for t in prange((len(x) + block - 1) // block):
        low, high = t * block, min(len(x), (t + 1) * block)
        for _ in range(steps):
            for i in range(low, high):
                out[i] = out[i] * 3.7 * (1 - out[i])
    return out


DT = 0.001


def slope(x, y, z):
    return (y - x) * 10, x * (28 - z) - y, x * y - z * (8.0 / 3.0)


def lorenz_step(x, y, z):
    a, b, c = slope(x, y, z)
    d, e, f = slope(x + a * (DT / 2), y + b * (DT / 2), z + c * (DT / 2))
    g, h, i = slope(x + d * (DT / 2), y + e * (DT / 2), z + f * (DT / 2))
    j, k, l = slope(x + g * DT, y + h * DT, z + i * DT)
    s = DT / 6.0
    return x + (a + (d + g) * 2 + j) * s, y + (b + (e + h) * 2 + k) * s, z + (c + (f + i) * 2 + l) * s


@program
def lorenz(large):
    end = DT * ((1_000_000 if large else 10_000) - 0.5)

    def jx(at):
        step = lambda s: (*lorenz_step(*s[:3]), s[3] + DT)
        return lax.while_loop(lambda s: s[3] < end, step, (at[0], at[1], at[2], 0.0))

    return (np.ones(3),), {"numba": lambda at: nb_lorenz(at, end), "jax": jitted(jx)}


if numba:
    nb_slope = njit(slope)

    @njit
    def nb_lorenz(at, end):
        x, y, z, t = at[0], at[1], at[2], 0.0
        while t < end:
            a, b, c = nb_slope(x, y, z)
            d, e, f = nb_slope(x + a * (DT / 2), y + b * (DT / 2), z + c * (DT / 2))
            g, h, i = nb_slope(x + d * (DT / 2), y + e * (DT / 2), z + f * (DT / 2))
            j, k, l = nb_slope(x + g * DT, y + h * DT, z + i * DT)
            s = DT / 6.0
            x, y, z = x + (a + (d + g) * 2 + j) * s, y + (b + (e + h) * 2 + k) * s, z + (c + (f + i) * 2 + l) * s
            t += DT
        return x, y, z, t


@program
def kalman(large):
    n = 1_000_000 if large else 10_000
    z = np.arange(n) * 0.01 + unit(n)

    def jx(z):
        def step(s, z):
            x, v, p, q, r = s
            x, p, q, r = x + v, p + q * 2 + r + 0.01, q + r, r + 0.01
            scale = 1 / (p + 0.5)
            a, b, off = p * scale, q * scale, z - x
            x = x + a * off
            return (x, v + b * off, p - a * p, q - a * q, r - b * q), x

        last, places = lax.scan(step, (0.0, 0.0, 1.0, 0.0, 1.0), z)
        return places, last[1]

    return (z,), {"numba": nb_kalman, "jax": jitted(jx)}


@njit()
def nb_kalman(z):
    x, v, p, q, r = 0.0, 0.0, 1.0, 0.0, 1.0
    places = np.empty_like(z)
    for i in range(len(z)):
        x, p, q, r = x + v, p + q * 2 + r + 0.01, q + r, r + 0.01
        scale = 1 / (p + 0.5)
        a, b, off = p * scale, q * scale, z[i] - x
        x += a * off
        v, p, q, r = v + b * off, p - a * p, q - a * q, r - b * q
        places[i] = x
    return places, v


@program
def smoothing(large):
    n, series = (1000, 5000) if large else (1000, 100)
    x = unit(n * series).reshape(n, series)

    def numpy(x):
        out = np.empty_like(x)
        level = x[0]
        for i in range(n):
            level = out[i] = level * 0.9 + x[i] * 0.1
        return out

    def jx(x):
        def step(level, x):
            level = level * 0.9 + x * 0.1
            return level, level

        return lax.scan(step, x[0], x)[1]

    one, two = njit(nb_smoothing), njit(nb_smoothing, parallel=True) if numba else None
    return (x,), {"numpy": numpy, "numba": one, "numba parallel": two, "jax": jitted(jx)}


def nb_smoothing(x):
    n, m = x.shape
    out = np.empty_like(x)
    block = 256
    for t in prange((m + block - 1) // block):
        low, high = t * block, min(m, (t + 1) * block)
        for j in range(low, high):
            out[0, j] = x[0, j] * 0.9 + x[0, j] * 0.1
        for i in range(1, n):
            for j in range(low, high):
                out[i, j] = out[i - 1, j] * 0.9 + x[i, j] * 0.1
    return out


@program
def median(large):
    n, w = 1_000_000 if large else 10_000, 9
    x = unit(n)

    def jx(x):
        return jnp.median(jnp.stack([x[i : n - w + 1 + i] for i in range(w)]), axis=0)

    return (x,), {
        "numpy": lambda x: np.median(np.lib.stride_tricks.sliding_window_view(x, w), axis=-1),
        "numba": nb_median,
        "jax": jitted(jx),
    }


@njit(parallel=True)
def nb_median(x):
    n = len(x) - 8
    out = np.empty(n)
    block = 1024
    for t in prange((n + block - 1) // block):
        window = np.empty(9)
        for i in range(t * block, min(n, (t + 1) * block)):
            for k in range(9):
                v = x[i + k]
                j = k
                while j > 0 and window[j - 1] > v:
                    window[j] = window[j - 1]
                    j -= 1
                window[j] = v
            out[i] = window[4]
    return out


@program
def histogram(large):
    x = unit(10_000_000 if large else 100_000)

    def jx(x):
        return jnp.zeros(1000, jnp.int32).at[(x * 1000).astype(jnp.int32)].add(1)

    return (x,), {
        "numpy": lambda x: np.bincount((x * 1000).astype(np.int64), minlength=1000),
        "numba": nb_histogram,
        "jax": jitted(jx),
    }


@njit()
def nb_histogram(x):
    counts = np.zeros(1000, np.int32)
    for i in range(len(x)):
        counts[int(x[i] * 1000)] += 1
    return counts


@program
def nbody(large):
    n, steps = (2000, 5) if large else (100, 50)
    arguments = tuple(unit(4 * n).reshape(4, n))

    def step(np, at, speed, m):
        to = [x[None, :] - x[:, None] for x in at]
        square = to[0] * to[0] + to[1] * to[1] + to[2] * to[2] + 0.01
        pull = m / (square * np.sqrt(square))
        speed = tuple(v + (t * pull).sum(1) * DT for v, t in zip(speed, to))
        return tuple(x + v * DT for x, v in zip(at, speed)), speed

    def numpy(x, y, z, m):
        at, speed = (x, y, z), (np.zeros(n),) * 3
        for _ in range(steps):
            at, speed = step(np, at, speed, m)
        return (*at, *speed)

    def jx(x, y, z, m):
        zero = jnp.zeros(n)
        at, speed = lax.fori_loop(0, steps, lambda _, s: step(jnp, *s, m), ((x, y, z), (zero,) * 3))
        return (*at, *speed)

    return arguments, {"numpy": numpy, "numba": lambda x, y, z, m: nb_nbody(x, y, z, m, steps), "jax": jitted(jx)}


@njit(parallel=True)
def nb_nbody(x, y, z, m, steps):
    x, y, z = x.copy(), y.copy(), z.copy()
    n = len(x)
    u, v, w = np.zeros(n), np.zeros(n), np.zeros(n)
    for _ in range(steps):
        for i in prange(n):
            a = b = c = 0.0
            for j in range(n):
                p, q, r = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                s = p * p + q * q + r * r + 0.01
                f = m[j] / (s * np.sqrt(s))
                a += p * f
                b += q * f
                c += r * f
            u[i] += a * DT
            v[i] += b * DT
            w[i] += c * DT
        for i in range(n):
            x[i] += u[i] * DT
            y[i] += v[i] * DT
            z[i] += w[i] * DT
    return x, y, z, u, v, w


def total(results):
    results = results if isinstance(results, (tuple, list)) else (results,)
    return float(sum(np.asarray(x).astype(np.float64).sum() for x in results))


def measure(call, budget):
    begin = time.perf_counter()
    results = call()
    first = time.perf_counter() - begin
    times, start = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < budget:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times), first, total(results)


def main(wanted):
    names = [w for w in wanted if w in PROGRAMS] or list(PROGRAMS)
    sizes = [w for w in wanted if w in ("S", "L")] or ["S", "L"]
    backends = [w for w in wanted if w in ("numpy", "numba", "jax")] or ["numpy", "numba", "jax"]
    for name in names:
        for size in sizes:
            arguments, functions = PROGRAMS[name](size == "L")
            for backend, function in functions.items():
                kind = backend.split()[0]
                if kind not in backends or (kind == "numba" and not numba) or (kind == "jax" and not jax):
                    continue
                given = arguments
                call = lambda: function(*given)
                if kind == "jax":
                    given = tuple(jnp.asarray(x) for x in arguments)
                    call = lambda: jax.block_until_ready(function(*given))
                least, first, sum_ = measure(call, 0.5)
                line = {"backend": backend, "program": name, "size": size, "min_s": least, "first_s": first, "sum": sum_}
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
