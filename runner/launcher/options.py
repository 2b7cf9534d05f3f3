"""Everything that a person may ask of the launcher, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

RolePolicy = Literal["auto", "dedicated", "shared"]
Rendezvous = Literal["auto", "file", "mpi"]

ROLE_POLICIES: tuple[str, ...] = get_args(RolePolicy)
RENDEZVOUS: tuple[str, ...] = get_args(Rendezvous)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchOptions:
    """How the ranks become a cluster.

    Attributes
    ----------
    workers : int or None
        Worker processes on each rank; None chooses: one on a rank of a launcher, as many as suit
        the cores where there is no launcher.
    threads : int or None
        Task threads of each worker; None shares the rank's cores among its workers.
    memory_limit : int or None
        Bytes for each worker; None shares what the job may use on the machine.
    resources : mapping of str to float
        What each worker of this rank has for its tasks, besides its GPU. It alone may differ between ranks.
    roles : {"auto", "dedicated", "shared"}
        Whether scheduler and client get ranks of their own.
    rendezvous : {"auto", "file", "mpi"}
        How the ranks find rank 0.
    rendezvous_folder : Path or None
        A folder that all ranks see; None takes ``~/.cache/runner``.
    interface : str or None
        The network interface for all connections; None probes.
    local : bool
        Use this machine only, whatever the batch system gave.
    start_timeout : float
        Seconds for all ranks to be there, and as many again for all workers.
    silence_timeout : float
        Seconds without a word after which a rank counts as lost: its machine hangs, or is cut off.
    stop_timeout : float
        Seconds for a process to end in good order before it is killed.
    min_workers : int or None
        The job starts and goes on with this many; None asks for all at the start and one later.
    restarts : int
        How often a rank replaces worker processes that died.
    max_worker_deaths : int
        After so many workers died with the same task the task fails, and with it a job that needs it.
    time_limit : float or None
        Seconds after which the job is stopped; None leaves it to the batch system's end.
    drain : float or None
        Seconds before its end at which the job is told; 0 does not tell it, None chooses.
    requeue : bool
        Ask SLURM to run the job again when it ends with 75.
    scratch : Path or None
        A folder on each machine for spilled data; None asks the environment.
    logs : Path or None
        A folder in which each job gets one with a log file per process; None keeps them in the scratch
        folder, which goes with the job.
    verbose : bool
        Show the log lines on standard error as well.
    status_folder : Path or None
        Where the record of the running job lies for ``runner status``; None takes ``~/.cache/runner/jobs``.
    summary : Path or None
        A file for the record of the job at its end.
    report : Path or None
        A file for Dask's performance report, written when the job ends, however it ends.
    scheduler_file : Path or None
        A file for clients that are not the job: the scheduler's address, and the job's credentials.
    scheduler_port : int
        The port of the scheduler; 0 takes any that is free.
    dashboard_port : int
        The port of the dashboard; another one if it is taken.
    dashboard : bool
        Serve Dask's dashboard on the scheduler's loopback address.
    encrypt : bool
        TLS with one-time credentials on every connection.
    quiet : bool
        Print nothing but problems.
    """

    workers: int | None = None
    threads: int | None = None
    memory_limit: int | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    roles: RolePolicy = "auto"
    rendezvous: Rendezvous = "auto"
    rendezvous_folder: Path | None = None
    interface: str | None = None
    local: bool = False
    start_timeout: float = 300.0
    silence_timeout: float = 10.0
    stop_timeout: float = 0.8
    min_workers: int | None = None
    restarts: int = 10
    max_worker_deaths: int = 3
    time_limit: float | None = None
    drain: float | None = None
    requeue: bool = False
    scratch: Path | None = None
    logs: Path | None = None
    verbose: bool = False
    status_folder: Path | None = None
    summary: Path | None = None
    report: Path | None = None
    scheduler_file: Path | None = None
    scheduler_port: int = 0
    dashboard_port: int = 8787
    dashboard: bool = True
    encrypt: bool = True
    quiet: bool = False
