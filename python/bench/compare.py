#!/usr/bin/env python3
"""The twelve kernels of `benches/peers/kernels.py` under `ndjit.jit`, beside the libraries that are installed there.

    python python/bench/compare.py                 # ndjit, NumPy, and numexpr, numba and JAX where they are
    python python/bench/compare.py ndjit numpy     # these only
    python python/bench/compare.py --calls         # the latency of calls on 8 elements

Prints the least time of a call in µs, and how many times longer each library takes. One thread, fresh results. Inputs are the
same; results are compared with NumPy's, within 1e-4."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ["ndjit", "numpy", "numexpr", "numba", "jax"]


def peers():
    """The module of the kernels."""
    spec = importlib.util.spec_from_file_location("kernels", ROOT / "benches" / "peers" / "kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Namespace:
    """What the kernels use of NumPy."""

    def __getattr__(self, name):
        import ndjit

        return getattr(ndjit, name)


def own(module):
    """The records of ndjit."""
    import ndjit
    import numpy as np

    kernels = module.kernels(Namespace())
    kernels["sumsq"] = lambda x, y: ndjit.sum((x - y) ** 2)

    def softmax(a):
        e = ndjit.exp(a - ndjit.max(a, axis=1, keepdims=True))
        return e / ndjit.sum(e, axis=1, keepdims=True)

    kernels["softmax"] = softmax
    plain = module.kernels(np)
    for name, n, dtype in module.cases():
        given = module.inputs(name, n, dtype)
        f = ndjit.jit(kernels[name], threads=1)
        arrays = [ndjit.asarray(x) for x in given]
        if n <= 100_000:
            with np.errstate(all="ignore"):
                np.testing.assert_allclose(np.asarray(f(*arrays)), plain[name](*given), rtol=1e-4, atol=1e-4)
        # A call is computed when it returns.
        module.rec("ndjit", 1, name, dtype, n, "fresh", lambda: f(*arrays))


def records(library):
    """The records of a library, in a process of its own, on one processor."""
    pin = ["taskset", "-c", "0"] if sys.platform == "linux" else []
    env = dict(os.environ, OMP_NUM_THREADS="1", NUMBA_DISABLE_INTEL_SVML="1")
    if library == "ndjit":
        command = [sys.executable, __file__, "--own"]
    else:
        command = [sys.executable, str(ROOT / "benches" / "peers" / "kernels.py"), "worker", library, "1"]
    made = subprocess.run([*pin, *command], env=env, stdout=subprocess.PIPE, text=True)
    found = [json.loads(line) for line in made.stdout.splitlines() if line.startswith("{")]
    return {(r["kernel"], r["dtype"], r["n"]): r["min_s"] for r in found if r["mode"] == "fresh" and "min_s" in r}


def calls():
    """The latency of calls on 8 elements, in µs."""
    import timeit

    import ndjit
    import numpy as np

    x, y = ndjit.ones(8).block_until_ready(), np.ones(8, np.float32)
    f = ndjit.jit(lambda x: x * 2 + 1)
    f(x)
    names = {"f": f, "x": x, "y": y}
    for name, text in {"jitted x * 2 + 1": "f(x)", "recorded x + x": "x + x", "computed x + x": "(x + x).block_until_ready()", "numpy y * 2 + 1": "y * 2 + 1"}.items():
        print(f"{name:20} {min(timeit.repeat(text, globals=names, number=5000, repeat=30)) / 5000 * 1e6:6.2f}")


def main():
    """Prints the table."""
    if "--own" in sys.argv:
        return own(peers())
    if "--calls" in sys.argv:
        return calls()
    libraries = sys.argv[1:] or [name for name in LIBRARIES if importlib.util.find_spec(name)]
    columns = {library: records(library) for library in libraries}
    rows = list(peers().cases())
    print("| kernel | dtype | elements | " + " | ".join(f"{name}, µs" if n == 0 else f"{name}, ×" for n, name in enumerate(libraries)) + " |")
    print("| --- " * (len(libraries) + 3) + "|")
    for kernel, n, dtype in rows:
        own_time = columns[libraries[0]].get((kernel, dtype, n))
        if own_time is None:
            continue
        cells = [f"{own_time * 1e6:.1f}"]
        for library in libraries[1:]:
            time = columns[library].get((kernel, dtype, n))
            cells.append(f"{time / own_time:.1f}" if time else "")
        print(f"| {kernel} | {dtype} | {n} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
