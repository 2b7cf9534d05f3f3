"""Kill all of a map at a random moment, many times, and go on each time: nothing is lost, nothing done twice.

    .venv/bin/python -m tests.cluster.map_kills --kills 100 --seed 1

The same seed makes the same choices; at which instruction they strike is the machine's.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.cluster.processes import Command, Finished, run
from tests.cluster.ways import JOBS, Way

NAME = "killed"


def argv(count: int, seconds: float) -> list[str | Path]:
    """Return the command that makes the map, or goes on with it."""
    return [sys.executable, JOBS / "maps.py", NAME, "local", str(count), str(seconds)]


def strike(way: Way, moment: float, count: int, seconds: float) -> None:
    """Begin or go on, and kill everything after a time, as a power cut does."""
    with Command(argv(count, seconds), cwd=way.folder, env=way.variables) as command:
        end = time.monotonic() + moment
        while time.monotonic() < end and command.running():
            time.sleep(0.005)
        for pid in command.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def times_begun(way: Way) -> dict[str, int]:
    """Return how often each component was begun."""
    files = way.folder.glob("began-*")
    return {f"{int(file.name[6:]):04}": len(file.read_text().splitlines()) for file in files}


def done(way: Way) -> set[str]:
    """Return the components whose value is on disk."""
    return {path.stem for path in way.folder.glob(f"maps/{NAME}/results/[!.]*.ok")}


def kill_again_and_again(way: Way, choose: random.Random, *, kills: int, count: int, seconds: float) -> None:
    """Kill a map many times, then let it come to its end.

    Raises
    ------
    AssertionError
        If a component is begun again whose value was on disk, or a value is missing or wrong in the end.
    """
    (way.folder / "scratch").mkdir()
    for number in range(kills):
        before = {key: times for key, times in times_begun(way).items() if key in done(way)}
        strike(way, choose.uniform(0.2, 2.0), count, seconds)
        now = times_begun(way)
        again = [key for key, times in before.items() if now[key] != times]
        assert not again, f"done before kill {number}, and begun again: {again}"
        assert before.keys() <= done(way), f"lost by kill {number}: {before.keys() - done(way)}"
    before = {key: times for key, times in times_begun(way).items() if key in done(way)}
    finished: Finished = run(argv(count, seconds), timeout=100, cwd=way.folder, env=way.variables)
    total = sum(number**2 for number in range(count))
    assert (finished.returncode, finished.stdout) == (0, f"complete {total}\n"), finished.stderr
    now = times_begun(way)
    assert all(now[key] == times for key, times in before.items())


def main() -> None:
    """Kill as often as is asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=0.02)
    options = parser.parse_args()
    from tests.cluster.conftest import clean_environment

    with tempfile.TemporaryDirectory() as folder:
        way = Way("local", Path(folder), clean_environment())
        kill_again_and_again(
            way,
            random.Random(options.seed),
            kills=options.kills,
            count=options.count,
            seconds=options.seconds,
        )
        begun = times_begun(way)
    twice = sum(times > 1 for times in begun.values())
    print(f"{options.kills} kills, {options.count} components: none lost, none done twice;")
    print(f"{twice} were begun more than once, since a kill interrupted them")


if __name__ == "__main__":
    main()
