"""The grey levels of a volume as a chart."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from runner.tomo.report.chart import Plane, drawing
from runner.tomo.volume.greys import Greys

_BINS = 128  # grey levels fall into each in equal number
_SHOWN = (0.05, 99.95)  # percentiles; far outliers would leave one bar


def draw_histogram(values: NDArray[np.float32], units: str, greys: Greys) -> Markup:
    """Draw how often values occur.

    Parameters
    ----------
    values : (value,) float32
        Finite ones.
    units : str
        Of the values.
    greys : Greys
        The type of the pixels.
    """
    half = greys.step / 2
    low, high = (greys.low - half, greys.high + half) if greys.levels else _shown(values)
    counts, edges = np.histogram(values, bins=_BINS, range=(low, high))
    shares = counts / max(len(values), 1) * 100
    plane = Plane(x=(low, high), y=(0.0, float(shares.max()) * 1.05 or 1.0))
    xs = np.repeat(edges, 2)
    ys = np.concatenate([[0], np.repeat(shares, 2), [0]])
    bars = Markup('<polygon class="bars" points="{}"/>').format(plane.line(xs.tolist(), ys.tolist()))
    return drawing(plane, [plane.scales(units, "% of the pixels"), bars], "histogram of the grey values")


def _shown(values: NDArray[np.float32]) -> tuple[float, float]:
    if not values.size:
        return 0.0, 1.0
    low, high = np.percentile(values, _SHOWN).tolist()
    return (low, high) if low < high else (low - 0.5, low + 0.5)
