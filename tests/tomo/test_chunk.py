"""Chunk after chunk in the same memory."""

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from runner.tomo import dispatch, reused
from runner.tomo.chunk import Job, process_chunk, put_away
from runner.tomo.pipeline import plan_for, reconstruct, setup_of
from runner.tomo.plan import Resources, cut
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan
from runner.tomo.volume.forms import create_volume

from .conftest import content_for, local_client, pixels

SETTINGS = Settings(center=100.5)


@pytest.fixture(scope="module")
def scan_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("scan") / "scan.nx"
    write_scan(path, Simulation(rows=136, columns=200, angles=100, center=100.5, noise=False))
    return path


def job_for(scan_path, volume):
    scan = open_scan(scan_path)
    plan = plan_for(scan, SETTINGS, Resources(workers=1, memory=4 << 30, threads=2))
    target = create_volume(volume, content_for(scan))
    return Job(scan=scan, setup=setup_of(scan, plan, 100.5, SETTINGS), target=target, scale=100.0)


def make(job, threads):
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(functools.partial(process_chunk, job), cut(0, job.scan.rows, 16)))
    return pixels(job.target.path)


def test_memory_that_is_used_again_changes_no_bit_and_is_given_back(scan_path, tmp_path):
    job = job_for(scan_path, tmp_path / "one.h5")
    expected = make(job, 1)
    assert reused.kept() == []
    try:
        several = replace(job_for(scan_path, tmp_path / "two.h5"), reuse=True)
        np.testing.assert_array_equal(make(several, 3), expected)
        sizes = [memory.nbytes for memory in reused.kept()]
        pixels_of = {"frame": 16 * 100 * 200, "slice": 16 * 200 * 200}  # all float32
        assert 2 <= sizes.count(4 * pixels_of["frame"]) <= 3  # frames, and sinograms in two stages
        assert 1 <= sizes.count(4 * pixels_of["slice"]) <= 2
        assert len(sizes) <= 5
    finally:
        put_away()
    assert reused.kept() == []


def bytes_kept():
    return sum(memory.nbytes for memory in reused.kept())


def test_workers_keep_nothing_when_all_is_done(scan_path, tmp_path, monkeypatch):
    monkeypatch.setattr(dispatch, "_LITTLE", 60.0)  # the machine may be busy
    resources = Resources(workers=1, memory=10**9, threads=1)
    assert plan_for(open_scan(scan_path), SETTINGS, resources).at_once > 1
    with local_client(1) as client:
        reconstruct(scan_path, tmp_path / "volume.h5", SETTINGS, client)
        assert list(client.run(bytes_kept).values()) == [0]
