import io

import pytest

from runner.jobs.progress import ProgressMeter, progress_text


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("count", "seconds", "text"),
    [
        (0, 10.0, "0/200 slices"),
        (50, 0.0, "50/200 slices"),
        (50, 10.0, "50/200 slices, 5.0 slices/s, 30.0 s left"),
        (100, 7200.0, "100/200 slices, 0.0 slices/s, 2:00:00 left"),
        (200, 10.0, "200/200 slices, 20.0 slices/s, 10.0 s"),
    ],
)
def test_it_says_how_far_how_fast_and_how_long(count, seconds, text):
    assert progress_text(count, 200, "slices", seconds) == text


def test_as_long_as_there_is_nothing_it_says_what_is_being_done():
    stream, clock = io.StringIO(), Clock()
    meter = ProgressMeter(100, "slices", stream, clock=clock)
    for seconds in (1, 6, 61):
        clock.now = 100 + seconds
        meter.update(0, "1 of 3 chunks are being made")
    clock.now += 10
    meter.update(50, "2 of 3 chunks are being made")
    assert stream.getvalue().splitlines() == [
        "0/100 slices, 1 of 3 chunks are being made, for 6.0 s now",
        "0/100 slices, 1 of 3 chunks are being made, for 1:01 now",
        "50/100 slices, 0.7 slices/s, 1:11 left",
    ]


def run(stream, *, seconds, period):
    """Make progress from 0 to 100 at a steady rate."""
    clock = Clock()
    meter = ProgressMeter(100, "slices", stream, clock=clock)
    for step in range(int(seconds / period) + 1):
        clock.now = 100 + step * period
        meter.update(int(100 * step * period / seconds))
    meter.update(100)
    meter.close()
    return stream.getvalue()


def test_a_log_gets_a_line_every_few_seconds_and_the_end():
    lines = run(io.StringIO(), seconds=22, period=0.5).splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "22/100 slices",
        "45/100 slices",
        "68/100 slices",
        "90/100 slices",
        "100/100 slices",
    ]


def test_a_terminal_gets_one_bar_that_grows():
    text = run(Terminal(), seconds=4, period=0.1)
    frames = text.split("\r")[1:]
    filled = [frame.count("#") for frame in frames]
    assert filled == sorted(filled)
    assert filled[-1] == 30
    assert 15 <= len(frames) <= 25, "some five frames a second"
    assert text.count("\n") == 1
    assert text.endswith("\n")


def test_nothing_shown_leaves_nothing():
    stream = Terminal()
    ProgressMeter(10, "slices", stream).close()
    assert stream.getvalue() == ""
