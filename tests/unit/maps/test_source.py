"""A function is the same when Python reads the same, and another one when it does not."""

from __future__ import annotations

import functools
import subprocess
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from runner.maps.source import _digest, difference, name_of, normalised, source_of


def double(number: int) -> int:
    # a comment
    return number * 2


class Scaled:
    def __call__(self, number: int) -> int:
        return 3 * number


def scaled(factor: float) -> Callable[[float], float]:
    def scale(number: float) -> float:
        return factor * number

    return scale


def test_comments_and_line_breaks_change_nothing() -> None:
    other = "def double(number: int) -> int:\n    return (number\n            * 2)  # twice"
    assert difference(source_of(double), other) == ""


def test_another_text_is_shown() -> None:
    changes = difference(source_of(double), "def double(number: int) -> int:\n    return number * 4")
    assert "-    return number * 2" in changes
    assert "+    return number * 4" in changes


def test_what_a_closure_holds_counts() -> None:
    assert difference(source_of(scaled(2)), source_of(scaled(2))) == ""
    assert "+#: holds factor = 3" in difference(source_of(scaled(2)), source_of(scaled(3)))


def test_what_a_partial_holds_counts() -> None:
    two, three = functools.partial(pow, exp=2), functools.partial(pow, exp=3)
    assert difference(source_of(functools.partial(double)), source_of(double)) == ""
    assert source_of(two) == source_of(three) == ""  # pow is compiled: nothing to compare
    two, three = functools.partial(scaled, 2), functools.partial(scaled, factor=3)
    assert "+#: holds factor = 3" in difference(source_of(two), source_of(three))


def test_of_a_lambda_the_lambda_counts() -> None:
    first, again = [lambda x: x + 1, 5], [lambda x: x + 1, 6, 7]
    other = [lambda x: x + 2, 5]
    assert difference(source_of(first[0]), source_of(other[0])) != ""
    assert "lambda x: x + 1" in source_of(again[0])
    assert "7" not in source_of(again[0])


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (textwrap.dedent, "textwrap:dedent"),
        (len, "builtins:len"),
        (functools.partial(textwrap.dedent, "x"), "textwrap:dedent"),
        (int, "builtins:int"),
        (str.upper, "builtins:str.upper"),
    ],
)
def test_names(function: Callable[..., Any], name: str) -> None:
    assert name_of(function) == name


def test_an_object_that_can_be_called() -> None:
    assert name_of(Scaled()).endswith(":Scaled")
    assert "3 * number" in source_of(Scaled())


def test_what_python_cannot_read_is_compared_as_it_is() -> None:
    assert normalised("(lambda x: x,") == "(lambda x: x,"
    assert difference("(lambda x: x,", "(lambda y: y,") != ""


def test_a_long_difference_is_cut() -> None:
    long = "\n".join(f"a{number} = {number}" for number in range(100))
    assert difference("a = 1", long).splitlines()[-1].endswith("lines more")


def test_lambdas_of_one_line_are_told_apart() -> None:
    one, two = (lambda x: x + 1), (lambda x: x + 2)
    assert (source_of(one), source_of(two)) == ("lambda x: x + 1", "lambda x: x + 2")
    made = [lambda y, k=k: (lambda z: y + z * k)(y) for k in (1, 2)]
    assert source_of(made[0]) == "lambda y, k=k: (lambda z: y + z * k)(y)"
    nested = (lambda a: lambda b: a + b)(3)
    assert source_of(nested) == "lambda b: a + b\n#: holds a = 3"


def test_lambdas_in_a_piece_of_a_statement_are_told_apart() -> None:
    for first, second in [
        (lambda x: x + 1, lambda x: x + 2),
    ]:
        assert difference(source_of(first), source_of(first)) == ""
        assert difference(source_of(first), source_of(second)) != ""


def test_what_was_compiled_is_told_apart_in_every_process_alike() -> None:
    def digest(text: str) -> str:
        return _digest(compile(text, "a file", "eval"))

    nested = "(lambda a: [b for b in a if b in {'x', 'y'}])"
    assert digest(nested) != digest(nested.replace("'y'", "'z'"))
    program = f"from runner.maps.source import _digest; print(_digest(compile({nested!r}, 'other', 'eval')))"
    other = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert other.stdout.strip() == digest(nested)
