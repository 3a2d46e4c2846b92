"""Ctrl-C interrupts what runs; sub-interpreters are refused."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

LONG = {
    "loop": "ndjit.fori_loop(0, 2_000_000_000, lambda i, x: x * 0.5 + 1, 1.0).block_until_ready()",
    "while": "ndjit.while_loop(lambda x: x >= 0, lambda x: (x + 1) % 7, 1)",
    "lazy": "[ndjit.sum(functools.reduce(lambda x, _: ndjit.sin(x), range(100), x)).block_until_ready() for _ in range(100)]",
    "creation": "all(ndjit.arange(100_000_000).size for _ in range(1000))",
    "sort": "[ndjit.sort(x).block_until_ready() for _ in range(1000)]",
}


def latency(name):
    """The time from Ctrl-C to the exception."""
    program = f"""
        import functools, sys, time, ndjit
        x = ndjit.sin(ndjit.cumulative_sum(ndjit.ones(30_000_000))).block_until_ready()
        print("begun", flush=True)
        try:
            {LONG[name]}
        except KeyboardInterrupt:
            print(time.time(), flush=True)
            assert float(x[0] + 1) > 1.8
            sys.exit(7)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "begun\n"
        time.sleep(0.5)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        raised = float(child.stdout.readline())
        assert child.wait(60) == 7
        return raised - sent
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
@pytest.mark.parametrize("name", LONG)
def test_an_interrupt_is_raised_within_a_third_of_a_second(name):
    # Of three times: on a busy machine a process waits for its turn.
    assert any(latency(name) < 0.3 for _ in range(3))


@pytest.mark.skipif(os.name != "posix", reason="sets a timer")
def test_handlers_run_while_a_function_does():
    program = """
        import signal, time, ndjit
        seen = []
        signal.signal(signal.SIGALRM, lambda *_: seen.append(time.time()))
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        f = ndjit.jit(lambda x: ndjit.fori_loop(0, 600_000_000, lambda i, x: x * 0.5 + 1, x))
        assert float(f(1.0)) == 2
        assert time.time() - seen[0] > 0.1
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=300)


def test_a_sub_interpreter_is_refused():
    interpreters = pytest.importorskip("_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters")
    import ndjit

    own = interpreters.create()
    program = """
        import sys
        sys.path[:] = {path!r}
        try:
            import ndjit
            said = "imported"
        except ImportError as error:
            said = str(error)
        with open({file}, "w") as file:
            file.write(said)
    """
    read, write = os.pipe()
    try:
        interpreters.run_string(own, textwrap.dedent(program.format(path=sys.path, file=write)))
        assert "subinterpreter" in os.read(read, 1000).decode() and ndjit.asarray(1) + 1 == 2
    finally:
        os.close(read)
        interpreters.destroy(own)
