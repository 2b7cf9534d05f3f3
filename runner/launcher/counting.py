"""In the scheduler's process: how many tasks are done, told to the supervisor now and then."""

from __future__ import annotations

import asyncio
from typing import Any

from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin

from runner.launcher.channel import Channel

_TELL_SECONDS = 2.0


class TaskCount(SchedulerPlugin):
    """Counts tasks as they end; two comparisons per transition is all it costs."""

    name = "runner-task-count"

    def __init__(self) -> None:
        self.done = 0
        self.failed = 0

    def transition(self, key: Any, start: str, finish: str, *args: Any, **more: Any) -> None:  # noqa: ARG002 - Dask's
        """Count a task that leaves its worker."""
        if start == "processing":
            if finish == "memory":
                self.done += 1
            elif finish == "erred":
                self.failed += 1


def counts(scheduler: Scheduler, count: TaskCount) -> dict[str, int]:
    """Return the numbers of tasks, without a look at any single one."""
    return {
        "done": count.done,
        "failed": count.failed,
        "processing": sum(len(worker.processing) for worker in scheduler.workers.values()),
        "known": len(scheduler.tasks),
    }


async def tell_tasks(scheduler: Scheduler, channel: Channel) -> None:
    """Tell the supervisor the numbers of tasks whenever they changed."""
    count = TaskCount()
    scheduler.add_plugin(count)
    told: dict[str, int] = {}
    while True:
        now = counts(scheduler, count)
        if now != told:
            channel.send({"event": "tasks", "counts": now})
            told = now
        await asyncio.sleep(_TELL_SECONDS)
