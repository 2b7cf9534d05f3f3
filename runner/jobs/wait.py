"""The tool ``runner wait``: wait for the end of a batch job, and leave with its exit code."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from runner.errors import StartError
from runner.jobs.request_options import SYSTEMS
from runner.launcher.speak import say

if TYPE_CHECKING:
    from runner.batch.queue.system import JobState
    from runner.jobs.followed import Followed

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 30.0  # many people who ask every second bring a batch system down
_GROWTH = 1.3
_FORGOTTEN_SECONDS = 45.0  # accounting learns of an end a little later than everybody else
_SILENT_SECONDS = 900.0


@click.command(short_help="Wait for a batch job, and leave with its exit code.")
@click.argument("job")
@click.option("--system", type=click.Choice(SYSTEMS), help="The batch system.  [the job's, or the one here]")
def command(job: str, system: str | None) -> int:
    """Wait until JOB is over: the batch system's id, or a name of runner status.

    Leaves with the job's exit code.
    """
    from runner.jobs.followed import follow

    return wait(follow(job, system))


def wait(job: Followed, *, sleep: Callable[[float], None] = time.sleep) -> int:
    """Return a job's exit code when it is over; say each change of its state.

    Raises
    ------
    StartError
        If the batch system does not know the job, or cannot be asked for a long time.
    """
    said, pause = "", _FIRST_PAUSE
    heard = known = time.monotonic()
    ever = False
    while True:
        try:
            state = job.state()
            heard = time.monotonic()
        except StartError as error:
            if time.monotonic() - heard > _SILENT_SECONDS:
                raise
            said = _say_change(job, f"cannot be asked for now ({error})", said)
        else:
            if state is not None:
                ever, known = True, time.monotonic()
                said = _say_change(job, _in_words(state), said)
                if state.phase == "ended":
                    return _exit_code(job, state)
            elif not ever or time.monotonic() - known > _FORGOTTEN_SECONDS:
                return _exit_code(job, None)
        sleep(pause)
        pause = min(_LONGEST_PAUSE, pause * _GROWTH)


def _in_words(state: JobState) -> str:
    return state.word if state.exit_code is None else f"{state.word}, exit code {state.exit_code}"


def _say_change(job: Followed, text: str, said: str) -> str:
    if text != said:
        say("runner", f"{job.title}: {text}")
    return text


def _exit_code(job: Followed, state: JobState | None) -> int:
    code = job.exit_code_on_record() if state is None or state.exit_code is None else state.exit_code
    if code is not None:
        return code
    if state is None:
        raise StartError(
            f"{job.system.title} does not know job {job.job_id}", "it may be over for long, or mistyped"
        )
    raise StartError(f"{job.title} is over ({state.word}), and nobody knows its exit code")
