"""Print, for each host, which device each of its workers sees."""

import os
import socket
from collections import defaultdict

from distributed import Client


def who():
    return socket.gethostname(), os.environ["CUDA_VISIBLE_DEVICES"]


devices = defaultdict(list)
for host, device in Client().run(who).values():
    devices[host].append(device)
for host, seen in sorted(devices.items()):
    print(f"{host}: {' '.join(seen)}")
