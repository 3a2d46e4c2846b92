"""Structures of arrays: tuples, lists, dicts, `None`, named tuples, dataclasses and registered classes, nested freely.

Functions that are jitted or transformed take and give them. Dicts are read in the order of their sorted keys.

>>> import ndjit
>>> leaves, structure = ndjit.tree.flatten({"w": [1, 2], "b": 3})
>>> leaves
[3, 1, 2]
>>> ndjit.tree.unflatten(structure, [30, 10, 20])
{'b': 30, 'w': [10, 20]}
"""

import dataclasses

from ._ndjit import _flatten, _unflatten

__all__ = ["flatten", "unflatten", "leaves", "structure", "map", "register"]

# By class: a function that opens an instance, and one that makes one; `None` for classes that are leaves.
_HANDLERS = {}


def _handler(cls):
    """The functions of a class, found at its first instance."""
    found = None
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        found = (lambda x: (tuple(x), None), lambda _, children: cls(*children))
    elif dataclasses.is_dataclass(cls):
        found = _dataclass(cls)
    elif issubclass(cls, (tuple, list, dict)):
        # A subclass is what it is of: an ordered dict is a dict.
        base = next(base for base in (tuple, list, dict) if issubclass(cls, base))
        if base is dict:
            found = (lambda x: (tuple(x.values()), tuple(x)), lambda keys, children: cls(zip(keys, children)))
            if hasattr(cls, "default_factory"):
                found = None
        else:
            found = (lambda x: (tuple(x), None), lambda _, children: cls(children))
    _HANDLERS[cls] = found
    return found


def _dataclass(cls):
    """The functions of a dataclass. Fields with `metadata={"static": True}` are no children."""
    fields = [field for field in dataclasses.fields(cls) if field.init]
    names = [field.name for field in fields if not field.metadata.get("static")]
    kept = [field.name for field in fields if field.metadata.get("static")]

    def opened(x):
        return tuple(getattr(x, name) for name in names), tuple(getattr(x, name) for name in kept)

    def made(values, children):
        return cls(**dict(zip(names, children)), **dict(zip(kept, values)))

    return opened, made


def register(cls, flatten, unflatten):
    """Makes a class a structure.

    `flatten(x)` gives the children, and what else makes an instance, which has a hash; `unflatten(rest, children)` makes one.

    >>> import ndjit
    >>> class Line:
    ...     def __init__(self, slope, offset):
    ...         self.slope, self.offset = slope, offset
    >>> ndjit.tree.register(Line, lambda x: ((x.slope, x.offset), None), lambda _, children: Line(*children))
    >>> f = ndjit.jit(lambda line, x: line.slope * x + line.offset)
    >>> float(f(Line(2.0, 1.0), ndjit.asarray(3.0)))
    7.0
    """
    if not isinstance(cls, type):
        raise TypeError(f"a class is registered, not {cls!r}")
    _HANDLERS[cls] = (flatten, unflatten)


def flatten(tree):
    """The leaves of a structure, and the structure itself, which has a hash."""
    return _flatten(tree)


def unflatten(structure, leaves):
    """The object of a structure with these leaves."""
    return _unflatten(structure, leaves)


def leaves(tree):
    """The leaves of a structure, in order."""
    return _flatten(tree)[0]


def structure(tree):
    """The structure without its leaves: equal for objects that differ in leaves only."""
    return _flatten(tree)[1]


def map(function, tree, *others):
    """The structure with the results of a function of each leaf, and of those of other structures like it.

    >>> import ndjit
    >>> ndjit.tree.map(lambda x, y: x + y, {"a": 1, "b": (2, 3)}, {"a": 10, "b": (20, 30)})
    {'a': 11, 'b': (22, 33)}
    """
    first, like = _flatten(tree)
    columns = [first]
    for n, other in enumerate(others):
        own, of = _flatten(other)
        if of != like:
            raise ValueError(f"map: structure {n + 1} differs from the first: {described(other)}, and {described(tree)}")
        columns.append(own)
    return _unflatten(like, [function(*row) for row in zip(*columns)])


def described(tree):
    """A structure as text, with `*` for each leaf."""
    own, like = _flatten(tree)

    class Leaf:
        def __repr__(self):
            return "*"

    return repr(_unflatten(like, [Leaf() for _ in own]))


def paths(tree, name):
    """The name of each leaf, as `name['w'][0]`."""
    if isinstance(tree, dict) and type(tree) is dict:
        try:
            keys = sorted(tree)
        except TypeError:
            keys = list(tree)
        return [path for key in keys for path in paths(tree[key], f"{name}[{key!r}]")]
    if type(tree) in (tuple, list):
        return [path for n, part in enumerate(tree) for path in paths(part, f"{name}[{n}]")]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return [path for field in tree._fields for path in paths(getattr(tree, field), f"{name}.{field}")]
    own = leaves(tree)
    if dataclasses.is_dataclass(tree):
        fields = [field.name for field in dataclasses.fields(tree) if field.init and not field.metadata.get("static")]
        return [path for field in fields for path in paths(getattr(tree, field), f"{name}.{field}")]
    return [name] * len(own)
