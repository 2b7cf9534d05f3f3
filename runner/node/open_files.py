"""How many files and connections a process may have open: as many as it can get, and enough for its part."""

from __future__ import annotations

import resource

_ENOUGH = 1 << 16  # more only slows down programs that go through all possible ones
_PER_WORKER = 3  # of the scheduler's connections
_OTHER = 64


def limit() -> int:
    """Return how many files this process may have open; no limit counts as enough."""
    return _number(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def raise_limit() -> None:
    """Raise the soft limit of this process, and of all that it starts, as far as is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(_number(hard), _ENOUGH)
    if _number(soft) < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _number(value: int) -> int:
    return _ENOUGH if value == resource.RLIM_INFINITY else value


def shortage(workers: int, allowed: int) -> str | None:
    """Say that a scheduler of so many workers may need more open files than it is allowed.

    >>> shortage(40, 256)
    >>> shortage(100, 256)
    'a scheduler of 100 workers may need 364 open files, 256 are allowed; raise the hard limit (ulimit -Hn)'
    """
    needed = _PER_WORKER * workers + _OTHER
    if needed <= allowed:
        return None
    return (
        f"a scheduler of {workers} workers may need {needed} open files, {allowed} are allowed; "
        "raise the hard limit (ulimit -Hn)"
    )
