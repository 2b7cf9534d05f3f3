"""Commands of the batch system, played by programs of the test's own."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from runner.batch import ask
from runner.batch.allocation import Allocation
from runner.errors import UsageError

SLURM = Allocation(system="slurm", job_id="36_2")


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a program in front of all others: its name, and its body in shell."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(ask, "_SECONDS", 60.0)  # the machine may be busy

    def install(name: str, body: str) -> Path:
        program = tmp_path / name
        program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n{body}\n')
        program.chmod(0o755)
        return tmp_path / "asked"

    return install


def test_squeue_knows_the_end(play) -> None:
    asked = play("squeue", "date -d '+10 minutes' +%Y-%m-%dT%H:%M:%S")
    before = int(time.time())
    found = ask.with_end(SLURM).ends_at
    assert found is not None
    assert before + 600 <= found <= time.time() + 600
    assert asked.read_text().split() == ["--noheader", "--jobs=36_2", "--format=%e"]


def test_the_components_of_a_job_end_together(play) -> None:
    play("squeue", "date -d '+10 minutes' +%Y-%m-%dT%H:%M:%S; date -d '+10 minutes' +%Y-%m-%dT%H:%M:%S")
    before = int(time.time())
    found = ask.with_end(SLURM).ends_at
    assert found is not None
    assert before + 600 <= found <= time.time() + 600


@pytest.mark.parametrize(
    "body", ["echo NONE", "echo N/A", "echo", "echo slurm_load_jobs error: no such job >&2; exit 1"]
)
def test_no_end_is_no_end(play, body: str) -> None:
    play("squeue", body)
    assert ask.with_end(SLURM).ends_at is None


def test_a_command_that_is_missing_or_hangs_costs_little(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert ask.with_end(SLURM).ends_at is None
    monkeypatch.setenv("PATH", f"{play('squeue', 'exec sleep 90').parent}:/usr/bin:/bin")
    monkeypatch.setattr(ask, "_SECONDS", 0.5)
    started = time.monotonic()
    assert ask.with_end(SLURM).ends_at is None
    assert time.monotonic() - started < 45


@pytest.mark.parametrize(
    "known",
    [
        Allocation(system="slurm", job_id="36", ends_at=5.0),
        Allocation(system="pbs", job_id="12.server"),
        Allocation(),
    ],
)
def test_nobody_is_asked_for_what_is_known_or_cannot_be(play, known: Allocation) -> None:
    asked = play("squeue", "date +%Y-%m-%dT%H:%M:%S")
    assert ask.with_end(known) == known
    assert not asked.exists()


def test_requeue_asks_slurm(play) -> None:
    play("squeue", "echo RUNNING")
    asked = play("scontrol", "")
    assert ask.requeue(SLURM) == "SLURM will run job 36_2 again (--requeue)"
    assert asked.read_text().split() == ["requeue", "Incomplete", "36_2"]


@pytest.mark.parametrize("state", ["COMPLETING", "CANCELLED", "RUNNING\nCOMPLETING"])
def test_a_job_that_is_being_ended_is_not_run_again(play, state: str) -> None:
    asked = play("scontrol", "")
    assert play("squeue", f"echo '{state}'") == asked
    said = ask.requeue(replace(SLURM, ends_at=time.time() + 60))
    assert said == "job 36_2 was cancelled, SLURM is not asked to run it again (--requeue)"
    assert asked.read_text().split() == ["--noheader", "--jobs=36_2", "--format=%T"]


def test_what_slurm_ends_when_the_time_is_over_was_not_cancelled(play) -> None:
    play("squeue", "echo COMPLETING")
    asked = play("scontrol", "")
    said = ask.requeue(replace(SLURM, ends_at=time.time() - 1))
    assert said == "SLURM will run job 36_2 again (--requeue)"
    assert asked.read_text().split() == ["requeue", "36_2"]


def test_without_an_answer_slurm_decides(play) -> None:
    play("squeue", "echo slurm_load_jobs error: Socket timed out >&2; exit 1")
    play("scontrol", "")
    assert ask.requeue(SLURM) == "SLURM will run job 36_2 again (--requeue)"


def test_what_slurm_answers_is_passed_on(play) -> None:
    play("scontrol", "echo Requested operation is presently disabled >&2; exit 1")
    said = ask.requeue(SLURM)
    assert said.startswith("SLURM will not run job 36_2 again: Requested operation is presently disabled; ")
    assert "\n" not in said


def test_requeue_is_refused_where_nobody_can_be_asked() -> None:
    ask.check_requeue(SLURM)
    with pytest.raises(UsageError, match="this is no batch job"):
        ask.check_requeue(Allocation())
    with pytest.raises(UsageError, match=r"PBS lets no job ask from within .* exit code 75"):
        ask.check_requeue(Allocation(system="pbs", job_id="12.server"))


def test_a_job_is_not_run_again_for_ever(play) -> None:
    asked = play("scontrol", "true")
    often = replace(SLURM, restarts=ask.MOST_REQUEUES)
    assert "was run again 20 times, which is the most" in ask.requeue(often)
    assert not asked.exists()
    assert "SLURM will run job 36_2 again" in ask.requeue(replace(often, restarts=ask.MOST_REQUEUES - 1))
