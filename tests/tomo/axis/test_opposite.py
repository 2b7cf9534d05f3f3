"""Votes of opposite views: what they agree on, and when they are in doubt."""

import numpy as np
import pytest

from runner.tomo.axis.opposite import Ballot, count
from runner.tomo.axis.register import Match
from runner.tomo.phantom import Detector, Ellipsoid, project

from .random_scans import ballots, noisy, random_scan


def match(place, *, score=0.9, ends=(0, 100)):
    centers = np.arange(*ends, 0.5)
    scores = score * np.exp(-(((centers - place) / 4) ** 2))
    return Match(centers=centers, overlaps=np.full(len(centers), 50), scores=scores)


def ballot(row, *places, **options):
    return Ballot(start=row, stop=row + 4, matches=tuple(match(place, **options) for place in places))


@pytest.mark.parametrize("seed", range(40))
def test_random_scans(seed):
    """Those with light enough: in the others the methods have to help each other."""
    scan = random_scan(seed)
    finding = count(ballots(scan.sinograms, scan.angles)[1], 2.5).finding
    if not finding.doubt:
        assert finding.position == pytest.approx(scan.center, abs=0.6)


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
    sinograms = noisy(project([body, *grains], angles, detector), 3e4, random)
    finding = count(ballots(sinograms, angles)[1], 2.5).finding
    assert not finding.doubt
    assert finding.position == pytest.approx(place * 239, abs=0.5)


def test_bands_that_agree():
    result = count(tuple(ballot(row, 40.0, 40.2) for row in range(0, 40, 10)), 19.5)
    assert result.finding.position == pytest.approx(40.1, abs=0.11)
    assert not result.finding.doubt
    assert result.agreement == 1
    assert result.line.slope == 0


def test_a_line_of_bands_is_a_tilt():
    result = count(tuple(ballot(row, 40 + 0.05 * (row + 1.5)) for row in range(0, 100, 10)), 49.5)
    assert result.line.slope == pytest.approx(0.05, abs=1e-3)
    assert result.finding.position == pytest.approx(40 + 0.05 * 49.5, abs=0.05)
    assert not result.finding.doubt


def test_two_axes_in_one_scan_leave_a_doubt():
    result = count((ballot(0, *[40.0] * 5, *[44.0] * 4),), 1.5)
    assert result.finding.doubt == "only 56% of the evidence agrees"
    assert np.isnan(result.finding.position)


def test_noise_scatters_votes_that_still_say_something_together():
    places = [30.0, 70.0, 45.0, 40.0, 40.4, 39.8, 12.0]
    result = count((ballot(0, *places, score=0.4),), 1.5)
    assert result.finding.doubt
    assert result.finding.position == pytest.approx(40, abs=0.5)


def test_an_axis_outside_the_field_of_view_leaves_a_doubt():
    result = count((ballot(0, *[0.0] * 5, 9.0),), 1.5)
    assert "hardly overlap" in result.finding.doubt


def test_a_lone_vote_for_the_edge_is_outvoted():
    result = count((ballot(0, 0.0, *[9.0] * 9),), 1.5)
    assert result.finding.position == pytest.approx(9, abs=0.01)
    assert not result.finding.doubt


def test_views_with_little_in_common_leave_a_doubt():
    assert "correlation 0.20" in count((ballot(0, 30.0, score=0.2),), 1.5).finding.doubt


def test_each_band_says_how_far_its_pairs_agree():
    bands = count((ballot(0, 50, 50.1, 49.9), ballot(4, 50, 53, 47), ballot(8, 50)), 5.5).bands
    assert bands[0].spread < 0.3 < 3 < bands[1].spread < 6
    assert bands[2].spread == np.inf  # one pair alone cannot tell
