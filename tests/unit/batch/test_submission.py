from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from runner.batch import submission as module
from runner.batch.submission import Submission, find, save

ONE = Submission(
    system="slurm",
    job_ids=("12", "13", "14"),
    name="recon",
    folder=Path("/scans"),
    script=Path("/scans/runner-jobs/recon-1/job.sh"),
    submitted=1000.5,
)


def test_what_was_kept_is_found_by_each_of_its_jobs(tmp_path: Path) -> None:
    folder = tmp_path / "jobs" / "submitted"
    assert find("12", folder) is None
    save(ONE, folder)
    for job_id in ONE.job_ids:
        assert find(job_id, folder) == ONE
    assert find("1", folder) is None
    assert (folder.stat().st_mode & 0o777, next(folder.glob("*.json")).stat().st_mode & 0o777) == (
        0o700,
        0o600,
    )


def test_the_newest_of_two_with_one_number_is_meant(tmp_path: Path) -> None:
    save(ONE, tmp_path)
    other = replace(ONE, system="sge", submitted=2000.0)
    save(other, tmp_path)
    assert find("12", tmp_path) == other
    assert find("12", tmp_path, {"slurm", "lsf"}) == ONE
    assert find("12", tmp_path, {"lsf"}) is None


def test_the_server_of_pbs_may_be_left_out_and_its_brackets_are_no_file_name(tmp_path: Path) -> None:
    array = replace(ONE, system="pbs", job_ids=("77[].pbs01/x",))
    save(array, tmp_path)
    assert find("77[]", tmp_path) == array


def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text('{"format": 99}')
    save(ONE, tmp_path)
    assert find("13", tmp_path) == ONE


def test_old_ones_are_forgotten(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(module, "_KEPT", 2)
    for number in range(4):
        save(replace(ONE, job_ids=(str(number),)), tmp_path)
        os.utime(tmp_path / f"slurm-{number}.json", (number, number))
    assert [find(str(number), tmp_path) is not None for number in range(4)] == [False, False, True, True]


def test_the_parts_behind_one() -> None:
    assert ONE.left_of("12") == ("12", "13", "14")
    assert ONE.left_of("14") == ("14",)
