"""The same function on this allocation, on this machine, on a queue, or on a cluster that runs already."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from runner.client import connect, reach
from runner.errors import StartError, UsageError
from runner.launcher.roles import local_workers
from runner.units import parse_duration

if TYPE_CHECKING:
    from distributed import Client

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

#: dask-jobqueue's clusters by the name of their section in Dask's configuration.
QUEUES = {
    "slurm": "SLURMCluster",
    "sge": "SGECluster",
    "oar": "OARCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "htcondor": "HTCondorCluster",
    "moab": "MoabCluster",
}
_ANSWER = 10.0  # for a scheduler that runs already, seconds
_WORDS = "allocation, local, jobqueue:NAME, an address like tcp://HOST:PORT, or a scheduler file"


@contextmanager
def cluster(where: str | None = None, *, timeout: float | str = "5m", **options: Any) -> Iterator[Client]:
    """Give a client of a cluster; what was started for it ends with the block.

    Parameters
    ----------
    where : str, optional
        ``"allocation"``: the cluster of the runner's job that this program is in.
        ``"local"``: this machine alone.
        ``"jobqueue:slurm"`` (or sge, oar, pbs, lsf, htcondor, moab): batch jobs of dask-jobqueue, configured
        as ever, with `options`; ``jobs=N`` says how many.
        ``"tcp://HOST:PORT"`` or ``"tls://HOST:PORT"``: a scheduler that runs already.
        Anything else: a scheduler file, of ``runner --scheduler-file`` or of Dask.
        If not given: the allocation inside of a runner's job, else this machine.
    timeout : float or str
        For the scheduler and a first worker to be there, seconds or like ``"5m"``.
    **options
        For the local cluster, that of dask-jobqueue, or the client of one that runs already.

    Yields
    ------
    distributed.Client
        The default client in the block: Dask collections compute on it.

    Raises
    ------
    UsageError
        If there is no such place, or this program is not in a job of the runner.
    LostError
        If a scheduler does not answer.
    StartError
        If no worker comes in time.

    Examples
    --------
    >>> import runner
    >>> with runner.cluster("local", n_workers=1, processes=False) as client:
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    where = where or ("allocation" if _allocation() else "local")
    seconds = parse_duration(timeout) if isinstance(timeout, str) else float(timeout)
    with ExitStack() as stack:
        client = stack.enter_context(_client(where, seconds, stack, options))
        _wait_for_a_worker(client, where, seconds)
        yield client


def on_allocation(
    where: str | None = None, **options: Any
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Run a function with a cluster around it, as by `cluster` with the same arguments.

    A parameter named ``client`` that is not given gets the cluster's client.

    Examples
    --------
    >>> import runner
    >>> @runner.on_allocation("local", n_workers=1, processes=False)
    ... def double(numbers, client=None):
    ...     return client.gather(client.map(lambda number: 2 * number, numbers))
    >>> double([1, 2])
    [2, 4]
    """

    def wrap(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        takes_client = "client" in inspect.signature(function).parameters

        @functools.wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            with cluster(where, **options) as client:
                if takes_client:
                    kwargs.setdefault("client", client)
                return function(*args, **kwargs)

        return call

    return wrap


def _client(where: str, seconds: float, stack: ExitStack, options: dict[str, Any]) -> Client:
    from distributed import Client, LocalCluster

    if where == "allocation":
        if not (address := _allocation()):
            raise UsageError(
                "this program is in no job of the runner",
                "start it by: srun python -m runner PROGRAM; or choose another cluster: " + _WORDS,
            )
        return reach(address, timeout=seconds, **options)
    if where == "local":
        chosen = {"n_workers": local_workers(len(os.sched_getaffinity(0))), "dashboard_address": ":0"}
        return Client(stack.enter_context(LocalCluster(**(chosen | options))), timeout=seconds)
    if where.startswith("jobqueue:"):
        return Client(stack.enter_context(_queue(where.partition(":")[2], options)), timeout=seconds)
    if "://" in where:
        return reach(where, timeout=min(seconds, _ANSWER), **options)
    if not Path(where).exists():
        raise UsageError(f"there is no cluster {where!r}", f"give {_WORDS}")
    return connect(where, timeout=min(seconds, _ANSWER), **options)


def _queue(name: str, options: dict[str, Any]) -> Any:
    """Ask a batch system for jobs that each hold workers."""
    if name not in QUEUES:
        raise UsageError(f"there is no jobqueue:{name}", "choose one of " + ", ".join(QUEUES))
    try:
        import dask_jobqueue
    except ImportError as error:
        raise UsageError(
            f"jobqueue:{name} needs dask-jobqueue, which is not installed", "pip install dask-jobqueue"
        ) from error
    jobs = options.pop("jobs", 1)
    try:
        made = getattr(dask_jobqueue, QUEUES[name])(**options)
    except (TypeError, ValueError) as error:  # of an option, or for want of one
        raise UsageError(f"jobqueue:{name}: {error}", f"see Dask's configuration, jobqueue.{name}") from error
    made.scale(jobs=jobs)
    return made


def _wait_for_a_worker(client: Client, where: str, seconds: float) -> None:
    try:
        client.wait_for_workers(1, timeout=seconds)
    except TimeoutError as error:
        raise StartError(
            f"no worker of {where} came in {seconds:.0f} s", "is the queue full? See the logs of its jobs"
        ) from error


def _allocation() -> str | None:
    """Return the scheduler that the runner, or whoever started this program, told Dask of."""
    import dask

    address: str | None = dask.config.get("scheduler-address", None)
    return address
