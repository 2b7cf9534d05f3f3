"""Decisions of a run: what comes next, how much of it at once, and whether there is time for it. Pure."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runner.maps.record import Component

MOST_DEATHS = (
    2  # of workers that ran this component and no other; the first may have been the machine's fault
)
LAST_WORDS = 2.0  # before the end, seconds: to give up what runs, and say so

_BUNCH_SECONDS = 0.5  # of work: the way to a worker and back takes some milliseconds
_LARGEST_BUNCH = 500
_SHORT_SECONDS = 2.0
_REMEMBERED = 400
_ALMOST_ALL = 0.9  # of the time: who had that and was not done needs more than there is


class Durations:
    """How long components take, by the last ones."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED)

    def add(self, seconds: float) -> None:
        """Note how long one took."""
        self._seconds.append(seconds)

    @property
    def mean(self) -> float | None:
        """The usual time; None before there is any."""
        return sum(self._seconds) / len(self._seconds) if self._seconds else None

    @property
    def long(self) -> float:
        """The time in which 19 of 20 are done; 0 before there is any."""
        ordered = sorted(self._seconds)
        return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else 0.0


def bunch_size(mean: float | None, waiting: int, slots: int, chunk: int | None) -> int:
    """Return how many components go to a worker at once.

    Parameters
    ----------
    mean : float or None
        Seconds that one takes; None if that is not known yet.
    waiting : int
        How many are left.
    slots : int
        How many bunches run at a time: at the end all of them shall have something to do.
    chunk : int or None
        What a person has chosen.

    >>> bunch_size(None, 1000, 4, None), bunch_size(0.01, 1000, 4, None), bunch_size(60.0, 1000, 4, None)
    (1, 50, 1)
    >>> bunch_size(0.01, 16, 4, None), bunch_size(60.0, 1000, 4, 10)
    (2, 10)
    """
    if chunk is not None:
        return chunk
    if mean is None:
        return 1
    fair = math.ceil(waiting / (2 * max(slots, 1)))
    return max(1, min(round(_BUNCH_SECONDS / max(mean, 1e-4)), fair, _LARGEST_BUNCH))


def ahead(mean: float | None, slots: int) -> int:
    """Return how many bunches wait on a worker for its next free moment.

    None where components are long: they are better off with the first worker that is free.

    >>> ahead(0.1, 4), ahead(60.0, 4), ahead(None, 4)
    (4, 0, 0)
    """
    return slots if mean is not None and mean < _SHORT_SECONDS else 0


def slots_of(worker: Mapping[str, Any], resources: Mapping[str, float] | None) -> int:
    """Return how many components a worker runs at a time.

    Parameters
    ----------
    worker : mapping
        What Dask's scheduler says about it: ``nthreads`` and ``resources``.
    resources : mapping of str to float, optional
        What one component takes. None: a GPU where the worker has one.

    >>> slots_of({"nthreads": 8, "resources": {"GPU": 1}}, None)
    1
    >>> slots_of({"nthreads": 8, "resources": {"GPU": 1}}, {})
    8
    >>> slots_of({"nthreads": 8, "resources": {}}, {"GPU": 1})
    0
    """
    has = worker.get("resources") or {}
    if resources is None:
        resources = {"GPU": 1} if has.get("GPU") else {}
    fits = [int(has.get(name, 0) // amount) for name, amount in resources.items() if amount > 0]
    return min([int(worker["nthreads"]), *fits])


def until(seconds_left: float, long: float, now: float) -> float:
    """Return the time after which no component is begun: of those before it, 19 of 20 are done in time."""
    return now + seconds_left - long - LAST_WORDS


def too_long(cut: Mapping[str, float], seconds_left: float) -> dict[str, float]:
    """Return the components that need more time than a job has, and what they have had.

    Parameters
    ----------
    cut : mapping of str to float
        Seconds that interrupted components had had.
    seconds_left : float
        Until the end of a job that begins now.

    >>> too_long({"a": 3590.0, "b": 200.0}, 3595.0)
    {'a': 3590.0}
    """
    most = _ALMOST_ALL * (seconds_left - LAST_WORDS)
    return {key: seconds for key, seconds in cut.items() if seconds >= most}


def in_order(components: Iterable[Component], cut: Mapping[str, float]) -> list[Component]:
    """Put those first that were interrupted, the longest before the others: they need the whole time."""
    return sorted(components, key=lambda component: -cut.get(component.key, 0.0))


class Waiting:
    """The components that are to be handed out, and those that may be what kills workers.

    When a worker dies, what ran on it is suspect, but may have been the victim of what ran in another thread.
    A suspect runs again with nothing beside it; only a worker that dies then is its doing.
    """

    def __init__(self, components: Iterable[Component]) -> None:
        self._fresh = deque(components)
        self._suspects: deque[Component] = deque()
        self._deaths: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._fresh) + len(self._suspects)

    @property
    def left(self) -> int:
        """How many are free of suspicion."""
        return len(self._fresh)

    def take(self, most: int) -> tuple[Component, ...]:
        """Take the next ones that may run beside others."""
        return tuple(self._fresh.popleft() for _ in range(min(most, len(self._fresh))))

    def take_suspect(self) -> Component | None:
        """Take one that must run alone."""
        return self._suspects.popleft() if self._suspects else None

    def put_back(self, components: Sequence[Component]) -> None:
        """Take back what was not begun."""
        self._fresh.extendleft(reversed(components))

    def died_with(self, component: Component, *, alone: bool) -> bool:
        """Note that a worker died that ran a component; tell whether that is enough to call it failed."""
        if alone:
            self._deaths[component.key] = self._deaths.get(component.key, 0) + 1
        if self._deaths.get(component.key, 0) >= MOST_DEATHS:
            return True
        self._suspects.append(component)
        return False
