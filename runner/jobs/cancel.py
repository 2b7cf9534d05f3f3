"""The tool ``runner cancel``: end a batch job, and the parts of its chain that come behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from runner.errors import StartError
from runner.jobs.request_options import SYSTEMS

if TYPE_CHECKING:
    from runner.jobs.followed import Followed


@click.command(short_help="End a batch job.")
@click.argument("job")
@click.option("--system", type=click.Choice(SYSTEMS), help="The batch system.  [the job's, or the one here]")
def command(job: str, system: str | None) -> None:
    """End JOB: the batch system's id, or a name of runner status.

    Of a chain, the parts behind it end as well.
    """
    from runner.batch.queue.call import ASK_SECONDS, call
    from runner.jobs.followed import follow

    found = follow(job, system)
    job_ids = to_be_ended(found)
    if not job_ids:
        click.echo(f"{found.title} is over, and so are the parts behind it")
        return
    wanted = found.system.cancel(job_ids)
    answer = call(wanted, seconds=ASK_SECONDS)
    if answer.returncode != 0:
        raise StartError(f"{wanted.argv[0]} refused: {answer.line or 'without a word'}")
    click.echo(f"{found.system.title} was asked to end {', '.join(job_ids)}")


def to_be_ended(job: Followed) -> tuple[str, ...]:
    """Return a job and the parts behind it; of several, not those that are over: systems complain."""
    job_ids = (job.job_id,) if job.submission is None else job.submission.left_of(job.job_id)
    if len(job_ids) == 1:
        return job_ids
    return tuple(job_id for job_id in job_ids if not replace(job, job_id=job_id).is_over())
