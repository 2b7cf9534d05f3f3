"""Where a detector's defective pixels are, as a chart."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from runner.tomo.report.chart import Plane, drawing
from runner.tomo.scan.defects import KINDS, Defects
from runner.tomo.thumbnail import step_for

_CELLS = 128  # along a side, at most: a bad detector must not make a huge page
_WIDTH = 520.0
_HEIGHTS = (140.0, 520.0)


def draw_defects(defects: Defects) -> Markup:
    """Draw the detector, with a mark wherever a pixel is defective, in the colour of its kind."""
    rows, columns = defects.rows, defects.columns
    height = min(max(_WIDTH * rows / columns, _HEIGHTS[0]), _HEIGHTS[1])
    plane = Plane(x=(-0.5, columns - 0.5), y=(rows - 0.5, -0.5), width=_WIDTH, height=height)
    step = step_for(max(rows, columns), _CELLS)
    cells = largest_of_blocks(defects.map(), step)
    parts = [plane.scales("column", "detector row")]
    for number, _ in enumerate(KINDS):
        marks = "".join(
            _square(plane, column * step, row * step, step)
            for row, column in np.argwhere(cells == number + 1).tolist()
        )
        parts.append(Markup('<path class="f{}" d="{}"/>').format(number, marks))
    return drawing(plane, parts, "defective pixels of the detector")


def largest_of_blocks(pixels: NDArray[np.uint8], step: int) -> NDArray[np.uint8]:
    """Find the largest value of each block of `step` x `step` pixels; those at the end may be smaller."""
    rows, columns = (range(0, length, step) for length in pixels.shape)
    largest: NDArray[np.uint8] = np.maximum.reduceat(np.maximum.reduceat(pixels, rows, 0), columns, 1)
    return largest


def _square(plane: Plane, column: int, row: int, step: int) -> str:
    """Draw a cell, but no smaller than can be seen."""
    left, top = plane.across(column - 0.5), plane.down(row - 0.5)
    size = max(plane.across(column - 0.5 + step) - left, 4.0)
    return f"M{left:.1f} {top:.1f}h{size:.1f}v{size:.1f}h-{size:.1f}z"
