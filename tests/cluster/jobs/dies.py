"""The first task that runs kills its worker; it and the others run again."""

import os
import signal
import time
from pathlib import Path

from distributed import Client

mark = Path(os.environ["TEST_FOLDER"]) / "died"


def fragile(number):
    if number == 0 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return number


client = Client()
workers = len(client.scheduler_info(n_workers=-1)["workers"])
assert sum(client.gather(client.map(fragile, range(20)))) == 190
assert mark.exists()
client.wait_for_workers(workers, timeout=20)  # the dead one is back
print("all done")
