"""Time a whole reconstruction by one worker that overlaps its stages, and by one that does not.

One Dask worker makes all chunks of a plan, one at a time and three at once, in turns; the scan lies in the
page cache. Beside the wall time stand the sums of the stages: with one at a time, what each takes alone.

Run it from the top of the repository::

    python -m benchmarks overlap --angles 900 --rows 256 --columns 1024 --threads 2 --repeat 3
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from distributed import Client, LocalCluster

from benchmarks.chain import layouts, make_target, write_scan
from benchmarks.reconstruct import describe
from runner.tomo.chunk import Job, process_chunk
from runner.tomo.dispatch import resources_of, run_chunks
from runner.tomo.pipeline import plan_for, setup_of
from runner.tomo.plan import Plan
from runner.tomo.settings import Settings

_STAGES = ("read", "reconstruct", "write")


@dataclass(frozen=True)
class Run:
    """One reconstruction, milliseconds for a slice; the load is that of the machine, when it began.

    On two cores, no way of doing it can take less than half of the processor time.
    """

    at_once: int
    wall: float
    processor: float
    read: float
    reconstruct: float
    write: float
    load: float


def main() -> None:
    """Measure, print a Markdown table, and write it and JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--angles", type=int, default=900)
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--layout", choices=list(layouts(1, 1)), default="contiguous")
    parser.add_argument("--output", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.output) as folder:
        runs, plan = measure(options, Path(folder))
    about = describe() | {"chunks": f"{len(plan.chunks)} of {plan.chunks[0].rows} rows"}
    table = "\n".join([*table_of(runs), "", *(f"- {key}: {value}" for key, value in about.items())])
    print(table)
    (options.output / "overlap.md").write_text(table + "\n")
    results = {"about": about, "runs": [asdict(run) for run in runs]}
    (options.output / "overlap.json").write_text(json.dumps(results, indent=1))


def measure(options: argparse.Namespace, folder: Path) -> tuple[list[Run], Plan]:
    """Reconstruct again and again on one worker."""
    storage = layouts(-(-options.rows // 4), options.columns)[options.layout]
    scan = write_scan(folder / "scan.h5", options.angles, options.rows, options.columns, storage)
    settings = Settings(center=(options.columns - 1) / 2)
    with (
        LocalCluster(n_workers=1, threads_per_worker=options.threads, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        plan = plan_for(scan, settings, resources_of(client))
        job = Job(
            scan=scan,
            setup=setup_of(scan, plan, float(settings.center), settings),
            target=make_target(folder / "volume", 0, options.rows, options.columns),
            scale=1.0,
            reuse=plan.at_once > 1,
        )
        reconstruct(client, job, plan, 1)  # also compiles
        kinds = sorted({1, plan.at_once})
        return [reconstruct(client, job, plan, kind) for _ in range(options.repeat) for kind in kinds], plan


def reconstruct(client: Client, job: Job, plan: Plan, at_once: int) -> Run:
    """Make all chunks."""
    load, used, began = os.getloadavg()[0], processor_time(client), time.perf_counter()
    work = functools.partial(process_chunk, job)
    results, failures, _ = run_chunks(client, work, plan.chunks, at_once=at_once)
    wall, used = time.perf_counter() - began, processor_time(client) - used
    if failures:
        raise SystemExit(str(failures[0].cause))
    sums = [sum(result.seconds[stage] for result in results) for stage in _STAGES]
    times = (1e3 * seconds / plan.work.rows for seconds in (wall, used, *sums))
    return Run(at_once, *times, load=load)


def processor_time(client: Client) -> float:
    """Ask the worker's process what it has used so far, seconds."""
    (seconds,) = client.run(time.process_time).values()
    return float(seconds)


def table_of(runs: Sequence[Run]) -> list[str]:
    """Write medians (and the least wall time) as Markdown."""
    names = ("wall", "processor", *_STAGES, "load")
    lines = [f"| chunks at once | {' | '.join(names)} | least wall |", "|---" * 8 + "|"]
    for at_once in sorted({run.at_once for run in runs}):
        own = [run for run in runs if run.at_once == at_once]
        medians = [statistics.median(getattr(run, name) for run in own) for name in names]
        cells = [*medians, min(run.wall for run in own)]
        lines.append(f"| {at_once} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    return lines


if __name__ == "__main__":
    main()
