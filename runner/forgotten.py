"""Tasks that a worker was given, does not have any more, and has told nothing of: else waited for in vain.

Dask sees to a worker that dies, and to a connection that breaks. This is for what nobody has foreseen: a wait
for a task that is not made any more ends in any case.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client, Future, Scheduler, Worker

_EVERY = 30.0  # seconds between two times to ask
_ANSWER = 10.0  # seconds; who does not answer then may be busy
# Dask's words for the states of a task
_TO_COME = frozenset({"waiting", "queued", "no-worker"})  # on the scheduler
_AT_REST = frozenset({"memory", "error", "released", "forgotten"})  # on a worker; others are to come, or run


class Watch:
    """Asks workers for what they are said to do.

    Parameters
    ----------
    client : Client
        Of the cluster.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._asked = time.monotonic()
        self._suspects: set[Future[Any]] = set()

    def forgotten(self, running: Mapping[Future[Any], str]) -> list[Future[Any]]:
        """Find the tasks that their workers do not have; call it often, it asks every half minute.

        Parameters
        ----------
        running : mapping of Future to str
            What is waited for, and the address of the worker that was given it.

        Returns
        -------
        list of Future
            Those of which their workers, two times in a row, knew nothing or had ended them.
        """
        if time.monotonic() - self._asked < _EVERY:
            return []
        waited_for = {future: worker for future, worker in running.items() if future.status == "pending"}
        absent = {future for future in self._absent(waited_for) if future.status == "pending"}
        twice, self._suspects = absent & self._suspects, absent
        self._asked = time.monotonic()
        return [future for future in waited_for if future in twice]

    def _absent(self, waited_for: Mapping[Future[Any], str]) -> list[Future[Any]]:
        """Ask for tasks that are not where they should be; workers that do not answer are believed."""
        keys = [future.key for future in waited_for]
        workers = sorted(set(waited_for.values()))

        async def ask() -> tuple[set[str], dict[str, set[Any]]]:
            handed_out = await self._client.run_on_scheduler(_handed_out, keys)
            return handed_out, await self._client.run(_at_work_on, workers=workers, on_error="ignore")

        async def ask_in_time() -> tuple[set[str], dict[str, set[Any]]]:
            return await asyncio.wait_for(ask(), _ANSWER)

        if not keys:
            return []
        try:
            handed_out, at_work_on = self._client.sync(ask_in_time)
        except Exception:  # noqa: BLE001  whatever is wrong with the cluster is found out, and told, elsewhere
            return []
        return [
            future
            for future, worker in waited_for.items()
            if future.key in handed_out and worker in at_work_on and future.key not in at_work_on[worker]
        ]


def _handed_out(keys: Iterable[str], dask_scheduler: Scheduler) -> set[str]:
    """On the scheduler: say which tasks do not wait for a worker any more, as for one that has paused."""
    tasks = dask_scheduler.tasks
    return {key for key in keys if key not in tasks or tasks[key].state not in _TO_COME}


def _at_work_on(dask_worker: Worker) -> set[Any]:
    """On a worker: say which of its tasks are to come, or run; it is not sent what a thousand others have."""
    return {key for key, task in dask_worker.state.tasks.items() if task.state not in _AT_REST}
