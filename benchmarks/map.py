"""Time what a map costs beside its work: per component, and at submission.

``runner.map`` on this machine, side by side with Dask's bare ``client.map`` on the same cluster, with
submitit's local executor and with executorlib's. The last two need a Python that has them::

    python3 -m venv peers; peers/bin/pip install submitit executorlib
    .venv/bin/python -m benchmarks map --peers peers/bin/python

Run it from the top of the repository, with nothing else running.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.programs import time_program

#: How many components of how many seconds. The last two start a process for each of them.
SIZES = {
    "runner.map": ((10_000, 0.0), (10_000, 0.01), (200, 0.1), (40, 1.0)),
    "client.map": ((10_000, 0.0), (10_000, 0.01), (200, 0.1), (40, 1.0)),
    "executorlib": ((100, 0.0), (100, 0.01), (100, 0.1), (40, 1.0)),
    "submitit": ((100, 0.0), (100, 0.01), (100, 0.1), (40, 1.0)),
}
WORKERS = len(os.sched_getaffinity(0))


def pause(seconds: float) -> float:
    """Stand for a component."""
    time.sleep(seconds)
    return seconds


def with_runner(count: int, seconds: float) -> int:
    import runner

    return len(runner.map(pause, [seconds] * count, name="timed", job="local").values())


def with_client(count: int, seconds: float) -> int:
    from distributed import Client

    client = Client()
    return len(client.gather(client.map(pause, [seconds] * count, pure=False)))


def with_submitit(count: int, seconds: float) -> int:
    import submitit

    executor = submitit.AutoExecutor(folder="logs", cluster="local")
    executor.update_parameters(timeout_min=60)
    results = []
    for begin in range(0, count, WORKERS):  # its local executor starts all jobs at once
        jobs = executor.map_array(pause, [seconds] * min(WORKERS, count - begin))
        results += [job.result() for job in jobs]
    return len(results)


def with_executorlib(count: int, seconds: float) -> int:
    from executorlib import SingleNodeExecutor

    with SingleNodeExecutor(max_workers=WORKERS) as executor:
        futures = [executor.submit(pause, seconds) for _ in range(count)]
        return len([future.result() for future in futures])


CONTENDERS = {
    "runner.map": with_runner,
    "client.map": with_client,
    "executorlib": with_executorlib,
    "submitit": with_submitit,
}


def main() -> None:
    """Print Markdown tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peers", default=sys.executable, help="a Python that has submitit and executorlib")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--arguments", type=int, default=100_000, help="for the time of a submission")
    parser.add_argument("--run", nargs=3, metavar=("CONTENDER", "COUNT", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        name, count, seconds = options.run
        if CONTENDERS[name](int(count), float(seconds)) != int(count):
            raise SystemExit(f"{name}: not all components were done")
        return
    print(f"{WORKERS} workers\n\n| contender | components | each, s | total, s | beside the work, ms each |")
    print("|---|---|---|---|---|")
    for name in options.contenders:
        for count, seconds in SIZES[name]:
            total = statistics.median(
                timed(name, count, seconds, options.peers) for _ in range(options.repeat)
            )
            beside = 1000 * (total - count * seconds / WORKERS) / count
            print(f"| {name} | {count} | {seconds:g} | {total:.1f} | {beside:.2f} |", flush=True)
    print()
    print(submission(options.arguments))


def timed(name: str, count: int, seconds: float, peers: str) -> float:
    """Return how long a whole program takes that has so many components done."""
    words = ["-m", "benchmarks.map", "--run", name, str(count), str(seconds)]
    cluster = ["-m", "runner", "--quiet", "--local", "--workers", str(WORKERS), "--threads", "1"]
    command = {
        "runner.map": [sys.executable, *words],
        "client.map": [sys.executable, *cluster, *words],
        "executorlib": [peers, *words],
        "submitit": [peers, *words],
    }[name]
    return time_program(name, command)


def submission(count: int) -> str:
    """Say how long it takes to write a map of many arguments, and how large its folder is."""
    from runner.maps.make import prepare

    with tempfile.TemporaryDirectory() as folder:
        os.environ["RUNNER_MAPS"] = folder
        arguments = [{"scan": f"/data/scans/{number:06}.nx", "center": number / 2} for number in range(count)]
        began = time.perf_counter()
        prepare(pause, arguments, name="timed")
        written = time.perf_counter() - began
        began = time.perf_counter()
        prepare(pause, arguments, name="timed")
        again = time.perf_counter() - began
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
    return (
        f"{count} arguments: written in {written:.1f} s, the same call again {again:.1f} s, "
        f"{len(files)} files of {size / 1e6:.1f} MB together"
    )


if __name__ == "__main__":
    main()
