"""Detectors' compressions, by the functions with which hdf5plugin extends HDF5, but called without HDF5.

HDF5 lets one chunk through at a time; the functions themselves can run in several threads. What they take and
return is fixed by HDF5's interface for plugins (H5PLextern.h, H5Zpublic.h).
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable, Sequence

import numpy as np

_THREAD_SAFE = {32004: "lz4", 32008: "bshuf", 32015: "zstd"}  # they share nothing between calls
_REVERSE = 0x100  # the flag that asks for decoding
_SIZE = ctypes.c_size_t
_Function = ctypes.CFUNCTYPE(
    _SIZE,  # bytes in the end; 0 if it failed
    ctypes.c_uint,
    _SIZE,
    ctypes.POINTER(ctypes.c_uint),
    _SIZE,
    ctypes.POINTER(_SIZE),
    ctypes.POINTER(ctypes.c_void_p),
)


class _FilterClass(ctypes.Structure):
    """HDF5's H5Z_class2_t."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("code", ctypes.c_int),
        ("encodes", ctypes.c_uint),
        ("decodes", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        ("can_apply", ctypes.c_void_p),
        ("set_local", ctypes.c_void_p),
        ("filter", _Function),
    )


def plugin_decoder(
    code: int, values: Sequence[int]
) -> Callable[[bytes | memoryview, int], memoryview] | None:
    """Find what undoes a filter; None if hdf5plugin has nothing that several threads may use.

    Parameters
    ----------
    code : int
        Number of the filter.
    values : sequence of int
        Its parameters.
    """
    function = _function(code)
    if function is None:
        return None
    parameters = (ctypes.c_uint * len(values))(*values)
    return lambda stored, _: _call(function, parameters, stored)


@functools.cache
def _function(code: int) -> Callable[..., int] | None:
    import hdf5plugin  # registers all its filters, which takes a moment

    file = hdf5plugin.get_config().registered_filters.get(_THREAD_SAFE.get(code, ""), "unknown")
    if file == "unknown":  # or HDF5 has it from elsewhere
        return None
    inquire = ctypes.CDLL(file).H5PLget_plugin_info
    inquire.restype = ctypes.POINTER(_FilterClass)
    found = inquire().contents
    return found.filter if (found.version, found.code) == (1, code) and found.decodes else None


def _call(
    function: Callable[..., int], parameters: ctypes.Array[ctypes.c_uint], stored: bytes | memoryview
) -> memoryview:
    """Decode, or raise ValueError. The function frees what it is given, and allocates the result."""
    memory = _c_library()
    size = _SIZE(len(stored))
    buffer = ctypes.c_void_p(memory.malloc(size))
    ctypes.memmove(buffer, np.frombuffer(stored, np.uint8).ctypes.data, len(stored))
    count = function(_REVERSE, len(parameters), parameters, size, ctypes.byref(size), ctypes.byref(buffer))
    if count == 0:
        memory.free(buffer)
        raise ValueError("a chunk is damaged")
    result = (ctypes.c_ubyte * count).from_address(buffer.value or 0)
    weakref.finalize(result, memory.free, buffer.value)
    return memoryview(result).cast("B")


@functools.cache
def _c_library() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [_SIZE]
    library.free.restype, library.free.argtypes = None, [ctypes.c_void_p]
    return library
