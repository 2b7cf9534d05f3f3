"""The cluster's fast network first; nothing that other machines cannot reach."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.node.net import LOOPBACK, Address, machine_addresses, order

NODE = {
    "lo": ["127.0.0.1", "::1"],
    "docker0": ["172.17.0.1"],
    "eno1": ["10.0.0.7"],
    "eth0": ["10.1.0.7"],
    "ib0": ["fe80::1%ib0", "10.4.0.7"],
    "wlan0": ["192.168.1.7"],
}


def names(addresses: dict[str, list[str]]) -> list[str]:
    return [entry.interface for entry in order(addresses)]


def test_a_node_of_a_cluster() -> None:
    assert order(NODE) == (
        Address(interface="ib0", address="10.4.0.7"),
        Address(interface="eno1", address="10.0.0.7"),
        Address(interface="eth0", address="10.1.0.7"),
        Address(interface="wlan0", address="192.168.1.7"),
        Address(interface="docker0", address="172.17.0.1"),
    )


@given(
    st.permutations(
        [
            "hsn0",
            "ib1",
            "ipogif0",
            "bond0",
            "team0",
            "ext0",
            "enp3s0",
            "eth1",
            "em1",
            "br-0f",
            "veth7",
            "tap0",
        ]
    )
)
def test_the_order_does_not_depend_on_the_machines(shuffled: list[str]) -> None:
    listed = names({name: ["10.0.0.1"] for name in shuffled})
    assert listed[:9] == ["hsn0", "ib1", "ipogif0", "bond0", "team0", "ext0", "enp3s0", "eth1", "em1"]
    assert set(listed[9:]) == {"br-0f", "veth7", "tap0"}


def test_ipv4_before_ipv6_on_the_same_interface() -> None:
    found = order({"eth0": ["2001:db8::7", "10.0.0.7"]})
    assert [entry.address for entry in found] == ["10.0.0.7", "2001:db8::7"]


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "127.9.9.9", "::1", "169.254.3.4", "fe80::1", "fe80::1%eth0", "0.0.0.0", "::"]
)
def test_what_others_cannot_reach_is_left_out(address: str) -> None:
    assert order({"eth0": [address]}) == ()


@given(st.dictionaries(st.sampled_from(list(NODE)), st.lists(st.ip_addresses().map(str), max_size=3)))
def test_nothing_is_lost_or_made_up(addresses: dict[str, list[str]]) -> None:
    found = {(entry.interface, entry.address) for entry in order(addresses)}
    given_ones = {(name, address) for name, listed in addresses.items() for address in listed}
    assert found <= given_ones
    assert all(
        ip.is_loopback or ip.is_link_local or ip.is_unspecified
        for ip in (ipaddress.ip_address(address) for _, address in given_ones - found)
    )


def test_the_interface_that_was_asked_for() -> None:
    assert order(NODE, only="eth0") == (Address(interface="eth0", address="10.1.0.7"),)


@pytest.mark.parametrize(
    ("addresses", "only", "there_is"),
    [
        (NODE, "ib1", "ib0, eno1, eth0, wlan0, docker0"),
        (NODE, "lo", "ib0, eno1, eth0, wlan0, docker0"),
        ({"lo": ["127.0.0.1"], "ib0": ["fe80::1%ib0"]}, "ib0", "none but loopback"),
    ],
)
def test_an_interface_that_cannot_serve(addresses: dict[str, list[str]], only: str, there_is: str) -> None:
    with pytest.raises(UsageError) as caught:
        order(addresses, only=only)
    host = socket.gethostname()
    assert str(caught.value) == f"interface {only!r} has no address on {host}; there is: {there_is}"


def test_this_machine_has_its_loopback() -> None:
    assert any(LOOPBACK in listed for listed in machine_addresses().values())
