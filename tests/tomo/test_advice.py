"""Settings that do harm to a scan are told, with what to do instead, and the others are not."""

from dataclasses import replace

import h5py
import numpy as np
import pytest

from runner.tomo.advice import about_axis, about_currents, advise, window_of
from runner.tomo.correct.rings.methods import METHODS
from runner.tomo.physics import as_used
from runner.tomo.pipeline import reconstruct
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings, read_rings
from runner.tomo.simulate import Settings as Simulated
from runner.tomo.simulate import write_scan
from tests.tomo.check.bad_scans import check, put_quantity


@pytest.fixture
def scan(small_scan):
    """40 projections of 48 columns."""
    return open_scan(small_scan)


def texts(scan, **settings):
    chosen = Settings(**settings)
    return [str(finding) for finding in advise(as_used(scan, chosen), chosen)]


@pytest.mark.parametrize(
    ("rings", "columns", "window"),
    [
        ("all", 1000, 51),
        ("all", 1020, None),
        ("sorting", 400, 21),
        ("sorting", 420, None),
        ("sorting:size=5", 100, None),
        ("wavelet-fft", 256, 32),
        ("wavelet-fft:level=2", 256, None),
        ("mean:sigma=5", 256, 30),
        ("titarenko", 10, None),
        ("none", 10, None),
    ],
)
def test_wide_windows_on_a_narrow_detector(scan, rings, columns, window):
    found = texts(replace(scan, columns=columns), rings=rings)
    name = rings.partition(":")[0]
    what = (
        f"warning: --rings {name} looks at windows of {window} columns, and the detector has {columns} only"
    )
    assert [text.partition(";")[0] for text in found] == ([what] if window else [])


def test_what_is_advised_is_allowed_and_not_advised_against(scan):
    for columns in (48, 100, 256, 640, 1000):
        narrow = replace(scan, columns=columns)
        advice = texts(narrow, rings="all")[0].partition("begin with ")[2].partition(" or ")
        assert columns < 100 or not texts(narrow, rings=advice[0])
        assert columns < 100 or not texts(narrow, rings=advice[2])


def test_every_method_has_a_window_or_none():
    assert {name for name in METHODS if not window_of(read_rings("rings", name))} == {
        "none",
        "fitting",
        "titarenko",
    }


@pytest.mark.parametrize(("delta_beta", "length"), [(100.0, None), (1e5, "39.7")])
def test_a_blur_over_much_of_the_detector(scan, delta_beta, length):
    physics = {"energy": 25.0, "distance": 0.1, "pixel_size": 5e-6}
    found = texts(replace(scan, columns=200), delta_beta=delta_beta, **physics)
    expected = (
        f"warning: phase retrieval with delta_beta 100000 blurs over {length} pixels; of 200 columns; look"
        " whether delta_beta, energy, distance and pixel size are right"
    )
    assert found == ([expected] if length else [])


def test_a_ring_current_that_flats_do_not_tell(scan):
    currents = np.linspace(200, 180, 40)
    currents[20:] += 15

    def told(of_flats):
        flats = [
            replace(group, currents=None if of_flats is None else np.full(group.frames.count, one))
            for group, one in zip(scan.flats, of_flats or (0, 0), strict=True)
        ]
        return replace(scan, currents=currents, flats=tuple(flats))

    steady = replace(told((200.0, 180.0)), currents=np.linspace(200, 180, 40))
    assert about_currents(steady) == []
    assert about_currents(told(None)) == about_currents(scan) == []
    expected = (
        "warning: the ring current differs by up to 8.2% from what the flats tell of it; follow it with"
        " --ring-current"
    )
    assert texts(told((200.0, 180.0))) == [expected]
    assert texts(told((200.0, 180.0)), ring_current=True) == []


@pytest.mark.parametrize(("hint", "told"), [(None, 0), (24.0, 0), (25.5, 0), (22.9, 1)])
def test_an_axis_far_from_what_the_scan_says(scan, hint, told):
    found = about_axis(replace(scan, axis_hint=hint), 24.5)
    assert len(found) == told
    assert all("at column 24.50, and the scan says 22.90" in finding.what for finding in found)


def test_it_is_told_by_check_and_by_a_reconstruction(tmp_path, monkeypatch, client):
    path = tmp_path / "scan.nx"
    write_scan(path, Simulated(rows=4, columns=48, angles=40, flats=3, darks=2, center=24.5, noise=False))
    with h5py.File(path, "a") as file:
        put_quantity("entry/control/data", np.r_[np.full(30, 200.0), np.full(18, 150.0)], "mA")(file)
    monkeypatch.chdir(tmp_path)
    assert any("the ring current differs by up to 18.1%" in line for line in check("scan.nx")[1])
    said = []
    chosen = Settings(center=24.5, rings="sorting", rows="0:1")
    reconstruct(path, tmp_path / "volume.h5", chosen, client, on_note=said.append)
    assert [line.split()[1:4] for line in said if line.startswith("warning")] == [
        ["--rings", "sorting", "looks"],
        ["the", "ring", "current"],
    ]
