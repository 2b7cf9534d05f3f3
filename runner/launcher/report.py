"""Dask's performance report, made by the scheduler: it outlives the job's process, however that ends."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner import files
from runner.errors import UsageError

if TYPE_CHECKING:  # the supervisor checks without importing Dask
    from distributed import Scheduler

_LOG = logging.getLogger(__name__)


def check_report(path: Path | None) -> None:
    """Refuse to promise a report that cannot be drawn.

    Raises
    ------
    UsageError
        If bokeh is not installed.
    """
    if path is not None and importlib.util.find_spec("bokeh") is None:
        raise UsageError(
            "--report needs bokeh, which is not installed",
            "install it with: pip install 'tomo-runner[dashboard]', or leave --report out",
        )


class Report:
    """Records what the report shows from the start on, and writes it in the end.

    Parameters
    ----------
    scheduler : Scheduler
        Running.
    program : str
        The job's command line, shown in the report.
    """

    def __init__(self, scheduler: Scheduler, program: str) -> None:
        from distributed.metrics import time

        self._scheduler = scheduler
        self._program = program
        self._started = time()
        self._measured_before = scheduler.monitor.count
        scheduler.get_task_stream(start=0, stop=0)  # from now on it is recorded

    async def write(self, path: Path) -> dict[str, Any]:
        """Write the report, and return what to tell the supervisor."""
        try:
            await asyncio.to_thread(importlib.import_module, "distributed.dashboard.components.scheduler")
            page = await self._scheduler.performance_report(
                start=self._started, last_count=self._measured_before, code=self._program
            )
            files.write_atomically(path, page.encode())
        except Exception as error:  # noqa: BLE001 - whatever its libraries raise; the job goes on to its end
            _LOG.exception("the report cannot be made")
            return {"event": "report", "problem": f"{type(error).__name__}: {error}"}
        return {"event": "report", "problem": ""}
