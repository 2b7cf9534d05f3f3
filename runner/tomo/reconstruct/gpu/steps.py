"""The first and the third step, by the array library's own transforms: CuPy's, or NumPy's in the tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.tomo.reconstruct.gpu.layout import ANGLES
from runner.tomo.reconstruct.gridding.memory import Sizes
from runner.tomo.reconstruct.gridding.tables import Tables

Array = Any
"""An array of the library in use."""


class Steps:
    """What is done before spreading and after it.

    Parameters
    ----------
    xp : module
        NumPy or CuPy.
    tables : Tables
        Geometry and filter.
    sizes : Sizes
        What the tables are for.
    edge : bool
        Whether the outer columns are carried on beside the detector; else there is nothing.
    window : (slice, slice)
        Which part of a slice is wanted, (y, x).
    """

    def __init__(
        self, xp: Any, tables: Tables, sizes: Sizes, *, edge: bool, window: tuple[slice, slice]
    ) -> None:
        self._xp, self._sizes, self._edge = xp, sizes, edge
        self._columns = xp.asarray(tables.columns)
        self._response = xp.asarray(tables.response)
        self._gain = xp.asarray(tables.lines.gain)
        self._turns = xp.asarray(tables.lines.phase / (2 * np.pi))
        y, x = window
        self._across, self._along = xp.asarray(tables.across[x]), xp.asarray(tables.along[y])
        self._x = xp.asarray(_positions(len(tables.across), sizes.across)[x])
        self._y = xp.asarray(_positions(len(tables.along), sizes.along)[y])

    def pad(self, sinograms: Array) -> Array:
        """Carry sinograms (slice, angle, column) on beside the detector: (slice, angle, place) float32."""
        columns, length = sinograms.shape[2], self._sizes.length
        padded = self._xp.zeros((*sinograms.shape[:2], length), np.float32)
        padded[:, :, :columns] = sinograms * self._columns
        if self._edge:
            turn = columns + (length - columns) // 2
            padded[:, :, columns:turn] = padded[:, :, columns - 1 : columns]
            padded[:, :, turn:] = padded[:, :, :1]
        return padded

    def filter_lines(self, lines: Callable[[slice], Array], spectra: Array) -> None:
        """Turn padded lines into filtered spectra (angle, point, slice).

        Parameters
        ----------
        lines : callable
            Takes some angles, and makes their lines: (slice, angle, place) float32.
        spectra : (angle, point, slice) complex64
            Result.
        """
        angles = self._sizes.angles
        for begin in range(0, angles, ANGLES):
            some = slice(begin, min(begin + ANGLES, angles))
            rows = self._xp.fft.rfft(lines(some))
            rows *= self._transfer(some)
            spectra[some, :, : len(rows)] = rows.transpose(1, 2, 0)

    def make_slices(self, grid: Array, slices: Array) -> None:
        """Turn a grid (slice, u, v) into slices (slice, y, x)."""
        xp, length = self._xp, self._sizes.across
        columns = xp.fft.ifft(grid, axis=2, norm="forward")[:, :, self._y]
        rows = xp.ascontiguousarray(columns.transpose(0, 2, 1))
        rows *= self._along[:, np.newaxis]
        lines = xp.fft.irfft(rows, n=length, axis=2, norm="forward")
        xp.multiply(lines[:, :, self._x], self._across, out=slices)

    def _transfer(self, some: slice) -> Array:
        """Compute the filter with the phases that put the axis into the middle, (angle, point) complex64."""
        xp = self._xp
        turns = self._turns[some, np.newaxis] * xp.arange(self._sizes.points)
        phases = (2 * np.pi * (turns - xp.rint(turns))).astype(np.float32)  # small: exact enough
        factors = (self._gain[some, np.newaxis] * self._response).astype(np.float32)
        return factors * (xp.cos(phases) + np.complex64(1j) * xp.sin(phases))


def _positions(pixels: int, length: int) -> NDArray[np.int64]:
    """Tell where in a transform the pixels are: those before the middle lie at its end."""
    return (np.arange(pixels) - pixels // 2) % length
