"""Where compiled kernels are kept: a folder for each kind of processor and installation of the kernels.

Numba reads and writes the files. They hold machine code: a folder is used only if nobody else may write to
it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_WITH_KERNELS = (
    "kernels",
    "correct",
    "correct/rings",
    "reconstruct/gridding",
)  # folders beside this one's, and below
_ROOM = 4 << 20  # bytes; all kernels together take about half


@functools.cache
def cache_folder() -> Path:
    """Find or make the folder.

    In ``NUMBA_CACHE_DIR`` if that is set, else in the user's cache, which all hosts of a cluster often share,
    else in the folder for temporary files. Where none can be written, a folder of this process alone: then
    every process compiles.
    """
    name = f"tomo-runner-{_key()}"
    for place in _places():
        folder = place / name
        if _usable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="tomo-runner-"))


def _places() -> Iterator[Path]:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen)
    shared = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    yield Path(os.path.expanduser(shared)) / "tomo-runner"  # noqa: PTH111 - no error without a home
    yield Path(tempfile.gettempdir()) / f"tomo-runner-{os.getuid()}"


def _usable(folder: Path) -> bool:
    """Tell whether a folder is ours alone and takes files; makes it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
        if state.st_uid != os.geteuid() or state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
        with tempfile.TemporaryFile(dir=folder) as probe:  # a full quota shows only when it is written to
            probe.write(bytes(_ROOM))
    except OSError:
        return False
    return True


def _key() -> str:
    """Name all that machine code depends on, and all by which Numba finds it: a source's path and its time.

    Else kernels would count as compiled in one installation that only another one has.
    """
    import numba
    from numba.core.registry import cpu_target

    key = hashlib.sha256()
    processor = cpu_target.target_context.codegen().magic_tuple()
    for part in (platform.python_version(), numba.__version__, *processor):
        key.update(f"{part}\0".encode())
    top = Path(__file__).parents[1]
    for folder in _WITH_KERNELS:
        for source in sorted((top / folder).glob("*.py")):  # numba looks at a kernel's own file alone
            key.update(f"{source}\0{source.stat().st_mtime_ns}\0".encode() + source.read_bytes())
    return key.hexdigest()[:16]
