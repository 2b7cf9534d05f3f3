"""A task that kills its worker: once by memory, or every time by a crash."""

import ctypes
import os
import sys
import time
from pathlib import Path

import numpy as np
from distributed import Client

mark = Path(os.environ["TEST_FOLDER"]) / "died"


def eat_memory_once():
    if mark.exists():
        return "recovered"
    mark.touch()
    held = []
    while True:
        if len(held) < 30:  # 1 GB, when nobody looks for a while
            held.append(np.ones(4_000_000))
        time.sleep(0.02)


def crash():
    ctypes.string_at(0)


(mark.parent / "begun").touch()
print(Client().submit({"memory": eat_memory_once, "crash": crash}[sys.argv[1]]).result())
