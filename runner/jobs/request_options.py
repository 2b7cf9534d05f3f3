"""The options with which a job is asked for: of ``runner jobscript`` and ``runner submit``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from runner.batch.order import Order

#: The batch systems, and mpi for machines without one. As in `runner.batch.script`, which is slow to import.
SYSTEMS = ("slurm", "pbs", "pbs-pals", "sge", "oar", "lsf", "lsf-jsrun", "htcondor", "flux", "mpi")

_FILE = click.Path(path_type=Path, dir_okay=False)

_OPTIONS = (
    click.option("--nodes", type=click.IntRange(1), help="Machines.  [1]"),
    click.option(
        "--ntasks-per-node", "tasks_per_node", type=click.IntRange(1), help="Ranks on each machine.  [1]"
    ),
    click.option("--cpus-per-task", type=click.IntRange(1), help="CPUs of each rank."),
    click.option("--gpus-per-node", type=click.IntRange(1), help="GPUs on each machine."),
    click.option("--gpu-type", metavar="NAME", help="The site's name of a kind of GPU."),
    click.option(
        "--gpu-style",
        metavar="STYLE",
        help="How the system is asked for GPUs: slurm knows gpus-per-node, gpus-per-task, gres and gpus; "
        'or a site\'s own words, like "-l gpu={per_node}".',
    ),
    click.option("--mem", "memory", metavar="SIZE", help="Memory on each machine, like 400G (G is GiB)."),
    click.option("--time", "walltime", metavar="TIME", help="When the system may end the job, like 2:00:00."),
    click.option("--queue", "--partition", metavar="NAME", help="Queue or partition."),
    click.option("--account", metavar="NAME", help="Account or project that pays."),
    click.option("--name", metavar="NAME", help="Name of the job.  [runner]"),
    click.option("--parallel-environment", metavar="NAME", help="For sge: the site's name of it.  [mpi]"),
    click.option(
        "--starter",
        type=click.Choice(("mpirun", "hosts")),
        help="What starts the ranks where the system does not: MPI, or runner launch-hosts.  [mpirun]",
    ),
    click.option(
        "--directive",
        "directives",
        metavar="TEXT",
        multiple=True,
        help="A further option of the system, word for word.",
    ),
    click.option("--site", metavar="NAME", help="Take what a computing centre wants from its profile."),
    click.option(
        "--jobqueue",
        type=_FILE,
        metavar="FILE",
        help="Take what means the same here from a configuration of dask-jobqueue (YAML).",
    ),
)


def request_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command all options of a request."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def read_order(
    system: str | None,
    command: tuple[str, ...],
    *,
    site: str | None,
    jobqueue: Path | None,
    find_system: Callable[[], str],
    **given: Any,
) -> Order:
    """Read what a job shall be from the options, and from the files that they name.

    Parameters
    ----------
    system : str or None
        The batch system, if it was named; else the file's, the site's, or the one that is found here.
    command : tuple of str
        What follows ``python -m runner``.
    site : str or None
        The name of a profile.
    jobqueue : Path or None
        A configuration of dask-jobqueue.
    find_system : callable
        Looks for the batch system of this machine.
    given
        The options as they were typed; None, or nothing, where they were not.

    Raises
    ------
    UsageError
        If something cannot be read, or the site would refuse it.
    """
    from runner.batch.jobqueue import JobQueue, read_jobqueue
    from runner.batch.order import put_together
    from runner.batch.sites import Site, folders, load_site
    from runner.errors import UsageError

    profile = Site(name="") if site is None else load_site(site, folders(os.environ))
    if system and profile.system and system != profile.system:
        raise UsageError(f"site {site} has {profile.system}, not {system}", "leave one of them out")
    system = system or profile.system
    file = JobQueue(system="", wishes={}, passed_over={})
    if jobqueue is not None:
        file = read_jobqueue(jobqueue, system)
    return put_together(system or file.system or find_system(), command, _typed(given), file, profile)


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    from runner.units import parse_duration, parse_size

    typed = {name: value for name, value in given.items() if value not in (None, ())}
    if "memory" in typed:
        typed["memory"] = parse_size(typed["memory"])
    if "walltime" in typed:
        typed["walltime"] = parse_duration(typed["walltime"])
    return typed


def say_passed_over(order: Order, file: Path | None) -> None:
    """Say what stood in a file and is not used."""
    for name, why in order.passed_over.items():
        click.echo(f"runner: {file}: {name} is not used: {why}", err=True)
