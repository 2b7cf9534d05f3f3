"""The value of a component in a file: whole or not there, and of a size that others can read."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, BinaryIO

from runner import files

MOST_BYTES = 1 << 30


class TooLargeError(Exception):
    """A result has more bytes than are kept."""


def write_result(path: Path, value: object) -> None:
    """Write a value where it is found, whole or not at all.

    Raises
    ------
    TooLargeError
        If its pickle has more than 1 GiB.
    OSError
        If it cannot be written.
    Exception
        Whatever its class raises when it is pickled.
    """
    import cloudpickle

    with files.open_atomically(path) as file:
        cloudpickle.dump(value, _Limited(file))


def read_result(path: Path) -> Any:
    """Read a value.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    return pickle.loads(path.read_bytes())  # noqa: S301  (it lies in the user's own folder)


class _Limited:
    """A file that takes so many bytes and no more: the memory for more is never asked for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = MOST_BYTES

    def write(self, piece: bytes) -> int:
        """Write a piece of the pickle."""
        self._left -= memoryview(piece).nbytes
        if self._left < 0:
            raise TooLargeError
        return self._file.write(piece)
