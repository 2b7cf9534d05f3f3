"""What a rank knows about itself and tells rank 0 before anybody has a role."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from runner.batch.allocation import Allocation
from runner.launcher.options import LaunchOptions
from runner.launcher.place import Place
from runner.node import gpus, memory, open_files, scratch


@dataclass(frozen=True, slots=True, kw_only=True)
class RankFacts:
    """One rank and the machine under it.

    Attributes
    ----------
    rank : int
        Its number.
    host : str
        The machine's name.
    pid : int
        The process that the launcher started.
    cpus : tuple of int
        The cores it may run on.
    memory : int
        Bytes that the whole job may use on the machine.
    gpus : tuple of str
        The devices it may see, as ``CUDA_VISIBLE_DEVICES`` names them.
    gpus_given : bool
        Whether that variable was set: then ranks with one device each may call different devices the same.
    gpu_ids : tuple of str
        The same devices by names that differ for different ones of the machine; empty where nobody tells.
    cpus_per_rank : int or None
        The cores meant for each rank, where the batch system says so.
    open_files : int
        How many files and connections a process of it may have open.
    resources : dict of str to float
        The tags that its workers were given (see ``--resources``).
    notes : tuple of str
        What people should know about the machine.
    """

    rank: int
    host: str
    pid: int
    cpus: tuple[int, ...]
    memory: int
    gpus: tuple[str, ...] = ()
    gpus_given: bool = False
    gpu_ids: tuple[str, ...] = ()
    cpus_per_rank: int | None = None
    open_files: int = 1024
    resources: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_message(self) -> dict[str, Any]:
        """Return plain values for the control channel."""
        return asdict(self)

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> RankFacts:
        """Rebuild what :meth:`to_message` made."""
        lists = {name: tuple(value) for name, value in message.items() if isinstance(value, list)}
        return cls(**{**message, **lists})


def gather_facts(
    place: Place, allocation: Allocation, environ: Mapping[str, str], options: LaunchOptions
) -> RankFacts:
    """Look at the machine, the batch system's gifts, and what is this rank's alone among the options."""
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    visible = gpus.visible_gpus(environ, gpus.present_gpus())
    given = "CUDA_VISIBLE_DEVICES" in environ
    notes = scratch.doubts(environ, options.scratch)
    if allocation.gpus_here and not visible and not given:
        notes += (f"{_gpus(allocation)}, and its ranks see none: CUDA_VISIBLE_DEVICES is not set",)
    return RankFacts(
        rank=place.rank,
        host=socket.gethostname(),
        pid=os.getpid(),
        cpus=cpus,
        memory=memory.memory_limit(asked=allocation.memory_per_node),
        gpus=visible,
        gpus_given=given,
        gpu_ids=allocation.gpu_ids if given and len(allocation.gpu_ids) == len(visible) else (),
        cpus_per_rank=allocation.cpus_per_task,
        open_files=open_files.limit(),
        resources=dict(options.resources),
        notes=notes,
    )


def _gpus(allocation: Allocation) -> str:
    return "1 GPU is the job's" if allocation.gpus_here == 1 else f"{allocation.gpus_here} GPUs are the job's"
