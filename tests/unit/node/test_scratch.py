"""A private folder on the machine's own disk."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from runner.errors import WriteError
from runner.node.scratch import make_scratch, scratch_root


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
    assert scratch_root(environ) == Path(root)
    assert scratch_root(environ, Path("/chosen")) == Path("/chosen")


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
