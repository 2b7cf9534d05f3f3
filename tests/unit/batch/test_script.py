from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.batch.request import JobRequest
from runner.batch.script import SYSTEMS, render
from runner.errors import UsageError

GOLDENS = Path(__file__).parent / "goldens"
BARE = JobRequest(command=("job.py",), python="/opt/env/bin/python")
FULL = JobRequest(
    command=("--logs", "logs", "reconstruct", "my scan.nx", "it's.h5"),
    nodes=2,
    tasks_per_node=5,
    cpus_per_task=8,
    gpus_per_node=10,
    gpu_type="a100",
    gpu_style="gres",
    memory=400 << 30,
    walltime=2 * 3600,
    queue="gpu",
    account="abc",
    name="recon",
    parallel_environment="mpi-node",
    starter="mpirun",
    interface="ib0",
    scratch="/local/$USER",
    prologue=("module load mpi", "ulimit -c 0"),
    directives=("--exclusive",),
    python="/opt/my env/bin/python",
)
ONE_WAY: dict[str, object] = {"gpu_type": None, "gpu_style": None, "parallel_environment": None}
OWN_LAUNCHER: dict[str, object] = {"starter": None}
#: What a request may not hold for a system (it is refused, see below).
REFUSED: dict[str, dict[str, object]] = {
    "slurm": OWN_LAUNCHER | {"parallel_environment": None},
    "pbs": ONE_WAY,
    "pbs-pals": ONE_WAY | OWN_LAUNCHER,
    "sge": {"memory": None},
    "oar": ONE_WAY | {"memory": None},
    "lsf": ONE_WAY | {"memory": None},
    "lsf-jsrun": ONE_WAY | OWN_LAUNCHER | {"memory": None},
    "htcondor": ONE_WAY | OWN_LAUNCHER | {"queue": None},
    "flux": ONE_WAY | OWN_LAUNCHER | {"memory": None},
    "mpi": ONE_WAY
    | {"gpus_per_node": None, "memory": None, "queue": None, "account": None, "directives": ()},
}
#: What must be said in a system's own words.
OWN_WORDS = {
    "sge": {"gpu_style": "-l gpu={type}{per_node}"},
    "htcondor": {"directives": ('requirements = (Machine != "old")',)},
}
REQUESTS = [
    pytest.param(system, name, request, id=f"{system}-{name}")
    for system in SYSTEMS
    for name, request in (
        ("bare", BARE),
        ("full", replace(FULL, **(REFUSED[system] | OWN_WORDS.get(system, {})))),
    )
]
REQUESTS += [
    pytest.param(
        system, "hosts", replace(BARE, starter="hosts", cpus_per_task=2, walltime=60), id=f"{system}-hosts"
    )
    for system in SYSTEMS
    if "starter" not in REFUSED[system]
]
SCRIPTS = [parameters for parameters in REQUESTS if parameters.values[0] != "htcondor"]


def golden(system: str, name: str) -> Path:
    return GOLDENS / f"{system}-{name}{'.sub' if system == 'htcondor' else '.sh'}"


@pytest.mark.parametrize(("system", "name", "request_"), REQUESTS)
def test_rendered_script_is_the_golden_one(system: str, name: str, request_: JobRequest) -> None:
    # to renew after a change that was looked at: python -m tests.unit.batch.test_script
    assert render(system, request_) == golden(system, name).read_text()


def test_each_golden_is_tested() -> None:
    assert {file.stem for file in GOLDENS.glob("*")} == {f"{p.values[0]}-{p.values[1]}" for p in REQUESTS}


@pytest.mark.parametrize(("system", "name", "request_"), SCRIPTS)
def test_bash_and_shellcheck_find_nothing(
    system: str, name: str, request_: JobRequest, tmp_path: Path
) -> None:
    check_shell(render(system, request_), tmp_path / f"{name}.sh")


def check_shell(text: str, script: Path) -> None:
    script.write_text(text)
    checkers = [
        ["bash", "-n"],
        [shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or "shellcheck"],
    ]
    for checker in checkers:
        checked = subprocess.run([*checker, script], capture_output=True, text=True, check=False, timeout=60)
        assert checked.stdout + checked.stderr == ""
        assert checked.returncode == 0


def condor_arguments(text: str) -> list[str]:
    """Read the value of ``arguments`` as HTCondor does: macros, then double quotes, then single ones."""
    (line,) = (line for line in text.splitlines() if line.startswith("arguments"))
    value = line.partition("=")[2].strip().replace("$(DOLLAR)", "$")
    assert value[0] == value[-1] == '"'
    inside = value[1:-1].replace('""', "\0")
    assert '"' not in inside
    words = re.findall(r"'((?:[^']|'')*)'|(\S+)", inside.replace("\0", '"'))
    return [quoted.replace("''", "'") or plain for quoted, plain in words]


@pytest.mark.parametrize("name", ["bare", "full"])
def test_the_shell_line_of_htcondor_is_sound(name: str, tmp_path: Path) -> None:
    text = golden("htcondor", name).read_text()
    option, line = condor_arguments(text)
    assert option == ("-c" if name == "bare" else "-lc")
    check_shell(f"#!/bin/bash\n{line}\n", tmp_path / "line.sh")
    assert re.findall(r"\$\((\w+)\)", text.replace("$(DOLLAR)", "")) == (
        ["Cluster", "Cluster", "Node", "Cluster", "Node", "Cluster"]
    )


@pytest.mark.parametrize("system", SYSTEMS)
def test_each_value_that_was_given_is_in_the_script(system: str) -> None:
    marks = {
        "queue": "QQQ",
        "account": "AAA",
        "name": "NNN",
        "directives": ("--DDD",),
        "python": "/PPP",
        "interface": "III",
        "scratch": "/SSS",
        "prologue": ("LLL",),
    }
    allowed = {name: mark for name, mark in marks.items() if name not in REFUSED[system]}
    text = render(system, replace(BARE, **allowed))
    missing = {name for name in allowed if (marks[name] if name != "directives" else "--DDD")[0] not in text}
    assert missing <= ({"name"} if system == "mpi" else set())


@pytest.mark.parametrize(
    ("system", "name"),
    [
        (system, name)
        for system, names in REFUSED.items()
        for name in names
        if not (system == "mpi" and name.startswith("gpu_"))  # the GPUs themselves are refused
    ],
)
def test_what_a_system_cannot_be_asked_for_is_refused(system: str, name: str) -> None:
    gpus = {"gpus_per_node": 10} if name.startswith("gpu_") else {}
    with pytest.raises(UsageError, match=rf"(cannot be given for|is no way to ask) {system}( for GPUs)?; "):
        render(system, replace(BARE, **gpus, **{name: getattr(FULL, name)}))


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


@settings(deadline=None)
@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12), min_size=1))
def test_words_arrive_through_htcondor_as_they_were(words: list[str]) -> None:
    _, line = condor_arguments(render("htcondor", replace(BARE, command=tuple(words))))
    assert shlex.split(line.partition("; exec ")[2]) == ["/opt/env/bin/python", "-u", "-m", "runner", *words]


@pytest.mark.parametrize("name", ["queue", "account", "name", "parallel_environment", "interface"])
@pytest.mark.parametrize("value", ["a b", "x\n#SBATCH --uid=0", "", "-x", "a;b"])
def test_a_name_that_could_break_the_script_is_refused(name: str, value: str) -> None:
    with pytest.raises(UsageError, match="cannot stand in a directive"):
        replace(BARE, **{name: value})


@pytest.mark.parametrize("scratch", ["", "a b", "$(rm x)", "`x`", '"'])
def test_a_scratch_folder_is_a_path(scratch: str) -> None:
    with pytest.raises(UsageError, match="cannot be a scratch folder"):
        replace(BARE, scratch=scratch)


def test_a_line_of_the_prologue_is_one_line() -> None:
    with pytest.raises(UsageError, match="is not a line"):
        replace(BARE, prologue=("module load x\nrm -rf y",))


def test_htcondor_takes_no_argument_of_several_lines() -> None:
    with pytest.raises(UsageError, match="cannot be an argument of a job of HTCondor"):
        render("htcondor", replace(BARE, command=("job.py", "a\nb")))


@pytest.mark.parametrize("name", ["pbs", "pbs-pals", "lsf", "lsf-jsrun", "htcondor", "flux"])
def test_a_template_that_was_never_run_says_so(name: str) -> None:
    assert "Not run: " in "".join(render(name, BARE).splitlines(keepends=True)[:4])


def test_an_unknown_starter_is_refused() -> None:
    with pytest.raises(UsageError, match="'aprun' starts no ranks; choose mpirun or hosts"):
        replace(BARE, starter="aprun")


@pytest.mark.parametrize("directive", ["", " ", "--a\nrm -rf x"])
def test_a_directive_is_one_line(directive: str) -> None:
    with pytest.raises(UsageError, match="is not a directive"):
        replace(BARE, directives=(directive,))


def test_nothing_to_run_is_refused() -> None:
    with pytest.raises(UsageError, match="no job was given"):
        replace(BARE, command=())


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(UsageError, match="choose one of slurm, pbs, pbs-pals, sge, oar, lsf"):
        render("cobalt", BARE)


def test_the_full_request_leaves_nothing_out() -> None:
    for field in fields(JobRequest):
        assert getattr(FULL, field.name) != getattr(BARE, field.name), field.name


if __name__ == "__main__":
    for parameters in REQUESTS:
        system_, name_, asked = parameters.values
        golden(str(system_), str(name_)).write_text(render(str(system_), asked))
