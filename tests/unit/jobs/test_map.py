"""``runner map``: functions by name, arguments from files; and what ``runner status`` shows of a map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.errors import MissingFileError, RunnerError, UsageError
from runner.jobs.log import component_log
from runner.jobs.map import read_arguments
from runner.jobs.map_status import details, show


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("a.txt", "one\n\n two words \n", ["one", " two words "]),
        ("a.jsonl", '1\n"two"\n\n{"three": [3]}\n', [1, "two", {"three": [3]}]),
        ("a.csv", 'scan,center\na.nx,12.5\n"b,c.nx",13\n', [
            {"scan": "a.nx", "center": "12.5"},
            {"scan": "b,c.nx", "center": "13"},
        ]),
        ("empty.txt", "", []),
    ],
)  # fmt: skip
def test_files_of_arguments(tmp_path: Path, name: str, text: str, arguments: list[Any]) -> None:
    (tmp_path / name).write_text(text)
    assert read_arguments(tmp_path / name) == arguments


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("a.jsonl", "1\n{\n", UsageError, r"a\.jsonl:2 is no JSON"),
        ("a.npy", "1\n", UsageError, "is no file of arguments"),
        ("a.txt", None, MissingFileError, "cannot be read"),
    ],
)
def test_files_that_are_none(
    tmp_path: Path, name: str, text: str | None, error: type[RunnerError], message: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=message):
        read_arguments(tmp_path / name)


def test_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_MAPS", str(tmp_path))
    made = runner.map(int, ["1", *(f"x{number}" for number in range(7))], name="numbers", job="debug")
    shown = details(made, made.status())
    assert "8: 1 done, 7 failed, 0 left" in shown
    assert "0001: ValueError: invalid literal" in shown
    assert "and 2 more" in shown
    assert "state      complete with failures\n" in shown
    assert "ValueError" in component_log("numbers", "0001")
    with pytest.raises(MissingFileError, match="no component '77'"):
        component_log("numbers", "77")


def test_what_programs_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RUNNER_MAPS", str(tmp_path))
    made = runner.map(int, ["1", "x"], name="numbers", job="debug")
    show(made, watch=True, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["state"], told["done"], told["failed"]) == ("complete", 1, 1)
