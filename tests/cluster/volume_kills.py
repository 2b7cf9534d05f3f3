"""Kill processes of a reconstruction at random moments until the volume is done: it is as if none had been.

    .venv/bin/python -m tests.cluster.volume_kills --kills 50 --seed 1

For each form of a volume. The same seed makes the same choices; at which instruction they strike is the
machine's.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from runner.tomo.simulate import Settings, write_scan
from tests.cluster.processes import Command, Finished
from tests.cluster.volumes import pixels
from tests.cluster.ways import Way

FORMS = ("volume.h5", "volume.tif", "volume.zarr", "volume.h5d", "volume")
VICTIMS = ("client", "scheduler", "worker", "parent", "all")
ROWS = 64
_LONGEST = 0.9  # times what it takes; even so, some blows come when the job is over
_BESIDE = {"scan.nx", "reference.h5", "scratch", "meet", "status"}


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """A volume that was made without a blow: its pixels, and how long it took to begin and to make it."""

    pixels: np.ndarray
    beginning: float
    making: float


@dataclass(frozen=True, slots=True)
class Blow:
    """Who was killed how long after the start, how the job ended, and whether the volume was there then.

    No victim where the job was over by then; what the job said last where it did not end well.
    """

    victim: str
    moment: float
    code: int
    done: bool
    said: str = ""


def words(name: str) -> list[str]:
    """Return the job: small pixels, so that levels and counts have to be the same too."""
    how = ("--center", "31.5", "--dtype", "uint16", "--greys", "0:0.5")
    return ["--quiet", "reconstruct", "scan.nx", name, *how]


def prepare(way: Way) -> Undisturbed:
    """Make a scan, and a volume without a blow."""
    write_scan(way.folder / "scan.nx", Settings(columns=64, rows=ROWS, angles=60, noise=False))
    assert way.run(*words("warm.h5"), ranks=2, timeout=200).code == 0  # it may have to compile
    (way.folder / "warm.h5").unlink()
    with way.start(*words("reference.h5"), ranks=2) as command:
        beginning = _wait(command, way.folder / "reference.h5.partial", 60)
        finished = command.wait(timeout=60)
    assert finished.returncode == 0, finished.stderr
    return Undisturbed(pixels(way.folder / "reference.h5"), beginning, finished.seconds - beginning)


def strike(way: Way, name: str, choose: random.Random, usual: Undisturbed) -> Blow:
    """Begin a volume or go on with it, kill a process or all of them, and see how the job ends.

    One blow of four comes at any time, the others after there is something of the volume.
    """
    victim, at_any_time = choose.choice(VICTIMS), choose.random() < 0.25
    longest = usual.beginning + usual.making if at_any_time else usual.making
    moment = choose.uniform(0, _LONGEST * longest)
    with way.start(*words(name), ranks=2) as command:
        begun = time.monotonic()
        if not at_any_time:
            _wait(command, way.folder / f"{name}.partial", 60)
        end = time.monotonic() + moment
        while time.monotonic() < end and command.running():
            time.sleep(0.001)
        if not _kill(command, victim):
            victim = ""
        struck = time.monotonic() - begun
        finished = command.wait(timeout=60)
    done = (way.folder / name).exists()
    if finished.returncode == 0:
        check_end(finished, done=done)
        return Blow(victim, round(struck, 2), finished.returncode, done)
    said = [line for line in finished.stderr.splitlines() if line.startswith("runner: ")]
    return Blow(victim, round(struck, 2), finished.returncode, done, " / ".join(said[-3:]))


def check_end(finished: Finished, *, done: bool) -> None:
    """Make sure that a job that says that all went well is right."""
    assert finished.returncode == 0, finished.stderr
    assert done, f"exit code 0, and no volume: {finished.stdout}{finished.stderr}"
    assert f"all {ROWS} slices written and verified" in finished.stdout


def _wait(command: Command, path: Path, longest: float) -> float:
    """Wait until a file is there, or the job over; return how long that took."""
    begun = time.monotonic()
    while not path.exists() and command.running() and time.monotonic() < begun + longest:
        time.sleep(0.001)
    return time.monotonic() - begun


def _kill(command: Command, victim: str) -> bool:
    """Kill a process of a role, or all there are; tell whether there was one."""
    killed = False
    for pid in command.processes():
        with suppress(ProcessLookupError, FileNotFoundError):  # it ended meanwhile
            role = (Path("/proc") / str(pid) / "comm").read_text().strip().removeprefix("runner ")
            if victim == "all" or (not killed and role.startswith(victim[:8])):  # the kernel cuts names
                os.kill(pid, signal.SIGKILL)
                killed = True
    return killed


def kill_until_done(way: Way, name: str, choose: random.Random, usual: Undisturbed) -> list[Blow]:
    """Go on with a volume after each blow until it is done; compare it with the undisturbed one.

    Every fourth run is spared: that one has to bring it to its end.

    Raises
    ------
    AssertionError
        If a run says that all is done and it is not, the spared one does not go on, a pixel differs, or
        anything is left beside the volume.
    """
    blows: list[Blow] = []
    while not (way.folder / name).exists():
        if len(blows) % 4 == 3:
            spared = way.run(*words(name), ranks=2)
            check_end(spared.finished, done=(way.folder / name).exists())
        else:
            blows.append(strike(way, name, choose, usual))
    found = pixels(way.folder / name)
    assert found.dtype == usual.pixels.dtype
    assert np.array_equal(found, usual.pixels), f"another volume after {blows}"
    if left_beside(way, name):  # a kill right at the end: the next run that is told the name sweeps
        assert way.run(*words(name), ranks=2).code == 73
    assert not left_beside(way, name)
    return blows


def left_beside(way: Way, name: str) -> set[str]:
    """Return what lies beside a volume and is not to stay."""
    found = {path.name for path in way.folder.iterdir() if not path.name.endswith(".report.html")}
    return found - {name, *_BESIDE}


def kill_often(way: Way, kills: int, seed: int, forms: Sequence[str] = FORMS) -> dict[str, list[list[Blow]]]:
    """Make volumes of each form in turn, until so many blows have been dealt to it: those to each volume."""
    usual = prepare(way)
    chosen = {name: random.Random(f"{seed} {name}") for name in forms}
    dealt: dict[str, list[list[Blow]]] = {name: [] for name in forms}
    while few := [name for name in forms if len(struck(dealt[name])) < kills]:
        for name in few:
            dealt[name].append(kill_until_done(way, name, chosen[name], usual))
            print(name, *dealt[name][-1], sep="\n  ", flush=True)
            done = way.folder / name
            shutil.rmtree(done) if done.is_dir() else done.unlink()
    return dealt


def struck(volumes: list[list[Blow]]) -> list[Blow]:
    """Return the blows that struck a process."""
    return [blow for blows in volumes for blow in blows if blow.victim]


def main() -> None:
    """Kill as often as is asked, and count what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="of each form")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--forms", nargs="+", default=FORMS, choices=FORMS)
    options = parser.parse_args()
    from tests.cluster.conftest import clean_environment

    with tempfile.TemporaryDirectory() as folder:
        way = Way("local", Path(folder), clean_environment())
        for name, volumes in kill_often(way, options.kills, options.seed, options.forms).items():
            blows = struck(volumes)
            print(f"{name}: {len(blows)} kills, {len(volumes)} volumes, all the same")
            counts = Counter((blow.victim, blow.code) for blow in blows)
            for (victim, code), count in sorted(counts.items()):
                print(f"{count:5} {victim:9} -> {code}")


if __name__ == "__main__":
    main()
