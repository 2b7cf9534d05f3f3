"""Jobs on a real Grid Engine and a real OAR: submitted, started on four hosts, followed, chained, ended.

On a real SLURM: ``test_submit.py``.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.mpi import MpiLauncher
from tests.cluster.queues import Queue
from tests.cluster.volumes import hosts_of, pixels

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]

JOB = """
import sys
from pathlib import Path
from dask.distributed import Client

print("sum", Client().submit(sum, [1, 2, 3]).result())
ends = Path("ends")  # one word for each run that is left: its exit code
first, *others = ends.read_text().split()
ends.write_text(" ".join(others))
sys.exit(int(first))
"""


@pytest.mark.mpi
def test_the_same_volume_whoever_starts_the_ranks(
    queue: Queue, no_default_route: None, scan: Path, reference: np.ndarray
) -> None:
    launchers = [MpiLauncher(name) for name in ("mpich", "openmpi")]
    for launcher in launchers:
        if not launcher.program.exists():
            pytest.skip(f"no {launcher.name} in {launcher.prefix}: run make test")
    jobs = {"hosts": queue.submit("--starter", "hosts", "reconstruct", scan, "hosts.h5")}
    chosen = {"mpich": ["--", "--interface", "eth0"]}  # else it is the fast one
    for launcher in launchers:  # all at once: the cluster has room for them
        queue.profile(**launcher.environment)
        words = [*chosen.get(launcher.name, []), "reconstruct", scan, f"{launcher.name}.h5"]
        jobs[launcher.name] = queue.submit(*words)
    for starter, (job,) in jobs.items():
        code = queue.wait(job)
        log = queue.log(job)
        assert code == 0, log
        assert "4 ranks on 4 hosts, 4 workers" in log
        network, interface = ("10.77", "eth0") if starter in chosen else ("10.78", "ib0")
        assert re.search(rf"scheduler  tls://{network}\.0\.\d+:\d+ on {interface}, ", log), log
        assert "all 135 slices written and verified" in log
        assert np.array_equal(pixels(queue.folder / f"{starter}.h5"), reference), starter
        assert hosts_of(queue.folder / f"{starter}.h5") == {
            f"{network}.0.{host}" for host in (11, 12, 13, 14)
        }
        if queue.name == "sge":
            assert queue.hosts_in_accounting(job) >= 4, starter
    left = [*(queue.folder / "scratch").iterdir(), *(queue.folder / "meet").iterdir()]
    assert not left


def test_a_chain_is_followed_until_all_is_done(queue: Queue) -> None:
    (queue.folder / "job.py").write_text(JOB)
    (queue.folder / "ends").write_text("75 3")
    first, second = queue.submit("--starter", "hosts", "--parts", "2", "job.py")
    assert "sum 6\n" in queue.run("log", first, "--follow").stdout
    assert [queue.wait(job) for job in (second, first)] == [3, 75]
    assert "ended 75" in queue.run("status", first).stdout
