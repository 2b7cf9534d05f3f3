"""The job ``resume``: go on with a map where it stopped. What batch jobs for maps run."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from runner.jobs.commands import run_command
from runner.jobs.progress import ProgressMeter
from runner.listing import few

if TYPE_CHECKING:
    from runner.maps.layout import Layout
    from runner.maps.run import Tally


@click.command("resume")
@click.argument("name")
def command(name: str) -> None:
    """Go on with the map NAME (or the path of its folder): do all that has no result and no failure.

    To have failures tried again, see runner rerun. Leaves with 1 if a component failed, with 75 if the time
    was over before all was done.
    """
    from runner.maps.layout import find_map

    finish(find_map(name, os.environ))


def run(args: tuple[str, ...]) -> int:
    """Run the job with arguments as on the command line.

    Raises
    ------
    RunnerError
        What the user has to mend.
    """
    return run_command(command, args)


def finish(layout: Layout) -> None:
    """Do what is to be done of a map on the cluster that is here, show how far it is, and say how it ended.

    Raises
    ------
    ComponentFailed
        If a component failed.
    RunnerError
        If not all could be done.
    """
    from runner.maps.begin import client_here
    from runner.maps.errors import ComponentFailed
    from runner.maps.run import run_map

    show = _Display()
    try:
        with _told_to_stop():
            tally = run_map(layout, client_here(), on_progress=show)
    finally:
        show.close()
    name = layout.folder.name
    click.echo(f"map {name}: {tally.done} of {tally.total} components done, in {layout.folder}")
    if tally.failed:
        _, failed = layout.outcomes()
        raise ComponentFailed(
            f"{tally.failed} of {tally.total} components of map {name} failed: {few(sorted(failed))}",
            f"see: runner log {name} KEY; try them again: runner rerun {name}",
        )


@contextmanager
def _told_to_stop() -> Iterator[None]:
    """Let SIGTERM end the block in order: the map's folder then says so, and nobody has to wonder."""

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Display:
    """Makes the meter when the first progress tells what is left; what was done before is not counted."""

    def __init__(self) -> None:
        self._meter: ProgressMeter | None = None
        self._left = 0

    def __call__(self, tally: Tally) -> None:
        if self._meter is None and tally.left:
            self._left = tally.left
            self._meter = ProgressMeter(tally.left, "components", sys.stderr)
        if self._meter is not None:
            self._meter.update(self._left - tally.left)

    def close(self) -> None:
        if self._meter is not None:
            self._meter.close()
