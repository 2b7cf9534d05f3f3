"""A private folder on this machine's own disk, for spilled data and logs of one rank."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from runner.errors import WriteError
from runner.node.processes import has_ended, this_process
from runner.units import format_size

# Set by batch systems and sites for one job on one machine; the first that is set wins.
_OURS = "RUNNER_SCRATCH"
_SITES = ("LOCAL_SCRATCH", "FLUX_JOB_TMPDIR", "_CONDOR_SCRATCH_DIR", "TMPDIR")
_LAST_RESORT = Path("/tmp")  # noqa: S108 - every machine has it

_OWNED = re.compile(r"runner-(?:\d+|check|hosts)-(?P<process>[0-9a-f]+-\d+-\d+)-\w+")
_LITTLE = 1 << 30  # bytes: a worker that spills soon has more
_IN_MEMORY = ("tmpfs", "ramfs")


def _can_be_used(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def scratch_root(
    environ: Mapping[str, str],
    chosen: Path | None = None,
    *,
    usable: Callable[[Path], bool] = _can_be_used,
) -> Path:
    """Return the folder in which ranks make their scratch folders: `chosen`, the site's, or ``/tmp``.

    A site's variable may come from another machine, that of the login say, and name a folder that is only
    there; it is passed over. What a person chose for us is not.
    """
    if chosen is not None:
        return chosen
    if environ.get(_OURS):
        return Path(environ[_OURS])
    sites = (Path(environ[name]) for name in _SITES if environ.get(name))
    return next((folder for folder in sites if usable(folder)), _LAST_RESORT)


def doubts(environ: Mapping[str, str], chosen: Path | None = None) -> tuple[str, ...]:
    """Say what is not as one may think of the scratch folder: elsewhere, in memory, or nearly full."""
    root = scratch_root(environ, chosen)
    found = []
    if chosen is None and not environ.get(_OURS):
        found += [
            f"{name}={environ[name]} is no folder that can be written, {root} is used for scratch"
            for name in _SITES
            if environ.get(name) and not _can_be_used(Path(environ[name]))
        ]
    try:
        kind = file_system(root.resolve(), Path("/proc/self/mounts").read_text().splitlines())
        free = shutil.disk_usage(root).free
    except OSError:  # make_scratch tells why
        return tuple(found)
    if kind in _IN_MEMORY:
        found.append(f"scratch folder {root} is in memory ({kind}): what is spilled to it frees none")
    if free < _LITTLE:
        found.append(f"scratch folder {root} has only {format_size(free)} left")
    return tuple(found)


def file_system(folder: Path, mounts: Iterable[str]) -> str:
    r"""Return the kind of the file system that holds a folder.

    >>> file_system(Path("/tmp/me"), ["/dev/sda1 / ext4 rw 0 0", "tmpfs /tmp tmpfs rw 0 0"])
    'tmpfs'
    """
    kind, depth = "", -1
    for line in mounts:
        _, where, found, *_ = line.split(" ")
        # the kernel writes a blank as \040; of two mounts on one folder the later one counts
        place = Path(where.replace("\\040", " "))
        if folder.is_relative_to(place) and len(place.parts) >= depth:
            kind, depth = found, len(place.parts)
    return kind


def owned_prefix(name: str) -> str:
    """Return how the name of a folder begins that `sweep_scratch` knows as this process's."""
    return f"runner-{name}-{this_process()}-"


def make_scratch(root: Path, name: str) -> Path:
    """Make a new folder below `root` that only its owner can enter.

    The name tells whose it is, for `sweep_scratch`.

    Raises
    ------
    WriteError
        If `root` cannot be written.
    """
    try:
        return Path(tempfile.mkdtemp(prefix=owned_prefix(name), dir=root))
    except OSError as error:
        raise WriteError(
            f"scratch folder {root} on {os.uname().nodename} cannot be used ({error.strerror})",
            "choose another with --scratch or RUNNER_SCRATCH",
        ) from error


def check_scratch(root: Path) -> None:
    """Find out whether scratch folders can be made below `root`: before ranks meet, and wait for each other.

    Raises
    ------
    WriteError
        If not.
    """
    make_scratch(root, "check").rmdir()


def sweep_scratch(root: Path) -> None:
    """Remove the folders of ours below `root` whose processes were killed before they could."""
    with suppress(OSError):  # make_scratch tells why
        for folder in root.glob("runner-*"):
            found = _OWNED.fullmatch(folder.name)
            if found and folder.lstat().st_uid == os.getuid() and has_ended(found["process"]):
                shutil.rmtree(folder, ignore_errors=True)
