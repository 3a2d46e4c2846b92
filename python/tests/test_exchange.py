"""Exchange with NumPy: DLPack, `__array__`, buffers, lifetimes, leaks."""

import array
import gc
import sys
import weakref

import leaks
import ndjit
import numpy as np
import pytest


def address(x):
    return x.__array_interface__["data"][0]


def test_numpy_shares_the_memory_and_may_only_read():
    x = ndjit.asarray(np.arange(6.0).reshape(2, 3))
    seen = np.asarray(x)
    assert address(seen) == address(np.from_dlpack(x)) and not seen.flags.writeable
    assert np.asarray(x.T).strides == seen.T.strides
    copied = np.array(x, copy=True)
    assert copied.flags.writeable and address(copied) != address(seen)
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError):
        np.array(x, dtype=np.float32, copy=False)


def test_memory_outlives_the_array():
    seen = np.asarray(ndjit.arange(1000) + 1)
    gc.collect()
    junk = [ndjit.zeros(1000).block_until_ready() for _ in range(20)]
    assert seen.sum() == 500500 and junk


def test_asarray_copies_what_others_may_write_to():
    source = np.arange(4.0)
    copied, shared = ndjit.asarray(source), ndjit.from_dlpack(source)
    source[0] = 9
    assert copied.tolist()[0] == 0 and shared.tolist()[0] == 9
    assert ndjit.asarray(source, copy=False).tolist() == [9, 1, 2, 3]
    source.flags.writeable = False
    assert address(np.asarray(ndjit.asarray(source))) == address(source)
    assert address(np.asarray(ndjit.asarray(source, copy=True))) != address(source)
    with pytest.raises(ValueError):
        ndjit.asarray(source, dtype=ndjit.float32, copy=False)


def test_the_source_lives_as_long_as_arrays_of_its_memory():
    class Owner(np.ndarray):
        pass

    source = np.arange(10.0).view(Owner)
    watch = weakref.ref(source)
    x = ndjit.from_dlpack(source)
    y = x[2:]
    del source, x
    gc.collect()
    assert watch() is not None and y.tolist() == list(range(2, 10))
    del y
    gc.collect()
    assert watch() is None


def test_views_of_numpy_are_imported_with_their_strides():
    source = np.arange(24.0).reshape(4, 6)
    for view in (source.T, source[::-1], source[1:3, ::2], np.broadcast_to(source[0], (3, 6))):
        assert ndjit.from_dlpack(view).tolist() == view.tolist()


@pytest.mark.parametrize("max_version", [None, (0, 8), (1, 0), (1, 1), (2, 0)])
@pytest.mark.parametrize("copy", [None, True, False])
def test_capsules_are_of_the_version_asked_for(max_version, copy):
    x = ndjit.arange(3)
    versioned = max_version is not None and max_version >= (1, 0)
    if copy is False and not versioned:
        with pytest.raises(BufferError):
            x.__dlpack__(max_version=max_version, copy=copy)
        return
    capsule = x.__dlpack__(max_version=max_version, copy=copy, dl_device=(1, 0))
    assert ('"dltensor_versioned"' in repr(capsule)) == versioned


def test_a_capsule_is_taken_once():
    class Once:
        capsule = ndjit.arange(3).__dlpack__(max_version=(1, 0))

        def __dlpack__(self, **_):
            return self.capsule

        def __dlpack_device__(self):
            return (1, 0)

    assert ndjit.from_dlpack(Once()).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="taken"):
        ndjit.from_dlpack(Once())


def test_an_exporter_without_versions_is_read():
    class Old:
        def __init__(self):
            self.x = np.arange(3.0)

        def __dlpack__(self, stream=None):
            return self.x.__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)

    assert ndjit.from_dlpack(Old()).tolist() == [0, 1, 2]


def test_wrong_exports_are_refused():
    x = ndjit.arange(3)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError):
        x.__dlpack__(stream=1)
    for source in (np.array(["a"]), np.array([object()])):
        with pytest.raises((TypeError, BufferError)):
            ndjit.asarray(source)


def test_sequences_buffers_and_scalars():
    assert ndjit.asarray([[1, 2], [3, 4]]).shape == (2, 2)
    assert ndjit.asarray([]).dtype == ndjit.float32 and ndjit.asarray([[], []]).shape == (2, 0)
    assert ndjit.asarray([1, 2.5, True]).tolist() == [1, 2.5, 1]
    assert ndjit.asarray([ndjit.asarray(1, dtype=ndjit.int8), ndjit.asarray(2, dtype=ndjit.int16)]).dtype == ndjit.int16
    assert ndjit.asarray(array.array("d", [1.5])).dtype == ndjit.float64
    assert ndjit.asarray(b"ab").tolist() == [97, 98]
    assert ndjit.asarray(memoryview(np.arange(6, dtype=np.int16).reshape(2, 3))).shape == (2, 3)
    assert ndjit.asarray(np.float32(1.5)).dtype == ndjit.float32
    assert ndjit.asarray(2**63, dtype=ndjit.uint64).tolist() == 2**63
    assert ndjit.asarray(2**60 + 1, dtype=ndjit.float64).tolist() == float(2**60 + 1)
    with pytest.raises(OverflowError):
        ndjit.asarray([300], dtype=ndjit.uint8)
    with pytest.raises(OverflowError):
        ndjit.asarray(2**40)
    for wrong in ([[1, 2], [3]], [1, [2]], [[1], 2]):
        with pytest.raises(ValueError):
            ndjit.asarray(wrong)
    with pytest.raises(TypeError):
        ndjit.asarray("12")
    with pytest.raises(TypeError):
        ndjit.asarray([1j], dtype=ndjit.float32)
    nested = []
    nested.append(nested)
    with pytest.raises(TypeError):
        ndjit.asarray(nested)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("kind", leaks.kinds())
def test_nothing_leaks(kind):
    memory, references = leaks.grown(*leaks.kinds()[kind], 20_000)
    # Without the elements of one array in each call.
    assert references == 0 and memory < leaks.MARGIN


def test_other_byte_orders_are_copied_and_other_dtypes_are_type_errors():
    swapped = np.arange(3, dtype=np.dtype(np.float64).newbyteorder())
    made = ndjit.asarray(swapped)
    assert made.dtype == ndjit.float64 and made.tolist() == [0, 1, 2]
    assert ndjit.asarray(swapped, dtype=ndjit.int8).tolist() == [0, 1, 2]
    with pytest.raises(BufferError):
        ndjit.asarray(swapped, copy=False)
    for other in (np.asarray(["a"]), np.asarray([b"a"]), np.asarray([object()]), np.zeros(2, "M8[s]"), np.zeros(2, "i4,f4")):
        with pytest.raises(TypeError, match="no dtype of ndjit"):
            ndjit.asarray(other)
