"""Projections and volumes of ellipsoids, against numerical integration, volumes known and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.tomo.phantom import Detector, Ellipsoid, example, project, voxelise

SHAPES = (
    Ellipsoid(center=(0.1, -0.15, 0.02), half_axes=(0.2, 0.1, 0.15), turn=30, attenuation=2.0),
    Ellipsoid(center=(-0.1, 0.05, 0.0), half_axes=(0.1, 0.25, 0.2), turn=-50, attenuation=-0.7),
)


def inside(shape, x, y, z):
    cos, sin = np.cos(np.deg2rad(shape.turn)), np.sin(np.deg2rad(shape.turn))
    dx, dy, dz = x - shape.center[0], y - shape.center[1], z - shape.center[2]
    a, b, c = shape.half_axes
    return ((dx * cos + dy * sin) / a) ** 2 + ((dy * cos - dx * sin) / b) ** 2 + (dz / c) ** 2 <= 1


@pytest.mark.parametrize("angle", [0.0, 37.0, 90.0, 200.0, -75.0])
def test_projections_are_line_integrals(angle):
    """Walk along the rays x cos a - y sin a = u with small steps."""
    detector = Detector(rows=5, columns=33, pixel=0.03, center=17.3)
    projection = project(SHAPES, [angle], detector)[0]
    steps = np.linspace(-0.8, 0.8, 3201)
    cos, sin = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    parts = (np.arange(24) + 0.5) / 24 - 0.5
    for row, column in ((2, 12), (2, 17), (1, 20), (3, 24), (2, 30)):
        total = 0.0
        for height in (row - 2 + parts[1::3]) * detector.pixel:
            u = (column + parts - detector.center) * detector.pixel
            x, y = u * cos + steps[:, np.newaxis] * sin, -u * sin + steps[:, np.newaxis] * cos
            total += sum(shape.attenuation * inside(shape, x, y, height).sum() for shape in SHAPES)
        expected = total / 24 / 8 * (steps[1] - steps[0])
        assert projection[row, column] == pytest.approx(expected, abs=3e-3)


@settings(max_examples=40, deadline=None)
@given(
    axes=st.tuples(*[st.floats(0.05, 0.3)] * 3),
    place=st.tuples(*[st.floats(-0.1, 0.1)] * 3),
    turn=st.floats(-180, 180),
    angle=st.floats(-360, 360),
)
def test_nothing_is_lost_in_projection_or_volume(axes, place, turn, angle):
    """The mass of an ellipsoid in full view is 4/3 pi a b c times its attenuation, from every side."""
    shape = Ellipsoid(center=place, half_axes=axes, turn=turn, attenuation=1.5)
    mass = 1.5 * 4 / 3 * np.pi * np.prod(axes)
    pixel = 0.02
    detector = Detector(rows=48, columns=48, pixel=pixel, center=23.1)
    assert project([shape], [angle], detector).sum() * pixel**2 == pytest.approx(mass, rel=0.02)
    volume = voxelise([shape], slices=48, size=48, pixel=pixel)
    assert volume.sum() * pixel**3 == pytest.approx(mass, rel=0.03)


def test_projections_along_the_axes_are_sums_of_the_volume():
    """At 0 degrees a ray runs along y and the columns count x; at 90 degrees they count -y."""
    pixel = 0.02
    detector = Detector(rows=30, columns=40, pixel=pixel, center=19.5)
    straight, side = project(SHAPES, [0, 90], detector)
    volume = voxelise(SHAPES, slices=30, size=40, pixel=pixel, samples=8)
    assert np.abs(straight - volume.sum(axis=1) * pixel).max() < 0.005
    assert np.abs(side - volume.sum(axis=2)[:, ::-1] * pixel).max() < 0.005


def test_the_axis_moves_the_projection_by_columns():
    def at(center):
        return project(SHAPES, [12.0], Detector(rows=8, columns=80, pixel=0.02, center=center))

    assert at(42.0)[:, :, 5:] == pytest.approx(at(37.0)[:, :, :-5], abs=1e-6)


def test_what_lies_outside_is_not_seen():
    far = Ellipsoid(center=(3.0, 0.0, 0.0), half_axes=(0.1, 0.1, 0.1), attenuation=1.0)
    above = Ellipsoid(center=(0.0, 0.0, 2.0), half_axes=(0.1, 0.1, 0.1), attenuation=1.0)
    detector = Detector(rows=8, columns=8, pixel=0.1, center=3.5)
    assert not project([far, above], [0, 45], detector)[0].any()
    assert not voxelise([far, above], slices=8, size=8, pixel=0.1).any()


def test_the_example_has_realistic_attenuations():
    volume = voxelise(example(0.48, 0.24), slices=12, size=64, pixel=1 / 64)
    assert volume.min() == 0
    assert 2.9 < volume.max() <= 3.0 + 1e-6
    assert {round(float(value), 3) for value in np.unique(volume)} >= {0.0, 0.2, 0.7, 1.2, 1.6, 3.0}
