import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.memory import Layout
from runner.tomo.reconstruct.iterative.gradient import Gradient
from runner.tomo.reconstruct.iterative.methods import ITERATIONS, NONNEGATIVE
from runner.tomo.reconstruct.iterative.rays import Rays
from tests.tomo.reconstruct.conftest import nrmse
from tests.tomo.reconstruct.iterative.discs import COLUMNS, sinogram, truth, within

HALF_TURN = np.arange(72) * 2.5


def find(sinograms, angles=HALF_TURN, **options):
    """Slices and misfits."""
    with Reconstructor(angles=angles, columns=sinograms.shape[2], **options) as reconstruct:
        return reconstruct(sinograms), reconstruct.misfits


def noise(slices, angles, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(slices, angles, columns)).astype(np.float32)


@pytest.mark.parametrize("method", ITERATIONS)
def test_what_is_homogeneous_has_its_value(method):
    (image,), _ = find(sinogram(HALF_TURN)[np.newaxis], method=method)
    flat = within(34) & ~within(11, x=15, y=-9) & ~within(9, x=-12, y=8)
    assert image[flat].mean() == pytest.approx(0.02, rel=2e-3)  # what is promised is 1e-2
    for x, y, radius, value in ((15, -9, 5, 0.04), (-12, 8, 3, 0.005)):
        assert image[within(radius, x=x, y=y)].mean() == pytest.approx(value, abs=4e-4)
    assert abs(image[~within(42)].mean()) < 2e-5
    assert (image[~within(COLUMNS / 2)] == 0).all()


@pytest.mark.parametrize("method", ITERATIONS)
def test_the_misfit_is_that_of_the_slices_and_falls(method):
    measured = np.stack([sinogram(HALF_TURN), np.zeros((72, COLUMNS), np.float32)])
    images, misfits = find(measured, method=method)
    assert misfits.shape == (2, ITERATIONS[method])
    assert (images[1] == 0).all()
    assert (misfits[1] == 0).all()
    assert misfits[0, -1] < 0.01
    falling = np.diff(misfits[0]) < 0
    assert falling.all() if method != "fista" else falling.mean() > 0.8
    geometry = Geometry(angles=tuple(HALF_TURN), columns=COLUMNS, size=COLUMNS, center=47.5)
    rays = Rays(geometry, "standard", Layout(lanes=8, block=72), 1)
    again = np.empty_like(measured)
    rays.project(images, again)
    rays.close()
    left = np.linalg.norm(again[0] - measured[0]) / np.linalg.norm(measured[0])
    assert left == pytest.approx(misfits[0, -1], rel=2e-2)


def test_conjugate_gradients_fall_by_every_step_however_many():
    measured = sinogram(HALF_TURN)[np.newaxis] + 0.01 * noise(1, 72, COLUMNS)
    _, misfits = find(measured, method="cgls", iterations=60)
    assert (np.diff(misfits[0]) <= 0).all()


@pytest.mark.parametrize(("photons", "share"), [(1e4, 0.9), (1e9, 0.7)])
def test_few_projections_are_explained_better_than_by_backprojection(photons, share):
    angles = np.arange(24) * 7.5
    counts = np.random.default_rng(3).poisson(photons * np.exp(-sinogram(angles)))
    measured = -np.log(counts / photons).astype(np.float32)[np.newaxis]
    inside, right = within(46), truth()

    def error(**options):
        (image,), _ = find(measured, angles, **options)
        return nrmse(image, right, inside)

    windows = min(error(window=window) for window in ("ram-lak", "hann", "cosine"))
    for method in ITERATIONS:
        assert error(method=method) < windows
    for method in NONNEGATIVE:
        assert error(method=method, nonnegative=True) < share * windows


@pytest.mark.parametrize("method", NONNEGATIVE)
def test_no_value_is_negative_where_that_is_asked_for(method):
    measured = sinogram(HALF_TURN)[np.newaxis]
    (free,), _ = find(measured, method=method, iterations=30)
    (kept,), misfits = find(measured, method=method, iterations=30, nonnegative=True)
    assert free.min() < -1e-4
    assert kept.min() == 0
    assert misfits[0, -1] < 0.02


@pytest.mark.parametrize("method", ITERATIONS)
def test_no_bit_depends_on_neighbours_threads_or_memory(method):
    measured = noise(11, 41, 50)
    measured[3] *= 1e6  # a bright neighbour must not show
    options = {"angles": np.arange(41) * 180 / 41, "method": method, "iterations": 6}
    expected, misfits = find(measured, **options)
    for alone in (2, 9):
        image, misfit = find(measured[alone : alone + 1], **options)
        np.testing.assert_array_equal(image[0], expected[alone])
        np.testing.assert_array_equal(misfit[0], misfits[alone])
    for more in ({"threads": 3}, {"threads": 2, "memory": 1_400_000}):
        found, again = find(measured, **options, **more)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(again, misfits)


@pytest.mark.parametrize("method", ITERATIONS)
def test_a_region_is_cut_out_of_the_whole(method):
    measured = sinogram(HALF_TURN, center=40.3)[np.newaxis]
    options = {"method": method, "iterations": 8, "center": 40.3}
    whole, _ = find(measured, **options)
    part, _ = find(measured, region=((10, 31), (50, 96)), **options)
    np.testing.assert_array_equal(part, whole[:, 10:31, 50:96])


@pytest.mark.parametrize("method", ITERATIONS)
@pytest.mark.parametrize("center", [14.3, 95 - 14.3])
def test_half_acquisition_needs_no_weights(method, center):
    """Rays that were not measured are in no equation."""
    angles = np.arange(240) * 1.5
    discs = ((0, 0, 60, 0.01), (40, 20, 12, 0.01))
    measured = sinogram(angles, center=center, discs=discs)[np.newaxis]
    (image,), misfits = find(
        measured, angles, method=method, center=center, half_acquisition=True, iterations=ITERATIONS[method]
    )
    size = len(image)
    assert size > 150
    inside = within(55, size) & ~within(16, size, x=40, y=20)
    assert image[inside].mean() == pytest.approx(0.01, rel=5e-3)
    assert image[within(8, size, x=40, y=20)].mean() == pytest.approx(0.02, rel=1e-2)
    assert misfits[0, -1] < 0.02


@pytest.mark.parametrize("method", ITERATIONS)
def test_weights_say_how_much_a_projection_counts(method):
    """Projections that count nothing might as well not be there."""
    angles = np.concatenate([HALF_TURN, [10.0, 33.3, 71.9]])
    measured = np.concatenate([sinogram(HALF_TURN), noise(1, 3, COLUMNS)[0]])[np.newaxis]
    options = {"method": method, "iterations": 10}
    expected, _ = find(measured[:, :72], weights=np.full(72, np.pi / 72), **options)
    found, _ = find(measured, angles, weights=[*np.full(72, np.pi / 72), 0, 0, 0], **options)
    assert nrmse(found[0], expected[0], within(48)) < 1e-5
    spoilt, _ = find(measured, angles, **options)
    assert nrmse(spoilt[0], expected[0], within(48)) > 1e-2


@pytest.mark.parametrize("method", ITERATIONS)
def test_a_moving_axis_is_followed(method):
    shifts = np.random.default_rng(5).normal(scale=2, size=72)
    measured = np.concatenate(
        [sinogram([angle], center=47.5 + shift) for angle, shift in zip(HALF_TURN, shifts, strict=True)]
    )[np.newaxis]
    (image,), _ = find(measured, method=method, shifts=shifts)
    (still,), _ = find(sinogram(HALF_TURN)[np.newaxis], method=method)
    assert nrmse(image, still, within(46)) < 0.05


@pytest.mark.parametrize("method", ITERATIONS)
def test_an_object_wider_than_the_field_of_view_needs_room(method):
    """Its mass has to be somewhere: with room as wide as it is, it goes where it belongs."""
    angles = np.arange(120) * 1.5
    measured = sinogram(angles, discs=((0, 0, 70, 0.02),))[np.newaxis]
    (without,), _ = find(measured, angles, method=method)
    (within_it,), _ = find(measured, angles, method=method, size=146)
    assert without[within(20)].mean() > 1.1 * 0.02
    assert within_it[within(20, 146)].mean() == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("method", ITERATIONS)
def test_room_is_that_of_larger_slices_which_are_cut(method):
    angles = np.arange(60) * 3.0
    measured = sinogram(angles, discs=((0, 0, 70, 0.02), (20, 10, 8, 0.01)))[np.newaxis]
    larger, _ = find(measured, angles, method=method, iterations=4, size=144)
    made, _ = find(measured, angles, method=method, iterations=4, room=1.5)
    np.testing.assert_array_equal(made, larger[:, 24:-24, 24:-24])


@pytest.mark.parametrize(("method", "off"), [("sirt", 0.02), ("fista", 0.02), ("cgls", 0.06)])
def test_an_object_one_and_a_half_times_as_wide_is_right_in_as_much_room(method, off):
    """What it has outside of the field of view cannot be known: each method makes its own guess."""
    discs = (
        (0, 0, 70.5, 0.02),
        (53, 7, 8, 0.02),
        (-7, -56, 7, -0.015),
        (15, -9, 8, 0.005),
        (-12, 8, 6, -0.004),
    )
    angles, right = np.arange(144) * 1.25, truth(discs=discs)
    measured = sinogram(angles, discs=discs)[np.newaxis]
    (without,), _ = find(measured, angles, method=method)
    (made,), _ = find(measured, angles, method=method, room=1.5)
    (crammed, spread) = (found[within(40)] - right[within(40)] for found in (without, made))
    assert crammed.mean() > 0.2 * 0.02
    assert abs(spread.mean()) < off * 0.02
    assert spread.std() < 0.2 * crammed.std()


@settings(max_examples=12, deadline=None)
@given(
    columns=st.integers(12, 60),
    number=st.integers(4, 40),
    place=st.floats(0.1, 0.9),
    span=st.floats(60, 360),
    seed=st.integers(0, 100),
)
def test_no_step_is_too_long(columns, number, place, span, seed):
    """The largest eigenvalue of what a step multiplies the misfit by, by the power method."""
    random = np.random.default_rng(seed)
    shares = random.uniform(0.2, 1, number)
    geometry = Geometry(
        angles=tuple(np.arange(number) * span / number),
        columns=columns,
        size=columns,
        center=place * (columns - 1),
        shares=tuple(shares * np.pi / shares.sum()),
    )
    rays = Rays(geometry, "standard", Layout(lanes=4, block=number), 1)
    steps = Gradient(rays, momentum=False, nonnegative=False, threads=1)
    root = np.sqrt(steps.gains)
    vector = random.uniform(size=(1, rays.size, rays.size)).astype(np.float32) * rays.inside
    projected = np.empty((1, number, columns), np.float32)
    for _ in range(30):
        vector *= root / np.linalg.norm(vector)
        rays.project(vector, projected)
        projected /= steps.lengths
        rays.backproject(projected, vector)
        vector *= root
    rays.close()
    assert 0.5 < np.linalg.norm(vector) < 1.1  # momentum bears 4/3, plain steps 2


def test_calls_from_several_threads_are_answered_rightly():
    measured = noise(4, 30, 32)
    with Reconstructor(angles=np.arange(30) * 6.0, columns=32, method="cgls", iterations=4) as reconstruct:
        expected = reconstruct(measured)
        found = {}

        def call(number):
            found[number] = reconstruct(measured[number : number + 1])[0]

        threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    for number in range(4):
        np.testing.assert_array_equal(found[number], expected[number])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"method": "fourier", "iterations": 5}, "choose one of sirt, fista, cgls"),
        ({"method": "fbp", "nonnegative": True}, "takes no steps"),
        ({"method": "sirt", "iterations": 0}, "from 1 up"),
        ({"method": "cgls", "nonnegative": True}, "choose one of sirt, fista"),
        ({"method": "sirt", "window": "hann"}, "window is of a filter, and sirt has none"),
        ({"method": "cgls", "padding": "zero"}, "padding is of a filter"),
        ({"method": "sirt", "device": "gpu"}, "does not run on a GPU"),
        ({"method": "cgls", "memory": 1e5}, "needs .* of buffers"),
    ],
)
def test_what_cannot_be_done_is_said(wrong, said):
    with pytest.raises(UsageError, match=said):
        Reconstructor(angles=HALF_TURN, columns=48, **wrong)
