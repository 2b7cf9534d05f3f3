"""Time the reconstruction engine beside others, on one sinogram after the other, in turn.

Each contender runs right after the engine, again and again; a ratio is the median of those pairs, so that a
busy moment hits both alike. Accuracy stands beside every time: against the phantom that the sinograms are
of, and against the exact Fourier sum. "FFT floor" is the time that the engine's Fourier transforms alone take
in Intel's MKL (or SciPy where that is not installed): what any direct Fourier method has to do as well.

Run it from the top of the repository::

    python -m benchmarks.reconstruct --sizes 512x512 1024x1000 --threads 1 2 --repeat 7 --output build/bench

Contenders that are not installed are named and left out:
``pip install algotom astra-toolbox scikit-image mkl_fft matplotlib`` brings all.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before NumPy: threads of libraries would blur who uses how many

import numpy as np

from benchmarks.reconstruct_peers import PEERS, AbsentError, Problem
from runner.tomo.phantom import Detector, example, project, voxelise
from runner.tomo.reconstruct import Reconstructor

ENGINE = "runner fourier"
_LONG = 20.0  # seconds for one contender, after which it is not repeated
_LIBRARIES = ("numpy", "scipy", "numba", "finufft", "mkl_fft", "algotom", "astra-toolbox", "scikit-image")


@dataclass(frozen=True)
class Row:
    """What one contender did with one problem.

    `ratio` is its time over the engine's, of pairs of runs: median, least, most. Times are milliseconds for a
    slice; errors are root mean squares over a disk of 0.97 of the radius, relative.
    """

    columns: int
    angles: int
    threads: int
    name: str
    wall: float
    cpu: float
    ratio: tuple[float, float, float]
    ratio_cpu: float
    runs: int
    error_phantom: float | None
    error_exact: float | None
    bias: float | None
    note: str


def main() -> None:
    """Measure, print a Markdown table, and write JSON, Markdown and a plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["512x512", "1024x1000"], metavar="COLUMNSxANGLES")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--contenders", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--output", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    rows: list[Row] = []
    for size in options.sizes:
        columns, angles = map(int, size.split("x"))
        for threads in options.threads:
            rows += measure(columns, angles, threads, options.contenders, options.repeat)
    about = describe()
    table = "\n".join([*table_of(rows), "", *(f"- {key}: {value}" for key, value in about.items())])
    print(table)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "reconstruct.md").write_text(table + "\n")
    results = {"about": about, "rows": [asdict(row) for row in rows]}
    (options.output / "reconstruct.json").write_text(json.dumps(results, indent=1))
    plot(rows, options.output / "reconstruct.png")


def measure(columns: int, angles: int, threads: int, contenders: Sequence[str], repeat: int) -> list[Row]:
    """Run all contenders in turn with the engine on one problem."""
    problem, truth, matrix = make_problem(columns, angles, threads)
    exact = exact_slice(problem)
    with Reconstructor(angles=problem.angles, columns=columns, padding="zero", threads=threads) as engine:
        image = engine(problem.sinograms)[0]  # also compiles
        ours = [timed(engine, problem.sinograms) for _ in range(repeat)]

        def row(name, runs, ratios, cpu_ratios, image, note) -> Row:
            errors = (None, None, None) if image is None else errors_of(image, truth, exact, matrix)
            walls, cpus = zip(*runs, strict=True)
            return Row(
                columns, angles, threads, name, statistics.median(walls), statistics.median(cpus),
                (statistics.median(ratios), min(ratios), max(ratios)), statistics.median(cpu_ratios),
                len(runs), *errors, note,
            )  # fmt: skip

        rows = [row(ENGINE, ours, [1.0], [1.0], image, "")]
        for name in contenders:
            print(f"{columns} x {angles}, {threads} threads: {name} ...", flush=True)
            try:
                peer = PEERS[name](problem)
            except AbsentError as absent:
                print(f"  {absent}", flush=True)
                continue
            few = problem.sinograms[: peer.slices]
            pairs, image, began = [], peer.run(few), time.perf_counter()
            while not pairs or (len(pairs) < repeat and time.perf_counter() - began < _LONG):
                pairs.append((timed(engine, problem.sinograms), timed(peer.run, few)))
            rows.append(
                row(
                    name,
                    [theirs for _, theirs in pairs],
                    [theirs[0] / mine[0] for mine, theirs in pairs],
                    [theirs[1] / mine[1] for mine, theirs in pairs],
                    image[0] if peer.makes_images else None,
                    peer.note,
                )
            )
    return rows


def make_problem(columns: int, angles: int, threads: int) -> tuple[Problem, np.ndarray, np.ndarray]:
    """Make 16 sinograms of the phantom's middle, its true slice and where that is its matrix, 1/pixel."""
    pixel = 2.0 / columns  # cm
    degrees = np.arange(angles) * 180 / angles
    body = example(0.95, 1.0)
    detector = Detector(rows=1, columns=columns, pixel=pixel, center=(columns - 1) / 2)
    sinogram = project(body, degrees, detector)[:, 0]
    truth = voxelise(body, slices=1, size=columns, pixel=pixel)[0] * pixel
    y, x = np.mgrid[:columns, :columns] - (columns - 1) / 2
    near = np.abs(truth - 0.7 * pixel) < 1e-6 * pixel
    inner = near.copy()
    for axis in (0, 1):  # away from edges, where the sharpness of a method is not its bias
        for step in range(1, columns // 40 + 1):
            inner &= np.roll(near, step, axis) & np.roll(near, -step, axis)
    sinograms = np.repeat(sinogram[np.newaxis], 16, axis=0)
    return Problem(degrees, sinograms, threads), truth, inner & (np.hypot(x, y) < 0.9 * columns / 2)


def exact_slice(problem: Problem) -> np.ndarray:
    """Evaluate the filtered backprojection sum as well as single precision can."""
    with Reconstructor(
        angles=problem.angles, columns=problem.sinograms.shape[2], padding="zero", method="exact"
    ) as exact:
        return exact(problem.sinograms[:1])[0]


def errors_of(
    image: np.ndarray, truth: np.ndarray, exact: np.ndarray, matrix: np.ndarray
) -> tuple[float, float, float]:
    """Compare a slice with the phantom and with the exact sum; and its matrix with what it should be.

    Contenders turn their slices in different ways; the one in which they fare best counts.
    """
    size = len(truth)
    y, x = np.mgrid[:size, :size] - (size - 1) / 2
    disk = np.hypot(x, y) < 0.97 * size / 2

    def relative(found: np.ndarray, right: np.ndarray) -> float:
        return float(np.linalg.norm((found - right)[disk]) / np.linalg.norm(right[disk]))

    turned = [np.rot90(side, turns) for side in (image, image[:, ::-1]) for turns in range(4)]
    best = min(turned, key=lambda candidate: relative(candidate, truth))
    bias = float(best[matrix].mean(dtype=float) / truth[matrix].mean(dtype=float) - 1)
    return relative(best, truth), relative(best, exact), bias


def timed(run: Callable[[np.ndarray], object], sinograms: np.ndarray) -> tuple[float, float]:
    """Take the wall and the processor's time, milliseconds for a slice."""
    wall, cpu = time.perf_counter(), time.process_time()
    run(sinograms)
    count = len(sinograms)
    return (time.perf_counter() - wall) / count * 1e3, (time.process_time() - cpu) / count * 1e3


def describe() -> Mapping[str, str]:
    """Say where and with what this was measured."""
    cpu = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    versions = []
    for library in _LIBRARIES:
        try:
            versions.append(f"{library} {importlib.metadata.version(library)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{library} absent")
    return {
        "machine": f"{cpu}, {os.cpu_count()} cores",
        "load at the end (1, 5, 15 minutes)": ", ".join(f"{load:.1f}" for load in os.getloadavg()),
        "python": platform.python_version(),
        "versions": ", ".join(versions),
    }


def table_of(rows: Sequence[Row]) -> list[str]:
    """Write the rows as Markdown."""

    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    titles = (
        "columns, angles", "threads", "contender", "wall, ms", "cpu, ms", "x engine: wall (range)", "cpu",
        "from phantom", "from exact sum", "bias of matrix", "",
    )  # fmt: skip
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for row in rows:
        median, least, most = row.ratio
        spread = "1" if row.name == ENGINE else f"{median:.2f} ({least:.2f} to {most:.2f})"
        cells = [
            f"{row.columns}, {row.angles}", row.threads, row.name, f"{row.wall:.2f}", f"{row.cpu:.2f}",
            spread, f"{row.ratio_cpu:.2f}", number(row.error_phantom, ".4f"), number(row.error_exact, ".1e"),
            number(row.bias, "+.1e"), row.note,
        ]  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def plot(rows: Sequence[Row], path: Path) -> None:
    """Draw the processor time of all contenders."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    mpl.use("agg")
    from matplotlib import pyplot as plt

    problems = sorted({(row.columns, row.angles) for row in rows})
    figure, panels = plt.subplots(1, len(problems), figsize=(5.2 * len(problems), 4.2), squeeze=False)
    for panel, problem in zip(panels[0], problems, strict=True):
        here = [
            row for row in rows if (row.columns, row.angles) == problem and row.threads == rows[0].threads
        ]
        here.sort(key=lambda row: row.cpu, reverse=True)
        colors = [
            "tab:red" if row.name == ENGINE else "tab:gray" if row.bias is None else "tab:blue"
            for row in here
        ]
        bars = panel.barh([row.name for row in here], [row.cpu for row in here], color=colors)
        panel.bar_label(
            bars, [f"{row.cpu:.3g}" if row.cpu < 100 else f"{row.cpu:.0f}" for row in here], padding=3
        )
        panel.set(
            xscale="log",
            xlabel="processor time, ms for a slice",
            title=f"{problem[0]} columns, {problem[1]} angles",
        )
        panel.set_xlim(right=5 * max(row.cpu for row in here))  # room for the labels
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
