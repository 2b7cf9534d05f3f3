"""Large arrays whose memory is used again and again, while chunk after chunk is made.

The system clears every page before it gives it to a process, and takes it back when an array goes. For
arrays of a hundred megabytes that come and go with every chunk that is a seventh of all processor time.
"""

from __future__ import annotations

import math
import weakref
from collections import defaultdict, deque
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LEAST = 1 << 20  # bytes; smaller arrays are left to the C library
_MOST = 2  # times the memory that is needed; what is larger was for something else


class _Store:
    """The memory that this process keeps, by what it is for. Arrays come back in any thread."""

    def __init__(self) -> None:
        self.open = False
        self.kept: defaultdict[str, deque[NDArray[np.uint8]]] = defaultdict(deque)

    def take(self, use: str, size: int) -> NDArray[np.uint8]:
        """Take memory that fits; if none does, what is kept was for something else, and goes."""
        ours = self.kept[use]
        others: list[NDArray[np.uint8]] = []
        with suppress(IndexError):
            while True:
                memory = ours.pop()  # the last one may still be in a cache
                if size <= memory.nbytes <= _MOST * size:
                    ours.extend(others)
                    return memory
                others.append(memory)
        return np.empty(size, np.uint8)

    def put_back(self, use: str, memory: NDArray[np.uint8]) -> None:
        """Keep memory that nobody uses any more, for the next one."""
        if self.open:
            self.kept[use].append(memory)


_STORE = _Store()


def reuse() -> None:
    """Keep the memory of arrays of `empty` from now on, when they go."""
    _STORE.open = True


def forget() -> None:
    """Give back all memory that is kept, and keep none."""
    _STORE.open = False
    _STORE.kept.clear()


def kept() -> list[NDArray[np.uint8]]:
    """List the memory that is kept and not in use."""
    return [memory for ours in _STORE.kept.values() for memory in ours]


def empty(use: str, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Make an array of arbitrary content.

    Its memory is kept when the array and the last of its views have gone, where `reuse` was called, and is
    then that of the next array for the same use. As long as those are of about the same size, there is
    never more memory for a use than its arrays took at one time.

    Parameters
    ----------
    use : str
        What it is for.
    shape, dtype
        As for ``numpy.empty``.
    """
    kind, elements = np.dtype(dtype), math.prod(shape)
    size = elements * kind.itemsize
    if not _STORE.open or size < _LEAST:
        return np.empty(shape, kind)
    memory = _STORE.take(use, size)
    # Views refer to the array that owns no other array's memory, which is this one.
    lent = np.frombuffer(memory.data, kind, elements)
    weakref.finalize(lent, _STORE.put_back, use, memory).atexit = False
    return lent.reshape(shape)
