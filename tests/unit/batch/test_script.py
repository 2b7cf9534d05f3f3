from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from runner.batch.script import SYSTEMS, JobRequest, render
from runner.errors import UsageError

GOLDENS = Path(__file__).parent / "goldens"
BARE = JobRequest(command=("job.py",), python="/opt/env/bin/python")
FULL = JobRequest(
    command=("--logs", "logs", "reconstruct", "my scan.nx", "it's.h5"),
    nodes=2,
    tasks_per_node=5,
    cpus_per_task=8,
    gpus_per_node=4,
    memory=400 << 30,
    walltime=2 * 3600,
    queue="gpu",
    account="abc",
    name="recon",
    parallel_environment="mpi-node",
    directives=("--exclusive",),
    python="/opt/my env/bin/python",
)
#: What a request may not hold for a system (it is refused, see below).
REFUSED = {
    "sge": {"gpus_per_node": None, "memory": None},
    "oar": {"memory": None},
    "mpi": {"gpus_per_node": None, "memory": None, "queue": None, "account": None, "directives": ()},
}
REQUESTS = [
    pytest.param(system, name, replace(request, **REFUSED.get(system, {})), id=f"{system}-{name}")
    for system in SYSTEMS
    for name, request in (("bare", BARE), ("full", FULL))
]


@pytest.mark.parametrize(("system", "name", "request_"), REQUESTS)
def test_rendered_script_is_the_golden_one(system: str, name: str, request_: JobRequest) -> None:
    # to renew after a change that was looked at: python -m tests.unit.batch.test_script
    assert render(system, request_) == (GOLDENS / f"{system}-{name}.sh").read_text()


def test_each_golden_is_tested() -> None:
    assert {file.stem for file in GOLDENS.glob("*")} == {f"{p.values[0]}-{p.values[1]}" for p in REQUESTS}


@pytest.mark.parametrize(("system", "name", "request_"), REQUESTS)
def test_bash_and_shellcheck_find_nothing(
    system: str, name: str, request_: JobRequest, tmp_path: Path
) -> None:
    script = tmp_path / f"{name}.sh"
    script.write_text(render(system, request_))
    checkers = [
        ["bash", "-n"],
        [shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or "shellcheck"],
    ]
    for checker in checkers:
        checked = subprocess.run([*checker, script], capture_output=True, text=True, check=False, timeout=60)
        assert checked.stdout + checked.stderr == ""
        assert checked.returncode == 0


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_value_that_was_given_is_in_the_script(system: str) -> None:
    marks = {"queue": "QQQ", "account": "AAA", "name": "NNN", "directives": ("--DDD",), "python": "/PPP"}
    allowed = {name: mark for name, mark in marks.items() if name not in REFUSED.get(system, {})}
    text = render(system, replace(BARE, **allowed))
    missing = [mark for mark in ("QQQ", "AAA", "NNN", "--DDD", "/PPP") if mark not in text]
    assert set(missing) <= ({"QQQ", "AAA", "NNN", "--DDD"} if system == "mpi" else set())


@pytest.mark.parametrize(
    ("system", "name"), [(system, name) for system, names in REFUSED.items() for name in names]
)
def test_what_a_system_cannot_be_asked_for_is_refused(system: str, name: str) -> None:
    with pytest.raises(UsageError, match=rf"cannot be given for {system}; "):
        render(system, replace(BARE, **{name: getattr(FULL, name)}))


def test_words_with_blanks_and_quotes_arrive_as_they_were(tmp_path: Path) -> None:
    words = ("a b", "it's", "$HOME", "*", '"', "\\", "line\nbreak", "")
    python = tmp_path / "a python"
    python.write_text('#!/bin/bash\nprintf "%s\\0" "$@"\n')
    python.chmod(0o755)
    mpirun = tmp_path / "mpirun"
    mpirun.write_text('#!/bin/bash\nshift 2; exec "$@"\n')
    mpirun.chmod(0o755)
    script = render("mpi", replace(BARE, command=words, python=str(python)))
    path = f"{tmp_path}:/usr/bin:/bin"
    printed = subprocess.run(
        ["bash", "-c", script], env={"PATH": path}, capture_output=True, text=True, check=True, timeout=30
    )
    assert printed.stdout.split("\0")[:-1] == ["-u", "-m", "runner", *words]


@pytest.mark.parametrize("name", ["queue", "account", "name", "parallel_environment"])
@pytest.mark.parametrize("value", ["a b", "x\n#SBATCH --uid=0", "", "-x", "a;b"])
def test_a_name_that_could_break_the_script_is_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError, match="cannot stand in a directive"):
        replace(BARE, **{name: value})


@pytest.mark.parametrize("directive", ["", " ", "--a\nrm -rf x"])
def test_a_directive_is_one_line(directive: str) -> None:
    with pytest.raises(UsageError, match="is not a directive"):
        replace(BARE, directives=(directive,))


def test_nothing_to_run_is_refused() -> None:
    with pytest.raises(UsageError, match="no job was given"):
        replace(BARE, command=())


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(UsageError, match="choose one of slurm, pbs, sge, oar, mpi"):
        render("cobalt", BARE)


def test_the_full_request_leaves_nothing_out() -> None:
    for field in fields(JobRequest):
        assert getattr(FULL, field.name) != getattr(BARE, field.name), field.name


if __name__ == "__main__":
    for parameters in REQUESTS:
        system_, name_, asked = parameters.values
        (GOLDENS / f"{system_}-{name_}.sh").write_text(render(str(system_), asked))
