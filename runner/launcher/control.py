"""The control channel: every rank stays connected to rank 0, which thereby knows who is alive.

The connection itself is the first sign of life: when a process dies, its machine closes it. A machine that
hangs, or lost its network, closes nothing; therefore both ends also say that they are alive now and then.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from runner.errors import StartError
from runner.launcher.channel import LONGEST_LINE, Channel, Message
from runner.launcher.deadline import Deadline
from runner.launcher.facts import RankFacts
from runner.launcher.reach import reach
from runner.launcher.rendezvous.ticket import Ticket
from runner.launcher.security import control_context

_HELLO_SECONDS = 10.0  # a stranger may hold a connection no longer than this
_CONNECT_SECONDS = 3.0  # for all addresses of rank 0, those after the first with less
_BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Event:
    """Something a rank reports. ``message["event"]`` says what; ``"lost"`` is its connection's end."""

    rank: int
    message: Message


def listen(addresses: Iterable[str]) -> tuple[socket.socket, ...]:
    """Open a listener, with any free port, on each of this machine's addresses that lets us."""
    listeners = []
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.bind((address, 0))
        except OSError:  # an interface that is only about to come up, or to go
            listener.close()
            continue
        listener.listen(_BACKLOG)
        listeners.append(listener)
    return tuple(listeners)


class Hub:
    """Rank 0's side: takes in the ranks that hold the ticket and turns what they say into events.

    Parameters
    ----------
    ticket : Ticket
        What a rank must know to be let in.
    """

    def __init__(self, ticket: Ticket) -> None:
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.channels: dict[int, Channel] = {}
        self.facts: dict[int, RankFacts] = {}
        self.reached: dict[int, str] = {}
        self._heard: dict[int, float] = {}
        self._ticket = ticket
        self._servers: list[asyncio.Server] = []
        self._served: set[asyncio.Task[None]] = set()

    async def open(self, listeners: Sequence[socket.socket]) -> None:
        """Let ranks in."""
        keys = self._ticket.credentials
        tls = control_context(keys, server=True) if keys else None
        for listener in listeners:
            server = await asyncio.start_server(
                self._let_in,
                sock=listener,
                limit=LONGEST_LINE,
                ssl=tls,
                ssl_handshake_timeout=_HELLO_SECONDS if tls else None,
            )
            self._servers.append(server)

    def send(self, rank: int, message: Message) -> None:
        """Send a message to one rank, if it is still there."""
        if rank in self.channels:
            self.channels[rank].send(message)

    def broadcast(self, message: Message) -> None:
        """Send a message to all ranks that are there."""
        for channel in self.channels.values():
            channel.send(message)

    def silent(self, seconds: float) -> list[int]:
        """Return the ranks that are connected but have not been heard of for so long."""
        since = time.monotonic() - seconds
        return [rank for rank in self.channels if self._heard[rank] < since]

    def drop(self, rank: int, why: str) -> None:
        """End the connection of a rank, as lost."""
        channel = self.channels.pop(rank)
        channel.abort()
        self.events.put_nowait(Event(rank, {"event": "lost", "how": why}))

    async def close(self) -> None:
        """Let nobody in any more and end all connections."""
        for server in self._servers:
            server.close()
        await asyncio.gather(*(channel.close() for channel in self.channels.values()))

    def _let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # our task: of one that the server makes, Python 3.11 prints a traceback when the loop ends first
        task = asyncio.ensure_future(self._greet(reader, writer))
        self._served.add(task)  # the loop itself does not hold it
        task.add_done_callback(self._served.discard)

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        channel = Channel(reader, writer)
        try:
            hello = await asyncio.wait_for(channel.receive(), timeout=_HELLO_SECONDS)
        except TimeoutError:
            hello = None
        if hello is None or not self._knows(hello.get("nonce")):
            await channel.close()
            return
        facts = RankFacts.from_message(hello["facts"])
        if hello["size"] != self._ticket.size:
            problem = (
                f"rank {facts.rank} @ {facts.host} is one of {hello['size']} ranks, "
                f"rank 0 @ {self._ticket.host} of {self._ticket.size}"
            )
            channel.send({"op": "refused", "problem": problem})
            await channel.close()
            return
        await self.serve(channel, facts, reached=hello["reached"])

    def _knows(self, nonce: object) -> bool:
        said = str(nonce).encode(errors="replace")  # a stranger may say anything
        return hmac.compare_digest(said, self._ticket.nonce.encode())

    async def serve(self, channel: Channel, facts: RankFacts, reached: str) -> None:
        """Take a rank in and pass on what it says until its connection ends."""
        if facts.rank in self.facts:
            first = self.facts[facts.rank]
            problem = (
                f"two processes claim rank {facts.rank} of {self._ticket.size}: "
                f"{first.host} (pid {first.pid}) and {facts.host} (pid {facts.pid})"
            )
            channel.send({"op": "refused", "problem": problem})
            await channel.close()
            return
        self.channels[facts.rank] = channel
        self.facts[facts.rank] = facts
        self.reached[facts.rank] = reached
        self._heard[facts.rank] = time.monotonic()
        channel.send({"op": "welcome"})
        await self.events.put(Event(facts.rank, {"event": "hello"}))
        while (message := await channel.receive()) is not None:
            self._heard[facts.rank] = time.monotonic()
            if message["event"] != "alive":
                await self.events.put(Event(facts.rank, message))
        if self.channels.pop(facts.rank, None) is not None:  # not dropped
            await self.events.put(Event(facts.rank, {"event": "lost", "how": "its connection ended"}))


async def join(ticket: Ticket, facts: RankFacts, size: int, deadline: Deadline) -> Channel | None:
    """Connect this rank, which is one of `size`, to rank 0.

    Returns
    -------
    Channel or None
        None if nobody answers to this ticket: rank 0 is gone, or the ticket is an old one.

    Raises
    ------
    StartError
        If rank 0 refuses this rank.
    """
    tls = control_context(ticket.credentials, server=False) if ticket.credentials else None
    async with aclosing(reach(ticket.addresses, min(_CONNECT_SECONDS, deadline.left))) as doors:
        async for address, connected in doors:
            channel = await _secure(connected, tls, min(_HELLO_SECONDS, deadline.left))
            if channel is None:
                continue
            hello = {"nonce": ticket.nonce, "facts": facts.to_message(), "size": size, "reached": address}
            channel.send(hello)
            try:
                answer = await asyncio.wait_for(channel.receive(), min(_HELLO_SECONDS, deadline.left))
            except TimeoutError:
                answer = None
            if answer is not None and answer["op"] == "welcome":
                return channel
            await channel.close()
            if answer is not None:
                raise StartError(answer["problem"], "start the ranks with srun or mpirun, each once")
    return None


async def _secure(connected: socket.socket, tls: ssl.SSLContext | None, seconds: float) -> Channel | None:
    opening = asyncio.open_connection(
        sock=connected, ssl=tls, server_hostname="" if tls else None, limit=LONGEST_LINE
    )
    try:
        return Channel(*await asyncio.wait_for(opening, timeout=seconds))
    except (OSError, TimeoutError):  # ssl.SSLError is an OSError
        connected.close()
        return None


def best_address(ticket: Ticket, reached: Iterable[str]) -> str:
    """Return the address of rank 0 that serves the most ranks; the better one where two serve alike."""
    used = list(reached)
    offered = [address for address, _ in ticket.addresses]
    return max(offered, key=lambda address: (used.count(address), -offered.index(address)))
