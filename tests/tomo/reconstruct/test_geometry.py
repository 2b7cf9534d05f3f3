import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.phantom import Detector, Ellipsoid, project
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.geometry import Geometry, gap_shares


def geometry(**values):
    return Geometry(**{"angles": (0.0, 90.0), "columns": 100, "size": 100, "center": 49.5} | values)


@given(st.lists(st.floats(-720, 720), min_size=1, max_size=40), st.booleans())
def test_the_shares_of_uneven_angles_add_up_to_half_a_turn(angles, full_turn):
    shares = gap_shares(angles, full_turn)
    assert sum(shares) == pytest.approx(np.pi)
    assert min(shares) >= -1e-12


@given(st.integers(2, 50), st.floats(-200, 200), st.randoms())
def test_the_shares_of_even_angles_are_equal_in_any_order(number, start, random):
    angles = list(start + np.arange(number) * 180 / number)
    random.shuffle(angles)
    np.testing.assert_allclose(gap_shares(angles), np.pi / number, rtol=1e-6)
    np.testing.assert_allclose(gap_shares([2 * angle for angle in angles], True), np.pi / number, rtol=1e-6)


@given(center=st.floats(0, 99), distance=st.floats(0, 100))
def test_in_half_acquisition_both_views_of_a_ray_count_twice_together(center, distance):
    found = geometry(center=center, half_acquisition=True)
    weights = found.column_weights
    assert np.all((weights >= 0) & (weights <= 2))
    columns = np.arange(100)
    mirrored = 2 * center - columns
    seen_twice = (mirrored >= 0) & (mirrored <= 99)
    there = np.interp(mirrored[seen_twice], columns, weights)
    # linear interpolation between columns bends the turn a little, most where it is steep
    steep = np.pi / max(min(center, 99 - center), 0.5)
    np.testing.assert_allclose(weights[seen_twice] + there, 2, atol=min(2, steep**2))
    assert np.all(weights[~seen_twice] == 2)


def test_all_columns_count_once_in_other_scans():
    np.testing.assert_array_equal(geometry().column_weights, 1)


@pytest.mark.parametrize(("center", "extent"), [(0, 199), (99, 199), (20.3, 159), (49.5, 100)])
def test_the_extent_is_twice_the_longer_side(center, extent):
    assert geometry(center=center, half_acquisition=True).extent == extent
    assert geometry(center=center).extent == 100


def test_a_region_keeps_its_place():
    whole, part = geometry(), geometry(region=((10, 30), (95, 100)))
    np.testing.assert_array_equal(part.y, whole.y[10:30])
    np.testing.assert_array_equal(part.x, whole.x[95:])
    assert part.shape == (20, 5)


@pytest.mark.parametrize(
    ("angles", "full"),
    [
        (np.arange(100) * 3.6, True),
        (np.linspace(0, 360, 101), True),
        (np.linspace(360, 0, 101), True),
        (np.arange(100) * 1.8, False),
        ([10.0], False),
    ],
)
def test_a_full_turn_is_known(angles, full):
    assert geometry(angles=tuple(angles)).full_turn is full


@pytest.mark.parametrize("columns", [64, 65])
def test_left_and_right_exchanged_turn_a_slice_by_half_a_turn(columns):
    """As preflight says of NXtomo's x_flipped: that is no mirror image."""
    center, angles = 0.55 * columns, np.arange(90) * 2.0
    detector = Detector(rows=1, columns=columns, pixel=1 / columns, center=center)
    grain = Ellipsoid(center=(0.1, 0.25, 0), half_axes=(0.1, 0.05, 1), turn=20, attenuation=1.0)
    sinograms = project([grain], angles, detector).swapaxes(0, 1).astype(np.float32)

    def slices(seen, axis):
        with Reconstructor(angles=angles.tolist(), columns=columns, center=axis) as reconstruct:
            return reconstruct(np.ascontiguousarray(seen))[0]

    upright, flipped = slices(sinograms, center), slices(sinograms[..., ::-1], columns - 1 - center)
    assert flipped == pytest.approx(upright[::-1, ::-1], abs=1e-4 * float(upright.max()))
