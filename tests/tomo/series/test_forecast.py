"""Several scans: what they will take is known when one of each kind was timed."""

from dataclasses import replace

import pytest

from runner.errors import ScanError
from runner.tomo.dispatch import resources_of
from runner.tomo.forecast import Forecast, predicted_seconds
from runner.tomo.pipeline import plan_for
from runner.tomo.plan import Resources
from runner.tomo.scan import open_scan
from runner.tomo.series import forecast
from runner.tomo.series.entries import Entry
from runner.tomo.series.forecast import SeriesForecast, kind_of, plan_each
from runner.tomo.series.plan import plan_all
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan
from tests.tomo.test_forecast import TIMED, WORK

GIB = 1 << 30
SETTINGS = Settings(center=24.5)


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """Three scans of a kind, the third with more rows, and two with more projections."""
    folder = tmp_path_factory.mktemp("scans")
    made = [folder / f"{name}.nx" for name in "abcde"]
    for path, rows, angles in zip(made, (16, 16, 32, 16, 16), (40, 40, 40, 60, 60), strict=True):
        write_scan(path, Simulation(rows=rows, columns=48, angles=angles, center=24.5, noise=False))
    return made


def entries_for(scans, folder, **settings):
    return [
        Entry(scan=scan, volume=folder / f"{scan.stem}.h5", settings=replace(SETTINGS, **settings))
        for scan in scans
    ]


@pytest.fixture
def timed(monkeypatch):
    """The scans that were timed: they are, as ever."""
    found, calibrate = [], forecast.calibrate

    def noting(scan, *rest):
        found.append(scan.path)
        return calibrate(scan, *rest)

    monkeypatch.setattr(forecast, "calibrate", noting)
    return found


def test_the_plan_adds_up(scans, tmp_path, client, timed):
    told = []
    text = plan_all(entries_for(scans, tmp_path), client, on_note=told.append)
    lines = [line.split() for line in text.splitlines()]
    assert [line[0] for line in lines] == ["scan", *map(str, scans), "all"]
    assert [line[1] for line in lines] == ["slices", "16", "16", "32", "16", "16", "96"]
    assert timed == [scans[0], scans[1], scans[3]]  # the first one loads what all need
    assert told[-1] == "timed: 3 of 5 scans; each of the others is like one of them"
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_made_is_told_when_all_were_looked_at(scans, tmp_path, client, timed):
    told = []
    entries = entries_for([tmp_path / "gone.nx", *scans[:3]], tmp_path)
    entries[3] = replace(entries[3], volume=tmp_path / "nowhere" / "c.h5")
    with pytest.raises(ScanError, match="2 of 4 scans cannot be reconstructed"):
        plan_all(entries, client, on_note=told.append)
    assert timed == scans[:2]
    assert any("gone.nx: no such file" in line for line in told)
    assert any("c.nx: there is no folder" in line for line in told)


def test_an_axis_is_found_once_and_the_field_it_widens_is_that_of_all(tmp_path, client, timed):
    scans = [tmp_path / f"{name}.nx" for name in "abc"]
    for path, rows in zip(scans, (16, 16, 32), strict=True):
        simulation = Simulation(rows=rows, columns=64, angles=120, span=360.0, center=12.0, noise=False)
        write_scan(path, simulation)
    entries = [Entry(scan=scan, volume=scan.with_suffix(".h5"), settings=Settings()) for scan in scans]
    _, second, third = plan_each(entries, client, on_note=lambda _: None)
    assert timed == scans[:2]
    assert second.plan.work.half
    assert second.plan.work.size > 64
    assert third.plan.work == replace(second.plan.work, end_row=32, detector_rows=32)
    assert third.calibration is second.calibration


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        ({"center": 23.0}, True),
        ({"rows": (0, 8)}, True),
        ({"energy": 20.0, "distance": 0.1}, True),
        ({"center": "auto"}, False),
        ({"method": "sirt"}, False),
        ({"method": "sirt", "iterations": 5}, False),
        ({"rings": "sorting"}, False),
        ({"bin": 2}, False),
        ({"dtype": "uint16"}, False),
        ({"x": (10, 20)}, False),
    ],
)
def test_what_makes_a_kind(scans, client, settings, same):
    scan, resources = open_scan(scans[0]), resources_of(client)

    def kind(settings):
        return kind_of(plan_for(scan, settings, resources), settings, ".h5")

    assert (kind(replace(SETTINGS, **settings)) == kind(SETTINGS)) == same


def test_a_series_takes_the_time_of_all_and_the_memory_of_the_largest():
    small = Forecast(work=WORK, calibration=TIMED)
    large = Forecast(work=replace(WORK, columns=2000, size=2000), calibration=replace(TIMED, axis=0))
    both = SeriesForecast(forecasts=(small, large, small))
    assert both.memory(4, 2) == large.memory(4, 2) > small.memory(4, 2)
    assert both.seconds(4, 2, 8 * GIB) == 2 * small.seconds(4, 2, 8 * GIB) + large.seconds(4, 2, 8 * GIB)
    with pytest.raises(ScanError, match="a worker has"):
        both.seconds(4, 2, small.memory(4, 2) // 4)


def test_what_is_planned_is_what_is_foreseen(scans, tmp_path, client):
    (planned,) = plan_each(entries_for(scans[:1], tmp_path), client, on_note=lambda _: None)
    one = SeriesForecast(forecasts=(Forecast(work=planned.plan.work, calibration=planned.calibration),))
    have: Resources = planned.plan.resources
    assert one.seconds(have.workers, have.threads, have.memory) == pytest.approx(
        predicted_seconds(planned.plan, planned.calibration)
    )
