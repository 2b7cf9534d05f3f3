"""Who does what: from the facts of all ranks and a policy to the processes of each rank.

Pure. Scheduler and client get ranks of their own only where ranks are to spare, so that no GPU idles
and no machine is left without a worker; otherwise they live beside a worker.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from runner.errors import UsageError
from runner.launcher.facts import RankFacts
from runner.launcher.options import LaunchOptions
from runner.launcher.resources import GPU
from runner.node.gpus import choose_gpu

# From this many ranks on, two of them cost less than a quarter of the workers.
_MANY = 8
_MEMORY_SHARE = 0.95  # the rest is for scheduler, client and the interpreters themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """One worker process.

    Attributes
    ----------
    name : str
        Unique in the cluster: ``"3"`` for the only worker of rank 3, else ``"3-0"``, ``"3-1"`` ...
    threads : int
        Task threads.
    memory : int
        Bytes after which Dask pauses it.
    gpu : str or None
        The one device it sees.
    shared_gpu : bool
        Whether another worker of the same rank has the same device.
    resources : dict of str to float
        What its tasks may ask for, ``"GPU"`` among it.
    """

    name: str
    threads: int
    memory: int
    gpu: str | None = None
    shared_gpu: bool = False
    resources: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duty:
    """What one rank runs."""

    rank: int
    scheduler: bool = False
    client: bool = False
    workers: tuple[WorkerPlan, ...] = ()

    def to_message(self) -> dict[str, Any]:
        """Return plain values for the control channel."""
        return asdict(self)

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Duty:
        """Rebuild what :meth:`to_message` made."""
        return cls(**{**message, "workers": tuple(WorkerPlan(**plan) for plan in message["workers"])})


def assign(ranks: Sequence[RankFacts], options: LaunchOptions) -> tuple[Duty, ...]:
    """Give every rank its duty.

    Parameters
    ----------
    ranks : sequence of RankFacts
        All ranks that are there, in order; the first one holds the scheduler.
    options : LaunchOptions
        `roles`, `workers`, `threads`, `memory_limit` are read.

    Raises
    ------
    UsageError
        If dedicated roles are asked of fewer than three ranks.
    """
    scheduler, client = ranks[0].rank, _client_rank(ranks, options)
    dedicated = _dedicated_ranks(ranks, client, options)
    serving = [facts for facts in ranks if facts.rank not in dedicated]
    duties = {
        facts.rank: Duty(rank=facts.rank, scheduler=facts.rank == scheduler, client=facts.rank == client)
        for facts in ranks
    }
    for host in dict.fromkeys(facts.host for facts in serving):
        for rank, plans in _plan_host([facts for facts in serving if facts.host == host], options).items():
            duties[rank] = replace(duties[rank], workers=plans)
    return tuple(duties[facts.rank] for facts in ranks)


def assign_late(late: RankFacts, ranks: Sequence[RankFacts], options: LaunchOptions) -> Duty:
    """Give a rank that arrives when the job already runs its duty: to work.

    Parameters
    ----------
    late : RankFacts
        The rank.
    ranks : sequence of RankFacts
        Those that are there already.
    options : LaunchOptions
        As for :func:`assign`.
    """
    local = [facts for facts in ranks if facts.host == late.host]
    return Duty(rank=late.rank, workers=_plan_host([*local, late], options)[late.rank])


def _client_rank(ranks: Sequence[RankFacts], options: LaunchOptions) -> int:
    """Return the rank of the client: one of its own if possible, else that of the scheduler."""
    first = ranks[0].rank
    if options.roles == "shared":
        return first
    if options.roles == "dedicated":
        if len(ranks) < 3:  # scheduler, client, and somebody to work
            raise UsageError(
                f"--roles dedicated needs 3 ranks or more, there are {len(ranks)}",
                "start more ranks, or use --roles shared",
            )
        return ranks[1].rank
    if not _is_spare(ranks[0], ranks):
        return first
    return next((facts.rank for facts in ranks[1:] if _is_spare(facts, ranks, taken=first)), first)


def _dedicated_ranks(ranks: Sequence[RankFacts], client: int, options: LaunchOptions) -> frozenset[int]:
    """Return the ranks that run no worker."""
    first = ranks[0].rank
    if options.roles == "shared":
        return frozenset()
    if client != first:
        return frozenset((first, client))
    # one spare rank is enough for scheduler and client together
    return frozenset((first,)) if _is_spare(ranks[0], ranks) else frozenset()


def _is_spare(facts: RankFacts, ranks: Sequence[RankFacts], taken: int | None = None) -> bool:
    """Tell whether a rank can do without a worker, when the rank `taken` already does."""
    local = [other for other in ranks if other.host == facts.host]
    left = [other for other in local if other.rank != taken]
    others = [other for other in ranks if other.rank not in (facts.rank, taken)]
    if not set(facts.resources) <= {name for other in others for name in other.resources}:
        return False  # nobody else has such a worker
    if facts.gpus:
        return _gpus_used_by([other for other in left if other is not facts]) >= _gpus_used_by(left)
    return len(ranks) >= _MANY and len(left) > 1


def _gpus_used_by(local: Sequence[RankFacts]) -> int:
    """Count the devices that ranks of one machine would use with a worker each."""
    devices = _devices(local, {facts.rank: 1 for facts in local})
    return sum(device is not None for (device,) in devices.values())


def devices_of(local: Sequence[RankFacts]) -> dict[int, tuple[str, ...]]:
    """Return the devices that each rank of one machine sees, by names that differ for different ones.

    Where a batch system gave every rank that sees any just one, and says no more, each has its own: under a
    device control group all of them are called ``"0"``.
    """
    one_each = all(facts.gpus_given and len(facts.gpus) == 1 for facts in local if facts.gpus)
    names = {facts.rank: facts.gpu_ids or facts.gpus for facts in local}
    if one_each and not any(facts.gpu_ids for facts in local):
        return {rank: tuple(f"{name} of rank {rank}" for name in listed) for rank, listed in names.items()}
    return names


def _plan_host(local: Sequence[RankFacts], options: LaunchOptions) -> dict[int, tuple[WorkerPlan, ...]]:
    """Plan the workers of all ranks on one machine."""
    counts = {facts.rank: options.workers or 1 for facts in local}
    total = sum(counts.values())
    memory = options.memory_limit or int(min(facts.memory for facts in local) * _MEMORY_SHARE) // total
    devices = _devices(local, counts)
    uses = {rank: Counter(listed) for rank, listed in devices.items()}
    return {
        facts.rank: tuple(
            WorkerPlan(
                name=f"{facts.rank}" if counts[facts.rank] == 1 else f"{facts.rank}-{number}",
                threads=options.threads or _threads(facts, local, counts[facts.rank]),
                memory=memory,
                gpu=device,
                shared_gpu=device is not None and uses[facts.rank][device] > 1,
                resources=({GPU: 1.0} if device is not None else {}) | facts.resources,
            )
            for number, device in enumerate(devices[facts.rank])
        )
        for facts in local
    }


def _devices(local: Sequence[RankFacts], counts: Mapping[int, int]) -> dict[int, tuple[str | None, ...]]:
    """Choose a device for each worker; ranks beyond the number of devices work on the CPU."""
    seen = devices_of(local)
    seen_by = Counter(device for devices in seen.values() for device in devices)
    uses: Counter[str] = Counter()
    chosen: dict[int, tuple[str | None, ...]] = {}
    for facts in local:
        devices = dict(zip(seen[facts.rank], facts.gpus, strict=True))
        own = facts.gpus_given and all(seen_by[device] == 1 for device in devices)
        picked = []
        for _ in range(counts[facts.rank]):
            device = choose_gpu(tuple(devices), uses, own=own)
            picked.append(None if device is None else devices[device])
            uses.update(() if device is None else (device,))
        chosen[facts.rank] = tuple(picked)
    return chosen


def _threads(facts: RankFacts, local: Sequence[RankFacts], workers: int) -> int:
    """Share the cores of a rank with the ranks that run on the same ones, and among its workers."""
    sharing = [other for other in local if set(other.cpus) & set(facts.cpus)]
    cores = len(facts.cpus) // len(sharing)
    if facts.cpus_per_rank is not None:
        cores = min(facts.cpus_per_rank, cores)  # mpirun may start more ranks than the batch system knows of
    return max(1, cores // workers)


def local_workers(cores: int) -> int:
    """Return how many workers suit one machine where nobody said: few, with several threads each.

    >>> [local_workers(cores) for cores in (1, 2, 4, 8, 64)]
    [1, 2, 4, 4, 8]
    """
    return cores if cores <= 4 else max(4, math.isqrt(cores))
