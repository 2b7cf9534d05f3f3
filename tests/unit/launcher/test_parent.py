"""A launcher that is gone: seen at once, whenever it went."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runner.launcher.parent import has_left, is_broken


@contextmanager
def a_pipe(tmp_path: Path, *, read: bool) -> Iterator[int]:
    reader, writer = os.pipe()
    yield from _held(reader, writer, read)


@contextmanager
def a_terminal(tmp_path: Path, *, read: bool) -> Iterator[int]:
    master, terminal = pty.openpty()
    yield from _held(master, terminal, read)


@contextmanager
def a_socket(tmp_path: Path, *, read: bool) -> Iterator[int]:
    ours, theirs = socket.socketpair()
    yield from _held(ours.detach(), theirs.detach(), read)


@contextmanager
def a_file(tmp_path: Path, *, read: bool) -> Iterator[int]:
    with (tmp_path / "file").open("wb") as file:
        yield file.fileno()


def _held(reader: int, writer: int, read: bool) -> Iterator[int]:
    if not read:
        os.close(reader)
    try:
        yield writer
    finally:
        os.close(writer)
        if read:
            os.close(reader)


@pytest.mark.parametrize(
    ("kind", "read", "expected"),
    [
        (a_pipe, True, False),
        (a_pipe, False, True),
        (a_terminal, True, False),
        (a_terminal, False, True),
        (a_socket, True, False),
        (a_socket, False, True),
        (a_file, False, False),
    ],
)
def test_who_reads(tmp_path: Path, kind: type, read: bool, expected: bool) -> None:
    with kind(tmp_path, read=read) as descriptor:
        assert is_broken(descriptor) is expected


def test_a_descriptor_that_is_closed_tells_nothing() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    os.close(writer)
    assert not is_broken(writer)


@pytest.mark.parametrize(("kind", "expected"), [(a_socket, True), (a_pipe, False), (a_file, False)])
def test_only_a_socket_is_the_one_of_mpich(tmp_path: Path, kind: type, expected: bool) -> None:
    """The number may have come from a rank of another job, whose descriptors are not here."""
    with kind(tmp_path, read=False) as descriptor:
        assert has_left({"PMI_FD": str(descriptor)}) is expected


@pytest.mark.parametrize("number", ["", "none", "-1", "9999", "99999999999999999999"])
def test_a_number_of_nothing_tells_nothing(number: str) -> None:
    assert not has_left({"PMI_FD": number})
    assert not has_left({})


CHILD = """
import os, sys
from runner.launcher import parent
if sys.argv[2] == "polls":
    del os.pidfd_open
else:
    parent._LOOK_SECONDS = None  # to sleep so long is an error
print("waits", flush=True)
parent.wait_for_end_of(int(sys.argv[1]))
print("seen", flush=True)
"""


@pytest.mark.parametrize("how", ["at once", "polls"])
def test_the_end_of_the_parent_is_seen(how: str) -> None:
    words = ["bash", "-c", '"$0" -c "$1" $$ "$2" & wait', sys.executable, CHILD, how]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        assert parent.stdout.readline() == "waits\n"
        time.sleep(0.1)  # whatever it does first
        parent.kill()
        assert parent.stdout.readline() == "seen\n"
