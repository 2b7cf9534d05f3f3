"""Which rank goes where, and what it is told."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.batch.fanout.seats import (
    Seat,
    message,
    read_host_file,
    read_host_list,
    starter,
    take_seats,
    usual_shell,
)
from runner.errors import UsageError
from tests.unit.batch.environments import recorded

SEVENTH = Seat(rank=7, size=8, local_rank=0, host="n1")


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a\na\nb\n", "a a b"),
        ("a:2\nb\n", "a a b"),
        ("a slots=2\nb slots=1\n", "a a b"),
        ("node1 2 all.q@node1 UNDEFINED\nnode2 1 all.q@node2 <NULL>\n", "node1 node1 node2"),
        ("# mine\n\n  a  # first\n", "a"),
        ("cn-1.site.org\n", "cn-1.site.org"),
        ("", ""),
    ],
)
def test_host_file(text: str, hosts: str) -> None:
    assert read_host_file(text) == tuple(hosts.split())


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a", "a"),
        ("a,b", "a b"),
        ("a:2,b", "a a b"),
        ("node[08-10]", "node08 node09 node10"),
        ("n[1-2]:2", "n1 n1 n2 n2"),
    ],
)
def test_host_list(text: str, hosts: str) -> None:
    assert read_host_list(text) == tuple(hosts.split())


@pytest.mark.parametrize("line", ["-oProxyCommand=x", "a;b", "$(x)", "a slots=many", "a b"])
def test_what_is_no_host_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="is no host"):
        read_host_file(line)


def test_seats() -> None:
    assert take_seats(("a", "b", "a")) == (
        Seat(rank=0, size=3, local_rank=0, host="a"),
        Seat(rank=1, size=3, local_rank=0, host="b"),
        Seat(rank=2, size=3, local_rank=1, host="a"),
    )
    assert [seat.host for seat in take_seats(("a", "b", "a"), 2)] == ["a", "a", "b", "b"]
    with pytest.raises(UsageError, match="there are no hosts"):
        take_seats(())


@given(st.lists(st.sampled_from("abcd"), min_size=1), st.none() | st.integers(1, 4))
def test_every_rank_has_one_seat_and_local_ranks_count(hosts: list[str], per_host: int | None) -> None:
    seats = take_seats(hosts, per_host)
    assert [seat.rank for seat in seats] == list(range(len(seats)))
    assert {seat.size for seat in seats} == {len(seats)}
    counts = Counter(seat.host for seat in seats)
    assert counts == (Counter(hosts) if per_host is None else dict.fromkeys(hosts, per_host))
    for host, count in counts.items():
        assert [seat.local_rank for seat in seats if seat.host == host] == list(range(count))


@pytest.mark.parametrize(
    ("shell", "argv"),
    [
        ("ssh", "ssh n1"),
        ("qrsh -inherit", "qrsh -inherit n1"),
        ("pbsdsh -n {rank} --", "pbsdsh -n 7 --"),
        ("reach --to={host} --as {rank}", "reach --to=n1 --as 7"),
        ("ssh -o 'ProxyCommand=x y'", "ssh -o 'ProxyCommand=x y' n1"),
    ],
)
def test_starter(shell: str, argv: str) -> None:
    words = starter(shell, SEVENTH, ("/opt/my env/python", "-I"))
    assert words == (*shlex.split(argv), "'/opt/my env/python'", "-I")


@pytest.mark.parametrize("shell", ["", "'"])
def test_what_is_no_command_is_refused(shell: str) -> None:
    with pytest.raises(UsageError, match="--ssh"):
        starter(shell, SEVENTH, ("x",))


@pytest.mark.parametrize(
    ("environ", "shell"),
    [
        ({}, "ssh -x -o BatchMode=yes"),
        (recorded("oar"), "oarsh"),
        (recorded("sge-parallel"), "qrsh -inherit"),
    ],
)
def test_usual_shell(environ: dict[str, str], shell: str) -> None:
    assert usual_shell(environ) == shell


def test_what_a_rank_is_told() -> None:
    environ = {
        "PATH": "/bin",
        "A": "a\nb",
        "PWD": "/x",
        "SSH_CONNECTION": "1",
        "DISPLAY": ":0",
        "RUNNER_RANK": "9",
    }
    line = message(Seat(rank=3, size=4, local_rank=1, host="b"), ("x", "a b"), environ, Path("/scans"), "me")
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "argv": ["x", "a b"],
        "folder": "/scans",
        "environ": {
            "PATH": "/bin",
            "A": "a\nb",
            "RUNNER_JOB": "me",
            "RUNNER_RANK": "3",
            "RUNNER_SIZE": "4",
            "RUNNER_LOCAL_RANK": "1",
        },
    }


def test_a_name_that_was_given_to_the_start_is_kept() -> None:
    seat = Seat(rank=0, size=1, local_rank=0, host="a")
    told = json.loads(message(seat, ("x",), {"RUNNER_JOB": "given"}, Path("/"), "ours"))
    assert told["environ"]["RUNNER_JOB"] == "given"
