"""Check the engine on a real GPU: right, bounded in memory, and how fast. No network is needed.

Run it from the top of the repository, on a machine with an NVIDIA GPU and the extra ``gpu`` (to carry it
there: ``pip download "tomo-runner[gpu]"``)::

    make gpu-check

There is a line for each check on the screen, and a JSON file with all that was measured. It leaves with 0
where all checks passed, with 1 where one failed, and with 69 where there is no GPU.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from benchmarks.gpu_peers import PEERS
from benchmarks.reconstruct import describe
from runner.tomo.correct.flatfield import counts_from, integrals_of
from runner.tomo.counts import Counts
from runner.tomo.reconstruct import Reconstructor
from runner.tomo.reconstruct.gpu.device import is_there
from runner.tomo.reconstruct.gpu.layout import ANGLES
from runner.tomo.simulate import Settings, write_scan
from runner.tomo.volume.hdf5 import DATASET

NO_GPU = 69
_SECONDS = 420  # after which nothing else is begun
_MIB = 2**20

Report = dict[str, Any]


class FailedError(Exception):
    """A check did not pass."""


def main() -> int:
    """Run all checks; see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("build/gpu_check.json"))
    options = parser.parse_args()
    if not is_there():
        print("no GPU here: nothing was checked")
        return NO_GPU
    begun = time.monotonic()
    report: Report = {"about": about(), "checks": {}}
    for name, check in CHECKS.items():
        if time.monotonic() - begun > _SECONDS:
            outcome: Report = {"passed": None, "why": "no time left"}
        else:
            outcome = run(check)
        report["checks"][name] = outcome
        print(f"{_word(outcome['passed'])}  {name}: {json.dumps(outcome)}", flush=True)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(report, indent=1))
    return int(any(outcome["passed"] is False for outcome in report["checks"].values()))


def run(check: Callable[[], Report]) -> Report:
    """Run one check, whatever becomes of it."""
    begun = time.monotonic()
    try:
        outcome = {"passed": True, **check()}
    except ImportError as error:
        outcome = {"passed": None, "why": f"{error.name} is not installed"}
    except FailedError as error:
        outcome = {"passed": False, "why": str(error)}
    except Exception:  # noqa: BLE001 - the other checks are worth their time all the same
        outcome = {"passed": False, "why": traceback.format_exc()}
    return outcome | {"seconds": round(time.monotonic() - begun, 2)}


def about() -> Mapping[str, str]:
    """Say where this was measured."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return {
        **describe(),
        "GPU": properties["name"].decode(),
        "GPU's memory": f"{properties['totalGlobalMem'] / 2**30:.0f} GiB",
        "CUDA": str(cupy.cuda.runtime.runtimeGetVersion()),
        "cupy": cupy.__version__,
    }


def correctness() -> Report:
    """Compare with the CPU's engine: even and odd sizes, one slice and many, both qualities."""
    errors = {}
    for columns, angles, slices in ((256, 200, 70), (1013, 777, 3), (2048, 1500, 2)):
        for quality in ("standard", "high"):
            sinograms = noise(slices, angles, columns)
            options = {"angles": evenly(angles), "columns": columns, "quality": quality}
            with (
                Reconstructor(**options, threads=8) as cpu,
                Reconstructor(**options, threads=8, device="gpu") as gpu,
            ):
                name = f"{columns} x {angles}, {quality}"
                slices_of_gpu = gpu(sinograms)
                errors[name] = difference(slices_of_gpu, cpu(sinograms))
                if not np.array_equal(gpu(sinograms), slices_of_gpu):
                    raise FailedError(f"{name}: the same sinograms do not give the same bits")
    if max(errors.values()) > 1e-4:
        raise FailedError(f"the GPU differs from the CPU: {errors}")
    return {"relative RMS difference": errors}


def memory() -> Report:
    """Reconstruct 50 chunks: nothing may stay from chunk to chunk, and nothing in the end."""
    sinograms = noise(64, 300, 512)
    before = used()
    gpu = Reconstructor(angles=evenly(300), columns=512, device="gpu", threads=8)
    gpu(sinograms)
    after_one = used()
    for _ in range(49):
        gpu(sinograms)
    after_all = used()
    gpu.close()
    del gpu
    at_the_end = used()
    found = {
        "before": before, "after one chunk": after_one, "after 50": after_all, "at the end": at_the_end,
    }  # fmt: skip
    if after_all > after_one + 8 * _MIB:
        raise FailedError(f"memory grows from chunk to chunk: {found}")
    if at_the_end > before + 64 * _MIB:  # kernels stay loaded
        raise FailedError(f"memory was not given back: {found}")
    return {"bytes used": found}


def full_memory() -> Report:
    """Take most of the GPU's memory away when the plan is made: fewer slices at once, and the same bits."""
    import cupy

    sinograms = noise(64, 700, 1024)
    options = {"angles": evenly(700), "columns": 1024, "device": "gpu", "threads": 8}
    with Reconstructor(**options) as gpu:
        expected, lanes = gpu(sinograms), gpu._method.lanes
    with Reconstructor(**options) as gpu:
        free, _ = cupy.cuda.runtime.memGetInfo()
        left = 600 * _MIB
        taken = cupy.cuda.Memory(free - left)
        slices, fewer = gpu(sinograms), gpu._method.lanes
    del taken
    if fewer >= lanes:
        raise FailedError(f"memory was not full: still {fewer} slices at once")
    if difference(slices, expected) > 1e-6:
        raise FailedError(f"the slices differ by {difference(slices, expected)}")
    return {"slices at once": [lanes, fewer], "the same bits": bool(np.array_equal(slices, expected))}


def speed() -> Report:
    """Time slices of 2048 x 2048 pixels of 1500 angles, with all copies, and the steps alone."""
    slices, angles, columns = 128, 1500, 2048
    sinograms = noise(slices, angles, columns)
    with Reconstructor(angles=evenly(angles), columns=columns, device="gpu", threads=8) as gpu:
        gpu(sinograms[:64])
        walls = [timed(lambda: gpu(sinograms)) for _ in range(3)]
        engine = gpu._method
        steps = steps_of(engine._device, engine._plan)
        lanes = engine.lanes
    return {
        "ms per slice, from memory to memory": 1e3 * min(walls) / slices,
        "ms per slice, by step": {name: value / lanes for name, value in steps.items()},
        "slices at once": lanes,
    }


def flat_field() -> Report:
    """Give counts to the GPU: the slices of the CPU's sinograms, and the time that is saved."""
    errors, same = {}, {}
    for kind in ("uint8", "uint16", "uint32", "float32"):
        counts = counted(70, 300, 501, kind)
        with Reconstructor(angles=evenly(300), columns=501, device="gpu", threads=8) as gpu:
            slices, expected = gpu.from_counts(counts), gpu(integrals_of(counts, threads=8))
        errors[kind], same[kind] = difference(slices, expected), bool(np.array_equal(slices, expected))
    if max(errors.values()) > 1e-6:
        raise FailedError(f"the line integrals differ from the CPU's: {errors}")
    return {"relative RMS difference": errors, "the same bits": same, **time_of_counts()}


def time_of_counts() -> Report:
    """Time the slices of `speed` from counts of 16 bits: on the GPU, and with the flat field on the CPU."""
    slices, angles, columns = 64, 1500, 2048
    counts = counted(slices, angles, columns, "uint16")
    ways = {
        "GPU": lambda: gpu.from_counts(counts),
        "CPU, 8 threads": lambda: gpu(integrals_of(counts, threads=8)),
    }
    with Reconstructor(angles=evenly(angles), columns=columns, device="gpu", threads=8) as gpu:
        walls = {}
        for name, way in ways.items():
            way()
            walls[name] = 1e3 * min(timed(way) for _ in range(3)) / slices
        engine = gpu._method
        kernel = time_of_integration(engine._device, engine._plan, counts[: engine.lanes])
    return {
        "ms per slice, from counts, with the flat field on": walls,
        "ms per slice, the flat field on the GPU alone": kernel / min(engine.lanes, slices),
    }


def time_of_integration(device: Any, plan: Any, counts: Counts) -> float:
    """Time what makes all padded lines of a group of counts, milliseconds."""
    with device.working():
        lines = plan._bring(counts, next(plan._slots))
        angles = len(counts.projections)
        parts = [slice(first, min(first + ANGLES, angles)) for first in range(0, angles, ANGLES)]
        return milliseconds(lambda: [lines(part) for part in parts])


def steps_of(device: Any, plan: Any) -> dict[str, float]:
    """Time the three steps on the GPU alone, milliseconds for a group."""
    slot = next(plan._slots)
    parts = {
        "filter": lambda: plan._steps.filter_lines(
            lambda some: plan._steps.pad(slot.sinograms[:, some]), plan._spectra
        ),
        "spread": plan._spread,
        "image": lambda: plan._steps.make_slices(plan._grid, slot.slices),
    }
    with device.working():
        return {name: milliseconds(part) for name, part in parts.items()}


def milliseconds(part: Callable[[], object]) -> float:
    """Time some work on the GPU alone."""
    import cupy

    part()
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    for _ in range(5):
        part()
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(start, end)) / 5


def peer(name: str) -> Callable[[], Report]:
    """Time a contender on what `speed` does, with sinograms and slices on the GPU; and compare."""

    def check() -> Report:
        slices, angles, columns = 8, 1500, 2048
        sinograms = noise(slices, angles, columns)
        with Reconstructor(angles=evenly(angles), columns=columns, device="gpu", threads=8) as gpu:
            expected = gpu(sinograms)
        run_peer = PEERS[name](evenly(angles), columns)
        images, milliseconds = run_peer(sinograms)
        inside = np.hypot(*np.ogrid[-1 : 1 : 1j * columns, -1 : 1 : 1j * columns]) < 0.97
        return {
            "ms per slice": milliseconds / slices,
            "relative RMS difference": difference(images[:, inside], expected[:, inside]),
        }

    return check


def pipeline() -> Report:
    """Make the volume of a simulated scan by the whole program, with and without the GPU."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_scan(folder / "scan.nx", Settings(columns=512, rows=64, angles=400))
        volumes, seconds = {}, {}
        for device in ("gpu", "cpu"):
            seconds[device] = timed(lambda device=device: reconstruct(folder, device))
            with h5py.File(folder / f"{device}.h5") as file:
                volumes[device] = file[DATASET][:]
    error = difference(volumes["gpu"], volumes["cpu"])
    if error > 1e-4:
        raise FailedError(f"the volumes differ by {error}")
    return {"seconds with start and end": seconds, "relative RMS difference": error}


def reconstruct(folder: Path, device: str) -> None:
    """Run the program, with one worker."""
    argv = [sys.executable, "-m", "runner", "--workers", "1", "reconstruct", folder / "scan.nx"]
    argv += [folder / f"{device}.h5", "--device", device]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=180, check=False)
    if done.returncode:
        raise FailedError(f"the program left with {done.returncode}: {done.stderr[-2000:]}")


CHECKS: Mapping[str, Callable[[], Report]] = {
    "the CPU's numbers": correctness,
    "memory over 50 chunks": memory,
    "full memory": full_memory,
    "speed": speed,
    "the flat field": flat_field,
    "the whole pipeline": pipeline,
    **{f"beside {name}": peer(name) for name in PEERS},
}


def noise(slices: int, angles: int, columns: int) -> np.ndarray:
    """Make sinograms in which no frequency is missing, (slice, angle, column)."""
    return np.random.default_rng(0).standard_normal((slices, angles, columns), np.float32)


def counted(slices: int, angles: int, columns: int, kind: str) -> Counts:
    """Make counts under a beam that drifts between two flats, with some pixels that see nothing of it."""
    random = np.random.default_rng(0)
    projections = random.integers(30, 200, (angles, slices, columns), np.uint8).astype(kind)
    flats = random.uniform(180, 250, (2, slices, columns)).astype(np.float32)
    flats[random.uniform(size=flats.shape) < 1e-3] = 0
    dark = np.full((slices, columns), 20, np.float32)
    return counts_from(projections, np.arange(angles) + 0.5, dark, list(flats), [0.0, float(angles)])


def evenly(angles: int) -> np.ndarray:
    """Spread angles over half a turn, degrees."""
    return np.arange(angles) * 180 / angles


def difference(values: np.ndarray, expected: np.ndarray) -> float:
    """Compare by the root of the mean square, relative."""
    return float(np.linalg.norm(values - expected) / np.linalg.norm(expected))


def timed(work: Callable[[], object]) -> float:
    """Time some work, seconds."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def used() -> int:
    """Tell how many bytes of the GPU's memory are taken, by whomever."""
    import cupy

    cupy.cuda.Device(0).synchronize()
    free, total = cupy.cuda.runtime.memGetInfo()
    return int(total - free)


def _word(passed: bool | None) -> str:
    return {True: "passed ", False: "FAILED ", None: "skipped"}[passed]


if __name__ == "__main__":
    sys.exit(main())
