"""Kill a random process of a small job at a random moment, many times: it ends soon, and its code is true.

    .venv/bin/python -m tests.cluster.random_kills --way local --runs 200 --seed 1

The same seed makes the same choices; at which instruction they strike is the machine's.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.processes import Command
from tests.cluster.ways import JOBS, Way

RESULT = "sum 780\n"
_CHAINED = re.compile(r"\n\n(The above exception was|During handling of the above).*\n\nTraceback")
_OVER = 1.1  # times its duration: some blows come when the job is over
_ENDS_WITHIN = 30.0


@dataclass(frozen=True, slots=True)
class Blow:
    """What was killed, when, and what came of it."""

    moment: float
    victim: str
    code: int
    complete: bool

    @property
    def untrue(self) -> str:
        """Why the exit code is a lie; empty if it is not."""
        if self.code == 0 and not self.complete:
            return "exit code 0, but the job's result is not there"
        if self.code != 0 and (not self.victim or self.victim.startswith("runner worker")):
            return f"exit code {self.code}, but nothing was killed that cannot be replaced"
        return ""


def strike(way: Way, choose: random.Random, longest: float, *, ranks: int = 3) -> Blow:
    """Run the job once, kill one of its processes within `longest` seconds, and wait until all of it is gone.

    Raises
    ------
    AssertionError
        If it does not end in time, leaves a process or a scratch folder, or prints a traceback of ours.
    """
    moment = choose.uniform(0, longest)
    with way.start("--start-timeout", "20s", JOBS / "adds.py", ranks=ranks) as command:
        time.sleep(moment)
        victim = _kill_one(command, choose)
        try:
            # a rank that is just starting notices nothing before it has, however long that takes here
            finished = command.wait(timeout=_ENDS_WITHIN, gone_within=max(2.0, longest))
        except AssertionError as error:
            raise AssertionError(f"after the end of {victim!r} at {moment:.2f} s: {error}") from None
    blow = Blow(round(moment, 2), victim, finished.returncode, RESULT in finished.stdout)
    problem = blow.untrue or ("a traceback of ours" if _has_our_traceback(finished.stderr) else "")
    if problem:
        raise AssertionError(f"{problem}: {blow}\n{finished.stdout}{finished.stderr}")
    return blow


def _has_our_traceback(text: str) -> bool:
    """Whether there is a traceback that does not come from a line of the job."""
    _, *tracebacks = _CHAINED.sub("", text).split("Traceback (most recent call last)")
    return any("adds.py" not in traceback for traceback in tracebacks)


def _kill_one(command: Command, choose: random.Random) -> str:
    """Kill any process of the job, its launcher and theirs included; none if it is over."""
    processes = sorted((pid, line) for pid, line in command.processes().items() if not _is_tool(line))
    if not processes:
        return ""
    pid, line = choose.choice(processes)
    with suppress(ProcessLookupError, FileNotFoundError):  # it ended meanwhile
        name = (Path("/proc") / str(pid) / "comm").read_text().strip()
        os.kill(pid, signal.SIGKILL)
        return name if name.startswith("runner") else f"{name}: {line[:60]}"
    return ""


def _is_tool(line: str) -> bool:
    """Whether a process is the testbed's, or Intel's script around its mpirun, which is not missed."""
    return any(word in line for word in ("nsenter", "tb-exec", "sbatch-", "tail -n", "sleep ", "/bin/sh "))


def strike_often(way: Way, runs: int, seed: int, tell: Callable[[Blow], None] = lambda _: None) -> list[Blow]:
    """Strike many times in one folder; in the end nothing may lie in it.

    Raises
    ------
    AssertionError
        As `strike`, or if a file is left that a start later does not remove.
    """
    choose = random.Random(seed)
    unharmed = way.run(JOBS / "adds.py")
    assert (unharmed.code, unharmed.out) == (0, RESULT), unharmed.err
    blows = []
    for _ in range(runs):
        blows.append(strike(way, choose, _OVER * unharmed.finished.seconds))
        tell(blows[-1])
    way.start_after_a_kill()
    return blows


def summarize(blows: Iterable[Blow]) -> str:
    """Count the exit codes by victim."""
    counts = Counter((blow.victim.partition(":")[0] or "(over)", blow.code) for blow in blows)
    return "\n".join(f"{count:4} {victim:20} -> {code}" for (victim, code), count in sorted(counts.items()))


def main() -> None:
    """Strike, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--way", default="local", choices=["local", "mpich", "openmpi", "impi", "srun"])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    from tests.cluster.conftest import clean_environment, make_way

    with tempfile.TemporaryDirectory() as folder:
        way = make_way(options.way, clean_environment(), Path(folder))
        blows = strike_often(way, options.runs, options.seed, lambda blow: print(blow, flush=True))
    print(f"{len(blows)} runs ({options.way}, seed {options.seed}): all ended in time, every code was true")
    print(summarize(blows))


if __name__ == "__main__":
    main()
