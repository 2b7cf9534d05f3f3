"""From a file's name to a Scan, whatever the file's form."""

from __future__ import annotations

import os
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from runner.errors import ScanError
from runner.tomo.scan import dxchange, nxtomo
from runner.tomo.scan.angles import check_angles
from runner.tomo.scan.hdf5 import find, open_file
from runner.tomo.scan.scan import Scan


def open_scan(
    path: str | os.PathLike[str], *, entry: str | None = None, angles: ArrayLike | None = None
) -> Scan:
    """Open a scan: its headers only.

    Parameters
    ----------
    path : path-like
        An HDF5 file in NXtomo or DXchange form; which one is found out.
    entry : str, optional
        The group that holds the scan, where the file has several.
    angles : (angle,) array_like, optional
        Angles of the projections in degrees, in place of those in the file.

    Returns
    -------
    Scan

    Raises
    ------
    MissingFileError
        If the file, or a file that it links to for its frames or angles, is missing.
    ScanError
        If it is not a scan of which a right volume can be made; the message says why.
    """
    path = Path(path)
    given = None if angles is None else np.asarray(angles, dtype=np.float64)
    with open_file(path) as file:
        try:
            scan = _read(file, path, entry, given)
        except (OSError, RuntimeError, KeyError, UnicodeDecodeError) as error:  # as h5py names damage
            raise ScanError(f"{path} is damaged ({error})", "copy or record the file again") from error
    _check_counts(scan)
    if given is not None:
        check_angles(given, source="the given angles", units="degree")
    return scan


def _read(file: h5py.File, path: Path, entry: str | None, angles: NDArray[np.float64] | None) -> Scan:
    wanted = None if entry is None else entry.strip("/")
    found = dict.fromkeys(nxtomo.entries(file), nxtomo.read_nxtomo)
    found |= dict.fromkeys(dxchange.entries(file), dxchange.read_dxchange)
    if not found:
        for name in file:  # the scan may lie behind a link that leads nowhere
            find(file, name)
        raise ScanError(
            f"{path} holds no scan: neither NXtomo (an entry with instrument, detector and image_key)"
            " nor DXchange (exchange/data)",
            "convert it to one of these",
        )
    if wanted is None and len(found) > 1:
        raise ScanError(f"{path} holds {len(found)} scans: {', '.join(found)}", "name the entry to use")
    if wanted is not None and wanted not in found:
        raise ScanError(f"{path} has no scan {wanted!r}", f"it has {', '.join(found)}")
    name = wanted or next(iter(found))
    return found[name](file, name, path=path, angles=angles)


def _check_counts(scan: Scan) -> None:
    counts = {
        "projections": scan.projections.count,
        "flats": sum(group.frames.count for group in scan.flats),
        "darks": sum(group.frames.count for group in scan.darks),
    }
    for kind, count in counts.items():
        if count == 0:
            there = ", ".join(f"{number} {name}" for name, number in counts.items())
            raise ScanError(f"{scan.path} has no {kind} ({there})", _REMEDY[kind])
    if len(scan.angles) != scan.projections.count:
        raise ScanError(
            f"{len(scan.angles)} angles are given, but {scan.path} has {scan.projections.count} projections",
            "give one for each",
        )


_REMEDY = {
    "projections": "it cannot be reconstructed",
    "flats": "add frames taken without the sample",
    "darks": "add frames taken without the beam; if the detector has no dark signal, one of zeros",
}
