"""Which rank goes where, how it is started there, and what it is told. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.batch.hostlist import expand
from runner.errors import UsageError

#: Where the host, or the number of the rank, stands in the command that reaches it; else the host is its end.
HOST = "{host}"
RANK = "{rank}"

_NAME = re.compile(r"[\w.:-]*\w")
#: Of one process on one machine: they would be wrong elsewhere.
_STAY_HERE = re.compile(
    r"(SSH|XDG|DBUS|VSCODE)_\w*|_|PWD|OLDPWD|SHLVL|HOSTNAME|HOST|TERM|DISPLAY|XAUTHORITY|MAIL|TTY"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """The place of one rank.

    Attributes
    ----------
    rank, size : int
        Which of how many.
    local_rank : int
        Which of those on the same host.
    host : str
        Where.
    """

    rank: int
    size: int
    local_rank: int
    host: str


def read_host_file(text: str) -> tuple[str, ...]:
    """Return a host for each rank, from a file with a line per rank, or with a number of ranks.

    Understood are lines like ``node1``, ``node1:4``, ``node1 slots=4`` and Grid Engine's ``node1 4 queue``;
    what stands behind ``#`` is not read.

    Raises
    ------
    UsageError
        If a line is something else.
    """
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(host for line in lines if line for host in _line(line))


def read_host_list(text: str) -> tuple[str, ...]:
    """Return a host for each rank, from a list like ``node1,node2:4`` or ``node[1-4]``.

    Raises
    ------
    UsageError
        If it is something else.
    """
    return tuple(name for entry in expand(text) for name in _line(entry))


def take_seats(hosts: Sequence[str], ranks_per_host: int | None = None) -> tuple[Seat, ...]:
    """Give each rank its number and its host.

    Parameters
    ----------
    hosts : sequence of str
        A host for each rank; the ranks keep this order.
    ranks_per_host : int, optional
        So many on each different host instead, in the order of the hosts.

    Raises
    ------
    UsageError
        If there are no hosts.
    """
    if ranks_per_host is not None:
        hosts = [host for host in dict.fromkeys(hosts) for _ in range(ranks_per_host)]
    if not hosts:
        raise UsageError(
            "there are no hosts to start ranks on", "give --hosts FILE, or a list: --hosts node1,node2"
        )
    taken: Counter[str] = Counter()
    seats = []
    for rank, host in enumerate(hosts):
        seats.append(Seat(rank=rank, size=len(hosts), local_rank=taken[host], host=host))
        taken[host] += 1
    return tuple(seats)


def usual_shell(environ: Mapping[str, str]) -> str:
    """Return the command with which this batch job reaches its hosts."""
    if environ.get("OAR_JOB_ID"):
        return "oarsh"
    if environ.get("PE_HOSTFILE"):
        return "qrsh -inherit"
    return "ssh -x -o BatchMode=yes"


def starter(shell: str, seat: Seat, command: Sequence[str]) -> tuple[str, ...]:
    """Return the command that starts another one on the host of a rank.

    Parameters
    ----------
    shell : str
        ``"ssh"``, ``"qrsh -inherit"``, ``"pbsdsh -n {rank} --"``.
    seat : Seat
        The rank.
    command : sequence of str
        What to start; a shell over there reads it again.

    Raises
    ------
    UsageError
        If `shell` is no command.
    """
    try:
        words = shlex.split(shell)
    except ValueError as error:
        raise UsageError(f"--ssh {shell!r} cannot be read ({error})", "write it as for a shell") from error
    if not words:
        raise UsageError("--ssh is empty", "give the command that reaches a host, like ssh")
    if not any(mark in word for word in words for mark in (HOST, RANK)):
        words.append(HOST)
    reached = (word.replace(HOST, seat.host).replace(RANK, str(seat.rank)) for word in words)
    return (*reached, *(shlex.quote(word) for word in command))


def message(seat: Seat, argv: Sequence[str], environ: Mapping[str, str], folder: Path, job: str) -> bytes:
    """Return all that the far end needs to know to start a rank, in one line.

    Parameters
    ----------
    seat : Seat
        The rank.
    argv : sequence of str
        Its command.
    environ : mapping
        The environment here; what belongs to this machine alone is left out.
    folder : Path
        The working folder here, and there.
    job : str
        The name of this start, if the environment has none.
    """
    passed = {name: value for name, value in environ.items() if not _STAY_HERE.fullmatch(name)}
    own = {
        "RUNNER_RANK": str(seat.rank),
        "RUNNER_SIZE": str(seat.size),
        "RUNNER_LOCAL_RANK": str(seat.local_rank),
    }
    told = {"argv": list(argv), "environ": {"RUNNER_JOB": job} | passed | own, "folder": str(folder)}
    return json.dumps(told).encode() + b"\n"


def _line(line: str) -> list[str]:
    words = line.split()
    name, _, count = words[0].rpartition(":") if re.search(r":\d+$", words[0]) else (words[0], "", "1")
    if len(words) > 1:
        count = words[1].removeprefix("slots=")
    if not _NAME.fullmatch(name) or not count.isdigit():
        raise UsageError(f"{line!r} is no host", "write node1, node1:4 or node1 slots=4")
    return [name] * int(count)
