"""The tool ``runner cancel``: end a batch job in order, and the parts of its chain that come behind it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from runner.errors import StartError
from runner.jobs.request_options import SYSTEMS

if TYPE_CHECKING:
    from runner.batch.queue.system import Command
    from runner.jobs.followed import Followed

_PATIENCE = 30.0  # what an orderly stop may take, and the batch system until it begins and notices the end
_LOOK_SECONDS = 1.0


@click.command(short_help="End a batch job.")
@click.argument("job")
@click.option("--system", type=click.Choice(SYSTEMS), help="The batch system.  [the job's, or the one here]")
def command(job: str, system: str | None) -> None:
    """End JOB: the batch system's id, or a name of runner status.

    Of a chain, the parts behind it end as well. Where the batch system would kill a job at once, it is asked
    to end first, and waited for.
    """
    from runner.jobs.followed import follow

    found = follow(job, system)
    job_ids = to_be_ended(found)
    if not job_ids:
        click.echo(f"{found.title} is over, and so are the parts behind it")
        return
    first = replace(found, job_id=job_ids[0])
    left = end_in_order(first, job_ids[1:]) if asks_first(first) else job_ids
    if left:
        _order(found.system.cancel(left))
    click.echo(f"{found.system.title} was asked to end {', '.join(job_ids)}")


def asks_first(job: Followed) -> bool:
    """Tell whether a job runs and would be killed at once, but can be asked to end."""
    return job.system.ask_to_end(job.job_id) is not None and job.is_running()


def end_in_order(job: Followed, behind: tuple[str, ...]) -> tuple[str, ...]:
    """Ask a job to end, and wait until it has; return what is left to be ended by force."""
    if behind:  # at first: they begin when this one ends
        _order(job.system.cancel(behind))
    asking = job.system.ask_to_end(job.job_id)
    if asking is not None:
        _order(asking)
    end = time.monotonic() + _PATIENCE
    while not job.is_over():
        if time.monotonic() > end:
            return (job.job_id,)
        time.sleep(_LOOK_SECONDS)
    return ()


def _order(wanted: Command) -> None:
    from runner.batch.queue.call import ASK_SECONDS, call

    answer = call(wanted, seconds=ASK_SECONDS)
    if answer.returncode != 0:
        raise StartError(f"{wanted.argv[0]} refused: {answer.line or 'without a word'}")


def to_be_ended(job: Followed) -> tuple[str, ...]:
    """Return a job and the parts behind it; of several, not those that are over: systems complain."""
    job_ids = (job.job_id,) if job.submission is None else job.submission.left_of(job.job_id)
    if len(job_ids) == 1:
        return job_ids
    return tuple(job_id for job_id in job_ids if not replace(job, job_id=job_id).is_over())
