"""One run at a time makes a volume: a lock that ends with the process that holds it, however that ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runner.errors import WriteError


@contextmanager
def claimed(volume: Path) -> Iterator[None]:
    """Keep other runs from making the same volume.

    The lock is a small file beside the volume, which goes with the block. Where the file system has no locks
    the last run takes the volume over, see `check_own`.

    Raises
    ------
    WriteError
        If another run holds it.
    """
    path = volume.with_name(f".{volume.name}.lock")
    descriptor = _locked(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise WriteError(f"{path} cannot be written ({error})", "see to the folder") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise WriteError(
                f"another run is making {path.name[1:].removesuffix('.lock')} now",
                "wait for its end, or choose another name",
            ) from error
        except OSError:  # no locks on this file system
            return descriptor
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # its last holder has removed it just now


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)
