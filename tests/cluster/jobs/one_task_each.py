"""Run a task on each of as many workers as the first word says, and count their processes."""

import os
import sys

from distributed import get_client

client = get_client()
client.wait_for_workers(int(sys.argv[1]), timeout=60)
print(len(set(client.run(os.getpid).values())), "processes")
