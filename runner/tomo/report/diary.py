"""What is said while a reconstruction runs: passed on, and kept for the page about it."""

from __future__ import annotations

import time
from collections.abc import Callable

from runner.tomo.dispatch import Failure
from runner.tomo.missing import row_ranges


class Diary:
    """Keeps what is said.

    Parameters
    ----------
    on_note : callable
        Called with each line.

    Attributes
    ----------
    begun : float
        When it was opened, seconds since 1970.
    notes : list of str
        The lines.
    retries : list of Failure
        Attempts that failed, of chunks that were tried again.
    """

    def __init__(self, on_note: Callable[[str], None]) -> None:
        self._on_note = on_note
        self.begun = time.time()
        self.notes: list[str] = []
        self.retries: list[Failure] = []

    def __call__(self, text: str) -> None:
        """Keep a line, and pass it on."""
        self.notes.append(text)
        self._on_note(text)

    def retry(self, failure: Failure) -> None:
        """Note that a chunk is tried again."""
        self.retries.append(failure)
        self(f"warning: rows {row_ranges([failure.chunk])} are made again ({failure.cause})")
