"""Reading pixels: some rows of some frames.

Straight from the file where that is possible. HDF5 reads whole chunks of which a few rows are wanted, and one
at a time; but it reads everything, and knows what to say where something cannot be read.
"""

from __future__ import annotations

from dataclasses import replace

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo import reused
from runner.tomo.scan.binning import sum_pixels
from runner.tomo.scan.decode import decoders_of
from runner.tomo.scan.direct import Reader
from runner.tomo.scan.hdf5 import dataset_at, name_of, open_file
from runner.tomo.scan.images import read_images_rows
from runner.tomo.scan.scan import Frames, Images
from runner.tomo.scan.stored import find_stored
from runner.tomo.scan.virtual import check_source_files

BLOCK = 64 << 20
"""Bytes, about, of the frames that are read at a time where their pixels are summed."""


def read_frames(frames: Frames | Images, rows: slice, *, threads: int = 1) -> NDArray[np.number]:
    """Read some detector rows of some frames.

    Parameters
    ----------
    frames : Frames or Images
        Which frames.
    rows : slice
        Which detector rows: start and stop, both inside the detector; of larger pixels, if frames are binned.
    threads : int
        How many read and decode, where HDF5 is not needed for it.

    Returns
    -------
    (frame, row, column) ndarray
        In the type in which they are stored, or float32 if binned.

    Raises
    ------
    MissingFileError
        If the file, or a source of a virtual dataset, cannot be seen from here.
    ScanError
        If the pixels cannot be read: damaged data, or a compression filter that is not installed.
    """
    if frames.binning > 1:
        return _read_binned(frames, rows, threads)
    if isinstance(frames, Images):
        return read_images_rows(frames, rows, threads=threads)
    with open_file(frames.file) as file:
        dataset = dataset_at(file, frames.dataset)
        if dataset.ndim == 2:  # one frame, as flats and darks are kept that were reduced
            return np.asarray(dataset[rows])[np.newaxis]
        check_source_files(dataset)
        shape = (frames.count, rows.stop - rows.start, dataset.shape[2])
        pixels = reused.empty("frames", shape, dataset.dtype)
        if not _read_directly(dataset, frames.indices, rows, pixels, threads):
            first = 0
            for start, stop in runs(frames.indices):
                count = stop - start
                _read(dataset, np.s_[start:stop, rows], pixels[first : first + count])
                first += count
    return pixels


def _read_binned(frames: Frames | Images, rows: slice, threads: int) -> NDArray[np.float32]:
    """Read some frames at a time, and keep their sums only."""
    factor = frames.binning
    stored = slice(rows.start * factor, rows.stop * factor)

    def read(some: slice) -> NDArray[np.float32]:
        plain = replace(frames, indices=frames.indices[some], binning=1)
        return sum_pixels(read_frames(plain, stored, threads=threads), factor, threads=threads)

    first = read(slice(0, 1))
    sums = np.empty((frames.count, *first.shape[1:]), np.float32)
    sums[:1] = first
    step = max(BLOCK // (first.nbytes * factor**2), 1)
    for begin in range(1, frames.count, step):
        some = slice(begin, begin + step)
        sums[some] = read(some)
    return sums


def _read_directly(
    dataset: h5py.Dataset, indices: NDArray[np.int64], rows: slice, into: NDArray[np.number], threads: int
) -> bool:
    """Read without HDF5; False if that cannot be done."""
    stored = find_stored(dataset)
    decoders = None if stored is None else decoders_of(stored.filters)
    if stored is None or decoders is None:
        return False
    reader = Reader(file=dataset.file.id.get_vfd_handle(), stored=stored, decoders=decoders)
    if not reader.pays(threads):
        return False
    try:
        reader.read(indices, rows, into, threads=threads)
    except (OSError, EOFError, ValueError):  # HDF5 has a value for it, or says what is wrong
        return False
    return True


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
        name = name_of(dataset)
        if (absent := _absent_filter(dataset)) is not None:
            raise ScanError(
                f"{name} is compressed with the HDF5 filter {absent}, which is not installed", "install it"
            ) from error
        raise ScanError(
            f"{name} cannot be read ({error})", "the file is probably damaged: copy it again"
        ) from error


def _absent_filter(dataset: h5py.Dataset) -> str | None:
    """Find a filter that HDF5 does not have: its number, and its name if the file tells it."""
    plist = dataset.id.get_create_plist()
    for number in range(plist.get_nfilters()):
        code, _, _, name = plist.get_filter(number)
        if not h5py.h5z.filter_avail(code):
            return f"{code} {name.decode(errors='replace')}".strip()
    return None
