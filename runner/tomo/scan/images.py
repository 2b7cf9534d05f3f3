"""Scans as series of images, TIFF or EDF: a folder of them, or a file with many."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.listing import few
from runner.tomo.scan.scan import Images, Scan
from runner.tomo.scan.stacked import needed
from runner.tomo.share import share

_TIFF = (".tif", ".tiff")
_EDF = (".edf",)
_DIGITS = re.compile(r"(\d+)")


def is_images(path: Path) -> bool:
    """Tell whether a path names images: a folder that holds some, or a file called like one."""
    if path.is_dir():
        return bool(_names(path))
    return path.suffix.lower() in _TIFF + _EDF


def read_images(path: Path, angles: NDArray[np.float64] | None) -> Scan:
    """Read the headers of a scan whose projections are images; flats and darks are named apart.

    Parameters
    ----------
    path : Path
        A folder with one image in each file, or a file with many.
    angles : (angle,) float64 or None
        Angles of the projections, degrees.

    Raises
    ------
    ScanError
        If a file cannot be read, one is missing in the numbers of their names, or there are no angles.
    """
    frames = frames_in(path)
    rows, columns, dtype = size_of(frames)
    return Scan(
        path=path,
        format="images",
        entry="",
        projections=frames,
        angles=needed(angles, path),
        flats=(),
        darks=(),
        rows=rows,
        columns=columns,
        dtype=dtype,
    )


def frames_in(path: Path) -> Images:
    """Find the images of a folder, in the order of the numbers in their names, or those in a file.

    Raises
    ------
    ScanError
        If a file cannot be read, or one is missing in the numbers of their names.
    """
    path = path.resolve()
    names = _names(path) if path.is_dir() else (path.name,)
    folder = path if path.is_dir() else path.parent
    if missing := missing_numbers(names):
        numbers = few([str(number) for number in missing])
        raise ScanError(
            f"{len(missing)} images are missing in {folder}: the names lack the numbers {numbers}",
            "bring them, or name the images that are there one after the other",
        )
    first, last = pages_of(folder / names[0]), pages_of(folder / names[-1])
    if first != last:
        raise ScanError(
            f"{folder / names[-1]} holds {last} images, but {names[0]} {first}", "the last is not complete"
        )
    count = len(names) * first
    return Images(folder=folder, names=names, pages=first, indices=np.arange(count))


def missing_numbers(names: Sequence[str]) -> list[int]:
    """List the numbers that are missing in a series of names that differ in one number by equal steps.

    >>> missing_numbers(["p_08.tif", "p_09.tif", "p_11.tif", "p_12.tif"])
    [10]
    """
    parts = [_DIGITS.split(name) for name in names]
    if len({len(part) for part in parts}) != 1:
        return []
    varying = [place for place, column in enumerate(zip(*parts, strict=True)) if len(set(column)) > 1]
    if len(varying) != 1 or varying[0] % 2 == 0:
        return []
    numbers = [int(part[varying[0]]) for part in parts]
    step = int(np.median(np.diff(numbers)))
    return sorted(set(range(numbers[0], numbers[-1] + 1, max(step, 1))) - set(numbers))


def size_of(frames: Images) -> tuple[int, int, np.dtype[np.generic]]:
    """Read rows, columns and pixel type of the first image.

    Raises
    ------
    ScanError
        If it cannot be read, or is no image of real numbers.
    """
    path = frames.files[0]
    if path.suffix.lower() in _EDF:
        with _opened_edf(path) as image:
            shape, dtype = image.data.shape, image.data.dtype
    else:
        with opened_tiff(path) as file:
            shape, dtype = file.pages[0].shape, file.pages[0].dtype
    if len(shape) != 2 or dtype is None or dtype.kind not in "iuf":
        raise ScanError(
            f"{path} has shape {shape} and pixels of type {dtype}", "give images of one grey value"
        )
    return int(shape[0]), int(shape[1]), dtype.newbyteorder("=")


def read_images_rows(frames: Images, rows: slice, *, threads: int = 1) -> NDArray[np.number]:
    """Read some rows of some images.

    Parameters
    ----------
    frames : Images
        Which.
    rows : slice
        Which rows: start and stop.
    threads : int
        How many read and decode.

    Returns
    -------
    (frame, row, column) ndarray
        In the type in which they are stored.

    Raises
    ------
    ScanError
        If one cannot be read, or is of another size.
    """
    _, columns, dtype = size_of(frames)
    pixels = np.empty((frames.count, rows.stop - rows.start, columns), dtype)

    def read(number: int) -> None:
        name, page = divmod(int(frames.indices[number]), frames.pages)
        path = frames.folder / frames.names[name]
        part = _read_page(path, page, rows)
        if part.shape != pixels.shape[1:]:
            raise ScanError(f"{path} is not of the size of the first image", "record or copy it again")
        pixels[number] = part

    share(read, range(frames.count), threads)
    return pixels


def rows_of_one_read(frames: Images) -> int:
    """Tell how many rows are read at once, whichever are wanted: 1 if each can be read alone, or all.

    Raises
    ------
    ScanError
        If the first image cannot be read.
    """
    path = frames.files[0]
    if path.suffix.lower() in _TIFF:
        with opened_tiff(path) as file:
            if file.pages[0].is_memmappable:
                return 1
    return size_of(frames)[0]


def _read_page(path: Path, page: int, rows: slice) -> NDArray[np.number]:
    if path.suffix.lower() in _EDF:
        with _opened_edf(path) as image:
            frame = image.getframe(page) if image.nframes > 1 else image  # else it looks for the next file
            return np.asarray(frame.data[rows])
    with opened_tiff(path) as file:
        found = file.pages[page]
        if found.is_memmappable:  # plain: only these rows leave the disk
            order = file.byteorder
            whole = np.memmap(
                path, found.dtype.newbyteorder(order), "r", found.dataoffsets[0], shape=found.shape
            )
            return np.array(whole[rows])
        try:
            return np.asarray(found.asarray()[rows])
        except (ValueError, RuntimeError) as error:
            raise ScanError(f"{path} cannot be decoded ({error})", "copy or record it again") from error


def pages_of(path: Path) -> int:
    """Count the images in a file.

    Raises
    ------
    ScanError
        If it cannot be read.
    """
    if path.suffix.lower() in _EDF:
        with _opened_edf(path) as image:
            return int(image.nframes)
    with opened_tiff(path) as file:
        return len(file.pages)


def opened_tiff(path: Path) -> Any:
    """Open a TIFF file with tifffile.

    Raises
    ------
    ScanError
        If it is none, or the library is not there.
    """
    tifffile = _library("tifffile")
    try:
        return tifffile.TiffFile(path)
    except (OSError, ValueError) as error:
        raise ScanError(f"{path} cannot be read as TIFF ({error})", "copy or record it again") from error


def _opened_edf(path: Path) -> Any:
    fabio = _library("fabio")
    try:
        return fabio.open(path)
    except (OSError, ValueError, IndexError) as error:
        raise ScanError(f"{path} cannot be read as EDF ({error})", "copy or record it again") from error


def _library(name: str) -> ModuleType:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ScanError(
            f"images are read by {name}, which is not installed", "pip install 'tomo-runner[images]'"
        ) from error


def _names(folder: Path) -> tuple[str, ...]:
    """Images of a folder, in the order of the numbers in their names: 2 before 10."""
    names = [path.name for path in folder.iterdir() if path.suffix.lower() in _TIFF + _EDF]
    return tuple(sorted(names, key=_natural))


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in _DIGITS.split(name)]
