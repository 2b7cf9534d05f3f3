"""The window of grey levels: as given, or from percentiles of slices that are made for that."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from distributed import Client
from numpy.typing import NDArray

from runner.errors import LostError, PartialError, ScanError
from runner.tomo.chunk import Recipe, make_slices
from runner.tomo.dispatch import run_chunks
from runner.tomo.plan import Chunk
from runner.tomo.settings import Settings, parse_greys
from runner.tomo.volume.greys import Greys

SAMPLE = 16
"""Slices that are made for percentiles, evenly spread over the rows: the same, however work is cut."""

_POINTS = 8192  # of a slice's distribution that are kept


def sample_rows(first_row: int, end_row: int) -> list[int]:
    """Choose the rows for percentiles.

    >>> sample_rows(10, 14), sample_rows(0, 320)[:3]
    ([10, 11, 12, 13], [10, 30, 50])
    """
    count = min(SAMPLE, end_row - first_row)
    return [first_row + (2 * number + 1) * (end_row - first_row) // (2 * count) for number in range(count)]


def distribution(
    slice_: NDArray[np.float32], size: int | None = None, corner: tuple[int, int] = (0, 0)
) -> NDArray[np.float32]:
    """Describe the values inside the largest circle of a slice by evenly spaced quantiles, float32.

    Parameters
    ----------
    slice_ : (y, x) float32
        A slice, or a part of one.
    size : int, optional
        Pixels along both sides of the whole slice.
    corner : (int, int)
        Where in it the part begins, (y, x).

    Returns
    -------
    (point,) float32
        Empty if no pixel there is a finite number.
    """
    size = slice_.shape[-1] if size is None else size
    y, x = (
        begin + np.arange(count) - (size - 1) / 2 for begin, count in zip(corner, slice_.shape, strict=True)
    )
    inside = slice_[y[:, np.newaxis] ** 2 + x**2 <= (size / 2) ** 2]
    inside = inside[np.isfinite(inside)]
    if not inside.size:
        return np.empty(0, np.float32)
    points = (np.arange(_POINTS) + 0.5) / _POINTS
    found: NDArray[np.float32] = np.quantile(inside, points).astype(np.float32)
    return found


def find_greys(
    settings: Settings,
    recipe: Recipe,
    rows: tuple[int, int],
    client: Client,
    *,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> Greys:
    """Find the values of the lowest and the highest grey level.

    Parameters
    ----------
    settings : Settings
        With the type of the pixels, and the window that is wanted.
    recipe : Recipe
        Makes slices.
    rows : (int, int)
        Of the volume.
    client : Client
        Whose workers make the slices that percentiles are taken from.
    seconds_left : callable
        See :func:`runner.tomo.dispatch.run_chunks`.

    Raises
    ------
    LostError
        If a slice cannot be made.
    PartialError
        If the time does not suffice.
    ScanError
        If the slices have one value only, or none.
    """
    greys = Greys(dtype=settings.dtype)
    if not greys.levels:
        return greys
    low, high, percent = parse_greys(settings.greys)
    if not percent:
        return replace(greys, low=low, high=high)
    chunks = [Chunk(first_row=row, end_row=row + 1) for row in sample_rows(*rows)]
    found, failures, left = run_chunks(
        client, functools.partial(_distribution_of, recipe), chunks, seconds_left=seconds_left
    )
    if failures:
        raise LostError(
            f"no grey levels: the slice of row {failures[0].chunk.first_row} could not be made "
            f"({failures[0].cause})"
        )
    if left:
        raise PartialError("the time is over: the grey levels have not been found", "give the job more time")
    low, high = window_between(np.concatenate(found), low, high)
    return replace(greys, low=low, high=high)


def window_between(values: NDArray[np.float32], low: float, high: float) -> tuple[float, float]:
    """Find the values at two percentiles.

    Raises
    ------
    ScanError
        If they do not differ, or there are none.
    """
    window = np.percentile(values, [low, high]).tolist() if values.size else [0.0, 0.0]
    if not window[0] < window[1]:
        raise ScanError(
            f"percentiles {low:g} and {high:g} of the values are both {window[0]:g}: no window of greys",
            "give one, like --greys 0:2.5, or use --dtype float32",
        )
    return window[0], window[1]


def _distribution_of(recipe: Recipe, chunk: Chunk) -> NDArray[np.float32]:
    """On a worker."""
    (y, _), (x, _) = recipe.setup.region or ((0, 0), (0, 0))
    return distribution(make_slices(recipe, chunk)[0], recipe.setup.size, (y, x))
