"""Several scans: what fails does not stop the others, and what is there is left as it is."""

import math
from dataclasses import replace

import pytest

from runner.tomo.pipeline import reconstruct
from runner.tomo.report.write import report_path
from runner.tomo.series.entries import Entry
from runner.tomo.series.results import State
from runner.tomo.series.run import reconstruct_all
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan
from tests.tomo.conftest import pixels

SETTINGS = Settings(center=24.5)


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """Three scans of 16 rows."""
    folder = tmp_path_factory.mktemp("scans")
    made = [folder / f"{name}.nx" for name in "abc"]
    for seed, path in enumerate(made):
        write_scan(path, Simulation(rows=16, columns=48, angles=40, center=24.5, noise=False, seed=seed))
    return made


def entries_for(scans, folder, **settings):
    return [
        Entry(scan=scan, volume=folder / f"{scan.stem}.h5", settings=replace(SETTINGS, **settings))
        for scan in scans
    ]


def states(results):
    return [result.state for result in results]


def test_each_becomes_what_it_would_have_become_alone(scans, tmp_path, client):
    begun = []
    results = reconstruct_all(
        entries_for(scans, tmp_path), client, report=True, on_begin=lambda entry: begun.append(entry.scan)
    )
    assert states(results) == [State.DONE] * 3
    assert [result.slices for result in results] == [16] * 3
    assert begun == scans
    alone = tmp_path / "alone.h5"
    reconstruct(scans[1], alone, SETTINGS, client)
    assert (pixels(alone) == pixels(tmp_path / "b.h5")).all()
    assert all(report_path(tmp_path / f"{name}.h5").exists() for name in "abc")


def test_a_failure_is_told_first_and_does_not_stop_the_rest(scans, tmp_path, client):
    (tmp_path / "bad.nx").write_text("no HDF5")
    entries = entries_for([tmp_path / "bad.nx", scans[0], tmp_path / "gone.nx", scans[1]], tmp_path)
    entries[3] = replace(entries[3], settings=replace(SETTINGS, rows="8:40"))
    told = []
    results = reconstruct_all(
        entries, client, on_note=told.append, on_begin=lambda entry: told.append("begun")
    )
    assert states(results) == [State.FAILED, State.DONE, State.FAILED, State.FAILED]
    assert [result.exit_code for result in results] == [65, 0, 66, 64]
    assert "rows 8:40 are not on the detector" in results[3].cause
    before = told[: told.index("begun")]
    assert [line.split(": ")[1] for line in before] == [str(entries[number].scan) for number in (0, 2, 3)]


def test_what_is_there_is_left_if_it_is_what_is_asked_for(scans, tmp_path, client):
    entries = entries_for(scans, tmp_path)
    reconstruct_all(entries[:2], client)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    other = [replace(entries[1], settings=replace(SETTINGS, window="hann"))]
    (tmp_path / "c.h5").write_text("precious")
    results = reconstruct_all([entries[0], *other, entries[2]], client)
    assert states(results) == [State.THERE, State.FAILED, State.FAILED]
    assert results[0].slices == 16
    assert "b.h5 is there, made with window ram-lak (now hann); say --overwrite" in results[1].cause
    assert "c.h5 is there, and is no finished volume" in results[2].cause
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert states(reconstruct_all([entries[0], *other], client, overwrite=True)) == [State.DONE] * 2


@pytest.mark.parametrize(
    "settings",
    [{"center": "auto"}, {"dtype": "uint8"}, {"dtype": "uint16", "greys": "0:3"}, {"units": "1/pixel"}],
    ids=str,
)
def test_what_was_found_while_it_was_made_counts_as_the_same(scans, tmp_path, client, settings):
    entries = entries_for(scans[:1], tmp_path, **settings)
    assert states(reconstruct_all(entries, client)) == [State.DONE]
    assert states(reconstruct_all(entries, client)) == [State.THERE]


def test_a_changed_scan_is_not_the_same(scans, tmp_path, client):
    scan = tmp_path / "a.nx"
    scan.write_bytes(scans[0].read_bytes())
    entries = entries_for([scan], tmp_path / "out")
    (tmp_path / "out").mkdir()
    reconstruct_all(entries, client)
    scan.write_bytes(scans[1].read_bytes())
    (result,) = reconstruct_all(entries, client)
    assert result.state == State.FAILED
    assert "out/a.h5 is there, made with " in result.cause


def test_when_the_time_is_over_the_same_call_goes_on(scans, tmp_path, client):
    left, entries = math.inf, entries_for(scans, tmp_path)

    def begin(entry):
        nonlocal left
        if entry is entries[1]:
            left = 0.0

    results = reconstruct_all(entries, client, on_begin=begin, seconds_left=lambda: left)
    assert states(results) == [State.DONE, State.LATE, State.LATE]
    assert "it was not begun" in results[2].cause
    assert states(reconstruct_all(entries, client)) == [State.THERE, State.DONE, State.DONE]


def test_a_defect_of_ours_costs_one_scan(scans, tmp_path, client):
    told = []

    def begin(entry):
        if entry.scan == scans[0]:
            raise ZeroDivisionError("a defect")

    results = reconstruct_all(entries_for(scans[:2], tmp_path), client, on_begin=begin, on_note=told.append)
    assert states(results) == [State.FAILED, State.DONE]
    assert results[0].cause == "ZeroDivisionError: a defect"
    assert any("Traceback" in line for line in told)
