"""A file that others read while it is written is whole or not there."""

from __future__ import annotations

import errno
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.files import check_target, create_atomically, write_atomically


@given(content=st.binary(max_size=5000))
def test_the_content_comes_back(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("files") / "file"
    write_atomically(path, content)
    assert path.read_bytes() == content


def test_it_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    write_atomically(path, b"new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("mode", "umask", "expected"), [(0o644, 0o022, 0o644), (0o600, 0, 0o600), (0o644, 0o077, 0o600)]
)
def test_permissions(tmp_path: Path, mode: int, umask: int, expected: int) -> None:
    path = tmp_path / "file"
    path.touch(mode=0o666)  # those of an old file do not stay
    before = os.umask(umask)
    try:
        write_atomically(path, b"secret", mode=mode)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == expected


def test_readers_see_a_whole_file_at_any_moment(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([65 + number]) * 100_000 for number in range(2)]
    write_atomically(path, contents[0])
    done = threading.Event()

    def write() -> None:
        for number in range(60):
            write_atomically(path, contents[number % 2])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not done.is_set():
        seen.add(path.read_bytes())
    writer.join(timeout=10)
    assert seen <= set(contents)
    assert list(tmp_path.iterdir()) == [path]


def test_of_many_that_make_a_file_one_does(tmp_path: Path) -> None:
    path = tmp_path / "file"
    together = threading.Barrier(8, timeout=20)
    made = []

    def make(content: bytes) -> None:
        together.wait()
        with suppress(FileExistsError):
            create_atomically(path, content)
            made.append(content)

    threads = [threading.Thread(target=make, args=(bytes([65 + number]) * 10_000,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert made == [path.read_bytes()]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("there", [False, True])
def test_a_file_system_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", no_link)
    path = tmp_path / "file"
    if there:
        path.write_bytes(b"first")
        with pytest.raises(FileExistsError):
            create_atomically(path, b"second")
    else:
        create_atomically(path, b"first")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_nothing_and_touches_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    (path / "kept").touch()
    with pytest.raises(OSError, match="directory"):  # a file cannot take the place of a folder
        write_atomically(path, b"content")
    assert list(tmp_path.iterdir()) == [path]
    assert (path / "kept").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nothing" / "file", b"content")


def test_a_target_that_cannot_be_written_is_refused_before_the_job(tmp_path: Path) -> None:
    check_target(None, "--summary")
    check_target(tmp_path / "summary.json", "--summary")
    with pytest.raises(UsageError, match=r"--summary .*: no folder"):
        check_target(tmp_path / "missing" / "summary.json", "--summary")
    with pytest.raises(UsageError, match=r"--report .*: is a folder"):
        check_target(tmp_path, "--report")
