"""Whether the object is wider than the field of view."""

from dataclasses import replace

import h5py
import pytest

from runner.tomo.check import checked_scan
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan
from runner.tomo.wider import about_room

STEPS = Settings(method="sirt")
_DATA = "entry/instrument/detector/data"


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """Make a scan whose detector has only some of the columns."""
    whole = tmp_path_factory.mktemp("scans") / "whole.nx"
    write_scan(whole, Simulation(rows=8, columns=96, angles=60))

    def make(first, end):
        path = whole.with_name(f"{first}-{end}.nx")
        path.write_bytes(whole.read_bytes())
        with h5py.File(path, "r+") as file:
            frames = file[_DATA][:, :, first:end]
            attributes = dict(file[_DATA].attrs)
            del file[_DATA]
            file[_DATA] = frames
            file[_DATA].attrs.update(attributes)
        return open_scan(path)

    return make


def test_an_object_in_air_has_room(cut):
    assert about_room(cut(0, 96), STEPS, half=False) == []


@pytest.mark.parametrize(("columns", "half"), [((24, 72), False), ((24, 72), True), ((40, 96), False)])
def test_an_object_that_goes_on_is_told(cut, columns, half):
    (told,) = about_room(cut(*columns), STEPS, half=half)
    assert told.level == "warning"
    assert "the object goes on beyond it" in told.what
    assert "say by --room how many times wider" in told.remedy


def test_in_half_acquisition_one_end_lies_in_the_object(cut):
    assert about_room(cut(40, 96), STEPS, half=True) == []


@pytest.mark.parametrize("settings", [Settings(), Settings(method="fbp"), replace(STEPS, room=1.2)])
def test_who_asks_for_nothing_or_for_room_is_not_told(cut, settings):
    assert about_room(cut(24, 72), settings, half=False) == []


@pytest.mark.parametrize(("name", "wider"), [("savu24737_nxtomo.nx", True), ("tooth_dxchange.h5", False)])
def test_real_scans(shared_data, name, wider):
    scan = checked_scan(shared_data / "scans" / name)
    assert bool(about_room(scan, STEPS, half=False)) == wider
