"""What is known of a reconstruction when it has ended, well or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runner.errors import RunnerError
from runner.tomo.chunk import ChunkResult
from runner.tomo.dispatch import Failure
from runner.tomo.parameters import Axis
from runner.tomo.plan import Chunk, Plan
from runner.tomo.scan import Scan
from runner.tomo.scan.finding import Finding
from runner.tomo.volume.content import Content
from runner.tomo.volume.slab import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A reconstruction that has ended.

    Attributes
    ----------
    volume : Path
        As it was named.
    target : Target
        Where its pixels are now.
    scan : Scan
    plan : Plan
    content : Content
    axis : Axis
        What went into it.
    findings : tuple of Finding
        Of preflight.
    notes : tuple of str
        What was said while it ran.
    results : tuple of ChunkResult
        Of the chunks that this run made.
    retries : tuple of Failure
        Attempts that failed, and were made again.
    failures : tuple of Failure
        Chunks that could not be made.
    left : tuple of Chunk
        Chunks for which there was no time.
    begun, ended : float
        Seconds since 1970.
    error : RunnerError or None
        With what it ended.
    clipped : (int, int, int)
        Pixels that the type could not hold: below, above, not a number.
    """

    volume: Path
    target: Target
    scan: Scan
    plan: Plan
    content: Content
    axis: Axis
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    results: tuple[ChunkResult, ...]
    retries: tuple[Failure, ...]
    failures: tuple[Failure, ...]
    left: tuple[Chunk, ...]
    begun: float
    ended: float = 0.0
    error: RunnerError | None = None
    clipped: tuple[int, int, int] = (0, 0, 0)

    @property
    def made(self) -> int:
        """How many slices this run made."""
        return sum(result.chunk.rows for result in self.results)

    @property
    def missing(self) -> int:
        """How many slices are missing."""
        return sum(chunk.rows for chunk in (*self.left, *(failure.chunk for failure in self.failures)))

    @property
    def earlier(self) -> int:
        """How many slices an earlier run had made."""
        return self.plan.work.rows - self.made - self.missing

    def tries(self, chunk: Chunk) -> int:
        """How many attempts a chunk has taken."""
        return 1 + sum(retry.chunk == chunk for retry in self.retries)
