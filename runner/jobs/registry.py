"""The built-in jobs and tools by name; their modules are imported when they are asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from runner.jobs.auto import Foreseen


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A command of ours.

    Attributes
    ----------
    module : str
        Holds ``command`` (a click command) and, for a job, ``run(args) -> int``. One that can find out more
        beforehand than whether each option is right holds ``check(given)``, and one that can tell what it
        will need ``foresee(args, threads)``, see :class:`runner.jobs.auto.Foreseen`.
    on_cluster : bool
        Whether it runs in the client of a cluster (a job) or right away (a tool).
    summary : str
        One line for the list of commands.
    """

    module: str
    on_cluster: bool
    summary: str

    def command(self) -> click.Command:
        """Import the module and return its command."""
        found: click.Command = importlib.import_module(self.module).command
        return found

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse, before there is a cluster, what can be known to go wrong there.

        Parameters
        ----------
        given : mapping
            What the command was asked for, by its parameters.

        Raises
        ------
        RunnerError
            What the user has to mend.
        """
        module = importlib.import_module(self.module)
        if hasattr(module, "check"):
            module.check(given)

    def foresee(self) -> Callable[[Sequence[str], int], Foreseen] | None:
        """Import the module and return what tells what the job will need, if it has that."""
        return getattr(importlib.import_module(self.module), "foresee", None)


BUILT_INS = {
    "reconstruct": BuiltIn("runner.jobs.reconstruct", True, "Job: reconstruct a scan into a volume."),
    "center": BuiltIn("runner.jobs.center", True, "Job: find the rotation axis of a scan."),
    "serve": BuiltIn("runner.jobs.serve", True, "Job: keep the cluster for clients elsewhere."),
    "map": BuiltIn("runner.jobs.map", True, "Job: call a function with each of many arguments."),
    "resume": BuiltIn("runner.jobs.resume", True, "Job: go on with a map where it stopped."),
    "check": BuiltIn("runner.jobs.check", False, "Tool: say all that is wrong with a scan."),
    "info": BuiltIn("runner.jobs.info", False, "Tool: print what the launcher sees here."),
    "status": BuiltIn("runner.jobs.status", False, "Tool: show the jobs that run, or one of them."),
    "submit": BuiltIn("runner.jobs.submit", False, "Tool: submit a job to the batch system."),
    "wait": BuiltIn("runner.jobs.wait", False, "Tool: wait for a batch job, leave with its exit code."),
    "log": BuiltIn("runner.jobs.log", False, "Tool: print the output of a batch job."),
    "cancel": BuiltIn("runner.jobs.cancel", False, "Tool: end a batch job."),
    "maps": BuiltIn("runner.jobs.maps", False, "Tool: list the maps in a folder."),
    "rerun": BuiltIn("runner.jobs.rerun", False, "Tool: submit again what failed of a map."),
    "launch-hosts": BuiltIn("runner.jobs.launch_hosts", False, "Tool: start ranks over ssh, oarsh or qrsh."),
    "jobscript": BuiltIn("runner.jobs.jobscript", False, "Tool: print a job script for a batch system."),
    "simulate": BuiltIn("runner.jobs.simulate", False, "Tool: write a synthetic scan of a known object."),
}
