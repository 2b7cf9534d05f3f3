"""Half and full field: the decisions, and the grey values that follow."""

import numpy as np
import pytest

from runner.errors import ScanError
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.phantom import Detector, example, project
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.acquisition import acquisition_of
from runner.tomo.reconstruct.shares import shares_of
from runner.tomo.scan import open_scan

TURN = np.arange(240) * 1.5
HALF = np.arange(120) * 1.5


@pytest.mark.parametrize(
    ("angles", "center", "field", "half", "blended", "size"),
    [
        (HALF, 49.5, "auto", False, False, 100),
        (HALF, 20.0, "auto", False, False, 100),  # an offset, but only half of the object
        (TURN, 49.5, "auto", False, False, 100),
        (TURN, None, "auto", False, False, 100),
        (TURN, 45.0, "auto", False, True, 100),
        (TURN, 20.0, "auto", True, True, 159),
        (TURN, 79.0, "auto", True, True, 159),
        (TURN, 20.0, "full", False, True, 100),
        (TURN, 45.0, "half", True, True, 109),
        (np.linspace(0, 360, 242), 20.0, "auto", True, True, 159),
        (TURN[::-1] - 77, 20.0, "auto", True, True, 159),
    ],
)
def test_how_a_scan_was_taken(angles, center, field, half, blended, size):
    found = acquisition_of(angles.tolist(), 100, center, field)
    assert (found.half, found.blended, found.size) == (half, blended, size)
    assert found.extent == (159 if center in (20.0, 79.0) and blended else found.extent)


def test_half_acquisition_needs_a_full_turn():
    with pytest.raises(ScanError, match=r"span 178.5 degrees.*--field-of-view"):
        acquisition_of(HALF.tolist(), 100, 20.0, "half")


def reconstruct(sinograms, angles, center, field="auto"):
    """Reconstruct as the pipeline does, and cut the middle of what the first argument's detector sees."""
    columns = sinograms.shape[2]
    found = acquisition_of(angles.tolist(), columns, center, field)
    with Reconstructor(
        angles=angles, columns=columns, center=center, size=found.size,
        half_acquisition=found.blended, weights=shares_of(angles),
    ) as reconstructor:  # fmt: skip
        return reconstructor(sinograms)


def middle(slices, size):
    """Cut the same pixels of both: the axis falls on the middle of any size."""
    begin = (slices.shape[1] - size) // 2
    return slices[:, begin : begin + size, begin : begin + size]


def correlation(one, other):
    size = min(one.shape[1], other.shape[1])
    size -= (one.shape[1] - size) % 2 + (other.shape[1] - size) % 2
    one, other = middle(one, size), middle(other, size)
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    inside = np.hypot(x, y) < 0.49 * size
    return np.corrcoef(one[:, inside].ravel(), other[:, inside].ravel())[0, 1]


@pytest.mark.parametrize("number", [360, 361])
@pytest.mark.parametrize("mirrored", [False, True])
def test_half_acquisition_of_a_phantom_is_the_full_field(number, mirrored):
    """55 % of the columns, the axis some 10 % from one end."""
    angles = np.arange(number) * 360 / number
    whole = Detector(rows=1, columns=201, pixel=1 / 201, center=100.0)
    full = project(example(0.48, 0.5), angles, whole).swapaxes(0, 1)
    part = slice(0, 111) if mirrored else slice(90, 201)
    center = 100.0 - part.start
    half = reconstruct(np.ascontiguousarray(full[:, :, part]), angles, center)
    assert half.shape == (1, 201, 201)
    assert correlation(half, reconstruct(full, angles, 100.0)) > 0.99


@pytest.mark.parametrize("mirrored", [False, True])
def test_half_acquisition_of_a_real_scan_is_the_full_field(shared_data, mirrored):
    """The tooth from a half turn, continued to a full one by mirroring about its axis; then cropped."""
    scan = open_scan(shared_data / "scans/tooth_nxtomo.nx")
    half_turn = corrected_sinograms(scan, slice(0, 1))[:, :, 0:593]  # the axis, 296, in the middle
    full = np.concatenate([half_turn, half_turn[:, :, ::-1]], axis=1)
    angles = np.concatenate([scan.angles, scan.angles + 180])
    part = slice(0, 340) if mirrored else slice(253, 593)
    half = reconstruct(np.ascontiguousarray(full[:, :, part]), angles, 296.0 - part.start)
    assert half.shape == (1, 593, 593)
    assert correlation(half, reconstruct(full, angles, 296.0)) > 0.99


@pytest.mark.parametrize("arc", [180, 200, 270, 360])
@pytest.mark.parametrize("center", [80.0, 78.3])
def test_all_arcs_give_the_same_grey_level(arc, center):
    """And it is the true one: 1.2 - 0.5 per cm in the body, off any grain."""
    angles = 25 + np.arange(arc)
    detector = Detector(rows=1, columns=161, pixel=1 / 161, center=center)
    sinograms = project(example(0.4, 0.5), angles, detector).swapaxes(0, 1)
    image = reconstruct(sinograms, angles.astype(float), center)[0] * 161
    y, x = (np.mgrid[:161, :161] - 80) / 161 / 0.4
    for place in ((0.05, 0.1), (-0.7, 0.15), (0.6, -0.3)):
        inside = np.hypot(x - place[0], y - place[1]) < 0.07
        assert image[inside].mean() == pytest.approx(0.7, rel=0.01)


def test_uneven_angles_and_a_missing_wedge_keep_the_mean():
    detector = Detector(rows=1, columns=161, pixel=1 / 161, center=80.0)
    random = np.random.default_rng(0)
    jittered = np.sort(np.arange(240) * 0.75 + random.uniform(-0.3, 0.3, 240))
    means = []
    for angles in (np.arange(240) * 0.75, jittered, np.delete(np.arange(240) * 0.75, np.s_[100:130])):
        sinograms = project(example(0.4, 0.5), angles, detector).swapaxes(0, 1)
        image = reconstruct(sinograms, angles, 80.0)[0]
        y, x = np.mgrid[:161, :161] - 80
        means.append(image[np.hypot(x, y) < 70].mean())
    np.testing.assert_allclose(means, means[0], rtol=0.01)
