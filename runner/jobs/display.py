"""What a reconstruction shows while it runs, beside its results."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from runner.jobs.progress import ProgressMeter

if TYPE_CHECKING:
    from runner.tomo.dispatch import Progress


def say(text: object) -> None:
    """Print a line for the person who waits, beside the results."""
    click.echo(str(text), err=True)


class Display:
    """Makes the meter when the first progress tells the total; another one after each `close`."""

    def __init__(self) -> None:
        self._meter: ProgressMeter | None = None

    def __call__(self, progress: Progress) -> None:
        """Show how far the work is."""
        if self._meter is None:
            self._meter = ProgressMeter(progress.total, "slices", sys.stderr)
        self._meter.update(progress.done, f"{progress.running} of {progress.chunks} chunks are being made")

    def close(self) -> None:
        """Leave the meter's line."""
        if self._meter is not None:
            self._meter.close()
            self._meter = None
