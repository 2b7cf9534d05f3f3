"""The numbers of whole volumes: those of a known object, and nabu's."""

import numpy as np
import pytest
from scipy.ndimage import binary_erosion, gaussian_filter

from runner.tomo.correct.flatfield import corrected_sinograms
from runner.tomo.phantom import voxelise
from runner.tomo.pipeline import reconstruct
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings
from runner.tomo.simulate import Settings as Simulation
from runner.tomo.simulate import write_scan

from .conftest import pixels


def test_every_part_of_the_phantom_has_its_attenuation(tmp_path, client):
    scan = tmp_path / "scan.nx"
    truth = write_scan(scan, Simulation(rows=32, columns=192, angles=320, noise=False))
    outcome = reconstruct(scan, tmp_path / "volume.h5", Settings(), client)
    assert outcome.axis.position == pytest.approx(truth.detector.center, abs=0.05)
    volume = pixels(outcome.volume)
    sizes = {"slices": 32, "size": 192, "pixel": truth.detector.pixel}
    right = voxelise(truth.ellipsoids, **sizes)
    for ellipsoid in truth.ellipsoids:
        whole = voxelise([ellipsoid], **sizes) == np.float32(ellipsoid.attenuation)
        flat = np.abs(right - np.median(right[whole])) < 1e-5
        core = binary_erosion(whole & flat, iterations=2)
        assert core.sum() > 100
        assert volume[core].mean() == pytest.approx(right[core].mean(), rel=5e-3)


@pytest.mark.parametrize("name", ["tooth_nxtomo.nx", "tooth_dxchange.h5"])
def test_the_tooth_is_nabus(shared_data, tmp_path, client, name):
    scan = shared_data / "scans" / name
    found = reconstruct(scan, tmp_path / "found.h5", Settings(), client)
    assert found.axis.position == pytest.approx(296, abs=0.5)
    with np.load(shared_data / "oracle/nabu_tooth.npz") as oracle:
        nabu = np.stack([oracle["slice0"], oracle["slice1"]])
    check_against_nabu(scan, nabu, 296, None, 260, tmp_path, client)


def test_row_67_of_savu24737_is_nabus(shared_data, tmp_path, client):
    scan = shared_data / "scans/savu24737_nxtomo.nx"
    found = reconstruct(scan, tmp_path / "found.h5", Settings(), client)
    assert 85.5 <= found.axis.position <= 86.25
    assert found.shape == (135, 160, 160)
    with np.load(shared_data / "oracle/nabu_savu24737_row67.npz") as oracle:
        nabu = oracle["slice67"][np.newaxis]
    check_against_nabu(scan, nabu, 86, "67:68", 70, tmp_path, client, ends=(0, 90))


def check_against_nabu(scan, nabu, center, rows, radius, folder, client, ends=None):
    """Compare with nabu, which counts in full both of two ends of a scan that show the same."""
    volumes = {}
    for method in ("fbp", "fourier"):
        settings = Settings(center=center, method=method, rows=rows, units="1/pixel")
        outcome = reconstruct(scan, folder / f"{method}.h5", settings, client)
        volumes[method] = pixels(outcome.volume)
        if ends is not None:
            volumes[method] += half_of(scan, np.array(ends), center, rows, method)
    y, x = np.mgrid[: nabu.shape[1], : nabu.shape[2]] - (nabu.shape[1] - 1) / 2
    inside = np.hypot(x, y) < radius
    for index, reference in enumerate(nabu):
        assert nrmse(volumes["fbp"][index], reference, inside) < 2e-4
        smooth = gaussian_filter(volumes["fourier"][index], 2)
        assert nrmse(smooth, gaussian_filter(reference, 2), inside) < 1e-2
        assert smooth[inside].mean() == pytest.approx(gaussian_filter(reference, 2)[inside].mean(), rel=2e-4)


def half_of(path, projections, center, rows, method):
    """Make half of what some projections add to the slices."""
    scan = open_scan(path)
    sinograms = corrected_sinograms(scan, slice(*map(int, rows.split(":"))), chosen=projections)
    weights = np.full(len(projections), np.pi / (scan.projections.count - 1) / 2)
    angles = scan.angles[projections]
    with Reconstructor(
        angles=angles, columns=scan.columns, center=center, method=method, weights=weights
    ) as make:
        return make(sinograms)


def nrmse(image, reference, where):
    return np.linalg.norm((image - reference)[where]) / np.linalg.norm(reference[where])
