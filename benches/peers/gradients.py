"""Values and gradients of functions in JAX, of as many elements as in `ndjit-bench gradients` and `ndjit-bench gradients --batched`.

`python benches/peers/gradients.py > jax.jsonl` prints a line of JSON for each function and number of threads: the least time of a call of the value,
and of the value and the gradient. Each number of threads is a process of its own.
"""

import json
import os
import subprocess
import sys
import time

if len(sys.argv) < 2:
    for threads in (1, 2):
        subprocess.run([sys.executable, __file__, str(threads)], check=True)
    sys.exit()
THREADS = int(sys.argv[1])
if THREADS == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.sched_setaffinity(0, set(range(THREADS)))
import jax
import jax.numpy as jnp

key = jax.random.key(0)


def timed(f, *arguments):
    compiled = jax.jit(f).lower(*arguments).compile()
    jax.block_until_ready(compiled(*arguments))
    least, begin = 1e9, time.perf_counter()
    while time.perf_counter() - begin < 0.5 or least == 1e9:
        start = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        least = min(least, time.perf_counter() - start)
    return least


def row(name, f, *arguments, argnums=0):
    value, gradient = timed(f, *arguments), timed(jax.value_and_grad(f, argnums), *arguments)
    line = {"backend": "jax", "function": name, "threads": THREADS, "value_s": value, "gradient_s": gradient}
    print(json.dumps(line), flush=True)


x = jax.random.normal(key, (1_000_000,))
row("lse", jax.nn.logsumexp, x)
row("sin_exp", lambda x: jnp.sum(jnp.sin(x) * jnp.exp(-x * x)), x)
row("std", jnp.std, x)
labels = jnp.arange(4096) % 1000
row("cross_entropy", lambda x: -jnp.mean(jax.nn.log_softmax(x)[jnp.arange(4096), labels]), jax.random.normal(key, (4096, 1000)))
row(
    "layer_norm",
    lambda x: jnp.sum(((x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)) ** 3),
    jax.random.normal(key, (4096, 1024)),
)
a, b = jax.random.normal(key, (512, 512)), jax.random.normal(key, (512, 512))
row("tanh_matmul", lambda a, b: jnp.sum(jnp.tanh(a @ b)), a, b, argnums=(0, 1))
h = jax.random.normal(key, (10_000,))


def steps(h):
    return jnp.sum(jax.lax.scan(lambda c, _: (jnp.tanh(c * 1.01 + 0.1), None), h, None, length=1000)[0])


row("scan", steps, h)
row("cumprod", lambda x: jnp.sum(jnp.cumprod(1 + x * 1e-3)), x[:100_000])
row("prod", lambda x: jnp.prod(1 + x * 1e-3), x[:100_000])
row("sort", lambda x: jnp.sum(jnp.sort(x) * jnp.arange(100_000)), x[:100_000])
index, w = jax.random.randint(key, (1_000_000,), 0, 1000), jax.random.normal(key, (1000,))
row("gather", lambda w: jnp.sum(jnp.sin(w[index])), w)
row("windows", lambda x: jnp.sum(jnp.convolve(x, jnp.ones(16), "valid") ** 2), x)
n, k, d = 1000, 25, 10
alpha, mu = jax.random.normal(key, (k,)), jax.random.normal(key, (k, d))
q, data = jax.random.normal(key, (k, d)), jax.random.normal(key, (n, d))


def gmm(alpha, mu, q):
    scaled = (data[:, None] - mu) * jnp.exp(q)
    likely = alpha + q.sum(1) - 0.5 * (scaled**2).sum(-1)
    return jnp.sum(jax.nn.logsumexp(likely, axis=1)) - n * jax.nn.logsumexp(alpha)


row("gmm", gmm, alpha, mu, q, argnums=(0, 1, 2))
row("second", lambda x: jnp.sum(jax.grad(lambda x: jnp.sum(jnp.tanh(x) * x))(x)), x)


def batched(name, f, *arguments, in_axes=0):
    value, gradient = (timed(jax.vmap(g, in_axes), *arguments) for g in (f, jax.value_and_grad(f)))
    line = {"backend": "jax", "function": name, "threads": THREADS, "value_s": value, "gradient_s": gradient}
    print(json.dumps(line), flush=True)


def normal(*shape):
    return jax.random.normal(key, shape)


def row_norm(x):
    return jnp.sum(((x - x.mean()) / jnp.sqrt(x.var() + 1e-5)) ** 3)


def oscillator(x):
    def step(state, _):
        p, v = state
        v = v - jnp.sin(p) * 0.05
        return (p + v * 0.05, v), None

    p, v = jax.lax.scan(step, (x[0], x[1]), None, length=100)[0]
    return p * p + v * v


table = normal(1000)


def lookups(x):
    index = jnp.clip(jnp.floor(x * 100 + 500), 0, 999).astype(int)
    return jnp.sum(table[index] * x * x)


batched("examples", lambda w, x: jax.nn.softplus(-jnp.sum(w * x)), normal(64), normal(4096, 64), in_axes=(None, 0))
batched("layers", lambda w, x: jnp.sum(jnp.tanh(w @ jnp.tanh(w @ (x * 0.1)))), normal(64, 64), normal(128, 64), in_axes=(None, 0))
matrix = normal(256, 256)
batched("matvec", lambda x: jnp.sum(jnp.tanh(matrix @ x * 0.05)), normal(1000, 256))
batched("row_norm", row_norm, normal(4096, 256))
batched("row_softmax", lambda x: jax.nn.logsumexp(x * 2), normal(4096, 100))
batched("row_sort", lambda x: jnp.sum(jnp.sort(x) * jnp.arange(100)), normal(2000, 100))
batched("oscillators", oscillator, normal(10_000, 2))
batched("lookups", lookups, normal(50_000, 16))
