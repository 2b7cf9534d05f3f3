"""The programs above a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from runner.launcher.ancestors import read_ancestors


def test_the_nearest_comes_first() -> None:
    code = "from runner.launcher.ancestors import read_ancestors; print(*read_ancestors(), sep='\\n')"
    argv = ["sh", "-c", '"$@"; exit 0', "a shell", sys.executable, "-c", code]
    lines = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True).stdout
    assert lines.startswith('sh -c "$@"; exit 0 a shell ')
    assert len(lines.splitlines()) > 1


def test_hidden_processes_are_no_failure(tmp_path: Path) -> None:
    assert read_ancestors(tmp_path) == ()


def test_any_process_name_is_read(tmp_path: Path) -> None:
    folder = tmp_path / str(os.getppid())
    folder.mkdir()
    (folder / "cmdline").write_bytes(b"slurmstepd: [4.batch]\0")
    (folder / "stat").write_text(f"{os.getppid()} (a) S 9 (b) S 1 7")
    assert read_ancestors(tmp_path) == ("slurmstepd: [4.batch]",)
