"""Jobs on Grid Engine and OAR that end before their time, by the clock or a person, or lose a host."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.conftest import clean_environment
from tests.cluster.processes import JOB_VARIABLES, marked
from tests.cluster.queues import Queue
from tests.cluster.volumes import pixels, slices_there
from tests.cluster.ways import JOBS, Way

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]


def wait_for(condition: Callable[[], object], seconds: float, queue: Queue, job: str) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, queue.log(job)
        time.sleep(0.1)


OPTIONS = ("--method", "fbp", "--center", "79.5")


@pytest.fixture(scope="module")
def long_scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scan that takes long enough to be ended on the way."""
    path = tmp_path_factory.mktemp("scan") / "scan.nx"
    write_scan(path, Settings(columns=160, rows=512, angles=60, noise=False))
    return path


@pytest.fixture(scope="module")
def long_reference(long_scan: Path) -> np.ndarray:
    """Its volume from one process without a launcher, axes (slice, y, x)."""
    local = Way("local", long_scan.parent, clean_environment())
    assert local.run("reconstruct", long_scan, "reference.h5", *OPTIONS, ranks=1).code == 0
    return pixels(long_scan.parent / "reference.h5")


def freeze_workers(queue: Queue, job: str) -> None:
    """Have a job's workers stand still, lest they are done before somebody has ended it."""
    for pid in marked(f"{JOB_VARIABLES[queue.name]}={job}"):
        with suppress(OSError):  # it ended meanwhile
            if Path(f"/proc/{pid}/comm").read_text().startswith("runner worker"):
                os.kill(pid, signal.SIGSTOP)


def test_the_clock_and_a_person_end_jobs_in_order(
    queue: Queue, local: Way, long_scan: Path, long_reference: np.ndarray
) -> None:
    """Both jobs at once: most of the time is spent with waiting."""
    queue.profile(TEST_FOLDER=str(queue.folder))
    # Grid Engine does not say when it began: its script counts with half a minute less
    seconds = {"sge": "65s", "oar": "30s"}[queue.name]
    (told,) = queue.submit("--time", seconds, "--starter", "hosts", JOBS / "drains.py")
    words = ["reconstruct", long_scan, "volume.h5", *OPTIONS]
    (ended,) = queue.submit("--starter", "hosts", *words)
    partial = queue.folder / "volume.h5.partial"
    wait_for(lambda: slices_there(partial) >= 16, 60, queue, ended)
    freeze_workers(queue, ended)
    cancelled = queue.run("cancel", ended)
    assert cancelled.returncode == 0, cancelled.stderr
    assert queue.wait(ended) == 143, queue.log(ended)
    warning = {"sge": "SIGUSR2", "oar": "SIGTERM"}[queue.name]
    assert re.search(rf"runner: {warning} received by rank \d, stopping", queue.log(ended))
    assert queue.wait(told) == 75, queue.log(told)
    asked, heard = (json.loads(line) for line in (queue.folder / "notes").read_text().splitlines())
    assert asked["here"] > heard["told"] > 0
    assert not [*(queue.folder / "scratch").iterdir(), *(queue.folder / "meet").iterdir()]
    made = slices_there(partial)
    assert 16 <= made < 512
    result = local.run(*words, ranks=1)
    assert f"all 512 slices written and verified, {made} of them by an earlier run" in result.out
    assert np.array_equal(pixels(queue.folder / "volume.h5"), long_reference)


def test_a_job_goes_on_without_a_lost_host(queue: Queue) -> None:
    queue.profile(TEST_FOLDER=str(queue.folder))
    (job,) = queue.submit("--starter", "hosts", "--", "--silence-timeout", "3s", JOBS / "outlives.py", "24")
    wait_for((queue.folder / "done").exists, 60, queue, job)
    lost = re.search(r"^ +3 +(node\d) ", queue.log(job), re.MULTILINE)
    assert lost
    queue.cluster.kill_host(lost[1])
    (queue.folder / "struck").touch()
    try:
        wait_for(lambda: "all done" in queue.output(job), 60, queue, job)
        if queue.name == "oar":  # Grid Engine waits for the lost host to come back, or to be silent for 20 s
            assert queue.run("wait", job).returncode == 0
    finally:
        queue.cluster.repair()
    assert queue.wait(job) == 0, queue.log(job)
    assert f"rank 3 @ {lost[1]}: lost: its connection ended" in queue.log(job)
    assert "Traceback" not in queue.log(job)
