"""The double wedge: the energy by one Fourier sum is the energy of Vo's stacked sinogram."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from runner.tomo.axis.half_turns import half_turns
from runner.tomo.axis.wedge import sinogram_finding
from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.phantom import Detector, example, project
from runner.tomo.scan import open_scan

ANGLES = np.arange(90) * 2.0


def sinograms(center, angles=ANGLES):
    detector = Detector(rows=2, columns=80, pixel=1 / 80, center=center)
    return project(example(0.3, 0.1), angles, detector).swapaxes(0, 1)


def outside_energy(sinogram, center):
    """Stack the half turn and its mirror image about a center, transform, and sum outside of the wedge."""
    slopes = gaussian_filter1d(sinogram.astype(float), 1.0, axis=1, order=1, mode="nearest")
    padded = np.zeros((len(slopes), 160))
    padded[:, :80] = slopes
    mirrored = -np.roll(padded[:, ::-1], round(2 * center) - 159, axis=1)
    power = np.abs(np.fft.fft2(np.vstack([padded, mirrored]))) ** 2
    waves = np.fft.fftfreq(180, 1 / 180)[:, np.newaxis]
    return power[np.abs(waves) > np.pi * 80 * np.abs(np.fft.fftfreq(160)) + 1].sum()


def test_the_energy_is_that_of_the_stacked_sinogram():
    sinogram = sinograms(37.5)[0]
    curve = sinogram_finding(sinogram[np.newaxis], ANGLES).curve
    halves = np.arange(10, 70, 0.5)
    energies = np.array([outside_energy(sinogram, center) for center in halves])
    shared = np.interp(halves, curve.centers, curve.scores)
    line = np.polyfit(shared, energies, 1)
    np.testing.assert_allclose(np.polyval(line, shared), energies, rtol=1e-6)
    assert line[0] < 0
    # nothing is left where all is shared
    assert np.polyval(line, 1.0) == pytest.approx(0, abs=1e-3 * energies.max())


@pytest.mark.parametrize("center", [25.0, 37.3, 39.5, 51.8])
@pytest.mark.parametrize(
    "angles", [ANGLES, 33 - ANGLES, np.linspace(0, 180, 91), np.linspace(-90, 90, 91) ** 3 / 8100 + 90,
               np.arange(120) * 3.0]
)  # fmt: skip
def test_the_axis_is_found(center, angles):
    finding = sinogram_finding(sinograms(center, angles), angles)
    assert not finding.doubt
    assert finding.position == pytest.approx(center, abs=0.15)


def test_noise_is_in_doubt():
    noise = np.random.default_rng(0).normal(size=(6, 90, 80)).astype(np.float32)
    assert sinogram_finding(noise, ANGLES).doubt in ("rows differ", "faint")


def test_a_real_scan(shared_data):
    scan = open_scan(shared_data / "scans/tooth_nxtomo.nx")
    finding = sinogram_finding(corrected_sinograms(scan, slice(0, 2)), scan.angles)
    assert finding.position == pytest.approx(296, abs=0.2)


def test_half_turns_of_a_long_scan_overlap():
    angles = np.arange(0, 360, 1.5)
    sinogram = np.repeat(angles[:, np.newaxis], 3, axis=1).astype(np.float32)
    turns = half_turns(sinogram, angles)
    assert len(turns) == 6
    assert all(turn.shape == (120, 3) for turn in turns)
    np.testing.assert_allclose(turns[0][:, 0], angles[:120], atol=1e-4)
    np.testing.assert_allclose(turns[-1][-1, 0], angles[-1], atol=1e-4)
    assert len(half_turns(sinogram[:120], angles[:120])) == 1


def test_half_turns_of_uneven_angles_in_any_order():
    random = np.random.default_rng(0)
    angles = random.permutation(np.sort(random.uniform(5, 200, 400)))
    for turn in half_turns(angles[:, np.newaxis].astype(np.float32), angles):
        steps = np.diff(turn[:, 0])
        np.testing.assert_allclose(steps, 180 / len(turn), atol=0.01)
