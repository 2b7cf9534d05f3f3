"""Single slices as files: a picture to look at, and a TIFF with the values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runner.errors import WriteError
from runner.files import write_atomically
from runner.tomo.png import png, to_grey
from runner.tomo.volume import bigtiff
from runner.tomo.volume.content import Content

PICTURE = ".png"
"""The ending of a name that asks for pictures alone."""

_HEADER = 16  # bytes


def files_of_slice(volume: Path, row: int, *, alone: bool) -> tuple[Path, ...]:
    """Name the files of a slice after the volume that it is of, or after the picture that was asked for.

    Parameters
    ----------
    volume : Path
        The volume's name, or a picture's.
    row : int
        Of the detector.
    alone : bool
        Whether it is the only slice: a picture then has the name that was given.

    >>> [path.name for path in files_of_slice(Path("volume.h5"), 512, alone=True)]
    ['volume_slice_00512.png', 'volume_slice_00512.tif']
    >>> [path.name for path in files_of_slice(Path("look.png"), 512, alone=True)]
    ['look.png']
    """
    if volume.suffix == PICTURE and alone:
        return (volume,)
    name = f"{volume.stem}_slice_{row:05d}"
    endings = (PICTURE,) if volume.suffix == PICTURE else (PICTURE, ".tif")
    return tuple(volume.with_name(name + ending) for ending in endings)


def write_slice(
    path: Path, values: NDArray[np.float32], content: Content, window: tuple[float, float]
) -> None:
    """Write a slice into a file: grey levels if it is a picture, float32 if it is a TIFF.

    Parameters
    ----------
    path : Path
        Of one of the names of `files_of_slice`.
    values : (y, x) float32
        The slice.
    content : Content
        What is said of it in a TIFF.
    window : (float, float)
        What is black and what is white in a picture.

    Raises
    ------
    WriteError
        If it cannot be written.
    """
    made = png(to_grey(values, *window)) if path.suffix == PICTURE else tiff(values, content)
    try:
        write_atomically(path, made)
    except OSError as error:
        raise WriteError(f"{path} cannot be written ({error})", "see to the file system") from error


def tiff(values: NDArray[np.float32], content: Content) -> bytes:
    """Write a slice (y, x) as a BigTIFF, with its unit and the size of a pixel."""
    one = replace(content, shape=(1, *values.shape))
    pixels = np.ascontiguousarray(values, content.greys.stored).tobytes()
    place = _HEADER + len(pixels)
    return bigtiff.header(place) + pixels + bigtiff.directories(one, pixels=_HEADER, place=place)
