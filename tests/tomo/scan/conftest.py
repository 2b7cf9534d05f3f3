"""Small scans of every kind, written with h5py alone."""

from pathlib import Path

import h5py
import numpy as np
import pytest

KEYS = (2, 2, 1, 1, 0, 0, 0, 0, 1, 1, 1)
ANGLES = (0, 0, 0, 0, 10, 70, 130, 190, 190, 190, 190)
SHAPE = (3, 8)


def frames_of(count, shape=SHAPE):
    return np.arange(count * shape[0] * shape[1], dtype=np.uint16).reshape(count, *shape)


@pytest.fixture
def write_nxtomo(tmp_path):
    def write(
        name="scan.nx", *, keys=KEYS, angles=ANGLES, units="degree", frames=None, change=None, entry="entry"
    ) -> Path:
        path = tmp_path / name
        with h5py.File(path, "a") as file:
            group = file.create_group(entry)
            group["definition"] = "NXtomo"
            group["title"] = "a scan"
            detector = group.create_group("instrument/detector")
            detector["data"] = frames_of(len(keys)) if frames is None else frames
            detector["image_key"] = np.array(keys)
            if angles is not None:
                group["sample/rotation_angle"] = np.array(angles, float)
                if units:
                    group["sample/rotation_angle"].attrs["units"] = units
            if change is not None:
                change(group)
        return path

    return write


@pytest.fixture
def write_dxchange(tmp_path):
    def write(*, theta=(0, 60, 120, 180), change=None) -> Path:
        path = tmp_path / "scan.h5"
        with h5py.File(path, "w") as file:
            group = file.create_group("exchange")
            group["data"], group["data_white"], group["data_dark"] = map(frames_of, (4, 3, 2))
            group["theta"] = np.array(theta, float)
            if change is not None:
                change(group)
        return path

    return write
