"""What is handed out next, how much of it, and what kills workers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.maps.plan import Durations, Waiting, bunch_size, in_order, slots_of, too_long, until
from runner.maps.record import Component


def components(*keys: str) -> list[Component]:
    return [Component(key, 0, 0) for key in keys]


@given(
    st.one_of(st.none(), st.floats(0, 1e6)),
    st.integers(0, 100_000),
    st.integers(0, 1000),
    st.one_of(st.none(), st.integers(1, 50)),
)
def test_a_bunch_is_never_empty_and_never_takes_long(
    mean: float | None, waiting: int, slots: int, chunk: int | None
) -> None:
    size = bunch_size(mean, waiting, slots, chunk)
    assert size >= 1
    if chunk is not None:
        assert size == chunk
    elif size > 1 and mean is not None:
        assert size * mean < 1
        assert size <= waiting


def test_durations() -> None:
    durations = Durations()
    assert (durations.mean, durations.long) == (None, 0.0)
    for seconds in range(1, 101):
        durations.add(seconds)
    assert durations.mean == pytest.approx(50.5)
    assert durations.long == 95
    for _ in range(400):
        durations.add(1)  # what was long ago does not count
    assert durations.long == 1


@pytest.mark.parametrize(
    ("threads", "has", "wanted", "slots"),
    [
        (4, {}, None, 4),
        (4, {"GPU": 1}, None, 1),
        (4, {"GPU": 2}, {"GPU": 1}, 2),
        (4, {"GPU": 1}, {"GPU": 2}, 0),
        (4, {"memory": 10}, {"memory": 4}, 2),
        (4, {"memory": 10}, {"memory": 1}, 4),
        (4, {}, {"memory": 1}, 0),
        (4, {"GPU": 1}, {}, 4),
    ],
)
def test_slots(threads: int, has: dict[str, float], wanted: dict[str, float] | None, slots: int) -> None:
    assert slots_of({"nthreads": threads, "resources": has}, wanted) == slots


def test_until() -> None:
    assert until(100.0, 30.0, 1000.0) == 1068.0


def test_who_had_all_the_time_there_is_is_named() -> None:
    cut = {"a": 595.0, "b": 100.0}
    assert too_long(cut, 598.0) == {"a": 595.0}
    assert too_long(cut, 1200.0) == {}
    assert [one.key for one in in_order(components("x", "b", "y", "a"), cut)] == ["a", "b", "x", "y"]


def test_a_suspect_that_kills_alone_twice_has_failed() -> None:
    waiting = Waiting(components("a", "b", "c"))
    first, second = waiting.take(2)
    assert not waiting.died_with(first, alone=False)
    assert not waiting.died_with(second, alone=False)
    assert waiting.left == 1
    assert len(waiting) == 3
    assert waiting.take_suspect() == first
    assert not waiting.died_with(first, alone=True)
    assert waiting.take_suspect() == second
    assert waiting.take_suspect() == first
    assert waiting.died_with(first, alone=True)
    assert waiting.take_suspect() is None
    assert [one.key for one in waiting.take(5)] == ["c"]


@given(st.integers(0, 20), st.integers(1, 7), st.integers(0, 7))
def test_what_was_not_begun_comes_next_in_its_order(count: int, taken: int, begun: int) -> None:
    keys = [f"{number:02}" for number in range(count)]
    waiting = Waiting(components(*keys))
    bunch = waiting.take(taken)
    waiting.put_back(bunch[begun:])
    assert [one.key for one in (*bunch[:begun], *waiting.take(count))] == keys
