"""The named tuples of functions with several results."""

from typing import NamedTuple

from ._ndjit import Array


class UniqueAllResult(NamedTuple):
    """The results of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The results of `unique_counts`."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The results of `unique_inverse`."""

    values: Array
    inverse_indices: Array
