"""Scans of random objects in noise, with an axis anywhere: for the tests, and by hand for hundreds of them.

``python -m tests.tomo.axis.random_scans 200`` prints how far the axis that is found lies from the true one.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.errors import ScanError
from runner.tomo.axis.find import judge
from runner.tomo.axis.finding import AxisEstimate
from runner.tomo.axis.opposite import compare, count
from runner.tomo.axis.pairs import opposite_pairs
from runner.tomo.phantom import Detector, Ellipsoid, project

ROWS = 6
TURNS = ((180, False), (180, True), (200, True), (360, False), (360, True))


@dataclass(frozen=True, kw_only=True)
class RandomScan:
    sinograms: NDArray[np.float32]  # (row, angle, column)
    angles: NDArray[np.float64]
    center: float


def random_scan(seed: int) -> RandomScan:
    """Make 6 rows of 90 to 400 columns, 60 to 400 angles from any start, 300 to 30 000 photons a pixel.

    The axis lies up to 40 % of the columns off the middle. From the seed follow the turn, with or without its
    end, odd or even columns, a body around the grains, and whether a full turn shows more than its half.
    """
    random = np.random.default_rng(seed)
    turn, endpoint = TURNS[seed % 5]
    columns = int(random.integers(45, 200)) * 2 + seed % 2
    center = (columns - 1) / 2 + random.uniform(-0.4, 0.4) * columns
    number = int(random.integers(60, 400))
    angles = random.uniform(-360, 360) + np.linspace(0, turn, number, endpoint=endpoint)
    near, far = sorted((center / columns, (columns - 1 - center) / columns))
    wide = turn == 360 and seed % 10 >= 5  # half acquisition
    reach = random.uniform(near, far) if wide else near * random.uniform(0.5, 1.3)
    ellipsoids = [
        Ellipsoid(
            center=(*(reach * random.uniform(-0.6, 0.6, 2)), random.uniform(-0.5, 0.5) * ROWS / columns),
            half_axes=tuple(reach * random.uniform(0.05, 0.3, 3)),
            turn=random.uniform(0, 180),
            attenuation=random.uniform(0.3, 3),
        )
        for _ in range(6)
    ]
    if seed % 3 == 0:
        ellipsoids.append(Ellipsoid(center=(0, 0, 0), half_axes=(reach, 0.9 * reach, 3), attenuation=0.4))
    detector = Detector(rows=ROWS, columns=columns, pixel=1 / columns, center=center)
    photons = 10 ** random.uniform(2.5, 4.5)
    return RandomScan(
        sinograms=noisy(project(ellipsoids, angles, detector), photons, random), angles=angles, center=center
    )


def noisy(projections, photons, random):
    """Count photons: line integrals (angle, row, column) become those measured, (row, angle, column)."""
    counted = np.clip(random.poisson(photons * np.exp(-projections)) / photons, 1e-6, 10)
    return -np.log(counted).astype(np.float32).swapaxes(0, 1)


def ballots(sinograms, angles):
    """Let opposite views vote in three bands of two rows."""
    pairs = opposite_pairs(angles)
    numbers = np.unique([n for pair in pairs for view in (pair.first, pair.second) for n in view.numbers])
    few = sinograms[:, numbers]
    return pairs, tuple(
        compare(pairs, slice(row, row + 2), few[row : row + 2], numbers) for row in range(0, ROWS, 2)
    )


def estimate(scan: RandomScan) -> AxisEstimate:
    pairs, votes = ballots(scan.sinograms, scan.angles)
    return judge(count(votes, (ROWS - 1) / 2), pairs, scan.sinograms, np.zeros(ROWS), scan.angles)


def main(number: int) -> None:
    errors, confidences = [], Counter()
    for seed in range(number):
        scan = random_scan(seed)
        try:
            found = estimate(scan)
        except ScanError as error:
            print(seed, error)
            continue
        errors.append(abs(found.position - scan.center))
        confidences[found.confidence] += 1
    rms = np.sqrt(np.mean(np.square(errors)))
    print(f"{len(errors)} of {number} found, error at most {max(errors):.3f} columns, rms {rms:.3f}")
    print(", ".join(f"{name}: {times}" for name, times in confidences.items()))


if __name__ == "__main__":
    main(int(sys.argv[1]))
