"""Jobs of all the kinds that SLURM has: of components, arrays, run again, with GPUs in each style."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.testbed import SBATCH_WAIT, VirtualSlurm
from tests.cluster.volumes import hosts_of, pixels, slices_there
from tests.cluster.ways import JOBS, Way

pytestmark = [pytest.mark.cluster, pytest.mark.slurm]


@pytest.fixture
def srun(slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path) -> Way:
    """Ranks by ``srun`` on two hosts."""
    return Way("srun", tmp_path, environment, slurm)


def submit(way: Way, slurm: VirtualSlurm, script: str, *options: str, code: int = 0) -> str:
    """Run a batch script to its end, check its exit code, and return what it wrote."""
    job = way.folder / "job.sh"
    job.write_text(script)
    (way.folder / "scratch").mkdir(exist_ok=True)
    words = [SBATCH_WAIT, "--output=out-%a", "--open-mode=append", *options, job]
    finished = slurm.run(words, timeout=100, cwd=way.folder, env=way.variables, gone_within=5)
    written = "".join(path.read_text() for path in sorted(way.folder.glob("out-*")))
    assert finished.returncode == code, finished.stderr + written
    way.check_nothing_is_left()
    return written


def runner(*words: str | Path) -> str:
    """Return a command of ours as a script has it."""
    return " ".join(str(word) for word in (sys.executable, "-m", "runner", *words))


# -- GPUs: two on each of two hosts -----------------------------------------------------------------------

ONE_EACH = {"node1": ["0", "1"], "node2": ["0", "1"]}


@pytest.mark.parametrize(
    ("flags", "expected", "said"),
    [
        ("--ntasks-per-node=2 --gpus-per-node=2", ONE_EACH, ""),
        ("--ntasks-per-node=3 --gpus-per-node=2", ONE_EACH, ""),  # two ranks do without: scheduler and client
        ("--ntasks-per-node=2 --gres=gpu:2 --gpu-bind=map_gpu:1,0", ONE_EACH, ""),
        ("--ntasks=4 --gpus-per-task=1", ONE_EACH, ""),
        ("--gpus=4 --ntasks-per-gpu=1", ONE_EACH, ""),
        ("--ntasks-per-node=2 --gpus=4 --gpu-bind=single:1", ONE_EACH, ""),
        ("--ntasks-per-node=2 --gpus-per-node=1", {"node1": ["0"], "node2": ["0"]}, ""),
        (
            "--ntasks-per-node=1 --gpus-per-node=2",
            {"node1": ["0"], "node2": ["0"]},
            "runner: node1, node2: GPUs without a worker: 1 of 2; start a rank for each",
        ),
        (
            "--ntasks=4 --gpus-per-task=1 --gpu-bind=none",
            {"node1": ["", ""], "node2": ["", ""]},
            "runner: node1, node2: 2 GPUs are the job's, and its ranks see none",
        ),
    ],
)
def test_each_gpu_has_one_worker(srun: Way, flags: str, expected: Mapping[str, list[str]], said: str) -> None:
    way = Way("srun", srun.folder, srun.environment, srun.launcher, flags=("--overcommit", *flags.split()))
    (way.folder / "scratch").mkdir()
    words = [
        "srun",
        "--nodes=2",
        *way.flags,
        sys.executable,
        "-m",
        "runner",
        "--no-dashboard",
        JOBS / "gpus.py",
    ]
    finished = way.launcher.run(words, timeout=60, cwd=way.folder, env=way.variables)
    assert finished.returncode == 0, finished.stderr
    seen = dict(line.split(": ") for line in finished.stdout.splitlines())
    assert {host: sorted(devices.split(" ")) for host, devices in seen.items()} == expected, finished.stderr
    notes = [line for line in finished.stderr.splitlines() if "GPU" in line and line.startswith("runner: ")]
    assert [line[: len(said)] for line in notes] == ([said] if said else [])


# -- components, arrays, restarts -------------------------------------------------------------------------


def test_a_heterogeneous_job_is_one_cluster(
    srun: Way, slurm: VirtualSlurm, scan: Path, reference: np.ndarray
) -> None:
    """The script is the printed one, with the other component as directives."""
    other = ["--directive", "hetjob", "--directive", "--nodes=3 --ntasks-per-node=1 --gres=gpu:1 --mem=1000M"]
    words = ["slurm", "--nodes", "1", "--cpus-per-task", "1", "--mem", "500M", "--time", "0:05:00", *other]
    argv = [sys.executable, "-m", "runner", "jobscript", *words, "reconstruct", scan, "volume.h5"]
    script = slurm.run(argv, timeout=30, env=srun.variables).stdout
    forgotten = f"{runner('-c', 'pass')}; echo forgotten $?"
    written = submit(srun, slurm, script.replace("set -euo pipefail\n", f"{forgotten}\nset -euo pipefail\n"))
    assert "which is for 4 ranks; put srun (or mpirun) in front" in written
    assert "forgotten 64\n" in written
    assert "4 ranks on 4 hosts, 4 workers" in written
    rows = re.findall(r"^  \d +(node\d) .* ([\d.]+) MiB +(\S+)$", written, re.MULTILINE)
    assert rows == [("node1", "475.0", "-"), *((f"node{host}", "950.0", "0") for host in (2, 3, 4))], written
    assert re.search(r"end +SLURM ends job \d+ at ", written)
    assert np.array_equal(pixels(srun.folder / "volume.h5"), reference)
    assert len(hosts_of(srun.folder / "volume.h5")) == 4


def test_tasks_of_an_array_do_not_mix(
    srun: Way, slurm: VirtualSlurm, scan: Path, reference: np.ndarray
) -> None:
    """Both run at the same time: each has two of the four hosts."""
    launch = f"exec srun --exclusive {runner('reconstruct', scan, 'volume-$SLURM_ARRAY_TASK_ID.h5')}"
    submit(
        srun, slurm, f"#!/bin/bash\n{launch}\n", "--nodes=2", "--ntasks=2", "--cpus-per-task=4", "--array=3,5"
    )
    hosts = []
    for task in (3, 5):
        log = (srun.folder / f"out-{task}").read_text()
        assert re.search(rf"SLURM job \d+_{task}: 2 ranks on 2 hosts, 2 workers", log), log
        assert len(re.findall(r"all 135 slices written and verified", log)) == 1
        assert np.array_equal(pixels(srun.folder / f"volume-{task}.h5"), reference)
        hosts.append(hosts_of(srun.folder / f"volume-{task}.h5"))
    assert len(hosts[0] | hosts[1]) == 4
    assert not hosts[0] & hosts[1]


@pytest.mark.slow
def test_a_job_that_slurm_runs_again_goes_on(srun: Way, slurm: VirtualSlurm, local: Way) -> None:
    write_scan(srun.folder / "scan.nx", Settings(columns=160, rows=640, angles=60, noise=False))
    options = ["--method", "fbp", "--center", "79.5"]
    launch = f"exec srun {runner('reconstruct', 'scan.nx', 'volume.h5', *options)}"
    job = srun.folder / "job.sh"
    job.write_text(f"#!/bin/bash\n{launch}\n")
    (srun.folder / "scratch").mkdir()
    flags = ["--nodes=4", "--ntasks=4", "--requeue", "--output=out", "--open-mode=append"]
    with slurm.start([SBATCH_WAIT, *flags, job], cwd=srun.folder, env=srun.variables) as command:
        end = time.monotonic() + 40
        while slices_there(srun.folder / "volume.h5.partial") < 16:
            assert time.monotonic() < end, (srun.folder / "out").read_text()
            time.sleep(0.02)
        (number,) = slurm.script("tb-exec", "head", "squeue", "-h", "-o", "%A").split()
        slurm.script("tb-exec", "head", "scontrol", "requeue", number)
        finished = command.wait(timeout=80, gone_within=5)
    written = (srun.folder / "out").read_text()
    assert finished.returncode == 0, written
    assert len(re.findall(r"SLURM job \d+: 4 ranks on 4 hosts", written)) == 2
    made_before = re.search(r"all 640 slices written and verified, (\d+) of them by an earlier run", written)
    assert made_before, written
    assert int(made_before[1]) >= 16
    srun.check_nothing_is_left()
    assert local.run("--quiet", "reconstruct", "scan.nx", "reference.h5", *options, ranks=1).code == 0
    assert np.array_equal(pixels(srun.folder / "volume.h5"), pixels(srun.folder / "reference.h5"))


def records(folder: Path) -> list[dict[str, object]]:
    """What the jobs say of themselves."""
    return [json.loads(file.read_text()) for file in (folder / "status").glob("[!.]*.json")]


def test_a_job_that_is_cancelled_while_it_ends_is_not_run_again(srun: Way, slurm: VirtualSlurm) -> None:
    """The job has ended with 75, its ranks are still waiting for a worker, and then somebody cancels it."""
    launch = f"exec srun {runner('--requeue', '--stop-timeout', '4s', JOBS / 'leaves_early.py')}"
    job = srun.folder / "job.sh"
    job.write_text(f"#!/bin/bash\n{launch}\n")
    (srun.folder / "scratch").mkdir()
    flags = ["--nodes=2", "--ntasks=2", "--requeue", "--output=out", "--open-mode=append"]
    with slurm.start([SBATCH_WAIT, *flags, job], cwd=srun.folder, env=srun.variables) as command:
        end = time.monotonic() + 40
        while not (stopping := [one for one in records(srun.folder) if one["state"] == "stopping"]):
            assert time.monotonic() < end, (srun.folder / "out").read_text()
            time.sleep(0.02)
        assert (srun.folder / "leaves").exists()
        number = stopping[0]["job_id"]
        slurm.script("tb-exec", "head", "scancel", number)
        command.wait(timeout=60, gone_within=5)
    written = (srun.folder / "out").read_text()
    assert f"job {number} was cancelled, SLURM is not asked to run it again" in written
    assert "JobState=CANCELLED" in slurm.script("tb-exec", "head", "scontrol", "show", "job", number)
    assert (srun.folder / "runs").read_text() == "a run\n"
    srun.check_nothing_is_left()
