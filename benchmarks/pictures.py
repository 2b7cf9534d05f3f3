"""Pictures of real scans before and after each correction, and what it did in numbers.

    python -m benchmarks pictures FOLDER_OF_SCANS FOLDER_FOR_PICTURES

Each picture shows a slice, the same one corrected, and what was taken away. Where the scan tells no energy
and no distance, phase retrieval is left out.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from PIL import Image
from scipy.ndimage import median_filter

from runner.clusters import cluster
from runner.tomo.pipeline import reconstruct
from runner.tomo.scan import open_scan
from runner.tomo.settings import Settings, read_rings
from runner.tomo.volume.hdf5 import DATASET

_SHOWN = 220  # pixels of a slice, about the rotation axis
_COLORS = 64  # greys of a picture, so that it stays small


#: What is switched on, as on the command line.
CORRECTIONS: Mapping[str, Mapping[str, Any]] = {
    "--zingers 0.2": {"zingers": 0.2},
    "--rings sorting": {"rings": read_rings("rings", "sorting")},
    "--rings sorting:size=5": {"rings": read_rings("rings", "sorting:size=5")},
    "--rings all": {"rings": read_rings("rings", "all")},
    "--delta-beta 10": {"delta_beta": 10.0},
}


def corrections_for(scan: Path) -> dict[str, Mapping[str, Any]]:
    """Return those that a scan allows."""
    about = open_scan(scan)
    physics = about.energy and about.distance and about.pixel_size
    return {words: how for words, how in CORRECTIONS.items() if physics or "delta_beta" not in how}


def middle_slice(scan: Path, options: Mapping[str, Any], client: Client) -> np.ndarray:
    """Reconstruct the middle row: (y, x) float32, 1/pixel."""
    row = open_scan(scan).rows // 2
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(rows=(row, row + 1), units="1/pixel", **options)
        volume = reconstruct(scan, Path(folder) / "volume.h5", settings, client).volume
        with h5py.File(volume) as file:
            return file[DATASET][0]


def from_axis(one: np.ndarray) -> np.ndarray:
    """Return the distance of each pixel of a slice from the rotation axis, pixels."""
    middle = (len(one) - 1) / 2
    y, x = np.ogrid[: len(one), : len(one)]
    return np.hypot(y - middle, x - middle)


def rings_in(one: np.ndarray) -> float:
    """Measure rings: the roughness of the mean along circles about the axis, 1/pixel."""
    radii = np.rint(from_axis(one)).astype(int).ravel()
    means = np.bincount(radii, one.ravel()) / np.maximum(np.bincount(radii), 1)
    means = means[5 : int(0.45 * len(one))]
    return float(np.std(means - median_filter(means, 9)))


def spread_in(one: np.ndarray) -> float:
    """Measure noise and structure: the standard deviation within the field of view, 1/pixel."""
    return float(np.std(one[from_axis(one) < 0.45 * len(one)]))


def draw(path: Path, title: str, before: np.ndarray, after: np.ndarray) -> None:
    """Draw a slice before and after, on the same greys, and the difference on its own."""
    middle, half = len(before) // 2, min(_SHOWN, len(before)) // 2
    part = np.s_[middle - half : middle + half, middle - half : middle + half]
    low, high = np.percentile(before[part], (0.5, 99.5))
    taken = before - after
    most = max(float(np.percentile(np.abs(taken[part]), 99.8)), 1e-12)
    panels = ((before, "before", low, high), (after, "after", low, high), (taken, "taken away", -most, most))
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.8), dpi=100, layout="constrained")
    for axis, (pixels, name, lowest, highest) in zip(axes, panels, strict=True):
        axis.imshow(pixels[part], "gray", vmin=lowest, vmax=highest, interpolation="nearest")
        axis.set_title(f"{name}: {lowest:.2g} .. {highest:.2g}", fontsize=8)
        axis.set_axis_off()
    figure.suptitle(title, fontsize=9)
    figure.savefig(path)
    plt.close(figure)
    Image.open(path).convert("L").quantize(_COLORS).save(path, optimize=True)


def main() -> None:
    """Make them all, and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scans", type=Path)
    parser.add_argument("pictures", type=Path)
    options = parser.parse_args()
    options.pictures.mkdir(exist_ok=True)
    print("| scan | correction | rings | spread | most taken away |")
    print("|---|---|---|---|---|")
    with cluster("local", n_workers=1, threads_per_worker=2, processes=False) as client:
        for scan in sorted(
            path for path in options.scans.rglob("*") if path.suffix in (".nx", ".h5", ".nxs")
        ):
            before = middle_slice(scan, {}, client)
            print(f"| {scan.stem} | none | {rings_in(before):.3g} | {spread_in(before):.3g} | |")
            for words, how in corrections_for(scan).items():
                after = middle_slice(scan, how, client)
                name = re.sub("[^a-z0-9]+", "-", f"{scan.stem}{words}")
                draw(options.pictures / f"{name}.png", f"{scan.stem}, middle row: {words}", before, after)
                numbers = (rings_in(after), spread_in(after), float(np.abs(before - after).max()))
                print(f"| {scan.stem} | {words} |", " | ".join(f"{value:.3g}" for value in numbers), "|")


if __name__ == "__main__":
    main()
