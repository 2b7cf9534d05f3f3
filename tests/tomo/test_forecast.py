from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import ScanError
from runner.tomo.forecast import Calibration, Forecast, describe_time, predicted_seconds
from runner.tomo.plan import Resources, Work, make_plan

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
    first=3.0,
    axis=5.0,
)


@pytest.mark.parametrize(
    ("workers", "seconds"),
    [
        (1, 5 + 3 + 4 * 80 * 0.25),  # chunks of 80 rows, four turns, the last one short
        (2, 5 + 3 + 4 * 32 * 0.25),
        (4, 5 + 3 + 4 * 16 * 0.25),
        (16, 5 + 3 + 1 * 16 * 0.25),
        (99, 5 + 3 + 1 * 16 * 0.25),
    ],
)
def test_the_time_is_that_of_the_worker_with_most_turns(workers, seconds):
    assert Forecast(work=WORK, calibration=TIMED).seconds(workers, 1, 4 * GIB) == pytest.approx(seconds)


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
    assert predicted_seconds(plan, TIMED) == 40
    assert describe_time(plan, TIMED) == (
        "40.0 s predicted: 16 rows by 2 workers at once: read 1 s, reconstruct 2 s, write 1 s,"
        " the axis took 5 s"
    )
