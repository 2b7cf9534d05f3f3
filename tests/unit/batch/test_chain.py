"""Parts of a chain, run by bash as a batch system would."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from runner.batch.chain import as_part
from runner.batch.request import JobRequest
from runner.batch.script import SYSTEMS, render
from tests.cluster import processes
from tests.unit.batch.test_script import check_shell


def part(folder: Path, body: str) -> Path:
    """Write a script whose directives are followed by a body, as a part of a chain."""
    script = folder / "job.sh"
    script.write_text(as_part(f"#!/bin/bash\n#SBATCH --nodes=1\n\n{body}\n", folder / "it's ended"))
    return script


def run(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", script, *words], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("code", "over"),
    [
        (0, True),
        (1, True),
        (64, True),
        (66, True),
        (73, True),
        (75, False),
        (69, False),
        (70, False),
        (143, False),
    ],
)
def test_the_first_part_that_comes_to_an_end_is_the_last_to_work(
    tmp_path: Path, code: int, over: bool
) -> None:
    script = part(tmp_path, f"echo worked\nexec bash -c 'exit {code}'")
    first, second = run(script), run(script)
    assert (first.returncode, first.stdout) == (code, "worked\n")
    assert second.returncode == code
    assert ("worked" in second.stdout) == (not over)
    assert (f"ended with exit code {code}: nothing is left to do" in second.stdout) == over


def test_an_error_of_the_shell_is_the_parts_own_end(tmp_path: Path) -> None:
    script = part(tmp_path, "set -euo pipefail\nfalse\necho not reached")
    assert run(script).returncode == 1
    assert "nothing is left" in run(script).stdout


def test_the_part_is_told_to_stop_and_the_next_one_goes_on(tmp_path: Path) -> None:
    body = "exec bash -c 'trap \"echo stopping; exit 143\" TERM; touch started; while :; do sleep 0.05; done'"
    script = part(tmp_path, body)
    with processes.Command(["bash", script], cwd=tmp_path) as command:
        end = time.monotonic() + 60
        while not (tmp_path / "started").exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        command.signal(signal.SIGTERM)
        finished = command.wait(timeout=60, gone_within=20)
    assert finished.returncode == 143
    assert "stopping" in finished.stdout
    assert not (tmp_path / "it's ended").exists()


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.006, 0.009, 0.012, 0.02, 0.04])
def test_nothing_is_left_whenever_the_part_is_told(tmp_path: Path, delay: float) -> None:
    script = part(tmp_path, "exec sleep 90")
    with processes.Command(["bash", script], cwd=tmp_path) as command:
        time.sleep(delay)
        command.signal(signal.SIGTERM)
        finished = command.wait(timeout=60, gone_within=20)
    assert finished.returncode in (143, -signal.SIGTERM)


@pytest.mark.parametrize("system", [system for system in SYSTEMS if system not in ("htcondor", "mpi")])
def test_the_script_of_every_system_can_be_a_part(system: str, tmp_path: Path) -> None:
    request = JobRequest(command=("job.py",), walltime=60, queue="q", account="a", directives=("--x",))
    script = render(system, request)
    text = as_part(script, tmp_path / "ended")
    check_shell(text, tmp_path / "part.sh")
    directives = [line for line in script.splitlines() if line.startswith("#") and "--x" in line]
    assert len(directives) == 1
    assert text.index(directives[0]) < text.index("part() {") < text.index("set -euo pipefail")
