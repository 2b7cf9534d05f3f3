"""Tasks on each rank, until the test has taken one away, or another one has come; all of them are done."""

import os
import sys
import time
from pathlib import Path

from distributed import Client, as_completed

folder = Path(os.environ["TEST_FOLDER"])


def work(number):
    time.sleep(0.5)
    end = time.monotonic() + 100
    while number > 3 and not (folder / "struck").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    return number


client = Client()
futures = client.map(work, range(int(sys.argv[1])))
for done, future in enumerate(as_completed(futures), 1):
    future.result()
    (folder / "done").write_text(str(done))
assert sorted(client.gather(futures)) == list(range(len(futures)))
print("all done")
