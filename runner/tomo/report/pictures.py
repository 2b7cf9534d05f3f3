"""What a page shows of a volume: three cuts through its middle and the sinogram of a row."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.tomo.greys import sample_rows
from runner.tomo.png import picture, window_of
from runner.tomo.report.run import Run
from runner.tomo.thumbnail import MOST, shrink, step_for
from runner.tomo.volume.look import read_pixels

_CUT = 384  # pixels along a side of a cut across slices: each costs one page of the file
_LINES = 256  # rows of a slice that the distribution of values is taken from
_THINNEST = 8  # slices, of fewer a cut across them shows nothing
_UNITS = ((1e-2, "cm"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture with its scale bar.

    Attributes
    ----------
    address : str
        The picture itself, as a ``data:`` address.
    width, height : int
        Pixels of what it shows: its true proportions.
    title : str
        What it is.
    bar : float
        Length of the scale bar as a share of the width.
    bar_text : str
        The same in metres, or in pixels.
    """

    address: str
    width: int
    height: int
    title: str
    bar: float
    bar_text: str


def sample_values(run: Run) -> NDArray[np.float32]:
    """Take values from all over a volume: (value,) float32, the finite ones of slices that were made."""
    slices, height, width = run.target.shape
    made = _made(run)
    chosen = [index for index in sample_rows(0, slices) if made[index]]
    rows = range(0, height, step_for(height, _LINES))
    columns = range(0, width, step_for(width, 2 * MOST))
    parts = [read_pixels(run.target, range(index, index + 1), rows, columns).ravel() for index in chosen]
    values = np.concatenate(parts) if parts else np.empty(0, np.float32)
    return values[np.isfinite(values)]


def cut_volume(run: Run, window: tuple[float, float]) -> list[Picture]:
    """Draw a slice, and two cuts across all slices, through the middle of what was made."""
    slices, height, width = run.target.shape
    made = _made(run)
    if not made.any():
        return []
    middle = int(min(np.flatnonzero(made), key=lambda index: abs(index - slices // 2)))
    first = run.target.first_row
    (image,) = read_pixels(run.target, range(middle, middle + 1), range(height), range(width))
    drawn = [_draw(run, shrink(image), (width, height), f"slice of row {first + middle} (x, y)", window)]
    if slices < _THINNEST:
        return drawn
    chosen = range(0, slices, step_for(slices, _CUT))
    columns, rows = range(0, width, step_for(width, _CUT)), range(0, height, step_for(height, _CUT))
    for name, some_rows, some_columns, length in (
        (f"cut at y = {height // 2} (x, row)", range(height // 2, height // 2 + 1), columns, width),
        (f"cut at x = {width // 2} (y, row)", rows, range(width // 2, width // 2 + 1), height),
    ):
        cut = read_pixels(run.target, chosen, some_rows, some_columns).reshape(len(chosen), -1)
        cut[~made[chosen.start : chosen.stop : chosen.step]] = np.nan
        drawn.append(_draw(run, cut, (length, slices), name, window))
    return drawn


def draw_sinogram(run: Run) -> Picture | None:
    """Draw the corrected sinogram of a row, if its chunk was made by this run."""
    for result in run.results:
        if result.sinogram is not None:
            row, sinogram = result.sinogram
            size = (run.plan.work.columns, run.plan.work.angles)
            name = f"sinogram of row {row} (column, projection)"
            return _draw(run, sinogram, size, name, window_of(sinogram))
    return None


def scale_bar(width: int, pixel_size: float | None) -> tuple[int | float, str]:
    """Choose a round length for a scale bar below a third of the width: in pixels, and for people.

    >>> scale_bar(160, 1e-4), scale_bar(2048, None)
    ((50.0, '5 mm'), (500.0, '500 pixels'))
    """
    most = width * (pixel_size or 1.0) / 3
    power = 10.0 ** math.floor(math.log10(most))
    length = max(power * factor for factor in (1, 2, 5) if power * factor <= most)
    if pixel_size is None:
        return length, f"{length:g} pixels"
    unit, name = next(((unit, name) for unit, name in _UNITS if length >= 0.999 * unit), _UNITS[-1])
    return round(length / pixel_size, 6), f"{length / unit:.3g} {name}"


def _draw(
    run: Run, image: NDArray[np.float32], size: tuple[int, int], title: str, window: tuple[float, float]
) -> Picture:
    width, height = size
    length, text = scale_bar(width, run.content.pixel_size)
    return Picture(
        address=picture(image, *window),
        width=width,
        height=height,
        title=title,
        bar=length / width,
        bar_text=text,
    )


def _made(run: Run) -> NDArray[np.bool_]:
    """Say of each slice whether it is there."""
    made = np.ones(run.target.shape[0], np.bool_)
    missing: Iterable[tuple[int, int]] = (
        (chunk.first_row, chunk.end_row)
        for chunk in (*run.left, *(failure.chunk for failure in run.failures))
    )
    for first, end in missing:
        made[first - run.target.first_row : end - run.target.first_row] = False
    return made
