"""Seen from outside: what a job listens on, what it gives away, and what somebody without its key can do."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from runner.launcher.rendezvous.ticket import Ticket
from tests.cluster.processes import Command
from tests.cluster.ways import JOBS, Way

pytestmark = pytest.mark.cluster


@pytest.fixture(params=["local", pytest.param("srun", marks=pytest.mark.slurm)])
def here(request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path) -> Way:
    """One machine alone, and real srun over several."""
    launcher = request.getfixturevalue("slurm") if request.param == "srun" else None
    return Way(request.param, tmp_path, environment, launcher)


def until(path: Path, command: Command) -> None:
    end = time.monotonic() + 40
    while not path.exists():
        assert command.running(), command.stderr
        assert time.monotonic() < end, command.stderr
        time.sleep(0.05)


@contextmanager
def waiting_job(way: Way, *options: str) -> Iterator[Command]:
    """A job that has its cluster and waits; it ends well when it is let go."""
    file = way.folder / "cluster.json"
    with way.start("--scheduler-file", file, *options, JOBS / "waits.py", ranks=2) as command:
        until(way.folder / "waiting", command)
        yield command
        (way.folder / "go").touch()
        finished = command.wait(timeout=30)
        assert (finished.returncode, finished.stdout) == (0, "45\n"), finished.stderr
        assert "Traceback" not in finished.stderr
    assert not file.exists()
    way.check_nothing_is_left()


def ours(command: Command) -> list[psutil.Process]:
    """The job's own processes, without those of the launcher."""
    found = [psutil.Process(pid) for pid, line in command.processes().items() if " -m runner " in line]
    return [process for process in found if not process.name().startswith("srun")]


def listens_on(pid: int) -> Iterator[str]:
    """The addresses a process listens on, as its own network namespace has them (psutil reads only ours)."""
    held = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            held.add(str(link.readlink()).removeprefix("socket:[").removesuffix("]"))
    for family in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{family}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in held:  # TCP_LISTEN
                packed = b"".join(
                    struct.pack("=I", int(words[1][start : start + 8], 16))
                    for start in range(0, words[1].index(":"), 8)
                )
                yield str(ipaddress.ip_address(packed))


def ticket_of(way: Way) -> Ticket | None:
    files = list((way.folder / "meet").glob("*.ticket"))
    return Ticket.from_bytes(files[0].read_bytes()) if files else None


def test_a_stranger_gets_nothing_and_stops_nothing(here: Way) -> None:
    with waiting_job(here) as command:
        address = json.loads((here.folder / "cluster.json").read_text())["address"]
        ticket = ticket_of(here)
        doors = (
            [f"{host}:{port}" for host, port in ticket.addresses if not host.startswith("127.")]
            if ticket
            else []
        )
        stranger = [sys.executable, JOBS / "stranger.py", address, *doors[:1]]
        known = {**here.environment, "STOLEN": ticket.nonce if ticket else "unknown"}
        begun = here.launcher.start(stranger, env=known) if here.launcher else Command(stranger, env=known)
        with begun as other:
            end = time.monotonic() + 40
            while "holding" not in other.stdout:
                assert other.running(), other.stderr
                assert time.monotonic() < end, other.stdout + other.stderr
                time.sleep(0.1)
            *attempts, held = other.stdout.splitlines()
            assert len(attempts) == 2 + 3 * (1 + len(doors[:1]))
            assert {attempt.rpartition(": ")[2] for attempt in attempts} == {"''"}, attempts
            assert held == f"holding {500 * (1 + len(doors[:1]))}"
            assert command.running()
            (here.folder / "go").touch()  # the job computes and ends while the connections are held
            finished = command.wait(timeout=30)
            assert (finished.returncode, finished.stdout) == (0, "45\n"), finished.stderr


def test_the_stranger_would_get_what_is_given_away(local: Way) -> None:
    with waiting_job(local, "--insecure"):
        address = json.loads((local.folder / "cluster.json").read_text())["address"]
        stranger = [sys.executable, JOBS / "stranger.py", address]
        with Command(stranger, env={**local.environment, "STOLEN": "unknown"}) as other:
            end = time.monotonic() + 40
            while "plain client" not in other.stdout:
                assert other.running(), other.stderr
                assert time.monotonic() < end, other.stdout + other.stderr
                time.sleep(0.1)
            assert other.stdout.startswith("plain client: ")
            assert other.stdout.splitlines()[0].split(": ")[1].isdecimal()


def test_nothing_listens_wider_than_it_must(here: Way) -> None:
    with waiting_job(here) as command:
        listening = {address for process in ours(command) for address in listens_on(process.pid)}
        assert len(listening) >= (1 if here.name == "local" else 2)
        assert not listening & {"0.0.0.0", "::"}
        if here.name == "local":
            assert listening == {"127.0.0.1"}


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1", "::"])
def test_the_look_at_listeners_sees_them(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as listener:
        listener.bind((address, 0))
        listener.listen()
        assert address in set(listens_on(os.getpid()))


def test_no_secret_in_what_others_can_read(here: Way) -> None:
    with waiting_job(here, "--logs", str(here.folder / "logs")) as command:
        credentials = json.loads((here.folder / "cluster.json").read_text())["credentials"]
        ticket = ticket_of(here)
        secrets = [line for line in credentials["key"].splitlines() if not line.startswith("-")]
        secrets += [ticket.nonce] if ticket else []
        processes = ours(command)
        assert len(processes) > 3
        for process in processes:
            for name in ("cmdline", "environ"):
                content = Path(f"/proc/{process.pid}/{name}").read_bytes().decode(errors="replace")
                assert not [secret for secret in secrets if secret in content], (process, name)
        for log in (here.folder / "logs").rglob("*.log"):
            assert not [secret for secret in secrets if secret in log.read_text()], log


def test_files_are_private(here: Way) -> None:
    with waiting_job(here):
        private = [here.folder / "cluster.json", *(here.folder / "meet").glob("*.ticket")]
        assert [stat.S_IMODE(path.stat().st_mode) for path in private] == [0o600] * len(private)
        scratch = list((here.folder / "scratch").iterdir())
        assert scratch
        assert {stat.S_IMODE(path.stat().st_mode) for path in scratch} == {0o700}


def test_without_encryption_the_job_warns_whoever_wants_quiet(local: Way) -> None:
    result = local.run("-q", "--insecure", JOBS / "ends.py", "success", ranks=1)
    assert result.code == 0
    assert result.err.count("WARNING: nothing is encrypted") == 1
