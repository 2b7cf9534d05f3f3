"""Time what it costs to have chunks handed out by a scheduler, against processes that just take the next one.

In a job of the runner, all chunks of a plan are made in turns by its workers and by as many processes of the
same program without any scheduler, which share nothing but the number of the next chunk. The scan lies in the
page cache. What comes first, to compile and to fill caches, is not counted.

Run it from the top of the repository, with nothing else running::

    python -m benchmarks handout --workers 1 2 4 --rows 1024
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client

from benchmarks.chain import layouts, make_target, write_scan
from benchmarks.reconstruct import describe
from runner.tomo.chunk import Job, process_chunk
from runner.tomo.dispatch import resources_of, run_chunks
from runner.tomo.pipeline import plan_for, setup_of
from runner.tomo.plan import Chunk, Plan, Resources
from runner.tomo.scan import Scan
from runner.tomo.settings import Settings

_PATIENCE = 600.0  # for the processes to have done all chunks, seconds
ANGLES, COLUMNS = 900, 1024


def main() -> None:
    """Run the job for each number of workers, print a Markdown table, and write it and JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--output", type=Path, default=Path("build/bench"))
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)  # of a job: where its folder is
    options = parser.parse_args()
    if options.inside:
        measure(options.inside, options.repeat)
        return
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.output) as folder:
        storage = layouts(options.rows // 4, COLUMNS)["contiguous"]
        scan = write_scan(Path(folder).absolute() / "scan.h5", ANGLES, options.rows, COLUMNS, storage)
        (Path(folder) / "scan.pickle").write_bytes(pickle.dumps(scan))
        rows = [run_job(Path(folder), workers, options.repeat) for workers in options.workers]
    about = describe()
    table = "\n".join([*table_of(rows), "", *(f"- {key}: {value}" for key, value in about.items())])
    print(table)
    (options.output / "handout.md").write_text(table + "\n")
    (options.output / "handout.json").write_text(json.dumps({"about": about, "rows": rows}, indent=1))


def run_job(folder: Path, workers: int, repeat: int) -> dict[str, Any]:
    """Measure in a job with so many workers."""
    job = ["-m", "benchmarks.handout", "--inside", str(folder), "--repeat", str(repeat)]
    subprocess.run([sys.executable, "-m", "runner", "--quiet", "--workers", str(workers), *job], check=True)
    return dict(json.loads((folder / "result.json").read_text()))


def measure(folder: Path, repeat: int) -> None:
    """In the job: time both ways in turn."""
    with Client() as client:
        resources = resources_of(client)
        plan, job = prepare(folder, resources)
        handed_out: list[float] = []
        taken: list[float] = []
        with processes(job, plan, resources) as take_all:
            for number in range(repeat + 1):
                ways = [
                    lambda: handed_out.append(hand_out(client, job, plan)),
                    lambda: taken.append(take_all()),
                ]
                for way in ways if number % 2 else reversed(ways):
                    way()
    result = {
        "workers": resources.workers,
        "threads": resources.threads,
        "chunks": len(plan.chunks),
        "handed out": handed_out[1:],  # the first ones compile, and fill caches
        "taken": taken[1:],
        "load": os.getloadavg()[0],
    }
    (folder / "result.json").write_text(json.dumps(result))


def hand_out(client: Client, job: Job, plan: Plan) -> float:
    """Make all chunks by the workers of the cluster; return how long it took, seconds."""
    began = time.perf_counter()
    work = functools.partial(process_chunk, job)
    _, failures, _ = run_chunks(client, work, plan.chunks, at_once=plan.at_once)
    if failures:
        raise SystemExit(str(failures[0].cause))
    return time.perf_counter() - began


def prepare(folder: Path, resources: Resources) -> tuple[Plan, Job]:
    """Plan the reconstruction of the scan."""
    scan: Scan = pickle.loads((folder / "scan.pickle").read_bytes())
    settings = Settings(center=(COLUMNS - 1) / 2)
    plan = plan_for(scan, settings, resources)
    target = make_target(folder.absolute() / "volume", 0, scan.rows, COLUMNS)
    setup = setup_of(scan, plan, float(settings.center), settings)
    return plan, Job(scan=scan, setup=setup, target=target, scale=1.0, reuse=plan.at_once > 1)


@contextmanager
def processes(job: Job, plan: Plan, resources: Resources) -> Iterator[Any]:
    """Start processes without a scheduler; give a function that has them make all chunks, and times it."""
    context = multiprocessing.get_context("spawn")
    start, end = (context.Barrier(resources.workers + 1) for _ in range(2))
    following = context.Value("i", len(plan.chunks))
    args = (job, plan, resources.threads, following, start, end)
    started = [context.Process(target=work, args=args, daemon=True) for _ in range(resources.workers)]

    def take_all() -> float:
        following.value = 0
        start.wait(_PATIENCE)
        began = time.perf_counter()
        end.wait(_PATIENCE)
        return time.perf_counter() - began

    try:
        for process in started:
            process.start()
        yield take_all
    finally:
        for process in started:
            process.kill()


def work(job: Job, plan: Plan, threads: int, following: Any, start: Any, end: Any) -> None:
    """Take the next chunk until there is none, as many at once as the plan says; again and again."""

    def take(_: int) -> None:
        while (chunk := next_one(plan.chunks, following)) is not None:
            process_chunk(job, chunk, threads=threads)

    with ThreadPoolExecutor(plan.at_once) as pool:
        while True:
            start.wait()
            list(pool.map(take, range(plan.at_once)))
            end.wait(_PATIENCE)


def next_one(chunks: Sequence[Chunk], following: Any) -> Chunk | None:
    """Take the next chunk."""
    with following.get_lock():
        number = following.value
        following.value += 1
    return chunks[number] if number < len(chunks) else None


def table_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Write medians (least) as Markdown; what is added is the median of the ratios of pairs."""
    lines = [
        "| workers | threads of each | chunks | handed out, s | taken, s | added | load |",
        "|---" * 7 + "|",
    ]
    for row in rows:
        ratios = [one / other for one, other in zip(row["handed out"], row["taken"], strict=True)]
        added = f"{100 * (statistics.median(ratios) - 1):+.1f} %"
        times = [
            f"{statistics.median(row[way]):.2f} ({min(row[way]):.2f})" for way in ("handed out", "taken")
        ]
        cells = [row["workers"], row["threads"], row["chunks"], *times, added, f"{row['load']:.1f}"]
        lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    return lines


if __name__ == "__main__":
    main()
