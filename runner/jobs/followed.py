"""A job that was handed to a batch system: found again by its id, asked about, its output found."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.errors import MissingFileError, StartError, UsageError

if TYPE_CHECKING:
    from runner.batch.queue.system import BatchSystem, JobState
    from runner.batch.submission import Submission


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A job of a batch system.

    Attributes
    ----------
    system : BatchSystem
        Its commands.
    job_id : str
        The system's name of the job.
    submission : Submission or None
        How it came there, if ``runner submit`` put it there.
    """

    system: BatchSystem
    job_id: str
    submission: Submission | None = None

    @property
    def title(self) -> str:
        """The job for people."""
        return f"{self.system.title} job {self.job_id}"

    def state(self) -> JobState | None:
        """Ask the system how the job is; None if it does not know it (any more).

        Raises
        ------
        StartError
            If it cannot be asked.
        """
        from runner.batch.queue.call import ask

        return ask(self.system, self.job_id)

    def is_over(self) -> bool:
        """Tell whether the job is over, as far as the system can be asked."""
        try:
            state = self.state()
        except StartError:
            return False
        return state is None or state.phase == "ended"

    def is_running(self) -> bool:
        """Tell whether the system says that the job runs."""
        state = self.state()
        return state is not None and state.phase == "running"

    def exit_code_on_record(self) -> int | None:
        """Return the exit code that the job itself wrote down at its end."""
        from runner.launcher.journal import default_folder, read_records

        codes = [
            record.exit_code
            for record in read_records(default_folder())
            if (record.system, record.job_id) == (self.system.name, self.job_id)
        ]
        return codes[-1] if codes else None

    def log(self) -> Path:
        """Return the file with the job's output.

        Raises
        ------
        MissingFileError
            If nobody knows which it is.
        """
        from runner.batch.queue.call import ASK_SECONDS, call

        if self.submission is not None:
            return self.submission.folder / self.system.log(self.submission.name, self.job_id)
        path = self.system.log_in(
            call(self.system.questions(self.job_id)[0].command, seconds=ASK_SECONDS).stdout
        )
        if path is None:
            raise MissingFileError(
                f"{self.system.title} does not tell where the output of job {self.job_id} goes",
                "jobs from runner submit are known",
            )
        return path


def last_submission(name: str) -> Submission | None:
    """Return what was submitted last for a map; None if there is no map of that name, or nothing was."""
    from runner.maps.job import read_submission
    from runner.maps.layout import find_map

    try:
        return read_submission(find_map(name, os.environ))
    except MissingFileError:
        return None


def is_map(name: str) -> bool:
    """Tell whether there is a map of that name here."""
    from runner.maps.layout import find_map

    try:
        find_map(name, os.environ)
    except (MissingFileError, UsageError):
        return False
    return True


def follow(job: str, system: str | None = None) -> Followed:
    """Find a job by the batch system's id, by its name in ``runner status``, or by the map that it is for.

    Parameters
    ----------
    job : str
        The id or name; of a chain for a map, its last part.
    system : str, optional
        The batch system, where a job that others submitted shall be found and there are several.

    Raises
    ------
    UsageError
        If it is a job outside of any batch system, or a map that has no batch job.
    StartError
        If there is no batch system here.
    """
    from runner.batch.queue.systems import BATCH_SYSTEMS, batch_system, the_system_here
    from runner.batch.submission import find
    from runner.launcher.journal import default_folder, read_records, submissions_folder

    records = read_records(default_folder())
    job_id = job
    if (of_map := last_submission(job)) is not None:
        return Followed(system=batch_system(of_map.system), job_id=of_map.job_ids[-1], submission=of_map)
    for record in records:
        if record.name == job:
            if record.job_id is None:
                raise UsageError(
                    f"{job} is no batch job", f"to stop it: {record.stop_with or 'runner status'}"
                )
            job_id, system = record.job_id, system or record.system
    if job_id == job and system is None and is_map(job):
        raise UsageError(f"map {job} has no batch job", f"see how it is: runner status {job}")
    alike = None
    if system is not None:
        kind = batch_system(system).name
        alike = {name for name, other in BATCH_SYSTEMS.items() if other.name == kind}
    submission = find(job_id, submissions_folder(), alike)
    if submission is not None:
        full = next(one for one in submission.job_ids if job_id in (one, one.partition(".")[0]))
        return Followed(system=batch_system(submission.system), job_id=full, submission=submission)
    if system is None:  # a job that somebody submitted without us, or a task of an array, wrote where it runs
        system = next((record.system for record in reversed(records) if record.job_id == job_id), None)
    name = system or the_system_here(lambda command: shutil.which(command) is not None)
    return Followed(system=batch_system(name), job_id=job_id)
