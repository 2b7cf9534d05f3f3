"""Phase retrieval against its formula in double precision, and on a simulated edge of known thickness."""

import math

import numpy as np
import pytest
from scipy import fft
from scipy.ndimage import gaussian_filter1d

from runner.tomo.correct.phase import Paganin, retrieve

PHYSICS = Paganin(delta_beta=100.0, energy=20.0, distance=0.05, pixel_size=2e-6)
DEEP = 40  # rows of the edge, carried on


def formula(integrals, length):
    """The filter on the whole projection at once, mirrored at its sides and carried on above and below."""
    padded = np.pad(np.exp(-integrals.astype(float)), ((20 * DEEP, 20 * DEEP), (0, 0)), mode="edge")
    down, across = (2 - 2 * np.cos(np.pi * np.arange(count) / count) for count in padded.shape)
    waves = fft.dctn(padded) / (1 + length**2 * (across + down[:, np.newaxis]))
    return -np.log(fft.idctn(waves))[20 * DEEP : -20 * DEEP]


@pytest.fixture(scope="module", name="sinograms")
def _sinograms():
    random = np.random.default_rng(4)
    return random.uniform(0, 2, (96, 3, 50)).astype(np.float32)


@pytest.mark.parametrize("distance", [1e-5, 0.05, 1.0, 100.0])
def test_it_is_the_formula(sinograms, distance):
    physics = Paganin(delta_beta=100.0, energy=20.0, distance=distance, pixel_size=2e-6)
    found = retrieve(sinograms.copy(), slice(0, 96), physics, threads=2)
    expected = np.stack([formula(sinograms[:, angle], physics.length) for angle in range(3)], axis=1)
    assert np.abs(found - expected).max() < 2e-5


def test_its_reach_follows_from_the_physics():
    wavelength = 6.62607015e-34 * 299792458 / (20e3 * 1.602176634e-19)
    assert PHYSICS.length == pytest.approx(
        math.sqrt(wavelength * 0.05 * 100 / (4 * math.pi)) / 2e-6, rel=1e-6
    )
    assert PHYSICS.margin == 32


def test_no_bit_depends_on_the_rows_that_are_read_together(sinograms):
    assert PHYSICS.margin == 32
    whole = retrieve(sinograms.copy(), slice(0, 96), PHYSICS)
    for first, end in ((0, 16), (16, 32), (48, 96), (80, 96), (32, 64)):
        above, below = max(first - 32, 0), min(end + 32, 96)
        inner = slice(first - above, end - above)
        part = retrieve(sinograms[above:below].copy(), inner, PHYSICS, threads=3)
        assert part.tobytes() == whole[first:end].tobytes()


def test_more_than_the_margin_changes_next_to_nothing(sinograms):
    """What is cut off of the kernel is its hundred-thousandth part."""
    whole = retrieve(sinograms.copy(), slice(0, 96), PHYSICS)
    expected = formula(sinograms[:, 0], PHYSICS.length)
    assert np.abs(whole[:, 0] - expected).max() < 1e-5 * np.ptp(expected)


def test_the_mean_transmission_is_kept_and_a_flat_one_is_untouched():
    flat = np.full((32, 2, 20), 0.7, np.float32)
    assert retrieve(flat, slice(0, 32), PHYSICS) == pytest.approx(np.full((32, 2, 20), 0.7), abs=1e-6)


def test_the_thickness_of_a_simulated_edge():
    """A plate of a millimetre, its shadow propagated by Fresnel's integral on eight points for a pixel."""
    delta, beta, thickness, fine = 2e-7, 1e-9, 1e-3, 8
    physics = Paganin(delta_beta=delta / beta, energy=20.0, distance=0.05, pixel_size=1e-6)
    wavelength = 1.239841984e-9 / 20
    step = np.repeat([0.0, thickness, 0.0], [384 * fine, 768 * fine, 384 * fine])
    plate = gaussian_filter1d(step, 4 * fine)
    wave = np.exp(-2 * np.pi / wavelength * (beta + 1j * delta) * plate)
    frequency = fft.fftfreq(len(plate), 1e-6 / fine)
    shadow = np.abs(fft.ifft(fft.fft(wave) * np.exp(-1j * np.pi * wavelength * 0.05 * frequency**2))) ** 2
    counts = shadow.reshape(-1, fine).mean(axis=1)
    measured = np.tile(-np.log(counts), (64, 1))[:, np.newaxis].astype(np.float32)
    assert np.ptp(measured) > 1.3 * 4 * np.pi * beta / wavelength * thickness  # the fringes
    found = retrieve(measured, slice(0, 64), physics)[30, 0] / (4 * np.pi * beta / wavelength)
    true = plate.reshape(-1, fine).mean(axis=1)
    off, inside = np.abs(found - true) / thickness, np.abs(np.gradient(true)) < 1e-4 * thickness
    assert off[inside].max() < 0.01
    assert off.max() < 0.04  # in the edge, which is as steep as two pixels
    assert np.sum(found) == pytest.approx(np.sum(true), rel=1e-3)
