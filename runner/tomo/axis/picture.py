"""Pictures for the rotation axis: the evidence, and a sweep. They need matplotlib, the extra `plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.errors import UsageError, WriteError
from runner.tomo.axis.finding import AxisEstimate, Curve
from runner.tomo.axis.pairs import opposite_pairs
from runner.tomo.axis.sweep import Sweep, make_sweep
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.scan import Scan

_AROUND = 12.0  # columns of the curves that are drawn beside the axis
_PANEL = 2.6  # inches of a slice in a montage


def draw_evidence(path: Path, scan: Scan, axis: AxisEstimate, *, threads: int = 1) -> None:
    """Draw what speaks for an axis: the methods' curves, the bands, a pair of views, the slice.

    Raises
    ------
    UsageError
        If matplotlib is not installed.
    WriteError
        If it cannot be written.
    """
    figure = _figure((11, 7))
    curves, bands, views, image = figure.subplots(2, 2).ravel()
    for finding in axis.findings:
        if finding.curve is not None:
            near = _near(finding.curve, axis.position)
            curves.plot(near.centers, _from_0_to_1(near.scores), label=str(finding))
    curves.axvline(axis.position, color="black", linewidth=0.8)
    curves.set(title=f"axis {axis.position:.2f}, confidence {axis.confidence}", xlabel="column")
    curves.legend(fontsize=8, loc="lower center")
    rows = [band.middle for band in axis.bands]
    bands.plot([band.position for band in axis.bands], rows, "o")
    ends = np.array([0, scan.rows - 1])
    bands.plot(axis.position + axis.slope * (ends - (scan.rows - 1) / 2), ends, color="black", linewidth=0.8)
    bands.set(title="by rows", xlabel="column", ylabel="row", ylim=(scan.rows - 0.5, -0.5))
    bands.set_xlim(axis.position - 3, axis.position + 3)
    best = max(axis.bands, key=lambda band: band.weight)
    _draw_views(views, scan, axis.position, slice(best.start, best.stop))
    row = int(best.middle)
    center = axis.position + axis.slope * (row - (scan.rows - 1) / 2)
    _draw_slice(image, make_sweep(scan, row, (center,), threads=threads).slices[0])
    image.set_title(f"row {row}, about column {center:.2f}")
    _save(figure, path)


def draw_sweep(path: Path, sweep: Sweep) -> None:
    """Draw all slices of a sweep beside each other; each says its axis.

    Raises
    ------
    UsageError, WriteError
        As from :func:`draw_evidence`.
    """
    columns = int(np.ceil(np.sqrt(len(sweep.centers))))
    lines = -(-len(sweep.centers) // columns)
    figure = _figure((_PANEL * columns, (_PANEL + 0.3) * lines))
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    limits = np.percentile(sweep.slices, (1, 99.5)).tolist()
    for panel, center, image in zip(panels, sweep.centers, sweep.slices, strict=False):
        _draw_slice(panel, image, limits)
        panel.set_title(f"{center:g}")
    for panel in panels[len(sweep.centers) :]:
        panel.axis("off")
    _save(figure, path)


def _draw_views(panel: Any, scan: Scan, position: float, rows: slice) -> None:
    """Lay a view and its mirrored opposite over each other, as profiles of some rows."""
    pair = opposite_pairs(scan.angles, most=3)[0]
    numbers = np.unique([*pair.first.numbers, *pair.second.numbers])
    profiles = corrected_sinograms(scan, rows, chosen=numbers).mean(axis=0)
    columns = np.arange(scan.columns)
    for view, places, label in (
        (pair.first, columns, f"{pair.angle:.2f} degrees"),
        (
            pair.second,
            2 * position - columns,
            f"{pair.angle + 180:.2f} degrees, mirrored about {position:.2f}",
        ),
    ):
        before, after = profiles[np.searchsorted(numbers, view.numbers)]
        panel.plot(places, (1 - view.weight) * before + view.weight * after, label=label, linewidth=0.9)
    panel.axvline(position, color="black", linewidth=0.8)
    panel.set(
        title=f"opposite views, rows {rows.start}:{rows.stop}", xlabel="column", xlim=(0, scan.columns - 1)
    )
    panel.legend(fontsize=8)


def _draw_slice(panel: Any, image: NDArray[np.float32], limits: list[float] | None = None) -> None:
    low, high = np.percentile(image, (1, 99.5)).tolist() if limits is None else limits
    panel.imshow(image, cmap="gray", vmin=low, vmax=high)
    panel.set(xticks=[], yticks=[])


def _near(curve: Curve, position: float) -> Curve:
    near = np.abs(curve.centers - position) <= _AROUND
    return Curve(centers=curve.centers[near], scores=curve.scores[near])


def _from_0_to_1(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((scores - scores.min()) / (np.ptp(scores) or 1.0))


def _figure(size: tuple[float, float]) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("pictures need matplotlib", "pip install 'tomo-runner[plot]'") from error
    return Figure(figsize=size, layout="constrained")


def _save(figure: Any, path: Path) -> None:
    try:
        figure.savefig(path, dpi=110, format="png")
    except OSError as error:
        raise WriteError(
            f"{path} cannot be written ({error})", "check its folder and the space left"
        ) from error
