"""How ranks come together: the choice, rank 0's doors, and the way of the others to them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from runner.errors import StartError, UsageError, WriteError
from runner.launcher import meeting as meeting_module
from runner.launcher.channel import Channel
from runner.launcher.control import Hub
from runner.launcher.meeting import Meeting, OpenDoors, choose_meeting, enter, receive_ticket
from runner.launcher.options import LaunchOptions
from runner.launcher.place import Place
from runner.launcher.rendezvous.file import TicketFile
from runner.launcher.rendezvous.ticket import Ticket
from tests.unit.launcher.ranks import rank

NAMED = Place(launcher="openmpi", rank=0, size=2, shared_name="openmpi-7")
NAMELESS = Place(launcher="hydra", rank=0, size=2)


@pytest.fixture
def file(tmp_path: Path) -> TicketFile:
    return TicketFile(tmp_path, "openmpi-7")


@pytest.fixture(params=[True, False], ids=["mpi4py", "no mpi4py"])
def with_mpi(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(meeting_module.mpi, "available", lambda: request.param)
    return bool(request.param)


@pytest.mark.parametrize("wish", ["auto", "file", "mpi"])
def test_one_rank_meets_nobody(wish: str, with_mpi: bool) -> None:
    alone = Place(launcher="none", rank=0, size=1)
    assert choose_meeting(alone, LaunchOptions(rendezvous=wish)) == Meeting(how="alone")  # type: ignore[arg-type]


@pytest.mark.parametrize("wish", ["auto", "file"])
def test_a_name_that_all_know_makes_a_file(
    wish: str, with_mpi: bool, tmp_path: Path, file: TicketFile
) -> None:
    options = LaunchOptions(rendezvous=wish, rendezvous_folder=tmp_path)  # type: ignore[arg-type]
    chosen = choose_meeting(NAMED, options)
    assert chosen == Meeting(how="file", file=file)
    assert str(chosen) == f"a private file in {tmp_path}"


def test_mpi_when_asked_for(with_mpi: bool) -> None:
    chosen = choose_meeting(NAMED, LaunchOptions(rendezvous="mpi"))
    assert chosen == Meeting(how="mpi")
    assert str(chosen) == "MPI broadcast"


def test_without_a_name_mpi_serves_if_it_is_there(with_mpi: bool) -> None:
    if with_mpi:
        assert choose_meeting(NAMELESS, LaunchOptions()) == Meeting(how="mpi")
        return
    with pytest.raises(StartError) as caught:
        choose_meeting(NAMELESS, LaunchOptions())
    assert "hydra gives its ranks no name that they share" in str(caught.value)
    assert "set RUNNER_JOB to a new name for each start" in str(caught.value)
    assert "pip install 'tomo-runner[mpi]'" in str(caught.value)


def test_a_file_without_a_name_is_refused(with_mpi: bool) -> None:
    with pytest.raises(StartError, match="they cannot agree on a file; set RUNNER_JOB"):
        choose_meeting(NAMELESS, LaunchOptions(rendezvous="file"))


# -- rank 0's doors ----------------------------------------------------------------------------------------


@pytest.fixture
def closing() -> Iterator[list[OpenDoors]]:
    opened: list[OpenDoors] = []
    yield opened
    for doors in opened:
        for listener in doors.listeners:
            listener.close()


def open_doors(
    file: TicketFile,
    closing: list[OpenDoors],
    *,
    one_machine: bool = True,
    options: LaunchOptions | None = None,
) -> OpenDoors:
    doors = OpenDoors(
        Meeting(how="file", file=file),
        NAMED,
        host="node1",
        job="node1-7",
        options=options or LaunchOptions(),
        one_machine=one_machine,
    )
    closing.append(doors)
    return doors


def test_the_ticket_lies_there_as_long_as_the_doors_are_open(
    file: TicketFile, closing: list[OpenDoors]
) -> None:
    with open_doors(file, closing) as doors:
        assert file.read() == doors.ticket
        assert (doors.ticket.host, doors.ticket.size) == ("node1", 2)
        assert doors.ticket.credentials is not None
        ports = [listener.getsockname()[:2] for listener in doors.listeners]
        assert list(doors.ticket.addresses) == ports
    assert list(file.folder.iterdir()) == []


def test_each_start_has_its_own_nonce_and_key(file: TicketFile, closing: list[OpenDoors]) -> None:
    first, second = open_doors(file, closing).ticket, open_doors(file, closing).ticket
    assert first.nonce != second.nonce
    assert first.credentials != second.credentials


def test_the_ticket_goes_when_the_job_fails(file: TicketFile, closing: list[OpenDoors]) -> None:
    with pytest.raises(ZeroDivisionError), open_doors(file, closing):
        raise ZeroDivisionError
    assert file.read() is None


def test_no_key_without_encryption(file: TicketFile, closing: list[OpenDoors]) -> None:
    assert open_doors(file, closing, options=LaunchOptions(encrypt=False)).ticket.credentials is None


@pytest.mark.parametrize(
    ("one_machine", "interface", "addresses"),
    [
        (True, None, ["127.0.0.1"]),
        (False, None, ["127.0.0.2", "127.0.0.3", "127.0.0.1"]),  # loopback comes last
        (False, "eth0", ["127.0.0.3"]),
        (True, "eth0", ["127.0.0.3"]),
    ],
)
def test_where_rank_0_listens(
    file: TicketFile,
    closing: list[OpenDoors],
    monkeypatch: pytest.MonkeyPatch,
    one_machine: bool,
    interface: str | None,
    addresses: list[str],
) -> None:
    # addresses that can be bound anywhere stand for those of a cluster's networks
    monkeypatch.setattr(
        "runner.node.net.machine_addresses", lambda: {"eth0": ["127.0.0.3"], "ib0": ["127.0.0.2"]}
    )
    monkeypatch.setattr("runner.node.net._usable", lambda address: address != "127.0.0.1")
    doors = open_doors(file, closing, one_machine=one_machine, options=LaunchOptions(interface=interface))
    assert [address for address, _ in doors.ticket.addresses] == addresses


def test_an_interface_that_is_not_there(file: TicketFile, closing: list[OpenDoors]) -> None:
    with pytest.raises(UsageError, match="interface 'hsn9' has no address"):
        open_doors(file, closing, options=LaunchOptions(interface="hsn9"))
    assert list(file.folder.iterdir()) == []


def test_a_folder_that_cannot_be_used(tmp_path: Path, closing: list[OpenDoors]) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(WriteError, match="rendezvous folder"):
        open_doors(TicketFile(tmp_path / "taken", "name"), closing)


# -- the way of the others -----------------------------------------------------------------------------------

OTHER = replace(NAMED, rank=1)


async def come(
    file: TicketFile, *, seconds: float = 60, ticket: Ticket | None = None
) -> tuple[Ticket, Channel]:
    meeting = Meeting(how="file", file=file) if ticket is None else Meeting(how="mpi")
    return await enter(meeting, OTHER, rank(1, "node2"), LaunchOptions(start_timeout=seconds), ticket)


@pytest.mark.parametrize("left_behind", ["nothing", "half a ticket", "a dead rank 0", "another living job"])
def test_a_rank_comes_before_rank_0_and_finds_it(
    file: TicketFile, closing: list[OpenDoors], monkeypatch: pytest.MonkeyPatch, left_behind: str
) -> None:
    monkeypatch.setattr(meeting_module, "_FRESH_SECONDS", 60.0)  # rank 0 may be slow to replace what is there

    async def check() -> None:
        other = open_doors(TicketFile(file.folder, "another"), closing)
        other_hub = Hub(other.ticket)
        await other_hub.open(other.listeners)
        if left_behind == "half a ticket":
            file.publish(other.ticket)
            file.path.write_bytes(file.path.read_bytes()[:100])
        elif left_behind == "a dead rank 0":
            dead = open_doors(file, closing)
            for listener in dead.listeners:
                listener.close()
        elif left_behind == "another living job":
            file.publish(replace(other.ticket, nonce="of an earlier start"))
        coming = asyncio.create_task(come(file))
        await asyncio.sleep(0.3)
        assert not coming.done()
        with open_doors(file, closing) as doors:
            hub = Hub(doors.ticket)
            await hub.open(doors.listeners)
            found, channel = await coming
            assert found == doors.ticket
            assert channel.local_address == "127.0.0.1"
            assert set(hub.facts) == {1}
            assert other_hub.facts == {}
            await hub.close()
        await other_hub.close()

    asyncio.run(asyncio.wait_for(check(), timeout=90))


def test_a_ticket_that_mpi_brought_needs_no_file(file: TicketFile, closing: list[OpenDoors]) -> None:
    async def check() -> None:
        doors = open_doors(file, closing)
        hub = Hub(doors.ticket)
        await hub.open(doors.listeners)
        found, _ = await come(file, ticket=doors.ticket)
        assert found == doors.ticket
        await hub.close()

    asyncio.run(asyncio.wait_for(check(), timeout=90))


@pytest.mark.parametrize("brought", [True, False], ids=["mpi", "file"])
def test_a_rank_waits_no_longer_than_it_may(
    file: TicketFile, closing: list[OpenDoors], brought: bool
) -> None:
    ticket = None
    if brought:
        doors = open_doors(file, closing)
        ticket = doors.ticket
        for listener in doors.listeners:
            listener.close()
    started = time.monotonic()
    with pytest.raises(StartError) as caught:
        asyncio.run(come(file, seconds=0.4, ticket=ticket))
    assert 0.4 <= time.monotonic() - started < 60
    where = "the addresses that MPI brought" if brought else f"a ticket in {file.path}"
    assert str(caught.value) == (
        f"rank 1 @ node2: rank 0 did not answer to {where} within 0 s; "
        "did rank 0 start, and do all ranks see that folder (--rendezvous-dir)?"
    )


@pytest.mark.parametrize("how", ["file", "alone"])
def test_only_mpi_brings_a_ticket(how: str, file: TicketFile) -> None:
    meeting = Meeting(how=how, file=file if how == "file" else None)
    assert receive_ticket(meeting, OTHER, "node2", LaunchOptions()) is None


def test_a_broadcast_leaves_no_timer(
    file: TicketFile, closing: list[OpenDoors], monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = open_doors(file, closing).ticket
    monkeypatch.setattr(meeting_module.mpi, "broadcast", lambda _place, _ticket: ticket)
    before = set(threading.enumerate())
    assert receive_ticket(Meeting(how="mpi"), OTHER, "node2", LaunchOptions(start_timeout=600)) == ticket
    for thread in set(threading.enumerate()) - before:
        thread.join(60)  # a moment, or the ten minutes
        assert not thread.is_alive()
