"""Threads that share the parts of one step, each with memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.gridding.buffers import make_buffer

Part = tuple[int, int]
"""A range of rows or of projections, the end not included."""


class Crew:
    """A few threads. Kernels run without Python's lock, so that they all work at the same time.

    Parameters
    ----------
    threads : int
        How many.
    elements, lanes : int
        Size of the scratch memory of each.
    """

    def __init__(self, threads: int, elements: int, lanes: int) -> None:
        self._threads = threads
        self._scratch: SimpleQueue[NDArray[np.void]] = SimpleQueue()
        for _ in range(threads):
            self._scratch.put(make_buffer(elements, lanes))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="gridding")

    def share(self, work: Callable[[Part, NDArray[np.void]], None], parts: Iterable[Part]) -> None:
        """Do all parts; each free thread takes the next one.

        Parameters
        ----------
        work : callable
            Takes a part and scratch memory.
        parts : iterable of Part
            What there is to do, what takes longest first.
        """

        def take(part: Part) -> None:
            scratch = self._scratch.get()
            try:
                work(part, scratch)
            finally:
                self._scratch.put(scratch)

        if self._threads == 1:
            for part in parts:
                take(part)
        else:
            list(self._pool.map(take, parts))

    def cut(self, begin: int, end: int, unit: int) -> list[Part]:
        """Cut a range at multiples of `unit` into about four parts for each thread."""
        return cut(begin, end, unit, 4 * self._threads)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


def cut(begin: int, end: int, unit: int, parts: int) -> list[Part]:
    """Cut a range at multiples of `unit` into no more than so many parts.

    >>> cut(0, 21, 2, 8)
    [(0, 4), (4, 8), (8, 12), (12, 16), (16, 20), (20, 21)]
    """
    size = max(-(-(end - begin) // (parts * unit)) * unit, unit)
    return [(at, min(at + size, end)) for at in range(begin, end, size)]
