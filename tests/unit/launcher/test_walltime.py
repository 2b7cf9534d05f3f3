"""When the job ends, and when it is told."""

from __future__ import annotations

import asyncio
import re
import time
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.batch.allocation import Allocation
from runner.errors import PartialError, UsageError
from runner.launcher import walltime as module
from runner.launcher.walltime import Walltime, plan_walltime, wait_for

NOW = 1_780_000_000.4
HOUR = 3600


def slurm(ends_in: float | None) -> Allocation:
    return Allocation(system="slurm", job_id="36", ends_at=None if ends_in is None else NOW + ends_in)


@pytest.mark.parametrize(
    ("ends_in", "limit", "drain", "stops_in", "told_before"),
    [
        (HOUR, None, None, HOUR - 5, 60),  # in time for an orderly stop before SLURM's kill
        (None, HOUR, None, HOUR, 60),  # nobody kills: the whole limit
        (HOUR, 600, None, 600, 60),  # the sooner one
        (600, HOUR, None, 595, 60),
        (600, 599, None, 595, 60),  # SLURM's end less what the stop takes is still the sooner one
        (60, None, None, 55, 14),  # a quarter of a short job
        (None, 6, None, 6, 2),
        (None, 60, 45, 60, 45),  # what was said holds
        (None, 60, 90, 60, 90),  # told at once
        (None, 60, 0, 60, 0),  # not told
        (None, 60, 1.5, 60, 2),
    ],
)
def test_the_end(
    ends_in: float | None, limit: float | None, drain: float | None, stops_in: int, told_before: int
) -> None:
    planned = plan_walltime(slurm(ends_in), started_at=NOW, time_limit=limit, drain=drain)
    assert planned is not None
    assert planned.ends_at == int(NOW) + stops_in
    assert planned.drain == told_before


def test_no_end() -> None:
    assert plan_walltime(slurm(None), started_at=NOW, drain=10) is None


@pytest.mark.parametrize(
    ("allocation", "limit", "reason"),
    [
        (slurm(HOUR), None, r"SLURM ends job 36 at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
        (slurm(HOUR), 6.0, "--time-limit 6.0 s"),
        (Allocation(ends_at=NOW + HOUR), None, r"RUNNER_END says \d{4}-\d\d-\d\d \d\d:\d\d:\d\d"),
    ],
)
def test_people_are_told_whose_end_it_is(allocation: Allocation, limit: float | None, reason: str) -> None:
    planned = plan_walltime(allocation, started_at=NOW, time_limit=limit)
    assert planned is not None
    assert re.fullmatch(reason, planned.reason)


@pytest.mark.parametrize("ends_in", [-10, 4])
def test_a_job_without_time_to_start_did_nothing_and_may_be_gone_on_with(ends_in: float) -> None:
    with pytest.raises(PartialError, match=r"over before it began \(SLURM ends job 36 at .*; give it more"):
        plan_walltime(slurm(ends_in), started_at=NOW)


@pytest.mark.parametrize(
    ("allocation", "limit"), [(Allocation(ends_at=NOW - 10), None), (slurm(None), 0.0), (slurm(HOUR), 0.0)]
)
def test_another_end_that_is_over_is_refused(allocation: Allocation, limit: float | None) -> None:
    with pytest.raises(UsageError, match=r"over before it began .*; unset RUNNER_END"):
        plan_walltime(allocation, started_at=NOW, time_limit=limit)


@given(
    ends_in=st.none() | st.floats(10, 1e6),
    limit=st.none() | st.floats(2, 1e6),
    drain=st.none() | st.floats(0, 1e6),
)
def test_never_later_than_anybody_allows(
    ends_in: float | None, limit: float | None, drain: float | None
) -> None:
    planned = plan_walltime(slurm(ends_in), started_at=NOW, time_limit=limit, drain=drain)
    if planned is None:
        assert ends_in is None
        assert limit is None
        return
    assert planned.ends_at > NOW
    assert ends_in is None or planned.ends_at <= NOW + ends_in - 5
    assert limit is None or planned.ends_at <= NOW + limit
    assert planned.drain >= (drain or 0)
    if drain is None:
        assert 1 <= planned.drain <= 60


def test_waiting_is_by_the_clock() -> None:
    soon = Walltime(ends_at=int(time.time()) + 2, drain=0, reason="")
    asyncio.run(asyncio.wait_for(wait_for(soon), timeout=60))
    assert time.time() >= soon.ends_at


def test_a_wait_ends_in_time_also_when_the_clock_is_set_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, pauses = SimpleNamespace(now=NOW), []

    async def sleep(seconds: float) -> None:
        clock.now += seconds + (30 if not pauses else 0)
        pauses.append(seconds)

    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: clock.now))
    monkeypatch.setattr(module, "asyncio", SimpleNamespace(sleep=sleep))
    asyncio.run(wait_for(Walltime(ends_at=int(NOW) + 55, drain=0, reason="")))
    assert clock.now == int(NOW) + 55
    assert pauses == pytest.approx([10, 10, 4.6])
