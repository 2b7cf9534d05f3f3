"""The size of a job, chosen from what is foreseen of it; for the command see ``test_submit.py``."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.batch.order import Order
from runner.batch.request import JobRequest
from runner.errors import UsageError
from runner.jobs.auto import MARGIN, MOST_NODES, START, size_job, walltime_for

GIB = 1 << 30


@dataclass(frozen=True)
class Evenly:
    """A job of some work that any number of workers share evenly."""

    work: float
    wants: int = GIB

    def memory(self, workers: int, threads: int) -> int:
        return self.wants // workers * threads

    def seconds(self, workers: int, threads: int, memory: int) -> float:
        return self.work / workers / threads


def order(system: str = "slurm", longest: float | None = None, **wishes: object) -> Order:
    request = JobRequest(command=("reconstruct",), **wishes)  # type: ignore[arg-type]
    return Order(system=system, request=request, passed_over={}, longest=longest)


@pytest.mark.parametrize(
    ("wishes", "work", "nodes", "walltime"),
    [
        ({}, 10.0, 1, 600),  # 20 s and 5 minutes, in whole steps of 5
        ({}, 1650.0, 1, 3600),  # just an hour
        ({}, 1651.0, 2, 2100),  # 2 x 825.5 s + 300 s
        ({"tasks_per_node": 4}, 1651.0, 1, 1200),
        ({"walltime": 600.0}, 1650.0, 11, 600),  # 150 s each
        ({"walltime": 86400.0}, 40000.0, 1, 86400),
    ],
)
def test_as_few_machines_as_suffice(
    wishes: dict[str, object], work: float, nodes: int, walltime: float
) -> None:
    sized = size_job(order(**wishes), Evenly(work), threads=1)
    assert (sized.request.nodes, sized.request.walltime) == (nodes, walltime)
    assert f"{nodes} node" in sized.reason


def test_what_was_asked_for_stays() -> None:
    asked = order(nodes=3, tasks_per_node=2, memory=8 * GIB, queue="gpu", account="me")
    sized = size_job(asked, Evenly(36000.0), threads=4, nodes=3).request
    assert (sized.nodes, sized.memory, sized.queue, sized.account) == (3, 8 * GIB, "gpu", "me")
    assert sized.walltime == walltime_for(36000 / 6 / 4)


def test_a_chain_shares_the_work() -> None:
    alone, chained = (
        size_job(order(walltime=3600.0), Evenly(20000.0), threads=1, parts=parts).request.nodes
        for parts in (1, 4)
    )
    assert (alone, chained) == (13, 4)


def test_memory_is_asked_for_where_there_are_words_for_it() -> None:
    sized = size_job(order(tasks_per_node=4), Evenly(1.0, wants=12 * GIB), threads=1)
    assert sized.request.memory == 16 * GIB  # four times 3 GiB, a quarter more, and half a GiB
    assert size_job(order("lsf"), Evenly(1.0), threads=1).request.memory is None


@pytest.mark.parametrize(
    ("asked", "nodes"),
    [(order(walltime=300.0), None), (order(nodes=2, walltime=900.0), 2), (order(longest=600.0), None)],
)
def test_what_cannot_be_done_in_time_is_refused(asked: Order, nodes: int | None) -> None:
    with pytest.raises(UsageError, match=rf"^{nodes or MOST_NODES} nodes would take .* give more --time"):
        size_job(asked, Evenly(100000.0), threads=1, nodes=nodes)


@given(st.floats(0.1, 1e5), st.integers(1, 64), st.integers(1, 32), st.floats(600, 1e6))
def test_the_margin_is_kept(work: float, tasks: int, threads: int, walltime: float) -> None:
    foreseen = Evenly(work)
    try:
        sized = size_job(order(tasks_per_node=tasks, walltime=walltime), foreseen, threads=threads).request
    except UsageError:
        least = foreseen.seconds(MOST_NODES * tasks, threads, GIB)
        assert walltime_for(least) > walltime
        return
    assert walltime >= MARGIN * foreseen.seconds(sized.nodes * tasks, threads, GIB) + START
    if sized.nodes > 1:
        fewer = foreseen.seconds((sized.nodes - 1) * tasks, threads, GIB)
        assert walltime_for(fewer) > walltime
