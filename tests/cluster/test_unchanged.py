"""A script needs no change, whoever starts it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cluster.processes import run
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


def test_a_script_finds_everything_in_its_place(way: Way) -> None:
    result = way.run(JOBS / "unchanged.py", "first", "--second", "-m")
    assert result.code == 0, result.err
    lines = dict(line.split(" ", 1) for line in result.out.splitlines() if " " in line)
    assert lines["name"] == "__main__"
    assert lines["file"] == str(JOBS / "unchanged.py")
    assert lines["argv"] == repr([str(JOBS / "unchanged.py"), "first", "--second", "-m"])
    assert lines["path"] == str(JOBS)


def test_standard_input_is_the_jobs(local: Way) -> None:
    result = local.run(JOBS / "unchanged.py", "--read")  # Open MPI itself never passes on the end of it
    assert result.out.endswith("stdin ''\n"), result.err


def test_a_module_runs_as_python_runs_it(local: Way) -> None:
    (local.folder / "package").symlink_to(JOBS / "package")
    result = local.run("-m", "package.module", "--flag", "-x")
    assert (result.code, result.out) == (0, "-3 ['--flag', '-x']\n"), result.err


@pytest.mark.parametrize("ranks", [1, 2])
def test_one_and_two_ranks_share_the_roles(way: Way, ranks: int) -> None:
    result = way.run(JOBS / "ends.py", "success", ranks=ranks)
    assert result.code == 0, result.err
    assert "scheduler + client + " in result.err


@pytest.mark.parametrize("command", [["runner"], ["dask", "runner"]])
def test_console_command_and_dask_plugin_are_the_same(local: Way, command: list[str]) -> None:
    program = Path(sys.executable).parent / command[0]
    argv = [program, *command[1:], "--workers", "1", "-q", JOBS / "ends.py", "exit3"]
    finished = run(argv, timeout=60, env={**local.environment, "TEST_FOLDER": str(local.folder)})
    assert finished.returncode == 3, finished.stderr


def test_a_missing_job_is_one_line(way: Way) -> None:
    result = way.run("nowhere.py")
    assert result.code == 66
    assert result.err.count("there is no job 'nowhere.py'") == 1
    assert "Traceback" not in result.err


def test_a_wrong_option_is_said_once(way: Way) -> None:
    result = way.run("--wrokers", "2", JOBS / "ends.py", "success")
    assert result.code == 64
    assert result.err.count("No such option '--wrokers'") == 1
    assert "'--workers'" in result.err
    assert result.out == ""


def test_the_dashboard_answers_where_the_election_says(local: Way) -> None:
    pytest.importorskip("bokeh")
    result = local.run(JOBS / "dashboard.py", ranks=1)
    assert result.code == 0, result.err
    url, status = result.out.split()
    assert status == "200"
    assert url in result.err
    assert url.startswith("http://127.0.0.1:")
