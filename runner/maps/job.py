"""A batch job for a map: what is asked of the batch system, and how it gets there."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner import files
from runner.errors import StartError, UsageError
from runner.launcher.speak import say
from runner.maps.layout import Layout
from runner.units import parse_duration, parse_size

if TYPE_CHECKING:
    from runner.batch.order import Order
    from runner.batch.queue.system import JobState
    from runner.batch.submission import Submission

#: One component at a time in a process, so that its death, its memory and its printing are its own; and a
#: process for each that dies.
_WORKERS = ("--threads", "1", "--restarts", "1000")


@dataclass(frozen=True, slots=True)
class Job:
    """A batch job that a map asks for; what is None is left to the site.

    Attributes
    ----------
    system : str or None
        The batch system, as ``runner submit`` names it; None takes the one that is here.
    nodes : int
        Machines.
    tasks_per_node : int or None
        Ranks on each; None takes one, or one for each GPU.
    cpus_per_task : int or None
        CPUs of each rank. Without GPUs each of them works at a component of its own.
    gpus_per_node : int or None
        GPUs on each machine; each works at a component of its own.
    memory : str or None
        On each machine, like ``"400G"``.
    time : str or None
        When the system may end the job, like ``"2:00:00"``.
    queue, account : str or None
        As the site has them.
    parts : int
        So many jobs one after the other, each to go on where the time ended the one before.
    site : str or None
        The name of a profile.
    directives : tuple of str
        Further options of the batch system, word for word.
    options : tuple of str
        Further options of the runner, as on its command line.

    Raises
    ------
    UsageError
        If a number is none, or a size or a time cannot be read.
    """

    system: str | None = None
    nodes: int = 1
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    gpus_per_node: int | None = None
    memory: str | None = None
    time: str | None = None
    queue: str | None = None
    account: str | None = None
    parts: int = 1
    site: str | None = None
    directives: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("nodes", "tasks_per_node", "cpus_per_task", "gpus_per_node", "parts"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < 1):
                raise UsageError(f"Job({name}={value!r}): that is no number of them", "give 1 or more")
        for name, parse in (("memory", parse_size), ("time", parse_duration)):
            if (text := getattr(self, name)) is not None:
                parse(text)

    def command(self, folder: Path) -> tuple[str, ...]:
        """Return what follows ``python -m runner`` in the job."""
        processes = None if self.gpus_per_node else self.cpus_per_task
        workers = () if processes is None else ("--workers", str(processes))
        return (*_WORKERS, *workers, *self.options, "resume", os.fspath(folder))

    def wishes(self, name: str) -> dict[str, Any]:
        """Return the fields of a :class:`~runner.batch.request.JobRequest` that are asked for."""
        wanted = {
            "nodes": self.nodes,
            "tasks_per_node": self.tasks_per_node or self.gpus_per_node or 1,
            "cpus_per_task": self.cpus_per_task,
            "gpus_per_node": self.gpus_per_node,
            "memory": self.memory and parse_size(self.memory),
            "walltime": self.time and parse_duration(self.time),
            "queue": self.queue,
            "account": self.account,
            "name": name,
            "directives": self.directives,
        }
        return {field: value for field, value in wanted.items() if value not in (None, ())}


def local_command(folder: Path) -> tuple[str, ...]:
    """Return what follows ``python -m runner`` for a map on this machine alone."""
    workers = ("--workers", str(len(os.sched_getaffinity(0))))
    return ("--local", "--quiet", *_WORKERS, *workers, "resume", os.fspath(folder))


def to_plain(job: Job | None) -> dict[str, Any] | None:
    """Return a job as plain values, to be kept in the map's folder."""
    return None if job is None else asdict(job)


def from_plain(values: Mapping[str, Any]) -> Job:
    """Rebuild what :func:`to_plain` made and JSON kept."""
    tuples = {name: tuple(values[name]) for name in ("directives", "options")}
    return Job(**{field.name: values[field.name] for field in fields(Job)} | tuples)


def order_for(job: Job, name: str, folder: Path) -> Order:
    """Return what is ordered from the batch system.

    Raises
    ------
    UsageError
        If the system, the site or a wish does not exist.
    StartError
        If no batch system is here.
    """
    from runner.batch.jobqueue import JobQueue
    from runner.batch.order import put_together
    from runner.batch.queue.systems import the_system_here
    from runner.batch.sites import Site, folders, load_site

    site = Site(name="") if job.site is None else load_site(job.site, folders(os.environ))
    system = job.system or site.system or the_system_here(lambda command: shutil.which(command) is not None)
    nothing = JobQueue(system="", wishes={}, passed_over={})
    return put_together(system, job.command(folder), job.wishes(name), nothing, site)


def submit(job: Job, layout: Layout) -> Submission:
    """Submit a job, or a chain of them, that goes on with a map; note it in the map's folder.

    Raises
    ------
    RunnerError
        If it cannot be submitted.
    """
    from runner.batch.queue.hand_in import hand_in
    from runner.batch.submission import save
    from runner.launcher.journal import submissions_folder

    order = order_for(job, layout.folder.name, layout.folder)
    submission = hand_in(order, layout.jobs, job.parts)
    try:
        content = json.dumps(asdict(submission), default=os.fspath)
        files.write_atomically(layout.submission, content.encode())
        save(submission, submissions_folder())
    except OSError as error:  # the job is worth more than our note of it
        say("runner", f"the submission cannot be noted down ({error}); the job is {submission.job_ids[0]}")
    return submission


def read_submission(layout: Layout) -> Submission | None:
    """Read which jobs were submitted last for a map; None if none were."""
    from runner.batch.submission import Submission

    try:
        content = json.loads(layout.submission.read_bytes())
    except (OSError, ValueError):
        return None
    paths = {name: Path(content[name]) for name in ("folder", "script")}
    return Submission(**{**content, **paths, "job_ids": tuple(content["job_ids"])})


def ask_for(submission: Submission) -> tuple[str, JobState] | None:
    """Ask how the first job is that is not over; None if all are.

    Raises
    ------
    StartError
        If the batch system cannot be asked.
    """
    from runner.batch.queue.call import ask
    from runner.batch.queue.systems import batch_system

    system = batch_system(submission.system)
    for job_id in submission.job_ids:
        state = ask(system, job_id)
        if state is not None and state.phase != "ended":
            return job_id, state
    return None


def cancel(submission: Submission) -> None:
    """End the jobs of a submission that are not over.

    Raises
    ------
    StartError
        If the batch system refuses, or cannot be asked.
    """
    from runner.batch.queue.call import ASK_SECONDS, ask, call
    from runner.batch.queue.systems import batch_system

    system = batch_system(submission.system)
    states = {job_id: ask(system, job_id) for job_id in submission.job_ids}
    there = tuple(job_id for job_id, state in states.items() if state and state.phase != "ended")
    if not there:
        return
    wanted = system.cancel(there)
    answer = call(wanted, seconds=ASK_SECONDS)
    if answer.returncode != 0:
        raise StartError(f"{wanted.argv[0]} refused: {answer.line or 'without a word'}")
