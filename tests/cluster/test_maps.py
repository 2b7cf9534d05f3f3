"""Maps with real processes: components that end in every way, kills, the end of the time, two at once."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.map_kills import NAME, argv, done, kill_again_and_again, times_begun
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
    ["local", pytest.param("mpich", marks=pytest.mark.mpi)],
    indirect=True,
)
def test_in_a_job_of_the_runner(way: Way) -> None:
    result = way.run("--quiet", JOBS / "maps.py", "scan42", "here", "20")
    assert (result.code, result.out) == (0, f"complete {sum(n * n for n in range(20))}\n"), result.err
    assert set(times_begun(way).values()) == {1}


def test_components_that_end_unheard_are_found_in_the_folder(local: Way) -> None:
    result = local.run("--quiet", JOBS / "unheard.py", "quiet", "20", ranks=2)
    assert (result.code, result.out) == (0, f"complete {sum(n * n for n in range(20))} 1\n"), result.err
    assert set(times_begun(local).values()) == {1}


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
    with Command(argv(2000, 0.2), cwd=local.folder, env=local.variables) as command:
        end = time.monotonic() + 30
        while not done(local):
            assert time.monotonic() < end, command.stderr
            assert command.running(), command.stderr
            time.sleep(0.05)
        yield command


def test_of_two_that_go_on_one_wins(local: Way, running: Command) -> None:
    second = run(argv(2000, 0.2), timeout=30, cwd=local.folder, env=local.variables)
    assert second.returncode == 1
    assert "map killed is being worked at: process" in second.stderr
    third = our(local, "--quiet", "resume", "killed")
    assert third.returncode == 64
    assert "map killed is being worked at by process" in third.stderr
    assert "running" in our(local, "status", "killed").stdout
    assert running.running()


def test_of_two_that_begin_at_once_one_wins(local: Way) -> None:
    (local.folder / "scratch").mkdir()
    (local.folder / "hold").touch()  # until the other one has gone away
    command = argv(40, 0.1)
    with (
        Command(command, cwd=local.folder, env=local.variables) as one,
        Command(command, cwd=local.folder, env=local.variables) as other,
    ):
        end = time.monotonic() + 60
        while one.running() and other.running():
            assert time.monotonic() < end, one.stderr + other.stderr
            time.sleep(0.05)
        (local.folder / "hold").unlink()
        ends = [each.wait(timeout=60) for each in (one, other)]
    loser, winner = sorted(ends, key=lambda end: end.stdout)
    assert winner.stdout == f"complete {sum(n * n for n in range(40))}\n", winner.stderr
    assert (loser.returncode, winner.returncode) == (1, 0)
    assert re.search(r"map killed is being worked at(:| by) process \d+ on ", loser.stderr)
    assert set(times_begun(local).values()) == {1}


def test_the_time_is_over_and_the_next_one_goes_on(local: Way) -> None:
    words = ["--quiet", JOBS / "maps.py", "scan42", "here", "40", "1.0"]
    first = local.run("--time-limit", "16s", "--drain", "0", *words, ranks=2)
    assert first.code == 75, first.err
    assert "components of map scan42 left" in first.err
    begun = times_begun(local)
    assert 0 < len(begun) < 40
    assert set(begun.values()) == {1}  # none was begun that could not be ended
    (local.folder / "short").touch()
    second = local.run(*words, ranks=2)
    assert (second.code, second.out) == (0, f"complete {sum(n * n for n in range(40))}\n"), second.err
    assert set(times_begun(local).values()) == {1}


def test_a_component_that_is_longer_than_the_job_is_named(local: Way) -> None:
    words = ["--quiet", "--drain", "0", JOBS / "maps.py", "long", "here", "1", "60"]
    first = local.run("--time-limit", "20s", *words, ranks=1)
    assert first.code == 75
    assert "interrupted: 0000" in first.err
    cut = json.loads((local.folder / "maps" / "long" / "runs" / "0001.json").read_text())["cut"]
    had = int(cut["0000"])  # whatever starting took
    second = local.run("--time-limit", f"{had}s", *words, ranks=1)
    assert second.code == 1
    assert re.search(
        r"0000 of map long failed: it was not done in \d+\.\d s, and this job has no more", second.err
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


SUBMITS = """
import os, time
from pathlib import Path
import runner

FOLDER = Path.cwd()

def work(number):
    with (FOLDER / f"began-{number}").open("a") as file:  # a line for each time
        file.write(f"{os.uname().nodename} {os.getpid()}\\n")
    time.sleep(0.5)
    while number >= 24 and not (FOLDER / "struck").exists():  # when the worker and the lead are killed
        time.sleep(0.05)
    return os.uname().nodename, number**2

job = runner.Job(site="here", nodes=4, time="0:05:00", parts=2)
made = runner.map(work, range(40), name="killed", job=job)
again = runner.map(work, range(40), name="killed", job=job)  # while it is there: nothing new
"""

READS = """
import runner

made = runner.open_map("killed")
print(made.wait(timeout=5).state, sum(value for _, value in made), len({host for host, _ in made}))
"""


@pytest.mark.timeout(240)
def test_a_map_on_a_queue_outlives_a_worker_and_the_program_that_leads_it(any_queue: Queue) -> None:
    queue = any_queue
    way = Way("queue", queue.folder, {})
    (queue.folder / "job.py").write_text(SUBMITS)
    finished = queue.python("job.py")
    assert finished.returncode == 0, finished.stderr
    submission = json.loads((queue.folder / "maps" / NAME / "submission.json").read_text())
    queue.jobs += submission["job_ids"]
    first, second = submission["job_ids"]
    wait_until_done(way, 8, queue)
    host, process = latest_begun(queue.folder).split()
    queue.cluster.run(["kill", "-KILL", process], host=host, timeout=10)
    wait_until_done(way, 16, queue)
    lead = json.loads((queue.folder / "maps" / NAME / "runs" / "0001.json").read_text())
    queue.cluster.run(["kill", "-KILL", str(lead["pid"])], host=lead["host"], timeout=10)
    kept, begun = done(way), times_begun(way)
    assert len(kept) < 40
    (queue.folder / "struck").touch()
    wait_until_done(way, 40, queue)
    assert queue.wait(second) == 0, queue.log(first) + queue.log(second)
    assert queue.wait(first) == 137
    read = queue.python("-c", READS)
    assert read.stdout == f"complete {sum(n * n for n in range(40))} 4\n", read.stderr
    now = times_begun(way)
    assert all(now[key] == begun[key] for key in kept)


@pytest.fixture(
    params=[
        pytest.param("slurm", marks=pytest.mark.slurm),
        pytest.param("sge", marks=[pytest.mark.sge, pytest.mark.mpi]),
        pytest.param("oar", marks=[pytest.mark.oar, pytest.mark.mpi]),
    ]
)
def any_queue(request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path) -> Iterator[Queue]:
    """Each batch system in turn: SLURM's ranks are started by srun, the others' by mpirun."""
    queue = Queue(request.param, request.getfixturevalue(request.param), environment, tmp_path)
    launcher = MpiLauncher("mpich")
    if request.param == "slurm":
        queue.profile()
    elif launcher.program.exists():
        queue.profile(**launcher.environment)
    else:
        pytest.skip(f"no {launcher.name} in {launcher.prefix}: run make test")
    yield queue
    queue.end()


def wait_until_done(way: Way, count: int, queue: Queue) -> None:
    end = time.monotonic() + 90
    while len(done(way)) < count:
        assert time.monotonic() < end, queue.log(NAME)
        time.sleep(0.05)


def latest_begun(folder: Path) -> str:
    """Return the host and the process that began a component last."""
    written = [path for path in folder.glob("began-*") if path.read_text()]  # one may be just being made
    latest = max(written, key=lambda path: path.stat().st_mtime)
    return latest.read_text().splitlines()[-1]


WITH_GPUS = """
import os, time
import runner

def work(number):
    began = time.time()
    time.sleep(0.2 if "SLURM_RESTART_COUNT" in os.environ else 2.0)  # the first run cannot do them all
    return os.uname().nodename, os.environ["CUDA_VISIBLE_DEVICES"], began, time.time()

options = ("--requeue", "--time-limit", "14s", "--drain", "0")
directives = ("--requeue", "--open-mode=append")
job = runner.Job("slurm", nodes=2, gpus_per_node=2, time="0:05:00", options=options, directives=directives)
made = runner.map(work, range(40), name="gpus", job=job)
made.wait(timeout=100)
for host, gpu, began, ended in made:
    print(host, gpu, began, ended)
"""


@pytest.mark.slurm
def test_each_gpu_has_one_component_and_the_job_is_requeued_until_all_are_done(
    slurm: VirtualSlurm, environment: dict[str, str], tmp_path: Path
) -> None:
    way = Way("srun", tmp_path, environment, slurm)
    (tmp_path / "scratch").mkdir()
    (tmp_path / "job.py").write_text(WITH_GPUS)
    finished = slurm.run(
        [sys.executable, "job.py"], timeout=110, cwd=tmp_path, env=way.variables, gone_within=10
    )
    assert finished.returncode == 0, finished.stderr
    ran = defaultdict(list)
    for line in finished.stdout.splitlines():
        host, gpu, began, ended = line.split()
        ran[host, gpu].append((float(began), float(ended)))
    assert sum(map(len, ran.values())) == 40
    assert ran.keys() == {(host, gpu) for host in ("node1", "node2") for gpu in ("0", "1")}
    for times in ran.values():
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(sorted(times)))
    (log,) = tmp_path.glob("gpus-*.out")
    assert "components of map gpus left" in log.read_text()
    assert "(--requeue)" in log.read_text()
