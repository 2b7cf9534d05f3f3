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

from runner.errors import UsageError
from runner.jobs.commands import run_command
from runner.jobs.display import Display, say
from runner.jobs.preview import rows_or_middle, show_slices
from runner.jobs.series import foresee_series, plan_series, reconstruct_series
from runner.jobs.settings_command import SettingsCommand
from runner.jobs.settings_file import write_settings
from runner.jobs.summary import summary

if TYPE_CHECKING:
    from runner.jobs.auto import Foreseen
    from runner.tomo.series.entries import Entry
    from runner.tomo.settings import Settings


class _Command(SettingsCommand):
    """The command, which finds as it is read what does not go together."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, args)
        if ctx.params.get("entries") and ctx.params["rows_shown"] is not None:
            raise UsageError("--slice is for one scan", "name one scan and its volume")
        return rest


@click.command("reconstruct", cls=_Command, context_settings={"help_option_names": ["-h", "--help"]})
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
    "--slice",
    "rows_shown",
    type=rows_or_middle,
    metavar="ROW[,ROW]|middle",
    help="Make these slices alone, as a picture and a TIFF beside VOLUME; or as VOLUME, if that is a .png.",
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
    entries: tuple[Entry, ...],
    settings: Settings,
    notes: Sequence[str],
    init: Path | None,
    overwrite: bool,
    report: bool,
    rows_shown: tuple[int, ...] | None,
    only_plan: bool,
    where: str | None,
) -> None:
    """Reconstruct SCAN (NXtomo, DXchange, other HDF5, TIFF, EDF) into VOLUME.

    The volume is one NeXus file (HDF5), float32 (slice, y, x), with all that it was made from and by. A name
    that ends in .tif makes it a BigTIFF that is such a file too, .zarr a folder in the form OME-Zarr, .h5d a
    folder of several such files, and a name without an ending a folder of TIFF files. SCAN and VOLUME may
    stand in the file of settings instead.

    SCAN alone may be a table of scans (.csv), with columns scan, volume and any settings; and several scans
    may stand before a folder: all are made by one cluster, whatever becomes of the others.
    """
    for note in notes:
        say(note)
    if init is not None:
        write_settings(init, scan, volume, settings, overwrite=overwrite)
    elif entries and only_plan:
        plan_series(entries, where)
    elif entries:
        reconstruct_series(entries, where, overwrite=overwrite, report=report)
    elif only_plan:
        _print_plan(scan, volume, settings, where)
    elif rows_shown is not None:
        show_slices(scan, volume, rows_shown, settings, where, overwrite=overwrite)
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


def foresee(args: Sequence[str], threads: int) -> Foreseen:
    """Time a chunk of the job in this process, and say what follows for all of it.

    Of several scans, one of each kind is timed.

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
    if given["entries"]:
        return foresee_series(given["entries"], threads)
    volume, settings = given["volume"].absolute(), given["settings"]
    check_place(volume, overwrite=given["overwrite"])
    opened = checked_scan(given["scan"], settings.sources, say=say)
    with cluster("local", n_workers=1, threads_per_worker=threads, processes=False) as client:
        plan, timed = calibrate(opened, volume, settings, client)
    return Forecast(work=plan.work, calibration=timed)


def _print_plan(scan: Path, volume: Path, settings: Settings, where: str | None) -> None:
    from runner.clusters import cluster
    from runner.tomo.advice import advise
    from runner.tomo.calibrate import calibrate
    from runner.tomo.check import checked_scan
    from runner.tomo.forecast import describe_time
    from runner.tomo.physics import as_used
    from runner.tomo.plan import describe
    from runner.tomo.wider import about_room

    opened = checked_scan(scan, settings.sources, say=say)
    used = as_used(opened, settings)
    for finding in advise(used, settings):
        say(finding)
    with cluster(where) as client:
        plan, timed = calibrate(opened, volume, settings, client)
    for finding in about_room(used, settings, half=plan.work.half):
        say(finding)
    click.echo(describe(plan))
    click.echo(f"{'time':<9}{describe_time(plan, timed)}")


def _reconstruct(
    scan: Path, volume: Path, settings: Settings, where: str | None, *, overwrite: bool, report: bool
) -> None:
    from runner.clusters import cluster
    from runner.tomo.pipeline import reconstruct
    from runner.tomo.report.write import report_path
    from runner.walltime import time_left

    show = Display()
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
