"""Job scripts that do odd things, or what nobody thinks of: each works or is warned, and ends soon."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.cluster.processes import Command
from tests.cluster.ways import Way

pytestmark = pytest.mark.cluster

STOP_SECONDS = 2.0  # 1 s where nothing else runs on the machine
LOOK_SECONDS = 1.0  # whether what the job left ends by itself

#: name -> (the script, what it or we must say)
GOOD = {
    "fork pool without a guard, left open": (
        """
        import multiprocessing
        from distributed import Client
        client = Client()
        pool = multiprocessing.get_context("fork").Pool(2)
        assert pool.map(abs, [-1, 2]) == [1, 2]
        assert client.submit(abs, -3).result() == 3
        """,
        "",
    ),
    "spawn pool, left open": (
        """
        import multiprocessing
        if __name__ == "__main__":
            pool = multiprocessing.get_context("spawn").Pool(1)
            assert pool.map(abs, [-1, 2]) == [1, 2]
        """,
        "",
    ),
    "a cluster of its own": (
        """
        from distributed import Client, LocalCluster
        if __name__ == "__main__":
            client = Client(LocalCluster(n_workers=1, dashboard_address=":0"))
            assert len(client.scheduler_info()["workers"]) == 1
        """,
        "",
    ),
    "two clients": (
        """
        from distributed import Client
        a, b = Client(), Client()
        assert a.submit(abs, -1).result() + b.submit(abs, -2).result() == 3
        """,
        "",
    ),
    "a fork that lives on": (
        """
        import os, time
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        """,
        "the job left processes behind, which end with it",
    ),
    "background programs": (
        """
        import subprocess
        subprocess.Popen(["sleep", "61"])
        subprocess.Popen(["sleep", "62"], start_new_session=True)
        subprocess.run("setsid nohup sleep 63 >/dev/null 2>&1 &", shell=True)
        """,
        "sleep 63 (pid",
    ),
    "a daemon thread": (
        """
        import threading, time
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        """,
        "",
    ),
    "another folder, a module beside the script": (
        """
        import os
        from distributed import Client
        os.chdir("/")
        import beside_the_job
        assert Client().submit(beside_the_job.double, 2).result() == 4
        """,
        "",
    ),
    "closed streams": ("import sys; sys.stdout.close(); sys.stderr.close()", ""),
    "closed descriptors": ("import os; os.close(1); os.close(2)", ""),
    "no standard input": ("import sys; assert sys.stdin.read() == ''", ""),
    "huge results nobody fetches": (
        """
        import numpy, time
        from distributed import Client, wait
        client = Client()
        there = client.submit(numpy.zeros, 25_000_000)
        wait(there)
        underway = client.map(numpy.zeros, [25_000_000, 25_000_001])
        """,
        "",
    ),
    "tasks that hold the interpreter": (
        """
        import ctypes, numpy, time
        from distributed import Client
        def in_c():
            ctypes.PyDLL(None).sleep(60)  # PyDLL: without releasing the lock
        def in_numpy():
            numpy.sort(numpy.random.rand(40_000_000))
        def in_python():
            while True:
                pass
        client = Client()
        running = [client.submit(function, pure=False) for function in (in_c, in_numpy, in_python)]
        time.sleep(0.5)
        """,
        "",
    ),
    "an exit handler that fails": (
        "import atexit; atexit.register(lambda: 1 / 0)",
        "ZeroDivisionError",
    ),
    "signals ignored": (
        """
        import signal
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_IGN)
        """,
        "",
    ),
    "sys.exit in a thread": (
        """
        import sys, threading
        threading.Thread(target=sys.exit, args=(3,)).start()
        """,
        "",
    ),
}

LAST = """
import pathlib, time
pathlib.Path({!r}).write_text(repr(time.time()))
"""


def write_job(folder: Path, script: str) -> Path:
    """Write a job that notes when its last statement ran, and a module beside it."""
    (folder / "beside_the_job.py").write_text("def double(number):\n    return 2 * number\n")
    job = folder / "job.py"
    job.write_text(textwrap.dedent(script) + LAST.format(str(folder / "last_statement")))
    return job


def check(way: Way, script: str, said: str, ranks: int) -> None:
    job = write_job(way.folder, script)
    result = way.run("-q", "--no-dashboard", job, ranks=ranks)
    assert result.code == 0, result.err
    assert said in result.err
    assert said or not result.said, result.err
    took = result.ended_at - float((way.folder / "last_statement").read_text())
    assert took < STOP_SECONDS + (LOOK_SECONDS if said else 0) + result.finished.delay


@pytest.mark.parametrize("name", GOOD)
def test_it_works(local: Way, name: str) -> None:
    script, said = GOOD[name]
    # one worker for each task that holds its interpreter
    check(local, script, said, ranks=3 if "hold" in name else 1)


@pytest.mark.parametrize(
    ("way", "name"),
    [
        pytest.param("mpich", "a fork that lives on", marks=pytest.mark.mpi),
        pytest.param("srun", "background programs", marks=pytest.mark.slurm),
        pytest.param("srun", "tasks that hold the interpreter", marks=pytest.mark.slurm),
    ],
    indirect=["way"],
)
def test_it_works_under_launchers(way: Way, name: str) -> None:
    script, said = GOOD[name]
    check(way, script, said, ranks=3)


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("import os; os.abort()", 134, ""),
        ("import ctypes; ctypes.string_at(0)", 139, ""),
        ("import os; os.killpg(0, 9)", 137, ""),
        ("import os, time; os.killpg(0, 15); time.sleep(20)", 143, ""),
        ("def f(): return f()\nf()", 1, "RecursionError"),
        (
            "from distributed import Client\nimport os\nif os.fork() == 0: os._exit(9)\nos.wait()\nexit(4)",
            4,
            "",
        ),
    ],
)
def test_it_ends_with_its_own_code(local: Way, script: str, code: int, said: str) -> None:
    result = local.run("-q", "--no-dashboard", write_job(local.folder, script), ranks=1)
    assert result.code == code, result.err
    assert said in result.err
    assert said or not result.said, result.err


def test_threads_are_waited_for_and_named(local: Way) -> None:
    script = """
    import pathlib, threading, time
    pathlib.Path("began").write_text(repr(time.time()))
    threading.Thread(target=time.sleep, args=(4,), name="my reader").start()
    """
    result = local.run("-q", "--no-dashboard", write_job(local.folder, script), ranks=1)
    assert result.code == 0
    assert "its thread 'my reader' is not: waiting for it" in result.err
    began, last = (float((local.folder / name).read_text()) for name in ("began", "last_statement"))
    assert result.ended_at - began >= 4
    assert result.ended_at - last < 4 + STOP_SECONDS + result.finished.delay


def test_a_jobs_own_signal_handler_runs(local: Way) -> None:
    script = """
    import signal, time, pathlib
    signal.signal(signal.SIGTERM, lambda *_: pathlib.Path("told").touch() or exit(5))
    pathlib.Path("ready").touch()
    time.sleep(60)
    """
    with local.start("-q", write_job(local.folder, script), ranks=1) as command:
        wait_for(local.folder / "ready", command)
        command.signal(15)
        assert command.wait(timeout=5).returncode == 143
    assert (local.folder / "told").exists()
    local.check_nothing_is_left()


def wait_for(path: Path, command: Command) -> None:
    end = time.monotonic() + 30
    while not path.exists():
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        time.sleep(0.02)


def test_much_output_is_not_slowed_down(local: Way) -> None:
    script = """
    import pathlib, sys, time
    pathlib.Path("began").write_text(repr(time.time()))
    line = "x" * 99
    for _ in range(100_000):
        print(line)
    sys.stdout.flush()
    """
    job = write_job(local.folder, script)

    def took() -> float:
        began, last = (float((local.folder / name).read_text()) for name in ("began", "last_statement"))
        return last - began

    def plain() -> float:
        with (local.folder / "plain").open("w") as output:
            subprocess.run([sys.executable, job], stdout=output, check=True, timeout=60, cwd=local.folder)
        return took()

    alone = min(plain() for _ in range(2))
    result = local.run("-q", "--no-dashboard", job, ranks=1)
    assert len(result.out) == 10_000_000
    assert took() < 1.0 + 3 * alone + result.finished.delay


def test_standard_input_is_the_jobs(local: Way) -> None:
    argv = local.argv(1, "-q", "--no-dashboard", write_job(local.folder, "print(input()); print(input())"))
    ended = subprocess.run(argv, input="one\ntwo\n", capture_output=True, text=True, timeout=30, check=True)
    assert ended.stdout == "one\ntwo\n"
