"""How large a batch job should be for work whose speed was measured here."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

from runner.batch.order import Order
from runner.batch.request import JobRequest
from runner.batch.script import not_there
from runner.errors import UsageError
from runner.units import format_duration, format_size

MARGIN = 2
"""The walltime is the prediction so many times: other disks, other processors, other users."""

START = 300.0
"""On top, seconds: for the job to start and to end."""

USUAL = 3600.0
"""The walltime to stay below where none is given, seconds: short jobs start early."""

MOST_NODES = 64
"""To look at; whoever wants more says how many."""

_STEP = 300.0  # walltimes are told in whole steps, seconds
_GIB = 1 << 30
_OVERHEAD = _GIB // 2  # of a machine's memory: supervisors, scheduler and client
_ROOM = 1.25  # of memory above what is wanted, as a worker pauses before its limit


class Foreseen(Protocol):
    """What is known beforehand of a job."""

    def memory(self, workers: int, threads: int) -> int:
        """Tell how much memory each worker wants, bytes."""

    def seconds(self, workers: int, threads: int, memory: int) -> float:
        """Predict the wall time with so many workers, of so much memory each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A request with what was missing, and why it is so.

    Attributes
    ----------
    request : JobRequest
        With nodes and walltime, and memory where the system has words for it.
    reason : str
        One line for people.
    """

    request: JobRequest
    reason: str


def size_job(
    order: Order, foreseen: Foreseen, *, threads: int, nodes: int | None = None, parts: int = 1
) -> Sized:
    """Choose what was not asked for: machines, memory, walltime.

    As few machines as make the job, or each part of a chain, shorter than the walltime that was given;
    without one, than an hour, or what the site allows.

    Parameters
    ----------
    order : Order
        What was asked for.
    foreseen : Foreseen
        Of the job.
    threads : int
        Of each worker.
    nodes : int or None
        How many machines, if that was asked for.
    parts : int
        Of a chain of jobs.

    Raises
    ------
    UsageError
        If no number of machines makes the job short enough.
    RunnerError
        If the memory that was given does not suffice.
    """
    request = order.request
    limit = request.walltime or min(USUAL, order.longest or USUAL)
    for count in [nodes] if nodes else range(1, MOST_NODES + 1):
        each = _memory_of_a_worker(request, foreseen, count, threads)
        predicted = foreseen.seconds(count * request.tasks_per_node, threads, each)
        walltime = walltime_for(predicted / parts)
        if walltime <= limit:
            break
    longest = request.walltime or order.longest
    if longest and walltime > longest:
        raise UsageError(
            f"{_several(count, 'node')} would take {format_duration(predicted)}, with the margin "
            f"{format_duration(walltime)}, and the job may last {format_duration(longest)}",
            "give more --time, more --nodes, or more --parts",
        )
    memory = request.memory
    if memory is None and "memory" not in not_there(order.system):
        memory = memory_of_a_node(each, request.tasks_per_node)
    sized = replace(request, nodes=count, walltime=request.walltime or walltime, memory=memory)
    return Sized(request=sized, reason=_reason(sized, predicted, each))


def walltime_for(predicted: float) -> float:
    """Return the walltime to ask for, in steps of five minutes.

    >>> walltime_for(400.0)
    1200.0
    """
    return math.ceil((MARGIN * predicted + START) / _STEP) * _STEP


def memory_of_a_node(each: int, workers: int) -> int:
    """Return the memory to ask for on each machine, whole GiB, in bytes.

    >>> memory_of_a_node(3 << 30, 4) >> 30
    16
    """
    return math.ceil((workers * each * _ROOM + _OVERHEAD) / _GIB) * _GIB


def _memory_of_a_worker(request: JobRequest, foreseen: Foreseen, nodes: int, threads: int) -> int:
    if request.memory:
        return max((request.memory - _OVERHEAD) // request.tasks_per_node, 0)
    return foreseen.memory(nodes * request.tasks_per_node, threads)


def _reason(request: JobRequest, predicted: float, each: int) -> str:
    memory = f", {format_size(request.memory)} of memory on each" if request.memory else ""
    workers = _several(request.nodes * request.tasks_per_node, "worker")
    return (
        f"{_several(request.nodes, 'node')} for {format_duration(request.walltime or 0)}{memory}: "
        f"{format_duration(predicted)} predicted with {workers} of {format_size(each)}; "
        f"the walltime is for {MARGIN} times that and {START / 60:.0f} minutes"
    )


def _several(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number > 1 else ''}"
