"""The job `reconstruct`: a scan becomes a volume.

The launcher reads `command` before there is a cluster, only to see whether the command line is right, so this
module loads nothing heavy until it runs.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runner.jobs.commands import run_command
from runner.jobs.progress import ProgressMeter
from runner.jobs.settings_command import SettingsCommand
from runner.jobs.settings_file import write_settings
from runner.jobs.summary import summary

if TYPE_CHECKING:
    from runner.tomo.dispatch import Progress
    from runner.tomo.forecast import Forecast
    from runner.tomo.settings import Settings


@click.command("reconstruct", cls=SettingsCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--overwrite", is_flag=True, help="Replace VOLUME, or recon.toml, if it is there.")
@click.option(
    "--report/--no-report",
    default=True,
    show_default=True,
    help="Write a page about it: VOLUME.report.html.",
)
@click.option(
    "--cluster",
    "where",
    metavar="WHERE",
    help="allocation, local, jobqueue:NAME, an address like tcp://HOST:PORT, or a scheduler file.  "
    "[allocation, made of the ranks of this job or of this machine]",
)
@click.option(
    "--plan",
    "only_plan",
    is_flag=True,
    help="Time a chunk, say what would be done and how long it would take, and stop.",
)
def command(
    *,
    scan: Path,
    volume: Path,
    settings: Settings,
    notes: Sequence[str],
    init: Path | None,
    overwrite: bool,
    report: bool,
    only_plan: bool,
    where: str | None,
) -> None:
    """Reconstruct SCAN (NXtomo, DXchange, other HDF5, TIFF, EDF) into VOLUME.

    The volume is one NeXus file (HDF5), float32 (slice, y, x), with all that it was made from and by. A name
    that ends in .tif makes it a BigTIFF that is such a file too, .zarr a folder in the form OME-Zarr, and a
    name without an ending a folder of TIFF files.
    """
    for note in notes:
        say(note)
    if init is not None:
        write_settings(init, scan, volume, settings, overwrite=overwrite)
    elif only_plan:
        _print_plan(scan, volume, settings, where)
    else:
        _reconstruct(scan, volume, settings, where, overwrite=overwrite, report=report)


def run(args: tuple[str, ...]) -> int:
    """Run the job, with arguments as on the command line, where ``Client()`` reaches the cluster.

    Raises
    ------
    RunnerError
        What the user has to mend.
    """
    return run_command(command, args)


def foresee(args: Sequence[str], threads: int) -> Forecast:
    """Time a chunk of the job in this process, and say what follows for all of it.

    Parameters
    ----------
    args : sequence of str
        As on the command line.
    threads : int
        Of the worker.

    Raises
    ------
    RunnerError
        What the user has to mend.
    """
    from runner.clusters import cluster
    from runner.tomo.calibrate import calibrate
    from runner.tomo.check import checked_scan
    from runner.tomo.forecast import Forecast
    from runner.tomo.volume.place import check_place

    given = command.make_context("reconstruct", list(args)).params
    scan, volume, settings = given["scan"], given["volume"], given["settings"]
    check_place(volume.absolute(), overwrite=given["overwrite"])
    opened = checked_scan(scan, settings.sources, say=say)
    with cluster("local", n_workers=1, threads_per_worker=threads, processes=False) as client:
        plan, timed = calibrate(opened, volume.absolute(), settings, client)
    return Forecast(work=plan.work, calibration=timed)


def _print_plan(scan: Path, volume: Path, settings: Settings, where: str | None) -> None:
    from runner.clusters import cluster
    from runner.tomo.advice import advise
    from runner.tomo.calibrate import calibrate
    from runner.tomo.check import checked_scan
    from runner.tomo.forecast import describe_time
    from runner.tomo.physics import as_used
    from runner.tomo.plan import describe

    opened = checked_scan(scan, settings.sources, say=say)
    for finding in advise(as_used(opened, settings), settings):
        say(finding)
    with cluster(where) as client:
        plan, timed = calibrate(opened, volume, settings, client)
    click.echo(describe(plan))
    click.echo(f"{'time':<9}{describe_time(plan, timed)}")


def _reconstruct(
    scan: Path, volume: Path, settings: Settings, where: str | None, *, overwrite: bool, report: bool
) -> None:
    from runner.clusters import cluster
    from runner.tomo.pipeline import reconstruct
    from runner.tomo.report.write import report_path
    from runner.walltime import time_left

    show = _Display()
    with cluster(where) as client:
        try:
            outcome = reconstruct(
                scan,
                volume,
                settings,
                client,
                overwrite=overwrite,
                command_line=[shlex.quote(word) for word in sys.argv],
                on_progress=show,
                on_note=say,
                seconds_left=time_left,
                report=report_path(volume) if report else None,
            )
        finally:
            show.close()
    click.echo(summary(outcome))


def say(text: object) -> None:
    """Print a line for the person who waits, beside the results."""
    click.echo(str(text), err=True)


class _Display:
    """Makes the meter when the first progress tells the total."""

    def __init__(self) -> None:
        self._meter: ProgressMeter | None = None

    def __call__(self, progress: Progress) -> None:
        if self._meter is None:
            self._meter = ProgressMeter(progress.total, "slices", sys.stderr)
        self._meter.update(progress.done, f"{progress.running} of {progress.chunks} chunks are being made")

    def close(self) -> None:
        if self._meter is not None:
            self._meter.close()
