"""Maps with real processes: components that end in every way, kills, the end of the time, two at once."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.map_kills import argv, done, kill_again_and_again, times_begun
from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command, Finished, run
from tests.cluster.queues import Queue
from tests.cluster.testbed import VirtualSlurm
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


def our(way: Way, *words: str | Path, timeout: float = 60.0) -> Finished:
    """Run a command of ours in the test's folder."""
    command = [sys.executable, "-m", "runner", *words]
    return run(command, timeout=timeout, cwd=way.folder, env=way.variables)


@pytest.mark.parametrize(
    "way",
    ["local", pytest.param("mpich", marks=pytest.mark.mpi), pytest.param("srun", marks=pytest.mark.slurm)],
    indirect=True,
)
def test_in_a_job_of_the_runner(way: Way) -> None:
    result = way.run("--quiet", JOBS / "maps.py", "scan42", "here", "20")
    assert (result.code, result.out) == (0, f"complete {sum(n * n for n in range(20))}\n"), result.err
    assert set(times_begun(way).values()) == {1}


def test_components_that_end_in_every_way(local: Way) -> None:
    for name in ("odd_components.py", "beside.py"):
        shutil.copy(JOBS / name, local.folder)
    hows = ["well", "exit", "raise", "die", "crash", "lock", *(f"well {number}" for number in range(20))]
    (local.folder / "hows.jsonl").write_text("".join(json.dumps(how) + "\n" for how in hows))
    words = ["--quiet", "map", "odd_components:work", "hows.jsonl", "--name", "odd"]
    result = local.run(*words, ranks=2)
    assert result.code == 1
    assert "5 of 26 components of map odd failed: 0001, 0002, 0003 and 2 more" in result.err
    for key, error in {
        "0001": "SystemExit: 3",
        "0002": "OddError: 1",
        "0003": "its worker process died twice while it ran this and nothing else",
        "0004": "its worker process died twice while it ran this and nothing else",
        "0005": "its result cannot be pickled",
    }.items():
        log = our(local, "log", "odd", key).stdout
        assert f"this is {hows[int(key)]}\n" in log
        assert error in log
        assert f"argument   '{hows[int(key)]}'\n" in log
        assert f"a thread of {hows[int(key)]}\n" in log
    shown = our(local, "status", "odd").stdout
    assert "26: 21 done, 5 failed, 0 left" in shown
    assert our(local, "maps").stdout == "map odd: complete with failures, 21 of 26 done, 5 failed\n"
    again = our(local, "rerun", "odd").stdout
    assert "5 components are to be done" in again
    assert "here and now:    runner resume odd\n" in again
    assert "5 left" in our(local, "status", "odd", "--watch").stdout


def test_a_component_that_shares_its_worker_pays_for_its_own_death_alone(local: Way) -> None:
    for name in ("odd_components.py", "beside.py"):
        shutil.copy(JOBS / name, local.folder)
    (local.folder / "hows.txt").write_text("".join(f"well {number}\n" for number in range(9)) + "die\n")
    words = ["--quiet", "--threads", "3", "map", "odd_components:work", "hows.txt", "--name", "odd"]
    result = local.run(*words, ranks=1)
    assert result.code == 1
    assert "1 of 10 components of map odd failed: 0009" in result.err


def test_killed_again_and_again(local: Way) -> None:
    kill_again_and_again(local, random.Random(7), kills=4, count=150, seconds=0.02)


@pytest.fixture
def running(local: Way) -> Iterator[Command]:
    """A map that will take a while."""
    (local.folder / "scratch").mkdir()
    with Command(argv(400, 0.2), cwd=local.folder, env=local.variables) as command:
        end = time.monotonic() + 30
        while not done(local):
            assert time.monotonic() < end, command.stderr
            assert command.running(), command.stderr
            time.sleep(0.05)
        yield command


def test_of_two_that_go_on_one_wins(local: Way, running: Command) -> None:
    second = run(argv(400, 0.2), timeout=30, cwd=local.folder, env=local.variables)
    assert second.returncode == 1
    assert "map killed is being worked at: process" in second.stderr
    third = our(local, "--quiet", "resume", "killed")
    assert third.returncode == 64
    assert "map killed is being worked at by process" in third.stderr
    assert "running" in our(local, "status", "killed").stdout
    assert running.running()


def test_the_time_is_over_and_the_next_one_goes_on(local: Way) -> None:
    words = ["--quiet", JOBS / "maps.py", "scan42", "here", "40", "0.25"]
    first = local.run("--time-limit", "6s", "--drain", "0", *words, ranks=2)
    assert first.code == 75, first.err
    assert "components of map scan42 left" in first.err
    begun = times_begun(local)
    assert 0 < len(begun) < 40
    assert set(begun.values()) == {1}  # none was begun that could not be ended
    second = local.run(*words, ranks=2)
    assert (second.code, second.out) == (0, f"complete {sum(n * n for n in range(40))}\n"), second.err
    assert set(times_begun(local).values()) == {1}


def test_a_component_that_is_longer_than_the_job_is_named(local: Way) -> None:
    words = ["--quiet", "--time-limit", "8s", "--drain", "0", JOBS / "maps.py", "long", "here", "1", "60"]
    first = local.run(*words, ranks=1)
    assert first.code == 75
    assert "interrupted: 0000" in first.err
    second = local.run(*words, ranks=1)
    assert second.code == 1
    assert re.search(
        r"0000 of map long failed: it was not done in \d\.\d s, and this job has no more", second.err
    )


WHOLE_CLUSTER = """
import os, runner
from distributed import Client

def total(numbers):
    print("in", os.getpid())
    with Client() as client:
        return sum(client.gather(client.map(lambda number: number**2, range(numbers)))), os.getpid()

made = runner.map(total, [3, 4, 5], name="whole", cluster_per_component=True)
assert {process for _, process in made} == {os.getpid()}
assert made.log("0001") == f"in {os.getpid()}\\n"
print([value for value, _ in made])
"""


def test_a_component_may_be_a_program_for_the_whole_cluster(local: Way) -> None:
    (local.folder / "job.py").write_text(WHOLE_CLUSTER)
    result = local.run("--quiet", "job.py", ranks=2)
    assert (result.code, result.out) == (0, "[5, 14, 30]\n"), result.err


def test_a_process_that_cannot_even_begin_is_an_error(local: Way) -> None:
    (local.folder / "runner.py").write_text("raise SystemExit(1)\n")  # what `python -m runner` finds there
    command = [sys.executable, JOBS / "maps.py", "scan42", "local", "3"]
    path = {"PYTHONPATH": str(Path(__file__).parents[2])}
    finished = run(command, timeout=30, cwd=local.folder, env=local.variables | path)
    assert finished.returncode == 1
    assert "the map's process ended with 1" in finished.stderr


@pytest.fixture
def small_disk(local: Way) -> Iterator[Path]:
    """A folder for maps with little space."""
    folder = local.folder / "maps"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True, timeout=10)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True, timeout=10)


@pytest.mark.hosts  # as those do, it needs root
def test_a_full_disk(local: Way, small_disk: Path) -> None:
    (local.folder / "sizes.jsonl").write_text("100000\n" * 20)
    (local.folder / "filled.py").write_text("def work(size):\n    return bytes(size)\n")
    words = ["--quiet", "map", "filled:work", "sizes.jsonl", "--name", "full"]
    first = local.run(*words, ranks=2)
    assert first.code == 73
    assert "No space left on device" in first.err
    assert not list(small_disk.glob("full/results/*.err"))
    subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True, timeout=10)
    second = local.run(*words, ranks=2)
    assert second.code == 0, second.err
    assert "20 of 20 components done" in second.out


@pytest.mark.slurm
def test_submitted_once_and_followed_by_its_name(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    way = Way("srun", tmp_path, environment, slurm)
    (tmp_path / "scratch").mkdir()
    script = """
import runner, sys, os, time

def work(number):
    time.sleep(float(os.environ.get("LONG", "0.05")))
    return os.uname().nodename, number**2

job = runner.Job("slurm", nodes=2, tasks_per_node=2, time="0:05:00", parts=2)
made = runner.map(work, range(40), name="scan42", job=job)
again = runner.map(work, range(40), name="scan42", job=job)  # while it is there: nothing new
status = made.wait(timeout=90)
print(status.state, sum(value for _, value in made), len({host for host, _ in made}))
"""
    (tmp_path / "job.py").write_text(script)
    finished = slurm.run([sys.executable, "job.py"], timeout=110, cwd=tmp_path, env=way.variables)
    assert finished.stdout == f"complete {sum(n * n for n in range(40))} 2\n", finished.stderr
    submitted = json.loads((tmp_path / "maps" / "scan42" / "submission.json").read_text())["job_ids"]
    assert len(submitted) == 2
    ours = [sys.executable, "-m", "runner"]
    waited = slurm.run([*ours, "wait", "scan42"], timeout=60, cwd=tmp_path, env=way.variables)
    assert waited.returncode == 0, waited.stderr
    log = slurm.run([*ours, "log", "scan42"], timeout=30, cwd=tmp_path, env=way.variables)
    assert "nothing is left to do" in log.stdout  # the second part


ON_A_QUEUE = """
import runner, sys, os, time

def work(number):
    time.sleep(0.2)
    return os.uname().nodename, number**2

made = runner.map(work, range(24), name="scan42", job=runner.Job(site="here", nodes=4, time="0:05:00"))
"""

READ = """
import runner

made = runner.open_map("scan42")
print(len({host for host, _ in made}), sum(value for _, value in made))
"""


@pytest.mark.mpi
@pytest.mark.timeout(240)
def test_on_other_batch_systems_too(queue: Queue) -> None:
    launcher = MpiLauncher("mpich")
    if not launcher.program.exists():
        pytest.skip(f"no {launcher.name} in {launcher.prefix}: run make test")
    queue.profile(**launcher.environment)
    (queue.folder / "job.py").write_text(ON_A_QUEUE)
    finished = queue.python("job.py")
    assert finished.returncode == 0, finished.stderr
    submission = json.loads((queue.folder / "maps" / "scan42" / "submission.json").read_text())
    queue.jobs += submission["job_ids"]
    (job,) = submission["job_ids"]
    assert queue.wait(job) == 0, queue.log("scan42")
    values = queue.python("-c", READ)
    assert values.stdout == f"4 {sum(n * n for n in range(24))}\n", values.stderr
