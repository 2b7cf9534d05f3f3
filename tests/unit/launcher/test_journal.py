"""The files that rank 0 writes about its job."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner.launcher import journal
from runner.launcher.control import Event
from runner.launcher.journal import FOLDER_VARIABLE, Journal, default_folder, read_records
from runner.launcher.record import Record, to_json
from tests.unit.launcher.ranks import rank
from tests.unit.launcher.records import NEW

USUAL = journal._LAST_WRITE_SECONDS


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the last write take its time: a busy disk is not what is tried here."""
    monkeypatch.setattr(journal, "_LAST_WRITE_SECONDS", 60.0)


def wait(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.01)


def keep(folder: Path, summary: Path | None = None, record: Record = NEW) -> Journal:
    return Journal(record, {0: rank(0)}, folder=folder, summary=summary)


def end(kept: Journal, code: int) -> None:
    kept.note(Event(0, {"event": "stopping", "code": code, "why": ""}))
    kept.note(Event(0, {"event": "gone", "code": code}))


def test_the_status_file_follows_the_job(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "jobs"
    with keep(folder) as kept:
        wait(lambda: read_records(folder) != [])
        kept.note(Event(0, {"event": "hello"}))
        wait(lambda: bool(read_records(folder)[0].ranks))
        assert read_records(folder)[0].ranks[0].pid == rank(0).pid
        end(kept, 3)
    (found,) = read_records(folder)
    assert (found.state, found.exit_code) == ("ended", 3)
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_it_says_regularly_that_the_job_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "WRITE_SECONDS", 0.05)
    with keep(tmp_path) as kept:
        wait(lambda: read_records(tmp_path) != [])
        first = read_records(tmp_path)[0].updated
        wait(lambda: read_records(tmp_path)[0].updated > first)
        end(kept, 0)


def test_the_summary_comes_with_the_end(tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"
    with keep(tmp_path / "jobs", summary) as kept:
        assert not summary.exists()
        end(kept, 0)
    content = json.loads(summary.read_text())
    assert (content["exit_code"], content["state"], set(content["timings"])) == (
        0,
        "ended",
        {"start", "stop"},
    )


def test_a_leader_that_fails_has_an_end_too(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), keep(tmp_path / "jobs", tmp_path / "summary.json"):
        raise RuntimeError("a defect")
    content = json.loads((tmp_path / "summary.json").read_text())
    assert (content["exit_code"], content["state"], content["reason"]) == (1, "ended", "a defect")


def test_a_folder_that_cannot_be_used_costs_the_record_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    with keep(tmp_path / "file" / "jobs") as kept:
        end(kept, 0)
    assert capsys.readouterr().err == ""


def test_a_summary_that_cannot_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with keep(tmp_path, tmp_path / "gone" / "summary.json") as kept:
        end(kept, 0)
    assert "summary.json (No such file or directory)" in capsys.readouterr().err


def test_a_file_system_that_hangs_does_not_hold_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = threading.Event()
    monkeypatch.setattr(journal, "_LAST_WRITE_SECONDS", USUAL)
    assert USUAL < 2
    monkeypatch.setattr(journal.files, "write_atomically", lambda *_args, **_more: hanging.wait(90))
    began = time.monotonic()
    with keep(tmp_path) as kept:
        end(kept, 0)
    assert time.monotonic() - began < 60
    hanging.set()


def test_old_records_go_and_running_ones_stay(tmp_path: Path) -> None:
    for number in range(60):
        path = tmp_path / f"old-{number:02d}.json"
        path.write_bytes(to_json(replace(NEW, name=path.stem)))
        os.utime(path, (1000 + number, 1000 + number))
    for number in range(55):
        (tmp_path / f"running-{number}.json").write_bytes(to_json(replace(NEW, name=f"running-{number}")))
    with keep(tmp_path) as kept:
        end(kept, 0)
    names = {record.name for record in read_records(tmp_path)}
    assert names == {NEW.name, *(f"running-{number}" for number in range(55))}
    for number in range(55):
        os.utime(tmp_path / f"running-{number}.json", (2000 + number, 2000 + number))
    with keep(tmp_path) as kept:
        end(kept, 0)
    names = {record.name for record in read_records(tmp_path)}
    assert names == {NEW.name, *(f"running-{number}" for number in range(6, 55))}


def test_what_is_no_record_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / ".half.json.12ab").write_text("")
    (tmp_path / "other").mkdir()
    assert read_records(tmp_path) == []
    assert read_records(tmp_path / "missing") == []


def test_the_folder_is_chosen_by_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert default_folder() == Path("/home/me/.cache/runner/jobs")
    monkeypatch.setenv(FOLDER_VARIABLE, "/shared/jobs")
    assert default_folder() == Path("/shared/jobs")
