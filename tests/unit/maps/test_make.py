"""Maps in this very process: made, gone on with, refused; and read by others."""

from __future__ import annotations

import functools
import resource
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.errors import MissingFileError, PartialError, StartError, UsageError, WriteError
from runner.maps import results
from runner.maps.errors import ComponentFailed, NotReady
from runner.maps.layout import Layout
from runner.maps.record import read_record, write_record
from runner.maps.run import run_map
from tests.unit.maps.made import made


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUNNER_MAPS", str(tmp_path))
    return tmp_path


def square(number: int) -> int:
    return number**2


def reciprocal(number: float) -> float:
    return 1 / number


debug = functools.partial(runner.map, name="scan42", job="debug")


def test_values() -> None:
    made_map = debug(square, range(5))
    assert made_map.values() == list(made_map) == [0, 1, 4, 9, 16]
    assert (made_map["0003"], made_map[-1], made_map[1:3], len(made_map)) == (9, 16, [1, 4], 5)
    assert runner.open_map("scan42").values() == made_map.values()
    with pytest.raises(KeyError):
        made_map["9999"]
    with pytest.raises(IndexError):
        made_map[5]


def test_a_failure_is_no_value_and_hurts_no_other() -> None:
    made_map = debug(reciprocal, [1, 0, 2], keys=["one", "zero", "two"])
    assert made_map.values(missing=None) == [1.0, None, 0.5]
    with pytest.raises(ComponentFailed, match="component zero of map scan42 failed: ZeroDivisionError"):
        made_map.values()
    failure = made_map.failures()["zero"]
    assert "reciprocal" in failure.report()
    assert made_map.status().state == "complete"
    assert dict(made_map.as_completed(timeout=60)) == {"one": 1.0, "two": 0.5}


def test_a_failure_may_be_the_end() -> None:
    made_map = debug(reciprocal, [1, 0, 2], on_error="stop")
    assert made_map.status().left == 1
    with pytest.raises(NotReady, match="0002 of map scan42 is not done"):
        made_map["0002"]


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda _: threading.Lock(), "its result cannot be pickled"),
        (lambda _: exec("raise SystemExit(3)"), "SystemExit: 3"),
        (lambda _: exec("raise BaseException('odd')"), "BaseException: odd"),
    ],
)
def test_odd_ends(function: Callable[[Any], Any], error: str) -> None:
    made_map = debug(function, [1])
    assert made_map.failures()["0000"].error.startswith(error)


def test_a_result_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "MOST_BYTES", 1000)
    made_map = debug(lambda size: b"x" * size, [900, 100, 2000])
    assert list(made_map.failures()) == ["0002"]
    assert "return the path" in made_map.failures()["0002"].error
    assert not list(made_map.folder.glob("results/.*"))


def test_the_same_call_does_again_what_failed(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.mkdir()

    def once(number: int) -> int:
        made = calls / f"{number}-{len(list(calls.iterdir()))}"
        made.touch()
        if number == 1 and len(list(calls.glob("1-*"))) == 1:
            raise ValueError("the first time")
        return number

    assert debug(once, range(3)).values(missing=None) == [0, None, 2]
    assert debug(once, range(4)).values() == [0, 1, 2, 3]
    assert sorted(path.name[0] for path in calls.iterdir()) == ["0", "1", "1", "2", "3"]


def test_with_keys_arguments_may_move_and_become_more() -> None:
    debug(square, [2, 3], keys=["two", "three"])
    made_map = debug(square, [5, 3, 2], keys=["five", "three", "two"])
    assert made_map.values() == [25, 9, 4]
    assert made_map.status().total == 3


def test_another_function_is_shown_and_refused(capsys: pytest.CaptureFixture[str]) -> None:
    debug(lambda number: number + 1, [1])
    with pytest.raises(UsageError, match=r'1 results of another .* changed="keep"'):
        debug(lambda number: number + 2, [1])
    shown = capsys.readouterr().err
    assert "-lambda number: number + 1" in shown
    assert "+lambda number: number + 2" in shown
    assert runner.open_map("scan42").values() == [2]
    assert debug(lambda number: number + 2, [1], changed="keep").values() == [2]
    assert debug(lambda number: number + 3, [1], changed="redo").values() == [4]


def test_other_arguments_are_refused() -> None:
    debug(square, [1, 2])
    with pytest.raises(UsageError, match=r"other arguments .0001: 2 has become 3"):
        debug(square, [1, 3])
    assert debug(square, [1, 3], changed="redo").values() == [1, 9]
    debug(square, [1])
    with pytest.raises(UsageError, match="is not known any more"):
        debug(square, [1, 4])


def test_a_set_is_the_same_in_another_order() -> None:
    words = [str(number) for number in range(50)]
    debug(len, [set(words)])
    backwards = set(words[25:]) | set(words[:25])
    assert debug(len, [backwards]).values() == [50]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "a/b"}, "cannot be the name"),
        ({"job": "cloud"}, "is no place for a map"),
        ({"job": None}, "no cluster here"),
        ({"chunk": 0}, "no number of components"),
        ({"on_error": "ignore"}, "on_error='ignore'"),
        ({"changed": "both"}, "changed='both'"),
        ({"keys": ["a"]}, "1 keys for 2 arguments"),
        ({"function": 5}, "5 cannot be called"),
        ({"arguments": 5}, "type int, not one after the other"),
        ({"arguments": {"a": 1}}, "type dict, not one after the other"),
        ({"arguments": [1, threading.Lock()]}, "argument of 0001 cannot be pickled"),
    ],
)
def test_what_is_refused_leaves_nothing_behind(
    folder: Path, options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"function": square, "arguments": [1, 2], "name": "scan42", "job": "debug", **options}
    with pytest.raises(UsageError, match=message):
        runner.map(given.pop("function"), given.pop("arguments"), **given)
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "scan42").write_text("a file")
    with pytest.raises(WriteError, match="map scan42 cannot be written"):
        debug(square, [1])


def test_a_full_disk_stops_the_map(folder: Path) -> None:
    layout = made(folder, lambda size: b"x" * size, [10, 1 << 20, 10])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))  # as a quota: what is longer is refused
    try:
        with pytest.raises(WriteError, match="results cannot be written"):
            run_map(layout, None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    opened = runner.open_map("scan42")
    assert opened.failures() == {}
    assert [path.name for path in (layout.results).iterdir()] == ["0000.ok"]
    assert run_map(layout, None).done == 3


def test_the_time_is_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = made(folder, square, [1, 2])
    monkeypatch.setenv("RUNNER_END", "1000")
    with pytest.raises(PartialError, match="2 of 2 components of map scan42 left"):
        run_map(layout, None)
    assert "the time was over" in runner.open_map("scan42").status().reason


def test_other_versions(folder: Path) -> None:
    layout = made(folder, square, [1])
    record = read_record(layout)
    record.versions["numpy"] = "0.1.0"
    write_record(layout, record)
    with pytest.raises(StartError, match=r"was 0\.1\.0 when the map was made"):
        run_map(layout, None)


def test_a_map_of_another_version_of_the_runner(folder: Path) -> None:
    layout = made(folder, square, [1])
    layout.record.write_text('{"format 2": true}')
    with pytest.raises(StartError, match="another version of the runner"):
        runner.open_map("scan42")


def test_what_it_was_asked_to_forget_is_done_again() -> None:
    made_map = debug(reciprocal, [1, 0])
    assert made_map.forget() == ["0001"]
    assert made_map.forget(["0000"]) == ["0000", "0001"]
    made_map.rerun(job="debug")
    assert made_map.values(missing=None) == [1.0, None]


def test_a_folder_that_is_for_reading_only(folder: Path) -> None:
    made_map = debug(reciprocal, [1, 0])
    (folder / "scan42" / "results" / "0001.err").unlink()
    (folder / "scan42" / "results" / "0001.err").mkdir()  # what nobody can unlink, root neither
    with pytest.raises(WriteError, match=r"map's folder .*scan42 cannot be written"):
        made_map.forget()


def test_removed(folder: Path) -> None:
    debug(square, [1]).remove()
    assert not list(folder.iterdir())
    with pytest.raises(MissingFileError, match="no map 'scan42'"):
        runner.open_map("scan42")


def test_what_a_debugged_component_prints_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    debug(print, ["hello"])
    assert capsys.readouterr().out == "hello\n"


def test_no_arguments() -> None:
    made_map = debug(square, [])
    assert (made_map.values(), made_map.status().state) == ([], "complete")


def test_what_another_process_cannot_import_is_refused_by_name(folder: Path) -> None:
    module = types.ModuleType("only_here")
    exec("def function(x): return x", vars(module))
    sys.modules["only_here"] = module
    try:
        with pytest.raises(UsageError, match=r"only_here:function .*No module named 'only_here'"):
            runner.map(module.function, [1], name="scan42", job="local")
    finally:
        del sys.modules["only_here"]
    assert not list(folder.iterdir())


def test_layout_of_a_map(folder: Path) -> None:
    debug(square, [1, 2])
    names = {path.name for path in Layout(folder / "scan42").folder.iterdir()}
    assert {"map.json", "results", "logs", "runs"} <= names
    assert len([name for name in names if name.startswith("inputs-")]) == 1
