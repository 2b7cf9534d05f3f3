"""Real Dask clusters of a few processes, and small scans."""

from contextlib import contextmanager

import h5py
import pytest
from distributed import Client, LocalCluster

from runner.tomo.simulate import Settings, write_scan
from runner.tomo.volume.content import Content
from runner.tomo.volume.hdf5 import DATASET
from runner.tomo.volume.provenance import collect


@contextmanager
def local_client(workers, **options):
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit="1GB",
            **options,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def content_for(scan):
    """Describe a volume of all rows of a scan, with nothing about how it was made."""
    return Content(
        title="",
        first_row=0,
        shape=(scan.rows, scan.columns, scan.columns),
        units="1/cm",
        pixel_size=scan.pixel_size,
        provenance=collect(scan.path, (), ()),
    )


@pytest.fixture(scope="session")
def small_scan(tmp_path_factory):
    """100 rows of 48 columns, 40 angles, the axis at column 24.5."""
    path = tmp_path_factory.mktemp("scan") / "small.nx"
    write_scan(path, Settings(rows=100, columns=48, angles=40, center=24.5, noise=False))
    return path


@pytest.fixture(scope="module")
def client():
    with local_client(2) as client:
        yield client


def pixels(path):
    with h5py.File(path) as file:
        return file[DATASET][:]
