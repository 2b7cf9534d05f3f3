"""A tilted axis: its column changes steadily from row to row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from runner.tomo.axis.finding import Band, weighted_median

_LEAST_BANDS = 4
_LEAST_SHIFT = 0.5  # columns over all rows; less does not blur a slice
_CERTAIN = 5.0  # standard deviations of the slope
_TO_DEVIATION = 1.2533  # from the mean of absolute deviations to a standard deviation
_BEST = 0.02  # columns; no band is known better than that


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Where the axis is by rows: ``position + slope (row - middle)``.

    Attributes
    ----------
    position : float
        Column in the detector's middle row.
    slope : float
        Columns per row; 0 where no tilt is certain.
    measured : float
        The slope that was measured, certain or not.
    error : float
        Its standard deviation.
    """

    position: float
    slope: float
    measured: float
    error: float

    @property
    def degrees(self) -> float:
        """The angle between the axis and the detector's columns."""
        return float(np.rad2deg(np.arctan(self.measured)))


def fit_line(bands: tuple[Band, ...], middle: float) -> Line:
    """Fit a line through the positions of bands, with little regard to outliers.

    The slope is the weighted median of those of all pairs of bands (H. Theil and P. K. Sen, "Estimates of the
    regression coefficient based on Kendall's tau", J. Am. Stat. Assoc. 63 (1968) 1379-1389).

    Parameters
    ----------
    bands : tuple of Band
    middle : float
        The row for which the position is told.
    """
    known = [band for band in bands if np.isfinite(band.position) and band.weight > 0]
    if not known:
        return Line(position=np.inf, slope=0.0, measured=0.0, error=np.inf)
    rows, places, weights = np.array([(band.middle, band.position, band.weight) for band in known]).T
    level = weighted_median(places, weights)
    if len(known) < _LEAST_BANDS:
        return Line(position=level, slope=0.0, measured=0.0, error=np.inf)
    first, second = np.triu_indices(len(known), 1)
    rise, run = places[second] - places[first], rows[second] - rows[first]
    slope = weighted_median(rise / run, np.sqrt(weights[first] * weights[second]) * np.abs(run))
    inclined = places - slope * (rows - middle)
    position = weighted_median(inclined, weights)
    shares = weights / weights.sum()
    lever = float(np.sqrt((shares * (rows - shares @ rows) ** 2).sum()))
    # the mean deviation, which outliers do raise: rather overlook a tilt than make one of noise
    deviation = max(_TO_DEVIATION * float(shares @ np.abs(inclined - position)), _BEST)
    error = deviation / (lever * np.sqrt(1 / (shares**2).sum()))
    shift = abs(slope) * float(np.ptp(rows))
    certain = abs(slope) > _CERTAIN * error and shift > _LEAST_SHIFT
    return Line(
        position=position if certain else level,
        slope=slope if certain else 0.0,
        measured=slope,
        error=float(error),
    )
