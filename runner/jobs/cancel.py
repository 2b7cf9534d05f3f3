"""The tool ``runner cancel``: end a batch job, and the parts of its chain that come behind it."""

from __future__ import annotations

import click

from runner.errors import StartError
from runner.jobs.request_options import SYSTEMS


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
    job_ids = (found.job_id,) if found.submission is None else found.submission.left_of(found.job_id)
    wanted = found.system.cancel(job_ids)
    answer = call(wanted, seconds=ASK_SECONDS)
    if answer.returncode != 0:
        raise StartError(f"{wanted.argv[0]} refused: {answer.line or 'without a word'}")
    click.echo(f"{found.system.title} was asked to end {', '.join(job_ids)}")
