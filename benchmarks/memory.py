"""Hold the memory that a plan predicts against what a worker takes: real workers, twenty shapes.

For each shape a Dask worker of its own, with the memory limit that the plan was made for, makes the plan's
tallest chunk again and again, as many at once as the plan says. Its peak is the kernel's (``VmHWM``), of the
whole process.

Run it from the top of the repository::

    python -m benchmarks memory
"""

from __future__ import annotations

import argparse
import functools
import json
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from distributed import Client, LocalCluster

from benchmarks.chain import layouts, make_target, write_scan
from benchmarks.reconstruct import describe
from runner.tomo.chunk import Job, process_chunk
from runner.tomo.dispatch import run_chunks
from runner.tomo.pipeline import plan_for, setup_of
from runner.tomo.plan import Resources
from runner.tomo.settings import Settings
from runner.units import format_size

_MIB = 1 << 20
_TIMES = 6  # enough that all stages are busy at once


@dataclass(frozen=True)
class Shape:
    """One case: what is reconstructed, and with what."""

    angles: int
    columns: int
    rows: int
    threads: int = 1
    layout: str = "contiguous"
    method: str = "fourier"
    quality: str = "standard"
    limit: int = 8192  # MiB


SHAPES = (
    Shape(180, 256, 16),
    Shape(900, 512, 16),
    Shape(900, 512, 64),
    Shape(900, 512, 64, threads=2),
    Shape(900, 1024, 16),
    Shape(900, 1024, 64),
    Shape(900, 1024, 64, threads=2),
    Shape(900, 1024, 64, threads=4),
    Shape(1501, 1021, 48),
    Shape(1500, 2048, 16),
    Shape(1500, 2048, 16, threads=2),
    Shape(1500, 2048, 32, threads=2),
    Shape(1500, 2048, 16, limit=1024),
    Shape(3000, 1024, 32),
    Shape(900, 1024, 64, layout="a chunk for each frame"),
    Shape(900, 1024, 64, layout="a chunk for each frame, bitshuffle and LZ4"),
    Shape(900, 1024, 64, layout="a chunk for each frame, gzip and shuffle", threads=2),
    Shape(900, 1024, 32, quality="high"),
    Shape(900, 512, 16, method="exact"),
    Shape(900, 512, 16, method="fbp", threads=2),
)


def main() -> None:
    """Measure, print a Markdown table, and write it and JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("build/bench"))
    parser.add_argument("--cases", type=int, nargs="+", default=range(len(SHAPES)), help="which, from 0")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    rows = []
    for shape in (SHAPES[case] for case in options.cases):
        with tempfile.TemporaryDirectory(dir=options.output) as folder:
            rows.append(measure(shape, Path(folder)))
        print(table_of(rows)[-1], flush=True)
    about = describe()
    table = "\n".join([*table_of(rows), "", *(f"- {key}: {value}" for key, value in about.items())])
    print(table)
    (options.output / "memory.md").write_text(table + "\n")
    (options.output / "memory.json").write_text(json.dumps({"about": about, "rows": rows}, indent=1))


def measure(shape: Shape, folder: Path) -> dict[str, object]:
    """Make a chunk of a shape on a fresh worker: what was predicted, and the worker's peak, bytes."""
    storage = layouts(-(-shape.rows // 4), shape.columns)[shape.layout]
    scan = write_scan(folder / "scan.h5", shape.angles, shape.rows, shape.columns, storage)
    settings = Settings(center=(shape.columns - 1) / 2, method=shape.method, quality=shape.quality)
    resources = Resources(workers=1, memory=shape.limit * _MIB, threads=shape.threads)
    # a worker gets eight chunks at least: of eight times as many rows, chunks are as tall as is wanted here
    plan = plan_for(replace(scan, rows=8 * shape.rows), settings, resources)
    chunk = plan.chunks[0]
    target = make_target(folder / "volume", 0, chunk.rows, shape.columns)
    setup = setup_of(scan, plan, (shape.columns - 1) / 2, settings)
    job = Job(scan=scan, setup=setup, target=target, scale=1.0, reuse=plan.at_once > 1)
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=shape.threads,
            memory_limit=resources.memory,
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        work = functools.partial(process_chunk, job)
        _, failures, _ = run_chunks(client, work, [chunk] * _TIMES, at_once=plan.at_once)
        if failures:
            raise SystemExit(str(failures[0].cause))
        (peak,) = client.run(peak_of_this_process).values()
    return asdict(shape) | {
        "chunk": chunk.rows,
        "at_once": plan.at_once,
        "predicted": plan.memory,
        "peak": peak,
    }


def peak_of_this_process() -> int:
    """Return the most memory that this process ever had, bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise RuntimeError("this kernel tells no VmHWM")


def table_of(rows: list[dict[str, object]]) -> list[str]:
    """Write the rows as Markdown."""
    heads = ("angles x columns", "rows, at once", "threads", "limit", "what", "predicted", "peak", "share")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        what = ", ".join(str(row[name]) for name in ("method", "quality", "layout"))
        predicted, peak = int(str(row["predicted"])), int(str(row["peak"]))
        cells = (
            f"{row['angles']} x {row['columns']}", f"{row['chunk']}, {row['at_once']}", row["threads"],
            f"{row['limit']} MiB", what, format_size(predicted), format_size(peak),
            f"{peak / predicted:.2f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


if __name__ == "__main__":
    main()
