"""The tool ``runner submit``: write a job script, hand it to the batch system, say how to follow the job."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runner.errors import MissingFileError, StartError, UsageError, WriteError
from runner.jobs.request_options import SYSTEMS, read_order, request_options, say_passed_over
from runner.launcher.speak import say

if TYPE_CHECKING:
    from runner.batch.order import Order
    from runner.batch.request import JobRequest
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
    check_job(job)
    if auto:
        order = sized(order, given["nodes"], parts)
    click.echo(report(submit(order, parts)))


def check_job(job: tuple[str, ...]) -> None:
    """Find now what would be found after hours in a queue.

    Raises
    ------
    UsageError
        If it is one of our tools, or the arguments of a built-in job are wrong.
    MissingFileError
        If the script is not there.
    """
    from runner.jobs.registry import BUILT_INS

    name, *args = job
    if name.startswith("-"):
        return  # options of the runner, or -m MODULE
    if name in BUILT_INS:
        if not BUILT_INS[name].on_cluster:
            raise UsageError(f"{name} is a tool, not a job", f"run it here: runner {name}")
        try:
            BUILT_INS[name].command().make_context(name, args)
        except click.UsageError as error:
            raise UsageError(error.format_message(), f"see runner {name} --help") from error
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
    from runner.batch.chain import as_part
    from runner.batch.queue.systems import batch_system
    from runner.batch.script import render
    from runner.batch.submission import Submission, save
    from runner.jobs.followed import submissions_folder

    queue = batch_system(order.system)
    script = render(order.system, order.request)
    path = _new_folder(order.request.name) / ("job.sub" if order.system == "htcondor" else "job.sh")
    if parts > 1:
        queue.submit(path, after="1")  # refuses where there are no chains, before anything is submitted
        script = as_part(script, path.with_name("ended"))
    try:
        path.write_text(script)
        path.chmod(0o755)
    except OSError as error:
        raise WriteError(f"the job script cannot be written to {path} ({error.strerror})") from error
    submission = Submission(
        system=order.system,
        job_ids=_hand_in(order, path, parts),
        name=order.request.name,
        folder=Path.cwd(),
        script=path,
        submitted=time.time(),
    )
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


def _new_folder(name: str) -> Path:
    """Make a folder for the job's script that no other submission has."""
    now = time.strftime("%Y%m%d-%H%M%S")
    parent = Path.cwd() / _FOLDER
    try:
        parent.mkdir(exist_ok=True)
        for number in range(1, 1000):
            folder = parent / (f"{name}-{now}" if number == 1 else f"{name}-{now}-{number}")
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise WriteError(
            f"no job script can be kept in {parent} ({error.strerror})", "submit from a folder of yours"
        ) from error
    raise WriteError(f"there are too many folders {name}-{now} in {parent}")


def _hand_in(order: Order, script: Path, parts: int) -> tuple[str, ...]:
    from runner.batch.queue.call import ASK_SECONDS, call
    from runner.batch.queue.systems import batch_system

    queue = batch_system(order.system)
    job_ids: tuple[str, ...] = ()
    try:
        for _ in range(parts):
            job_ids += (_hand_in_one(order, script, after=job_ids[-1] if job_ids else None),)
    except StartError:
        if job_ids:
            call(queue.cancel(job_ids), seconds=ASK_SECONDS)
        raise
    return job_ids


def _hand_in_one(order: Order, script: Path, after: str | None) -> str:
    from runner.batch.queue.call import SUBMIT_SECONDS, call
    from runner.batch.queue.systems import batch_system
    from runner.batch.scrub import scrubbed

    queue = batch_system(order.system)
    wanted = queue.submit(script, after)
    environ = scrubbed(os.environ, written=_overruling(order.request))
    answer = call(wanted, seconds=SUBMIT_SECONDS, environ=environ)
    if answer.returncode != 0:
        raise StartError(
            f"{wanted.argv[0]} refused the job: {answer.line or 'without a word'}", f"see {script}"
        )
    job_id = queue.job_id(answer.stdout)
    if job_id is None:
        raise StartError(f"{wanted.argv[0]} gave no job id: {answer.line or 'nothing'}", queue.watch(""))
    return job_id


def _overruling(request: JobRequest) -> frozenset[str]:
    """Return the variables of a person that sbatch believes more than the script, where both speak."""
    chosen = {"SBATCH_ACCOUNT": request.account, "SBATCH_PARTITION": request.queue}
    return frozenset(name for name, value in chosen.items() if value is not None)
