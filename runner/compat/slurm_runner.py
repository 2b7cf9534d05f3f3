"""``dask_jobqueue.slurm.SLURMRunner``, on top of the launcher."""

# ruff: noqa: PLR0917 - the signature is dask-jobqueue's

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, NoReturn, Self

import dask

from runner.compat.rerun import become_runner, inside, mention_ignored, role_options, worker_words
from runner.errors import UsageError


class SLURMRunner:
    """The cluster of this job, as ``dask_jobqueue.slurm.SLURMRunner``: use it as a context manager.

    Parameters
    ----------
    scheduler_options, worker_class, loop, scheduler_file
        Have no effect.
    worker_options : mapping, optional
        `interface`, `nthreads`, `local_directory` and `memory_limit` have an effect outside of a job.
    scheduler, client, asynchronous
        Only their defaults for the first two; ``async with`` works as ``with`` does.

    Attributes
    ----------
    scheduler_address : str
        For ``Client(runner)``.
    n_workers : int
        How many workers there are.
    """

    def __init__(
        self,
        scheduler: bool = True,
        scheduler_options: Mapping[str, Any] | None = None,
        worker_class: str | None = None,
        worker_options: Mapping[str, Any] | None = None,
        client: bool = True,
        asynchronous: bool = False,  # noqa: ARG002 - as there
        loop: Any = None,  # noqa: ARG002 - as there
        *,
        scheduler_file: str = "",  # noqa: ARG002 - as there
    ) -> None:
        if not inside():
            if not (scheduler and client):
                raise UsageError("SLURMRunner() without a client or a scheduler", "use: runner serve")
            _become_runner(scheduler_options, worker_class, dict(worker_options or {}))
        from distributed import get_client
        from distributed.core import Status

        self.scheduler_address = str(dask.config.get("scheduler-address"))
        self.n_workers = len(get_client().nthreads())
        self.status = Status.running
        self._closed = Status.closed

    def close(self) -> Self:
        """Let no further client in; the cluster itself ends with the job. May be awaited."""
        self.status = self._closed
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.close()

    def __await__(self) -> Generator[None, None, Self]:
        yield from ()
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_failure: object) -> None:
        self.close()


def _become_runner(
    scheduler_options: Mapping[str, Any] | None, worker_class: str | None, given: dict[str, Any]
) -> NoReturn:
    names = ("interface", "nthreads", "local_directory", "memory_limit")
    known = [given.pop(name, None) for name in names]
    mention_ignored(
        "SLURMRunner",
        scheduler_options=(scheduler_options, None),
        worker_class=(worker_class, None),
        worker_options=(given, {}),
    )
    become_runner(
        *role_options(needed=3, why="one each for the scheduler, client and a worker"), *worker_words(*known)
    )
