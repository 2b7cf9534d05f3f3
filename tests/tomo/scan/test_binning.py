from dataclasses import replace

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.tomo.scan import Images, open_scan
from runner.tomo.scan import read as module
from runner.tomo.scan.binning import (
    binned,
    binned_place,
    binned_range,
    left_over,
    sum_pixels,
    unbinned_place,
)
from runner.tomo.scan.defects import pack
from runner.tomo.scan.read import read_frames


@given(
    factor=st.sampled_from([2, 4, 8]),
    rows=st.integers(1, 4),
    columns=st.integers(8, 40),
    frames=st.integers(1, 5),
    threads=st.integers(1, 3),
)
def test_each_sum_is_of_its_own_pixels(factor, rows, columns, frames, threads):
    random = np.random.default_rng(columns)
    counts = random.integers(0, 2**16, (frames, rows * factor, columns), np.uint16)
    sums = sum_pixels(counts, factor, threads=threads)
    width = columns // factor
    blocks = counts[:, :, : width * factor].reshape(frames, rows, factor, width, factor)
    np.testing.assert_array_equal(sums, blocks.sum(axis=(2, 4), dtype=np.int64))
    assert sums.dtype == np.float32


@pytest.mark.parametrize("block", [1, 10_000, 1 << 30])
@pytest.mark.parametrize("threads", [1, 2])
def test_frames_are_read_as_sums_however_many_at_a_time(small_scan, monkeypatch, block, threads):
    scan = open_scan(small_scan)
    frames = replace(scan.projections, indices=scan.projections.indices[3:29:2])
    whole = read_frames(frames, slice(20, 44))
    monkeypatch.setattr(module, "BLOCK", block)
    sums = read_frames(replace(frames, binning=4), slice(5, 11), threads=threads)
    np.testing.assert_array_equal(sums, sum_pixels(whole, 4))


def test_so_are_images(tmp_path):
    images = np.random.default_rng(1).integers(0, 4000, (5, 8, 11), np.uint16)
    for number, image in enumerate(images):
        tifffile.imwrite(tmp_path / f"{number}.tif", image)
    frames = Images(
        folder=tmp_path,
        names=tuple(f"{number}.tif" for number in range(5)),
        pages=1,
        indices=np.array([0, 2, 4]),
        binning=2,
    )
    np.testing.assert_array_equal(read_frames(frames, slice(1, 3)), sum_pixels(images[::2, 2:6], 2))


def test_a_pixel_without_a_number_spoils_its_sum_alone():
    counts = np.ones((1, 4, 4), np.float32)
    counts[0, 1, 2] = np.nan
    np.testing.assert_array_equal(sum_pixels(counts, 2)[0], [[4, np.nan], [4, 4]])


def test_a_binned_scan_has_larger_pixels(small_scan):
    scan = replace(open_scan(small_scan), axis_hint=24.5, rows=101, columns=50)
    coarse = binned(scan, 4)
    assert (coarse.rows, coarse.columns, coarse.binning) == (25, 12, 4)
    assert coarse.pixel_size == 4 * scan.pixel_size
    assert coarse.axis_hint == (24.5 + 0.5) / 4 - 0.5
    assert {group.frames.binning for group in (*coarse.flats, *coarse.darks)} == {4}
    assert left_over(scan, 4) == "bin 4 leaves out 1 rows and 2 columns at the detector's end"
    assert left_over(scan, 1) == ""
    assert binned(scan, 1) is scan
    with pytest.raises(UsageError, match="more than the detector's 3 rows"):
        binned(replace(scan, rows=3), 4)


def test_a_sum_with_a_defective_pixel_is_defective(small_scan):
    scan = open_scan(small_scan)
    marks = np.zeros((scan.rows, scan.columns), np.uint8)
    marks[5, 8], marks[6, 9], marks[40, 0] = 3, 1, 2
    found = binned(replace(scan, defects=pack(marks)), 4).defects.map()
    assert found.shape == (scan.rows // 4, scan.columns // 4)
    assert {(row, column, found[row, column]) for row, column in np.argwhere(found)} == {
        (1, 2, 3),
        (10, 0, 2),
    }


@given(st.floats(0, 5000), st.sampled_from([1, 2, 4, 8]))
def test_places_go_there_and_back(place, factor):
    assert unbinned_place(binned_place(place, factor), factor) == pytest.approx(place, abs=1e-9)
    middle_of_first = (factor - 1) / 2
    assert binned_place(middle_of_first, factor) == 0


@given(st.integers(0, 100), st.integers(1, 100), st.sampled_from([1, 2, 4, 8]), st.integers(1, 60))
def test_ranges_hold_whole_pixels_only(first, length, factor, size):
    inside = [
        pixel for pixel in range(size) if first <= pixel * factor and (pixel + 1) * factor <= first + length
    ]
    if inside:
        found = binned_range("rows", (first, first + length), factor, size)
        assert list(range(*found)) == inside
    else:
        with pytest.raises(UsageError, match="hold no whole pixel"):
            binned_range("rows", (first, first + length), factor, size)
