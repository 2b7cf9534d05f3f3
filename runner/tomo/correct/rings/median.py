"""A running median across the columns of a sinogram, many angles at once: the compiled part.

A network of comparators sorts as far as the middle of the window needs it. Each comparator is a minimum and a
maximum, so that it works on as many angles at once as a vector holds.

References
----------
D. E. Knuth, *The Art of Computer Programming* 3, section 5.2.2, algorithm M (Batcher's merge exchange).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from runner.tomo.kernels.kernel import kernel

_LANES = 64  # angles at once: a window of them stays in the first cache


def running_median(columns: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Median of the `size` columns around each one, at each angle; beyond the ends they are mirrored.

    Parameters
    ----------
    columns : (column, angle) float32
        Without NaN; its memory in one piece.
    size : int
        Odd.

    Returns
    -------
    (column, angle) float32 ndarray
    """
    medians = np.empty_like(columns)
    _median(columns, _window(len(columns), size), _comparators(size), medians)
    return medians


def _window(count: int, size: int) -> NDArray[np.int64]:
    """Numbers of the columns around each one, (column, neighbour); 0 comes after 0 when mirrored."""
    around = np.arange(count)[:, np.newaxis] + np.arange(size) - size // 2
    around %= 2 * count
    return np.where(around < count, around, 2 * count - 1 - around)


@functools.cache
def _comparators(size: int) -> NDArray[np.int64]:
    """Pairs of places to be put in order, one after the other, until the middle one has its value."""
    needed, kept = {size // 2}, []
    for pair in reversed(_merge_exchange(size)):
        if needed.intersection(pair):
            kept.append(pair)
            needed.update(pair)
    return np.array(kept[::-1], np.int64).reshape(-1, 2)


def _merge_exchange(count: int) -> list[tuple[int, int]]:
    pairs = []
    top = 1 << max((count - 1).bit_length() - 1, 0)
    p = top
    while p > 0:
        q, r, d = top, 0, p
        while True:
            pairs += [(i, i + d) for i in range(count - d) if i & p == r]
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
    return pairs


@kernel
def _median(columns, around, comparators, medians):
    count, angles = columns.shape
    size = around.shape[1]
    window = np.empty((size, _LANES), np.float32)
    for start in range(0, angles, _LANES):
        lanes = min(_LANES, angles - start)
        for column in range(count):
            for place in range(size):
                window[place, :lanes] = columns[around[column, place], start : start + lanes]
            for pair in range(len(comparators)):
                _exchange(window[comparators[pair, 0]], window[comparators[pair, 1]])
            medians[column, start : start + lanes] = window[size // 2, :lanes]


@kernel
def _exchange(one, other):
    for lane in range(_LANES):
        first, second = one[lane], other[lane]
        one[lane] = first if first < second else second
        other[lane] = second if first < second else first
