"""Effects: a job script is written where it is kept, and handed in as one job or as a chain."""

from __future__ import annotations

import os
import time
from pathlib import Path

from runner.batch.chain import as_part
from runner.batch.order import Order
from runner.batch.queue.call import ASK_SECONDS, SUBMIT_SECONDS, call
from runner.batch.queue.systems import batch_system
from runner.batch.request import JobRequest
from runner.batch.script import render
from runner.batch.scrub import scrubbed
from runner.batch.submission import Submission
from runner.errors import StartError, WriteError


def hand_in(order: Order, parent: Path, parts: int) -> Submission:
    """Write the script, and submit it.

    Parameters
    ----------
    order : Order
        What is asked for.
    parent : Path
        The script gets a folder of its own in it.
    parts : int
        How many jobs run it, one after the other.

    Returns
    -------
    Submission
        What was submitted; it is not noted down yet.

    Raises
    ------
    WriteError
        If the script cannot be written.
    StartError
        If it cannot be submitted; what was submitted of a chain is cancelled.
    UsageError
        If the system has no words for what is asked, or no chains.
    """
    queue = batch_system(order.system)
    script = render(order.system, order.request)
    path = _new_folder(parent, order.request.name) / ("job.sub" if order.system == "htcondor" else "job.sh")
    if parts > 1:
        queue.submit(path, after="1")  # refuses where there are no chains, before anything is submitted
        script = as_part(script, path.with_name("ended"))
    try:
        path.write_text(script)
        path.chmod(0o755)
    except OSError as error:
        raise WriteError(f"the job script cannot be written to {path} ({error.strerror})") from error
    return Submission(
        system=order.system,
        job_ids=_hand_in(order, path, parts),
        name=order.request.name,
        folder=Path.cwd(),
        script=path,
        submitted=time.time(),
    )


def _new_folder(parent: Path, name: str) -> Path:
    """Make a folder for the job's script that no other submission has."""
    now = time.strftime("%Y%m%d-%H%M%S")
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
