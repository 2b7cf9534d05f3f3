"""What is asked of a batch system for a map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.batch.script import render
from runner.errors import UsageError
from runner.maps.job import Job, from_plain, local_command, order_for, to_plain

FOLDER = Path("/data/maps/scan42")


@pytest.mark.parametrize(
    ("job", "lines"),
    [
        (Job("slurm", nodes=4, time="2:00:00"), ["--nodes=4", "--time=02:00:00", "--job-name=scan42"]),
        (
            Job("slurm", nodes=2, gpus_per_node=4, queue="gpu", account="p1"),
            ["--ntasks-per-node=4", "--gpus-per-node=4", "--partition=gpu", "--account=p1"],
        ),
        (
            Job("slurm", cpus_per_task=8, memory="4G", directives=("--exclusive",)),
            ["--cpus-per-task=8", "--workers 8", "--exclusive", "--mem=4096"],
        ),
        (Job("sge", nodes=2), ["#$ -N scan42"]),
    ],
)
def test_the_script(job: Job, lines: list[str]) -> None:
    order = order_for(job, "scan42", FOLDER)
    script = render(order.system, order.request)
    for line in [*lines, "--threads 1 --restarts 1000", "resume /data/maps/scan42"]:
        assert line in script


def test_a_gpu_has_one_process() -> None:
    job = Job(gpus_per_node=4, cpus_per_task=8, options=("--logs", "logs"))
    assert "--workers" not in job.command(FOLDER)
    assert job.command(FOLDER)[-4:] == ("--logs", "logs", "resume", "/data/maps/scan42")


@pytest.mark.parametrize(
    "wrong",
    [{"nodes": 0}, {"parts": -1}, {"gpus_per_node": 0}, {"time": "soon"}, {"memory": "much"}, {"nodes": "4"}],
)
def test_what_is_no_job(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Job(**wrong)


def test_kept_and_read_again() -> None:
    job = Job("slurm", nodes=4, parts=3, directives=("--exclusive",), options=("-v",))
    assert from_plain(json.loads(json.dumps(to_plain(job)))) == job
    assert to_plain(None) is None


def test_this_machine() -> None:
    assert local_command(FOLDER)[-2:] == ("resume", "/data/maps/scan42")
