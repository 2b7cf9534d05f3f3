"""Time the corrections of a sinogram, beside those of algotom and SciPy where they are comparable.

Each contender runs right after ours, again and again. Times are the processor's, milliseconds for a
sinogram: the other programs use as many threads as they like. Those of rings include a copy of the sinogram.
How far results are apart is the root of the mean square of their difference, relative to that of ours.

Run it from the top of the repository::

    python -m benchmarks corrections --angles 900 --columns 1024 --repeat 5
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before NumPy: threads of libraries would blur who uses how many

import numpy as np
import scipy.fft
import scipy.ndimage
from algotom.prep import removal

from benchmarks.reconstruct import describe
from runner.tomo.choice import parse_choice
from runner.tomo.correct.blur import reach
from runner.tomo.correct.flatfield import counts_from, integrals_of
from runner.tomo.correct.phase import Paganin, retrieve
from runner.tomo.correct.rings.methods import METHODS
from runner.tomo.correct.rings.remove import remove_rings
from runner.tomo.correct.unsharp import sharpen
from runner.tomo.correct.zingers import remove_zingers

_ROWS = 64  # what is done to whole projections is done to so many rows at once, and their margins
_DARK, _FLAT = 100, 40_000  # counts
Step = Callable[[], np.ndarray]


@dataclass(frozen=True)
class Contest:
    """One correction: ours, and another program's where there is one; both return what they make."""

    name: str
    ours: Step
    other: str = ""
    theirs: Step | None = None
    sinograms: int = 1


@dataclass(frozen=True)
class Row:
    """What came of it: medians of the processor's time, milliseconds for a sinogram."""

    name: str
    ours: float
    other: str
    theirs: float | None
    difference: float | None


def main() -> None:
    """Measure, print a Markdown table, and write it and JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--angles", type=int, default=900)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    sinogram = make_sinogram(options.angles, options.columns)
    contests = [*of_rings(sinogram), *of_projections(sinogram)]
    rows = []
    for contest in contests:
        print(f"{contest.name} ...", flush=True)
        rows.append(measure(contest, options.repeat))
    about = describe()
    table = "\n".join([*table_of(rows), "", *(f"- {key}: {value}" for key, value in about.items())])
    print(table)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "corrections.md").write_text(table + "\n")
    results = {"about": about, "rows": [asdict(row) for row in rows]}
    (options.output / "corrections.json").write_text(json.dumps(results, indent=1))


def make_sinogram(angles: int, columns: int) -> np.ndarray:
    """Make line integrals of a disk off the axis, with noise, and stripes in every tenth column."""
    random = np.random.default_rng(3)
    turn = np.deg2rad(np.arange(angles) * 180 / angles)[:, np.newaxis]
    column = np.arange(columns) - (columns - 1) / 2 - 0.1 * columns * np.cos(turn)
    disk = 2 * np.sqrt(np.maximum((0.35 * columns) ** 2 - column**2, 0)) / columns
    stripes = np.where(random.uniform(size=columns) < 0.1, random.normal(0, 0.05, columns), 0)
    return (disk + stripes + random.normal(0, 0.02, disk.shape)).astype(np.float32)


def of_rings(sinogram: np.ndarray) -> list[Contest]:
    """Prepare all methods against rings."""

    def removed(method: str) -> Step:
        choice = parse_choice("rings", method, METHODS)

        def run() -> np.ndarray:
            one = sinogram[np.newaxis].copy()
            remove_rings(one, choice)
            return one[0]

        return run

    def on_transmission(treat: Callable[[np.ndarray], np.ndarray]) -> Step:
        return lambda: -np.log(treat(np.exp(-sinogram)))

    others = {
        "sorting": lambda: removal.remove_stripe_based_sorting(sinogram),
        "filtering": lambda: removal.remove_stripe_based_filtering(sinogram),
        "fitting": on_transmission(removal.remove_stripe_based_fitting),
        "large": on_transmission(removal.remove_large_stripe),
        "dead": on_transmission(removal.remove_dead_stripe),
        "all": on_transmission(removal.remove_all_stripe),
        "wavelet-fft": lambda: removal.remove_stripe_based_wavelet_fft(sinogram),
        "titarenko": lambda: removal.remove_stripe_based_regularization(
            sinogram, alpha=0.2, apply_log=False, sort=False
        ),
        "mean": None,
    }
    return [
        Contest(f"rings: {method}", removed(method), "algotom" if theirs else "", theirs)
        for method, theirs in others.items()
    ]


def of_projections(sinogram: np.ndarray) -> list[Contest]:
    """Prepare what is done to whole projections, on some rows of them; all rows are like this sinogram."""
    angles, columns = sinogram.shape
    few = max(angles // 15, 1)  # time goes with the number of angles
    sinograms = _ROWS * few / angles

    def rows_with(margin: int) -> tuple[np.ndarray, slice]:
        """Make rows for one contender: what they hold after the first run is no matter of time."""
        return np.repeat(sinogram[np.newaxis, :few], _ROWS + 2 * margin, axis=0), slice(
            margin, margin + _ROWS
        )

    counts = (_FLAT * np.exp(-rows_with(0)[0].swapaxes(0, 1))).astype(np.uint16)
    dark, flat = (np.full((_ROWS, columns), level, np.float32) for level in (_DARK, _FLAT))

    def by_numpy() -> np.ndarray:
        transmission = (counts - dark) / (flat - dark)
        return np.ascontiguousarray(-np.log(np.clip(transmission, 1e-6, 10)).swapaxes(0, 1))

    def by_median_filter(stack: np.ndarray, inner: slice) -> np.ndarray:
        for angle in range(few):
            median = scipy.ndimage.median_filter(stack[:, angle], 3, mode="nearest")
            spots = median - stack[:, angle] > np.log1p(np.float32(0.2))
            stack[:, angle][spots] = median[spots]
        return stack[inner]

    contests = [
        Contest(
            "flat, dark, logarithm",
            lambda: integrals_of(counts_from(counts, np.arange(few) + 0.5, dark, [flat], [0.0])),
            "NumPy", by_numpy, sinograms,
        ),
        Contest(
            "zingers",
            partial(remove_zingers, *rows_with(1), 0.2),
            "SciPy's median", partial(by_median_filter, *rows_with(1)), sinograms,
        ),
        Contest(
            "unsharp, sigma 1",
            partial(sharpen, *rows_with(reach(1.0)), sigma=1.0, coeff=2.0), sinograms=sinograms,
        ),
    ]  # fmt: skip
    for distance in (0.03, 0.17):
        physics = Paganin(delta_beta=300.0, energy=20.0, distance=distance, pixel_size=1e-6)
        rows = rows_with(physics.margin)
        contests.append(
            Contest(
                f"phase, margins of {physics.margin} rows",
                partial(retrieve, rows[0].copy(), rows[1], physics),
                "SciPy's FFT", partial(by_fft, *rows, physics), sinograms,
            )
        )  # fmt: skip
    return contests


def by_fft(sinograms: np.ndarray, inner: slice, physics: Paganin) -> np.ndarray:
    """Retrieve the phase by a two-dimensional transform of each projection, mirrored to twice its columns."""
    height, _, columns = sinograms.shape
    down, across = (2 - 2 * np.cos(2 * np.pi * scipy.fft.fftfreq(n)) for n in (2 * height, 2 * columns))
    response = 1 / (1 + physics.length**2 * (down[:, np.newaxis] + across[: columns + 1])).astype(np.float32)
    result = np.empty((inner.stop - inner.start, *sinograms.shape[1:]), np.float32)
    for angle in range(sinograms.shape[1]):
        mirrored = np.pad(np.exp(-sinograms[:, angle]), ((0, height), (0, columns)), mode="symmetric")
        waves = scipy.fft.rfft2(mirrored)
        waves *= response
        result[:, angle] = -np.log(scipy.fft.irfft2(waves, mirrored.shape)[inner, :columns])
    return result


def measure(contest: Contest, repeat: int) -> Row:
    """Take both in turn; the first time, which also compiles, is not counted."""
    difference, ours = None, contest.ours()
    if contest.theirs is not None:
        difference = float(np.linalg.norm(contest.theirs() - ours) / np.linalg.norm(ours))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeat):
        for run, spent in zip((contest.ours, contest.theirs), times, strict=True):
            if run is not None:
                began = time.process_time()
                run()
                spent.append((time.process_time() - began) / contest.sinograms * 1e3)
    ours, *theirs = (statistics.median(spent) for spent in times if spent)
    return Row(contest.name, ours, contest.other, theirs[0] if theirs else None, difference)


def table_of(rows: list[Row]) -> list[str]:
    """Write the rows as Markdown."""

    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    titles = ("correction", "ours, ms", "beside", "theirs, ms", "times ours", "apart")
    return [
        "| " + " | ".join(titles) + " |",
        "|---" * len(titles) + "|",
        *(
            f"| {row.name} | {row.ours:.2f} | {row.other} | {number(row.theirs, '.1f')} | "
            f"{number(row.theirs and row.theirs / row.ours, '.1f')} | {number(row.difference, '.1e')} |"
            for row in rows
        ),
    ]


if __name__ == "__main__":
    main()
