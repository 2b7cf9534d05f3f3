"""The configuration of dask-jobqueue, read for what means the same."""

from __future__ import annotations

from pathlib import Path

import dask_jobqueue
import pytest

from runner.batch.jobqueue import read_jobqueue
from runner.errors import MissingFileError, UsageError

SLURM = """
jobqueue:
  slurm:
    name: recon
    cores: 8
    memory: 16GB
    processes: 2
    queue: gpu
    account: abc
    walltime: '01:30:00'
    interface: ib0
    local-directory: $TMPDIR
    python: /opt/env/bin/python
    job-extra-directives: ['--exclusive']
    job-extra: ['--constraint=nvme']
    job-script-prologue: ['module load mpi']
    env-extra: ['export A=1']
    job-cpu: 8
    death-timeout: 90
    worker-extra-args: ['--lifetime', 1h]
    scheduler-options: {dashboard_address: ':8787'}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "jobqueue.yaml"
    path.write_text(text)
    return path


def test_what_means_the_same(tmp_path: Path) -> None:
    read = read_jobqueue(write(tmp_path, SLURM))
    assert read.system == "slurm"
    assert read.wishes == {
        "name": "recon",
        "tasks_per_node": 2,
        "cpus_per_task": 4,
        "memory": 16 * 1000**3,  # Dask's GB
        "queue": "gpu",
        "account": "abc",
        "walltime": 5400.0,
        "interface": "ib0",
        "scratch": "$TMPDIR",
        "python": "/opt/env/bin/python",
        "directives": ("--exclusive", "--constraint=nvme"),
        "prologue": ("module load mpi", "export A=1"),
    }
    assert set(read.passed_over) == {"job-cpu", "death-timeout", "worker-extra-args", "scheduler-options"}
    assert read.passed_over["death-timeout"] == "workers end with their job"
    assert all(read.passed_over.values())


def test_nothing_is_said_about_what_nobody_asked_for() -> None:
    own = Path(dask_jobqueue.__file__).with_name("jobqueue.yaml")
    for system in ("slurm", "pbs", "sge", "oar", "lsf", "htcondor"):
        read = read_jobqueue(own, system)
        assert read.passed_over == {}
        assert set(read.wishes) <= {"walltime"}


@pytest.mark.parametrize(
    ("yaml", "wishes"),
    [
        ("sge: {project: abc}", {"account": "abc"}),
        ("oar: {memory: 4GiB, cores: 4}", {"memory": 4 << 30, "tasks_per_node": 1, "cpus_per_task": 4}),
        ("pbs: {processes: 4}", {"tasks_per_node": 4}),
        ("slurm: {cores: 2, processes: 4}", {"tasks_per_node": 4, "cpus_per_task": 1}),
        ("slurm: {walltime: 1:30:00}", {"walltime": 5400.0}),  # YAML reads a number
        ("slurm: {job_extra_directives: [-x]}", {"directives": ("-x",)}),
        ("htcondor: {job-extra-directives: {Requirements: A}}", {"directives": ("Requirements = A",)}),
        ("slurm: {env-extra: null, queue: ''}", {}),
    ],
)
def test_spellings(tmp_path: Path, yaml: str, wishes: dict[str, object]) -> None:
    assert read_jobqueue(write(tmp_path, f"jobqueue: {{{yaml}}}")).wishes == wishes


def test_one_of_several_systems(tmp_path: Path) -> None:
    path = write(tmp_path, "jobqueue: {slurm: {queue: a}, lsf: {queue: b}, moab: {queue: c}}")
    assert read_jobqueue(path, "lsf-jsrun").wishes == {"queue": "b"}
    assert read_jobqueue(path, "lsf-jsrun").system == "lsf-jsrun"
    with pytest.raises(UsageError, match="describes slurm, lsf; name the one you want"):
        read_jobqueue(path)
    with pytest.raises(UsageError, match="does not describe oar"):
        read_jobqueue(path, "oar")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML"),
        ("", "is no configuration of dask-jobqueue"),
        ("distributed: {}", "is no configuration of dask-jobqueue"),
        ("jobqueue: {moab: {cores: 1}}", "does not describe a batch system"),
        ("jobqueue: {slurm: {memory: lots}}", "memory: 'lots' cannot be read"),
        ("jobqueue: {slurm: {walltime: soon}}", "walltime: 'soon' cannot be read"),
        ("jobqueue: {slurm: {cores: many}}", "cores: 'many' cannot be read; write a whole number"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        read_jobqueue(write(tmp_path, text))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="cannot be read"):
        read_jobqueue(tmp_path / "x.yaml")
