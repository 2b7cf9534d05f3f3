"""A reconstruction is killed again and again, and goes on each time: in the end the volume is the same."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import suppress

import numpy as np
import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.processes import Command
from tests.cluster.volume_kills import kill_often, struck
from tests.cluster.volumes import pixels, slices_there
from tests.cluster.ways import Way

pytestmark = pytest.mark.cluster

PARTIAL = "volume.h5.partial"


def kill_all(command: Command) -> None:
    """Kill all processes of a job at about the same moment, as a power cut does."""
    for pid in command.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    "way",
    [
        "local",
        pytest.param("mpich", marks=pytest.mark.mpi),
        pytest.param("srun", marks=pytest.mark.slurm),
    ],
    indirect=True,
)
def test_killed_again_and_again(way: Way) -> None:
    write_scan(way.folder / "scan.nx", Settings(columns=160, rows=400, angles=60, noise=False))
    words = ["--quiet", "reconstruct", "scan.nx", "volume.h5", "--method", "fbp", "--center", "79.5"]
    for wanted in (16, 128):
        with way.start(*words, ranks=2) as command:
            end = time.monotonic() + 60
            while slices_there(way.folder / PARTIAL) < wanted:
                assert command.running(), command.stderr
                assert time.monotonic() < end, command.stderr
                time.sleep(0.01)
            kill_all(command)
        assert (way.folder / PARTIAL).exists()
    result = way.run(*words, ranks=2)
    assert result.code == 0, result.err
    made_before = re.search(
        r"all 400 slices written and verified, (\d+) of them by an earlier run", result.out
    )
    assert made_before, result.out
    assert int(made_before[1]) >= 128
    on_one_machine = Way("local", way.folder, way.environment)
    assert on_one_machine.run(*words[:3], "reference.h5", *words[4:], ranks=2).code == 0
    assert np.array_equal(pixels(way.folder / "volume.h5"), pixels(way.folder / "reference.h5"))
    assert not [path for path in way.folder.iterdir() if path.name.endswith((".partial", ".lock"))]


@pytest.mark.timeout(600)  # some ten runs
def test_random_processes_of_every_form_at_random_moments(local: Way) -> None:
    """A few; ``python -m tests.cluster.volume_kills`` does as many as one likes."""
    dealt = kill_often(local, 1, seed=6)
    assert all(struck(volumes) for volumes in dealt.values())
