"""Compute when somebody says so, and not before."""

import os
import time
from pathlib import Path

from distributed import Client

folder = Path(os.environ["TEST_FOLDER"])
client = Client()
assert client.submit(sum, [1, 2]).result() == 3
(folder / "waiting").touch()
end = time.monotonic() + 50
while not (folder / "go").exists():
    assert time.monotonic() < end
    time.sleep(0.05)
print(sum(client.gather(client.map(abs, range(-9, 1)))))
