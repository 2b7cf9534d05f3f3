"""A volume as a folder of HDF5 files with some slices in each, and a virtual dataset of all of them.

For file systems that do not like one large file, and for copying with several programs at once. The virtual
dataset stands in the file that describes the volume, and names the others by paths that are relative to it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import h5py

from runner.tomo.volume.content import Content
from runner.tomo.volume.disk import lay_out_file
from runner.tomo.volume.layout import contiguous
from runner.tomo.volume.slab import Files

_PIXELS = "data"  # the dataset (slice, y, x) of each file
_SLICES = 32  # of a file
_PAGE = 4096


def lay_out(folder: Path, content: Content) -> tuple[Files, int]:
    """Make every file, with all but its pixels; put that back where the files are there.

    Returns
    -------
    files : Files
        Numbered from 0.
    offset : int
        Of the pixels in each, bytes.
    """
    slices, height, width = content.shape
    size = height * width * content.greys.bytes
    files = Files(pattern="part_{:05d}.h5", slices=_SLICES, dataset=_PIXELS)
    numbers = {index: min(_SLICES, slices - index) for index in range(0, slices, _SLICES)}
    around = {held: _around(folder, content, held) for held in set(numbers.values())}
    for index, held in numbers.items():
        before, after = around[held]
        end = len(before) + held * size
        lay_out_file(folder / files.name(index), end + len(after), before)
        lay_out_file(folder / files.name(index), end + len(after), after, at=end)
    return files, len(before)


def virtual_layout(content: Content, files: Files) -> h5py.VirtualLayout:
    """Say how the files make a whole."""
    slices, height, width = content.shape
    layout = h5py.VirtualLayout(content.shape, content.greys.stored)
    for index in range(0, slices, files.slices):
        held = min(files.slices, slices - index)
        source = h5py.VirtualSource(files.name(index), files.dataset, shape=(held, height, width))
        layout[index : index + held] = source
    return layout


def _around(folder: Path, content: Content, held: int) -> tuple[bytes, bytes]:
    """Let the library make a file for so many slices, and take what comes before and after their place."""
    shape = (held, *content.shape[1:])
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        path = Path(scratch) / "part.h5"
        with h5py.File(path, "w", alignment_threshold=_PAGE, alignment_interval=_PAGE) as file:
            pixels = file.create_dataset(_PIXELS, dcpl=contiguous(), shape=shape, dtype=content.greys.stored)
            pixels.attrs["units"] = content.units
            file.flush()
            offset, size = int(pixels.id.get_offset()), int(pixels.nbytes)
        with path.open("rb") as made:
            before = made.read(offset)
            made.seek(offset + size)
            return before, made.read()
