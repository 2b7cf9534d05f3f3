"""Work shared by a few threads, for as long as it lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")


def share(work: Callable[[Part], None], parts: Iterable[Part], threads: int) -> None:
    """Do all parts; whoever is free takes the next one.

    The calling thread is one of the threads: memory that it has freed is at hand, in a new one it is not.

    Parameters
    ----------
    work : callable
        Does one part.
    parts : iterable
        What there is to do.
    threads : int
        How many, with the calling one.

    Raises
    ------
    Exception
        What `work` raised, when all have stopped.
    """
    rest = iter(list(parts))  # a list's iterator gives each part to one thread only

    def take() -> None:
        for part in rest:
            work(part)

    with ThreadPoolExecutor(max(threads - 1, 1), thread_name_prefix="share") as others:  # begun when needed
        running = [others.submit(take) for _ in range(threads - 1)]
        take()
    for one in running:
        one.result()
