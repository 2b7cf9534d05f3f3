import numpy as np
import pytest

from runner.tomo.axis.sharpness import sharpness_finding
from runner.tomo.phantom import Detector, example, project


def sinograms(angles, center, reach=0.3):
    detector = Detector(rows=2, columns=96, pixel=1 / 96, center=center)
    return project(example(reach, 0.1), angles, detector).swapaxes(0, 1)


@pytest.mark.parametrize("center", [33.0, 47.5, 58.2])
@pytest.mark.parametrize(("turn", "number"), [(180, 120), (200, 130), (360, 240)])
def test_the_axis_is_found_near_another_place(center, turn, number):
    angles = 17 + np.linspace(0, turn, number, endpoint=False)
    finding = sharpness_finding(sinograms(angles, center), angles, center + 1.2)
    assert not finding.doubt
    assert finding.position == pytest.approx(center, abs=0.25)


def test_an_object_wider_than_its_half_seen_in_a_full_turn():
    angles = np.arange(240) * 1.5
    finding = sharpness_finding(sinograms(angles, 20.0, reach=0.7), angles, 21.0)
    assert finding.position == pytest.approx(20, abs=0.3)


def test_an_axis_out_of_reach_is_in_doubt():
    angles = np.arange(240) * 1.5
    finding = sharpness_finding(sinograms(angles, 30.0), angles, 45.0)
    assert finding.doubt


def test_the_search_ends_with_the_detector():
    angles = np.arange(120) * 1.5
    finding = sharpness_finding(sinograms(angles, 30.0), angles, 3.0)
    np.testing.assert_array_equal(finding.curve.centers, np.arange(0, 7.5, 0.5))  # not beyond
