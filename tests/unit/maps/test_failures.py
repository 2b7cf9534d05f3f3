"""What is kept of a failure, and how it is told."""

from __future__ import annotations

from pathlib import Path

from runner.maps.failures import describe_failure, one_line, read_failure, shown, write_failure
from runner.maps.layout import Layout


class Odd:
    def __repr__(self) -> str:
        raise ValueError("no text")


class OddError(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(one)
        self.two = two

    def __str__(self) -> str:
        raise ValueError("no text")


def test_kept_and_read_again(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.make()
    layout.log("a").write_text("one\ntwo\n")
    try:
        int("wrong\nvalue")
    except ValueError as error:
        failure = describe_failure(layout, "a", error, seconds=1.5, argument=[1, 2], memory=1 << 30)
    write_failure(layout, failure)
    assert read_failure(layout, "a") == failure
    report = failure.report()
    for text in ("ValueError: invalid literal", "[1, 2]", "after 1.5 s", "1.0 GiB", "Traceback", "  two"):
        assert text in report


def test_an_exception_of_any_class(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    failure = describe_failure(layout, "a", OddError(1, 2), seconds=0.0, argument=Odd())
    assert failure.error == "OddError: (its text cannot be made)"
    assert failure.argument.startswith("<Odd instance")
    assert one_line(OddError(1, 2)) == failure.error


def test_a_long_argument_is_cut() -> None:
    assert len(shown("x" * 10_000)) <= 400
    assert len(shown(list(range(10_000)))) <= 400
