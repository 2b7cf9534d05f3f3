"""``python -m benchmarks NAME ...``: the benchmarks by their names."""

from __future__ import annotations

import runpy
import sys

NAMES = (
    "launch",
    "map",
    "reconstruct",
    "chain",
    "overlap",
    "memory",
    "corrections",
    "scheduler",
    "handout",
    "guard",
    "pictures",
)


def main() -> None:
    """Run one of them, with the rest of the command line."""
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python -m benchmarks NAME ..., with one of {', '.join(NAMES)}")
    name = sys.argv.pop(1)
    sys.argv[0] = f"benchmarks {name}"
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")


if __name__ == "__main__":
    main()
