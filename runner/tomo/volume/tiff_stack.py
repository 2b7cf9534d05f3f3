"""A volume as a folder of TIFF files, a slice in each."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from runner.tomo.volume.content import Content, words_for_tiff
from runner.tomo.volume.disk import lay_out_file
from runner.tomo.volume.slab import Files


def lay_out(folder: Path, content: Content) -> tuple[Files, int]:
    """Make a file for every slice, with all but its pixels; put that back where the files are there.

    Returns
    -------
    files : Files
        Named by the detector row.
    offset : int
        Of the pixels in each, bytes.
    """
    slices, height, width = content.shape
    start = _start(content)
    length = len(start) + height * width * content.greys.bytes
    files = Files(pattern="slice_{:05d}.tif", first=content.first_row)
    for index in range(slices):
        lay_out_file(folder / files.name(index), length, start)
    return files, len(start)


def _start(content: Content) -> bytes:
    """Let the library write a slice of zeros, and take what comes before its pixels."""
    import tifffile

    whole = io.BytesIO()
    per_cm = 0.01 / content.pixel_size if content.pixel_size else None
    tifffile.imwrite(
        whole,
        np.zeros(content.shape[1:], content.greys.stored),
        byteorder="<",
        photometric="minisblack",
        description=words_for_tiff(content),
        metadata=None,
        resolution=(per_cm, per_cm) if per_cm else None,
        resolutionunit="CENTIMETER" if per_cm else None,
        rowsperstrip=content.shape[1],
        software=False,
    )
    whole.seek(0)
    with tifffile.TiffFile(whole) as file:
        offset = file.pages.first.dataoffsets[0]
    return whole.getvalue()[:offset]
