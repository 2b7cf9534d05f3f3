"""Meeting through a file: whole, private, and of this start only."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import StartError, WriteError
from runner.launcher.rendezvous.file import FOLDER_VARIABLE, TicketFile, default_folder
from runner.launcher.rendezvous.ticket import Ticket
from runner.launcher.security import Credentials
from runner.node.processes import this_process

TICKET = Ticket(
    addresses=(("10.0.0.7", 40000),),
    nonce="this start",
    host="node1",
    size=4,
    job="node1-7",
    credentials=Credentials(certificate="CERTIFICATE", key="KEY"),
)


@pytest.fixture
def file(tmp_path: Path) -> TicketFile:
    return TicketFile(tmp_path / "home" / "meetings", "openmpi-7")


def test_what_rank_0_writes_the_others_read(file: TicketFile) -> None:
    file.publish(TICKET)
    assert file.read() == TICKET
    assert [path.name for path in file.folder.iterdir()] == ["openmpi-7.ticket"]


@pytest.mark.parametrize("umask", [0, 0o022])
def test_only_the_owner_can_read_it(file: TicketFile, umask: int) -> None:
    before = os.umask(umask)
    try:
        file.publish(TICKET)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.folder.stat().st_mode) == 0o700


def test_nothing_yet(file: TicketFile) -> None:
    assert file.read() is None
    file.folder.mkdir(parents=True)
    assert file.read() is None


@pytest.mark.parametrize("content", [b"", b"{", TICKET.to_bytes()[:-1], b"\x00" * 400, b"[1, 2]", b"null"])
def test_a_file_that_is_not_whole_is_looked_at_again(file: TicketFile, content: bytes) -> None:
    file.folder.mkdir(parents=True)
    file.path.write_bytes(content)
    file.path.chmod(0o600)
    assert file.read() is None
    file.publish(TICKET)
    assert file.read() == TICKET


def test_a_folder_that_is_a_file_holds_no_ticket(file: TicketFile) -> None:
    file.folder.parent.mkdir()
    file.folder.write_text("")
    assert file.read() is None


def test_rank_0_replaces_what_an_earlier_start_left(file: TicketFile) -> None:
    file.publish(replace(TICKET, nonce="earlier start"))
    file.publish(TICKET)
    assert file.read() == TICKET


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o602, 0o777])
def test_a_file_open_to_others_is_not_trusted(file: TicketFile, mode: int) -> None:
    file.publish(TICKET)
    file.path.chmod(mode)
    with pytest.raises(StartError) as caught:
        file.read()
    user = os.getuid()
    assert str(caught.value) == (
        f"{file.path} belongs to user {user} with mode {mode:o}, "
        f"a ticket belongs to user {user} with mode 600; "
        "remove it, and choose a private folder with --rendezvous-dir"
    )


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_not_trusted(file: TicketFile) -> None:
    file.publish(TICKET)
    os.chown(file.path, 12345, -1)
    with pytest.raises(StartError, match="belongs to user 12345 with mode 600, a ticket belongs to user 0"):
        file.read()


@pytest.mark.skipif(os.getuid() == 0, reason="root can read everything")
def test_a_file_that_cannot_be_read(file: TicketFile) -> None:
    file.publish(TICKET)
    file.path.chmod(0)
    with pytest.raises(StartError, match=r"cannot be read; is it another user's\? remove it"):
        file.read()


def test_withdrawn_at_the_end(file: TicketFile) -> None:
    file.publish(TICKET)
    file.withdraw(TICKET)
    assert list(file.folder.iterdir()) == []
    file.withdraw(TICKET)  # once is enough, twice does no harm


def test_the_ticket_of_a_later_start_stays(file: TicketFile) -> None:
    later = replace(TICKET, nonce="later start")
    file.publish(later)
    file.withdraw(TICKET)
    assert file.read() == later


def test_what_is_not_a_ticket_stays(file: TicketFile) -> None:
    file.publish(TICKET)
    file.path.write_bytes(b"half")
    file.withdraw(TICKET)
    file.path.chmod(0o644)
    file.withdraw(TICKET)
    assert file.path.read_bytes() == b"half"


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    for folder in (tmp_path / "taken", tmp_path / "taken" / "below"):
        with pytest.raises(WriteError) as caught:
            TicketFile(folder, "name").publish(TICKET)
        assert str(caught.value).startswith(f"rendezvous folder {folder} cannot be used (")
        assert str(caught.value).endswith(
            "; choose one that all ranks can write, with --rendezvous-dir or RUNNER_RENDEZVOUS_DIR"
        )


def test_the_folder_where_none_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert default_folder() == tmp_path / ".cache" / "runner"
    monkeypatch.setenv(FOLDER_VARIABLE, "/shared/meet")
    assert default_folder() == Path("/shared/meet")


def test_tickets_of_starts_that_were_killed_are_swept(file: TicketFile) -> None:
    code = "from runner.node.processes import this_process; print(this_process())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    others = {
        "killed": replace(TICKET, owner=ended.stdout.strip()),
        "running": replace(TICKET, owner=this_process()),
        "elsewhere": replace(TICKET, owner="00000000-1-1"),
    }
    for name, ticket in others.items():
        TicketFile(file.folder, name).publish(ticket)
        (file.folder / f".{name}.ticket.0123456789ab").write_bytes(ticket.to_bytes())  # not named yet
    file.publish(TICKET)
    left = sorted(path.name for path in file.folder.iterdir())
    assert left == [
        ".elsewhere.ticket.0123456789ab",
        ".running.ticket.0123456789ab",
        "elsewhere.ticket",
        "openmpi-7.ticket",
        "running.ticket",
    ]
