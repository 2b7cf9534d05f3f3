"""Files that others may read while we write them: whole or not there, and private when asked."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from runner.errors import UsageError

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def write_atomically(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file so that a reader on any host sees all of it or none of it.

    The content goes to a temporary name beside `path`, reaches the disk, and is renamed.

    Parameters
    ----------
    path : Path
        Where the file is to be; its folder must exist.
    content : bytes
        What is to be in it.
    mode : int
        Permissions, set when the file is made: no moment with wider ones.

    Raises
    ------
    OSError
        As from the file system; the temporary file is removed.
    """
    with open_atomically(path, mode=mode) as file:
        file.write(content)


def create_atomically(path: Path, content: bytes) -> None:
    """Write a new file so that of several who would make it one does, and a reader sees all of it or none.

    Where the file system knows no hard links, a reader may see it before it is whole.

    Raises
    ------
    FileExistsError
        If it is there.
    OSError
        As from the file system.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        write_atomically(temporary, content)
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with path.open("xb") as file:
            file.write(content)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def open_atomically(path: Path, *, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Give a file to write that takes its name when the block ends, and never has been if that fails.

    Raises
    ------
    OSError
        As from the file system; the temporary file is removed, as by any error in the block.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_target(path: Path | None, option: str) -> None:
    """Refuse a file to be written at the end whose folder is not there, before the job begins.

    Raises
    ------
    UsageError
        If it cannot be written.
    """
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        problem = f"{option} {path}: " + ("is a folder" if path.is_dir() else f"no folder {path.parent}")
        raise UsageError(problem, "name a file in a folder that exists")
