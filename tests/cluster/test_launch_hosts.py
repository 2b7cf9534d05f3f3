"""Ranks started over something like ssh: real processes, with a program in place of ssh that stays here.

As ssh it joins the words behind the host and gives them to a shell, in a new session and another environment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.batch.fanout.seats import read_host_list
from tests.cluster import played
from tests.cluster.processes import Command, run

pytestmark = pytest.mark.cluster

Start = Callable[..., Command]


@pytest.fixture
def start(environment: dict[str, str], tmp_path: Path) -> Start:
    """Start `runner launch-hosts` with our ssh in a folder of its own."""
    played.install(tmp_path, ssh=played.SSH, pbsdsh=played.PBSDSH)
    environ = environment | {"RUNNER_RENDEZVOUS_DIR": str(tmp_path / "meet"), "OURS": "a 'b' $c"}

    def launch(hosts: str, *argv: str | Path, ssh: tuple[str, ...] = (), **more: str) -> Command:
        options = ssh or ("--ssh", str(tmp_path / "ssh"))
        options = ("--hosts", hosts, "--stop-timeout", "1s", *options)
        words = [sys.executable, "-m", "runner", "launch-hosts", *options, "--", *argv]
        nodes = " ".join(read_host_list(hosts))
        return Command(words, cwd=tmp_path, env=environ | {"NODES": nodes} | more)

    return launch


@pytest.fixture(params=["stdin", "files"])
def ssh(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ...]:
    """Both ways to tell the ranks: over ssh, and over pbsdsh."""
    if request.param == "stdin":
        return ("--ssh", str(tmp_path / "ssh"))
    return ("--no-stdin", "--ssh", f"{tmp_path / 'pbsdsh'} -n {{rank}} --")


def together(ranks: int) -> str:
    """Return shell words that wait until so many ranks are there, whoever starts slowly."""
    files = " -a ".join(f"-e met-{rank}" for rank in range(ranks))
    return f"touch met-$RUNNER_RANK; until [ {files} ]; do sleep 0.05; done; "


#: Rank 0 goes on when the test says so.
UNTIL_GO = "until [ -e go ]; do sleep 0.05; done; "


def wait_for(found: Callable[[], object], command: Command, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not found():
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stdout + command.stderr
        time.sleep(0.02)


PRINTS = """
import json, os, sys
names = ("RUNNER_RANK", "RUNNER_SIZE", "RUNNER_LOCAL_RANK", "HOST_SAYS", "OURS")
line = [[os.environ.get(name) for name in names], os.environ["RUNNER_JOB"], os.getcwd(), sys.argv[1:]]
os.write(1, (json.dumps(line) + "\\n").encode())
"""


def test_ranks_get_numbers_environment_folder_and_words(
    start: Start, ssh: tuple[str, ...], tmp_path: Path
) -> None:
    with start("a,b:2", sys.executable, "-c", PRINTS, "a b", "$HOME", "it's", ssh=ssh) as command:
        finished = command.wait(timeout=30)
    assert (finished.returncode, finished.stderr) == (0, "")
    lines = sorted(json.loads(line) for line in finished.stdout.splitlines())
    ours = "a 'b' $c"
    assert [line[0] for line in lines] == [
        ["0", "3", "0", "a", ours],
        ["1", "3", "0", "b", ours],
        ["2", "3", "1", "b", ours],
    ]
    assert len({line[1] for line in lines}) == 1
    assert all(line[2:] == [str(tmp_path), ["a b", "$HOME", "it's"]] for line in lines)


def test_a_large_environment_arrives(start: Start) -> None:
    program = "import os; os._exit(len(os.environ['LARGE']) != 100000)"
    with start("a,b", sys.executable, "-c", program, LARGE="x" * 100000) as command:
        assert command.wait(timeout=30).returncode == 0


def test_the_environment_is_on_no_command_line(start: Start, tmp_path: Path) -> None:
    with start("a", "bash", "-c", f"touch here; {UNTIL_GO}", SECRET="hunter2") as command:
        wait_for((tmp_path / "here").exists, command)
        lines = command.processes().values()
        assert len(lines) >= 3
        assert not any("hunter2" in line for line in lines)
        (tmp_path / "go").touch()
        command.wait(timeout=20)


@pytest.mark.parametrize("code", [0, 5])
def test_the_exit_code_is_that_of_rank_0(start: Start, ssh: tuple[str, ...], code: int) -> None:
    with start("a,b", "bash", "-c", together(2) + f"[ $RUNNER_RANK = 1 ] || exit {code}", ssh=ssh) as command:
        finished = command.wait(timeout=30)
    assert (finished.returncode, finished.stderr) == (code, "")


def test_a_rank_that_fails_is_told_and_the_others_go_on(start: Start, tmp_path: Path) -> None:
    last = "until [ $RUNNER_RANK = 2 -o -e done-2 ]; do sleep 0.05; done; echo done; touch done-$RUNNER_RANK"
    program = together(3) + f"[ $RUNNER_RANK = 1 ] && exit 3; {UNTIL_GO}{last}"
    with start("a,b,c", "bash", "-c", program) as command:
        wait_for(lambda: "rank 1" in command.stderr, command)
        (tmp_path / "go").touch()
        finished = command.wait(timeout=30)
    assert finished.returncode == 0
    assert finished.stdout == "done\ndone\n"
    assert finished.stderr == "rank 1 @ b: ended with exit code 3\n"


def test_a_rank_that_is_killed_is_told(start: Start, tmp_path: Path) -> None:
    program = together(2) + f"[ $RUNNER_RANK = 1 ] && kill -KILL $$; {UNTIL_GO}"
    with start("a,b", "bash", "-c", program) as command:
        wait_for(lambda: "rank 1" in command.stderr, command)
        (tmp_path / "go").touch()
        finished = command.wait(timeout=30)
    assert finished.returncode == 0
    assert finished.stderr == "rank 1 @ b: killed by signal 9 (SIGKILL)\n"


def test_a_host_that_cannot_be_reached_is_told(start: Start, tmp_path: Path) -> None:
    with start("a,broken", "bash", "-c", UNTIL_GO) as command:
        wait_for(lambda: "rank 1" in command.stderr, command)
        (tmp_path / "go").touch()
        finished = command.wait(timeout=30)
    assert finished.returncode == 0
    assert "No route to host" in finished.stderr
    assert "rank 1 @ broken: ended with exit code 255" in finished.stderr


#: Waits without a process of its own, of whose death bash would speak.
FOR_EVER = "exec 9<> <(:); while :; do read -t 0.05 -u 9; done"
WAITS = f"trap 'echo told; exit 143' TERM; touch here-$RUNNER_RANK; {FOR_EVER}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_all_ranks(
    start: Start, ssh: tuple[str, ...], tmp_path: Path, number: signal.Signals
) -> None:
    program = WAITS.replace("TERM", "TERM INT")
    with start("a,b", "bash", "-c", program, ssh=ssh) as command:
        wait_for(lambda: len(list(tmp_path.glob("here-*"))) == 2, command)
        command.signal(number)
        finished = command.wait(timeout=20)
    assert finished.returncode == 143
    assert finished.stdout == "told\ntold\n"


def test_ranks_that_do_not_listen_are_killed(start: Start, tmp_path: Path) -> None:
    program = f"trap '' TERM; touch here-$RUNNER_RANK; {FOR_EVER}"
    with start("a", "bash", "-c", program) as command:
        wait_for((tmp_path / "here-0").exists, command)
        told = time.monotonic()
        command.signal(signal.SIGTERM)
        finished = command.wait(timeout=40)
    assert finished.returncode == 137
    assert 6 < time.monotonic() - told < 9 + finished.delay  # our patience, then the far end's


def test_others_end_when_rank_0_has_ended(start: Start, tmp_path: Path) -> None:
    program = f"[ $RUNNER_RANK = 0 ] && {{ until [ -e here-1 ]; do sleep 0.05; done; exit 7; }}; {WAITS}"
    with start("a,b", "bash", "-c", program) as command:
        finished = command.wait(timeout=40)
    assert finished.returncode == 7
    assert finished.stdout == "told\n"
    assert finished.stderr == ""


@pytest.mark.parametrize("listens", [True, False])
def test_nothing_outlives_a_start_that_is_killed(
    start: Start, ssh: tuple[str, ...], tmp_path: Path, listens: bool
) -> None:
    program = WAITS if listens else WAITS.replace("echo told; exit 143", "")
    with start("a,b", "bash", "-c", program, ssh=ssh) as command:
        wait_for(lambda: len(list(tmp_path.glob("here-*"))) == 2, command)
        command.signal(signal.SIGKILL)
        finished = command.wait(timeout=5, gone_within=2.0 if listens else 8.0)
    assert finished.returncode == -signal.SIGKILL
    assert finished.stdout == ("told\ntold\n" if listens else "")


def test_a_connection_that_breaks_costs_its_rank_only(start: Start, tmp_path: Path) -> None:
    program = f"[ $RUNNER_RANK = 0 ] && {{ until [ -e go ]; do sleep 0.05; done; exit 0; }}; {WAITS}"
    with start("a,b", "bash", "-c", program) as command:
        wait_for((tmp_path / "here-1").exists, command)
        (ours,) = (
            pid for pid, line in command.processes().items() if "setsid" in line and "b" in environ_of(pid)
        )
        os.kill(ours, signal.SIGKILL)
        wait_for(lambda: "told" in command.stdout and "rank 1" in command.stderr, command)
        (tmp_path / "go").touch()
        finished = command.wait(timeout=20)
    assert finished.returncode == 0
    assert finished.stderr == "rank 1 @ b: killed by signal 9 (SIGKILL)\n"


def environ_of(pid: int) -> list[str]:
    entries = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return [entry.partition("=")[2] for entry in entries if entry.startswith("HOST_SAYS=")]


def test_what_a_rank_leaves_behind_goes_with_it(start: Start, tmp_path: Path) -> None:
    with start("a", "bash", "-c", "sleep 60 & exit 0") as command:
        assert command.wait(timeout=20).returncode == 0


def test_the_files_for_the_ranks_are_private_and_go(start: Start, tmp_path: Path) -> None:
    ssh = ("--no-stdin", "--ssh", f"{tmp_path / 'pbsdsh'} -n {{rank}} --")
    with start("a", "bash", "-c", "stat -c %a meet/runner-hosts-*/rank-0.json", ssh=ssh) as command:
        assert command.wait(timeout=20).stdout == "600\n"
    assert list((tmp_path / "meet").iterdir()) == []


def test_the_files_of_a_start_that_was_killed_go_with_the_next_one(start: Start, tmp_path: Path) -> None:
    """They hold its environment."""
    ssh = ("--no-stdin", "--ssh", f"{tmp_path / 'pbsdsh'} -n {{rank}} --")
    with start("a", "bash", "-c", WAITS, ssh=ssh) as command:
        wait_for((tmp_path / "here-0").exists, command)
        command.signal(signal.SIGKILL)
        command.wait(timeout=20, gone_within=8.0)
    (left,) = (tmp_path / "meet").iterdir()
    with start("a", "bash", "-c", "ls meet", ssh=ssh) as command:
        assert left.name not in command.wait(timeout=20).stdout
    assert list((tmp_path / "meet").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--hosts", "a", "--ssh", "/nowhere/ssh", "--", "true"), 69, "/nowhere/ssh cannot be run"),
        (("--", "true"), 64, "there are no hosts"),
        (("--hosts", "a b", "--", "true"), 64, "'a b' is no host"),
        (("--hosts", "a"), 64, "COMMAND"),
    ],
)
def test_what_is_wrong_is_said(
    environment: dict[str, str], tmp_path: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    argv = [sys.executable, "-m", "runner", "launch-hosts", *words]
    finished = run(argv, timeout=20, cwd=tmp_path, env=environment)
    assert finished.returncode == code
    assert message in finished.stderr
    assert "Traceback" not in finished.stderr


def test_a_program_that_is_not_on_the_other_host(start: Start) -> None:
    with start("a", "/nowhere/program") as command:
        finished = command.wait(timeout=20)
    assert finished.returncode == 66
    assert "/nowhere/program cannot be started" in finished.stderr


def test_a_file_of_hosts_that_is_open_and_gone_is_read(
    environment: dict[str, str], start: Start, tmp_path: Path
) -> None:
    launch = (
        f"{sys.executable} -m runner launch-hosts --hosts /dev/fd/9 --ssh {tmp_path / 'ssh'} -- echo here"
    )
    script = f"printf 'a\\nb\\n' > hosts; exec 9< hosts; rm hosts; exec {launch}"
    finished = run(["bash", "-c", script], timeout=20, cwd=tmp_path, env=environment)
    assert (finished.returncode, finished.stdout) == (0, "here\nhere\n"), finished.stderr


JOB = """
from dask.distributed import Client
client = Client()
print("workers", len(client.scheduler_info(n_workers=-1)["workers"]), client.submit(sum, [1, 2, 3]).result())
"""


def test_a_job_runs_on_ranks_that_no_launcher_started(start: Start, tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JOB)
    with start("a,b:2", sys.executable, "-m", "runner", "job.py") as command:
        finished = command.wait(timeout=60)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == "workers 3 6\n"
    assert "started by RUNNER_RANK and RUNNER_SIZE" in finished.stderr
