"""What `__array_namespace_info__` of the Array API returns."""

from . import _ndjit

# The dtypes of the standard; others are extensions.
DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
)
DEVICE = "cpu"


class Info:
    """The capabilities of the namespace."""

    def capabilities(self):
        """What the standard leaves to libraries."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": _ndjit.MAX_RANK}

    def default_device(self):
        """The device of new arrays."""
        return DEVICE

    def devices(self):
        """All devices."""
        return (DEVICE,)

    def default_dtypes(self, *, device=None):
        """The dtypes of numbers without one, under the current policy."""
        _check(device)
        names = ("integral", "real floating", "complex floating", "indexing")
        return dict(zip(names, _ndjit.default_dtypes()))

    def dtypes(self, *, device=None, kind=None):
        """The dtypes of a kind, by their names."""
        _check(device)
        dtypes = {name: getattr(_ndjit, name) for name in DTYPES}
        if kind is None:
            return dtypes
        return {name: dtype for name, dtype in dtypes.items() if _ndjit.isdtype(dtype, kind)}


def _check(device):
    if device not in (None, DEVICE):
        raise ValueError(f"there is no device {device!r}; this package has {DEVICE!r}")


def __array_namespace_info__():
    """The capabilities, devices and dtypes of this namespace."""
    return Info()
