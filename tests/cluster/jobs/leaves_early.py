"""Leave with 75 while a worker is in C code that holds Python's lock: it has to be killed, after a while."""

import ctypes
import signal
import sys
import time
from pathlib import Path

from distributed import Client


def stay() -> None:
    Path("stays").touch()
    ctypes.PyDLL(None).sleep(60)


signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what comes while the job leaves does not change its code
with Path("runs").open("a") as file:
    file.write("a run\n")
client = Client()
staying = client.submit(stay)
while not Path("stays").exists():
    time.sleep(0.05)
Path("leaves").touch()
sys.exit(75)
