"""Stacks of frames, the same in every form of scan: (frame, row, column), of numbers, all of it there."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo.scan.hdf5 import dataset_at
from runner.tomo.scan.scan import Frames
from runner.tomo.scan.virtual import check_sources


def stack_at(group: h5py.Group, path: str) -> h5py.Dataset:
    """Find a stack of frames that must be there.

    Raises
    ------
    MissingFileError
        If a file that holds a part of it is missing.
    ScanError
        If there is none, or it is not three-dimensional and of real numbers.
    """
    frames = dataset_at(group, path)
    name = f"{frames.name} of {frames.file.filename}"
    if frames.ndim != 3:
        raise ScanError(
            f"{name} has shape {frames.shape}, not (frame, row, column)",
            "it is not a scan; choose another entry",
        )
    if frames.dtype.kind not in "iuf":
        raise ScanError(f"{name} has pixels of type {frames.dtype}, not real numbers", "it is not a scan")
    check_sources(frames)
    return frames


def frames_of(stack: h5py.Dataset, indices: NDArray[np.int64]) -> Frames:
    """Name some frames of a stack, so that any process can read them."""
    return Frames(file=Path(stack.file.filename).resolve(), dataset=stack.name, indices=indices)
