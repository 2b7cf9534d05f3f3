"""A few slices in seconds, in place of a volume: ``--slice``."""

from __future__ import annotations

from pathlib import Path

import click

from runner.errors import WriteError
from runner.jobs.display import say
from runner.jobs.summary import axis_text
from runner.tomo.settings import Settings
from runner.units import format_duration

MIDDLE = "middle"


def rows_or_middle(text: str) -> tuple[int, ...]:
    """Read ``--slice``: some rows, or none for the middle one.

    click says it kindly where this raises ValueError.
    """
    return () if text == MIDDLE else tuple(int(part) for part in text.split(","))


def show_slices(
    scan: Path, volume: Path, rows: tuple[int, ...], settings: Settings, where: str | None, *, overwrite: bool
) -> None:
    """Make slices as they would be in a volume, write them beside it, and say where.

    Raises
    ------
    RunnerError
        If they cannot be made, or not written.
    """
    from runner.clusters import cluster
    from runner.tomo.png import window_of
    from runner.tomo.preview import make_preview
    from runner.tomo.volume.single import PICTURE, files_of_slice, write_slice
    from runner.walltime import time_left

    if not volume.absolute().parent.is_dir():
        raise WriteError(f"there is no folder {volume.absolute().parent}", "make it, or choose another place")
    if volume.suffix == PICTURE and volume.exists() and not overwrite:
        raise WriteError(f"{volume} exists already", "say --overwrite to replace it, or choose another name")
    with cluster(where) as client:
        made = make_preview(scan, rows, settings, client, on_note=say, seconds_left=time_left)
    low, high = window_of(made.slices)
    for row, values in zip(made.rows, made.slices, strict=True):
        for path in files_of_slice(volume, row, alone=len(made.rows) == 1):
            write_slice(path, values, made.content, (low, high))
            click.echo(f"row {row:<5}{path}")
    units = made.content.units
    click.echo(f"greys    black is {low:.4g}, white is {high:.4g} {units}")
    click.echo(f"axis     {axis_text(made.axis)}")
    click.echo(f"time     {format_duration(made.seconds)}")
