import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.filters import PADDINGS, WINDOWS, padded_length, ramp
from runner.tomo.reconstruct.gridding import engine as module
from runner.tomo.reconstruct.gridding.crew import cut
from runner.tomo.reconstruct.gridding.engine import groups, strips
from runner.tomo.reconstruct.gridding.memory import buffer_bytes, choose_layout, sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from tests.tomo.reconstruct.conftest import disk, exact_fbp, nrmse


def noise(slices, angles, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(slices, angles, columns)).astype(np.float32)


def make(sinograms, **options):
    options = {"angles": np.arange(sinograms.shape[1]) * 180 / sinograms.shape[1]} | options
    with Reconstructor(columns=sinograms.shape[2], **options) as reconstruct:
        return reconstruct(sinograms)


@settings(max_examples=40, deadline=None)
@given(
    columns=st.integers(8, 140),
    number=st.integers(1, 60),
    size=st.integers(8, 150),
    shift=st.floats(-0.4, 0.4),
    slices=st.integers(1, 18),
    padding=st.sampled_from(PADDINGS),
    window=st.sampled_from(list(WINDOWS)),
    cutoff=st.floats(0.3, 1),
    threads=st.integers(1, 3),
)
def test_it_is_the_exact_sum_for_any_problem(
    columns, number, size, shift, slices, padding, window, cutoff, threads
):
    angles = np.arange(number) * 180 / number
    center = (columns - 1) * (0.5 + shift)
    sinograms = noise(slices, number, columns)
    length = padded_length(columns)
    for quality, error in (("standard", 1e-3), ("high", 1e-4)):
        images = make(
            sinograms, angles=angles, size=size, center=center, padding=padding, window=window,
            cutoff=cutoff, threads=threads, quality=quality,
        )  # fmt: skip
        for index in {0, slices - 1}:
            exact = exact_fbp(
                sinograms[index], angles, center, length=length, padding=padding, size=size,
                response=ramp(length, window, cutoff),
            )  # fmt: skip
            assert nrmse(images[index], exact, disk(size, size / 2)) < error


@pytest.mark.parametrize(
    ("columns", "number", "size"), [(1, 1, 1), (1, 3, 5), (2, 1, 1), (3, 2, 2), (7, 5, 3)]
)
def test_the_smallest_problems_have_a_solution(columns, number, size):
    sinograms = noise(2, number, columns)
    angles = np.arange(number) * 180 / number
    images = make(sinograms, size=size)
    for image, sinogram in zip(images, sinograms, strict=True):
        exact = exact_fbp(
            sinogram, angles, (columns - 1) / 2, length=padded_length(columns), padding="edge", size=size
        )
        np.testing.assert_allclose(image, exact, atol=1e-3 * np.abs(exact).max())


@pytest.mark.parametrize(("columns", "number"), [(1000, 751), (1013, 777), (4500, 60)])
def test_it_is_the_exact_sum_at_the_sizes_of_detectors(columns, number):
    sinograms = noise(1, number, columns)
    center = (columns - 1) / 2 + 7.3
    angles = np.arange(number) * 180 / number
    exact = exact_fbp(sinograms[0], angles, center, length=padded_length(columns), padding="edge")
    inside = disk(columns, columns / 2)
    assert nrmse(make(sinograms, center=center)[0], exact, inside) < 1e-3
    assert nrmse(make(sinograms, center=center, quality="high")[0], exact, inside) < 1e-4


@pytest.mark.parametrize("columns", [64, 256, 400, 512])
@pytest.mark.parametrize("angles", [[0.0], [90.0], [90 - 1e-9], [26.56505117707799], [0, 45, 90, 135]])
def test_points_halfway_between_cells_are_as_exact_as_any(columns, angles):
    """Where steps from point to point are whole eighths of a cell, many lie just where the window ends."""
    sinograms = noise(1, len(angles), columns)
    exact = exact_fbp(sinograms[0], angles, (columns - 1) / 2, length=padded_length(columns), padding="edge")
    for quality, error in (("standard", 1e-3), ("high", 1e-4)):
        image = make(sinograms, angles=angles, quality=quality)[0]
        assert nrmse(image, exact, disk(columns, columns / 2)) < error


@pytest.mark.parametrize("quality", QUALITIES)
def test_what_is_homogeneous_has_its_value(quality):
    """The centre of a disk of 0.02 per pixel, with the blur of its edge far away."""
    size, radius = 301, 120.0
    borders = np.arange(size + 1) - size / 2
    inside = np.clip(borders, -radius, radius)
    integral = inside * np.sqrt(radius**2 - inside**2) + radius**2 * np.arcsin(inside / radius)
    sinogram = np.tile(0.02 * np.diff(integral), (480, 1)).astype(np.float32)
    image = make(sinogram[np.newaxis], quality=quality, padding="zero")[0]
    for outer in (10, 50, 100):
        assert image[disk(size, outer)].mean(dtype=float) == pytest.approx(0.02, rel=2e-4)


def test_angles_need_not_be_even_nor_sorted_nor_the_axis_at_rest():
    random = np.random.default_rng(5)
    angles, shifts = random.uniform(-300, 300, 70), random.normal(size=70)
    weights = random.uniform(0, 0.1, 70)
    sinograms = noise(3, 70, 50)
    images = make(sinograms, angles=angles, shifts=shifts, weights=weights, quality="high")
    for image, sinogram in zip(images, sinograms, strict=True):
        exact = exact_fbp(
            sinogram, angles, 24.5 + shifts, length=padded_length(50), padding="edge", weights=weights
        )
        assert nrmse(image, exact, disk(50, 25)) < 1e-4


@pytest.mark.parametrize("method", ["fourier", "exact", "fbp"])
@pytest.mark.parametrize(
    ("size", "region"),
    [
        (60, ((0, 60), (0, 60))),
        (60, ((40, 57), (3, 33))),
        (60, ((10, 11), (59, 60))),
        (61, ((59, 61), (0, 31))),
        (61, ((7, 20), (30, 61))),
    ],
)
def test_a_region_is_cut_out_of_the_whole_bit_by_bit(method, size, region):
    sinograms = noise(9, 40, 60)
    options = {"method": method, "center": 27.25, "size": size}
    whole = make(sinograms, **options)
    (y, y_end), (x, x_end) = region
    for threads in (1, 3):
        part = make(sinograms, region=region, threads=threads, **options)
        np.testing.assert_array_equal(part, whole[:, y:y_end, x:x_end])


@settings(max_examples=25, deadline=None)
@given(size=st.integers(8, 70), borders=st.tuples(*[st.floats(0, 1)] * 4), threads=st.integers(1, 2))
def test_any_region_is_cut_out_of_the_whole(size, borders, threads):
    sinograms = noise(3, 11, 40)
    top, left = (int(border * (size - 1)) for border in borders[:2])
    bottom, right = (
        begin + 1 + int(border * (size - begin - 1))
        for begin, border in zip((top, left), borders[2:], strict=True)
    )
    part = make(sinograms, size=size, region=((top, bottom), (left, right)), threads=threads)
    np.testing.assert_array_equal(part, make(sinograms, size=size)[:, top:bottom, left:right])


def test_no_bit_depends_on_neighbours_chunks_threads_or_memory():
    sinograms = noise(19, 301, 120)
    sinograms[3] *= 1e6  # a bright neighbour must not show
    expected = np.concatenate([make(one[np.newaxis]) for one in sinograms])
    sizes = sizes_of(301, 120, (120, 120), QUALITIES["standard"])
    for threads, share in ((1, 1), (2, 1), (3, 0.7), (2, 0.6), (5, 0.6)):
        memory = share * buffer_bytes(sizes, choose_layout(sizes, threads, np.inf), threads)
        images = make(sinograms, threads=threads, memory=memory)
        np.testing.assert_array_equal(images, expected)
        np.testing.assert_array_equal(make(sinograms[5:12], threads=threads, memory=memory), expected[5:12])


def test_no_bit_depends_on_where_the_strips_of_the_grid_lie(monkeypatch):
    sinograms = noise(2, 50, 90)
    expected = make(sinograms)
    for height in (1, 3, 7, 50, 1000):
        monkeypatch.setattr(
            module, "strips", lambda rows, *_, height=height: cut(0, rows, height, -(-rows // height))
        )
        np.testing.assert_array_equal(make(sinograms), expected)


@given(st.integers(1, 20_000), st.integers(1000, 3_000_000), st.integers(1, 128))
def test_strips_cover_the_grid_once_and_fit_the_cache(rows, row_bytes, threads):
    parts = strips(rows, row_bytes, threads)
    assert [row for begin, end in parts for row in range(begin, end)] == list(range(rows))
    for begin, end in parts:
        assert end - begin <= 8 or (end - begin) * row_bytes <= 2.7e6
    assert len(parts) >= min(4 * threads, rows // 8)


def test_little_memory_is_kept_to_by_passes_over_the_projections():
    """A scaled case: the limit lets neither all spectra nor eight slices in at once."""
    sinograms = noise(8, 1500, 96)
    sizes = sizes_of(1500, 96, (96, 96), QUALITIES["standard"])
    limit = 0.2 * buffer_bytes(sizes, choose_layout(sizes, 1, np.inf), 1)
    layout = choose_layout(sizes, 1, limit)
    assert layout.lanes == 4
    assert layout.block < 1500 / 2
    assert buffer_bytes(sizes, layout, 1) <= limit
    angles = np.arange(1500) * 180 / 1500
    with Reconstructor(angles=angles, columns=96, memory=limit) as reconstruct:
        assert reconstruct._method.layout == layout
        held = sum(buffer.nbytes for buffer in (reconstruct._method._spectra, reconstruct._method._grid))
        assert held <= limit
        np.testing.assert_array_equal(reconstruct(sinograms), make(sinograms))


def test_too_little_memory_is_refused():
    with pytest.raises(UsageError, match=r"needs 1\.\d MiB of buffers, and may take no more than 97\.7 KiB"):
        Reconstructor(angles=np.arange(180.0), columns=128, memory=100_000)


def test_several_threads_may_call_one_plan():
    sinograms = noise(4, 60, 64)
    results = [None] * 6
    with Reconstructor(angles=np.arange(60) * 3.0, columns=64, threads=2) as reconstruct:
        expected = reconstruct(sinograms)

        def call(index):
            results[index] = reconstruct(sinograms)

        threads = [threading.Thread(target=call, args=(index,)) for index in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(100)
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_strided_and_double_sinograms_are_taken():
    frames = np.random.default_rng(0).normal(size=(60, 3, 50))  # (angle, row, column)
    expected = make(np.ascontiguousarray(frames.swapaxes(0, 1), dtype=np.float32))
    np.testing.assert_array_equal(make(frames.swapaxes(0, 1)), expected)


@given(st.integers(0, 100), st.sampled_from([4, 8]))
def test_groups_cover_the_slices_once(slices, lanes):
    covered = [slice_ for first, number in groups(slices, lanes) for slice_ in range(first, first + number)]
    assert covered == list(range(slices))
