"""Threads that share the parts of one step, each with memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.gridding.buffers import make_buffer

Part = tuple[int, int]
"""A range of rows or of projections, the end not included."""


class Crew:
    """The calling thread and a few more. Kernels run without Python's lock: all work at the same time.

    Parameters
    ----------
    threads : int
        How many, with the calling one.
    elements, lanes : int
        Size of the scratch memory of each.
    """

    def __init__(self, threads: int, elements: int, lanes: int) -> None:
        self._scratch = [make_buffer(elements, lanes) for _ in range(threads)]
        self._others = ThreadPoolExecutor(max(threads - 1, 1), thread_name_prefix="gridding")

    def share(self, work: Callable[[Part, NDArray[np.void]], None], parts: Iterable[Part]) -> None:
        """Do all parts; whoever is free takes the next one. One call at a time.

        Parameters
        ----------
        work : callable
            Takes a part and scratch memory.
        parts : iterable of Part
            What there is to do, what takes longest first.
        """
        rest = iter(list(parts))  # a list's iterator gives each part to one thread only

        def take(scratch: NDArray[np.void]) -> None:
            for part in rest:
                work(part, scratch)

        mine, *others = self._scratch
        running = [self._others.submit(take, scratch) for scratch in others]
        try:
            take(mine)
        finally:
            wait(running)
        for one in running:
            one.result()

    def cut(self, begin: int, end: int, unit: int) -> list[Part]:
        """Cut a range at multiples of `unit` into about four parts for each thread."""
        return cut(begin, end, unit, 4 * len(self._scratch))

    def close(self) -> None:
        """End the threads."""
        self._others.shutdown()


def cut(begin: int, end: int, unit: int, parts: int) -> list[Part]:
    """Cut a range at multiples of `unit` into no more than so many parts.

    >>> cut(0, 21, 2, 8)
    [(0, 4), (4, 8), (8, 12), (12, 16), (16, 20), (20, 21)]
    """
    size = max(-(-(end - begin) // (parts * unit)) * unit, unit)
    return [(at, min(at + size, end)) for at in range(begin, end, size)]
