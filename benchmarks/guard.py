"""Count what does not drift: instructions and bytes of small cases, held against those of before.

Seconds say little on a busy machine, and nothing on another one. Instructions do, as everything that chooses
code by the processor is held still: the kernels are compiled for one kind of processor, and valgrind shows
all programs the same one. Run it from the top of the repository::

    python -m benchmarks guard             # says what has changed
    python -m benchmarks guard --renew     # and writes the new numbers down, where that is meant
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.programs import ROOT

RECORD = ROOT / "tests" / "tomo" / "guard.json"
_PROCESSOR = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}  # the newest that valgrind knows all of
_PROGRAM = (sys.executable, "-m", "benchmarks.guard_cases")
_LIBRARIES = ("numba", "llvmlite", "numpy", "scipy")
_STEADY = 0.02  # relative; the same again lies within 0.01, as a rule within 0.001
_OTHER_LIBRARIES = 0.15  # numba 0.61 beside 0.68, SciPy 1.14 beside 1.17: up to 0.024 more, 0.1 less
_OBJECTS = 1 << 14  # bytes that Python's own objects come and go by


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the cases took.

    Attributes
    ----------
    versions : mapping of str to str
        Of the libraries that decide about it.
    instructions : mapping of str to int
        Of each case.
    peak : mapping of str to int
        Most bytes held at a time.
    """

    versions: Mapping[str, str]
    instructions: Mapping[str, int]
    peak: Mapping[str, int]


def main() -> None:
    """Measure, and compare or write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--renew", action="store_true", help=f"write {RECORD.relative_to(ROOT)}")
    options = parser.parse_args()
    if reason := missing():
        sys.exit(f"error: {reason}")
    counts = measure()
    if options.renew:
        RECORD.write_text(json.dumps(asdict(counts), indent=2) + "\n")
        return
    print(json.dumps(asdict(counts), indent=2))
    sys.exit("\n".join(changes(read_record(), counts)))


def missing() -> str:
    """Say why nothing can be counted here, or nothing."""
    if platform.machine() != "x86_64" or "avx2" not in Path("/proc/cpuinfo").read_text().split():
        return "instructions are counted on x86-64 processors with AVX2"
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (sudo apt-get install valgrind)"
    return ""


def measure() -> Counts:
    """Run the cases twice: by themselves, which also compiles, and under callgrind."""
    from benchmarks.callgrind import count_instructions

    environ = {**_PROCESSOR, "PYTHONPATH": os.fspath(ROOT), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*_PROGRAM, "memory"], env={**os.environ, **environ}, stdout=subprocess.PIPE, check=True, timeout=600
    )
    return Counts(
        versions={library: importlib.metadata.version(library) for library in _LIBRARIES},
        instructions=count_instructions([*_PROGRAM, "instructions"], environ),
        peak=json.loads(done.stdout),
    )


def read_record() -> Counts:
    """Read what was written down."""
    return Counts(**json.loads(RECORD.read_text()))


def changes(before: Counts, now: Counts) -> list[str]:
    """Name the cases that take more than before, or less: a gain should be written down as well.

    With other versions of the libraries only what takes far more counts.
    """
    same = before.versions == now.versions
    found = []
    for what, old, new, room in (
        ("instructions", before.instructions, now.instructions, 0),
        ("bytes at the peak", before.peak, now.peak, _OBJECTS),
    ):
        for case in old.keys() | new.keys():
            was, is_now = old.get(case, 0), new.get(case, 0)
            least = was - (was * _STEADY + room if same else was)
            most = was + was * (_STEADY if same else _OTHER_LIBRARIES) + room
            if not least <= is_now <= most:
                found.append(f"{case}: {is_now:,} {what}, {was:,} before; python -m benchmarks guard --renew")
    return sorted(found)


if __name__ == "__main__":
    main()
