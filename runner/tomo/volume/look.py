"""Looking into a volume of any form: a few pixels of a slice, without reading the others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runner.tomo.volume.place import DESCRIPTION, is_folder
from runner.tomo.volume.slab import Target

_THREADS = 16  # that wait for a disk far away


def description_in(volume: Path) -> Path:
    """Tell where the description of a finished volume is."""
    return volume / DESCRIPTION if is_folder(volume) else volume


def read_pixels(target: Target, slices: range, rows: range, columns: range) -> NDArray[np.float32]:
    """Read some pixels of some slices, in the volume's unit.

    Of each row the bytes from the first to the last of these columns are read: one pixel costs one page, so
    does a short row.

    Parameters
    ----------
    target : Target
        The volume.
    slices, rows, columns : range
        Which; slices count from 0.

    Returns
    -------
    (slice, y, x) float32
        What was not made is not a number, or the lowest grey level.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="look") as threads:
        found = list(threads.map(lambda index: _read_slice(target, index, rows, columns), slices))
    pixels = np.array(found, dtype=np.float32).reshape(len(slices), len(rows), len(columns))
    return pixels * np.float32(target.greys.step) + np.float32(target.greys.low)


def _read_slice(target: Target, index: int, rows: range, columns: range) -> NDArray[np.generic]:
    width = target.shape[2]
    stored = np.dtype(target.greys.stored)
    span = (columns[-1] - columns[0] + 1) * stored.itemsize
    pixels = np.empty((len(rows), len(columns)), stored)
    with _opened(target, index) as (descriptor, start):
        for line, row in zip(pixels, rows, strict=True):
            place = start + (row * width + columns[0]) * stored.itemsize
            line[:] = np.frombuffer(_read_all(descriptor, span, place), stored)[:: columns.step]
    return pixels


@contextmanager
def _opened(target: Target, index: int) -> Iterator[tuple[int, int]]:
    """Open the file of a slice: its descriptor, and from which byte on the slice lies."""
    size = target.shape[1] * target.shape[2] * target.greys.bytes
    path, number = target.path, index
    if target.files is not None:
        path, number = path.parent / target.files.name(index), index % target.files.slices
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        yield descriptor, target.offset + number * size
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, length: int, place: int) -> bytes:
    content = os.pread(descriptor, length, place)
    if len(content) < length:
        raise OSError(f"the file ends before byte {place + length}")
    return content
