"""All that the kernels read and never write, computed once for a scan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.fft_plan import FftPlan, make_fft_plan
from runner.tomo.reconstruct.gridding.kaiser_bessel import (
    Window,
    apodisation,
    make_window,
    shape_parameter,
)
from runner.tomo.reconstruct.gridding.memory import Sizes
from runner.tomo.reconstruct.gridding.quality import Quality


class Lines(NamedTuple):
    """Where the spectrum of each projection lies on the grid: on a line through its origin.

    The spectra are real functions': only the half with ``u >= 0`` is kept, and the kernels mirror it.

    Attributes
    ----------
    step_u, step_v : (angle,) float64
        Cells from one frequency to the next; `step_u` is not negative.
    turned : (angle,) bool
        Whether the line was turned by 180 degrees for that: its spectrum is conjugated.
    phase : (angle,) float64
        Radians from one frequency to the next, which put the rotation axis into the middle of the image.
    gain : (angle,) float64
        Factor of each projection.
    """

    step_u: NDArray[np.float64]
    step_v: NDArray[np.float64]
    turned: NDArray[np.bool_]
    phase: NDArray[np.float64]
    gain: NDArray[np.float64]


class Grid(NamedTuple):
    """The grid of the spectrum: rows of constant u, 0 .. rows - 1, and v along them.

    Attributes
    ----------
    rows : int
        Half of the length along u, and one.
    halo : int
        Cells on both sides of a row, which are folded back onto it: v is periodic.
    pitch : int
        Cells of a row with both halos.
    across, along : FftPlan
        The transforms along u, which makes x, and along v, which makes y.
    """

    rows: int
    halo: int
    pitch: int
    across: FftPlan
    along: FftPlan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tables:
    """See the module.

    Attributes
    ----------
    padded : FftPlan
        The transform of a padded row.
    points : int
        Frequencies kept of each projection, from 0 to the Nyquist frequency.
    response : (point,) float64
        Filter, and 1/2 where a frequency is its own mirror.
    columns : (column,) float32
        Factors of the detector's columns.
    lines, window, grid
        See there.
    across, along : (x,) and (y,) float32
        What divides the window's trace out of the image.
    """

    padded: FftPlan
    points: int
    response: NDArray[np.float64]
    columns: NDArray[np.float32]
    lines: Lines
    window: Window
    grid: Grid
    across: NDArray[np.float32]
    along: NDArray[np.float32]


def make_tables(geometry: Geometry, sizes: Sizes, response: NDArray[np.floating], quality: Quality) -> Tables:
    """Compute the tables.

    Parameters
    ----------
    geometry : Geometry
        Where the rays lie.
    sizes : Sizes
        Of the padded rows and of the grid.
    response : (point,) float64
        Of the filter.
    quality : Quality
        How exact.
    """
    height, width = geometry.shape
    halved = response.astype(np.float64)
    halved[[0, -1]] /= 2  # the frequencies 0 and Nyquist are their own mirrors
    return Tables(
        padded=make_fft_plan(sizes.length),
        points=sizes.points,
        response=halved,
        columns=geometry.column_weights.astype(np.float32),
        lines=_lines(geometry, sizes),
        window=make_window(quality.width, shape_parameter(quality.width, quality.oversampling)),
        grid=Grid(
            rows=sizes.rows,
            halo=sizes.halo,
            pitch=sizes.pitch,
            across=make_fft_plan(sizes.across),
            along=make_fft_plan(sizes.along),
        ),
        across=_correction(width, sizes.across, quality),
        # rows of the grid begin at -length / 2, which in the image is a factor of (-1)^y
        along=_correction(height, sizes.along, quality) * _alternating(height),
    )


def _correction(pixels: int, length: int, quality: Quality) -> NDArray[np.float32]:
    """Compute what takes the window's trace out of the image."""
    positions = (np.arange(pixels) - pixels // 2) / length
    shape = shape_parameter(quality.width, quality.oversampling)
    return (1 / apodisation(positions, quality.width, shape)).astype(np.float32)


def _alternating(pixels: int) -> NDArray[np.float32]:
    return (1 - 2 * (np.abs(np.arange(pixels) - pixels // 2) % 2)).astype(np.float32)


def _lines(geometry: Geometry, sizes: Sizes) -> Lines:
    angles = geometry.radians
    cos, sin = np.cos(angles), np.sin(angles)
    turned = cos < 0
    sign = np.where(turned, -1.0, 1.0)
    height, width = geometry.shape
    x, y = geometry.x[width // 2], geometry.y[height // 2]  # the pixel that transforms count from
    centers = geometry.centers + x * cos - y * sin
    return Lines(
        step_u=np.abs(cos) * sizes.across / sizes.length,
        step_v=-sin * sign * sizes.along / sizes.length,
        turned=turned,
        phase=2 * np.pi * centers / sizes.length,
        gain=geometry.weights / sizes.length,
    )
