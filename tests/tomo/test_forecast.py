from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ScanError
from runner.tomo.forecast import Calibration, Forecast, describe_time, predicted_seconds
from runner.tomo.plan import Resources, make_plan
from runner.tomo.work import Work

GIB = 1 << 30
WORK = Work(
    first_row=0,
    end_row=256,
    columns=64,
    angles=90,
    flats=10,
    darks=10,
    frames=110,
    itemsize=2,
    size=64,
    detector_rows=256,
)
TIMED = Calibration(
    workers=2,
    threads=1,
    rows=16,
    stages={"read": 1.0, "reconstruct": 2.0, "write": 1.0},
    processor=2.4,
    first=3.0,
    axis=5.0,
)


@pytest.mark.parametrize(
    ("workers", "seconds"),
    [
        (1, 5 + 3 + 32 * (0.25 + 7 * 0.15)),  # chunks of 32 rows, eight turns; more than one stage's time
        (2, 5 + 3 + 16 * (0.25 + 7 * 0.15)),
        (4, 5 + 3 + 16 * (0.25 + 3 * 0.15)),
        (16, 5 + 3 + 1 * 16 * 0.25),  # nothing to overlap with
        (99, 5 + 3 + 1 * 16 * 0.25),
    ],
)
def test_the_time_is_that_of_the_worker_with_most_turns(workers, seconds):
    assert Forecast(work=WORK, calibration=TIMED).seconds(workers, 1, 4 * GIB) == pytest.approx(seconds)


def test_the_pace_is_that_of_the_longest_stage_or_of_the_processor():
    assert TIMED.pace == pytest.approx(2.4 / 16)  # one thread
    assert replace(TIMED, threads=2).pace == pytest.approx(2.0 / 16)


def test_without_the_memory_for_it_nothing_overlaps():
    least = next(
        plan
        for mib in range(256, 4096)
        if (plan := _plan_within(mib << 20)) is not None and plan.chunks[0].rows == 16
    )
    assert least.at_once == 1
    turns = len(least.chunks)
    assert predicted_seconds(least, TIMED) == pytest.approx(5 + 3 + turns * 16 * 0.25)


def _plan_within(memory):
    try:
        return make_plan(WORK, Resources(workers=1, memory=memory, threads=1))
    except ScanError:
        return None


@given(
    st.integers(1, 3000), st.integers(1, 4096), st.integers(1, 4000), st.integers(1, 64), st.integers(1, 8)
)
def test_the_memory_that_is_wanted_suffices(rows, columns, angles, workers, threads):
    work = replace(WORK, end_row=rows, columns=columns, size=columns, angles=angles)
    wanted = Forecast(work=work, calibration=TIMED).memory(workers, threads)
    plan = make_plan(work, Resources(workers=workers, memory=wanted, threads=threads))
    more = make_plan(work, Resources(workers=workers, memory=2 * wanted, threads=threads))
    assert plan.memory <= wanted
    assert plan.buffers == more.buffers  # the engine saves nothing
    assert max(chunk.rows for chunk in plan.chunks) >= min(16, rows, max(c.rows for c in more.chunks))


def test_too_little_memory_is_told():
    with pytest.raises(ScanError, match="memory"):
        Forecast(work=WORK, calibration=TIMED).seconds(1, 1, 1 << 20)


def test_what_the_prediction_rests_on_is_said():
    plan = make_plan(WORK, Resources(workers=2, memory=4 * GIB, threads=1))
    assert predicted_seconds(plan, TIMED) == pytest.approx(5 + 3 + 16 * (0.25 + 7 * 0.15))
    assert describe_time(plan, TIMED) == (
        "28.8 s predicted: 16 rows by 2 workers at once: read 1 s, reconstruct 2 s, write 1 s,"
        " the axis took 5 s"
    )
