"""How far a long job is, for people: a live bar on a terminal, a line now and then in a job's log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from runner.units import format_duration

_BAR_PERIOD = 0.2  # seconds
_LINE_PERIOD = 5.0
_BAR_WIDTH = 30


class ProgressMeter:
    """Shows a count on its way to a total.

    Parameters
    ----------
    total : int
        What it will be.
    noun : str
        What is counted: ``"slices"``.
    stream : TextIO
        Where to; a terminal gets a bar.
    clock : callable
        Seconds that never go back.
    """

    def __init__(
        self, total: int, noun: str, stream: TextIO, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._noun = noun
        self._stream = stream
        self._clock = clock
        self._live = stream.isatty()
        self._started = clock()
        self._shown_at = self._started
        self._shown = -1

    def update(self, count: int, working: str = "") -> None:
        """Show a count, if it is time to, or if it is the last one.

        Parameters
        ----------
        count : int
            How many there are.
        working : str
            What is being done, for as long as there are none.
        """
        now = self._clock()
        complete = count == self._total
        due = now - self._shown_at >= (_BAR_PERIOD if self._live else _LINE_PERIOD)
        if (due or complete) and not (complete and self._shown == count):
            self._show(count, now, working)

    def close(self) -> None:
        """Leave the bar's line, so that what follows begins on its own."""
        if self._live and self._shown >= 0:
            self._stream.write("\n")
            self._stream.flush()

    def _show(self, count: int, now: float, working: str) -> None:
        text = progress_text(count, self._total, self._noun, now - self._started, working)
        if self._live:
            filled = _BAR_WIDTH * count // self._total
            bar = "#" * filled + "-" * (_BAR_WIDTH - filled)
            self._stream.write(f"\r[{bar}] {text}\x1b[K")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()
        self._shown_at, self._shown = now, count


def progress_text(count: int, total: int, noun: str, seconds: float, working: str = "") -> str:
    """Say how far a job is, how fast, and how long it will take.

    >>> progress_text(50, 200, "slices", 10.0)
    '50/200 slices, 5.0 slices/s, 30.0 s left'
    >>> progress_text(0, 200, "slices", 10.0, "2 of 8 chunks are being made")
    '0/200 slices, 2 of 8 chunks are being made, for 10.0 s now'
    """
    text = f"{count}/{total} {noun}"
    if not count and working:
        text += f", {working}, for {format_duration(seconds)} now"
    if count and seconds > 0:
        rate = count / seconds
        text += f", {rate:.1f} {noun}/s, "
        text += (
            f"{format_duration((total - count) / rate)} left" if count < total else format_duration(seconds)
        )
    return text
