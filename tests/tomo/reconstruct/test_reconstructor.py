import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.filters import padded_length
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.methods import METHODS

from .conftest import DIRECT, disk, exact_fbp, nrmse


def disk_sinogram(angles, columns, *, center, x=0.0, y=0.0, radius=10.0, attenuation=0.02):
    """Line integrals, averaged over a detector pixel, of a disk at (x, y down) pixels from the axis."""
    theta = np.deg2rad(angles)[:, np.newaxis]
    position = center + x * np.cos(theta) - y * np.sin(theta)
    fine = (np.arange(columns)[:, np.newaxis] + (np.arange(16) - 7.5) / 16).ravel()
    chord = 2 * attenuation * np.sqrt(np.maximum(radius**2 - (fine - position) ** 2, 0))
    return chord.reshape(len(angles), columns, 16).mean(axis=2).astype(np.float32)


def noise(slices, angles, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(slices, angles, columns)).astype(np.float32)


@settings(max_examples=25, deadline=None)
@given(
    columns=st.integers(24, 90),
    number=st.integers(2, 120),
    shift=st.floats(-4, 4),
    start=st.floats(-400, 400),
    padding=st.sampled_from(["edge", "zero"]),
)
@pytest.mark.parametrize(
    ("method", "quality", "error"),
    [("fourier", "standard", 1e-3), ("fourier", "high", 1e-4), ("exact", "standard", 1e-4)],
)
def test_the_fourier_methods_are_the_exact_sum_for_any_size_angles_and_axis(
    method, quality, error, columns, number, shift, start, padding
):
    angles = start + np.arange(number) * 180 / number
    center = (columns - 1) / 2 + shift
    sinogram = noise(1, number, columns)
    with Reconstructor(
        angles=angles, columns=columns, center=center, padding=padding, method=method, quality=quality
    ) as reconstruct:
        image = reconstruct(sinogram)[0]
    exact = exact_fbp(sinogram[0], angles, center, length=padded_length(columns), padding=padding)
    inside = disk(columns, columns / 2)
    assert nrmse(image, exact, inside) < error


@pytest.mark.parametrize("method", DIRECT)
@pytest.mark.parametrize("turn", [180, 360])
@pytest.mark.parametrize(
    ("columns", "size", "center"), [(128, None, None), (127, 96, 60.25), (120, 131, 70.5)]
)
def test_a_disk_has_its_attenuation_at_its_place(method, turn, columns, size, center):
    angles = np.arange(240) * turn / 240
    axis = (columns - 1) / 2 if center is None else center
    sinogram = disk_sinogram(angles, columns, center=axis, x=20.5, y=-12, radius=10)
    with Reconstructor(
        angles=angles, columns=columns, size=size, center=center, method=method
    ) as reconstruct:
        image = reconstruct(sinogram[np.newaxis])[0]
    size = size or columns
    assert image.shape == (size, size)
    middle = (size - 1) / 2
    y, x = np.mgrid[:size, :size]
    inside = np.hypot(x - middle - 20.5, y - middle + 12) < 7
    assert image[inside].mean() == pytest.approx(0.02, rel=2e-3)
    weights = np.clip(image, 0.005, None) - 0.005
    assert np.average(x, weights=weights) == pytest.approx(middle + 20.5, abs=0.1)
    assert np.average(y, weights=weights) == pytest.approx(middle - 12, abs=0.1)


@pytest.mark.parametrize("method", DIRECT)
def test_a_slice_depends_neither_on_its_neighbours_nor_on_the_threads(method):
    angles = np.arange(60) * 3.0
    sinograms = noise(7, 60, 50)
    with Reconstructor(angles=angles, columns=50, method=method) as reconstruct:
        expected = np.concatenate([reconstruct(one[np.newaxis]) for one in sinograms])
    for threads in (1, 2, 5):
        with Reconstructor(angles=angles, columns=50, method=method, threads=threads) as reconstruct:
            np.testing.assert_array_equal(reconstruct(sinograms), expected)
            np.testing.assert_array_equal(reconstruct(sinograms[3:5]), expected[3:5])


@pytest.mark.parametrize("method", DIRECT)
@pytest.mark.parametrize("center", [22.3, 149 - 22.3])
def test_half_acquisition_sees_what_lies_beyond_the_detectors_half(method, center):
    angles = np.arange(500) * 360 / 500
    disks = [(90.0, 40.0, 12.0), (-30.5, -20.0, 9.0), (4.0, 3.0, 6.0)]  # the last lies in the overlap
    sinogram = sum(disk_sinogram(angles, 150, center=center, x=x, y=y, radius=r) for x, y, r in disks)
    with Reconstructor(
        angles=angles, columns=150, center=center, half_acquisition=True, method=method
    ) as reconstruct:
        image = reconstruct(sinogram[np.newaxis])[0]
    size = reconstruct.geometry.size
    assert image.shape == (size, size) == (255, 255)
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    for at_x, at_y, radius in disks:
        inside = np.hypot(x - at_x, y - at_y) < radius - 3
        assert image[inside].mean() == pytest.approx(0.02, rel=5e-3)
    empty = (np.hypot(x, y) < 110) & np.all([np.hypot(x - a, y - b) > r + 4 for a, b, r in disks], axis=0)
    assert abs(image[empty].mean()) < 2e-4


@pytest.mark.parametrize("method", DIRECT)
def test_a_moving_axis_and_uneven_angles_are_made_good(method):
    random = np.random.default_rng(3)
    angles = np.sort(random.uniform(0, 180, 400))
    shifts = random.normal(scale=2, size=400)
    sinogram = np.concatenate(
        [
            disk_sinogram([angle], 120, center=59.5 + shift, x=20.5, y=-12, radius=10)
            for angle, shift in zip(angles, shifts, strict=True)
        ]
    )
    errors = {}
    y, x = np.mgrid[:120, :120] - 59.5
    truth = 0.02 * (np.hypot(x - 20.5, y + 12) < 10)
    for name, given_ in {"both": {"shifts": shifts, "weights": "gaps"}, "neither": {}}.items():
        with Reconstructor(angles=angles, columns=120, method=method, **given_) as reconstruct:
            image = reconstruct(sinogram[np.newaxis])[0]
        errors[name] = nrmse(image, truth, np.hypot(x, y) < 55)
    assert errors["both"] < 0.5 * errors["neither"]
    assert errors["both"] < 0.25


def test_all_methods_agree_on_all_that_can_be_asked_for():
    random = np.random.default_rng(4)
    angles = random.uniform(0, 360, 200)
    sinograms = disk_sinogram(angles, 100, center=45.2, x=5, y=9, radius=20)[np.newaxis].repeat(2, axis=0)
    images = {}
    for method in DIRECT:
        with Reconstructor(
            angles=angles,
            columns=100,
            size=110,
            center=44.2,
            shifts=np.full(200, 1.0),
            weights="gaps",
            window="linear" if method != "fbp" else "ram-lak",
            padding="zero",
            region=((20, 95), (30, 101)),
            mask=40,
            method=method,
        ) as reconstruct:
            images[method] = reconstruct(sinograms)
    assert images["fourier"].shape == (2, 75, 71)
    inside = np.hypot(*(np.mgrid[20:95, 30:101] - 54.5)) <= 40
    for index in range(2):
        assert nrmse(images["fourier"][index], images["exact"][index], inside) < 1e-3
        assert nrmse(images["fourier"][index], images["fbp"][index], inside) < 5e-2
        assert not images["fourier"][index][~inside].any()


def test_a_smoother_window_gives_less_noise_and_the_same_mean():
    angles = np.arange(180.0)
    sinograms = disk_sinogram(angles, 64, center=31.5, radius=20)[np.newaxis] + 0.02 * noise(1, 180, 64)
    inside = disk(64, 15)
    spread = {}
    for window in ("ram-lak", "butterworth", "shepp-logan", "linear", "cosine", "hamming", "hann"):
        with Reconstructor(angles=angles, columns=64, window=window) as reconstruct:
            image = reconstruct(sinograms)[0][inside]
        assert image.mean() == pytest.approx(0.02, rel=0.01)
        spread[window] = image.std()
    assert list(spread) == sorted(spread, key=spread.get, reverse=True)


@pytest.mark.parametrize(("mask", "radius"), [(True, 16), (9.5, 9.5)])
def test_the_mask_clears_only_what_lies_outside(mask, radius):
    sinograms = noise(2, 40, 32)
    angles = np.arange(40) * 4.5
    with Reconstructor(angles=angles, columns=32) as plain:
        expected = plain(sinograms)
    with Reconstructor(angles=angles, columns=32, mask=mask) as masked:
        slices = masked(sinograms)
    y, x = np.mgrid[:32, :32] - 15.5
    outside = np.hypot(x, y) > radius
    assert not slices[:, outside].any()
    np.testing.assert_array_equal(slices[:, ~outside], expected[:, ~outside])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"method": "gridrec"}, "fourier, exact, fbp"),
        ({"window": "tukey"}, "ram-lak"),
        ({"padding": "mirror"}, "edge, zero"),
        ({"center": 40}, "0 .. 31"),
        ({"center": float("nan")}, "0 .. 31"),
        ({"angles": []}, "at least one"),
        ({"angles": [0, np.nan]}, "finite"),
        ({"threads": 0}, "threads 0"),
        ({"size": 0}, "size 0"),
        ({"quality": "best"}, "standard, high"),
        ({"cutoff": 0}, "cutoff 0"),
        ({"cutoff": 1.5}, "cutoff 1.5"),
        ({"shifts": [1.0]}, "shifts must be 2"),
        ({"weights": [1.0, np.inf]}, "weights must be 2"),
        ({"region": ((0, 33), (0, 5))}, "region y 0:33"),
        ({"region": ((0, 32), (5, 5))}, "region x 5:5"),
        ({"half_acquisition": True}, "full turn"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(wrong, said):
    with pytest.raises(UsageError, match=said):
        Reconstructor(**{"angles": [0.0, 90.0], "columns": 32} | wrong)


def test_sinograms_of_another_shape_are_refused():
    with (
        Reconstructor(angles=[0.0, 90.0], columns=32) as reconstruct,
        pytest.raises(UsageError, match="2 angles"),
    ):
        reconstruct(noise(1, 3, 32))


@pytest.mark.parametrize("method", METHODS)
def test_slices_go_where_they_are_wanted(method):
    sinograms = noise(3, 20, 32)
    with Reconstructor(angles=np.arange(20) * 9.0, columns=32, method=method, mask=True) as reconstruct:
        out = np.full((3, 32, 32), np.nan, np.float32)
        assert reconstruct(sinograms, out=out) is out
        np.testing.assert_array_equal(out, reconstruct(sinograms))


@pytest.mark.parametrize(
    ("out", "said"),
    [
        (np.empty((1, 32, 31), np.float32), r"out is \(1, 32, 31\) of float32"),
        (np.empty((1, 32, 32)), r"of float64; the slices take \(1, 32, 32\) of float32"),
        (np.empty((1, 32, 64), np.float32)[..., ::2], "contiguous"),
        (np.broadcast_to(np.float32(0), (1, 32, 32)), "writable"),
    ],
)
def test_what_is_no_place_for_slices_is_refused(out, said):
    with (
        Reconstructor(angles=[0.0, 90.0], columns=32) as reconstruct,
        pytest.raises(UsageError, match=said),
    ):
        reconstruct(noise(1, 2, 32), out=out)


def test_slices_are_not_written_over_their_sinograms():
    sinograms = noise(1, 32, 32)
    with (
        Reconstructor(angles=np.arange(32) * 5.0, columns=32) as reconstruct,
        pytest.raises(UsageError, match="apart from the sinograms"),
    ):
        reconstruct(sinograms, out=sinograms)


@pytest.mark.parametrize(
    ("angles", "intervals"),
    [
        (np.arange(181) * 180 / 181, 181),
        (np.arange(400) * 360 / 400, 400),
        (-88.2 + 2.0 * np.arange(91), 90),
        (np.linspace(0, 360, 721), 720),
        (np.linspace(360, 0, 721), 720),
        (np.arange(100) * 1.0, 100),
        ([30.0], 1),
        ([0.0, 90.0], 2),
        ([0.0, 180.0], 1),
    ],
)
def test_every_projection_has_its_share_of_half_a_turn(angles, intervals):
    geometry = Geometry(angles=tuple(angles), columns=8, size=8, center=3.5)
    assert geometry.weight == pytest.approx(np.pi / intervals)


@pytest.mark.parametrize("method", ["fourier", "exact", "fbp", "sirt", "cgls"])
def test_a_scale_is_a_factor_of_every_value_but_the_masks(method):
    angles, sinograms = np.arange(0, 180, 6.0), noise(3, 30, 32)
    with Reconstructor(angles=angles, columns=32, method=method) as plain:
        expected = 250 * plain(sinograms)
    with Reconstructor(
        angles=angles, columns=32, method=method, scale=250, mask=True, mask_value=-7
    ) as scaled:
        slices = scaled(sinograms)
        inside = ~scaled.outside
        misfits = scaled.misfits
    assert nrmse(slices, expected, np.broadcast_to(inside, slices.shape)) < 2e-6  # rounding in float32
    assert (slices[:, ~inside] == -7).all()
    if plain.misfits is not None:
        np.testing.assert_array_equal(misfits, plain.misfits)
