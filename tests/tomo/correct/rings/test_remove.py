"""Each method against its author's program, on stripes of its kind, and with nothing to do."""

import tracemalloc

import algotom.prep.removal as algotom
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from runner.tomo.choice import parse_choice
from runner.tomo.correct.rings import smooth, vo
from runner.tomo.correct.rings.methods import METHODS
from runner.tomo.correct.rings.remove import bytes_per_pixel, remove_rings

NAMES = [name for name in METHODS if name != "none"]
MULTIPLYING = ("fitting", "large", "dead", "all")


def chosen(text):
    return parse_choice("rings", text, METHODS)


def clean_sinogram(angles=201, columns=256, seed=1):
    """Smooth structure and noise, no two values of a column alike."""
    random = np.random.default_rng(seed)
    smooth_part = gaussian_filter(random.normal(size=(angles, columns)), 6) * 3
    return (1.5 + smooth_part + random.normal(0, 0.01, (angles, columns))).astype(np.float32)


def stripes(columns=256, seed=2):
    """A number for each column: few stand out, in ones and twos."""
    random = np.random.default_rng(seed)
    offsets = np.zeros(columns, np.float32)
    for place in random.choice(np.arange(8, columns - 8), 8, replace=False):
        offsets[place : place + random.integers(1, 3)] = random.choice([-1, 1]) * random.uniform(0.05, 0.1)
    return offsets


def removed(sinogram, text, threads=1):
    stack = np.array(sinogram, np.float32)[np.newaxis]
    remove_rings(stack, chosen(text), threads=threads)
    return stack[0]


def by_algotom(sinogram, name):
    """The same by Vo's own program, on transmissions where he takes those."""
    methods = {
        "sorting": algotom.remove_stripe_based_sorting,
        "filtering": algotom.remove_stripe_based_filtering,
        "fitting": algotom.remove_stripe_based_fitting,
        "large": algotom.remove_large_stripe,
        "dead": algotom.remove_dead_stripe,
        "all": algotom.remove_all_stripe,
        "mean": lambda sinogram: algotom.remove_stripe_based_normalization(sinogram, sigma=3),
    }
    if name in MULTIPLYING:
        return -np.log(methods[name](np.exp(-sinogram)))
    return methods[name](sinogram)


@pytest.mark.parametrize("name", ["sorting", "mean", "large", "dead", "all"])
def test_it_is_what_its_author_computes(name):
    sinogram = clean_sinogram() + stripes()
    expected = by_algotom(sinogram, name)
    # equal transmissions of a column may be sorted in either order: then a few values change places
    off = np.abs(removed(sinogram, name) - expected)
    assert np.quantile(off, 0.999) < 2e-6
    assert off.max() < 2e-2
    assert np.abs(expected - sinogram).max() > 0.04


@pytest.mark.parametrize("name", ["filtering", "fitting"])
def test_it_is_what_its_author_computes_but_for_his_windows(name):
    """His Gaussian windows lie half a frequency beside zero, where the number of points is even."""
    sinogram = clean_sinogram(angles=300) + stripes()
    expected = by_algotom(sinogram, name)
    assert np.std(removed(sinogram, name) - expected) < 0.06 * np.std(expected - sinogram)


def test_wavelets_are_as_in_algotom_where_its_window_is_centred():
    """It has zero frequency at the wrong place where a level has an even number of rows."""
    sinogram = clean_sinogram(angles=185, columns=250) + stripes(250)
    padded = 185 + 2 * 18
    first = (padded + 17) // 2
    assert first % 2 == 1
    expected = algotom.remove_stripe_based_wavelet_fft(sinogram, level=1)
    found = removed(sinogram, "wavelet-fft:level=1")
    assert np.abs(found - expected).max() < 1e-5
    assert np.abs(expected - sinogram).max() > 0.02


def test_titarenkos_correction_is_the_least_that_makes_the_mean_smooth():
    sinogram = clean_sinogram() + stripes()
    found = removed(sinogram, "titarenko:alpha=0.01")
    mean = sinogram.mean(axis=0, dtype=float)
    steps = np.diff(np.eye(len(mean)), axis=0)
    best = np.linalg.solve(steps.T @ steps + 0.01 * np.eye(len(mean)), -steps.T @ steps @ mean)
    assert np.abs(found - sinogram - best).max() < 1e-6


def test_titarenkos_formula_as_published_in_algotom_is_near():
    """There it is as if the columns began one step further on, which matters little for a small alpha."""
    sinogram = clean_sinogram() + stripes()
    published = -np.log(algotom.remove_stripe_based_regularization(np.exp(-sinogram), 0.0005))
    off = np.std(removed(sinogram, "titarenko:alpha=0.0005") - published)
    assert off < 0.04 * np.std(published - sinogram)


@pytest.mark.parametrize("name", NAMES)
def test_stripes_go_and_the_rest_stays(name):
    clean = clean_sinogram()
    striped = clean + stripes()
    found = removed(striped, name)
    assert found.shape == clean.shape
    assert np.isfinite(found).all()
    # what the columns have in common, but not with their neighbours
    ripple = [np.diff((sinogram - clean).mean(axis=0)).std() for sinogram in (found, striped)]
    assert ripple[0] < 0.5 * ripple[1]


def test_dead_columns_are_bridged():
    clean = clean_sinogram()
    dead = clean.copy()
    dead[:, 100] = np.random.default_rng(5).uniform(0, 6, len(dead))
    found = removed(dead, "dead")
    assert np.abs(found[:, 100] - clean[:, 100]).std() < 0.1 * np.abs(dead[:, 100] - clean[:, 100]).std()


def test_wide_stripes_need_the_large_method():
    clean = clean_sinogram()
    wide = clean.copy()
    wide[:, 100:114] += 0.3
    left = {name: np.abs((removed(wide, name) - clean)[:, 98:116]).mean() for name in ("large", "sorting")}
    assert left["large"] < 0.1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (2, 3), (37, 64), (64, 5)])
def test_odd_sizes_and_sinograms_of_nothing_stay_finite(name, shape):
    for level in (0.0, 1.0):
        found = removed(np.full(shape, level, np.float32), name)
        assert found == pytest.approx(np.full(shape, level), abs=2e-3)


@pytest.mark.parametrize("name", NAMES)
def test_each_sinogram_is_treated_by_itself_by_any_number_of_threads(name):
    stack = np.stack([clean_sinogram(61, 90, seed) + stripes(90, seed) for seed in range(5)])
    together = stack.copy()
    remove_rings(together, chosen(name), threads=3)
    for one, found in zip(stack, together, strict=True):
        assert removed(one, name).tobytes() == found.tobytes()


def test_none_changes_nothing():
    sinogram = clean_sinogram()
    assert removed(sinogram, "none").tobytes() == sinogram.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_its_memory_is_predicted(name):
    stack = clean_sinogram(400, 500)[np.newaxis]
    remove_rings(stack.copy(), chosen(name))
    tracemalloc.start()
    remove_rings(stack, chosen(name))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= bytes_per_pixel(chosen(name)) * stack[0].size + 500_000


@given(snr=st.floats(1, 10), seed=st.integers(0, 1000))
def test_columns_that_stand_out_are_found_and_no_others(snr, seed):
    levels = np.random.default_rng(seed).uniform(0.99, 1.01, 200)
    levels[50], levels[120] = 1.3, 0.7
    assert np.flatnonzero(vo.find_stripes(levels, snr)).tolist() == [50, 120]


def test_without_noise_nothing_stands_out():
    assert not vo.find_stripes(np.ones(100), 3.0).any()
    assert not vo.find_stripes(np.ones(1), 3.0).any()


def test_one_column_has_no_neighbours():
    sinogram = np.ones((3, 1), np.float32)
    smooth.remove_by_regularization(sinogram, alpha=0.1)
    assert (sinogram == 1).all()
