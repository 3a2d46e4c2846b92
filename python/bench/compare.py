"""Times of the twelve kernels from Python, beside numpy, numexpr, numba and jax: `python bench/compare.py [--write] [--sizes 1000 …]`.

Every library computes each kernel into new memory, in one process, in turns: per round one batch of calls of each, several rounds, and
the least time counts. First calls, which compile, are not timed. `--write` writes `docs/benchmarks.md`.
"""

import argparse
import datetime
import os
import platform
import subprocess
import sys
import time
import zlib
from importlib import metadata
from pathlib import Path

import kernels
import ndjit
import ndjit.numexpr
import numpy as np

ROUNDS, BATCH = 7, 0.02
HERE = Path(__file__).parent


def libraries(threads):
    """Per library a function of a kernel's name and arguments that gives a call; `None` where it has no such kernel."""
    found = {}

    def own(transform):
        def call(name, arguments):
            x = [ndjit.asarray(a, copy=True) for a in arguments]
            function = transform(kernels.formulas(ndjit)[name])
            return lambda: function(*x).block_until_ready()

        return call

    found["ndjit.jit"] = own(ndjit.jit)
    # Without `jit`: each call records the operations, and evaluates them.
    found["ndjit"] = own(lambda function: function)
    texts = kernels.of_texts(ndjit.numexpr)
    found["ndjit.numexpr"] = lambda name, arguments: lambda: texts[name](*arguments)
    formulas = kernels.formulas(np)
    found["numpy"] = lambda name, arguments: lambda: formulas[name](*arguments)
    try:
        import numexpr

        numexpr.set_num_threads(threads)
        theirs = kernels.of_texts(numexpr)
        found["numexpr"] = lambda name, arguments: lambda: theirs[name](*arguments)
    except ImportError:
        pass
    try:
        import numba

        numba.set_num_threads(threads)
        serial, parallel = kernels.of_loops(numba, False), kernels.of_loops(numba, threads > 1)

        def loop(name, arguments):
            # Its threads take longer to start than small arrays to compute.
            function = (serial if max(a.size for a in arguments) < 50_000 and name != "outer" else parallel)[name]
            if name == "sumsq":
                return lambda: function(*arguments)
            shape = np.broadcast_shapes(*(a.shape for a in arguments))
            dtype = np.complex64 if name == "mandel" else np.float32
            return lambda: function(*arguments, np.empty(shape, dtype))

        found["numba"] = loop
    except ImportError:
        pass
    try:
        import jax

        def jitted(name, arguments):
            x = [jax.device_put(a) for a in arguments]
            function = jax.jit(kernels.formulas(jax.numpy)[name])
            return lambda: function(*x).block_until_ready()

        found["jax"] = jitted
    except ImportError:
        pass
    return found


def times(calls):
    """The least time of each call, in seconds."""
    batches = {}
    for name, call in calls.items():
        call()
        call()
        begun = time.perf_counter()
        call()
        batches[name] = max(1, int(BATCH / max(time.perf_counter() - begun, 1e-7)))
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            count = batches[name]
            begun = time.perf_counter()
            for _ in range(count):
                call()
            least[name] = min(least[name], (time.perf_counter() - begun) / count)
    return least


def shown(seconds):
    """A time with three digits."""
    unit, factor = ("s", 1) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{seconds * factor:.3g} {unit}"


def kernels_table(sizes, threads):
    """Rows of times and ratios, and the geometric means of ratios."""
    made = libraries(threads)
    peers = [name for name in made if not name.startswith("ndjit")]
    lines, ratios, inexact, lost = [], {}, [], []
    lines.append("| kernel | elements | " + " | ".join(made) + " | best peer / ndjit.jit |")
    lines.append("| --- | --: | " + " | ".join("--:" for _ in made) + " | --: |")
    for size in sizes:
        for name in kernels.NAMES:
            arguments = kernels.inputs(name, size)
            calls = {library: make(name, arguments) for library, make in made.items()}
            expected = np.asarray(calls["numpy"]())
            for library, call in calls.items():
                # numba writes into its last argument and returns nothing, except for sums.
                got = call()
                if got is not None and not np.allclose(np.asarray(got), expected, rtol=2e-3, atol=1e-4):
                    error = np.max(np.abs(np.asarray(got) / expected - 1))
                    inexact.append(f"{library} differs from numpy by {error:.0%} in {name} of {size:,} elements.")
            found = times(calls)
            best = min(peers, key=found.get)
            ratio = found[best] / found["ndjit.jit"]
            if ratio < 1:
                lost.append(f"{name} of {size:,} ({best}, {1 / ratio:.2f})")
            for peer in peers:
                ratios.setdefault((size, peer), []).append(found[peer] / found["ndjit.jit"])
            cells = " | ".join(shown(found[library]) for library in made)
            lines.append(f"| {name} | {arguments[0].size if name != 'outer' else arguments[0].size ** 2:,} | {cells} | {ratio:.2f} |")
            print(lines[-1], flush=True)
    means = ["| elements | " + " | ".join(f"{peer} / ndjit.jit" for peer in peers) + " |", "| --: | " + " | ".join("--:" for _ in peers) + " |"]
    for size in sizes:
        cells = [f"{np.exp(np.mean(np.log(ratios[size, peer]))):.2f}" for peer in peers]
        means.append(f"| {size:,} | {' | '.join(cells)} |")
    rows = len(sizes) * len(kernels.NAMES)
    losses = f"A peer is faster in {len(lost)} of {rows} rows, so many times as fast: {', '.join(lost)}." if lost else ""
    return [*lines, "", *inexact], [*means, "", losses]


def overheads():
    """The times of single operations and calls."""
    import numexpr

    x = ndjit.asarray(np.ones(8, np.float32))
    y = np.ones(8, np.float32)
    held = [x]
    jitted, slope = ndjit.jit(lambda x: x * 2 + 1), ndjit.grad(lambda x: ndjit.sum(x * x))

    def lazy():
        held[0] = x + x

    rows = {
        "an operation, recorded": lazy,
        "an operation, evaluated": lambda: (x + x).block_until_ready(),
        "a call of a jitted function": lambda: jitted(x),
        "`ndjit.grad(f)(x)` without `jit`": lambda: slope(x),
        "numpy: an operation": lambda: y + y,
        "`ndjit.numexpr.evaluate`": lambda: ndjit.numexpr.evaluate("y + y * 2", {"y": y}),
        "`numexpr.evaluate`": lambda: numexpr.evaluate("y + y * 2", {"y": y}),
        "`ndjit.numexpr.re_evaluate`": lambda: ndjit.numexpr.re_evaluate({"y": y}),
        "`numexpr.re_evaluate`": lambda: numexpr.re_evaluate({"y": y}),
        "import from NumPy without a copy": lambda: ndjit.from_dlpack(y),
        "export to NumPy without a copy": lambda: np.from_dlpack(x),
    }
    try:
        import jax

        z, theirs = jax.device_put(y), jax.jit(lambda x: x * 2 + 1)
        rows["jax: an operation, evaluated"] = lambda: (z + z).block_until_ready()
        rows["jax: a call of a jitted function"] = lambda: theirs(z).block_until_ready()
        their_slope = jax.grad(lambda x: jax.numpy.sum(x * x))
        rows["`jax.grad(f)(x)` without `jit`"] = lambda: their_slope(z).block_until_ready()
    except ImportError:
        pass
    return ["| of 8 elements | time |", "| --- | --: |", *(f"| {name} | {shown(t)} |" for name, t in times(rows).items())]


def import_time(module):
    """The time that `import` takes in a new process, the least of five."""
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout) for _ in range(5))


def machine():
    """The processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        return next(line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def main():
    """Prints the page, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--sizes", nargs="*", type=int, default=[1000, 1_000_000, 10_000_000])
    options = parser.parse_args()
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    packages = [f"{name} {metadata.version(name)}" for name in ("numpy", "numexpr", "numba", "jax")]
    lines, means = kernels_table(options.sizes, threads)
    modules = ("ndjit", "numpy", "numexpr", "numba", "jax")
    library = Path(ndjit._ndjit.__file__).read_bytes()
    page = [
        "# Times from Python",
        "",
        f"{datetime.date.today()}, {machine()}, {threads} threads, CPython {platform.python_version()}, {', '.join(packages)}.",
        "`python bench/compare.py --write` writes this page: every library computes each kernel (`bench/kernels.py`) in float32 into new",
        "memory, in turns in one process; the least of seven batches counts. The wheel is the published one (`--profile dist`). First calls, which compile, are not timed.",
        "`ndjit.jit` and jax are jitted functions of their own arrays; `ndjit` are the same operations without `jit`, recorded and evaluated",
        "by each call; `ndjit.numexpr` is `evaluate` of a text on NumPy's arrays. Machines are shared: compare columns, not pages."
        + (" No other process ran between (`chrt -f 50`)." if hasattr(os, "SCHED_FIFO") and os.sched_getscheduler(0) == os.SCHED_FIFO else ""),
        "",
        "## Kernels: geometric means of ratios",
        "Above 1, `ndjit.jit` is faster than that library.",
        "",
        *means,
        "",
        "## Kernels: times",
        "",
        *lines,
        "",
        "## Overheads",
        "",
        *overheads(),
        "",
        "| `import` | time |",
        "| --- | --: |",
        *(f"| {module} | {shown(import_time(module))} |" for module in modules),
        "",
        f"The extension has {len(library) / 1e6:.1f} MB, {len(zlib.compress(library)) / 1e6:.1f} MB in the wheel.",
    ]
    text = "\n".join(page) + "\n"
    if options.write:
        (HERE.parent / "docs" / "benchmarks.md").write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
