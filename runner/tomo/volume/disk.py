"""Plain bytes in files: written in full, and read back from the disk."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from runner.tomo.deflate import crc32

_BLOCK = 1 << 20  # read back at a time, bytes: little enough to stay in a core's cache


def write_all(descriptor: int, content: bytes | memoryview, offset: int) -> None:
    """Write into an open file, all of it: one call writes at most 2 GiB, or what a disk has left."""
    written = 0
    while written < len(content):
        written += os.pwrite(descriptor, content[written:], offset + written)


def lay_out_file(path: Path, length: int, content: bytes, *, at: int = 0) -> None:
    """Make a file that has its length and all but the pixels; one that is there already keeps its pixels."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        if os.fstat(descriptor).st_size != length:
            os.ftruncate(descriptor, length)
        if os.pread(descriptor, len(content), at) != content:
            write_all(descriptor, content, at)
    finally:
        os.close(descriptor)


def forget(descriptor: int, offset: int, length: int) -> None:
    """Have the next read be of what the disk has, not of what memory still holds of it."""
    os.posix_fadvise(descriptor, offset, length, os.POSIX_FADV_DONTNEED)


class Comparison:
    """Holds files against memory. Each thread has a block to read into, which it keeps."""

    def __init__(self) -> None:
        self._own = threading.local()

    def holds(self, descriptor: int, content: memoryview, offset: int) -> bool:
        """Tell whether a file holds just these bytes."""
        done = 0
        while done < len(content):
            block = self._block(len(content) - done)
            read = os.preadv(descriptor, [block], offset + done)
            # a bytearray is compared as fast as memory is read; two views would be compared byte by byte
            if not read or (block if read == len(block) else block[:read]) != content[done : done + read]:
                return False
            done += read
        return True

    def _block(self, left: int) -> bytearray:
        if left < _BLOCK:
            return bytearray(left)
        block: bytearray | None = getattr(self._own, "block", None)
        if block is None:
            block = self._own.block = bytearray(_BLOCK)
        return block


def checksum_of(descriptor: int, length: int, offset: int) -> int:
    """Read a part of a file, and return its CRC-32."""
    checksum = 0
    end = offset + length
    while offset < end:
        block = os.pread(descriptor, min(_BLOCK, end - offset), offset)
        if not block:
            break  # the file is too short: the checksum will not be right
        checksum = crc32(block, checksum)
        offset += len(block)
    return checksum
