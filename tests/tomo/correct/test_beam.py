"""The beam: flats by mean or median, the ring's current, air beside the sample, and scans without flats."""

import h5py
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from runner.errors import ScanError, UsageError
from runner.tomo.check import checked_scan, inspect
from runner.tomo.correct.air import normalise_by_air
from runner.tomo.correct.corrections import Corrections, prepared_sinograms
from runner.tomo.correct.double_flat import remove_common
from runner.tomo.correct.flatfield import FlatField, corrected_sinograms
from runner.tomo.physics import corrections_of
from runner.tomo.scan import open_scan
from runner.tomo.scan.read import read_frames
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulated
from runner.tomo.simulate import write_scan
from runner.tomo.sources import Sources

DATA = "entry/instrument/detector/data"
ROWS = slice(2, 8)
CURRENT = FlatField(ring_current=True)


@pytest.fixture
def path(tmp_path):
    """Exact counts: 2 darks, 3 flats, 40 projections, 3 flats, on 12 rows of 48 columns."""
    path = tmp_path / "scan.nx"
    write_scan(path, Simulated(rows=12, columns=48, angles=40, flats=3, darks=2, center=24.5, noise=False))
    return path


def edit(path, change):
    with h5py.File(path, "a") as file:
        frames = file[DATA][:]
        file[DATA][:] = change(frames.astype(np.float64))


def put_currents(path, currents, place="control/data"):
    with h5py.File(path, "a") as file:
        file[f"entry/{place}"] = currents


def test_a_hit_in_one_flat_moves_the_mean_and_not_the_median(path):
    clean = corrected_sinograms(open_scan(path), ROWS)

    def hit(frames):
        frames[3, 4, 10] *= 4
        return frames

    edit(path, hit)
    scan = open_scan(path)
    assert np.array_equal(corrected_sinograms(scan, ROWS), clean)
    by_mean = corrected_sinograms(scan, ROWS, flat_field=FlatField(by="mean"))
    moved = by_mean - clean
    assert moved[2, 0, 10] == pytest.approx(np.log(2), rel=0.02)  # of three flats; the others are at the end
    moved[2, :, 10] = 0
    assert np.abs(moved).max() < 1e-6


@pytest.mark.parametrize("place", ["control/data", "instrument/machine/current", "instrument/source/current"])
def test_the_rings_current_is_followed_where_flats_alone_cannot(path, place):
    """A refill during the scan, which no flat has seen; one value is missing."""
    clean = corrected_sinograms(open_scan(path), ROWS)
    currents = np.concatenate([np.full(25, 180.0), np.linspace(200, 190, 23)])
    edit(path, lambda frames: 100 + (frames - 100) * (currents / 200)[:, np.newaxis, np.newaxis])
    currents[30] = np.nan
    put_currents(path, currents, place)
    scan = open_scan(path)
    assert np.abs(corrected_sinograms(scan, ROWS) - clean).max() > 0.02
    followed = corrected_sinograms(scan, ROWS, flat_field=CURRENT)
    assert followed == pytest.approx(clean, abs=2e-3)  # counts drift linearly in time, quotients nearly
    some = corrected_sinograms(scan, ROWS, flat_field=CURRENT, chosen=np.array([3, 20, 39]))
    assert some.tobytes() == followed[:, [3, 20, 39]].tobytes()


def test_currents_stay_with_their_frames(path):
    put_currents(path, np.arange(48.0) + 100)
    scan = open_scan(path, Sources(subset="::2"))
    assert scan.currents.tolist() == list(range(105, 145, 2))
    assert [group.currents.tolist() for group in scan.flats] == [[102, 103, 104], [145, 146, 147]]


@pytest.mark.parametrize("currents", [np.ones(47), np.zeros(48)])
def test_currents_that_do_not_fit_are_told_and_not_used(path, currents):
    put_currents(path, currents)
    scan = open_scan(path)
    assert scan.currents is None
    assert "currents of the ring, but there are 48 frames; they are not used" in str(scan.findings[0])
    with pytest.raises(ScanError, match=r"does not tell the ring current .* --air"):
        corrections_of(scan, Settings(ring_current=True))


def test_air_takes_away_a_flicker_that_no_flat_has_seen(path):
    clean = corrected_sinograms(open_scan(path), ROWS)
    assert np.abs(clean[..., [0, -1]]).max() < 1e-6
    flicker = np.random.default_rng(0).uniform(0.8, 1.2, 48)
    flicker[:5] = flicker[45:] = 1
    slope = np.linspace(-0.03, 0.03, 48, dtype=np.float32)
    edit(path, lambda frames: 100 + (frames - 100) * flicker[:, np.newaxis, np.newaxis])
    steady = prepared_sinograms(open_scan(path), ROWS, Corrections(air=1))
    assert steady == pytest.approx(clean, abs=1e-5)
    tilted = clean + slope
    normalise_by_air(tilted, 1, threads=2)
    assert tilted == pytest.approx(clean, abs=1e-5)


def test_air_that_overlaps_is_refused(path):
    with pytest.raises(UsageError, match=r"air at 25 columns of each end is more than there are .48."):
        corrections_of(open_scan(path), Settings(air=25))


def test_transmissions_need_neither_flats_nor_darks(path):
    clean = corrected_sinograms(open_scan(path), ROWS)
    frames = read_frames(open_scan(path).projections, slice(0, 12))
    with h5py.File(path, "a") as file:
        file["plain"] = np.exp(-corrected_sinograms(open_scan(path), slice(0, 12))).swapaxes(0, 1)
    said = []
    sources = Sources(projections="/plain", angles="0:180:40", no_flats=True, no_darks=True)
    scan = checked_scan(path, sources, say=said.append)
    assert said == ["note: there are no flats: the projections are taken for transmissions"]
    assert len(frames) == scan.projections.count
    assert corrected_sinograms(scan, ROWS) == pytest.approx(clean, abs=1e-5)


def test_counts_without_flats_need_air(path):
    """A beam that is alike everywhere: air at both sides says all that flats would."""
    clean = corrected_sinograms(open_scan(path), slice(0, 12))
    transmission = np.exp(-clean.astype(np.float64)).swapaxes(0, 1)
    edit(path, lambda frames: np.concatenate([frames[:5], 100 + 20_000 * transmission, frames[45:]]))
    inspection = inspect(path, Sources(no_flats=True))
    said = (
        "warning: there are no flats, and the projections (mean 12684) are no transmissions; say --air N, if"
        " there are N columns of air at both ends of each line"
    )
    asked = "note: 6 flats are not used, as was asked"
    assert [str(finding) for finding in inspection.findings] == [said, asked]
    scan = inspection.usable()
    assert scan.flats == ()
    with pytest.raises(
        ScanError, match=r"no transmissions, and there are no flats; give --flats, or --air N"
    ):
        corrections_of(scan, Settings(no_flats=True))
    found = prepared_sinograms(scan, ROWS, corrections_of(scan, Settings(no_flats=True, air=1)))
    assert found == pytest.approx(clean[ROWS], abs=1e-4)


def test_without_darks_nothing_is_subtracted(path):
    edit(path, lambda frames: frames - 100)
    scan = checked_scan(path, Sources(no_darks=True))
    assert scan.darks == ()
    assert np.array_equal(corrected_sinograms(scan, ROWS), corrected_sinograms(open_scan(path), ROWS))


@pytest.mark.parametrize("kind", ["flats", "darks"])
def test_what_is_named_and_not_to_be_used_contradicts(kind):
    with pytest.raises(UsageError, match=f"{kind} are named, and no_{kind} says to do without"):
        Settings(**{kind: "somewhere.h5", f"no_{kind}": True})


def test_a_double_flat_field_without_blur_leaves_a_mean_transmission_of_one():
    sinograms = np.random.default_rng(0).uniform(0, 2, (5, 30, 20)).astype(np.float32)
    inner = remove_common(sinograms, slice(1, 4), 0.0, threads=2)
    assert inner.shape == (3, 30, 20)
    assert np.exp(-inner).mean(axis=1) == pytest.approx(1, abs=1e-5)


def test_a_double_flat_field_takes_away_what_stays_and_leaves_the_mean_of_the_sample():
    rows, _, columns = np.indices((24, 1, 64))
    smooth = 0.5 * np.exp(-(((columns - 30) / 20) ** 2) - ((rows - 12) / 15) ** 2)
    turning = 0.2 * np.sin(np.linspace(0, 2 * np.pi, 40, endpoint=False))[np.newaxis, :, np.newaxis]
    stripes = 0.1 * np.random.default_rng(1).normal(size=(24, 1, 64))
    sinograms = (smooth + turning + stripes).astype(np.float32)
    inner = remove_common(sinograms.copy(), slice(0, 24), 3.0)
    expected = sinograms - (smooth + stripes - gaussian_filter(smooth + stripes, (3, 0, 3)))
    assert inner == pytest.approx(expected, abs=1e-5)
    left = inner.mean(axis=1) - gaussian_filter(smooth[:, 0], 3)
    assert np.std(left) < 0.12 * stripes.std()  # a blur leaves 1 / (2 sqrt(pi) sigma) of white noise: 0.094
