"""What each process of a rank is told when it starts: plain values that travel as one message."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.launcher import logs
from runner.launcher.channel import Message
from runner.launcher.crew import job_environment
from runner.launcher.facts import RankFacts
from runner.launcher.options import LaunchOptions
from runner.launcher.program import Program
from runner.launcher.roles import WorkerPlan
from runner.launcher.security import Credentials, dask_settings

INSIDE_VARIABLE = "RUNNER_INSIDE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Specs:
    """Makes the specs of one rank's processes.

    Attributes
    ----------
    facts : RankFacts
        Which rank.
    program : Program
        What the client runs.
    options : LaunchOptions
        The same on every rank.
    environ : mapping
        The environment that the rank was started with.
    credentials : Credentials or None
        The job's, for Dask's connections.
    scratch : Path
        The rank's own folder.
    logs : Path
        Where its processes log.
    walltime : mapping
        Variables that tell the job and its tasks when the job ends; rank 0 knows.
    """

    facts: RankFacts
    program: Program
    options: LaunchOptions
    environ: Mapping[str, str]
    credentials: Credentials | None
    scratch: Path
    logs: Path
    walltime: Mapping[str, str] = field(default_factory=dict)

    def log_file(self, name: str) -> Path:
        """Return where a process logs to."""
        return logs.log_file(self.logs, self.facts, name)

    def scheduler(self, order: Message) -> dict[str, Any]:
        """Return what the scheduler is told; see :func:`runner.launcher.scheduler.run`."""
        # Dask gives a task up when it was on one worker more than this that died, and when no worker has
        # what it asks for, as long as a worker may take to come.
        limits = {
            "distributed.scheduler.allowed-failures": self.options.max_worker_deaths - 1,
            "distributed.scheduler.no-workers-timeout": f"{self.options.start_timeout} s",
        }
        return {
            "host": order["host"],
            "encrypt": self.credentials is not None,
            "dashboard": order["dashboard"],
            "port": self.options.scheduler_port,
            "dashboard_port": self.options.dashboard_port,
            "import_folder": self.program.import_folder,
            "dask": {**dask_settings(self.credentials), **limits},
            "program": " ".join(self.program.argv),
            "report": self.options.report is not None,
            **self._logging("scheduler"),
        }

    def worker(self, plan: WorkerPlan, *, name: str, scheduler: str, host: str) -> dict[str, Any]:
        """Return what a worker is told; see :func:`runner.launcher.worker.run`."""
        return {
            "name": name,
            "scheduler": scheduler,
            "host": host,
            "threads": plan.threads,
            "memory": plan.memory,
            "resources": plan.resources,
            "environment": {**self.walltime, "CUDA_VISIBLE_DEVICES": plan.gpu or ""},
            "folder": os.fspath(self.scratch),
            "import_folder": self.program.import_folder,
            "dask": dask_settings(self.credentials),
            "start_timeout": self.options.start_timeout,
            **self._logging(f"worker-{name}"),
        }

    def client(self, order: Message) -> dict[str, Any]:
        """Return what the client is told; see :func:`runner.launcher.client.run`."""
        inside = {INSIDE_VARIABLE: "1", "CUDA_VISIBLE_DEVICES": ""}
        return {
            "scheduler": order["scheduler"],
            "program": self.program.to_message(),
            "environment": {**job_environment(self.environ), **self.walltime, **inside},
            "dask": dask_settings(self.credentials),
            "start_timeout": self.options.start_timeout,
        }

    def _logging(self, name: str) -> dict[str, str]:
        screen = logs.prefix(self.facts, name) if self.options.verbose else ""
        return {"log": os.fspath(self.log_file(name)), "screen": screen}
