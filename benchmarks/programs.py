"""Whole programs, timed from their start to their end."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def time_program(name: str, command: Sequence[str], *, where: Path | None = None) -> float:
    """Run a program in a folder of its own and return how many seconds it took.

    Parameters
    ----------
    name : str
        Of what is timed, for messages.
    command : sequence of str
        The program; it finds our packages.
    where : Path, optional
        The folder above its own; made if it is not there.
    """
    if where is not None:
        where.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=where) as folder:
        environ = {**os.environ, "PYTHONPATH": os.fspath(ROOT)}
        began = time.perf_counter()
        done = subprocess.run(
            command, cwd=folder, env=environ, capture_output=True, text=True, check=False, timeout=3600
        )
        took = time.perf_counter() - began
    if done.returncode != 0:
        raise SystemExit(f"{name} ended with {done.returncode}: {done.stderr}")
    return took
