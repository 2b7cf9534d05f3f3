"""Begin a volume, or go on with one that an earlier run has begun."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from distributed import Client

from runner.errors import PartialError, WriteError
from runner.tomo.dispatch import run_chunks
from runner.tomo.plan import Chunk, Plan
from runner.tomo.volume.content import Content
from runner.tomo.volume.forms import create_volume, discard_volume, lay_out_again
from runner.tomo.volume.place import check_space
from runner.tomo.volume.resume import Unfinished, check_same, take_over
from runner.tomo.volume.slab import Target, count_written, rows_to_make


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A volume that is being made.

    Attributes
    ----------
    target : Target
        Where its pixels go.
    chunks : tuple of Chunk
        What is to be made yet.
    """

    target: Target
    chunks: tuple[Chunk, ...]


def begin(place: Path, content: Content, plan: Plan, *, overwrite: bool) -> Begun:
    """Make a new volume.

    Raises
    ------
    WriteError
        If the disk has no room, or the volume cannot be written.
    """
    check_space(place, plan.bytes_written)
    return Begun(target=create_volume(place, content, overwrite=overwrite), chunks=plan.chunks)


def go_on(
    place: Path,
    found: Unfinished,
    content: Content,
    plan: Plan,
    client: Client,
    *,
    seconds_left: Callable[[], float] = lambda: math.inf,
) -> Begun:
    """Take over a volume that was begun, after its slices have been read and held against their checksums.

    Raises
    ------
    WriteError
        If it was begun with something else, or cannot be written.
    PartialError
        If the time does not suffice.
    """
    check_same(found, content)
    target = take_over(found)
    lay_out_again(place, content)
    missing, failures, left = run_chunks(
        client, functools.partial(missing_rows, target), plan.chunks, seconds_left=seconds_left
    )
    if left:
        raise PartialError(
            "the time is over: what was made before has not been checked", "give the job more time"
        )
    to_make = {row for rows in missing for row in rows}
    for failure in failures:  # what cannot be read is made again
        to_make |= set(range(failure.chunk.first_row, failure.chunk.end_row))
    return Begun(target=target, chunks=tuple(part for chunk in plan.chunks for part in parts(chunk, to_make)))


def parts(chunk: Chunk, rows: set[int]) -> list[Chunk]:
    """Cut out of a chunk the rows that are to be made.

    >>> [(part.first_row, part.end_row) for part in parts(Chunk(first_row=8, end_row=16), {3, 9, 10, 15, 16})]
    [(9, 11), (15, 16)]
    """
    wanted = rows.intersection(range(chunk.first_row, chunk.end_row))
    begins = sorted(row for row in wanted if row - 1 not in wanted)
    ends = sorted(row + 1 for row in wanted if row + 1 not in wanted)
    return [Chunk(first_row=begin, end_row=end) for begin, end in zip(begins, ends, strict=True)]


def missing_rows(target: Target, chunk: Chunk) -> list[int]:
    """Return the rows of a chunk that are to be made: on a worker, which reads what is there."""
    return rows_to_make(target, chunk.first_row, chunk.end_row)


def leave(target: Target) -> None:
    """Keep what was made of a volume for a later run; remove it if that is nothing."""
    with contextlib.suppress(WriteError):  # it became another run's, or the disk is gone
        if count_written(target) == 0:
            discard_volume(target)
