"""Where the bytes of a dataset lie in its file: what it takes to read them without HDF5."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.tomo.scan.hdf5 import dataset_at, open_file

Filter = tuple[int, tuple[int, ...]]
"""Number and parameters of an HDF5 filter."""

_MOST_CHUNKS = 1 << 18  # of a dataset; looking each up costs two microseconds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stored:
    """A dataset of axes (frame, row, column) in its file.

    Attributes
    ----------
    shape : (int, int, int)
        Of the dataset.
    block : (int, int, int)
        Of its chunks; a contiguous dataset is one chunk.
    dtype : np.dtype
        Of a pixel, as stored.
    filters : tuple of Filter
        What each chunk went through when it was written, in this order.
    offsets, sizes : (frame, row, column) int64
        Of each chunk in the file, bytes; the size is 0 where there is none.
    masks : (frame, row, column) int64
        Filters that were left out for a chunk: bit i for the i-th.
    """

    shape: tuple[int, int, int]
    block: tuple[int, int, int]
    dtype: np.dtype[np.number]
    filters: tuple[Filter, ...]
    offsets: NDArray[np.int64]
    sizes: NDArray[np.int64]
    masks: NDArray[np.int64]

    @property
    def block_bytes(self) -> int:
        """Size of a chunk's pixels, bytes."""
        return math.prod(self.block) * self.dtype.itemsize


def find_stored(dataset: h5py.Dataset) -> Stored | None:
    """Look up where a dataset of axes (frame, row, column) lies; None where only HDF5 can read it.

    What was found is remembered for as long as the file stays as it is.
    """
    path = Path(dataset.file.filename)
    if not _plain(dataset):
        return None
    state = path.stat()
    version = state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns
    return _find(path, dataset.name, version)


@functools.lru_cache(maxsize=4)
def _find(path: Path, name: str, version: tuple[int, ...]) -> Stored | None:  # noqa: ARG001 - the cache's key
    with open_file(path) as file:
        dataset = dataset_at(file, name)
        plist = dataset.id.get_create_plist()
        if plist.get_external_count():
            return None
        if plist.get_layout() == h5py.h5d.CONTIGUOUS:
            return _contiguous(dataset)
        if plist.get_layout() == h5py.h5d.CHUNKED and hasattr(dataset.id, "chunk_iter"):
            filters = [plist.get_filter(number) for number in range(plist.get_nfilters())]
            return _chunked(dataset, tuple((code, values) for code, _, values, _ in filters))
    return None


def _plain(dataset: h5py.Dataset) -> bool:
    """Tell whether the pixels are numbers of NumPy's, and the file one that nobody here writes to."""
    kept = dataset.dtype.kind in "uif" and dataset.id.get_type().equal(h5py.h5t.py_create(dataset.dtype))
    file = dataset.file
    return bool(kept and file.mode == "r" and file.driver == "sec2" and file.userblock_size == 0)


def _contiguous(dataset: h5py.Dataset) -> Stored | None:
    offset = dataset.id.get_offset()
    if offset is None:  # nothing was ever written
        return None
    place = np.zeros((1, 1, 1), np.int64)
    return Stored(
        shape=dataset.shape,
        block=dataset.shape,
        dtype=dataset.dtype,
        filters=(),
        offsets=place + offset,
        sizes=place + dataset.nbytes,
        masks=place,
    )


def _chunked(dataset: h5py.Dataset, filters: tuple[Filter, ...]) -> Stored | None:
    block = dataset.chunks
    grid = tuple(-(-length // size) for length, size in zip(dataset.shape, block, strict=True))
    if math.prod(grid) > _MOST_CHUNKS:
        return None
    chunks: list[h5py.h5d.StoreInfo] = []
    dataset.id.chunk_iter(chunks.append)
    offsets, sizes, masks = np.zeros((3, *grid), np.int64)
    if chunks:
        places, filter_masks, byte_offsets, nbytes = zip(*chunks, strict=True)
        at = tuple((np.array(places) // block).T)
        offsets[at], sizes[at], masks[at] = byte_offsets, nbytes, filter_masks
    return Stored(
        shape=dataset.shape,
        block=block,
        dtype=dataset.dtype,
        filters=filters,
        offsets=offsets,
        sizes=sizes,
        masks=masks,
    )
