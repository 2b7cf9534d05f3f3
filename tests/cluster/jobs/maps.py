"""A map as its arguments say: ``maps.py NAME WHERE COUNT [SECONDS]``.

Its components wait while there is a file ``hold``, and are short once there is a file ``short``.
"""

import os
import sys
import time
from pathlib import Path

import runner

name, where, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 0.05
FOLDER = Path(os.environ["TEST_FOLDER"])


def work(number: int) -> int:
    with (FOLDER / f"began-{number}").open("a") as file:  # a line for each time
        file.write("once\n")
    print("component", number)
    while (FOLDER / "hold").exists():
        time.sleep(0.05)
    time.sleep(0.05 if (FOLDER / "short").exists() else seconds)
    return number**2


made = runner.map(work, range(count), name=name, job=None if where == "here" else where)
print(made.status().state, sum(made.values()))
