"""The job ``center`` says where the axis is, shows it, and passes on what is wrong."""

import shutil

import h5py
import numpy as np
import pytest

from runner.errors import MissingFileError, UsageError
from runner.jobs.center import describe, run
from runner.tomo.axis import AxisEstimate
from runner.tomo.axis.finding import Band
from runner.tomo.simulate import Settings, write_scan


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    path = tmp_path_factory.mktemp("center") / "scan.nx"
    write_scan(path, Settings(columns=96, rows=20, angles=150, center=50.2))
    return path


def test_it_prints_position_and_evidence(shared_data, capsys):
    assert run((str(shared_data / "scans/savu24737_nxtomo.nx"), "--bands", "3")) == 0
    lines = [(line[:15].strip(), line[15:].split()) for line in capsys.readouterr().out.splitlines()]
    assert [name for name, _ in lines] == [
        "rotation axis", "spread", "confidence", "tilt", "opposite views", "sinogram", "sharpness",
        "agreement", "pairs", "rows      0:16", "rows     60:76", "rows   119:135",
    ]  # fmt: skip
    found = dict(lines)
    for name in ("rotation axis", "opposite views", "sinogram", "sharpness"):
        assert 85.5 <= float(found[name][0]) <= 86.25
    assert found["confidence"] == ["high"]
    bands = [words for name, words in lines if name.startswith("rows")]
    assert all(words[1:2] + words[3:] == ["px,", "of", "the", "evidence"] for words in bands)
    assert sum(int(words[2].rstrip("%")) for words in bands) == pytest.approx(100, abs=2)
    assert found["pairs"][:3] == ["1,", "from", "-88.20"]


def test_it_draws_the_evidence(scan, tmp_path, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    assert run((str(scan), "--picture", str(tmp_path / "axis.png"))) == 0
    picture = pyplot.imread(tmp_path / "axis.png")
    assert picture.shape[0] > 400
    assert picture.std() > 0.1
    assert f"picture        {tmp_path / 'axis.png'}" in capsys.readouterr().out


def test_it_makes_a_sweep(scan, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture, stack = tmp_path / "sweep.png", tmp_path / "sweep.h5"
    args = ("--center", "49.2:51.2:0.5", "--row", "9", "--picture", str(picture), "--stack", str(stack))
    assert run((str(scan), *args)) == 0
    assert picture.stat().st_size > 10_000
    with h5py.File(stack) as file:
        assert file["entry/data/center"][:].tolist() == [49.2, 49.7, 50.2, 50.7, 51.2]
        assert file["entry/data/data"].shape == (5, 96, 96)
    assert "row 9, columns 49.2 49.7 50.2 50.7 51.2" in capsys.readouterr().out


def test_a_band_that_says_little_shows_it():
    """The second sees hardly anything of the object, and the third nothing."""
    bands = (
        Band(start=0, stop=4, position=50.21, weight=3.0, spread=0.02),
        Band(start=4, stop=8, position=47.5, weight=0.06, spread=3.1),
        Band(start=8, stop=12, position=np.inf, weight=0.0),
    )
    estimate = AxisEstimate(
        position=50.2, slope=0.0, spread=0.02, confidence="high", agreement=1.0, score=0.9, method="",
        findings=(), bands=bands, pairs=(0.0,),
    )  # fmt: skip
    assert [line[15:] for line in describe(estimate, 96).splitlines()[-3:]] == [
        "50.21 +- 0.02 px, 98% of the evidence",
        "47.50 +- 3.10 px, 2% of the evidence",
        "nothing",
    ]


def test_what_the_scan_says_of_its_axis_is_held_against_what_is_found(scan, tmp_path, capsys):
    for hint, differs in ((50.2 + 0.4, False), (50.2 - 1.7, True)):
        path = shutil.copy(scan, tmp_path / "hinted.nx")
        with h5py.File(path, "a") as file:
            file["entry/instrument/detector/x_rotation_axis_pixel_position"] = hint - 95 / 2
        assert run((str(path), "--bands", "3")) == 0
        said = capsys.readouterr().err
        assert (
            f"and the scan says {hint:.2f}; see both in a sweep; --center {hint:.2f} takes" in said
        ) == differs


def test_the_steps_of_a_sweep_are_looked_at_first(scan):
    with pytest.raises(UsageError, match="write A:B:STEP"):
        run((str(scan), "--center", "49:51:0"))


def test_a_sweep_has_to_go_somewhere(scan):
    with pytest.raises(UsageError, match="--picture"):
        run((str(scan), "--center", "49:51:1"))


@pytest.mark.parametrize("args", [(), ("a.nx", "--bandz", "3"), ("a.nx", "--bands", "0")])
def test_wrong_usage_is_ours_to_say(args):
    with pytest.raises(UsageError, match="see center --help"):
        run(args)


def test_errors_of_the_scan_pass_through(tmp_path):
    with pytest.raises(MissingFileError):
        run((str(tmp_path / "none.nx"),))
