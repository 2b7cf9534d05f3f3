"""Effects: the batch system's commands are run, each for a bounded time."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from runner.batch.queue.system import BatchSystem, Command, JobState
from runner.errors import StartError

SUBMIT_SECONDS = 60.0  # a busy controller takes its time
ASK_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a command said."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def line(self) -> str:
        """All it said, in one line, what went wrong first."""
        return " ".join(f"{self.stderr} {self.stdout}".split())


def call(command: Command, *, seconds: float, environ: Mapping[str, str] | None = None) -> Answer:
    """Run a command of the batch system to its end.

    Raises
    ------
    StartError
        If it is not there, or does not answer in time.
    """
    with ExitStack() as stack:
        stdin = subprocess.DEVNULL if command.stdin is None else stack.enter_context(command.stdin.open("rb"))
        try:
            done = subprocess.run(
                command.argv,
                stdin=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
                env=environ,
            )
        except FileNotFoundError as error:
            raise StartError(
                f"there is no command {command.argv[0]} here", "do it where the batch system's commands are"
            ) from error
        except OSError as error:
            raise StartError(f"{command.argv[0]} cannot be run ({error.strerror})") from error
        except subprocess.TimeoutExpired as error:
            raise StartError(
                f"{command.argv[0]} did not answer within {seconds:g} s",
                "the batch system may be down, or busy",
            ) from error
    return Answer(returncode=done.returncode, stdout=done.stdout, stderr=done.stderr)


def ask(system: BatchSystem, job_id: str) -> JobState | None:
    """Ask how a job is.

    Returns
    -------
    JobState or None
        None if the system does not know the job, or not any more.

    Raises
    ------
    StartError
        If it cannot be asked.
    """
    first, *others = system.questions(job_id)
    for question in (first, *(other for other in others if shutil.which(other.command.argv[0]))):
        answer = call(question.command, seconds=ASK_SECONDS)
        if answer.returncode == 0:
            state = question.read(answer.stdout)
            if state is not None:
                return state
        elif not system.forgotten.search(answer.line):
            raise StartError(f"{question.command.argv[0]} says: {answer.line or 'nothing'}")
    return None
