"""The addresses under which other machines may reach this one, best first."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil

from runner.errors import UsageError

LOOPBACK = "127.0.0.1"

# Fast networks of clusters first; what containers and virtual machines make comes last.
_PREFERRED = ("hsn", "ib", "ipogif", "bond", "team", "ext", "en", "eth")
_LAST = ("docker", "br-", "virbr", "veth", "cni", "flannel", "podman", "tun", "tap")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """An address of this machine and the interface that carries it."""

    interface: str
    address: str


def order(addresses: Mapping[str, Sequence[str]], only: str | None = None) -> tuple[Address, ...]:
    """Sort a machine's addresses by how likely they are to be the cluster's fast network.

    Parameters
    ----------
    addresses : mapping of str to sequence of str
        IP addresses by interface name. Loopback and link-local ones are left out; IPv4 goes before
        IPv6 on the same interface.
    only : str, optional
        The one interface that may be used.

    Raises
    ------
    UsageError
        If `only` is not an interface with a usable address; the message lists those that are.
    """
    found = [
        Address(interface=interface, address=address)
        for interface, listed in addresses.items()
        for address in listed
        if _usable(address)
    ]
    found.sort(key=lambda entry: (_preference(entry.interface), ":" in entry.address))
    if only is None:
        return tuple(found)
    chosen = tuple(entry for entry in found if entry.interface == only)
    if not chosen:
        names = ", ".join(dict.fromkeys(entry.interface for entry in found)) or "none but loopback"
        raise UsageError(f"interface {only!r} has no address on {socket.gethostname()}", f"there is: {names}")
    return chosen


def as_host(address: str) -> str:
    """Write an address as it stands in a URL, and as Dask wants it.

    >>> as_host("fd00::1"), as_host("10.0.0.1")
    ('[fd00::1]', '10.0.0.1')
    """
    return f"[{address}]" if ":" in address else address


def machine_addresses() -> dict[str, list[str]]:
    """Read this machine's IP addresses by interface, for interfaces that are up."""
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    return {
        name: [entry.address for entry in entries if entry.family in (socket.AF_INET, socket.AF_INET6)]
        for name, entries in psutil.net_if_addrs().items()
        if name in up
    }


def _usable(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    return not (parsed.is_loopback or parsed.is_link_local or parsed.is_unspecified)


def _preference(interface: str) -> int:
    for position, prefix in enumerate(_PREFERRED):
        if interface.startswith(prefix):
            return position
    return len(_PREFERRED) + (interface.startswith(_LAST))
