"""Writing a part of a volume, and making sure that it is there.

In every form of a volume each slice is a plain range of bytes in a file that was made in full before: any
number of processes on any number of machines write their own slices at once, without a library.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runner.errors import WriteError
from runner.tomo.deflate import crc32
from runner.tomo.share import share
from runner.tomo.volume.disk import Comparison, checksum_of, forget, write_all
from runner.tomo.volume.greys import FLOAT32, Greys, to_pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files that the pixels of a volume lie in, where that is not the file that describes it.

    Attributes
    ----------
    pattern : str
        Name of each, seen from the folder of the description, with a place for its number.
    first : int
        Number of the first one.
    slices : int
        How many there are in each.
    dataset : str
        The pixels of each, where they are HDF5 files.
    """

    pattern: str
    first: int = 0
    slices: int = 1
    dataset: str = ""

    def name(self, index: int) -> str:
        """Name the file of a slice, counted from 0."""
        return self.pattern.format(self.first + index // self.slices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the pixels of a volume lie, and what is noted of them.

    Attributes
    ----------
    path : Path
        The file that describes the volume; the pixels lie in it too, but for `files`.
    offset : int
        Of the first pixel in its file, bytes.
    first_row : int
        The detector row of the first slice.
    shape : (int, int, int)
        Axes (slice, y, x).
    status_offset : int
        Of the status of the first slice: one byte each, see `WRITTEN`.
    checksum_offset : int
        Of the CRC-32 of the first slice's bytes: a little-endian uint32 each.
    run : str
        The run that made the file, ASCII: nobody else may write into it, nor we into another's.
    run_offset : int
        Of that text in the file.
    clipped_offset : int
        Of the counts of the first slice's pixels that were below and above what a pixel holds, and of those
        that were not a number: three little-endian uint32 each.
    clipped_checksum_offset : int
        Of the CRC-32 of the first slice's counts: a little-endian uint32 each.
    greys : Greys
        The pixels' type.
    files : Files or None
        Where the pixels are not in `path`: where they are.
    """

    path: Path
    offset: int
    first_row: int
    shape: tuple[int, int, int]
    status_offset: int
    checksum_offset: int
    run: str
    run_offset: int
    clipped_offset: int
    clipped_checksum_offset: int
    greys: Greys = FLOAT32
    files: Files | None = None

    @property
    def folder(self) -> Path | None:
        """All of an unfinished volume, where that is a folder."""
        return self.path.parent if self.files else None

    @property
    def place(self) -> Path:
        """All of an unfinished volume: a file or a folder."""
        return self.folder or self.path


def changing_ranges(target: Target) -> list[tuple[int, int]]:
    """List which bytes of the file that describes a volume change while it is being made: starts and ends."""
    slices = target.shape[0]
    lengths = {
        target.status_offset: slices,
        target.checksum_offset: 4 * slices,
        target.clipped_offset: 12 * slices,
        target.clipped_checksum_offset: 4 * slices,
        target.run_offset: len(target.run),
    }
    if target.files is None:
        lengths[target.offset] = slices * _slice_bytes(target)
    return [(offset, offset + length) for offset, length in lengths.items()]


WRITTEN = 1
"""Status of a slice that was written and read back; 0 is a slice that was not."""


def write_slab(target: Target, first_row: int, slices: NDArray[np.float32], *, threads: int = 1) -> None:
    """Write slices into a volume, read them back from the disk, and mark them as written.

    Doing it twice, or on two machines at once, does no harm: the bytes are the same.

    Parameters
    ----------
    target : Target
        The volume.
    first_row : int
        Detector row of the first of these slices.
    slices : (slice, y, x) float32
        The values to write; overwritten where they become grey levels.
    threads : int
        How many to use.

    Raises
    ------
    WriteError
        If they cannot be written, what is read back differs, or the file has become another run's.
    """
    index = first_row - target.first_row
    pixels, clipped = to_pixels(slices, target.greys)
    checksums = np.empty(len(pixels), "<u4")
    parts = list(_parts(target, index, index + len(pixels)))
    inside = max(threads // len(parts), 1)
    with _opened(target) as volume:

        def do(part: _Part) -> None:
            own = slice(part.index - index, part.end - index)
            _write_part(volume, part, pixels[own], checksums[own], threads=inside)

        share(do, parts, min(threads, len(parts)))
        _note(volume.descriptor, target, index, checksums, clipped)


def _write_part(
    volume: _Volume,
    part: _Part,
    pixels: NDArray[np.generic],
    checksums: NDArray[np.uint32],
    *,
    threads: int,
) -> None:
    """Write slices that lie side by side, fill in the checksum of each, and read all of them back."""
    contents = [one.data.cast("B") for one in pixels]
    places = [part.offset + number * len(contents[0]) for number in range(len(contents))]
    with volume.pixels(part) as descriptor:

        def put(number: int) -> None:
            checksums[number] = crc32(contents[number])
            write_all(descriptor, contents[number], places[number])

        def compare(number: int) -> None:
            if not comparison.holds(descriptor, contents[number], places[number]):
                row = volume.target.first_row + part.index + number
                raise WriteError(
                    f"{volume.target.place} gives back other bytes than were written of row {row}",
                    "see to the file system",
                )

        share(put, range(len(contents)), threads)
        os.fsync(descriptor)
        forget(descriptor, part.offset, pixels.nbytes)
        comparison = Comparison()
        share(compare, range(len(contents)), threads)


def _note(
    descriptor: int, target: Target, index: int, checksums: NDArray[np.uint32], clipped: NDArray[np.uint32]
) -> None:
    """Mark slices as written."""
    write_all(descriptor, checksums.tobytes(), target.checksum_offset + 4 * index)
    counts = clipped.astype("<u4")
    counts_checked = np.array([crc32(one.data) for one in counts], "<u4")
    write_all(descriptor, counts.tobytes(), target.clipped_offset + 12 * index)
    write_all(descriptor, counts_checked.tobytes(), target.clipped_checksum_offset + 4 * index)
    write_all(descriptor, bytes([WRITTEN]) * len(checksums), target.status_offset + index)
    os.fsync(descriptor)


def rows_to_make(target: Target, first_row: int, end_row: int) -> list[int]:
    """Return which of some rows are not in a volume yet, or are not as they were written.

    Every slice that is marked as written is read, and its checksum compared, and that of its counts.

    Raises
    ------
    WriteError
        If the file cannot be read, or has become another run's.
    """
    index, end = first_row - target.first_row, end_row - target.first_row
    with _opened(target) as volume:
        status = os.pread(volume.descriptor, end - index, target.status_offset + index)
        expected = volume.numbers(target.checksum_offset, index, end)
        counts = os.pread(volume.descriptor, 12 * (end - index), target.clipped_offset + 12 * index)
        counts_expected = volume.numbers(target.clipped_checksum_offset, index, end)
        return [
            first_row + number
            for number, mark in enumerate(status)
            if mark != WRITTEN
            or crc32(counts[12 * number : 12 * number + 12]) != counts_expected[number]
            or not volume.holds(target, index + number, expected[number])
        ]


def count_written(target: Target) -> int:
    """Count the slices that are marked as written.

    Raises
    ------
    WriteError
        If the file cannot be read, or has become another run's.
    """
    with _opened(target) as volume:
        return os.pread(volume.descriptor, target.shape[0], target.status_offset).count(WRITTEN)


def clear_slab(target: Target, first_row: int, end_row: int) -> None:
    """Fill slices that could not be made with NaN, or with 0 where a pixel cannot be that.

    Raises
    ------
    WriteError
        If they cannot be written, or the file has become another run's.
    """
    height, width = target.shape[1:]
    nothing = np.full((height, width), 0 if target.greys.levels else np.nan, target.greys.stored).tobytes()
    index, end = first_row - target.first_row, end_row - target.first_row
    with _opened(target) as volume:
        write_all(volume.descriptor, bytes(end - index), target.status_offset + index)
        os.fsync(volume.descriptor)
        for part in _parts(target, index, end):
            with volume.pixels(part) as descriptor:
                for number in range(part.end - part.index):
                    write_all(descriptor, nothing, part.offset + number * len(nothing))
                os.fsync(descriptor)


def check_own(target: Target) -> None:
    """Make sure that the file is still the one that our run made.

    Raises
    ------
    WriteError
        If it has become another run's, or is gone.
    """
    with _opened(target):
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Slices that lie side by side: which, in which file, from which byte on."""

    index: int
    end: int
    name: str | None
    offset: int


def _parts(target: Target, index: int, end: int) -> Iterator[_Part]:
    """Cut slices where one file ends and the next begins."""
    size = _slice_bytes(target)
    files = target.files
    if files is None:
        yield _Part(index=index, end=end, name=None, offset=target.offset + index * size)
        return
    while index < end:
        within = index % files.slices
        until = min(end, index - within + files.slices)
        yield _Part(index=index, end=until, name=files.name(index), offset=target.offset + within * size)
        index = until


@dataclass(frozen=True, slots=True, kw_only=True)
class _Volume:
    """An open volume: the file that describes it, and its folder."""

    target: Target
    descriptor: int
    folder: int

    @contextmanager
    def pixels(self, part: _Part) -> Iterator[int]:
        """Open the file of some slices."""
        if part.name is None:
            yield self.descriptor
            return
        descriptor = os.open(part.name, os.O_RDWR, dir_fd=self.folder)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def numbers(self, offset: int, index: int, end: int) -> list[int]:
        """Read what is noted of some slices: a number of four bytes of each."""
        noted = os.pread(self.descriptor, 4 * (end - index), offset + 4 * index)
        return list(struct.unpack(f"<{end - index}I", noted))

    def holds(self, target: Target, index: int, checksum: int) -> bool:
        """Tell whether a slice is there, byte by byte."""
        (part,) = _parts(target, index, index + 1)
        try:
            with self.pixels(part) as descriptor:
                size = _slice_bytes(target)
                forget(descriptor, part.offset, size)
                return checksum_of(descriptor, size, part.offset) == checksum
        except FileNotFoundError:
            return False


@contextmanager
def _opened(target: Target) -> Iterator[_Volume]:
    """Open the files of our own run, and no other.

    A run that starts anew under the same name makes new files (see `create_volume`). A descriptor stays with
    the file or the folder that it opened, so looking once is enough: what we write can never land among
    another's slices.
    """
    try:
        folder = os.open(target.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            descriptor = os.open(target.path.name, os.O_RDWR, dir_fd=folder)
            try:
                if os.pread(descriptor, len(target.run), target.run_offset) != target.run.encode():
                    raise WriteError(
                        f"{target.place} was taken over by another run", "let one run at a time make a volume"
                    )
                yield _Volume(target=target, descriptor=descriptor, folder=folder)
            finally:
                os.close(descriptor)
        finally:
            os.close(folder)
    except OSError as error:
        raise WriteError(f"{target.place} cannot be written ({error})", "see to the file system") from error


def _slice_bytes(target: Target) -> int:
    return target.shape[1] * target.shape[2] * np.dtype(target.greys.stored).itemsize
