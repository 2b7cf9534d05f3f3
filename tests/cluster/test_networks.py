"""Networks, folders and limits as one finds them: the job works, or one line says why it does not."""

from __future__ import annotations

import re
import resource
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cluster.processes import Command, Finished
from tests.cluster.testbed import why_not
from tests.cluster.ways import JOBS, WAITING, Way

pytestmark = pytest.mark.cluster

JOB = "from distributed import Client; client = Client(); print(client.gather(client.map(abs, [-1, 2])))"


class TwoHosts:
    """Two network namespaces with a cable between them (eth0), and nothing else."""

    def __init__(self) -> None:
        name = f"rt{uuid.uuid4().hex[:6]}"
        self.names = (f"{name}a", f"{name}b", f"{name}x")
        for host in self.names:
            self.ip("netns", "add", host)
        first, second, _ = self.names
        self.ip(
            "link", "add", "eth0", "netns", first, "type", "veth", "peer", "name", "eth0", "netns", second
        )
        for host in (first, second):
            for link in ("lo", "eth0"):
                self.ip("-n", host, "link", "set", link, "up")

    def ip(self, *words: str) -> None:
        subprocess.run(["ip", *words], check=True, timeout=10)

    def addresses(self, first: str, second: str) -> None:
        """Give both ends of the cable an address."""
        for host, address in zip(self.names, (first, second), strict=False):
            # nodad: an IPv6 address otherwise is looked for twice before it is used
            self.ip("-n", host, "address", "add", address, "dev", "eth0", *["nodad"] * (":" in address))

    def dead_interface(self, host: int, name: str, address: str) -> None:
        """Add an interface whose cable leads to nobody."""
        here, nowhere = self.names[host], self.names[2]
        peer = ["type", "veth", "peer", "name", f"{name}{host}", "netns", nowhere]
        self.ip("link", "add", name, "netns", here, *peer)
        self.ip("-n", here, "address", "add", address, "dev", name)
        self.ip("-n", here, "link", "set", name, "up")
        self.ip("-n", nowhere, "link", "set", f"{name}{host}", "up")

    def remove(self) -> None:
        """Take all away."""
        for host in self.names:
            subprocess.run(["ip", "netns", "del", host], check=False, timeout=10, capture_output=True)

    def run(self, way: Way, *words: str) -> tuple[Finished, Finished]:
        """Run a job with one rank on each."""
        inside = 'hostname "$0"; exec "$@"'
        program: Sequence[str] = (sys.executable, "-m", "runner", "--no-dashboard", *words, "-c", JOB)
        (way.folder / "scratch").mkdir(exist_ok=True)
        ranks = [
            Command(
                [
                    "ip",
                    "netns",
                    "exec",
                    self.names[rank],
                    "unshare",
                    "-u",
                    "sh",
                    "-c",
                    inside,
                    host,
                    *program,
                ],
                cwd=way.folder,
                env={
                    **way.environment,
                    "RUNNER_RANK": str(rank),
                    "RUNNER_SIZE": "2",
                    "RUNNER_JOB": self.names[0],
                    "RUNNER_RENDEZVOUS_DIR": str(way.folder / "meet"),
                    "RUNNER_SCRATCH": str(way.folder / "scratch"),
                },
            )
            for rank, host in enumerate(("first", "second"))
        ]
        with ranks[0] as zero, ranks[1] as one:
            ends = zero.wait(timeout=60), one.wait(timeout=60)
        way.check_nothing_is_left()
        return ends


@pytest.fixture
def hosts() -> Iterator[TwoHosts]:
    if reason := why_not():
        pytest.skip(reason)
    made = TwoHosts()
    yield made
    made.remove()


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        (("10.99.0.1/24", "10.99.0.2/24"), "tls://10.99.0.1:"),  # and no default route
        (("fd99::1/64", "fd99::2/64"), "tls://[fd99::1]:"),
    ],
)
def test_one_network(hosts: TwoHosts, local: Way, addresses: tuple[str, str], said: str) -> None:
    hosts.addresses(*addresses)
    first, second = hosts.run(local)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert first.stdout == "[1, 2]\n"
    assert "2 ranks on 2 hosts" in first.stderr
    assert f"{said}" in first.stderr
    assert second.stderr == ""


def test_networks_that_swallow_everything_are_passed_over(hosts: TwoHosts, local: Way) -> None:
    hosts.addresses("10.99.0.1/24", "10.99.0.2/24")
    for number, name in enumerate(("hsn0", "hsn1", "ib0", "ib1")):
        hosts.dead_interface(0, name, f"10.98.{number}.1/24")
    hosts.dead_interface(1, "gone", "10.97.0.1/24")
    hosts.ip("-n", hosts.names[1], "route", "add", "default", "dev", "gone")
    first, second = hosts.run(local)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "tls://10.99.0.1:" in first.stderr
    ready = re.search(r"ready in ([0-9.]+) s", first.stderr)
    assert ready
    assert float(ready[1]) < 8.0 + first.delay  # 1 s for the four, after one another it would be 12


def test_no_network_is_named(hosts: TwoHosts, local: Way) -> None:
    first, second = hosts.run(local, "--start-timeout", "10s")
    assert (first.returncode, second.returncode) == (69, 69)
    assert "1 of 2 ranks: 1 did not arrive within 10 s" in first.stderr
    assert second.stderr.startswith(
        "runner: rank 0 @ first has no network address but 127.0.0.1, second cannot"
    )


def test_no_network_and_other_hosts_end_at_once(hosts: TwoHosts, local: Way) -> None:
    """Open MPI's variables tell rank 0 that the other rank is elsewhere."""
    variables = {"RANK": "0", "SIZE": "2", "LOCAL_RANK": "0", "LOCAL_SIZE": "1"}
    open_mpi = {f"OMPI_COMM_WORLD_{name}": value for name, value in variables.items()}
    way = Way("local", local.folder, {**local.environment, **open_mpi, "RUNNER_JOB": "x"})
    inside = ["ip", "netns", "exec", hosts.names[2], sys.executable, "-m", "runner", "--rendezvous", "file"]
    with Command([*inside, "-c", JOB], cwd=way.folder, env=way.environment) as command:
        ended = command.wait(timeout=30)
    assert ended.returncode == 69
    assert "has no network address but 127.0.0.1, the other hosts cannot reach it" in ended.stderr


def test_the_dashboard_that_is_printed_answers(local: Way) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        take(taken, 8787)
        with local.start("-c", "import time; time.sleep(60)", ranks=1) as command:
            url = printed_dashboard(command)
            assert ":8787/" not in url
            assert "Dask" in fetch(url)


def take(port_holder: socket.socket, port: int) -> None:
    """Take a port as soon as it is free; if somebody else keeps it, that is as good."""
    end = time.monotonic() + 30  # another test may have it for a moment
    while time.monotonic() < end:
        with suppress(OSError):
            port_holder.bind(("127.0.0.1", port))
            port_holder.listen()
            return
        time.sleep(0.1)


def printed_dashboard(command: Command) -> str:
    end = time.monotonic() + 30
    while not (line := re.search(r"dashboard  (http://\S+)", command.stderr)):
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        time.sleep(0.02)
    return line[1]


def fetch(url: str) -> str:
    end = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError:  # its pages come when the job has begun
            assert time.monotonic() < end
            time.sleep(0.1)


def run_local(way: Way, *words: str, **variables: str) -> Finished:
    argv = [sys.executable, "-m", "runner", "--workers", "1", "--no-dashboard", *words, "-c", JOB]
    with Command(argv, cwd=way.folder, env={**way.environment, **variables}) as command:
        return command.wait(timeout=30)


@pytest.fixture
def memory_folder(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory of 64 KiB."""
    if reason := why_not():
        pytest.skip(reason)
    folder = tmp_path / "in memory"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=True, timeout=10)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True, timeout=10)


def test_a_folder_that_is_missing_is_passed_over(local: Way) -> None:
    ended = run_local(local, TMPDIR="/not/there")
    assert ended.returncode == 0, ended.stderr
    assert "TMPDIR=/not/there is no folder that can be written, /tmp is used for scratch" in ended.stderr


def test_a_chosen_folder_that_is_missing_is_an_error(local: Way) -> None:
    ended = run_local(local, "--scratch", "/not/there")
    assert ended.returncode == 73
    assert ended.stderr.count("\n") == 1
    assert "scratch folder /not/there on " in ended.stderr


def test_ranks_without_their_scratch_folder_end_at_once(way: Way) -> None:
    """None of them waits for rank 0, which says the same and comes to no meeting."""
    with way.start("--scratch", "/not/there", JOBS / "ends.py", "success") as command:
        ended = command.wait(timeout=40, gone_within=2.0)
    assert ended.returncode == 73
    assert "scratch folder /not/there on " in ended.stderr
    assert "did not answer" not in ended.stderr


def fill(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_full_folder_in_memory_is_told_of(local: Way, memory_folder: Path) -> None:
    fill(memory_folder / "full")
    ended = run_local(local, TMPDIR=str(memory_folder))
    assert (ended.returncode, ended.stdout) == (0, "[1, 2]\n"), ended.stderr
    assert (
        f"scratch folder {memory_folder} is in memory (tmpfs): what is spilled to it frees none"
        in ended.stderr
    )
    assert f"scratch folder {memory_folder} has only 0 B left" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(WAITING.sub("", ended.stderr).splitlines()) <= 10


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit")
def test_few_open_files_are_told_of(local: Way) -> None:
    few = ["prlimit", "--nofile=64:64", sys.executable, "-m", "runner", "--no-dashboard", "--workers", "3"]
    with Command([*few, "-c", JOB], cwd=local.folder, env=local.environment) as command:
        ended = command.wait(timeout=30)
    assert (ended.returncode, ended.stdout) == (0, "[1, 2]\n"), ended.stderr
    assert "a scheduler of 3 workers may need 73 open files, 64 are allowed" in ended.stderr


def test_the_soft_limit_of_open_files_is_raised(local: Way) -> None:
    hard = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 1 << 16)
    job = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    few = [
        "sh",
        "-c",
        'ulimit -S -n 256; exec "$@"',
        "sh",
        sys.executable,
        "-m",
        "runner",
        "-q",
        "--workers",
        "1",
    ]
    with Command([*few, "-c", job], cwd=local.folder, env=local.environment) as command:
        assert command.wait(timeout=30).stdout == f"{hard}\n"
