"""The small cases of `benchmarks.guard`, which runs this twice: under callgrind and without."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.callgrind import count_parts
from runner.tomo.choice import parse_choice
from runner.tomo.correct.flatfield import counts_from, integrals_of
from runner.tomo.correct.phase import Paganin, retrieve
from runner.tomo.correct.rings.methods import METHODS
from runner.tomo.correct.rings.remove import remove_rings
from runner.tomo.reconstruct import Reconstructor

_ROWS, _ANGLES, _COLUMNS = 48, 60, 128


def main() -> None:
    """Do everything twice: the first time compiles or loads what is compiled, the second counts."""
    cases = make_cases()
    for run in cases.values():
        run()
    if sys.argv[1] == "instructions":
        count_parts(cases)
    else:
        print(json.dumps({name: peak_of(run) for name, run in cases.items()}))


def make_cases() -> Mapping[str, Callable[[], object]]:
    """Prepare the cases; each can be run again and again."""
    random = np.random.default_rng(0)
    counts = random.integers(20_000, 30_000, (_ANGLES, _ROWS, _COLUMNS)).astype(np.uint16)
    dark, flat = (np.full((_ROWS, _COLUMNS), level, np.float32) for level in (100, 40_000))
    sinograms = random.uniform(0, 1, (_ROWS, _ANGLES, _COLUMNS)).astype(np.float32)
    spare = sinograms.copy()  # what works in place finds the same every time
    angles, times = np.arange(_ANGLES) * 180 / _ANGLES, np.arange(_ANGLES) + 0.5
    reconstruct = Reconstructor(angles=angles, columns=_COLUMNS)
    sorting = parse_choice("rings", "sorting", METHODS)
    physics = Paganin(delta_beta=300.0, energy=20.0, distance=0.03, pixel_size=1e-6)

    def fresh() -> np.ndarray:
        np.copyto(spare, sinograms)
        return spare

    return {
        "correct": lambda: integrals_of(counts_from(counts, times, dark, [flat], [0.0])),
        "remove rings, sorting": lambda: remove_rings(fresh()[:16], sorting),
        "retrieve the phase": lambda: retrieve(fresh(), slice(16, 32), physics),
        "reconstruct": lambda: reconstruct(sinograms[:16]),
    }


def peak_of(run: Callable[[], object]) -> int:
    """Take the most bytes that a run holds at a time, of Python and of NumPy, its result included."""
    tracemalloc.start()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


if __name__ == "__main__":
    main()
