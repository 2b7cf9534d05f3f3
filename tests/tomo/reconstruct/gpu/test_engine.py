"""The GPU's engine, with NumPy for CuPy and its own kernel on the CPU, against the CPU's engine."""

import numpy as np
import pytest

from runner.errors import UsageError
from runner.tomo.correct.flatfield import counts_from, integrals_of
from runner.tomo.counts import Counts
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.devices import takes_counts
from runner.tomo.reconstruct.gpu.device import is_there
from runner.tomo.reconstruct.gpu.engine import make_engine
from runner.tomo.reconstruct.gpu.layout import device_bytes, host_bytes
from runner.tomo.reconstruct.gridding.memory import sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.options import Options
from tests.tomo.reconstruct.gpu.stand_in import StandIn

OPTIONS = {"window", "cutoff", "padding", "quality"}


def noise(slices, angles, columns):
    return np.random.default_rng(slices).normal(size=(slices, angles, columns)).astype(np.float32)


def counted(slices, angles, columns, kind=np.uint16):
    """Counts with a beam that drifts, and a pixel that sees none of it."""
    random = np.random.default_rng(slices)
    projections = random.integers(30, 200, (angles, slices, columns)).astype(kind)
    dark = random.uniform(5, 30, (slices, columns)).astype(np.float32)
    flats = list(random.uniform(180, 250, (2, slices, columns)).astype(np.float32))
    flats[0][0, columns // 2] = 0
    gains = random.uniform(0.9, 1.1, angles).astype(np.float32)
    return counts_from(projections, np.arange(angles) + 0.5, dark, flats, [0.0, float(angles)], gains=gains)


def on_cpu(sinograms, **options):
    options = {"angles": np.arange(sinograms.shape[1]) * 180 / sinograms.shape[1]} | options
    with Reconstructor(columns=sinograms.shape[2], **options) as reconstruct:
        return reconstruct(sinograms), reconstruct.geometry


def on_gpu(rays, geometry, device, memory=np.inf, **options):
    chosen = {name: value for name, value in options.items() if name in OPTIONS}
    engine = make_engine(geometry, Options(memory=memory, **chosen), device)
    slices = np.full((len(rays), *geometry.shape), np.nan, np.float32)
    make = engine.from_counts if isinstance(rays, Counts) else engine
    make(rays, slices)
    lanes = engine.lanes
    engine.close()
    return slices, lanes


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((3, 60, 64), {}),
        ((35, 7, 20), {"padding": "zero"}),
        ((2, 41, 51), {"quality": "high", "center": 23.3, "window": "hann", "cutoff": 0.8}),
        ((2, 31, 40), {"size": 57, "region": ((3, 50), (20, 31))}),
        ((2, 30, 40), {"angles": np.arange(30) ** 3 + 0.5, "shifts": np.sin(range(30)), "weights": "gaps"}),
        ((2, 72, 40), {"angles": np.arange(72) * 5.0 + 1, "half_acquisition": True, "center": 31.4}),
        ((1, 1, 1), {}),
        ((2, 130, 3), {}),
    ],
)  # fmt: skip
def test_the_slices_are_those_of_the_cpu(kernels, shape, options):
    sinograms = noise(*shape)
    expected, geometry = on_cpu(sinograms, **options)
    slices, _ = on_gpu(sinograms, geometry, StandIn(kernels), **options)
    assert difference(slices, expected) < 1e-6  # what is promised is 1e-4; this is rounding


def test_points_just_between_cells_differ_within_the_engines_error(kernels):
    """A line along v whose points touch five cells, and might as well touch the five beside them.

    The row u = 0 is then not quite its own mirror image. The CPU's transform of two rows of a slice at once
    lets a trace of that into the other row; the GPU's transform of one real row does not.
    """
    sinograms = noise(1, 1, 40)
    expected, geometry = on_cpu(sinograms, angles=[90.0], region=((3, 37), (0, 40)))
    slices, _ = on_gpu(sinograms, geometry, StandIn(kernels))
    assert difference(slices, expected) < 1e-4


def difference(slices, expected):
    return np.linalg.norm(slices - expected) / np.linalg.norm(expected)


def test_no_bit_depends_on_how_many_slices_go_at_once_nor_on_neighbours(kernels):
    sinograms = noise(9, 23, 30)
    sinograms[3] *= 1e6
    _, geometry = on_cpu(sinograms)
    expected, lanes = on_gpu(sinograms, geometry, StandIn(kernels))
    assert lanes == 32
    sizes = sizes_of(23, 30, (30, 30), QUALITIES["standard"])
    on_host, on_device = host_bytes(23, 30, (30, 30), 8), device_bytes(sizes, 30, (30, 30), 1)
    for device, memory, fewer in (
        (StandIn(kernels), on_host, 8),
        (StandIn(kernels, memory=on_device), np.inf, 1),
    ):
        slices, lanes = on_gpu(sinograms, geometry, device, memory)
        assert lanes == fewer
        np.testing.assert_array_equal(slices, expected)
    alone, _ = on_gpu(sinograms[5:6], geometry, StandIn(kernels))
    np.testing.assert_array_equal(alone, expected[5:6])


@pytest.mark.parametrize(
    ("shape", "kind", "options"),
    [
        ((35, 71, 20), np.uint16, {}),
        ((2, 9, 30), np.uint8, {"padding": "zero"}),
        ((2, 9, 31), np.float32, {"quality": "high", "center": 13.3}),
        ((2, 72, 40), np.int32, {"angles": np.arange(72) * 5 + 1, "half_acquisition": True, "center": 31.4}),
    ],
)  # fmt: skip
def test_counts_become_the_slices_of_their_sinograms(kernels, shape, kind, options):
    counts = counted(*shape, kind)
    sinograms = integrals_of(counts)
    expected, geometry = on_cpu(sinograms, **options)
    slices, _ = on_gpu(counts, geometry, StandIn(kernels), **options)
    assert difference(slices, expected) < 1e-6
    of_sinograms, _ = on_gpu(sinograms, geometry, StandIn(kernels), **options)
    np.testing.assert_array_equal(slices, of_sinograms)


def test_counts_cross_as_they_are_stored(kernels):
    """Through the same room as sinograms, by turns: neither leaves anything in it."""
    counts, device, crossed = counted(35, 10, 12), StandIn(kernels), []
    sinograms = integrals_of(counts)
    plain = device.upload
    device.upload = lambda host, array: crossed.append(host.nbytes) or plain(host, array)
    expected, geometry = on_cpu(sinograms)
    engine = make_engine(geometry, Options(), device)
    first, then, last = (np.full_like(expected, np.nan) for _ in range(3))
    engine.from_counts(counts, first)
    engine(sinograms, then)
    engine.from_counts(counts, last)
    for slices in (first, then, last):
        assert difference(slices, expected) < 1e-6
    assert [sum(crossed[i : i + 2]) for i in (0, 2, 4)] == [35 * 10 * 12 * size for size in (2, 4, 2)]
    assert len(device.layouts) == 2  # one kernel for counts, one for the grid


def test_little_shared_memory_makes_smaller_tiles(kernels):
    sinograms = noise(2, 40, 50)
    expected, geometry = on_cpu(sinograms)
    device = StandIn(kernels, shared=49_152)
    slices, _ = on_gpu(sinograms, geometry, device)
    assert device.layouts[0]["TILE_ROWS"] == 8
    np.testing.assert_allclose(slices, expected, atol=1e-5 * np.abs(expected).max())


def test_where_memory_is_full_fewer_slices_go_on(kernels, caplog):
    sinograms = noise(9, 23, 30)
    _, geometry = on_cpu(sinograms)
    expected, _ = on_gpu(sinograms, geometry, StandIn(kernels))
    sizes = sizes_of(23, 30, (30, 30), QUALITIES["standard"])
    device = StandIn(kernels, array=8 * sizes.rows * sizes.along * 8)
    slices, lanes = on_gpu(sinograms, geometry, device)
    np.testing.assert_array_equal(slices, expected)
    assert (lanes, device.trimmed) == (8, 2)
    assert "8 slices at once from now on" in caplog.text


@pytest.mark.parametrize("counts", [None, counted(11, 10, 12)], ids=["sinograms", "counts"])
def test_memory_that_becomes_full_on_the_way_loses_no_slice(kernels, counts):
    """The third group does not fit any more; two are on their way."""
    sinograms = noise(11, 10, 12) if counts is None else integrals_of(counts)
    _, geometry = on_cpu(sinograms)
    expected, _ = on_gpu(sinograms, geometry, StandIn(kernels))
    device = StandIn(kernels)
    engine = make_engine(geometry, Options(memory=1), device)
    engine._lanes = 4
    slices = np.full_like(expected, np.nan)
    uploads = []
    plain = device.upload

    def upload(host, array):
        uploads.append(len(host))
        if len(uploads) == 3:
            raise MemoryError
        plain(host, array)

    device.upload = upload
    engine(sinograms, slices) if counts is None else engine.from_counts(counts, slices)
    np.testing.assert_array_equal(slices, expected)
    assert uploads == [4, 4, 3, 2, 1]
    assert engine.lanes == 2


def test_a_gpu_that_cannot_hold_a_slice_is_named(kernels):
    _, geometry = on_cpu(noise(1, 5, 8))
    with pytest.raises(UsageError, match="a single slice needs more memory than the GPU has free"):
        on_gpu(noise(1, 5, 8), geometry, StandIn(kernels, array=100))


def test_a_plan_is_made_once_and_given_back(kernels):
    sinograms = noise(2, 5, 8)
    expected, geometry = on_cpu(sinograms)
    device = StandIn(kernels)
    engine = make_engine(geometry, Options(), device)
    for _ in range(3):
        slices = np.empty_like(expected)
        engine(sinograms, slices)
    np.testing.assert_allclose(slices, expected, atol=1e-5)
    assert len(device.layouts) == 1
    engine.close()
    assert device.closed
    assert engine._plan is None


@pytest.mark.skipif(is_there(), reason="there is a GPU")
def test_without_a_gpu_it_says_so_or_the_cpu_does_it():
    with pytest.raises(UsageError, match="no GPU can be used here"):
        Reconstructor(angles=[0.0, 90.0], columns=8, device="gpu")
    sinograms = noise(2, 5, 8)
    slices, _ = on_cpu(sinograms, device="auto")
    np.testing.assert_array_equal(slices, on_cpu(sinograms)[0])


def test_what_is_not_for_a_gpu_is_told():
    counts = counted(1, 5, 8)
    with Reconstructor(angles=np.arange(5), columns=8) as reconstruct:
        with pytest.raises(UsageError, match="only a GPU makes slices of counts; give sinograms"):
            reconstruct.from_counts(counts)
        with pytest.raises(UsageError, match="the plan is for"):
            reconstruct.from_counts(counted(1, 6, 8))


def test_a_reconstructor_takes_counts_and_masks_the_slices(kernels, monkeypatch):
    monkeypatch.setattr("runner.tomo.reconstruct.gpu.engine.CudaDevice", lambda: StandIn(kernels))
    counts, options = counted(2, 30, 40), {"angles": np.arange(30) * 6 + 1, "columns": 40, "mask": True}
    with Reconstructor(**options) as cpu, Reconstructor(**options, device="gpu") as gpu:
        expected, slices = cpu(integrals_of(counts)), gpu.from_counts(counts)
        with pytest.raises(UsageError, match="a GPU makes no slices of float64 counts"):
            gpu.from_counts(counted(2, 30, 40, np.float64))
    assert difference(slices, expected) < 1e-6
    assert not slices[:, gpu.outside].any()


@pytest.mark.parametrize("kind", ["u1", "u2", ">u2", "i2", "i4", "u4", "f4", ">f4", "f8", "u8", "?"])
def test_what_takes_counts(kind):
    pixels = np.dtype(kind)
    assert takes_counts("gpu", "fourier", pixels) == (
        pixels.itemsize <= 4 and pixels.isnative and kind != "?"
    )
    assert not takes_counts("cpu", "fourier", pixels)
    assert not takes_counts("auto", "fbp", pixels)
    assert takes_counts("auto", "fourier", pixels) == (is_there() and takes_counts("gpu", "fourier", pixels))


@pytest.mark.gpu
@pytest.mark.skipif(not is_there(), reason="no GPU")
def test_on_a_real_gpu_the_slices_are_those_of_the_cpu():
    sinograms = noise(40, 60, 64)
    expected, _ = on_cpu(sinograms)
    slices, _ = on_cpu(sinograms, device="gpu")
    assert difference(slices, expected) < 1e-4


@pytest.mark.gpu
@pytest.mark.skipif(not is_there(), reason="no GPU")
def test_on_a_real_gpu_counts_become_the_slices_of_their_sinograms():
    counts = counted(40, 60, 64)
    with Reconstructor(angles=np.arange(60) * 3.0, columns=64, device="gpu") as reconstruct:
        expected, slices = reconstruct(integrals_of(counts)), reconstruct.from_counts(counts)
    assert difference(slices, expected) < 1e-6


def test_other_methods_have_no_gpu():
    with pytest.raises(UsageError, match="the method fbp does not run on a GPU"):
        Reconstructor(angles=[0.0, 90.0], columns=8, method="fbp", device="gpu")
