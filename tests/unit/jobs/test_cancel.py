"""``runner cancel`` where the batch system would kill at once: a job that runs is asked to end first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.jobs.stand_ins import StandIns


@pytest.fixture
def oar(tmp_path: Path) -> StandIns:
    """An OAR of our own with a chain of two jobs: the file ``7`` holds how the first is; the other waits."""
    stand_ins = StandIns(tmp_path)
    stand_ins.play(
        "oarsub", "[ -e ../7 ] && echo OAR_JOB_ID=8 || { echo Running > ../7; echo OAR_JOB_ID=7; }"
    )
    stand_ins.play("oarstat", '[ "$3" = 8 ] && s=Waiting || s=$(cat ../7); echo "    state = $s"')
    assert stand_ins.run("submit", "oar", "--parts", "2", "--starter", "hosts", "job.py").returncode == 0
    return stand_ins


def test_the_parts_behind_go_first_then_the_job_is_asked(oar: StandIns) -> None:
    oar.play("oardel", '[ "$1" = --signal ] && echo Terminated > ../7; exit 0')
    cancelled = oar.run("cancel", "7")
    assert (cancelled.returncode, cancelled.stdout) == (0, "OAR was asked to end 7, 8\n"), cancelled.stderr
    assert oar.asked("oardel") == ["8", "--signal 15 7"]


def test_a_job_that_waits_is_not_asked(oar: StandIns) -> None:
    oar.play("oardel", "")
    (oar.folder / "7").write_text("Waiting")
    assert oar.run("cancel", "7").returncode == 0
    assert oar.asked("oardel") == ["7 8"]


def test_a_refusal_is_told(oar: StandIns) -> None:
    oar.play("oardel", "echo 'not yours' >&2; exit 3")
    cancelled = oar.run("cancel", "7")
    assert cancelled.returncode == 69
    assert cancelled.stderr == "runner: oardel refused: not yours\n"
