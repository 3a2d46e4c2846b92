"""Expressions made of objects, as numexpr's `E`: `2 * E.a + E.b` is the text `((2 * a) + b)`."""


class ExpressionNode:
    """An expression that operators extend."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text

    def __neg__(self):
        return ExpressionNode(f"(-{self.text})")

    def __invert__(self):
        return ExpressionNode(f"(~{self.text})")

    def __bool__(self):
        raise TypeError("an expression is neither true nor false; of arrays write `&` and `|`")

    __hash__ = None

    @property
    def real(self):
        """The real part."""
        return ExpressionNode(f"real({self.text})")

    @property
    def imag(self):
        """The imaginary part."""
        return ExpressionNode(f"imag({self.text})")


class VariableNode(ExpressionNode):
    """A variable."""


class ConstantNode(ExpressionNode):
    """A number, with its kind."""

    def __init__(self, value):
        super().__init__(text_of(value))
        self.value = value

    @property
    def astKind(self):
        """The name that numexpr has for the dtype."""
        import numpy

        kinds = {"bool": "bool", "int32": "int", "int64": "long", "float32": "float", "float64": "double"}
        dtype = getattr(self.value, "dtype", None) or numpy.asarray(self.value).dtype
        return kinds.get(dtype.name, "complex")


def text_of(x):
    """The text of an expression, a variable, or a number."""
    if isinstance(x, str):
        return x
    if isinstance(x, ExpressionNode):
        return x.text
    dtype = getattr(x, "dtype", None)
    number = x.item() if dtype is not None else x
    # Infinity and NaN have names, which would be variables.
    text = {"inf": "(1.0 / 0.0)", "-inf": "(-1.0 / 0.0)", "nan": "(0.0 / 0.0)"}.get(repr(number), repr(number))
    # A number of NumPy keeps its dtype.
    return f"astype({text}, '{dtype.name}')" if dtype is not None else text


def _operator(symbol, reflected):
    def apply(self, other):
        left, right = (other, self) if reflected else (self, other)
        return ExpressionNode(f"({text_of(left)} {symbol} {text_of(right)})")

    return apply


_ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
for _name, _symbol in {**_ARITHMETIC, **_COMPARISONS}.items():
    setattr(ExpressionNode, f"__{_name}__", _operator(_symbol, False))
for _name, _symbol in _ARITHMETIC.items():
    setattr(ExpressionNode, f"__r{_name}__", _operator(_symbol, True))


class _Variables:
    """`E.a` is the variable `a`."""

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return VariableNode(name)


E = _Variables()
