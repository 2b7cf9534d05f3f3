"""Time the reconstruction engine beside others, on one sinogram after the other, in turn.

Each contender runs right after the engine, again and again; a ratio is the median of those pairs, so that a
busy moment hits both alike. Accuracy stands beside every time: against the phantom that the sinograms are
of, and against the exact Fourier sum with the window that makes it as smooth as the contender. "FFT floor"
is the time that the engine's Fourier transforms alone take in Intel's MKL (or SciPy where that is not
installed): what any direct Fourier method has to do as well.

Run it from the top of the repository::

    python -m benchmarks.reconstruct --sizes 512x512 1024x1000 --threads 1 2 --repeat 7 --output build/bench

Contenders that are not installed are named and left out; an environment of their own brings all:
``pip install algotom astra-toolbox scikit-image nabu pyopencl[pocl] mbirjax mkl_fft matplotlib``.
Some use all cores whatever they are told: ``taskset -c 0`` before the command holds them to one.
"""

from __future__ import annotations

import argparse
import functools
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

from benchmarks.reconstruct_accuracy import Errors, Reference, make_problem
from benchmarks.reconstruct_peers import PEERS, AbsentError, Peer, Problem
from benchmarks.reconstruct_plots import plot_slices, plot_times
from runner.tomo.reconstruct import Reconstructor

ENGINE = "runner fourier"
_LONG = 20.0  # seconds for one contender, after which it is not repeated
_LIBRARIES = (
    "numpy", "scipy", "numba", "finufft", "mkl_fft", "algotom", "astra-toolbox", "scikit-image", "nabu",
    "pyopencl", "pocl-binary-distribution", "mbirjax", "jax",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What one contender did with one problem.

    `ratio` is its time over the engine's, of pairs of runs: median, least, most. Times are milliseconds for a
    slice.
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
    errors: Errors | None
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
            problem, reference = make_problem(columns, angles, threads)
            more, images = measure(problem, reference, options.contenders, options.repeat)
            rows += more
    about = describe()
    table = "\n".join([*table_of(rows), "", *(f"- {key}: {value}" for key, value in about.items())])
    print(table)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "reconstruct.md").write_text(table + "\n")
    results = {"about": about, "rows": [asdict(row) for row in rows]}
    (options.output / "reconstruct.json").write_text(json.dumps(results, indent=1))
    try:
        plot_times(rows, ENGINE, options.output / "reconstruct.png")
        plot_slices(images, reference.truth, options.output / "reconstruct-slices.png")  # the last problem's
    except ImportError:
        print("no plots: matplotlib is not installed")


def measure(
    problem: Problem, reference: Reference, contenders: Sequence[str], repeat: int
) -> tuple[list[Row], dict[str, np.ndarray]]:
    """Run all contenders in turn with the engine on one problem; returns a slice of each as well."""
    columns, angles, threads = problem.columns, len(problem.angles), problem.threads
    rows, images = [], {}
    with Reconstructor(angles=problem.angles, columns=columns, padding="zero", threads=threads) as engine:
        slices = engine(problem.sinograms)  # also compiles
        again = functools.partial(engine, out=slices)  # into the same memory, as in a worker
        for name in (ENGINE, *contenders):
            print(f"{columns} x {angles}, {threads} threads: {name} ...", flush=True)
            try:
                peer = Peer(engine, 16) if name == ENGINE else PEERS[name](problem)
            except AbsentError as absent:
                print(f"  {absent}", flush=True)
                continue
            few = (problem.aside if peer.aside else problem.sinograms)[: peer.slices]
            image = peer.run(few)[0]
            pairs, began = [], time.perf_counter()
            while not pairs or (len(pairs) < repeat and time.perf_counter() - began < _LONG):
                pairs.append((timed(again, problem.sinograms), timed(peer.run, few)))
            errors = None
            if peer.makes_images:
                images[name] = reference.align(image, peer)
                errors = reference.errors_of(images[name], peer.window)
            ratios = [theirs[0] / ours[0] for ours, theirs in pairs]
            rows.append(
                Row(
                    columns=columns,
                    angles=angles,
                    threads=threads,
                    name=name,
                    wall=statistics.median(theirs[0] for _, theirs in pairs),
                    cpu=statistics.median(theirs[1] for _, theirs in pairs),
                    ratio=(statistics.median(ratios), min(ratios), max(ratios)),
                    ratio_cpu=statistics.median(theirs[1] / ours[1] for ours, theirs in pairs),
                    runs=len(pairs),
                    errors=errors,
                    note=peer.note,
                )
            )
    return rows, images


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
    titles = (
        "columns, angles", "threads", "contender", "wall, ms", "cpu, ms", "x engine: wall (range)", "cpu",
        "from phantom", "from exact sum", "bias of matrix", "",
    )  # fmt: skip
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for row in rows:
        median, least, most = row.ratio
        spread = "1" if row.name == ENGINE else f"{median:.2f} ({least:.2f} to {most:.2f})"
        wrong = row.errors
        errors = (f"{wrong.phantom:.4f}", f"{wrong.exact:.1e}", f"{wrong.bias:+.1e}") if wrong else ("",) * 3
        cells = [
            f"{row.columns}, {row.angles}", row.threads, row.name, f"{row.wall:.2f}", f"{row.cpu:.2f}",
            spread, f"{row.ratio_cpu:.2f}", *errors, row.note,
        ]  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


if __name__ == "__main__":
    main()
