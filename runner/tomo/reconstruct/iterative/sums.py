"""Arithmetic on several slices, or sinograms, at once: one thread for each of them, and no bit shared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from runner.tomo.share import share

_ROWS = 64  # that are treated at a time: few enough for the cache


def each(work: Callable[[int], None], slices: int, threads: int) -> None:
    """Do something for the number of each slice."""
    share(work, range(slices), min(threads, slices))


def squared(values: NDArray[np.float32]) -> float:
    """Sum the squares of an image, in double precision and in an order of its own."""
    rows = range(0, len(values), _ROWS)
    return sum(float(np.square(values[row : row + _ROWS], dtype=np.float64).sum()) for row in rows)


def squares(stack: NDArray[np.float32], threads: int) -> NDArray[np.float64]:
    """Sum the squares of each image of a stack."""
    sums = np.empty(len(stack))

    def take(number: int) -> None:
        sums[number] = squared(stack[number])

    each(take, len(stack), threads)
    return sums


def add(
    stack: NDArray[np.float32], factors: NDArray[np.float64], other: NDArray[np.float32], threads: int
) -> None:
    """Add another stack to one, each image times a factor of its own."""

    def work(number: int) -> None:
        image, factor = stack[number], np.float32(factors[number])
        for row in range(0, len(image), _ROWS):
            image[row : row + _ROWS] += factor * other[number, row : row + _ROWS]

    each(work, len(stack), threads)


def scale_and_add(
    stack: NDArray[np.float32], factors: NDArray[np.float64], other: NDArray[np.float32], threads: int
) -> None:
    """Multiply each image of a stack by a factor of its own, and add another stack."""

    def work(number: int) -> None:
        stack[number] *= np.float32(factors[number])
        stack[number] += other[number]

    each(work, len(stack), threads)
