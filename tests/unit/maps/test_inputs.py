"""The function and its arguments in a file, and back."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from runner.maps.inputs import load_piece, write_inputs
from runner.maps.layout import Layout


def test_each_is_read_alone(tmp_path: Path) -> None:
    written = write_inputs(Layout(tmp_path), len, ["one", [2], {"three": 3}], ["a", "b", "c"])
    assert load_piece(written.path, 0, written.function_size) is len
    assert [load_piece(written.path, one.offset, one.size) for one in written.components] == [
        "one",
        [2],
        {"three": 3},
    ]


def test_a_function_that_travels_by_value_keeps_the_name_of_its_file(tmp_path: Path) -> None:
    def outer(number: int) -> float:
        return (lambda inner: 1 / inner)(number)

    written = write_inputs(Layout(tmp_path), outer, [], [])
    function = load_piece(written.path, 0, written.function_size)
    with pytest.raises(ZeroDivisionError) as caught:
        function(0)
    _, *frames = traceback.extract_tb(caught.value.__traceback__)
    assert [(frame.filename, frame.name) for frame in frames] == [
        (__file__, "outer"),
        (__file__, "<lambda>"),
    ]
    assert frames[-1].line == "return (lambda inner: 1 / inner)(number)"
