"""End in the way that the first argument names, and write down when the last statement ran."""

import os
import signal
import sys
import time
from pathlib import Path

from distributed import Client


def nap(seconds):
    time.sleep(seconds)
    return seconds


def last_statement():
    (Path(os.environ["TEST_FOLDER"]) / "last_statement").write_text(repr(time.time()))


client = Client()
assert client.gather(client.map(nap, [0.01] * 6)) == [0.01] * 6
how = sys.argv[1]
if how == "busy":  # tasks still run when the job is over
    running = client.map(nap, [60.0] * 6, pure=False)
    time.sleep(0.5)
if how == "SIGUSR1":  # as some sites warn of the walltime
    os.kill(os.getpid(), signal.SIGUSR1)
last_statement()
if how == "raise":
    raise ValueError("this is the job's own error")
if how == "exit3":
    sys.exit(3)
if how == "text":
    sys.exit("this is the job's own text")
if how == "os_exit7":
    os._exit(7)
if how in ("SIGKILL", "SIGTERM", "SIGINT"):
    os.kill(os.getpid(), getattr(signal, how))
    time.sleep(10)
