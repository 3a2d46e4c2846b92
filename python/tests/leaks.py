"""Memory and references over many arrays: `python tests/leaks.py [count]`, a million of each kind by default.

Arrays are made and dropped, exported and imported by DLPack, changed in place, and evaluated by `ndjit.numexpr`. The resident memory
must stay as it is, and sources must have no more references than before.
"""

import gc
import sys

import ndjit
import ndjit.numexpr
import numpy as np

# What the allocator and Python's own lists may still take after the first tenth.
MARGIN = 8.0


def resident():
    """The resident memory of this process in MiB."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def kinds():
    """Per kind, the source whose references are counted, and what is done again and again."""
    source = np.arange(64.0)
    held = ndjit.asarray(source)
    out = np.empty(64)

    def changed():
        x = ndjit.asarray(source)
        x[3] = 5
        x[5:9] += 1

    def pickled():
        make, arguments = held.__reduce__()
        make(*arguments)

    def failed():
        try:
            held + ndjit.zeros(3)
        except ValueError:
            pass

    return {
        "made and dropped": (source, lambda: ndjit.asarray(source)),
        "recorded and dropped": (held, lambda: held + 1),
        "imported by DLPack": (source, lambda: ndjit.from_dlpack(source)),
        "imported, and computed with": (source, lambda: (ndjit.from_dlpack(source) + 1).block_until_ready()),
        "exported by DLPack": (held, lambda: np.from_dlpack(held)),
        "exported, never taken": (held, lambda: held.__dlpack__(max_version=(1, 1))),
        "sliced": (held, lambda: held[3:9]),
        "changed in place": (source, changed),
        "pickled": (held, pickled),
        "errors": (held, failed),
        "numexpr": (source, lambda: ndjit.numexpr.evaluate("x + 1", {"x": source})),
        "numexpr into an array": (out, lambda: ndjit.numexpr.evaluate("x + 1", {"x": source}, out=out)),
    }


def grown(source, work, count):
    """The growth of the resident memory in MiB, and of the references, from a tenth of the calls on."""
    for _ in range(max(count // 10, 1000)):
        work()
    gc.collect()
    references, before = sys.getrefcount(source), resident()
    for _ in range(count):
        work()
    gc.collect()
    return resident() - before, sys.getrefcount(source) - references


def main():
    """Prints a line for each kind, and fails if one grows."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    leaks = []
    for name, (source, work) in kinds().items():
        memory, references = grown(source, work, count)
        print(f"{name:<28} {count:>9,} times: {memory:+6.2f} MiB, {references:+d} references", flush=True)
        if memory > MARGIN or references:
            leaks.append(name)
    if leaks:
        sys.exit(f"these grow: {', '.join(leaks)}")


if __name__ == "__main__":
    main()
