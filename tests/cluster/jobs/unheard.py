"""A map of which the client does not hear that the first components have ended: ``unheard.py NAME COUNT``."""

import os
import sys
from pathlib import Path

from distributed.client import default_client

import runner
import runner.forgotten

FOLDER = Path(os.environ["TEST_FOLDER"])
handlers = default_client()._stream_handlers
hear = handlers["key-in-memory"]
unheard: list[str] = []


def hear_all_but_one(key: str, **message: object) -> None:
    if key.startswith("_run_and_tell") and not unheard:
        unheard.append(key)
    else:
        hear(key=key, **message)


def work(number: int) -> int:
    with (FOLDER / f"began-{number}").open("a") as file:  # a line for each time
        file.write("once\n")
    return number**2


handlers["key-in-memory"] = hear_all_but_one
runner.forgotten._EVERY = 0.5
made = runner.map(work, range(int(sys.argv[2])), name=sys.argv[1])
print(made.status().state, sum(made.values()), len(unheard))
