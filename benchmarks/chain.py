"""Time what a worker does with a chunk: read, correct, reconstruct, write; each stage alone, and all of them.

The frames lie in the page cache and hold noise, in several layouts, each read by our own reader and through
HDF5 in turn. Times are milliseconds for a row of the detector, which becomes a slice: the median and the
least of several runs.

Run it from the top of the repository::

    python -m benchmarks.chain --angles 900 --rows 64 --columns 1024 --threads 1 2 --repeat 7
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before NumPy: threads of libraries would blur who uses how many

import h5py
import hdf5plugin
import numpy as np

from benchmarks.reconstruct import describe
from runner.tomo.chunk import Job, Setup, process_chunk
from runner.tomo.correct.flatfield import counts_from, integrals_of, mean_frame, median_frame
from runner.tomo.plan import Chunk
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.scan import FrameGroup, Frames, Scan
from runner.tomo.scan.read import read_frames
from runner.tomo.volume.slab import Target, write_slab

_FIELDS = 10  # darks, then flats, of each
_DETECTOR = 4  # times as many rows as are read


@dataclass(frozen=True)
class Row:
    """What one step took, milliseconds for a slice: median and least wall time, median processor time."""

    step: str
    threads: int
    wall: float
    least: float
    cpu: float


def main() -> None:
    """Measure, print a Markdown table, and write it and JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--angles", type=int, default=900)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--output", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=options.output) as folder:
        for layout, storage in layouts(options.rows, options.columns).items():
            path = Path(folder) / "scan.h5"
            scan = write_scan(path, options.angles, options.rows * _DETECTOR, options.columns, storage)
            for threads in options.threads:
                print(f"{layout}, {threads} threads ...", flush=True)
                steps = reading(scan, options.rows, layout, threads)
                if layout == "contiguous":
                    steps |= stages(scan, options.rows, Path(folder), threads)
                rows += measure(steps, options.rows, threads, options.repeat)
    about = describe()
    table = "\n".join([*table_of(rows), "", *(f"- {key}: {value}" for key, value in about.items())])
    print(table)
    (options.output / "chain.md").write_text(table + "\n")
    results = {"about": about, "rows": [asdict(row) for row in rows]}
    (options.output / "chain.json").write_text(json.dumps(results, indent=1))


def layouts(rows: int, columns: int) -> Mapping[str, Mapping[str, object]]:
    """How frames are stored; `rows` is a quarter of the detector's."""
    frame = {"chunks": (1, rows * _DETECTOR, columns)}
    return {
        "contiguous": {},
        "a chunk for each frame": frame,
        "chunks of 16 rows": {"chunks": (1, 16, columns)},
        "chunks of HDF5's choice": {"chunks": True},
        "a chunk for each frame, bitshuffle and LZ4": {**frame, **hdf5plugin.Bitshuffle(cname="lz4")},
        "a chunk for each frame, gzip and shuffle": {**frame, "compression": "gzip", "shuffle": True},
    }


def write_scan(path: Path, angles: int, height: int, columns: int, storage: Mapping[str, object]) -> Scan:
    """Write frames of noise: darks, flats, projections."""
    random = np.random.default_rng(1)
    noise = random.normal(0, 150, (4 * _FIELDS, height, columns))
    frames = 2 * _FIELDS + angles
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("frames", (frames, height, columns), np.uint16, **storage)
        for start in range(0, frames, len(noise)):
            some = noise[: frames - start]
            levels = np.arange(start, start + len(some))
            level = np.where(levels < _FIELDS, 1_000, np.where(levels < 2 * _FIELDS, 40_000, 20_000))
            dataset[start : start + len(some)] = some + level[:, np.newaxis, np.newaxis]

    def some_frames(start: int, stop: int) -> Frames:
        return Frames(file=path, dataset="frames", indices=np.arange(start, stop))

    return Scan(
        path=path,
        format="nxtomo",
        entry="/",
        projections=some_frames(2 * _FIELDS, frames),
        angles=np.arange(angles) * 180 / angles,
        darks=(FrameGroup(frames=some_frames(0, _FIELDS), position=0.0),),
        flats=(FrameGroup(frames=some_frames(_FIELDS, 2 * _FIELDS), position=0.0),),
        rows=height,
        columns=columns,
        dtype=np.dtype(np.uint16),
    )


def reading(scan: Scan, rows: int, layout: str, threads: int) -> dict[str, Callable[[], object]]:
    """Both ways of reading the projections, not the first rows of the detector."""
    wanted = slice(rows, 2 * rows)

    def through_hdf5() -> None:
        first = int(scan.projections.indices[0])
        with h5py.File(scan.path, "r", locking=False) as file:
            pixels = np.empty((scan.projections.count, rows, scan.columns), np.uint16)
            file["frames"].read_direct(pixels, np.s_[first:, wanted])

    steps: dict[str, Callable[[], object]] = {
        f"read: {layout}": lambda: read_frames(scan.projections, wanted, threads=threads)
    }
    if threads == 1:  # HDF5 has no use for more
        steps[f"the same through HDF5: {layout}"] = through_hdf5
    return steps


def stages(scan: Scan, rows: int, folder: Path, threads: int) -> dict[str, Callable[[], object]]:
    """Prepare the other stages, each with the input that it has within the whole; and the whole."""
    wanted = slice(rows, 2 * rows)
    projections = read_frames(scan.projections, wanted)
    dark = mean_frame([read_frames(scan.darks[0].frames, wanted)])
    flat = median_frame(read_frames(scan.flats[0].frames, wanted))
    times = np.arange(scan.projections.count) + 0.5

    def correct() -> np.ndarray:
        return integrals_of(counts_from(projections, times, dark, [flat], [0.0]), threads=threads)

    angles, center = scan.angles, (scan.columns - 1) / 2
    engine = Reconstructor(angles=angles, columns=scan.columns, center=center, threads=threads)
    sinograms = correct()
    slices = engine(sinograms)
    target = make_target(folder / "volume", rows, rows, scan.columns)
    setup = Setup(
        angles=tuple(angles.tolist()), columns=scan.columns, center=center,
        method="fourier", window="ram-lak", padding="edge", mask=True,
    )  # fmt: skip
    job = Job(scan=scan, setup=setup, target=target, scale=1.0)
    chunk = Chunk(first_row=rows, end_row=2 * rows)
    return {
        "correct": correct,
        "reconstruct": lambda: engine(sinograms),
        "write, flush, read back": lambda: write_slab(target, rows, slices),
        "the whole chunk": lambda: process_chunk(job, chunk, threads=threads),
    }


def make_target(path: Path, first_row: int, rows: int, size: int) -> Target:
    """Make a file with room for some slices."""
    run = "00000000-0000-0000-0000-000000000000"
    with path.open("wb") as file:
        file.write(run.encode())
        file.truncate(1 << 16 | rows * size**2 * 4)
    return Target(
        path=path, offset=1 << 16, first_row=first_row, shape=(rows, size, size),
        status_offset=1 << 12, checksum_offset=1 << 13, run=run, run_offset=0,
        clipped_offset=1 << 14, clipped_checksum_offset=1 << 15,
    )  # fmt: skip


def measure(steps: Mapping[str, Callable[[], object]], rows: int, threads: int, repeat: int) -> list[Row]:
    """Take all steps in turn, again and again."""
    walls: dict[str, list[float]] = {step: [] for step in steps}
    cpus: dict[str, list[float]] = {step: [] for step in steps}
    for run in steps.values():  # also compiles
        run()
    for _ in range(repeat):
        for step, run in steps.items():
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            walls[step].append((time.perf_counter() - wall) / rows * 1e3)
            cpus[step].append((time.process_time() - cpu) / rows * 1e3)
    return [
        Row(step, threads, statistics.median(walls[step]), min(walls[step]), statistics.median(cpus[step]))
        for step in steps
    ]


def table_of(rows: list[Row]) -> list[str]:
    """Write the rows as Markdown."""
    return [
        "| step | threads | wall, ms | least | cpu, ms |",
        "|---" * 5 + "|",
        *(
            f"| {row.step} | {row.threads} | {row.wall:.2f} | {row.least:.2f} | {row.cpu:.2f} |"
            for row in rows
        ),
    ]


if __name__ == "__main__":
    main()
