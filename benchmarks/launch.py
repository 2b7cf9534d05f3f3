"""Time the start and the stop of a cluster: this launcher beside dask-mpi and SLURMRunner, in turn.

ready: from the start of the launcher (srun, mpirun) until the client sees all workers.
gone:  from the job's last statement until the last process of the job has ended.

Run it from the top of the repository, with nothing else running::

    .venv/bin/python -m benchmarks.launch --repeat 7

It needs what the tests need (`make test`): MPI launchers, and for srun the virtual SLURM.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.conftest import LAUNCHERS
from tests.cluster.mpi import MpiLauncher
from tests.cluster.processes import Command
from tests.cluster.testbed import VirtualSlurm

JOBS = Path(__file__).parent / "launch_jobs"
PYTHON = sys.executable
OURS = [PYTHON, "-m", "runner", "--quiet"]


@dataclass(frozen=True)
class Contender:
    """A way to get a cluster, and the command that does; ``one_rank``: all workers on a single rank."""

    name: str
    launcher: str
    words: tuple[str, ...]
    one_rank: bool = False

    def command(self, ranks: int) -> list[str]:
        """Return the words that start one rank, and as many workers as the others have on all ranks."""
        if not self.one_rank:
            return list(self.words)
        return [*self.words[:-1], "--workers", str(ranks - 2), self.words[-1]]


CONTENDERS = (
    Contender("runner", "srun", (*OURS, str(JOBS / "with_runner.py"))),
    Contender("runner, 1 rank", "srun", (*OURS, str(JOBS / "with_runner.py")), one_rank=True),
    Contender("SLURMRunner", "srun", (PYTHON, str(JOBS / "with_slurm_runner.py"))),
    Contender("runner", "mpich", (*OURS, str(JOBS / "with_runner.py"))),
    Contender("dask-mpi", "mpich", (PYTHON, str(JOBS / "with_dask_mpi.py"))),
    Contender("runner", "openmpi", (*OURS, str(JOBS / "with_runner.py"))),
    Contender("runner, 1 rank", "openmpi", (*OURS, str(JOBS / "with_runner.py")), one_rank=True),
    Contender("dask-mpi", "openmpi", (PYTHON, str(JOBS / "with_dask_mpi.py"))),
)


def measure(
    contender: Contender, ranks: int, slurm: VirtualSlurm | None, folder: Path
) -> Mapping[str, float]:
    """Run one contender once."""
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if not LAUNCHERS.match(name)} | {
        "BENCH_RESULT": str(result),
        "BENCH_RANKS": str(ranks),
        "BENCH_SCHEDULER_FILE": str(folder / "scheduler"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    words = contender.command(ranks)
    count, hosts = (1, 1) if contender.one_rank else (ranks, 4)
    started = time.time()
    if contender.launcher == "srun":
        command = slurm.start(["srun", f"-N{hosts}", f"-n{count}", *words], env=environment, cwd=folder)
    else:
        mpi = MpiLauncher(contender.launcher)
        command = Command([*mpi.argv(count), *words], env=environment | mpi.environment, cwd=folder)
    with command:
        finished = command.wait(timeout=120, gone_within=30)
        ended = time.time()
    if finished.returncode != 0:
        sys.exit(f"{contender}: exit code {finished.returncode}\n{finished.stderr}")
    times = json.loads(result.read_text())
    return {
        "ready": times["ready"] - started,
        "gone": ended - times["last"],
        "workers": times["workers"],
        "lines": len(finished.stderr.splitlines()),
        "tracebacks": finished.stderr.count("Traceback"),
    }


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--ranks", type=int, nargs="+", default=[4, 8, 16])
    parser.add_argument("--launchers", nargs="+", default=["srun", "mpich", "openmpi"])
    options = parser.parse_args()
    contenders = [entry for entry in CONTENDERS if entry.launcher in options.launchers]
    slurm = VirtualSlurm() if "srun" in options.launchers else None
    print("| launcher | ranks | contender | workers | ready, s | gone, s | stderr lines | tracebacks |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for ranks in options.ranks:
            runs = {contender: [] for contender in contenders}
            for _ in range(options.repeat):  # in turn, so that a busy moment hits all alike
                for contender in contenders:
                    runs[contender].append(measure(contender, ranks, slurm, Path(folder)))
            for contender, results in runs.items():
                print(row(contender, ranks, results), flush=True)
    if slurm is not None:
        slurm.down()


def row(contender: Contender, ranks: int, results: list[Mapping[str, float]]) -> str:
    """Return a line of the table: median (minimum to maximum)."""

    def spread(name: str) -> str:
        values = [result[name] for result in results]
        return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"

    def largest(name: str) -> int:
        return int(max(result[name] for result in results))

    cells = [
        contender.launcher,
        ranks,
        contender.name,
        largest("workers"),
        spread("ready"),
        spread("gone"),
        largest("lines"),
        largest("tracebacks"),
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
