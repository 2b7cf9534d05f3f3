"""Add numbers on the workers for a second or so; the last line says that all of them were."""

import time

from distributed import Client


def later(number):
    time.sleep(0.05)
    return number


client = Client()
print("sum", sum(client.gather(client.map(later, range(40)))), flush=True)
