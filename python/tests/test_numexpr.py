"""`ndjit.numexpr`: results, frames and dictionaries, `out`, orders, errors, threads, pandas."""

import subprocess
import sys
import threading
import warnings

import ndjit
import ndjit.numexpr as ne
import numpy as np
import pytest


def close(text, expected, **variables):
    result = ne.evaluate(text, variables)
    assert isinstance(result, np.ndarray) and result.dtype == np.asarray(expected).dtype, (text, result.dtype)
    np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_results_are_numpys():
    x = np.linspace(-2, 2, 101)
    close("where(x > 0, x, expm1(x)) * 2", np.where(x > 0, x, np.expm1(x)) * 2, x=x)
    close("sum(x**2 + 2)", np.sum(x**2 + 2), x=x)
    m = x[:100].reshape(10, 10)
    for axis in (0, 1, None):
        close(f"prod(m, axis={axis})", np.prod(m, axis=axis), m=m)
        close(f"max(m**2 - 1, axis={axis})", np.max(m**2 - 1, axis=axis), m=m)
    close("complex(x, 1).imag + conj(x).real", np.ones(101) + x, x=x)
    close("arctan2(x, 2) % 3 - x // 0.5", np.arctan2(x, 2) % 3 - x // 0.5, x=x)


def test_a_result_is_the_callers_to_write_to():
    x = np.arange(5.0)
    for text in ("x", "x + 0", "x[::-1]", "sum(x)"):
        result = ne.evaluate(text)
        assert result.flags.writeable and result.flags.c_contiguous and not np.shares_memory(result, x), text
        result[...] = 7
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_variables_are_those_of_the_frame_and_of_dictionaries():
    a = 2.0
    assert ne.evaluate("a + 1") == 3
    assert ne.evaluate("a + 1", {"a": 5.0}) == 6
    assert ne.evaluate("a + GLOBAL", {"a": 1}) == 11
    assert ne.evaluate("a + GLOBAL", {"a": 1}, {"GLOBAL": 2}) == 3

    def inner():
        return ne.evaluate("a", _frame_depth=4)

    assert inner() == 2
    with pytest.raises(KeyError, match="b"):
        ne.evaluate("a + b")
    # The names of constants are variables.
    e = 5.0
    assert ne.evaluate("e") == 5


GLOBAL = 10


@pytest.mark.parametrize(
    ("dtype", "result"),
    [("?", "?"), ("u1", "i4"), ("i2", "i4"), ("u4", "i8"), ("u8", "i8"), ("f2", "f4"), ("f4", "f4"), ("c8", "c16")],
)
def test_dtypes_are_kinds(dtype, result):
    x = np.ones(3, dtype)
    assert ne.evaluate("x").dtype == result and ne.evaluate("where(x == x, x, x)").dtype == result


def test_arrays_of_any_layout_are_read():
    x = np.arange(24.0).reshape(4, 6)
    for y in (x.T, x[::-1, ::2], np.broadcast_to(x[0], (3, 6)), x.astype(">f8"), x[1:1], np.float32(2), np.array(3)):
        np.testing.assert_array_equal(ne.evaluate("y * 2 + 1"), y * 2 + 1)
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64)
    np.testing.assert_array_equal(ne.evaluate("unaligned + 1"), x.ravel() + 1)
    record = np.zeros(5, dtype=[("a", "i4"), ("b", "f8")])["b"]
    np.testing.assert_array_equal(ne.evaluate("record + 1"), np.ones(5))


def test_orders_are_those_of_the_arguments():
    x = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    for order, is_fortran in (("K", True), ("A", True), ("F", True), ("C", False)):
        result = ne.evaluate("x * 2 + y", {"x": x, "y": 1}, order=order)
        np.testing.assert_array_equal(result, x * 2 + 1)
        assert result.flags.f_contiguous == is_fortran, order
    assert ne.evaluate("x.T").flags.c_contiguous and ne.evaluate("sum(x, axis=0)").tolist() == x.sum(0).tolist()
    assert ne.evaluate("x + y", {"x": x, "y": np.ones(4)}).tolist() == (x + 1).tolist()


def test_out_is_written_and_returned():
    x, out = np.arange(6.0), np.empty(6)
    assert ne.evaluate("x * 2", out=out) is out and out.tolist() == [0, 2, 4, 6, 8, 10]
    # Into an argument, its reverse, every other element, another dtype, a larger shape.
    assert ne.evaluate("x + 3", out=x) is x and x.tolist() == [3, 4, 5, 6, 7, 8]
    backwards = x[::-1]
    ne.evaluate("x + 0", out=backwards)
    assert x.tolist() == [8, 7, 6, 5, 4, 3]
    narrow, wide = np.empty(6, np.float32), np.empty((2, 6))
    assert ne.evaluate("x", out=narrow).tolist() == x.tolist() and ne.evaluate("x", out=wide)[1].tolist() == x.tolist()
    mask = np.empty(6, bool)
    assert ne.evaluate("x > 5", out=mask).tolist() == [True] * 3 + [False] * 3
    with pytest.raises(TypeError, match="casting|cast"):
        ne.evaluate("x", out=np.empty(6, int))
    assert ne.evaluate("x", out=np.empty(6, int), casting="unsafe").tolist() == x.tolist()
    with pytest.raises(ValueError, match="shape"):
        ne.evaluate("x", out=np.empty(5))
    frozen = np.empty(6)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ne.evaluate("x", out=frozen)
    with pytest.raises(TypeError, match="list"):
        ne.evaluate("x", out=[1])


@pytest.mark.parametrize(
    "text",
    ["a +", "lambda x: x", 'locals()["evaluate"]', "import os;", "os. cpu_count()", "(3+1).ᵇit_length()", "(a > 1) and (a < 2)", "a < [0, 0]"],
)
def test_a_text_that_is_no_expression_is_all_errors_of_numexpr(text):
    for expected in (SyntaxError, TypeError, ValueError, ndjit.ParseError):
        with pytest.raises(expected):
            ne.evaluate(text, {"a": 1, "os": 2})


def test_errors_show_the_expression():
    x, y = np.zeros(3), np.zeros(4)
    with pytest.raises(ndjit.ShapeError) as caught:
        ne.evaluate("1 + x * y")
    assert " 1 | 1 + x * y\n   |       ^" in str(caught.value) and "x: f64[3] from the input x" in str(caught.value)
    with pytest.raises(ndjit.ExpressionError, match="did you mean `sin`"):
        ne.evaluate("sni(x)")


def test_what_is_refused():
    x = np.arange(3)
    with pytest.raises(ValueError, match="negative integer powers"):
        ne.evaluate("x ** -1")
    with pytest.raises(ValueError, match="axes from 0"):
        ne.evaluate("sum(x, axis=-1)")
    with pytest.raises(ValueError, match="axis"):
        ne.evaluate("sum(x, axis=2)")
    with pytest.raises(ValueError, match="__builtins__"):
        ne.evaluate("__builtins__")
    with pytest.raises(NotImplementedError, match="texts"):
        ne.evaluate("x", {"x": np.array([b"a"])})
    with pytest.raises(ValueError, match="datetime64"):
        ne.evaluate("x", {"x": np.array(["2026"], "M8[s]")})
    with pytest.raises(ValueError, match="option"):
        ne.evaluate("x", optimisation="none")
    with pytest.raises(NotImplementedError):
        ne.disassemble(ne.NumExpr("x"))


def test_numbers_pass_the_filter_of_texts():
    a, c = 3.0, 2.5 + 1.5j
    for text in ("a*2.e-5", "a*2.e+5", "a*2e-5", "a*2E-5", "2.+a", "c.real", "c.imag", "1.5j", "3.j", "1.2e3+4.5e6j"):
        assert ne.evaluate(text) == eval(text)


def test_evaluations_are_repeated():
    a = np.arange(3.0)
    ne.evaluate("a * 2")
    a = np.arange(4.0)
    assert ne.re_evaluate().tolist() == [0, 2, 4, 6]
    assert ne.re_evaluate({"a": 5}) == 10
    assert ne.validate("a * 3") is None and ne.re_evaluate().tolist() == [0, 3, 6, 9]
    assert isinstance(ne.validate("a * b"), KeyError) and isinstance(ne.validate("a *"), SyntaxError)
    assert isinstance(ne.validate("a", out=np.empty(4, int)), TypeError)
    caught = []
    fresh = threading.Thread(target=lambda: caught.append(pytest.raises(RuntimeError, ne.re_evaluate)))
    fresh.start()
    fresh.join()
    assert caught


def test_expressions_are_functions():
    f = ne.NumExpr("2.0*a + 3.0*c", [("a", float), ("c", np.float32)])
    assert f(np.arange(3), np.float32(1)).tolist() == [3, 5, 7] and f.input_names == ("a", "c")
    assert ne.NumExpr(2 * ne.E.a + -ne.E.b)(np.ones(2), 3.0).tolist() == [-1, -1]
    assert ne.NumExpr((1 - ne.E.x.real) / (ne.E.x >= 2), [("x", complex)])(4j).dtype == float
    with pytest.raises(TypeError):
        f(1j, 2)
    with pytest.raises(ValueError, match="2 arguments"):
        f(1)
    with pytest.raises(NameError):
        ne.NumExpr("a + b", [("a", float)])
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(ne.E.a)


def test_threads_are_set_and_change_no_bit():
    x = np.random.default_rng(0).normal(size=300_001)
    former = ne.set_num_threads(1)
    one = ne.evaluate("sum(sin(x))")
    assert ne.set_num_threads(4) == 1 and ne.get_num_threads() == 4
    assert ne.evaluate("sum(sin(x))").tobytes() == one.tobytes()
    ne.set_num_threads(former)
    with pytest.raises(ValueError, match="threads"):
        ne.set_num_threads(0)


def test_names_are_there_as_in_numexpr():
    with ne.install():
        import numexpr
        from numexpr import interpreter, necompiler, utils
        from numexpr.expressions import ConstantNode

        assert numexpr is ne and utils.detect_number_of_cores() >= 1 and numexpr.use_vml is False
        assert necompiler.getExprNames("sin(b) + a", {}) == (["a", "b"], False) and interpreter.use_vml is False
        assert ConstantNode(np.float32(1)).astKind == "float" and utils.get_vml_num_threads() is None
    assert sys.modules.get("numexpr") is not ne


# Large enough for pandas to think of numexpr.
PANDAS = """
import numpy as np, pandas as pd
import ndjit.numexpr as ne
if {late}:
    import pandas.core.computation.expressions
called = []
evaluate = ne.evaluate
def counted(text, *args, **kwargs):
    called.append(text)
    return evaluate(text, *args, **kwargs)
ne.evaluate = counted
n = 1_000_001
rng = np.random.default_rng(0)
df = pd.DataFrame({{"a": rng.normal(size=n), "b": rng.normal(size=n), "i": rng.integers(-9, 9, n), "f": rng.random(n).astype("f4")}})
limit = 0.5
def results(engine):
    query = "a > @limit and i % 3 == 0 or b < a"
    return [
        df.query(query, engine=engine),
        df.eval("c = a * 2 + b ** 2 - f / 3", engine=engine),
        df.eval("sin(a) + exp(b)", engine=engine),
        pd.eval("df.a + df.b * df.i", engine=engine),
        pd.eval("df.a < df.b", engine=engine),
    ]
expected = results("python")
assert not called
with ne.install():
    import pandas.core.computation.check as check
    for got, wanted in zip(results(None), expected):
        (pd.testing.assert_frame_equal if got.ndim == 2 else pd.testing.assert_series_equal)(got, wanted)
    assert len(called) >= 5, called
    called.clear()
    pd.testing.assert_series_equal(df.a + df.b, pd.Series(df.a.values + df.b.values))
    assert (df.a > df.b).sum() == (df.a.values > df.b.values).sum()
    df[["a", "b"]] * df[["b", "a"]].values
    assert len(called) >= 3, called
called.clear()
df.a + df.b
assert not called, "after uninstall pandas computes alone"
print("same")
"""


@pytest.mark.parametrize("late", [False, True])
def test_pandas_uses_it(late):
    pytest.importorskip("pandas")
    if not late:
        code = "import ndjit.numexpr as ne; ne.install(); import pandas, pandas.core.computation.expressions as e; assert e.ne is ne"
        subprocess.run([sys.executable, "-c", code], check=True)
    run = subprocess.run([sys.executable, "-c", PANDAS.format(late=late)], capture_output=True, text=True, check=False)
    assert run.stdout == "same\n", run.stderr


def test_division_by_zero_warns_nobody():
    x = np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(ne.evaluate("1 / x")).all()


def test_out_may_share_memory_with_any_argument():
    class Tensor:
        """An array that NumPy's functions do not know for one."""

        def __init__(self, x):
            self.x = x

        def __array__(self, *_, **__):
            return self.x

    class Named(np.ndarray):
        pass

    for wrap in (Tensor, lambda x: ndjit.from_dlpack(x, copy=False), lambda x: x.view(Named), memoryview):
        x = np.arange(8000.0)
        read = wrap(x[:-1])
        assert ne.evaluate("read + 1 + sum(read) * 0", out=x[1:]).tolist() == list(range(1, 8000))
    x = np.arange(8000.0)
    backwards = Tensor(x[::-1])
    assert ne.evaluate("backwards * 2", out=x).tolist() == [2.0 * n for n in range(8000)][::-1]
    out = np.zeros(3).view(Named)
    assert ne.evaluate("x * 2", {"x": np.ones(3)}, out=out) is out and out.tolist() == [2, 2, 2]
