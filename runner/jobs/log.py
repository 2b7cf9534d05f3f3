"""The tool ``runner log``: what a batch job has printed, and what it prints while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runner.errors import MissingFileError
from runner.jobs.request_options import SYSTEMS
from runner.launcher.speak import say

if TYPE_CHECKING:
    from runner.jobs.followed import Followed

_LOOK_SECONDS = 0.5
_FIRST_PAUSE = 2.0
_LONGEST_PAUSE = 15.0  # many people who ask every second bring a batch system down
_GROWTH = 1.3
_PIECE = 1 << 20


@click.command(short_help="Print the output of a batch job.")
@click.argument("job")
@click.argument("key", required=False)
@click.option("--follow", "-f", is_flag=True, help="Go on until the job is over.")
@click.option("--system", type=click.Choice(SYSTEMS), help="The batch system.  [the job's, or the one here]")
def command(*, job: str, key: str | None, follow: bool, system: str | None) -> None:
    """Print what JOB has written: the batch system's id, a name of runner status, or that of a map.

    With KEY: what this component of the map JOB printed, and how it failed if it did.
    """
    from runner.jobs import followed

    if key is not None:
        click.echo(component_log(job, key))
        return
    found = followed.follow(job, system)
    path = found.log()
    pieces = new_content(path, found.is_over) if follow else content(found, path)
    for piece in pieces:
        click.echo(piece, nl=False)


def component_log(name: str, key: str) -> str:
    """Return what a component of a map printed, and the report of its failure.

    Raises
    ------
    MissingFileError
        If there is no such map or component.
    """
    from runner.maps.map import open_map

    opened = open_map(name)
    if key not in opened.keys:
        raise MissingFileError(f"map {opened.name} has no component {key!r}", f"see: runner status {name}")
    failure = opened.failures().get(key)
    return opened.log(key) + (replace(failure, log="").report() if failure else "")


def content(job: Followed, path: Path) -> Iterator[bytes]:
    """Yield what is there.

    Raises
    ------
    MissingFileError
        If nothing is; it says how the job is.
    """
    if not path.is_file():
        state = job.state()
        raise MissingFileError(
            f"there is no output of {job.title} yet in {path}",
            f"the job is {state.word}" if state else f"{job.system.title} does not know the job",
        )
    with path.open("rb") as file:
        yield from iter(lambda: file.read(_PIECE), b"")


def new_content(
    path: Path, over: Callable[[], bool], *, sleep: Callable[[float], None] = time.sleep
) -> Iterator[bytes]:
    """Yield what is in a file, and what comes, until the job that writes it is over.

    Parameters
    ----------
    path : Path
        The file; it may not be there yet.
    over : callable
        Asks whether the job is over. It is asked rarely.
    """
    position, pause = 0, _FIRST_PAUSE
    asked = time.monotonic() - pause
    last_look = False
    if not path.is_file():
        say("runner", f"nothing is written yet to {path}")
    while True:
        grown = False
        if path.is_file():
            with path.open("rb") as file:
                file.seek(position)
                while piece := file.read(_PIECE):
                    position, grown = position + len(piece), True
                    yield piece
        if last_look:
            return
        if not grown and time.monotonic() - asked > pause:
            asked, pause = time.monotonic(), min(_LONGEST_PAUSE, pause * _GROWTH)
            last_look = over()  # what it wrote meanwhile is still to be read
        if not last_look:
            sleep(_LOOK_SECONDS)
