"""A second copy of what describes an unfinished volume, to put right what a kill or a bad disk has spoiled.

Pixels, and what is noted of each slice, have checksums. What else stands in the file is HDF5's: a flipped bit
there may say that the pixels lie elsewhere, or mean something else, and a kill while the end is noted may
leave it half written. Once a volume has been made, none of that changes until its end, so a copy that was
taken at its beginning puts back all of it.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runner.files import write_atomically
from runner.tomo.volume.disk import write_all
from runner.tomo.volume.place import unfinished
from runner.tomo.volume.slab import Target, changing_ranges


def spare_path(description: Path) -> Path:
    """Name the copy of the file that describes a volume: hidden, beside it."""
    return description.with_name(f".{description.name}.spare")


def keep_spare(target: Target, description: Path) -> None:
    """Copy all of a new volume's description that does not change before its end.

    Parameters
    ----------
    target : Target
        The volume as it was made just now.
    description : Path
        The name that the description will have.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    length = target.path.stat().st_size
    ranges = list(_between(changing_ranges(target), length))
    with target.path.open("rb") as file:
        parts = [os.pread(file.fileno(), end - start, start) for start, end in ranges]
    words = json.dumps({"length": length, "ranges": ranges}).encode() + b"\n"
    content = words + b"".join(parts)
    write_atomically(spare_path(description), content + zlib.crc32(content).to_bytes(4, "little"))


def mend_description(description: Path) -> None:
    """Put the description of an unfinished volume back to what it was when it was made.

    What has been written of the slices stays as it is.

    Raises
    ------
    WriteError
        If the copy is gone or damaged: then nothing tells whether the volume is what it says.
    FileNotFoundError
        If there is no description.
    OSError
        As from the file system.
    """
    descriptor = os.open(description, os.O_RDWR)
    try:
        spare = _read(spare_path(description))
        if spare is None:
            raise unfinished(description)
        if os.fstat(descriptor).st_size != spare.length:
            os.ftruncate(descriptor, spare.length)
        for start, content in spare.parts:
            if os.pread(descriptor, len(content), start) != content:
                write_all(descriptor, content, start)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spare:
    length: int
    parts: tuple[tuple[int, bytes], ...]


def _read(path: Path) -> _Spare | None:
    """Read a copy; None if it is not as it was written."""
    try:
        whole = path.read_bytes()
    except FileNotFoundError:
        return None
    content, checksum = whole[:-4], whole[-4:]
    if zlib.crc32(content).to_bytes(4, "little") != checksum:
        return None
    words, _, rest = content.partition(b"\n")
    about = json.loads(words)
    parts, place = [], 0
    for start, end in about["ranges"]:
        parts.append((start, rest[place : place + end - start]))
        place += end - start
    return _Spare(length=about["length"], parts=tuple(parts))


def _between(ranges: Iterable[tuple[int, int]], length: int) -> Iterator[tuple[int, int]]:
    """List what lies between ranges of a file, and after the last one.

    >>> list(_between([(20, 30), (0, 5)], 40))
    [(5, 20), (30, 40)]
    """
    place = 0
    for start, end in sorted(ranges):
        if place < start:
            yield place, start
        place = end
    if place < length:
        yield place, length
