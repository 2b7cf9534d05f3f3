"""Tasks of a second, some of which are on a rank that the test takes away; all of them are done."""

import os
import sys
import time
from pathlib import Path

from distributed import Client, as_completed

folder = Path(os.environ["TEST_FOLDER"])


def work(number):
    time.sleep(0.5)
    return number


client = Client()
futures = client.map(work, range(int(sys.argv[1])))
for done, future in enumerate(as_completed(futures), 1):
    future.result()
    (folder / "done").write_text(str(done))
assert sorted(client.gather(futures)) == list(range(len(futures)))
print("all done")
