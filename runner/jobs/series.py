"""Several scans in one job: what is asked for on the command line, and what is said at the end."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from runner.jobs.display import Display, say
from runner.tomo.series.entries import Entry

if TYPE_CHECKING:
    from runner.jobs.auto import Foreseen


def reconstruct_series(entries: Sequence[Entry], where: str | None, *, overwrite: bool, report: bool) -> None:
    """Reconstruct scans on one cluster, and print how each ended.

    Raises
    ------
    RunnerError
        If not all are done.
    """
    from runner.clusters import cluster
    from runner.tomo.series.results import error_of, table_of
    from runner.tomo.series.run import reconstruct_all
    from runner.walltime import time_left

    show = Display()

    def begin(entry: Entry) -> None:
        show.close()
        say(f"scan {entries.index(entry) + 1} of {len(entries)}: {entry.scan}")

    with cluster(where) as client:
        try:
            results = reconstruct_all(
                entries,
                client,
                overwrite=overwrite,
                report=report,
                command_line=[shlex.quote(word) for word in sys.argv],
                on_begin=begin,
                on_progress=show,
                on_note=say,
                seconds_left=time_left,
            )
        finally:
            show.close()
    click.echo(table_of(results))
    if error := error_of(results):
        raise error


def plan_series(entries: Sequence[Entry], where: str | None) -> None:
    """Print what would be done for each scan, and in all.

    Raises
    ------
    RunnerError
        If one cannot be reconstructed.
    """
    from runner.clusters import cluster
    from runner.tomo.series.plan import plan_all

    with cluster(where) as client:
        click.echo(plan_all(entries, client, on_note=say))


def foresee_series(entries: Sequence[Entry], threads: int) -> Foreseen:
    """Time a chunk of a scan of each kind in this process, and say what follows for all.

    Raises
    ------
    RunnerError
        If a scan cannot be reconstructed.
    """
    from runner.clusters import cluster
    from runner.tomo.forecast import Forecast
    from runner.tomo.series.forecast import SeriesForecast, plan_each

    with cluster("local", n_workers=1, threads_per_worker=threads, processes=False) as client:
        planned = plan_each(entries, client, on_note=say)
    forecasts = [Forecast(work=one.plan.work, calibration=one.calibration) for one in planned]
    return SeriesForecast(forecasts=tuple(forecasts))
