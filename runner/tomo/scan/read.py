"""Reading pixels: some rows of some frames, in as few HDF5 calls as there are gaps."""

from __future__ import annotations

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo.scan.hdf5 import dataset_at, open_file
from runner.tomo.scan.scan import Frames
from runner.tomo.scan.virtual import check_source_files


def read_frames(frames: Frames, rows: slice) -> NDArray[np.number]:
    """Read some detector rows of some frames.

    Parameters
    ----------
    frames : Frames
        Which frames.
    rows : slice
        Which detector rows: start and stop, both inside the detector.

    Returns
    -------
    (frame, row, column) ndarray
        In the type in which they are stored.

    Raises
    ------
    MissingFileError
        If the file, or a source of a virtual dataset, cannot be seen from here.
    ScanError
        If the pixels cannot be read: damaged data, or a compression filter that is not installed.
    """
    with open_file(frames.file) as file:
        dataset = dataset_at(file, frames.dataset)
        check_source_files(dataset)
        pixels = np.empty((frames.count, rows.stop - rows.start, dataset.shape[2]), dataset.dtype)
        first = 0
        for start, stop in runs(frames.indices):
            count = stop - start
            _read(dataset, np.s_[start:stop, rows], pixels[first : first + count])
            first += count
    return pixels


def runs(indices: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Split ascending indices into runs ``[start, stop)`` without a gap.

    >>> runs(np.array([0, 1, 2, 7, 9, 10]))
    [(0, 3), (7, 8), (9, 11)]
    """
    if len(indices) == 0:
        return []
    pieces = np.split(indices, np.flatnonzero(np.diff(indices) != 1) + 1)
    return [(int(piece[0]), int(piece[-1]) + 1) for piece in pieces]


def _read(dataset: h5py.Dataset, selection: tuple[slice, slice], into: NDArray[np.number]) -> None:
    try:
        dataset.read_direct(into, selection)
    except OSError as error:
        raise ScanError(
            f"{dataset.name} of {dataset.file.filename} cannot be read ({error})", _reading_remedy(dataset)
        ) from error


def _reading_remedy(dataset: h5py.Dataset) -> str:
    plist = dataset.id.get_create_plist()
    for number in range(plist.get_nfilters()):
        code, _, _, name = plist.get_filter(number)
        if not h5py.h5z.filter_avail(code):
            return f"install the HDF5 filter {code} ({name.decode(errors='replace')})"
    return "the file is probably damaged: copy it again"
