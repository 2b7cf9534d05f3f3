"""Slices that are not there: what is said about them, and how they are marked."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from runner.errors import LostError, PartialError, WriteError
from runner.tomo.dispatch import Failure
from runner.tomo.plan import Chunk
from runner.tomo.volume.place import partial_path
from runner.tomo.volume.slab import Target, clear_slab


def clear(target: Target, chunks: Sequence[Chunk]) -> None:
    """Mark slices that could not be made in what is kept."""
    with contextlib.suppress(WriteError):  # nothing is marked as written, and the causes are told elsewhere
        for chunk in chunks:
            clear_slab(target, chunk.first_row, chunk.end_row)


def loss(volume: Path, target: Target, failures: Sequence[Failure]) -> LostError | WriteError:
    """Say which slices could not be made, and why; a `WriteError` where none could be written."""
    chunks = [failure.chunk for failure in failures]
    missing = sum(chunk.rows for chunk in chunks)
    unwritten = all(isinstance(failure.cause, WriteError) for failure in failures)
    return (WriteError if unwritten else LostError)(
        f"{missing} of {target.shape[0]} slices could not be made: "
        f"rows {row_ranges(chunks)} ({failures[0].cause})",
        f"{partial_path(volume)} holds the others; the same command tries the missing ones again",
    )


def out_of_time(
    volume: Path, target: Target, failures: Sequence[Failure], left: Sequence[Chunk]
) -> PartialError:
    """Say which slices were not made in time."""
    missing = [*left, *(failure.chunk for failure in failures)]
    made = target.shape[0] - sum(chunk.rows for chunk in missing)
    why = f" ({failures[0].cause})" if failures else ""
    return PartialError(
        f"the time is over: {made} of {target.shape[0]} slices were made, "
        f"rows {row_ranges(missing)} are missing{why}",
        f"{partial_path(volume)} holds what was made: the same command goes on with it",
    )


def row_ranges(chunks: Sequence[Chunk]) -> str:
    """Write the rows of chunks short: ``"0:16, 48:70"``."""
    ranges: list[tuple[int, int]] = []
    for chunk in sorted(chunks, key=lambda chunk: chunk.first_row):
        if ranges and ranges[-1][1] == chunk.first_row:
            ranges[-1] = (ranges[-1][0], chunk.end_row)
        else:
            ranges.append((chunk.first_row, chunk.end_row))
    return ", ".join(f"{first}:{end}" for first, end in ranges)
