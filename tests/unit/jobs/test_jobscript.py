from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from runner.batch.request import JobRequest
from runner.batch.script import SYSTEMS, render
from runner.errors import UsageError
from runner.jobs.jobscript import command


def run(*words: str) -> Result:
    return CliRunner().invoke(command, words, catch_exceptions=False)


def test_prints_the_script_of_the_request() -> None:
    words = (
        "slurm --nodes 2 --ntasks-per-node 5 --cpus-per-task 8 --gpus-per-node 4 --mem 400G --time 2:00:00 "
        "--partition gpu --account abc --name recon --directive --exclusive -- --logs out job.py --fast"
    )
    result = run(*words.split())
    assert result.exit_code == 0
    assert result.stdout == render(
        "slurm",
        JobRequest(
            command=("--logs", "out", "job.py", "--fast"),
            nodes=2,
            tasks_per_node=5,
            cpus_per_task=8,
            gpus_per_node=4,
            memory=400 << 30,
            walltime=7200,
            queue="gpu",
            account="abc",
            name="recon",
            directives=("--exclusive",),
        ),
    )


def test_the_script_starts_this_python() -> None:
    assert sys.executable in run("mpi", "--", "job.py").stdout


def test_the_systems_are_those_of_the_templates() -> None:
    (system,) = (parameter for parameter in command.params if parameter.name == "system")
    assert tuple(system.type.to_info_dict()["choices"]) == SYSTEMS


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("slurm", "no job was given"),
        ("slurm --mem lots -- job.py", "'lots' is not a memory size"),
        ("slurm --time soon -- job.py", "'soon' is not a duration"),
        ("sge --mem 4G -- job.py", "--mem cannot be given for sge"),
    ],
)
def test_a_users_mistake_is_one_line(words: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(*words.split())


def test_import_needs_neither_templates_nor_arrays() -> None:
    look = "import sys, runner.jobs.jobscript; print({'jinja2', 'numpy', 'dask'} & set(sys.modules))"
    printed = subprocess.run(
        [sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=30
    )
    assert printed.stdout.strip() == "set()"
