"""The command line: what is ours, what is the job's, and what is wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from runner import cli
from runner.errors import MissingFileError, RunnerError, StartError, UsageError
from runner.jobs.registry import BUILT_INS
from runner.launcher.options import LaunchOptions
from runner.launcher.place import LAUNCHERS
from runner.launcher.program import Program
from tests.cluster.processes import Finished, run


class Launched:
    """What the launcher was called with, and how it ended."""

    def __init__(self) -> None:
        self.program: Program | None = None
        self.options: LaunchOptions | None = None
        self.outcome: int | RunnerError = 0

    def __call__(self, program: Program, options: LaunchOptions, *_rest: object) -> int:
        self.program, self.options = program, options
        if isinstance(self.outcome, RunnerError):
            raise self.outcome
        return self.outcome


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Launched:
    """Nothing is launched; this test run itself is not seen as a rank."""
    for launcher in LAUNCHERS:
        monkeypatch.delenv(launcher.rank, raising=False)
    stand_in = Launched()
    monkeypatch.setattr(cli, "launch", stand_in)
    return stand_in


def say(*args: str, rank: int | None = None) -> Result:
    """Give the command line to ``runner``, on one of two ranks of mpirun if `rank` is given."""
    env = {} if rank is None else {"OMPI_COMM_WORLD_RANK": f"{rank}", "OMPI_COMM_WORLD_SIZE": "2"}
    return CliRunner().invoke(cli.runner, args, prog_name="runner", env=env)


def script(target: str, *args: str) -> Program:
    return Program(kind="script", target=target, args=args)


def module(target: str, *args: str) -> Program:
    return Program(kind="module", target=target, args=args)


@pytest.mark.parametrize(
    ("args", "program", "workers"),
    [
        (["job.py"], script("job.py"), None),
        (["job.py", "a", "-x", "--", "b"], script("job.py", "a", "-x", "--", "b"), None),
        # options end where the job begins, ours as well
        (["job.py", "--workers", "3"], script("job.py", "--workers", "3"), None),
        (["job.py", "--help"], script("job.py", "--help"), None),
        (["job.py", "-m", "x"], script("job.py", "-m", "x"), None),
        (["--workers", "3", "job.py", "--workers", "4"], script("job.py", "--workers", "4"), 3),
        (["--workers", "3", "--", "job.py", "-q"], script("job.py", "-q"), 3),
        (["--", "reconstruct.py"], script("reconstruct.py"), None),
        (["./reconstruct", "x"], script("./reconstruct", "x"), None),  # a file, not the built-in job
        # a module gets everything behind its name
        (["-m", "package.job"], module("package.job"), None),
        (["-m", "module", "-x"], module("module", "-x"), None),
        (["-m", "module", "--help", "--workers", "3"], module("module", "--help", "--workers", "3"), None),
        (["-c", "print(1)", "-m", "-x"], Program(kind="code", target="print(1)", args=("-m", "-x")), None),
        (
            ["-q", "-cpass", "--workers", "3"],
            Program(kind="code", target="pass", args=("--workers", "3")),
            None,
        ),
        (["-", "-m", "x"], Program(kind="stdin", target="-", args=("-m", "x")), None),
        (["--workers", "3", "-", "-c"], Program(kind="stdin", target="-", args=("-c",)), 3),
        (["-m", "module", "--", "-x"], module("module", "--", "-x"), None),
        (["-mmodule", "-x"], module("module", "-x"), None),
        (["--workers", "3", "-m", "module", "-q"], module("module", "-q"), 3),
        (["--workers=3", "-m", "module", "-q"], module("module", "-q"), 3),
        (["-q", "--workers", "3", "--local", "-m", "module", "-m", "y"], module("module", "-m", "y"), 3),
    ],
)
def test_what_is_ours_and_what_is_the_jobs(
    launched: Launched, args: list[str], program: Program, workers: int | None
) -> None:
    result = say(*args)
    assert (result.exit_code, result.output) == (0, "")
    assert launched.program == program
    assert launched.options is not None
    assert launched.options.workers == workers


def test_without_options(launched: Launched) -> None:
    say("job.py")
    assert launched.options == LaunchOptions()  # what the help promises is what the launcher takes


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (["--workers", "4", "--threads", "2"], LaunchOptions(workers=4, threads=2)),
        (["--memory-limit", "16G"], LaunchOptions(memory_limit=16 << 30)),
        (["--memory-limit", "1.5 GiB"], LaunchOptions(memory_limit=3 << 29)),
        (["--roles", "dedicated"], LaunchOptions(roles="dedicated")),
        (["--rendezvous", "mpi"], LaunchOptions(rendezvous="mpi")),
        (["--rendezvous-dir", "/shared/meet"], LaunchOptions(rendezvous_folder=Path("/shared/meet"))),
        (["--interface", "ib0"], LaunchOptions(interface="ib0")),
        (["--local"], LaunchOptions(local=True)),
        (["--start-timeout", "0:10:00"], LaunchOptions(start_timeout=600)),
        (["--start-timeout", "90"], LaunchOptions(start_timeout=90)),
        (["--resources", "big=1,disk=2.5"], LaunchOptions(resources={"big": 1, "disk": 2.5})),
        (["--stop-timeout", "2s"], LaunchOptions(stop_timeout=2)),
        (["--min-workers", "2", "--restarts", "0"], LaunchOptions(min_workers=2, restarts=0)),
        (["--scratch", "/nvme", "--logs", "logs"], LaunchOptions(scratch=Path("/nvme"), logs=Path("logs"))),
        (["-v", "--status-dir", "/jobs"], LaunchOptions(verbose=True, status_folder=Path("/jobs"))),
        (["--summary", "s.json"], LaunchOptions(summary=Path("s.json"))),
        (["--report", "r.html"], LaunchOptions(report=Path("r.html"))),
        (["--no-dashboard"], LaunchOptions(dashboard=False)),
        (["--insecure"], LaunchOptions(encrypt=False)),
        (["-q"], LaunchOptions(quiet=True)),
        (["--quiet"], LaunchOptions(quiet=True)),
    ],
)
def test_options(launched: Launched, args: list[str], options: LaunchOptions) -> None:
    result = say(*args, "job.py")
    assert result.exit_code == 0, result.output
    assert launched.options == options


WRONG = [
    (["--nonsense", "job.py"], "No such option"),
    (["-x", "job.py"], "No such option"),
    (["--workers", "0", "job.py"], "Invalid value for '--workers': 0 is not in the range x>=1."),
    (["--workers", "two", "job.py"], "Invalid value for '--workers': 'two' is not a valid integer range."),
    (["--workers"], "Option '--workers' requires an argument."),
    (["--threads", "-1", "job.py"], "Invalid value for '--threads': -1 is not in the range x>=1."),
    (["--restarts", "-1", "job.py"], "Invalid value for '--restarts': -1 is not in the range x>=0."),
    (["--memory-limit", "5X", "job.py"], "'5X' is not a memory size; write it like 400G, 1.5GiB or 4096"),
    (["--start-timeout", "soon", "job.py"], "'soon' is not a duration; write it like 2:00:00 (h:mm:ss)"),
    (["--roles", "none", "job.py"], "'none' is not one of 'auto', 'dedicated', 'shared'"),
    (["--rendezvous", "bus", "job.py"], "'bus' is not one of 'auto', 'file', 'mpi'"),
    (["-m"], "Option '-m' requires an argument."),
    (["--workers", "3"], "no job was given; give a Python script, -m MODULE or a built-in job"),
    (["center"], "Missing argument 'SCAN'."),
    (["center", "--nonsense", "scan.h5"], "No such option"),
    (["reconstruct", "a.nx", "b.nx", ".", "--slice", "5"], "--slice is for one scan"),
    (["map", "textwrap:dedend", os.devnull, "--name", "n"], "there is no textwrap:dedend"),
    (["map", "textwrap:dedent", os.devnull, "--name", "n"], "is no file of arguments"),
    (["map", "textwrap:dedent", os.devnull, "--name", "n/m"], "'n/m'"),
]


@pytest.mark.parametrize(("args", "message"), WRONG)
def test_wrong_usage_is_said_and_nothing_is_launched(
    launched: Launched, args: list[str], message: str
) -> None:
    result = say(*args)
    assert result.exit_code == 64
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert (result.stdout, launched.program) == ("", None)


@pytest.mark.parametrize(("args", "message"), WRONG)
def test_wrong_usage_is_said_by_one_rank_only(launched: Launched, args: list[str], message: str) -> None:
    assert message in say(*args, rank=0).stderr
    result = say(*args, rank=1)
    assert (result.exit_code, result.output, launched.program) == (64, "", None)


@pytest.mark.parametrize("args", [["--help"], ["center", "--help"], ["--version"]])
def test_help_is_given_by_one_rank_only(launched: Launched, args: list[str]) -> None:
    assert len(say(*args, rank=0).stdout) > 10
    result = say(*args, rank=1)
    assert (result.exit_code, result.output) == (0, "")


def test_no_arguments_at_all_show_the_help(launched: Launched) -> None:
    result = say()
    assert "Usage: runner [OPTIONS] JOB [ARGS]..." in result.output
    assert launched.program is None


def test_help_lists_the_built_in_jobs_and_tools(launched: Launched) -> None:
    result = say("--help")
    assert result.exit_code == 0
    for name, built_in in BUILT_INS.items():
        assert any(line.split()[:1] == [name] for line in result.stdout.splitlines())
        assert built_in.summary in result.stdout
    for option in ("--workers", "--rendezvous-dir", "--insecure", "-q, --quiet"):
        assert option in result.stdout


@pytest.mark.parametrize("name", BUILT_INS)
def test_each_built_in_has_its_own_help(launched: Launched, name: str) -> None:
    result = say(name, "--help")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"Usage: runner {name} ")
    assert launched.program is None


def test_a_built_in_job_is_launched_with_its_arguments(launched: Launched) -> None:
    result = say("--workers", "2", "center", "scan.h5", "--bands", "3")
    assert result.exit_code == 0, result.output
    assert launched.program == Program(
        kind="function", target="runner.jobs.center:run", args=("scan.h5", "--bands", "3")
    )


def test_a_file_of_settings_is_written_without_a_cluster(launched: Launched, tmp_path: Path) -> None:
    scan, file = tmp_path / "scan.nx", tmp_path / "recon.toml"
    assert say("simulate", "--rows", "4", "--columns", "32", "--angles", "20", str(scan)).exit_code == 0
    words = ("reconstruct", "--init", str(scan), str(file))
    refused = say(*words, rank=0)
    assert (refused.exit_code, file.exists()) == (64, False)
    assert "--init is for a single process" in refused.stderr
    assert say(*words).exit_code == 0
    assert file.is_file()
    assert launched.program is None


# -- how it ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [0, 1, 3, 137])
def test_the_exit_code_is_the_jobs(launched: Launched, code: int) -> None:
    launched.outcome = code
    assert say("job.py").exit_code == code


@pytest.mark.parametrize(
    ("error", "code", "by_all"),
    [
        (UsageError("wrong", "right"), 64, False),
        (MissingFileError("wrong", "right"), 66, False),
        (StartError("wrong", "right"), 69, True),  # each rank may have a reason of its own
    ],
)
def test_what_a_user_can_mend_is_one_line(
    launched: Launched, error: RunnerError, code: int, by_all: bool
) -> None:
    launched.outcome = error
    for rank in (None, 0, 1):
        result = say("job.py", rank=rank)
        assert result.exit_code == code
        assert result.output == ("runner: wrong; right\n" if by_all or rank != 1 else "")


def test_a_defect_of_ours_keeps_its_traceback(launched: Launched, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(cli, "launch", fail)
    assert isinstance(say("job.py").exception, ZeroDivisionError)


def test_ranks_that_contradict_each_other_do_not_hide_wrong_usage(launched: Launched) -> None:
    result = CliRunner().invoke(
        cli.runner,
        ["--nonsense"],
        prog_name="runner",
        env={"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "2"},
    )
    assert (result.exit_code, "No such option" in result.stderr) == (64, True)


# -- as real processes --------------------------------------------------------------------------------------


@pytest.fixture
def python(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Finished]:
    """Run the interpreter in an empty folder."""

    def start(*args: str, **env: str) -> Finished:
        return run([sys.executable, *args], timeout=60, cwd=tmp_path, env=environment | env)

    return start


def test_a_script_that_is_not_there(python: Callable[..., Finished]) -> None:
    finished = python("-m", "runner", "nothing.py")
    assert (finished.returncode, finished.stdout) == (66, "")
    assert finished.stderr == (
        "runner: there is no job 'nothing.py'; "
        "give a Python file, -m module, or a built-in job (see: runner --help)\n"
    )


def test_another_rank_is_silent_about_it(python: Callable[..., Finished]) -> None:
    rank_1 = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "RUNNER_JOB": "x"}
    for args, code in ((["nothing.py"], 66), (["--nonsense"], 64), (["--workers", "3"], 64), (["--help"], 0)):
        finished = python("-m", "runner", *args, **rank_1)
        assert (finished.returncode, finished.stdout, finished.stderr) == (code, "", "")


def test_a_batch_script_without_srun_is_told(python: Callable[..., Finished], tmp_path: Path) -> None:
    (tmp_path / "job.py").touch()
    job = {"SLURM_JOB_ID": "9", "SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_NODELIST": "node1"}
    finished = python("-m", "runner", "job.py", **job)
    assert (finished.returncode, finished.stdout) == (64, "")
    assert finished.stderr == (
        "runner: this is one process in SLURM job 9, which is for 4 ranks; put srun (or mpirun) in front: "
        "srun python -m runner ...; or use this machine alone: --local\n"
    )


def test_a_thousand_ranks_start_light(python: Callable[..., Finished]) -> None:
    """What every rank imports before it has met the others; Dask comes in the warm parent, beside it."""
    heavy = ("dask", "distributed", "tornado", "numpy", "scipy", "h5py", "jinja2", "cryptography", "mpi4py")
    program = f"import sys, runner.cli; print([name for name in {heavy} if name in sys.modules])"
    finished = python("-c", program)
    assert (finished.stdout, finished.stderr) == ("[]\n", "")
