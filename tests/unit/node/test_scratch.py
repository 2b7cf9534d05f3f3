"""A private folder on the machine's own disk."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from runner.errors import WriteError
from runner.node.scratch import doubts, file_system, make_scratch, scratch_root, sweep_scratch


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({}, "/tmp"),
        ({"TMPDIR": ""}, "/tmp"),
        ({"TMPDIR": "/scratch/job_9"}, "/scratch/job_9"),
        ({"TMPDIR": "/tmp/x", "LOCAL_SCRATCH": "/nvme"}, "/nvme"),
        ({"TMPDIR": "/tmp/x", "FLUX_JOB_TMPDIR": "/flux"}, "/flux"),
        ({"TMPDIR": "/tmp/x", "_CONDOR_SCRATCH_DIR": "/condor"}, "/condor"),
        ({"LOCAL_SCRATCH": "/nvme", "RUNNER_SCRATCH": "/mine"}, "/mine"),
    ],
)
def test_root(environ: dict[str, str], root: str) -> None:
    assert scratch_root(environ, usable=lambda _: True) == Path(root)
    assert scratch_root(environ, Path("/chosen")) == Path("/chosen")


def test_a_sites_folder_that_is_not_there_is_passed_over(tmp_path: Path) -> None:
    environ = {"LOCAL_SCRATCH": "/not/there", "TMPDIR": str(tmp_path)}
    assert scratch_root(environ) == tmp_path
    assert doubts(environ)[0] == (
        f"LOCAL_SCRATCH=/not/there is no folder that can be written, {tmp_path} is used for scratch"
    )
    assert scratch_root({"TMPDIR": "/not/there"}) == Path("/tmp")
    assert scratch_root({**environ, "RUNNER_SCRATCH": "/not/there"}) == Path("/not/there")


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("/", "ext4"), ("/tmp", "tmpfs"), ("/tmp/a b/c", "xfs"), ("/tmpfs", "ext4"), ("/twice/x", "nfs4")],
)
def test_file_system(folder: str, kind: str) -> None:
    mounts = [
        "/dev/sda1 / ext4 rw 0 0",
        "tmpfs /tmp tmpfs rw,size=9m 0 0",
        "/dev/sdb1 /tmp/a\\040b xfs rw 0 0",
        "systemd-1 /twice autofs rw 0 0",
        "server:/x /twice nfs4 rw 0 0",
    ]
    assert file_system(Path(folder), mounts) == kind


def test_each_folder_is_new_and_private(tmp_path: Path) -> None:
    first, second = make_scratch(tmp_path, "3"), make_scratch(tmp_path, "3")
    assert first != second
    assert first.parent == tmp_path
    assert first.name.startswith("runner-3-")
    assert stat.S_IMODE(first.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("made", "reason"), [(False, "No such file or directory"), (True, "Not a directory")]
)
def test_a_root_that_cannot_be_used(tmp_path: Path, made: bool, reason: str) -> None:
    root = tmp_path / "scratch"
    if made:
        root.write_text("a file")
    with pytest.raises(WriteError) as caught:
        make_scratch(root, "3")
    pattern = rf"scratch folder {root} on \S+ cannot be used \({reason}\); choose another with --scratch or "
    assert re.fullmatch(f"{pattern}RUNNER_SCRATCH", str(caught.value))


@pytest.mark.parametrize("name", ["3", "check"])
def test_what_a_killed_process_left_is_swept(tmp_path: Path, name: str) -> None:
    code = (
        "import sys, pathlib; from runner.node.scratch import make_scratch; "
        "print(make_scratch(pathlib.Path(sys.argv[1]), sys.argv[2]), flush=True); sys.stdin.read()"
    )
    kept = [make_scratch(tmp_path, "0"), tmp_path / "runner-of-somebody", tmp_path / "other"]
    for folder in kept[1:]:
        folder.mkdir()
    argv = [sys.executable, "-c", code, str(tmp_path), name]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        left = Path(owner.stdout.readline().strip())
        (left / "spilled").write_text("much")
        sweep_scratch(tmp_path)
        assert left.is_dir(), "its owner lives"
        owner.kill()
    sweep_scratch(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_a_folder_that_is_not_there_is_not_swept(tmp_path: Path) -> None:
    sweep_scratch(tmp_path / "missing")
