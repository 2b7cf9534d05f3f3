"""How much memory this job may use on this machine: the smallest of all limits that hold.

Dask itself looks at the machine and at the root control group only; batch systems put the job's
limit into a nested one.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil

# of a process, which batch systems set: all its addresses (-v), its data (-d), and what it holds (-m), which
# Linux does not enforce and Dask minds
_ULIMITS = (resource.RLIMIT_AS, resource.RLIMIT_DATA, resource.RLIMIT_RSS)
_UNLIMITED = 1 << 60  # control groups write "no limit" as a number near 2**63


def memory_limit(*, asked: int | None = None, proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> int:
    """Return the bytes that all processes of this job may use on this machine together.

    Parameters
    ----------
    asked : int, optional
        What the batch system says it gave, bytes.
    proc, sys : Path
        Where the kernel's file systems are mounted.
    """
    limits: list[int] = [psutil.virtual_memory().total, *cgroup_limits(proc, sys)]
    if asked:
        limits.append(asked)
    ulimits = (resource.getrlimit(kind)[0] for kind in _ULIMITS)
    limits += [soft for soft in ulimits if soft != resource.RLIM_INFINITY]
    return min(limits)


def cgroup_limits(proc: Path, sys: Path) -> Iterator[int]:
    """Yield the limits of this process's control group and all groups above it, versions 1 and 2."""
    try:
        lines = (proc / "self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, name = sys / "fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            root, name = sys / "fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        group = root / path.lstrip("/")
        yield from _read_limits(
            folder / name for folder in (group, *group.parents) if folder.is_relative_to(root)
        )


def _read_limits(files: Iterable[Path]) -> Iterator[int]:
    for file in files:
        try:
            text = file.read_text().strip()
        except OSError:
            continue  # the root group has no such file, and a container may hide those above
        if text.isdigit() and int(text) < _UNLIMITED:
            yield int(text)


def resident(pid: int) -> int | None:
    """Return the bytes of memory that a process holds, None if it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError):
        return None
