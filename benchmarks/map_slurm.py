"""Time a map of one-second components on a SLURM: one submit of ours, beside submitit and executorlib.

Each contender is a whole program on the login host, from its start to the last value. All get the same cores:
the nodes' CPUs, one for each component. Run it on a login host, as the tests' virtual one::

    tests/testbed/slurm-up
    tests/testbed/tb-exec head .venv/bin/python -m benchmarks.map_slurm --peers peers/bin/python

where `peers` has submitit, executorlib and pysqa.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from benchmarks.programs import ROOT, time_program

NODES, CPUS = 4, 4


def pause(seconds: float) -> float:
    """Stand for a component."""
    time.sleep(seconds)
    return seconds


def with_runner(count: int, seconds: float) -> int:
    import runner

    job = runner.Job("slurm", nodes=NODES, cpus_per_task=CPUS, time="0:20:00")
    made = runner.map(pause, [seconds] * count, name="timed", job=job)
    made.wait(timeout=1200)
    return len(made.values())


def with_submitit(count: int, seconds: float) -> int:
    import submitit

    executor = submitit.AutoExecutor(folder="logs", cluster="slurm")
    executor.update_parameters(timeout_min=20, cpus_per_task=1, slurm_array_parallelism=NODES * CPUS)
    jobs = executor.map_array(pause, [seconds] * count)
    return len([job.result() for job in jobs])


def with_executorlib(count: int, seconds: float) -> int:
    from executorlib import SlurmJobExecutor

    # in an allocation: one process on each core, kept for all components
    with SlurmJobExecutor(max_cores=NODES * CPUS, block_allocation=True) as executor:
        futures = [executor.submit(pause, seconds) for _ in range(count)]
        return len([future.result() for future in futures])


CONTENDERS = {"runner.map": with_runner, "submitit": with_submitit, "executorlib": with_executorlib}


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peers", default=sys.executable, help="a Python that has submitit and executorlib")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--run", choices=CONTENDERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        if CONTENDERS[options.run](options.count, options.seconds) != options.count:
            raise SystemExit(f"{options.run}: not all components were done")
        return
    print("| contender | components | each, s | total, s |\n|---|---|---|---|")
    for name in options.contenders:
        total = timed(name, options.count, options.seconds, options.peers)
        print(f"| {name} | {options.count} | {options.seconds:g} | {total:.1f} |", flush=True)


def timed(name: str, count: int, seconds: float, peers: str) -> float:
    """Return how long a whole program takes that has so many components done."""
    python = sys.executable if name == "runner.map" else os.path.abspath(peers)  # noqa: PTH100
    words = ["--run", name, "--count", str(count), "--seconds", str(seconds)]
    command = [python, "-m", "benchmarks.map_slurm", *words]
    if name == "executorlib":
        command = ["salloc", f"--nodes={NODES}", f"--ntasks={NODES * CPUS}", "--time=20", *command]
    return time_program(name, command, where=ROOT / "build")  # seen by all nodes


if __name__ == "__main__":
    main()
