"""The job ends by the clock: told in time, stopped before the batch system would, run again if asked."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.processes import Command, Finished
from tests.cluster.testbed import SBATCH_WAIT, VirtualSlurm
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


def notes(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "notes").read_text().splitlines()]


def test_a_job_that_goes_when_it_is_told(local: Way) -> None:
    started = time.time()
    result = local.run("--time-limit", "15s", "--drain", "5s", JOBS / "drains.py", ranks=2)
    assert result.code == 75, result.err
    assert "walltime" not in result.err
    asked, told = notes(local.folder)
    end = int(asked["end"])
    assert started - 1 <= end - 15 <= asked["at"]
    for place in ("here", "on_worker"):
        assert 0 < asked[place] <= end - started
    assert 0 <= told["at"] - (end - 5) < 1.5 + result.finished.delay
    assert result.ended_at < end


def test_a_job_that_stays_is_stopped_in_order(local: Way) -> None:
    result = local.run("--time-limit", "12s", JOBS / "drains.py", "stay", ranks=2)
    assert result.code == 75, result.err
    assert re.findall(r"^runner: .*(?:walltime|received).*", result.err, re.MULTILINE) == [
        "runner: stopped by the walltime: --time-limit 12.0 s"
    ]
    assert "Traceback" not in result.err
    asked, told, signalled = notes(local.folder)
    end = int(asked["end"])
    assert told["told"] <= 3
    assert signalled["signal"] == "SIGTERM"
    assert 0 <= signalled["at"] - end < 2 + result.finished.delay
    assert result.ended_at - end < 6 + result.finished.delay


def test_a_job_is_not_told_if_not_wanted(local: Way) -> None:
    result = local.run("--time-limit", "10s", "--drain", "0", JOBS / "drains.py", ranks=2)
    assert result.code == 75, result.err
    assert "stopped by the walltime" in result.err
    assert not any("told" in note for note in notes(local.folder))


def test_an_end_that_is_over_is_one_line(local: Way) -> None:
    ended = Way(local.name, local.folder, {**local.environment, "RUNNER_END": "1700000000"})
    result = ended.run("--quiet", JOBS / "drains.py", ranks=1)
    assert result.code == 64
    assert len(result.err.splitlines()) == 1, result.err
    assert "unset RUNNER_END" in result.err


def test_requeue_outside_of_a_batch_job_is_refused(local: Way) -> None:
    result = local.run("--requeue", JOBS / "drains.py", ranks=1)
    assert result.code == 64
    assert result.err == "runner: --requeue: this is no batch job, nobody can run it again; leave it out\n"


def test_a_reconstruction_that_has_not_time_enough_keeps_what_it_made(local: Way) -> None:
    write_scan(local.folder / "scan.nx", Settings(columns=192, rows=1600, angles=90, noise=False))
    words = ["reconstruct", "scan.nx", "volume.h5", "--method", "fbp", "--center", "95.5"]
    result = local.run("--quiet", "--time-limit", "20s", *words, ranks=3)
    assert result.code == 75, result.err
    (line,) = (line for line in result.said.splitlines() if line.startswith("runner: "))
    match = re.fullmatch(
        r"runner: the time is over: (\d+) of 1600 slices were made, rows [\d:, ]+ are missing; "
        r"volume.h5.partial holds what was made: the same command goes on with it",
        line,
    )
    assert match, line
    assert not (local.folder / "volume.h5").exists()
    with h5py.File(local.folder / "volume.h5.partial") as file:
        status = file["entry/reconstruction/status"][()]
    assert int(match[1]) <= status.sum() < 1600  # on a busy machine nothing may have been made in time


@contextmanager
def job_of_a_minute(
    slurm: VirtualSlurm, folder: Path, environment: dict[str, str], words: str
) -> Iterator[Command]:
    """Run a job of one minute in SLURM, with a script that tells the end to nobody."""
    for name in ("meet", "scratch"):
        (folder / name).mkdir(parents=True)
    script = folder / "job.sh"
    script.write_text(
        f"#!/bin/bash\n#SBATCH -t 1 -N 2 -n 2 --requeue --open-mode=append -o {folder}/log\n"
        f"export TEST_FOLDER={folder} RUNNER_SCRATCH={folder}/scratch RUNNER_RENDEZVOUS_DIR={folder}/meet\n"
        f"exec srun {sys.executable} -m runner {words}\n"
    )
    with slurm.start([SBATCH_WAIT, script], cwd=folder, env=environment) as command:
        yield command


@pytest.mark.slow
@pytest.mark.slurm
def test_slurm_runs_a_job_again_that_went_when_it_was_told_and_one_that_stays_is_stopped(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    """Both jobs at once: most of the time is spent with waiting."""
    goes, stays = tmp_path / "goes", tmp_path / "stays"
    drains = JOBS / "drains.py"
    with (
        job_of_a_minute(slurm, stays, environment, f"{drains} stay") as stopped,
        job_of_a_minute(slurm, goes, environment, f"--requeue --drain 48s {drains}") as again,
    ):
        check_it_ran_again(again.wait(timeout=100, gone_within=5), goes)
        check_it_was_stopped(stopped.wait(timeout=90, gone_within=5), stays)


def check_it_ran_again(finished: Finished, folder: Path) -> None:
    log = (folder / "log").read_text()
    assert finished.returncode == 0, log
    asked, told, second = notes(folder)
    assert 40 < told["told"] <= 48
    assert asked["here"] <= 55  # the launcher stops in time before SLURM's minute is over
    assert second["run"] == "second"
    assert re.search(r"runner: SLURM will run job \d+ again \(--requeue\)", log)


def check_it_was_stopped(finished: Finished, folder: Path) -> None:
    log = (folder / "log").read_text()
    assert finished.returncode == 75, log
    assert re.search(
        r"runner: stopped by the walltime: SLURM ends job \d+ at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", log
    )
    assert "DUE TO TIME LIMIT" not in log
    asked, told, signalled = notes(folder)
    assert told["told"] <= 14
    assert signalled["at"] - int(asked["end"]) < 2 + finished.delay
