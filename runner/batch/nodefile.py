"""The file in which PBS, Grid Engine and OAR list the hosts of a job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFile:
    """What such a file says; empty on hosts that do not have it (it lies on the job's first one).

    Attributes
    ----------
    lines : tuple of str
        Its lines, in order, without empty ones.
    written_at : float or None
        When the system wrote it, seconds since 1970: the start of the job.
    """

    lines: tuple[str, ...] = ()
    written_at: float | None = None

    @property
    def hosts(self) -> tuple[str, ...]:
        """Each host once: the first word of the lines, which repeat it per core or rank."""
        return tuple(dict.fromkeys(line.split()[0] for line in self.lines))


def read_node_file(path: str | None) -> NodeFile:
    """Read a node file if this host has it."""
    if not path:
        return NodeFile()
    try:
        text = Path(path).read_text(encoding="utf-8")
        written_at = Path(path).stat().st_mtime
    except OSError:
        return NodeFile()
    return NodeFile(lines=tuple(line for line in text.splitlines() if line.strip()), written_at=written_at)
