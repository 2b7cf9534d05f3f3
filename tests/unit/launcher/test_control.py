"""A real hub on loopback: the job's ranks get in, whatever else knocks at its door."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from runner.errors import StartError
from runner.launcher import control
from runner.launcher.channel import Channel
from runner.launcher.control import Event, Hub, best_address, join, listen
from runner.launcher.deadline import Deadline
from runner.launcher.rendezvous.ticket import Ticket
from runner.launcher.security import Credentials, control_context, make_credentials
from tests.unit.launcher.ranks import rank

KEYS = [pytest.param(True, id="tls"), pytest.param(False, id="insecure")]


@pytest.fixture(scope="module")
def credentials() -> Credentials:
    return make_credentials()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ranks of the job get in however busy the machine is."""
    monkeypatch.setattr(control, "_HELLO_SECONDS", 60.0)
    monkeypatch.setattr(control, "_CONNECT_SECONDS", 60.0)


def finish(coroutine: Coroutine[Any, Any, None], seconds: float = 90) -> None:
    """Run to the end, in bounded time, and fail on anything that asyncio would print about a callback."""
    complaints: list[str] = []

    async def watched() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: complaints.append(str(context)))
        await asyncio.wait_for(coroutine, timeout=seconds)

    asyncio.run(watched())
    assert complaints == []


async def opened(credentials: Credentials | None) -> tuple[Hub, Ticket]:
    """Open a hub as rank 0 does."""
    listeners = listen(["127.0.0.1"])
    ticket = Ticket(
        addresses=tuple(listener.getsockname()[:2] for listener in listeners),
        nonce="the nonce of this job",
        host="node1",
        size=4,
        job="node1-7",
        credentials=credentials,
    )
    hub = Hub(ticket)
    await hub.open(listeners)
    return hub, ticket


@asynccontextmanager
async def open_hub(credentials: Credentials | None) -> AsyncIterator[tuple[Hub, Ticket]]:
    """Open a hub for the block."""
    hub, ticket = await opened(credentials)
    try:
        yield hub, ticket
    finally:
        await hub.close()


async def enter(ticket: Ticket, number: int = 1, host: str = "node2") -> Channel:
    channel = await join(ticket, rank(number, host), ticket.size, Deadline(60))
    assert channel is not None
    return channel


@pytest.mark.parametrize("secure", KEYS)
def test_a_rank_of_the_job_gets_in_and_is_heard(credentials: Credentials, secure: bool) -> None:
    async def check() -> None:
        async with open_hub(credentials if secure else None) as (hub, ticket):
            channel = await enter(ticket)
            assert await hub.events.get() == Event(1, {"event": "hello"})
            assert hub.facts == {1: rank(1, "node2")}
            assert hub.reached == {1: "127.0.0.1"}
            channel.send({"event": "ready", "kind": "worker"})
            assert await hub.events.get() == Event(1, {"event": "ready", "kind": "worker"})
            hub.send(1, {"op": "run"})
            hub.send(3, {"op": "nobody there"})
            hub.broadcast({"op": "stop"})
            assert [await channel.receive(), await channel.receive()] == [{"op": "run"}, {"op": "stop"}]

    finish(check())


@pytest.mark.parametrize("secure", KEYS)
def test_the_end_of_a_connection_is_the_loss_of_its_rank(credentials: Credentials, secure: bool) -> None:
    async def check() -> None:
        async with open_hub(credentials if secure else None) as (hub, ticket):
            first, _second = await enter(ticket, 1), await enter(ticket, 2)
            await first.close()
            events = [await hub.events.get() for _ in range(3)]
            assert events[2] == Event(1, {"event": "lost", "how": "its connection ended"})
            assert set(hub.channels) == {2}
            hub.send(1, {"op": "too late"})

    finish(check())


@pytest.mark.parametrize("secure", KEYS)
def test_ranks_see_the_end_of_the_hub(credentials: Credentials, secure: bool) -> None:
    async def check() -> None:
        async with open_hub(credentials if secure else None) as (hub, ticket):
            channel = await enter(ticket)
            await hub.close()
            assert await channel.receive() is None
            assert await join(ticket, rank(2), ticket.size, Deadline(1)) is None

    finish(check())


@pytest.mark.parametrize("secure", KEYS)
def test_a_loop_that_ends_with_ranks_inside_says_nothing(credentials: Credentials, secure: bool) -> None:
    """As rank 0's does when the parent of its processes is killed."""

    async def check() -> None:
        hub, ticket = await opened(credentials if secure else None)
        inside.append(await enter(ticket))
        assert await hub.events.get() == Event(1, {"event": "hello"})

    inside: list[Channel] = []
    finish(check())


@pytest.mark.parametrize("secure", KEYS)
def test_messages_may_be_long(credentials: Credentials, secure: bool) -> None:
    log = ["x" * 10_000] * 20  # the last lines of a process that died

    async def check() -> None:
        async with open_hub(credentials if secure else None) as (hub, ticket):
            channel = await enter(ticket)
            await hub.events.get()
            channel.send({"event": "ended", "log": log})
            assert await hub.events.get() == Event(1, {"event": "ended", "log": log})
            hub.send(1, {"op": "serve", "duty": log})
            assert await channel.receive() == {"op": "serve", "duty": log}

    finish(check())


def test_many_ranks_at_once(credentials: Credentials) -> None:
    async def check() -> None:
        async with open_hub(credentials) as (hub, ticket):
            channels = await asyncio.gather(*(enter(ticket, number) for number in range(1, 33)))
            events = [await hub.events.get() for _ in channels]
            assert {event.rank for event in events} == set(range(1, 33)) == set(hub.channels)

    finish(check())


def test_a_rank_of_another_number_of_ranks_is_refused(credentials: Credentials) -> None:
    async def check() -> None:
        async with open_hub(credentials) as (hub, ticket):
            with pytest.raises(StartError, match="rank 1 @ node2 is one of 2 ranks, rank 0 @ node1 of 4"):
                await join(ticket, rank(1, "node2"), 2, Deadline(60))
            assert hub.facts == {}

    finish(check())


@pytest.mark.parametrize("secure", KEYS)
def test_two_processes_that_claim_the_same_rank(credentials: Credentials, secure: bool) -> None:
    async def check() -> None:
        async with open_hub(credentials if secure else None) as (hub, ticket):
            channel = await enter(ticket, 1, "node2")
            with pytest.raises(StartError) as caught:
                await enter(ticket, 1, "node3")
            assert str(caught.value) == (
                "two processes claim rank 1 of 4: node2 (pid 1001) and node3 (pid 1001); "
                "start the ranks with srun or mpirun, each once"
            )
            hub.send(1, {"op": "run"})  # the first one is in as before
            assert await channel.receive() == {"op": "run"}

    finish(check())


# -- strangers -------------------------------------------------------------------------------------------

Stranger = Callable[[Ticket], Awaitable[bytes]]


def saying(content: bytes) -> Stranger:
    """Connect without TLS, say something, and listen until the other end closes."""

    async def knock(ticket: Ticket) -> bytes:
        reader, writer = await asyncio.open_connection(*ticket.addresses[0])
        writer.write(content)
        try:
            return await reader.read()
        except ConnectionError:  # what we said was not even read
            return b""
        finally:
            writer.close()

    return knock


def showing(context: ssl.SSLContext) -> Stranger:
    """Connect with TLS, and say the right things."""

    async def knock(ticket: Ticket) -> bytes:
        try:
            reader, writer = await asyncio.open_connection(*ticket.addresses[0], ssl=context)
            hello = {"nonce": ticket.nonce, "facts": rank(3).to_message(), "reached": "127.0.0.1"}
            writer.write(json.dumps(hello).encode() + b"\n")
            return await reader.read()
        except OSError:
            return b""

    return knock


@asynccontextmanager
async def at_the_door(knock: Stranger, ticket: Ticket) -> AsyncIterator[None]:
    """Let a stranger have knocked before the block."""
    task = asyncio.ensure_future(knock(ticket))
    await asyncio.sleep(0.05)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def anybody() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def hang_up(ticket: Ticket) -> bytes:
    _, writer = await asyncio.open_connection(*ticket.addresses[0])
    writer.close()
    return b""


async def wrong_nonce(ticket: Ticket) -> bytes:
    assert await join(replace(ticket, nonce="of another start"), rank(3), ticket.size, Deadline(10)) is None
    return b""


async def another_job(ticket: Ticket) -> bytes:
    assert (
        await join(replace(ticket, credentials=make_credentials()), rank(3), ticket.size, Deadline(10))
        is None
    )
    return b""


GARBAGE = {
    "http": b"GET / HTTP/1.1\r\nHost: node1\r\n\r\n",
    "binary": bytes(range(256)) * 4 + b"\n",
    "nothing in a line": b"\n",
    "a number": b"5\n",
    "a list": b"[1, 2]\n",
    "no nonce": b"{}\n",
    "a foreign nonce": '{"nonce": "ключ"}\n'.encode(),
    "half a letter": b'{"nonce": "\\ud800"}\n',
    "a deep list": b"[" * 100_000 + b"\n",
    "a nonce of another kind": b'{"nonce": [1]}\n',
    "a line without end": b"x" * (3 << 20),
}


@pytest.mark.parametrize(
    ("secure", "knock"),
    [
        *(pytest.param(False, saying(content), id=f"insecure-{name}") for name, content in GARBAGE.items()),
        *(pytest.param(True, saying(content), id=f"tls-{name}") for name, content in GARBAGE.items()),
        pytest.param(True, showing(anybody()), id="tls-no certificate"),
        pytest.param(True, showing(control_context(make_credentials(), server=False)), id="tls-other side"),
        pytest.param(True, another_job, id="tls-another job"),
        pytest.param(True, wrong_nonce, id="tls-wrong nonce"),
        pytest.param(False, wrong_nonce, id="insecure-wrong nonce"),
        pytest.param(True, hang_up, id="tls-hang up"),
        pytest.param(False, hang_up, id="insecure-hang up"),
    ],
)
def test_a_stranger_learns_nothing_and_disturbs_nobody(
    monkeypatch: pytest.MonkeyPatch, credentials: Credentials, secure: bool, knock: Stranger
) -> None:
    async def check() -> None:
        monkeypatch.setattr(control, "_HELLO_SECONDS", 2.0)
        async with open_hub(credentials if secure else None) as (hub, ticket):
            answer = await asyncio.wait_for(knock(ticket), timeout=60)
            assert len(answer) <= 16  # a TLS alert at most
            assert b"op" not in answer
            assert hub.facts == {}
        monkeypatch.setattr(control, "_HELLO_SECONDS", 60.0)  # the job's ranks may be slow
        async with open_hub(credentials if secure else None) as (hub, ticket), at_the_door(knock, ticket):
            await enter(ticket)
            assert await hub.events.get() == Event(1, {"event": "hello"})
            assert set(hub.facts) == {1}

    finish(check())


@pytest.mark.parametrize("secure", KEYS)
@pytest.mark.parametrize("beginning", [b"", b'{"nonce": '])
def test_a_stranger_that_says_no_more_is_shown_the_door(
    monkeypatch: pytest.MonkeyPatch, credentials: Credentials, secure: bool, beginning: bytes
) -> None:
    async def check() -> None:
        stranger = saying(beginning)
        async with open_hub(credentials if secure else None) as (_, ticket), at_the_door(stranger, ticket):
            await enter(ticket)  # others need not wait
        monkeypatch.setattr(control, "_HELLO_SECONDS", 0.3)
        async with open_hub(credentials if secure else None) as (_, ticket):
            assert b"op" not in await asyncio.wait_for(stranger(ticket), timeout=60)

    finish(check())


@contextlib.contextmanager
def nobody() -> Iterator[tuple[str, int]]:
    """Have an address at which nobody answers: it is taken, so that no other process can listen there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()


def test_nobody_at_the_address(credentials: Credentials) -> None:
    async def check() -> None:
        with nobody() as address:
            ticket = Ticket(
                addresses=(address,), nonce="n", host="node1", size=2, job="node1-7", credentials=credentials
            )
            assert await join(ticket, rank(1), ticket.size, Deadline(60)) is None

    finish(check())


def test_the_first_address_that_answers_is_taken(credentials: Credentials) -> None:
    async def check() -> None:
        with nobody() as dead:
            async with open_hub(credentials) as (hub, ticket):
                channel = await join(
                    replace(ticket, addresses=(dead, *ticket.addresses)), rank(1), ticket.size, Deadline(60)
                )
                assert channel is not None
                assert channel.local_address == "127.0.0.1"
                assert hub.reached == {1: "127.0.0.1"}

    finish(check())


def test_somebody_who_never_answers_costs_only_the_time_there_is() -> None:
    async def check() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            ticket = Ticket(
                addresses=(silent.getsockname()[:2],),
                nonce="n",
                host="node1",
                size=2,
                job="node1-7",
                credentials=None,
            )
            assert await join(ticket, rank(1), ticket.size, Deadline(0.3)) is None

    finish(check())


@pytest.mark.parametrize(
    ("offered", "reached", "best"),
    [
        (["a", "b"], [], "a"),
        (["a", "b"], ["b", "b", "a"], "b"),
        (["a", "b"], ["b", "a"], "a"),
        (["a", "b", "c"], ["c", "b", "c", "b"], "b"),
        (["a"], ["elsewhere"], "a"),
    ],
)
def test_the_address_that_serves_most_ranks(offered: list[str], reached: list[str], best: str) -> None:
    addresses = tuple((address, 1) for address in offered)
    ticket = Ticket(addresses=addresses, nonce="n", host="node1", size=9, job="node1-7", credentials=None)
    assert best_address(ticket, reached) == best
