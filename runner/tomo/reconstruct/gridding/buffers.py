"""Memory in the layout of the kernels: complex numbers of several slices side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LANES = (8, 4)
"""How many slices a group may have: as many as suit the cache, or fewer for less memory."""

_LINE = 64  # bytes of a cache line
_PAGE, _APART = 64, 11  # elements; of eight lanes, so many fill a page of memory


def lanes_dtype(lanes: int) -> np.dtype[np.void]:
    """Describe one element of a buffer: the real and the imaginary parts of `lanes` slices."""
    return np.dtype([("re", np.float32, (lanes,)), ("im", np.float32, (lanes,))])


def line_step(length: int) -> int:
    """Count the elements from one of several lines to the next, where a thread goes through some at once.

    The nearest cache has room for few addresses that differ by multiples of a page, as those do that a
    transform by powers of two goes to: it would take a fifth longer. Six lines begin at six places of one.

    >>> [line_step(length) for length in (640, 1024, 1080)]
    [651, 1035, 1099]
    """
    return -(-length // _PAGE) * _PAGE + _APART


def make_buffer(elements: int, lanes: int) -> NDArray[np.void]:
    """Make a buffer that begins with a cache line; its content is arbitrary."""
    dtype = lanes_dtype(lanes)
    size = elements * dtype.itemsize
    raw = np.empty(size + _LINE, np.uint8)
    begin = -raw.ctypes.data % _LINE
    return raw[begin : begin + size].view(dtype)
