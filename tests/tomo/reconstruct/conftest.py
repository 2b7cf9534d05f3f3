"""Sinograms of the real scans by the oracles' conventions, read without the project's own readers."""

from dataclasses import dataclass
from pathlib import Path

import finufft
import h5py
import numpy as np
import pytest

from runner.tomo.reconstruct.filters import ramp

DIRECT = ("fourier", "exact", "fbp")
"""Methods that compute the filtered backprojection sum; those that take steps have tests of their own."""


@dataclass(frozen=True)
class Case:
    sinograms: np.ndarray  # (slice, angle, column)
    angles: np.ndarray
    center: float
    nabu: list[np.ndarray]
    radius: float
    intervals: int  # of the angles: one less than angles where the ends meet

    @property
    def disk(self):
        return disk(self.nabu[0].shape[0], self.radius)


def disk(size, radius):
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    return np.hypot(x, y) < radius


def nrmse(image, reference, where):
    difference = image[where].astype(float) - reference[where]
    return np.linalg.norm(difference) / np.linalg.norm(reference[where].astype(float))


def exact_fbp(
    sinogram, degrees, center, *, length, padding, intervals=None, size=None, weights=None, response=None
):
    """The filtered backprojection sum in double precision; nothing shared with the methods but the ramp.

    `center` and `weights` may differ from angle to angle.
    """
    angles, columns = sinogram.shape
    theta = np.deg2rad(degrees)
    size = size or columns
    padded = np.pad(sinogram.astype(float), ((0, 0), (0, length - columns)))
    if padding == "edge":
        turn = columns + (length - columns) // 2
        padded[:, columns:turn], padded[:, turn:] = sinogram[:, -1:], sinogram[:, :1]
    omega = 2 * np.pi * np.arange(length // 2 + 1) / length
    doubled = np.where((omega == 0) | np.isclose(omega, np.pi), 1, 2)
    response = ramp(length) if response is None else response
    centers = np.broadcast_to(center, angles)[:, np.newaxis]
    spectrum = np.fft.rfft(padded) * response * doubled * np.exp(1j * omega * centers)
    spectrum *= np.broadcast_to(np.pi / (intervals or angles) if weights is None else weights, angles)[
        :, None
    ]
    x, y = np.outer(np.cos(theta), omega), np.outer(-np.sin(theta), omega)
    offset = size // 2 - (size - 1) / 2
    spectrum *= np.exp(1j * offset * (x + y))
    image = finufft.nufft2d1(
        y.ravel(), x.ravel(), spectrum.ravel(), (size, size), isign=1, eps=1e-9, nthreads=1
    )
    return image.real / length


def _attenuation(projections, flats, darks):
    dark = darks.astype(float).mean(axis=0)
    flat = np.median(flats.astype(float), axis=0)
    transmission = np.clip((projections - dark) / (flat - dark), 1e-6, 10)
    return -np.log(transmission).swapaxes(0, 1).astype(np.float32)


@pytest.fixture(scope="session")
def tooth(shared_data: Path) -> Case:
    with h5py.File(shared_data / "scans/tooth_dxchange.h5") as file:
        group = file["exchange"]
        sinograms = _attenuation(group["data"][:], group["data_white"][:], group["data_dark"][:])
        angles = group["theta"][:]
    with np.load(shared_data / "oracle/nabu_tooth.npz") as oracle:
        nabu = [oracle["slice0"], oracle["slice1"]]
    return Case(sinograms, angles, 296, nabu, 260, 181)


@pytest.fixture(scope="session")
def savu(shared_data: Path) -> Case:
    with h5py.File(shared_data / "scans/savu24737_nxtomo.nx") as file:
        (detector,) = _find(file, "image_key")
        keys, frames = detector["image_key"][:], detector["data"][:, 67:68]
        (sample,) = _find(file, "rotation_angle")
        angles = sample["rotation_angle"][:][keys == 0]
    sinograms = _attenuation(frames[keys == 0], frames[keys == 1], frames[keys == 2])
    with np.load(shared_data / "oracle/nabu_savu24737_row67.npz") as oracle:
        nabu = [oracle["slice67"]]
    return Case(sinograms, angles, 86, nabu, 70, 90)


def _find(file, name):
    found = []
    file.visititems(
        lambda path, item: found.append(item) if isinstance(item, h5py.Group) and name in item else None
    )
    return found[:1]
