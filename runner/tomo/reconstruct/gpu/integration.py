"""From counts to padded line integrals on the GPU, by the kernel `integrate.cu`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from runner.tomo.counts import Counts
from runner.tomo.reconstruct.gpu.device import Device, Kernel
from runner.tomo.reconstruct.gpu.layout import COUNT_TYPES
from runner.tomo.reconstruct.gpu.steps import Array
from runner.tomo.reconstruct.gridding.memory import Sizes
from runner.tomo.reconstruct.gridding.tables import Tables

_THREADS = 128, 1


class Integration:
    """Makes the padded lines that the first step transforms: to the last bit those of the CPU's integrals.

    Parameters
    ----------
    device : Device
        What computes.
    tables : Tables
        For the factors of the detector's columns.
    sizes : Sizes
        For the length of a padded line.
    edge : bool
        Whether the outer columns are carried on beside the detector; else there is nothing.
    """

    def __init__(self, device: Device, tables: Tables, sizes: Sizes, *, edge: bool) -> None:
        self._device, self._length, self._edge = device, sizes.length, edge
        self._columns = device.xp.asarray(tables.columns)
        self._kernels: dict[str, Kernel] = {}

    def of(self, counts: Counts, sinograms: Array) -> Callable[[slice], Array]:
        """Take some rows, and return what makes their lines of some angles: (row, angle, place) float32.

        Parameters
        ----------
        counts : Counts
            The rows.
        sinograms : (row, angle, column) array
            Their projections, on the GPU.
        """
        xp, kernel = self._device.xp, self._compiled(COUNT_TYPES[counts.projections.dtype])
        frames = [xp.asarray(np.ascontiguousarray(some)) for some in (counts.dark, counts.beams)]
        flats = [xp.asarray(some.astype(np.int32)) for some in (counts.before, counts.after)]
        factors = [xp.asarray(some) for some in (counts.weights, counts.gains)]

        def lines(some: slice) -> Array:
            number = some.stop - some.start
            result = xp.empty((len(sinograms), number, self._length), np.float32)
            sizes = (*sinograms.shape, some.start, number, self._length, int(self._edge))
            arrays = (sinograms, *frames, *flats, *factors, self._columns, result)
            kernel(len(sinograms) * number, _THREADS, 0, (*arrays, *map(np.int32, sizes)))
            return result

        return lines

    def _compiled(self, count: str) -> Kernel:
        if count not in self._kernels:
            self._kernels[count] = self._device.kernel("integrate.cu", "integrate", {"COUNT": count})
        return self._kernels[count]
