"""A run of a map in this very process, one component after the other.

For a debugger, and for components that are programs for the whole cluster themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from runner.errors import WriteError
from runner.maps.component import Work, run_component
from runner.maps.plan import LAST_WORDS, Durations
from runner.maps.record import Component
from runner.maps.runs import Heart


def run_here(
    work: Work,
    components: Sequence[Component],
    *,
    heart: Heart,
    seconds_left: Callable[[], float],
    on_progress: Callable[[int, int], None],
    stop_on_error: bool,
    function: Callable[[Any], Any] | None = None,
) -> int:
    """Run components until all are done or there is no time for another; return how many are left.

    Parameters
    ----------
    work, components
        What is to be done.
    heart : Heart
        Of our run.
    seconds_left, on_progress : callable
        As for :class:`runner.maps.drive.Drive`.
    stop_on_error : bool
        Whether a failure is the end.
    function : callable, optional
        To be debugged: it is called as it is, and what it prints is seen.

    Raises
    ------
    WriteError
        If results cannot be written.
    LostError
        If another process took the map over.
    """
    durations = Durations()
    for place, component in enumerate(components):
        heart.check()
        if seconds_left() < durations.long + LAST_WORDS:
            return len(components) - place
        heart.run = replace(heart.run, running={component.key: time.time()}, workers=1)
        outcome = run_component(work, component, capture=function is None, function=function)
        if outcome.state == "unwritten":
            raise WriteError(
                f"results cannot be written to {work.folder} ({outcome.problem})",
                "see to the space and the rights there",
            )
        durations.add(outcome.seconds)
        failed = outcome.state == "failed"
        run = heart.run
        heart.run = replace(run, done=run.done + (not failed), failed=run.failed + failed, running={})
        on_progress(heart.run.done, heart.run.failed)
        if failed and stop_on_error:
            return len(components) - place - 1
    return 0
