"""The names of numexpr's module `utils`."""

from . import (
    detect_number_of_cores,
    detect_number_of_threads,
    get_num_threads,
    get_vml_version,
    set_num_threads,
    set_vml_accuracy_mode,
    set_vml_num_threads,
)

__all__ = [
    "detect_number_of_cores",
    "detect_number_of_threads",
    "get_num_threads",
    "get_vml_num_threads",
    "get_vml_version",
    "set_num_threads",
    "set_vml_accuracy_mode",
    "set_vml_num_threads",
]


def get_vml_num_threads():
    """Without Intel's VML it has no threads."""
