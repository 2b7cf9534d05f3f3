"""The line integrals of the GPU's kernel are the CPU's, to the last bit."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.tomo.correct.flatfield import counts_from, integrals_of
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gpu.integration import Integration
from runner.tomo.reconstruct.gpu.layout import COUNT_TYPES
from runner.tomo.reconstruct.gpu.steps import Steps
from runner.tomo.reconstruct.gridding.memory import sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.gridding.tables import make_tables
from tests.tomo.reconstruct.gpu.stand_in import StandIn


def padded(counts, some, device, shares, *, edge):
    """Make lines of some angles: by the kernel, and by the CPU."""
    angles, _, columns = counts.projections.shape
    geometry = Geometry(angles=tuple(range(angles)), columns=columns, size=1, center=0.0)
    sizes = sizes_of(angles, columns, geometry.shape, QUALITIES["standard"])
    tables = make_tables(geometry, sizes, np.ones(sizes.points), QUALITIES["standard"])
    tables = replace(tables, columns=shares)
    kernel = Integration(device, tables, sizes, edge=edge)
    steps = Steps(np, tables, sizes, edge=edge, window=geometry.window)
    found = kernel.of(counts, np.ascontiguousarray(counts.sinograms))(some)
    return found, steps.pad(integrals_of(counts)[:, some])


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_they_are_the_cpus_whatever_the_pixels_and_the_flats(kernels, data):
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(1, 140)))
    kind = data.draw(st.sampled_from(list(COUNT_TYPES)))
    offset = 20_000_000 if kind.name in {"int32", "uint32"} else 0  # float32 does not hold every count then
    projections = (random.uniform(0, 250, shape) * random.choice([1e-3, 1, 1], shape) + offset).astype(kind)
    if kind.kind == "f":
        projections[random.uniform(size=shape) < 0.05] = random.choice([np.nan, np.inf, -np.inf])
    dark = random.uniform(offset, offset + 30, shape[1:]).astype(np.float32)
    count = data.draw(st.integers(1, 3))
    flats = random.uniform(offset + 100, offset + 240, (count, *shape[1:])).astype(np.float32)
    flats[random.uniform(size=flats.shape) < data.draw(st.sampled_from([0, 0.1, 0.9, 1]))] = 0
    places = st.integers(0, 2 * shape[0]).map(lambda place: place / 2)
    positions = sorted(data.draw(st.lists(places, min_size=count, max_size=count, unique=True)))
    gains = data.draw(st.sampled_from([None, random.uniform(0.5, 2, shape[0]).astype(np.float32)]))
    counts = counts_from(projections, np.arange(shape[0]) + 0.5, dark, list(flats), positions, gains=gains)
    first = data.draw(st.integers(0, shape[0] - 1))
    shares = random.uniform(size=shape[2]).astype(np.float32)
    found, expected = padded(
        counts, slice(first, shape[0]), StandIn(kernels), shares, edge=data.draw(st.booleans())
    )
    np.testing.assert_array_equal(found, expected)
    assert np.isfinite(found).all()


def test_every_transmission_has_the_cpus_logarithm(kernels):
    x = np.geomspace(1e-7, 11, 20_000).astype(np.float32)
    x = np.concatenate([x, np.nextafter(np.float32(1), [0, 2], dtype=np.float32), [np.float32(1)]])
    ones = np.ones((1, x.size), np.float32)
    counts = counts_from(x[np.newaxis, np.newaxis], np.array([0.5]), 0 * ones, [ones], [0.0])
    found, expected = padded(counts, slice(0, 1), StandIn(kernels), ones[0], edge=True)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [slice(0, 2), slice(1, 4), slice(3, 4)])
def test_counts_are_cut_as_their_sinograms_are(rows):
    random = np.random.default_rng(2)
    projections = random.integers(30, 200, (5, 4, 7)).astype(np.uint16)
    flats = list(random.uniform(200, 250, (2, 4, 7)).astype(np.float32))
    counts = counts_from(projections, np.arange(5) + 0.5, 0 * flats[0], flats, [0.0, 5.0])
    assert len(counts[rows]) == len(counts[rows].sinograms) == rows.stop - rows.start
    np.testing.assert_array_equal(integrals_of(counts[rows]), integrals_of(counts)[rows])
