"""The tool ``runner submit``: write a job script, hand it to the batch system, say how to follow the job."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runner.errors import MissingFileError, UsageError
from runner.jobs.request_options import SYSTEMS, read_order, request_options, say_passed_over
from runner.launcher.speak import say

if TYPE_CHECKING:
    from runner.batch.order import Order
    from runner.batch.submission import Submission

_FOLDER = "runner-jobs"


class SubmitCommand(click.Command):
    """A command whose first word may be a batch system, and whose options end where the job begins."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Turn the first word into an option, so that those behind it are still ours."""
        if args and args[0] in SYSTEMS:
            args = ["--system", *args]
        return super().parse_args(ctx, args)


@click.command(
    cls=SubmitCommand,
    context_settings={"allow_interspersed_args": False},
    short_help="Submit a job to the batch system.",
    epilog="Example: runner submit slurm --nodes 2 --ntasks-per-node 4 --time 1:00:00 job.py --fast",
    options_metavar="[SYSTEM] [OPTIONS]",
)
@click.option("--system", type=click.Choice(SYSTEMS), help="The batch system.  [the one that is here]")
@request_options
@click.option(
    "--parts",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Submit so many jobs, each to go on where the one before it stopped (exit code 75).",
)
@click.option(
    "--auto",
    is_flag=True,
    help="Choose --nodes, --time and --mem, where not given: a chunk of the job is timed here.",
)
@click.argument("job", nargs=-1, type=click.UNPROCESSED, metavar="JOB [ARGS]...")
def command(*, system: str | None, parts: int, auto: bool, job: tuple[str, ...], **given: Any) -> None:
    """Ask the batch system for nodes, and run JOB on them with the runner.

    SYSTEM is the batch system; without it, the one whose commands are here. JOB is a script or a built-in
    job, with its arguments; options of the runner go before it, behind --. Options that are not given are
    left to the site.
    """
    from runner.batch.queue.systems import the_system_here

    order = read_order(
        system, job, find_system=lambda: the_system_here(lambda name: shutil.which(name) is not None), **given
    )
    say_passed_over(order, given["jobqueue"])
    check_job(job, as_here=not order.request.prologue)
    if auto:
        order = sized(order, given["nodes"], parts)
    click.echo(report(submit(order, parts)))


def check_job(job: tuple[str, ...], *, as_here: bool = True) -> None:
    """Find now what would be found after hours in a queue.

    Parameters
    ----------
    job : tuple of str
        With its arguments.
    as_here : bool
        Whether the job finds modules and files as this process does; a script's prologue may change that.

    Raises
    ------
    UsageError
        If it is one of our tools, or the arguments of a built-in job are wrong.
    MissingFileError
        If the script is not there.
    RunnerError
        As from a built-in job's own check.
    """
    from runner.jobs.registry import BUILT_INS

    name, *args = job
    if name.startswith("-"):
        return  # options of the runner, or -m MODULE
    if name in BUILT_INS:
        if not BUILT_INS[name].on_cluster:
            raise UsageError(f"{name} is a tool, not a job", f"run it here: runner {name}")
        try:
            given = BUILT_INS[name].command().make_context(name, args).params
        except click.UsageError as error:
            raise UsageError(error.format_message(), f"see runner {name} --help") from error
        if as_here:
            BUILT_INS[name].check(given)
    elif not Path(name).is_file():
        raise MissingFileError(
            f"there is no script {name!r} here", "name one, or a built-in job (runner --help)"
        )


def sized(order: Order, nodes: int | None, parts: int) -> Order:
    """Choose nodes, walltime and memory of a built-in job, and say so.

    Raises
    ------
    UsageError
        If the job cannot be foreseen.
    RunnerError
        As from measuring it.
    """
    from runner.jobs.auto import size_job
    from runner.jobs.registry import BUILT_INS

    request = order.request
    name, *args = request.command
    foresee = BUILT_INS[name].foresee() if name in BUILT_INS else None
    if foresee is None:
        raise UsageError(
            f"--auto cannot foresee {name!r}, only the job reconstruct", "give --nodes, --time and --mem"
        )
    here = len(os.sched_getaffinity(0))
    threads = request.cpus_per_task or max(here // request.tasks_per_node, 1)
    found = size_job(order, foresee(args, min(threads, here)), threads=threads, nodes=nodes, parts=parts)
    say("runner", f"sized: {found.reason}")
    return replace(order, request=found.request)


def submit(order: Order, parts: int) -> Submission:
    """Write the script, and submit it as one job or as a chain.

    Raises
    ------
    RunnerError
        If the script cannot be written or submitted; what was submitted of a chain is cancelled.
    """
    from runner.batch.queue.hand_in import hand_in
    from runner.batch.submission import save
    from runner.launcher.journal import submissions_folder

    submission = hand_in(order, Path.cwd() / _FOLDER, parts)
    try:
        save(submission, submissions_folder())
    except OSError as error:  # the job is worth more than our note of it
        say("runner", f"the submission cannot be noted down ({error}): runner log will not find its file")
    return submission


def report(submission: Submission) -> str:
    """Say what was submitted, and what can be done with it."""
    from runner.batch.queue.systems import batch_system

    queue = batch_system(submission.system)
    first, last = submission.job_ids[0], submission.job_ids[-1]
    jobs = f"job {first}" if first == last else f"jobs {', '.join(submission.job_ids)}, one after the other"
    log = submission.folder / queue.log(submission.name, first)
    lines = {
        "submitted": f"{queue.title} {jobs} ({submission.name})",
        "script": str(submission.script),
        "log": f"{log}    (runner log {first} --follow)",
        "watch": f"runner status {first}    ({queue.watch(first)})",
        "wait": f"runner wait {last}",
        "cancel": f"runner cancel {first}    ({' '.join(queue.cancel(submission.job_ids).argv)})",
    }
    return "\n".join(f"{name:<10} {text}" for name, text in lines.items())
