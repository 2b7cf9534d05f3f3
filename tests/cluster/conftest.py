"""What the tests with real processes stand on: an environment, the MPI launchers, virtual batch systems."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.mpi import LIBRARIES, MpiLauncher
from tests.cluster.queues import Queue
from tests.cluster.testbed import (
    NotToBeHadError,
    VirtualCluster,
    VirtualGridEngine,
    VirtualOar,
    VirtualSlurm,
    why_not,
)
from tests.cluster.volumes import pixels
from tests.cluster.ways import Way

#: A test must not see the launcher or batch job that the test run itself may be in.
LAUNCHERS = re.compile(
    "(SLURM|SBATCH|SRUN|PMI|PMIX|OMPI|PRTE|HYDRA|MPI|I_MPI|PALS|JSM|LSB|FLUX|PBS|OAR|_CONDOR|RUNNER|DASK)"
    "[A-Z0-9]*_"
)


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """This process's environment without any launcher's or our own settings, one thread per library.

    Open MPI's own files go to a new folder: it names them after its process number, and what a killed
    ``mpirun`` leaves keeps a later one that gets the same number from starting (exit code 213).
    """
    return clean_environment() | {"PRTE_MCA_prte_local_tmpdir_base": str(tmp_path_factory.mktemp("prte"))}


def clean_environment() -> dict[str, str]:
    """Return this process's environment without any launcher's or our own settings."""
    kept = {name: value for name, value in os.environ.items() if not LAUNCHERS.match(name)}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.mpi) for name in LIBRARIES])
def mpirun(request: pytest.FixtureRequest) -> MpiLauncher:
    """Each MPI launcher in turn."""
    launcher = MpiLauncher(request.param)
    if not launcher.program.exists():
        pytest.skip(f"no {launcher.name} in {launcher.prefix}: run make test")
    return launcher


@pytest.fixture(scope="session")
def slurm_cluster() -> Iterator[VirtualSlurm]:
    """The virtual SLURM, started for this test run where it is not up already."""
    if reason := why_not():
        pytest.skip(reason)
    cluster = VirtualSlurm()
    yield cluster
    cluster.down()


@pytest.fixture(scope="session")
def hosts() -> Iterator[VirtualCluster]:
    """The virtual hosts alone, started for this test run where they are not up already."""
    yield from started(VirtualCluster)


@pytest.fixture(scope="session")
def sge() -> Iterator[VirtualCluster]:
    """The virtual Grid Engine, started for this test run where it is not up already."""
    yield from started(VirtualGridEngine)


@pytest.fixture(scope="session")
def oar() -> Iterator[VirtualCluster]:
    """The virtual OAR, started for this test run where it is not up already."""
    yield from started(VirtualOar)


def started(kind: type[VirtualCluster]) -> Iterator[VirtualCluster]:
    """Start hosts, with a batch system or without, and stop them again; skip where they cannot be had."""
    if reason := why_not():
        pytest.skip(reason)
    try:
        cluster = kind()
    except NotToBeHadError as error:
        pytest.skip(str(error))
    yield cluster
    cluster.down()


@pytest.fixture
def slurm(slurm_cluster: VirtualSlurm) -> Iterator[VirtualSlurm]:
    """The virtual SLURM in good order; hosts are repaired and the test's own jobs cancelled afterwards.

    A job that is about to end still has its hosts: the next test would not get the first ones.
    """
    before = slurm_cluster.jobs()
    yield slurm_cluster
    slurm_cluster.repair()
    slurm_cluster.cancel(left := slurm_cluster.jobs() - before)
    end = time.monotonic() + 30
    while left and time.monotonic() < end:
        time.sleep(0.1)
        left = slurm_cluster.jobs() - before


@pytest.fixture
def local(environment: dict[str, str], tmp_path: Path) -> Way:
    """No launcher: one process, all roles."""
    return Way("local", tmp_path, environment)


@pytest.fixture(
    params=[
        "local",
        *(pytest.param(name, marks=pytest.mark.mpi) for name in LIBRARIES),
        pytest.param("srun", marks=pytest.mark.slurm),
        pytest.param("sbatch-mpich", marks=[pytest.mark.slurm, pytest.mark.mpi]),
    ]
)
def way(request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path) -> Way:
    """Every way of starting ranks in turn: none, three MPIs, srun over four hosts, mpirun in sbatch."""
    name = request.param
    slurm = request.getfixturevalue("slurm") if name.startswith(("srun", "sbatch")) else None
    way = make_way(name, environment, tmp_path, slurm)
    if isinstance(way.launcher, MpiLauncher) and not way.launcher.program.exists():
        pytest.skip(f"no {way.launcher.name} in {way.launcher.prefix}: run make test")
    return way


def make_way(name: str, environment: dict[str, str], folder: Path, slurm: VirtualSlurm | None = None) -> Way:
    """Make a way from its name; the virtual SLURM is brought up where it is needed and not given."""
    if name == "local":
        return Way(name, folder, environment)
    if name == "srun":
        return Way(name, folder, environment, slurm or VirtualSlurm())
    launcher = MpiLauncher(name.removeprefix("sbatch-"))
    batch = slurm if name.startswith("sbatch-") else None
    return Way(name, folder, environment | launcher.environment, launcher, batch)


@pytest.fixture
def no_default_route(queue: Queue) -> Iterator[None]:
    """Hosts that can reach each other, and have no route to anywhere else."""
    queue.cluster.routes("del")
    yield
    queue.cluster.routes("add")


@pytest.fixture(scope="session")
def scan(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real scan of 135 rows; where there is none, a simulated one of as many."""
    try:
        return request.getfixturevalue("shared_data") / "scans" / "savu24737_nxtomo.nx"
    except pytest.skip.Exception:
        path = tmp_path_factory.mktemp("scan") / "scan.nx"
        write_scan(path, Settings(columns=96, rows=135, angles=120))
        return path


@pytest.fixture(scope="session")
def reference(scan: Path, tmp_path_factory: pytest.TempPathFactory) -> np.ndarray:
    """The volume from one process without a launcher, axes (slice, y, x)."""
    folder = tmp_path_factory.mktemp("reference")
    finished = Way("local", folder, clean_environment()).run("reconstruct", scan, "volume.h5", ranks=1)
    assert finished.code == 0, finished.err
    return pixels(folder / "volume.h5")


@pytest.fixture(
    params=[pytest.param("sge", marks=pytest.mark.sge), pytest.param("oar", marks=pytest.mark.oar)]
)
def queue(request: pytest.FixtureRequest, environment: dict[str, str], tmp_path: Path) -> Iterator[Queue]:
    """Each batch system in turn."""
    queue = Queue(request.param, request.getfixturevalue(request.param), environment, tmp_path)
    queue.profile()
    yield queue
    queue.end()
