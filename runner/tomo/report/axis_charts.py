"""What speaks for the rotation axis, as charts: the methods' curves, and where bands of rows see it."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from runner.tomo.axis import AxisEstimate
from runner.tomo.report.chart import Plane, drawing

_AROUND = 12.0  # columns beside the axis that the curves show
_HALF = 520.0  # width of the drawings, two of them side by side
_BANDS = 2.0  # columns beside it that the bands show, at least


def draw_curves(axis: AxisEstimate) -> Markup:
    """Draw how well each position does for each method, the best of each at 1."""
    plane = Plane(x=(axis.position - _AROUND, axis.position + _AROUND), y=(0.0, 1.05), width=_HALF)
    parts = [plane.scales("column", "score", y_ticks=False), _line_at(plane, axis.position)]
    for number, finding in enumerate(axis.findings):
        if finding.curve is None:
            continue
        near = np.abs(finding.curve.centers - axis.position) <= _AROUND
        centers, scores = finding.curve.centers[near], finding.curve.scores[near]
        if len(scores) > 1:
            heights = (scores - scores.min()) / (np.ptp(scores) or 1.0)
            points = plane.line(centers.tolist(), heights.tolist())
            parts.append(Markup('<polyline class="curve c{}" points="{}"/>').format(number, points))
    return drawing(plane, parts, "score of each column, by method")


def draw_bands(axis: AxisEstimate, rows: int) -> Markup:
    """Draw where bands of rows see the axis, and the line through them."""
    ends = (0.0, float(rows - 1))
    line = [axis.position + axis.slope * (row - (rows - 1) / 2) for row in ends]
    reach = _reach(axis, rows)
    plane = Plane(x=(axis.position - reach, axis.position + reach), y=(float(rows), 0.0), width=_HALF)
    parts = [
        plane.scales("column", "detector row"),
        Markup('<polyline class="axis" points="{}"/>').format(plane.line(line, ends)),
    ]
    heaviest = max((band.weight for band in axis.bands), default=1.0) or 1.0
    for band in axis.bands:
        if abs(band.position - axis.position) <= reach:  # the others are counted below the chart
            size = 2.5 + 3 * (band.weight / heaviest) ** 0.5
            place = plane.across(band.position), plane.down(band.middle)
            parts.append(
                Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>').format(*place, size)
            )
    return drawing(plane, parts, "column of the axis by detector rows")


def bands_outside(axis: AxisEstimate, rows: int) -> int:
    """Count the bands that lie beyond the chart of `draw_bands`."""
    return sum(abs(band.position - axis.position) > _reach(axis, rows) for band in axis.bands)


def _reach(axis: AxisEstimate, rows: int) -> float:
    """Say how many columns beside the axis are shown, so that all of a tilted one is."""
    return max(_BANDS, 1.2 * abs(axis.slope) * (rows - 1) / 2)


def _line_at(plane: Plane, column: float) -> Markup:
    return Markup('<polyline class="axis" points="{}"/>').format(plane.line((column, column), plane.y))
