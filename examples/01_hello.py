"""Ask every worker who and where it is: the smallest job, and plain Dask.
Run it with: python -m runner --workers 2 examples/01_hello.py
"""

import os
import socket

from distributed import Client


def introduce() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


client = Client()  # no address: it reaches the cluster that the launcher made
for introduction in sorted(client.run(introduce).values()):
    print("hello from", introduction)
