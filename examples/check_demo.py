"""Check the volume of a simulated scan against the object that it was made from, and draw it.

    python examples/check_demo.py demo/scan.nx demo/volume.h5 demo/slices.png

Away from edges a reconstruction shows the attenuation itself, so the mean over each material must come
out right; single voxels carry the photon noise of the scan. Ends with 1 if a material deviates.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import h5py
import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from runner.tomo.phantom import voxelise
from runner.tomo.simulate import read_truth

Volume = NDArray[np.float32]

EDGE = 3  # voxels beside an edge, where no reconstruction from a finite number of views is exact
TOLERANCE = 0.005  # of the attenuation
FLOOR = 0.002  # 1/cm, for the air
ENOUGH = 100  # voxels whose mean says something


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("scan", "volume", "picture"):
        parser.add_argument(name, type=Path)
    arguments = parser.parse_args()
    volume = read_volume(arguments.volume)
    truth = true_volume(arguments.scan, volume.shape)
    passed = compare(volume, truth)
    draw(volume, truth, arguments.picture)
    return 0 if passed else 1


def read_volume(path: Path) -> Volume:
    """Read a volume, (slice, y, x), by following the file's own default attributes."""
    with h5py.File(path) as file:
        group = file[file.attrs["default"]]
        group = group[group.attrs["default"]]
        dataset = group[group.attrs["signal"]]
        if dataset.attrs["units"] != "1/cm":
            sys.exit(f"{path} is in {dataset.attrs['units']}, but the object is known in 1/cm")
        return dataset[()]


def true_volume(scan: Path, shape: tuple[int, ...]) -> Volume:
    """Make the volume that a perfect reconstruction would show."""
    truth = read_truth(scan)
    return voxelise(truth.ellipsoids, slices=shape[0], size=shape[1], pixel=truth.detector.pixel)


def compare(volume: Volume, truth: Volume) -> bool:
    """Print a line for each material and tell whether all of them are right."""
    # slices are reconstructed one by one: only edges within them matter
    size = (1, 2 * EDGE + 1, 2 * EDGE + 1)
    pure = (maximum_filter(truth, size) - minimum_filter(truth, size)) < 1e-4
    pure &= inside_the_circle(truth.shape[1])
    materials, counts = np.unique(np.round(truth[pure], 3), return_counts=True)
    print("  true 1/cm   found 1/cm   deviation   noise 1/cm    voxels")
    verdicts = [
        compare_material(volume[pure & np.isclose(truth, m, atol=1e-3)], m)
        for m in materials[counts > ENOUGH]
    ]
    passed = bool(verdicts) and all(verdicts)
    print("PASS: the volume shows the object" if passed else "FAIL: the volume does not show the object")
    return passed


def compare_material(found: Volume, true: float) -> bool:
    """Print the line of one material."""
    mean, noise = float(found.mean()), float(found.std())
    good = abs(mean - true) <= max(TOLERANCE * abs(true), FLOOR)
    deviation = f"{100 * (mean / true - 1):+9.2f} %" if true else f"{mean:+11.4f}"
    verdict = "PASS" if good else "FAIL"
    print(f"{true:11.3f}{mean:13.4f}{deviation}{noise:13.3f}{found.size:10d}   {verdict}")
    return good


def inside_the_circle(size: int) -> NDArray[np.bool_]:
    """Mark the voxels, (y, x), that every view has seen."""
    distance = np.arange(size) - (size - 1) / 2
    return np.hypot(distance[:, np.newaxis], distance) < size / 2 * 0.9


def draw(volume: Volume, truth: Volume, path: Path) -> None:
    """Draw three orthogonal slices, and a profile beside the true one."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    middle = tuple(count // 2 for count in volume.shape)
    colours = {"cmap": "gray", "vmin": -0.2, "vmax": float(truth.max()) * 1.05}
    figure, axes = plt.subplot_mosaic(
        [["yx", "zx"], ["yx", "zy"], ["yx", "profile"]],
        figsize=(11, 5.2),
        height_ratios=(1, 1, 1.7),
        constrained_layout=True,
    )
    views = {
        "yx": (f"slice {middle[0]} (y, x)", volume[middle[0]]),
        "zx": (f"y = {middle[1]} (z, x)", volume[:, middle[1]]),
        "zy": (f"x = {middle[2]} (z, y)", volume[:, :, middle[2]]),
    }
    for name, (title, view) in views.items():
        image = axes[name].imshow(view, **colours)
        axes[name].set_title(title)
    figure.colorbar(image, ax=axes["yx"], label="attenuation (1/cm)", location="left")
    profile = axes["profile"]
    profile.plot(volume[middle[0], middle[1]], label="reconstructed", linewidth=1)
    profile.plot(truth[middle[0], middle[1]], label="true", linewidth=1)
    profile.set(
        title=f"line y = {middle[1]} of slice {middle[0]}", xlabel="x (pixel)", ylabel="attenuation (1/cm)"
    )
    profile.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
