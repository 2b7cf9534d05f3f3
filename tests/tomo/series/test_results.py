from pathlib import Path

import pytest

from runner.tomo.series.entries import Entry
from runner.tomo.series.results import Result, State, error_of, table_of
from runner.tomo.settings import Settings

ENTRY = Entry(scan=Path("a.nx"), volume=Path("a.h5"), settings=Settings())


def result(state, exit_code=0):
    return Result(entry=ENTRY, state=state, exit_code=exit_code)


DONE, THERE = result(State.DONE), result(State.THERE)


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([DONE], None),
        ([DONE, THERE], None),
        ([DONE, result(State.FAILED, 65)], 70),
        ([result(State.FAILED, 65), result(State.FAILED, 65)], 65),
        ([result(State.FAILED, 65), result(State.FAILED, 66)], 70),
        ([result(State.FAILED, 70), result(State.LATE, 75)], 75),
        ([DONE, result(State.LATE, 75)], 75),
    ],
)
def test_the_exit_code_is_0_only_if_all_are_done(results, code):
    error = error_of(results)
    assert (error and error.exit_code) == code


def test_what_is_said_counts_them():
    said = str(error_of([DONE, result(State.FAILED, 65), result(State.LATE, 75)]))
    assert said.startswith("1 of 3 scans are done, 1 failed, 1 out of time; the same command goes on")


def test_the_table_has_a_line_for_each():
    lost = Result(entry=ENTRY, state=State.FAILED, seconds=3.21, cause="no such file", exit_code=66)
    head, first, second = table_of(
        [Result(entry=ENTRY, state=State.DONE, slices=64, seconds=75), lost]
    ).split("\n")
    assert head.split() == ["scan", "volume", "state", "slices", "time", "cause"]
    assert first.split() == ["a.nx", "a.h5", "done", "64", "1:15"]
    assert second.split() == ["a.nx", "a.h5", "failed", "-", "3.2", "s", "no", "such", "file"]
    assert second.index("no such file") == head.index("cause")
