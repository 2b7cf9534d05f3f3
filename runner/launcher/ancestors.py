"""Which programs started this process: its parent, the parent's parent, and so on up."""

from __future__ import annotations

import os
from pathlib import Path

_FURTHEST = 40


def read_ancestors(proc: Path = Path("/proc")) -> tuple[str, ...]:
    """Return the command lines of this process's ancestors, the nearest first.

    Empty where the system hides other users' processes; in a container they end with the container.
    """
    found: list[str] = []
    pid = os.getppid()
    while pid > 1 and len(found) < _FURTHEST:
        try:
            line = (proc / str(pid) / "cmdline").read_bytes()
            # "PID (NAME) STATE PARENT ...", and the name may hold anything
            after_name = (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2]
            pid = int(after_name.split()[1])
        except (OSError, ValueError, IndexError):
            break
        found.append(line.replace(b"\0", b" ").decode(errors="replace").strip())
    return tuple(found)
