"""Errors: their classes, the user's line, the operands and the way out."""

import builtins
import inspect
import sys

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
