"""A ticket comes back as it was; anything else is not one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import StartError
from runner.launcher.rendezvous.ticket import Ticket, new_nonce
from runner.launcher.security import Credentials

TICKET = Ticket(
    addresses=(("10.0.0.7", 40000), ("2001:db8::7", 40001)),
    nonce="n-1",
    host="node1",
    size=4,
    job="node1-7",
    credentials=Credentials(certificate="CERTIFICATE", key="KEY"),
)

tickets = st.builds(
    Ticket,
    addresses=st.lists(st.tuples(st.ip_addresses().map(str), st.integers(1, 65535))).map(tuple),
    nonce=st.text(),
    host=st.text(),
    size=st.integers(1, 10**6),
    job=st.text(),
    credentials=st.none() | st.builds(Credentials, certificate=st.text(), key=st.text()),
    owner=st.text(),
)


@given(tickets)
def test_it_comes_back(ticket: Ticket) -> None:
    assert Ticket.from_bytes(ticket.to_bytes()) == ticket


def test_every_cut_is_noticed() -> None:
    content = TICKET.to_bytes()
    for length in range(len(content)):
        with pytest.raises(StartError, match="not a whole ticket"):
            Ticket.from_bytes(content[:length])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.binary() | _JSON.map(lambda value: json.dumps(value).encode()))
def test_garbage(content: bytes) -> None:
    with pytest.raises(StartError):
        Ticket.from_bytes(content)


@given(name=st.sampled_from(["addresses", "size", "credentials"]), value=_JSON)
def test_a_field_of_another_kind_is_garbage_or_read(name: str, value: object) -> None:
    content = json.loads(TICKET.to_bytes()) | {name: value}
    try:
        read = Ticket.from_bytes(json.dumps(content).encode())
    except StartError:
        return
    assert isinstance(read.size, int)
    assert all(isinstance(address, str) and isinstance(port, int) for address, port in read.addresses)
    assert not read.credentials or isinstance(read.credentials, Credentials)


def test_another_version_is_named() -> None:
    content = json.loads(TICKET.to_bytes()) | {"format": 99}
    with pytest.raises(
        StartError, match="the ticket has format 99, this version reads 2; use the same version"
    ):
        Ticket.from_bytes(json.dumps(content).encode())


def test_the_key_is_not_in_its_text() -> None:
    assert "KEY" not in repr(TICKET)


def test_nonces_do_not_repeat() -> None:
    assert len({new_nonce() for _ in range(100)}) == 100
