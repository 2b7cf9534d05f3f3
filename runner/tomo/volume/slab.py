"""Writing a part of a volume, and making sure that it is there.

A contiguous dataset that was allocated when its file was made is a plain range of bytes: any number of
processes on any number of machines write their own parts of it at once, without HDF5.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from runner.errors import WriteError

_BLOCK = 16 << 20  # read back at a time, bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the pixels of a volume lie in its file.

    Attributes
    ----------
    path : Path
        The file.
    offset : int
        Of the first pixel, bytes.
    first_row : int
        The detector row of the first slice.
    shape : (int, int, int)
        Axes (slice, y, x); float32.
    status_offset : int
        Of the status of the first slice: one byte each, see `WRITTEN`.
    checksum_offset : int
        Of the CRC-32 of the first slice's bytes: a little-endian uint32 each.
    run : str
        The run that made the file, ASCII: nobody else may write into it, nor we into another's.
    run_offset : int
        Of that text in the file.
    """

    path: Path
    offset: int
    first_row: int
    shape: tuple[int, int, int]
    status_offset: int
    checksum_offset: int
    run: str
    run_offset: int


WRITTEN = 1
"""Status of a slice that was written and read back; 0 is a slice that was not."""


def write_slab(target: Target, first_row: int, slices: NDArray[np.float32]) -> None:
    """Write slices into a volume, read them back from the disk, and mark them as written.

    Doing it twice, or on two machines at once, does no harm: the bytes are the same.

    Parameters
    ----------
    target : Target
        The volume.
    first_row : int
        Detector row of the first of these slices.
    slices : (slice, y, x) float32
        What to write.

    Raises
    ------
    WriteError
        If they cannot be written, what is read back differs, or the file has become another run's.
    """
    index, end = first_row - target.first_row, first_row - target.first_row + len(slices)
    pixels = np.ascontiguousarray(slices, dtype="<f4")
    expected = [zlib.crc32(one.data.cast("B")) for one in pixels]
    with _opened(target) as descriptor:
        _write_all(descriptor, pixels.data.cast("B"), _offset(target, index))
        os.fsync(descriptor)
        if _checksums(descriptor, target, index, end) != expected:
            raise WriteError(
                f"{target.path} gives back other bytes than were written from row {first_row}",
                "see to the file system",
            )
        _write_all(descriptor, np.array(expected, "<u4").tobytes(), target.checksum_offset + 4 * index)
        _write_all(descriptor, bytes([WRITTEN]) * len(slices), target.status_offset + index)
        os.fsync(descriptor)


def rows_to_make(target: Target, first_row: int, end_row: int) -> list[int]:
    """Return which of some rows are not in a volume yet, or are not as they were written.

    Every slice that is marked as written is read, and its checksum compared.

    Raises
    ------
    WriteError
        If the file cannot be read, or has become another run's.
    """
    index, end = first_row - target.first_row, end_row - target.first_row
    with _opened(target) as descriptor:
        status = os.pread(descriptor, end - index, target.status_offset + index)
        noted = np.frombuffer(
            os.pread(descriptor, 4 * (end - index), target.checksum_offset + 4 * index), "<u4"
        )
        return [
            first_row + number
            for number, (mark, expected) in enumerate(zip(status, noted.tolist(), strict=True))
            if mark != WRITTEN
            or _checksums(descriptor, target, index + number, index + number + 1) != [expected]
        ]


def count_written(target: Target) -> int:
    """Count the slices that are marked as written.

    Raises
    ------
    WriteError
        If the file cannot be read, or has become another run's.
    """
    with _opened(target) as descriptor:
        return os.pread(descriptor, target.shape[0], target.status_offset).count(WRITTEN)


def clear_slab(target: Target, first_row: int, end_row: int) -> None:
    """Fill slices that could not be made with NaN.

    Raises
    ------
    WriteError
        If they cannot be written, or the file has become another run's.
    """
    height, width = target.shape[1:]
    nothing = np.full((height, width), np.nan, "<f4").tobytes()
    with _opened(target) as descriptor:
        for row in range(first_row, end_row):
            index = row - target.first_row
            _write_all(descriptor, nothing, target.offset + index * len(nothing))
            _write_all(descriptor, b"\0", target.status_offset + index)
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


@contextmanager
def _opened(target: Target) -> Iterator[int]:
    """Open the file of our own run, and no other.

    A run that starts anew under the same name makes a new file (see `create_volume`). A descriptor stays with
    the file that it opened, so looking once is enough: what we write can never land among another's slices.
    """
    try:
        descriptor = os.open(target.path, os.O_RDWR)
        try:
            if os.pread(descriptor, len(target.run), target.run_offset) != target.run.encode():
                raise WriteError(
                    f"{target.path} was taken over by another run", "let one run at a time make a volume"
                )
            yield descriptor
        finally:
            os.close(descriptor)
    except OSError as error:
        raise WriteError(f"{target.path} cannot be written ({error})", "see to the file system") from error


def _write_all(descriptor: int, content: bytes | memoryview, offset: int) -> None:
    written = 0
    while written < len(content):  # one call writes at most 2 GiB
        written += os.pwrite(descriptor, content[written:], offset + written)


def _offset(target: Target, index: int) -> int:
    return target.offset + index * _slice_bytes(target)


def _slice_bytes(target: Target) -> int:
    return target.shape[1] * target.shape[2] * 4


def _checksums(descriptor: int, target: Target, index: int, end: int) -> list[int]:
    """Read slices back and return the CRC-32 of each."""
    size = _slice_bytes(target)
    # what the disk has, not what memory still holds of it
    os.posix_fadvise(descriptor, _offset(target, index), (end - index) * size, os.POSIX_FADV_DONTNEED)
    return [_checksum(descriptor, size, _offset(target, number)) for number in range(index, end)]


def _checksum(descriptor: int, length: int, offset: int) -> int:
    checksum = 0
    end = offset + length
    while offset < end:
        block = os.pread(descriptor, min(_BLOCK, end - offset), offset)
        if not block:
            break  # the file is too short: the checksum will not be right
        checksum = zlib.crc32(block, checksum)
        offset += len(block)
    return checksum
