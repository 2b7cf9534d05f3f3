"""The rotation axis: on real scans, on many simulated ones, and refused where the evidence is against it."""

import time
from dataclasses import replace

import numpy as np
import pytest

from runner.errors import ScanError
from runner.tomo.center import decide, find_center, spread_bands, vote, weighted_median
from runner.tomo.center_pairs import opposite_pairs
from runner.tomo.center_register import Vote
from runner.tomo.phantom import Detector, Ellipsoid, project
from runner.tomo.scan import open_scan
from runner.tomo.simulate import Settings, write_scan


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("tooth_nxtomo.nx", 295.5, 296.5),
        ("tooth_dxchange.h5", 295.5, 296.5),
        ("savu24737_nxtomo.nx", 85.5, 86.25),
    ],
)
def test_real_scans(shared_data, name, least, most):
    axis = find_center(open_scan(shared_data / "scans" / name))
    assert least <= axis.position <= most
    assert axis.agreement > 0.9
    assert axis.spread < 0.5


def test_single_rows_of_a_real_scan(shared_data):
    """Where the sample is; the uppermost rows hold little of it."""
    axis = find_center(open_scan(shared_data / "scans/savu24737_nxtomo.nx"), bands=135)
    assert len(axis.bands) == 135
    for band in axis.bands[60:]:
        assert band.position == pytest.approx(85.85, abs=0.25)


@pytest.mark.parametrize("span", [180.0, 360.0])
@pytest.mark.parametrize("noise", [True, False])
def test_the_demonstration_scan(tmp_path, noise, span):
    truth = write_scan(tmp_path / "scan.nx", Settings(noise=noise, span=span, start=33.0))
    started = time.perf_counter()
    axis = find_center(open_scan(tmp_path / "scan.nx"))
    assert time.perf_counter() - started < 3
    assert axis.position == pytest.approx(truth.detector.center, abs=0.1)
    assert len(axis.bands) == 9
    assert len(axis.pairs) == (1 if span == 180 else 12)


def simulate(seed, turn, endpoint):
    """Find the axis of random ellipsoids: where it was found, and where it is."""
    random = np.random.default_rng(seed)
    columns = int(random.integers(90, 400))
    center = (columns - 1) / 2 + random.uniform(-0.2, 0.2) * columns
    count = int(random.integers(60, 400))
    angles = random.uniform(-360, 360) + np.linspace(0, turn, count, endpoint=endpoint)
    detector = Detector(rows=6, columns=columns, pixel=1 / columns, center=center)
    # from well inside the field of view to cut by it on the nearer side
    reach = min(center, columns - 1 - center) / columns * random.uniform(0.5, 1.3)
    ellipsoids = [
        Ellipsoid(
            center=(*(reach * random.uniform(-0.6, 0.6, 2)), random.uniform(-0.5, 0.5) * 6 / columns),
            half_axes=tuple(reach * random.uniform(0.05, 0.3, 3)),
            turn=random.uniform(0, 180),
            attenuation=random.uniform(0.3, 3),
        )
        for _ in range(6)
    ]
    photons = 10 ** random.uniform(2.5, 4.5)
    return find_in_noise(ellipsoids, angles, detector, photons, random), center


def find_in_noise(ellipsoids, angles, detector, photons, random):
    """Find the axis in the projections that are needed for it, three bands of two rows."""
    pairs = opposite_pairs(angles)
    views = [view for pair in pairs for view in (pair.first, pair.second)]
    numbers = np.unique([number for view in views for number in view.numbers])
    transmission = np.exp(-project(ellipsoids, angles[numbers], detector))
    counted = np.clip(random.poisson(photons * transmission) / photons, 1e-6, 10)
    sinograms = -np.log(counted).astype(np.float32).swapaxes(0, 1)
    bands = [sinograms[start : start + 2] for start in (0, 2, 4)]
    votes = [vote(pair, band, numbers) for pair in pairs for band in bands]
    return decide(votes, bands=(), pairs=())


@pytest.mark.parametrize(("turn", "endpoint"), [(180, False), (180, True), (200, True), (360, False)])
@pytest.mark.parametrize("seed", range(40))
def test_simulated_scans(seed, turn, endpoint):
    axis, center = simulate(seed, turn, endpoint)
    assert axis.position == pytest.approx(center, abs=0.5)


@pytest.mark.parametrize("place", [0.1, 0.85])
@pytest.mark.parametrize("seed", range(8))
def test_an_axis_near_the_edge_of_a_full_turn(seed, place):
    """Half-acquisition: most of the object is seen from one side only."""
    random = np.random.default_rng(seed)
    detector = Detector(rows=6, columns=240, pixel=1 / 240, center=place * 239)
    reach = max(place, 1 - place) * 0.95
    body = Ellipsoid(center=(0, 0, 0), half_axes=(reach, 0.9 * reach, 3), attenuation=0.4)
    grains = [
        Ellipsoid(
            center=(*(reach * random.uniform(-0.6, 0.6, 2)), 0),
            half_axes=tuple(reach * random.uniform(0.05, 0.3, 3)),
            attenuation=random.uniform(0.3, 1),
        )
        for _ in range(8)
    ]
    angles = 20 + np.arange(240) * 1.5
    axis = find_in_noise([body, *grains], angles, detector, 3e4, random)
    assert axis.position == pytest.approx(place * 239, abs=0.5)


def test_two_axes_in_one_scan_are_refused():
    """Rows that say different things: half of the votes each."""
    votes = [Vote(position=place, score=0.99, weight=10.0) for place in [40.0] * 5 + [44.0] * 4]
    with pytest.raises(ScanError, match=r"only 56% of the evidence.*--center PX"):
        decide(votes, bands=(), pairs=())


def test_an_axis_outside_the_field_of_view_is_refused():
    votes = [Vote(position=np.inf, score=0.99, weight=10.0)] * 5 + [Vote(position=9.0, score=1, weight=1.0)]
    with pytest.raises(ScanError, match=r"hardly overlap.*--center PX"):
        decide(votes, bands=(), pairs=())


def test_a_lone_vote_for_the_edge_is_outvoted():
    votes = [Vote(position=np.inf, score=0.5, weight=1.0)] + [Vote(position=9.0, score=1, weight=9.0)] * 9
    assert decide(votes, bands=(), pairs=()).position == 9


def test_wrong_angles_are_refused(shared_data):
    scan = open_scan(shared_data / "scans/savu24737_nxtomo.nx")
    for factor in (1.5, 2):
        with pytest.raises(ScanError, match="--center PX"):
            find_center(replace(scan, angles=scan.angles * factor))


def test_frames_without_an_object_are_refused(tmp_path):
    path = tmp_path / "scan.nx"
    write_scan(path, Settings(columns=64, rows=16, angles=40, flats=40))
    scan = open_scan(path)
    beam = scan.flats[0].frames
    with pytest.raises(ScanError, match="--center PX"):
        find_center(replace(scan, projections=beam, angles=scan.angles * 2))


def test_a_scan_of_less_than_half_a_turn_is_refused(shared_data):
    scan = open_scan(shared_data / "scans/savu24737_nxtomo.nx")
    with pytest.raises(ScanError, match=r"span 144 degrees.*--center PX"):
        find_center(replace(scan, angles=scan.angles * 0.8))


@pytest.mark.parametrize(
    ("rows", "bands", "expected"),
    [
        (1, 9, [(0, 1)]),
        (2, 9, [(0, 1), (1, 2)]),
        (64, 3, [(0, 16), (24, 40), (48, 64)]),
        (10, 4, [(0, 2), (3, 5), (5, 7), (8, 10)]),
    ],
)
def test_bands_are_spread_over_the_detector(rows, bands, expected):
    assert [(band.start, band.stop) for band in spread_bands(rows, bands)] == expected


def test_the_weighted_median_is_not_moved_by_light_outliers():
    values, weights = np.array([50.0, 10.0, 11.0, 90.0]), np.array([1.0, 5.0, 5.0, 1.0])
    assert weighted_median(values, weights) == 11
    assert weighted_median(np.array([3.0]), np.array([0.0])) == 3
