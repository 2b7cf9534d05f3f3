"""``dask_mpi.initialize`` and ``dask_mpi.execute``, on top of the launcher."""

# ruff: noqa: PLR0917 - the signatures are dask-mpi's

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runner.compat.rerun import become_runner, inside, mention_ignored, refuse, role_options, worker_words
from runner.errors import UsageError


def initialize(
    interface: str | None = None,
    nthreads: int | None = 1,
    local_directory: str | None = None,
    memory_limit: float | str | None = "auto",
    nanny: bool = False,
    dashboard: bool = True,
    dashboard_address: str | None = ":8787",
    protocol: str | None = None,
    worker_class: str = "distributed.Worker",
    worker_options: Mapping[str, Any] | None = None,
    comm: Any = None,
    exit: bool = True,  # noqa: A002 - dask-mpi's name
) -> bool:
    """Make the ranks a cluster, as ``dask_mpi.initialize``: only the client goes on behind this call.

    Parameters
    ----------
    interface, nthreads, local_directory, memory_limit, dashboard
        As there. Inside of a job the command line has decided on them already.
    nanny, dashboard_address, protocol, worker_class, worker_options
        Have no effect; what they ask for, such as replacing dead workers, the launcher does in its own way.
    comm, exit
        Only their defaults: our ranks are never handed back to MPI.

    Returns
    -------
    bool
        True: this is the client.

    Raises
    ------
    UsageError
        If `comm` or `exit` is given, or this is not a script that can be run again.
    WorldTooSmallException
        If a launcher started fewer than three ranks.
    """
    if not inside():
        _refuse_mpi("initialize", comm=comm is not None, exit=not exit)
        mention_ignored(
            "initialize",
            nanny=(nanny, False),
            dashboard_address=(dashboard_address, ":8787"),
            protocol=(protocol, None),
            worker_class=(worker_class, "distributed.Worker"),
            worker_options=(worker_options, None),
        )
        become_runner(
            *role_options(needed=3, why="one each for the scheduler, client and a worker"),
            *worker_words(interface, nthreads, local_directory, memory_limit),
            *([] if dashboard else ["--no-dashboard"]),
        )
    return True


def execute(
    client_function: Callable[..., Any] | None = None,
    client_args: Sequence[Any] = (),
    client_kwargs: Mapping[str, Any] | None = None,
    client_rank: int = 1,
    scheduler: bool = True,
    scheduler_rank: int = 0,
    scheduler_address: str | None = None,
    scheduler_port: int | None = None,
    scheduler_file: str | None = None,
    interface: str | None = None,
    nthreads: int | None = 1,
    local_directory: str | None = "",
    memory_limit: float | str | None = "auto",
    nanny: bool = False,
    dashboard: bool = True,
    dashboard_address: str | None = ":8787",
    protocol: str | None = None,
    exclusive_workers: bool = True,
    worker_class: str = "distributed.Worker",
    worker_options: Mapping[str, Any] | None = None,
    worker_name: str | None = None,
    comm: Any = None,
) -> None:
    """Call a function on a cluster made of the ranks, as ``dask_mpi.execute``.

    The script goes on behind this call on the client alone, and an exception in the function ends the job.

    Parameters
    ----------
    client_function, client_args, client_kwargs
        What to call, and with what.
    exclusive_workers
        Whether scheduler and client have ranks of their own.
    interface, nthreads, local_directory, memory_limit, dashboard, scheduler_file
        As there. Inside of a job the command line has decided on them already.
    client_rank, scheduler_rank, scheduler_port, nanny, dashboard_address, protocol, worker_class, \
worker_options, worker_name
        Have no effect: rank 0 has the scheduler, and the launcher chooses the client's rank.
    scheduler, scheduler_address, comm
        Only their defaults.

    Raises
    ------
    UsageError
        If there is no function, if `comm` or a scheduler of somebody else's is given, or if this is not a
        script that can be run again.
    WorldTooSmallException
        If a launcher started fewer ranks than the roles need.
    """
    if client_function is None:
        raise UsageError("execute() has no function to call", "for a cluster alone: runner serve")
    if inside():
        client_function(*client_args, **(client_kwargs or {}))
        return
    if not scheduler or scheduler_address is not None:
        raise UsageError("execute() cannot join a scheduler elsewhere", "use Client(address) in the script")
    _refuse_mpi("execute", comm=comm is not None)
    mention_ignored(
        "execute",
        client_rank=(client_rank, 1),
        scheduler_rank=(scheduler_rank, 0),
        scheduler_port=(scheduler_port, None),
        nanny=(nanny, False),
        dashboard_address=(dashboard_address, ":8787"),
        protocol=(protocol, None),
        worker_class=(worker_class, "distributed.Worker"),
        worker_options=(worker_options, None),
        worker_name=(worker_name, None),
    )
    needed = 1 + max(client_rank, scheduler_rank, exclusive_workers)
    become_runner(
        *role_options(
            needed=needed,
            why=f"with {client_rank=}, {scheduler_rank=}, {exclusive_workers=}",
            exclusive=exclusive_workers,
        ),
        *worker_words(interface, nthreads, local_directory, memory_limit),
        *([] if dashboard else ["--no-dashboard"]),
        *(["--scheduler-file", scheduler_file] if scheduler_file else []),
    )


def send_close_signal() -> None:
    """Do nothing: the cluster ends with the job."""


def _refuse_mpi(function: str, **given: bool) -> None:
    names = [f"{name}=" for name, is_given in given.items() if is_given]
    if names:
        refuse(
            f"{function}({', '.join(names)}) would hand ranks back to MPI, "
            "but each becomes a process of the launcher",
            "leave it out, or stay with dask-mpi for this script",
        )
