"""Errors: their classes, the user's line, the operands and the way out."""

import builtins
import inspect
import sys
import traceback

import ndjit
import pytest


def line():
    """The number of the caller's line."""
    return inspect.currentframe().f_back.f_lineno


def raised(function, *arguments, **options):
    with pytest.raises(ndjit.Error) as info:
        function(*arguments, **options)
    return info.value


def test_an_error_names_the_line_the_operands_and_the_way_out():
    x, y = ndjit.zeros((2, 3)), ndjit.zeros(4)
    with pytest.raises(ndjit.ShapeError) as info:
        here = line(); x + y
    error = info.value
    assert error.place[:2] == (__file__, here)
    if sys.version_info >= (3, 11):
        assert error.place[2] == 24
    assert [fact.split()[1] for fact in error.facts] == ["f32[2,", "f32[4]"]
    assert error.code == "shape" and error.help.startswith("axes are matched")
    text = str(error)
    assert text.startswith("add: shapes [2, 3] and [4] do not broadcast\n")
    assert f"{__file__}:{here}" in text and "x + y" in text and "help: axes" in text


def test_functions_of_the_namespace_name_the_line_of_their_caller():
    x = ndjit.zeros((2, 3))
    for call in (lambda: ndjit.sum(x, axis=5), lambda: ndjit.add(x, ndjit.zeros(7)), lambda: ndjit.flip(x, axis=4), lambda: x[9]):
        error = raised(call)
        assert error.place[0] == __file__ and error.place[1] == call.__code__.co_firstlineno


@pytest.mark.parametrize(
    "make, classes",
    [
        (lambda: ndjit.zeros(2) + ndjit.zeros(3), ("ShapeError", "ValueError")),
        (lambda: ndjit.zeros(2) & 1, ("DTypeError", "TypeError")),
        (lambda: ndjit.asarray([1], dtype=ndjit.uint8) + 256, ("LiteralError", "OverflowError")),
        (lambda: ndjit.zeros(2)[5], ("IndexError", "IndexError")),
        (lambda: ndjit.zeros(2)[ndjit.asarray([5])], ("IndexError", "IndexError")),
        (lambda: ndjit.sum(ndjit.zeros(2), axis=3), ("AxisError", "ValueError")),
        (lambda: ndjit.sum(ndjit.zeros(2), axis=3), ("AxisError", "IndexError")),
        (lambda: ndjit.zeros(2**62), ("SizeError", "ValueError")),
    ],
)
def test_an_error_is_of_the_class_of_its_code_and_of_a_builtin_one(make, classes):
    error = raised(make)
    own, builtin = classes
    assert type(error) is getattr(ndjit, own) and isinstance(error, getattr(builtins, builtin))
    assert error.place and error.help


def test_a_promotion_that_a_policy_refuses_is_a_type_error():
    with ndjit.policy("array_api"):
        error = raised(lambda: ndjit.zeros(2, dtype=ndjit.float32) + ndjit.ones(2, dtype=ndjit.int32))
    assert isinstance(error, ndjit.PromotionError) and isinstance(error, TypeError)
    assert "ndjit.astype(" in error.help and "DType::" not in str(error)


def test_every_code_has_a_class():
    for code, builtin in ndjit._ndjit.error_codes():
        cls = ndjit._errors.CLASSES[code]
        assert issubclass(cls, ndjit.Error) and issubclass(cls, getattr(builtins, builtin))
        assert getattr(ndjit, cls.__name__) is cls


def shapes(x):
    return x + ndjit.zeros(7)


def fails(x):
    raise KeyError("own")


TRANSFORMS = {
    "jit": lambda f: ndjit.jit(f)(ndjit.ones(2)),
    "grad": lambda f: ndjit.grad(f)(ndjit.ones(2)),
    "grad in jit": lambda f: ndjit.jit(ndjit.grad(f))(ndjit.ones(2)),
    "jit in grad": lambda f: ndjit.grad(ndjit.jit(f))(ndjit.ones(2)),
    "hessian": lambda f: ndjit.hessian(f)(ndjit.ones(2)),
    "jacfwd": lambda f: ndjit.jacfwd(f)(ndjit.ones(2)),
    "jacrev": lambda f: ndjit.jacrev(f)(ndjit.ones(2)),
    "jvp": lambda f: ndjit.jvp(f, (ndjit.ones(2),), (ndjit.ones(2),)),
    "vjp": lambda f: ndjit.vjp(f, ndjit.ones(2)),
    "linearize": lambda f: ndjit.linearize(f, ndjit.ones(2)),
    "hvp": lambda f: ndjit.hvp(f, (ndjit.ones(2),), (ndjit.ones(2),)),
    "vmap": lambda f: ndjit.vmap(f)(ndjit.ones((3, 2))),
    "checkpoint": lambda f: ndjit.jit(ndjit.checkpoint(f))(ndjit.ones(2)),
    "custom_vjp": lambda f: with_rule(f, lambda x: (f(x), None)),
    "rule of custom_vjp": lambda f: with_rule(lambda x: x, lambda x: (f(x), None)),
    "cond": lambda f: ndjit.cond(True, f, lambda x: x, ndjit.ones(2)),
    "switch": lambda f: ndjit.switch(0, [lambda x: x, f], ndjit.ones(2)),
    "while_loop": lambda f: ndjit.while_loop(lambda x: x[0] > 0, f, ndjit.ones(2)),
    "fori_loop": lambda f: ndjit.fori_loop(0, 3, lambda i, x: f(x), ndjit.ones(2)),
    "scan": lambda f: ndjit.scan(lambda s, x: (f(s), x), ndjit.ones(2), ndjit.ones(3)),
    "map": lambda f: ndjit.map(f, ndjit.ones((3, 2))),
}


def with_rule(f, forward):
    ruled = ndjit.custom_vjp(f)
    ruled.defvjp(forward, lambda _, g: (g,))
    return ndjit.grad(lambda x: ndjit.sum(ruled(x)))(ndjit.ones(2))


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("function, exception", [(shapes, ndjit.ShapeError), (fails, KeyError)])
def test_tracebacks_have_the_frames_of_users_only(name, function, exception):
    with pytest.raises(exception) as info:
        TRANSFORMS[name](function)
    frames = traceback.extract_tb(info.tb)
    assert {frame.filename for frame in frames} == {__file__}
    line = function.__code__.co_firstlineno + 1
    assert frames[-1].lineno == line and frames[-1].name == function.__name__
    if exception is ndjit.ShapeError:
        assert info.value.place[:2] == (__file__, line)


WRONG = {
    "grad of a vector": lambda: ndjit.grad(lambda x: x)(ndjit.ones(2)),
    "grad by an integer": lambda: ndjit.grad(lambda x: ndjit.sum(x))(ndjit.asarray([1])),
    "grad of a structure": lambda: ndjit.grad(lambda x: (x, x))(1.0),
    "grad by nothing": lambda: ndjit.grad(lambda x: x)(),
    "jacrev by a complex number": lambda: ndjit.jacrev(lambda x: x)(1j),
    "jacrev of a complex number": lambda: ndjit.jacrev(lambda x: x * 1j)(1.0),
    "jacfwd by an integer": lambda: ndjit.jacfwd(lambda x: x)(1),
    "tangents": lambda: ndjit.jvp(lambda x: x, (1.0,), (1.0, 2.0)),
    "primals": lambda: ndjit.jvp(lambda x: x, 1.0, (1.0,)),
    "cotangents": lambda: ndjit.vjp(lambda x: x, 1.0)[1]((1.0, 2.0)),
    "axes": lambda: ndjit.vmap(lambda x: x, in_axes=(0, 1))(ndjit.ones(2)),
    "lanes": lambda: ndjit.vmap(lambda x, y: x)(ndjit.ones(2), ndjit.ones(3)),
    "branches": lambda: ndjit.cond(True, lambda x: x, lambda x: (x, x), 1.0),
    "dtypes of branches": lambda: ndjit.cond(True, lambda x: x, lambda x: x > 0, 1.0),
    "no branches": lambda: ndjit.switch(0, []),
    "state": lambda: ndjit.fori_loop(0, 3, lambda i, x: (x, x), 1.0),
    "dtype of the state": lambda: ndjit.while_loop(lambda x: x < 3, lambda x: x * 0.5, 1),
    "pair": lambda: ndjit.scan(lambda s, x: s, 1.0, ndjit.ones(2)),
    "length": lambda: ndjit.scan(lambda s, x: (s, x), 1.0),
    "no function": lambda: ndjit.grad(3),
    "no array": lambda: ndjit.jit(lambda x: x)("a"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_the_use_of_a_transform_is_at_the_line_of_the_user(name):
    with pytest.raises((TypeError, ValueError)) as info:
        WRONG[name]()
    frames = traceback.extract_tb(info.tb)
    assert {frame.filename for frame in frames} == {__file__} and frames[-1].lineno == WRONG[name].__code__.co_firstlineno
    if isinstance(info.value, ndjit.Error):
        assert info.value.place[:2] == (__file__, frames[-1].lineno)


@pytest.mark.parametrize(
    "call, help",
    [
        (lambda: ndjit.grad(lambda x: x)(ndjit.ones(2)), "`ndjit.sum(y)`"),
        (lambda: ndjit.cond(2.5, lambda: 1, lambda: 2) and ndjit.while_loop(lambda x: x, lambda x: x - 1, 3), "`x > 0`"),
        (lambda: ndjit.while_loop(lambda x: x, lambda x: x - 1, 3), "`x != 0`"),
        (lambda: ndjit.cond(ndjit.ones(2), lambda: 1, lambda: 2), "`ndjit.where(mask, x, y)`"),
        (lambda: ndjit.fori_loop(0, 3, lambda i, x: x * 0.5, ndjit.asarray(1)), "`ndjit.astype(x, ndjit.float32)`"),
        (lambda: ndjit.fori_loop(0, 3.5, lambda i, x: x, 1), "`ndjit.astype(n, ndjit.int32)`"),
        (lambda: ndjit.take(ndjit.ones(2), ndjit.ones(2)), "`ndjit.astype(index, ndjit.int64)`"),
        (lambda: ndjit.tril(ndjit.ones(2)), "`ndjit.reshape(x, (1, -1))`"),
        (lambda: ndjit.argsort(ndjit.asarray(1.0)), "`ndjit.reshape(x, 1)`"),
        (lambda: ndjit.jit(ndjit.nonzero)(ndjit.ones(2)), "`ndjit.where(mask, y, 0)`"),
        (lambda: ndjit.cond(True, lambda: ndjit.asarray(1), lambda: ndjit.asarray(1.5)), "`ndjit.astype(x, ndjit.float32)`"),
    ],
)
def test_help_is_in_the_notation_of_python(call, help):
    text = raised(call).help
    assert help in text
    for rust in ("DType::", ".gt(", ".ne(", "..)", "where_", "size(", "[1", "&", "Expr"):
        assert rust not in text


def test_integers_out_of_range_name_a_dtype():
    for number, dtype in ((2**40, "int64"), (2**63, "uint64")):
        with pytest.raises(OverflowError, match=f"ask for `dtype=ndjit.{dtype}`"):
            ndjit.asarray(number)
    with pytest.raises(OverflowError, match="out of the range of uint8; ask for `dtype=ndjit.int16`"):
        ndjit.asarray([300], dtype=ndjit.uint8)


def test_traced_shapes_and_axes_name_static_argnums():
    for call in (ndjit.zeros, lambda n: ndjit.sum(ndjit.ones((2, 2)), axis=n), lambda n: ndjit.reshape(ndjit.ones(2), (n, 1))):
        assert "static_argnums" in raised(ndjit.jit(call), 1).help
