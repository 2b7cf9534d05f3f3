"""Where log lines go: to a private file, to the screen if asked, and nowhere else."""

from __future__ import annotations

import logging
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.errors import WriteError
from runner.launcher.logs import log_supervisor, make_folder
from runner.launcher.speak import say
from tests.unit.launcher.ranks import rank

OURS = logging.getLogger("runner.launcher.member")


@pytest.fixture(autouse=True)
def _clean_logger() -> Iterator[None]:
    logger = logging.getLogger("runner")
    before = logger.handlers[:], logger.level
    yield
    for handler in logger.handlers:
        handler.close()
    logger.handlers[:], level = before
    logger.setLevel(level)


def test_the_folder_of_a_job_is_private(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "logs", "slurm-7-1000")
    assert folder == tmp_path / "logs" / "slurm-7-1000"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert make_folder(tmp_path / "logs", "slurm-7-1000") == folder  # each rank makes it


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match=r"no logs can be written to .*; choose another folder with --logs"):
        make_folder(tmp_path / "file", "job")


def test_by_default_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    log_supervisor(None, rank(3, "node2"), verbose=False)
    OURS.info("rank 0 says: stop")
    say("runner", "hello")
    assert capsys.readouterr().err == "runner: hello\n"


def test_the_file_holds_what_was_done_and_what_was_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log_supervisor(tmp_path, rank(3, "node2"), verbose=False)
    OURS.info("rank 0 says: stop")
    say("runner", "hello")
    lines = (tmp_path / "rank-0003.node2.supervisor.log").read_text().splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == [
        "INFO runner.launcher.member: rank 0 says: stop",
        "INFO runner.said: runner: hello",
    ]
    assert capsys.readouterr().err == "runner: hello\n"


def test_verbose_shows_each_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    log_supervisor(None, rank(3, "node2"), verbose=True)
    OURS.info("rank 0 says: %s", "stop")
    say("runner", "hello")
    assert capsys.readouterr().err == "rank 3 @ node2 supervisor: rank 0 says: stop\nrunner: hello\n"
