"""Note what is left of the time here and on a worker; leave with 75 when told that the end is near."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from distributed import Client

import runner

folder = Path(os.environ["TEST_FOLDER"])


def note(**values):
    with (folder / "notes").open("a") as file:
        file.write(json.dumps({"at": time.time(), **values}) + "\n")


if os.environ.get("SLURM_RESTART_COUNT"):
    note(run="second")
    sys.exit(0)

told = threading.Event()
runner.on_drain(told.set)
signal.signal(signal.SIGTERM, lambda *_: note(signal="SIGTERM"))
note(
    here=runner.time_left(),
    on_worker=Client().submit(runner.time_left).result(),
    end=os.environ["RUNNER_END"],
)
if not told.wait(timeout=70):
    sys.exit("never told")
note(told=runner.time_left())
if "stay" not in sys.argv:
    sys.exit(75)
while True:
    time.sleep(1)
