"""What is in the volumes that the tests have had reconstructed."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import h5py
import numpy as np
import tifffile
import zarr


def pixels(volume: Path) -> np.ndarray:
    """Return a whole volume, axes (slice, y, x)."""
    if volume.suffix == ".zarr":
        return zarr.open_group(volume, mode="r")["0"][:]
    if volume.suffix == ".tif":
        return tifffile.imread(volume)
    if volume.suffix == ".h5d":
        volume /= "reconstruction.h5"
    if volume.is_dir():
        return np.stack([tifffile.imread(file) for file in sorted(volume.glob("*.tif"))])
    with h5py.File(volume) as file:
        return file["entry/data/data"][()]


def hosts_of(volume: Path) -> set[str]:
    """Return the addresses at which the workers listened that made the chunks of a volume."""
    with h5py.File(volume) as file:
        workers = file["entry/reconstruction/chunks/worker"].asstr()[()]
    return {str(urlsplit(worker).hostname) for worker in workers}


def slices_there(partial: Path) -> int:
    """Count what is marked as written in a volume that is being made; 0 before there is a whole file."""
    try:
        with h5py.File(partial, locking=False) as file:
            return int(file["entry/reconstruction/status"][:].sum())
    except (OSError, KeyError):
        return 0
