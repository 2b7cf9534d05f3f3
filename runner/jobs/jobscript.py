"""The tool ``runner jobscript``: print a job script for a batch system."""

from __future__ import annotations

from typing import Any

import click

from runner.jobs.request_options import SYSTEMS, read_order, request_options, say_passed_over


@click.command(
    context_settings={"allow_interspersed_args": True},
    short_help="Print a job script for a batch system.",
    epilog="Example: runner jobscript slurm --nodes 2 --ntasks-per-node 4 --time 1:00:00 -- job.py > job.sh",
)
@click.argument("system", type=click.Choice(SYSTEMS))
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- JOB [ARGS]...")
@request_options
def command(*, system: str, command: tuple[str, ...], **given: Any) -> None:
    """Print a script that asks SYSTEM for nodes and runs JOB on them with the runner.

    SYSTEM is a batch system, or mpi for machines without one. Behind -- stands what follows
    "python -m runner": its options, the job, the job's arguments. Options that are not given
    are left to the site.
    """
    from runner.batch.script import render

    order = read_order(system, command, find_system=lambda: system, **given)
    say_passed_over(order, given["jobqueue"])
    click.echo(render(order.system, order.request), nl=False)
