"""What all batch systems have in common: the words to ask with, and what an answer means. Pure."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from runner.errors import UsageError

Phase = Literal["waiting", "running", "ended"]

#: What a job that was ended from outside, by a person or the clock, counts as: 128 + SIGTERM.
STOPPED = 143


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the batch system, and the file that it reads as its standard input."""

    argv: tuple[str, ...]
    stdin: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """How a job is.

    Attributes
    ----------
    phase : {"waiting", "running", "ended"}
        Where in its life.
    word : str
        The same in the system's own words.
    exit_code : int or None
        As a shell counts (128 + signal), once it is over and known.
    """

    phase: Phase
    word: str
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A command, and what reads its answer: a state, or None where this answer has none."""

    command: Command
    read: Callable[[str], JobState | None]


class BatchSystem(ABC):
    """The commands of one batch system.

    Attributes
    ----------
    name, title : str
        As on our command line, and as people write it.
    forgotten : re.Pattern
        What its commands say about a job that they do not know, or not any more.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    forgotten: ClassVar[re.Pattern[str]]

    @abstractmethod
    def submit(self, script: Path, after: str | None = None) -> Command:
        """Return the command that hands in a script, to start when another job has ended, however it did.

        Raises
        ------
        UsageError
            If the system cannot let a job wait for another.
        """

    @abstractmethod
    def job_id(self, said: str) -> str | None:
        """Read the job's id from what the command printed."""

    @abstractmethod
    def questions(self, job_id: str) -> tuple[Question, ...]:
        """Return what to ask about a job, one after the other, until there is an answer."""

    @abstractmethod
    def cancel(self, job_ids: tuple[str, ...]) -> Command:
        """Return the command that ends jobs."""

    def ask_to_end(self, job_id: str) -> Command | None:  # noqa: ARG002  (most systems ask before they kill)
        """Return the command that asks a running job to end, where `cancel` kills without a warning."""
        return None

    @abstractmethod
    def log(self, name: str, job_id: str) -> str:
        """Return the file, seen from the folder of the submission, that our job scripts write to."""

    def log_in(self, said: str) -> Path | None:  # noqa: ARG002  (most systems do not tell)
        """Read where the output of any job goes from the answer to the first question, if it stands there."""
        return None

    @abstractmethod
    def watch(self, job_id: str) -> str:
        """Return the system's own command that shows a job, for people."""


def match(pattern: str, said: str) -> str | None:
    """Return the first group of a pattern found in what a command said."""
    found = re.search(pattern, said, re.MULTILINE)
    return found[1] if found else None


def no_chain(title: str, remedy: str) -> UsageError:
    """Say that a system cannot let a job wait for another one."""
    return UsageError(f"{title} lets no job wait for the end of another by itself", remedy)
