"""How the ranks of one start come together: rank 0 opens its doors, the others find and enter them."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from runner.errors import StartError
from runner.launcher import control
from runner.launcher.channel import Channel
from runner.launcher.deadline import Deadline
from runner.launcher.facts import RankFacts
from runner.launcher.options import LaunchOptions
from runner.launcher.place import JOB_NAME_VARIABLE, Place
from runner.launcher.rendezvous import mpi
from runner.launcher.rendezvous.file import TicketFile, default_folder
from runner.launcher.rendezvous.ticket import Ticket, new_nonce
from runner.launcher.security import make_credentials
from runner.launcher.speak import say
from runner.node import net
from runner.node.processes import this_process

_FRESH_SECONDS = 3.0  # for rank 0 to replace a ticket of an earlier start
_LOOK_SECONDS = 0.05  # between two looks at the rendezvous folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """How the ranks meet.

    Attributes
    ----------
    how : {"alone", "file", "mpi"}
        Whether there is anybody to meet, and by what.
    file : TicketFile or None
        The file, if it is one.
    """

    how: str
    file: TicketFile | None = None

    def __str__(self) -> str:
        if self.how == "alone":
            return "nobody to meet"
        return f"a private file in {self.file.folder}" if self.file else "MPI broadcast"


def choose_meeting(place: Place, options: LaunchOptions) -> Meeting:
    """Choose how to meet: by a file if the ranks can agree on its name, else by MPI.

    Raises
    ------
    StartError
        If neither can serve.
    """
    if place.size == 1:
        return Meeting(how="alone")
    wish, name = options.rendezvous, place.shared_name
    if wish == "mpi" or (wish == "auto" and name is None and mpi.available()):
        return Meeting(how="mpi")
    if name is None:
        raise StartError(
            f"{place.launcher} gives its ranks no name that they share, so they cannot agree on a file",
            f"set {JOB_NAME_VARIABLE} to a new name for each start (mpirun -genv {JOB_NAME_VARIABLE} "
            f"{secrets.token_hex(4)} ...), or: pip install 'tomo-runner[mpi]'",
        )
    return Meeting(how="file", file=TicketFile(options.rendezvous_folder or Path(default_folder()), name))


class OpenDoors:
    """Rank 0's listeners and the ticket to them, for as long as the job runs.

    Parameters
    ----------
    meeting : Meeting
        How the ticket reaches the others.
    place : Place
        Rank 0's.
    host : str
        Its machine's name.
    job : str
        Our name of the job.
    options : LaunchOptions
        The same on every rank.
    one_machine : bool
        Whether all ranks are known to be on this machine.
    apart : bool
        Whether some are known not to be.

    Raises
    ------
    StartError
        If they are, and this machine has no address for them.
    """

    def __init__(
        self,
        meeting: Meeting,
        place: Place,
        *,
        host: str,
        job: str,
        options: LaunchOptions,
        one_machine: bool,
        apart: bool = False,
    ) -> None:
        self._meeting = meeting
        addresses = [] if meeting.how == "alone" else _addresses(options.interface, one_machine=one_machine)
        if apart and addresses == [net.LOOPBACK]:
            raise _loopback_only(host, "the other hosts")
        self.listeners: tuple[socket.socket, ...] = control.listen(addresses)
        self.ticket = Ticket(
            addresses=tuple(listener.getsockname()[:2] for listener in self.listeners),
            nonce=new_nonce(),
            host=host,
            size=place.size,
            job=job,
            credentials=make_credentials() if options.encrypt else None,
            owner=this_process(),
        )
        if meeting.file is not None:
            meeting.file.publish(self.ticket)
        elif meeting.how == "mpi":
            _broadcast(place, host, options, self.ticket)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        if self._meeting.file is not None:
            self._meeting.file.withdraw(self.ticket)


async def enter(
    meeting: Meeting, place: Place, facts: RankFacts, options: LaunchOptions, ticket: Ticket | None
) -> tuple[Ticket, Channel]:
    """Find rank 0 and connect to it.

    Parameters
    ----------
    meeting : Meeting
        How to find it.
    place, facts : Place, RankFacts
        This rank.
    options : LaunchOptions
        The same on every rank.
    ticket : Ticket or None
        What MPI brought; None to read the file.

    Raises
    ------
    StartError
        If rank 0 does not answer in time, or refuses this rank.
    """
    deadline = Deadline(options.start_timeout)
    seen, fresh = None, Deadline(_FRESH_SECONDS)
    while not deadline.over:
        found = _read(meeting.file, patient=not fresh.over) if meeting.file else ticket
        channel = await control.join(found, facts, place.size, deadline) if found else None
        if found and channel:
            return found, channel
        if found and found != seen:
            seen, fresh = found, Deadline(_FRESH_SECONDS)
        if found and fresh.over and found.host != facts.host and _is_loopback_only(found):
            raise _loopback_only(found.host, facts.host)
        await asyncio.sleep(_LOOK_SECONDS)
    where = f"a ticket in {meeting.file.path}" if meeting.file else "the addresses that MPI brought"
    waited = f"within {options.start_timeout:.0f} s"
    raise StartError(
        f"rank {place.rank} @ {facts.host}: rank 0 did not answer to {where} {waited}",
        "did rank 0 start, and do all ranks see that folder (--rendezvous-dir)?",
    )


def receive_ticket(meeting: Meeting, place: Place, host: str, options: LaunchOptions) -> Ticket | None:
    """Return the ticket that MPI brings, None where it is in a file."""
    return _broadcast(place, host, options, None) if meeting.how == "mpi" else None


def _addresses(interface: str | None, *, one_machine: bool) -> list[str]:
    """Return the addresses on which rank 0 listens, best first."""
    if one_machine and interface is None:
        return [net.LOOPBACK]
    found = [entry.address for entry in net.order(net.machine_addresses(), interface)]
    # Loopback last: it serves where all ranks are on one machine without any network, and no other case.
    return found if interface else [*found, net.LOOPBACK]


def _read(file: TicketFile, *, patient: bool) -> Ticket | None:
    """Read the ticket; what is not ours to trust may be an old one, which rank 0 is about to replace."""
    try:
        return file.read()
    except StartError:
        if not patient:
            raise
        return None


def _is_loopback_only(ticket: Ticket) -> bool:
    return all(address == net.LOOPBACK for address, _ in ticket.addresses)


def _loopback_only(host: str, others: str) -> StartError:
    return StartError(
        f"rank 0 @ {host} has no network address but {net.LOOPBACK}, {others} cannot reach it",
        "see its interfaces (ip address): is one down, or is it a container without the network?",
    )


def _broadcast(place: Place, host: str, options: LaunchOptions, ticket: Ticket | None) -> Ticket:
    """Pass the ticket by MPI, which itself knows no deadline."""

    def give_up() -> None:
        say(
            f"rank {place.rank} @ {host}",
            f"MPI did not connect the {place.size} ranks within {options.start_timeout:.0f} s; "
            "try --rendezvous file",
        )
        os._exit(StartError.exit_code)

    timer = threading.Timer(options.start_timeout, give_up)
    timer.daemon = True
    timer.start()
    try:
        return mpi.broadcast(place, ticket)
    finally:
        timer.cancel()
