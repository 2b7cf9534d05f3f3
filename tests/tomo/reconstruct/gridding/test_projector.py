import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.tomo.reconstruct.gridding.projector import Projector


@settings(max_examples=25, deadline=None)
@given(
    columns=st.integers(8, 90),
    size=st.integers(8, 90),
    number=st.integers(1, 50),
    slices=st.integers(1, 10),
    quality=st.sampled_from(["standard", "high"]),
    threads=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_the_directions_are_adjoint(columns, size, number, slices, quality, threads, seed):
    random = np.random.default_rng(seed)
    images = random.normal(size=(slices, size, size)).astype(np.float32)
    sinograms = random.normal(size=(slices, number, columns)).astype(np.float32)
    with Projector(
        angles=random.uniform(0, 360, number),
        columns=columns,
        size=size,
        center=random.uniform(0.3, 0.7) * (columns - 1),
        shifts=random.normal(size=number),
        quality=quality,
        threads=threads,
    ) as projector:
        projected, smeared = projector.project(images), projector.backproject(sinograms)
    one, other = inner(projected, sinograms), inner(images, smeared)
    assert abs(one - other) < 1e-6 * norm(projected) * norm(sinograms)


def inner(first, second):
    return np.vdot(first.astype(float), second.astype(float))


def norm(values):
    return np.sqrt(inner(values, values))


@pytest.mark.parametrize(("quality", "error"), [("standard", 2e-3), ("high", 2e-4)])
def test_a_smooth_object_has_its_line_integrals(quality, error):
    """A Gaussian projects to a Gaussian."""
    size, sigma, x0, y0 = 96, 4.0, 11.3, -7.6
    position = np.arange(size) - (size - 1) / 2
    image = np.exp(-((position - x0) ** 2 + (position[:, np.newaxis] - y0) ** 2) / (2 * sigma**2))
    angles = np.linspace(0, 360, 37)
    with Projector(angles=angles, columns=100, size=size, center=45.2, quality=quality) as projector:
        sinogram = projector.project(image[np.newaxis].astype(np.float32))[0]
    theta = np.deg2rad(angles)[:, np.newaxis]
    distance = np.arange(100) - (45.2 + x0 * np.cos(theta) - y0 * np.sin(theta))
    expected = np.sqrt(2 * np.pi) * sigma * np.exp(-(distance**2) / (2 * sigma**2))
    assert norm(sinogram - expected) < error * norm(expected)


def test_a_projection_depends_neither_on_its_neighbours_nor_on_the_threads():
    images = np.random.default_rng(2).normal(size=(11, 40, 40)).astype(np.float32)
    angles = np.arange(31) * 180 / 31
    with Projector(angles=angles, columns=40) as projector:
        expected = np.concatenate([projector.project(one[np.newaxis]) for one in images])
    for threads in (1, 2, 4):
        with Projector(angles=angles, columns=40, threads=threads) as projector:
            np.testing.assert_array_equal(projector.project(images), expected)


def test_steps_along_the_gradient_find_the_object():
    """Conjugate gradients on the normal equations: they need a true adjoint."""
    random = np.random.default_rng(1)
    position = np.arange(32) - 15.5
    inside = np.hypot(position, position[:, np.newaxis]) < 13
    truth = (random.uniform(size=(1, 32, 32)) * inside).astype(np.float32)
    with Projector(angles=np.arange(90) * 2.0, columns=32, quality="high") as projector:
        measured = projector.project(truth)
        found = np.zeros_like(truth)
        residual = projector.backproject(measured)
        direction, energy = residual, inner(residual, residual)
        for _ in range(60):
            step = projector.backproject(projector.project(direction))
            length = energy / inner(direction, step)
            found = found + np.float32(length) * direction
            residual = residual - np.float32(length) * step
            energy, before = inner(residual, residual), energy
            direction = residual + np.float32(energy / before) * direction
        assert norm(projector.project(found) - measured) < 1e-3 * norm(measured)


@pytest.mark.parametrize(("wrong", "said"), [({"quality": "best"}, "standard, high")])
def test_what_cannot_be_done_is_said(wrong, said):
    with pytest.raises(UsageError, match=said):
        Projector(angles=[0.0], columns=8, **wrong)


def test_other_shapes_are_refused():
    with Projector(angles=[0.0, 90.0], columns=8) as projector:
        with pytest.raises(UsageError, match="slices of shape"):
            projector.project(np.zeros((1, 9, 8), np.float32))
        with pytest.raises(UsageError, match="sinograms of shape"):
            projector.backproject(np.zeros((1, 3, 8), np.float32))
