"""Scans in HDF5 files of no known form, whose parts the user names."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo.scan.scan import Scan
from runner.tomo.scan.stack import frames_of, stack_at


def read_stacked(file: h5py.File, name: str, *, path: Path, angles: NDArray[np.float64] | None) -> Scan:
    """Read the headers of a scan whose flats and darks are named apart.

    Parameters
    ----------
    file : h5py.File
        The open file.
    name : str
        Path of the dataset of projections.
    path : Path
        The file as the user named it.
    angles : (angle,) float64 or None
        Angles of the projections, degrees.

    Raises
    ------
    MissingFileError
        If a file that holds a part of the projections is missing.
    ScanError
        If there is no such dataset, it is no stack of frames, or there are no angles.
    """
    projections = stack_at(file, name.strip("/"))
    return Scan(
        path=path,
        format="hdf5",
        entry=projections.name,
        projections=frames_of(projections, np.arange(len(projections))),
        angles=needed(angles, path),
        flats=(),
        darks=(),
        rows=projections.shape[1],
        columns=projections.shape[2],
        dtype=projections.dtype,
    )


def needed(angles: NDArray[np.float64] | None, path: Path) -> NDArray[np.float64]:
    """Refuse a scan whose form has no angles where none are given.

    Raises
    ------
    ScanError
        If there are none.
    """
    if angles is None:
        raise ScanError(
            f"{path}: nothing tells the angles of its projections", "give them as --angles A:B:N, or a file"
        )
    return angles
