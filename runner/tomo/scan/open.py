"""From a file's name to a Scan, whatever the file's form."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from runner.errors import ScanError
from runner.tomo.scan import dxchange, nxtomo
from runner.tomo.scan.angles import check_angles
from runner.tomo.scan.finding import Problems, note
from runner.tomo.scan.given import read_angles, replace_groups
from runner.tomo.scan.hdf5 import find, open_file
from runner.tomo.scan.images import is_images, read_images
from runner.tomo.scan.scan import Scan
from runner.tomo.scan.select import keep_projections
from runner.tomo.scan.stacked import read_stacked
from runner.tomo.sources import Sources, parse_subset


def open_scan(
    path: str | os.PathLike[str],
    sources: Sources | None = None,
    *,
    entry: str | None = None,
    angles: ArrayLike | None = None,
) -> Scan:
    """Open a scan: its headers only.

    Parameters
    ----------
    path : path-like
        An HDF5 file in NXtomo or DXchange form, which one is found out, or in a form that `sources`
        describes; or a folder of TIFF or EDF images, or one file of many.
    sources : Sources, optional
        Where its parts are, where the file does not say.
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
    UsageError
        If `sources` says something that has no meaning.
    """
    problems = Problems()
    given = None if angles is None else np.asarray(angles, dtype=np.float64)
    scan = read_scan(Path(path), sources or Sources(entry=entry), problems, angles=given)
    problems.raise_errors()
    if scan is None:  # it is never, without an error
        raise ScanError(f"{path} cannot be opened")
    return replace(scan, findings=tuple(problems.findings))


def read_scan(
    path: Path, sources: Sources, problems: Problems, *, angles: NDArray[np.float64] | None = None
) -> Scan | None:
    """Open a scan, and gather all that is wrong with it.

    Parameters
    ----------
    path, sources, angles
        As for :func:`open_scan`.
    problems : Problems
        Takes what is wrong; only if it is nothing, the scan can be used.

    Returns
    -------
    Scan or None
        None if it cannot be told what the frames are.

    Raises
    ------
    UsageError
        If `sources` says something that has no meaning.
    """
    given = angles
    if given is None and sources.angles is not None:
        given = problems.attempt(read_angles, sources.angles, path, problems)
        if given is None:  # that is known, and all else is looked at nevertheless
            given = np.full(1, np.nan)
    scan = problems.attempt(_read, path, sources, problems, given)
    if scan is None:
        return None
    scan = problems.attempt(replace_groups, scan, sources) or scan
    scan = _do_without(scan, sources, problems)
    _check_counts(scan, sources, problems)
    if sources.subset is not None and len(scan.angles) == scan.projections.count:
        scan = problems.attempt(_subset, scan, sources.subset, problems) or scan
    if angles is not None and len(angles) == scan.projections.count:
        problems.attempt(check_angles, angles, source="the given angles", units="degree")
    return scan


def _read(
    path: Path, sources: Sources, problems: Problems, angles: NDArray[np.float64] | None
) -> Scan | None:
    if is_images(path):
        return read_images(path, angles)
    with open_file(path) as file:
        try:
            if sources.projections is not None:
                return read_stacked(file, sources.projections, path=path, angles=angles)
            return _read_known_form(file, path, sources.entry, problems, angles)
        except (OSError, RuntimeError, KeyError, UnicodeDecodeError) as error:  # as h5py names damage
            raise ScanError(f"{path} is damaged ({error})", "copy or record the file again") from error


def _read_known_form(
    file: h5py.File, path: Path, entry: str | None, problems: Problems, angles: NDArray[np.float64] | None
) -> Scan | None:
    wanted = None if entry is None else entry.strip("/")
    found = dict.fromkeys(nxtomo.entries(file), nxtomo.read_nxtomo)
    found |= dict.fromkeys(dxchange.entries(file), dxchange.read_dxchange)
    if not found:
        for name in file:  # the scan may lie behind a link that leads nowhere
            find(file, name)
        raise ScanError(
            f"{path} holds no scan: neither NXtomo (an entry with instrument, detector and image_key)"
            " nor DXchange (exchange/data)",
            "name its parts with --projections, --flats, --darks and --angles",
        )
    if wanted is None and len(found) > 1:
        raise ScanError(f"{path} holds {len(found)} scans: {', '.join(found)}", "name one with --entry")
    if wanted is not None and wanted not in found:
        raise ScanError(f"{path} has no scan {wanted!r}", f"it has {', '.join(found)}")
    name = wanted or next(iter(found))
    return found[name](file, name, path=path, problems=problems, angles=angles)


def _subset(scan: Scan, text: str, problems: Problems) -> Scan:
    """Take only some projections."""
    kept = np.zeros(scan.projections.count, bool)
    kept[parse_subset(text)] = True
    if np.count_nonzero(kept) < 2:
        raise ScanError(
            f"subset {text} leaves {np.count_nonzero(kept)} of {len(kept)} projections", "choose more of them"
        )
    problems.findings.append(
        note(f"{np.count_nonzero(kept)} of {len(kept)} projections are used, as was asked")
    )
    return keep_projections(scan, kept)


def _do_without(scan: Scan, sources: Sources, problems: Problems) -> Scan:
    """Leave out flats and darks that are not to be used."""
    unwanted = {"flats": sources.no_flats, "darks": sources.no_darks}
    for kind, without in unwanted.items():
        count = sum(group.frames.count for group in getattr(scan, kind))
        if without and count:
            problems.findings.append(note(f"{count} {kind} are not used, as was asked"))
    return replace(
        scan,
        flats=() if sources.no_flats else scan.flats,
        darks=() if sources.no_darks else scan.darks,
    )


def _check_counts(scan: Scan, sources: Sources, problems: Problems) -> None:
    counts = {
        "projections": scan.projections.count,
        "flats": sum(group.frames.count for group in scan.flats),
        "darks": sum(group.frames.count for group in scan.darks),
    }
    there = ", ".join(f"{number} {name}" for name, number in counts.items())
    for kind, count in counts.items():
        asked = getattr(sources, kind) is not None  # what is wrong with it has been said
        unwanted = kind != "projections" and getattr(sources, f"no_{kind}")
        if count == 0 and not unwanted and not (asked and problems.errors):
            problems.errors.append(ScanError(f"{scan.path} has no {kind} ({there})", _REMEDY[kind]))
    if len(scan.angles) != scan.projections.count and not np.isnan(scan.angles).all():
        problems.errors.append(
            ScanError(
                f"{len(scan.angles)} angles are given, but {scan.path} has {scan.projections.count}"
                " projections",
                "give one for each",
            )
        )


_REMEDY = {
    "projections": "it cannot be reconstructed",
    "flats": "name frames taken without the sample with --flats; or say --no-flats, if the projections are"
    " transmissions, or have air at both sides (--air)",
    "darks": "name frames taken without the beam with --darks; or say --no-darks, if the detector has no dark"
    " signal",
}
