from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import RunnerError, ScanError
from runner.tomo.calibrate import calibrate, calibration_of, choose_trials
from runner.tomo.chunk import ChunkResult
from runner.tomo.dispatch import resources_of
from runner.tomo.forecast import ENOUGH_ROWS
from runner.tomo.pipeline import plan_for
from runner.tomo.plan import ALIGNMENT, Chunk, Plan, Resources, cut
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan

from .test_forecast import WORK

SETTINGS = Settings(center=24.5)


@given(st.integers(1, 3000), st.integers(1, 300), st.integers(1, 40))
def test_trials_are_pieces_of_chunks_with_places_of_their_own(rows, height, workers):
    plan = Plan(
        work=WORK,
        resources=Resources(workers=workers, memory=1, threads=1),
        chunks=cut(0, rows, height),
        memory=0,
        buffers=0,
    )
    trials = choose_trials(plan, workers)
    assert len(trials) == workers
    pieces = [(trial, piece) for trial in trials for piece in (trial.first, trial.timed)]
    for _, piece in pieces:
        assert any(
            chunk.first_row == piece.first_row and piece.end_row <= chunk.end_row for chunk in plan.chunks
        )
    assert all(trial.first.rows <= ALIGNMENT and trial.timed.rows <= ENOUGH_ROWS for trial in trials)
    ends = [trial.slice_number + max(trial.first.rows, trial.timed.rows) for trial in trials]
    assert all(end <= later.slice_number for end, later in zip(ends, trials[1:], strict=False))
    if len(plan.chunks) >= 2 * workers:  # no rows twice: what is read is not in the cache yet
        assert len({piece.first_row for _, piece in pieces}) == 2 * workers


def test_the_slowest_worker_counts():
    def result(rows, **seconds):
        return ChunkResult(chunk=Chunk(first_row=0, end_row=rows), seconds=seconds, worker="")

    fast = result(16, read=2.0, reconstruct=1.0), result(32, read=1.0, reconstruct=1.0), 9.0
    slow = result(16, read=2.0, reconstruct=9.0), result(32, read=2.0, reconstruct=4.0), 7.0
    found = calibration_of([fast, slow], threads=3, axis=1.5)
    assert found.stages == {"read": 2.0, "reconstruct": 4.0}
    assert (found.workers, found.threads, found.rows, found.axis) == (2, 3, 32, 1.5)
    assert found.first == 11 - 3
    assert found.processor == 7.0


def test_chunks_are_timed_and_nothing_is_left(small_scan, client, tmp_path):
    scan = open_scan(small_scan)
    plan, found = calibrate(scan, tmp_path / "volume.h5", SETTINGS, client)
    assert plan == plan_for(scan, SETTINGS, resources_of(client), center=24.5)
    assert found.workers == 2
    assert set(found.stages) == {"read", "reconstruct", "write"}
    assert all(0 < seconds < 20 for seconds in found.stages.values())
    assert found.axis == 0
    assert 0 < found.processor < 60
    assert list(tmp_path.iterdir()) == []


def test_what_fails_is_told_and_nothing_is_left(small_scan, client, tmp_path, monkeypatch):
    scan = open_scan(small_scan)
    with pytest.raises(RunnerError, match="no folder"):
        calibrate(scan, tmp_path / "nowhere" / "volume.h5", SETTINGS, client)
    monkeypatch.setattr("runner.tomo.calibrate.run_trial", _broken)
    with pytest.raises(ScanError, match="broken frame"):
        calibrate(scan, tmp_path / "volume.h5", SETTINGS, client)
    assert list(tmp_path.iterdir()) == []


def _broken(job, trial):
    raise ScanError("a broken frame")


def test_a_field_that_half_acquisition_widens_is_foreseen(client, tmp_path):
    scan_path = tmp_path / "half.nx"
    write_scan(scan_path, Simulation(rows=16, columns=64, angles=120, center=8.0, noise=False))
    scan = replace(open_scan(scan_path), angles=np.arange(120) * 3.0)
    plan, found = calibrate(scan, tmp_path / "volume.h5", Settings(center=8.0), client)
    assert plan.work.half
    assert plan.work.size > 100  # columns on both sides of the axis
    assert found.rows == 16
    assert [path.name for path in tmp_path.iterdir()] == ["half.nx"]
