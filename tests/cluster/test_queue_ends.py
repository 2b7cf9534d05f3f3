"""Jobs on a real Grid Engine and a real OAR that end before their time: by a person, the clock, a lost host."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.mpi import MpiLauncher
from tests.cluster.queues import Queue
from tests.cluster.volumes import slices_there
from tests.cluster.ways import Way

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

RECONSTRUCT = ("reconstruct", "scan.nx")
OPTIONS = ("--method", "fbp", "--center", "79.5")


@pytest.fixture(scope="module")
def long_scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scan whose reconstruction takes long enough to be ended."""
    path = tmp_path_factory.mktemp("scan") / "scan.nx"
    write_scan(path, Settings(columns=160, rows=1280, angles=60, noise=False))
    return path


@pytest.mark.mpi
def test_a_reconstruction_that_is_cancelled_goes_on_later(queue: Queue, long_scan: Path, local: Way) -> None:
    jobs = {"hosts": queue.submit("--starter", "hosts", "reconstruct", long_scan, "hosts.h5", *OPTIONS)[0]}
    for launcher in (MpiLauncher(name) for name in ("mpich", "openmpi")):
        if launcher.program.exists():
            queue.profile(**launcher.environment)
            jobs[launcher.name] = queue.submit("reconstruct", long_scan, f"{launcher.name}.h5", *OPTIONS)[0]
    for starter, job in jobs.items():
        end = time.monotonic() + 60
        while slices_there(queue.folder / f"{starter}.h5.partial") < 16:
            assert time.monotonic() < end, queue.log(job)
            time.sleep(0.1)
        began = time.monotonic()
        cancelled = queue.run("cancel", job)
        print(starter, cancelled.stdout, cancelled.stderr, time.monotonic() - began)
        code = queue.wait(job)
        print(
            starter,
            code,
            time.monotonic() - began,
            [*(queue.folder / "scratch").iterdir(), *(queue.folder / "meet").iterdir()],
        )
        print(queue.log(job))
    assert False
