"""Map a function over many inputs, and take the results as they come.
Run it with: python -m runner --workers 2 examples/02_map.py 20
"""

import random
import sys

from distributed import Client, as_completed

DARTS = 100_000


def hits(seed: int) -> int:
    """Throw darts at the unit square, count those inside of the quarter circle."""
    dice = random.Random(seed)
    return sum(dice.random() ** 2 + dice.random() ** 2 < 1 for _ in range(DARTS))


rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
client = Client()
futures = client.map(hits, range(rounds))  # the function travels with its task, this file stays here

total = 0
for done, (_, count) in enumerate(as_completed(futures, with_results=True), start=1):
    total += count
    print(f"after {done:3} rounds pi is about {4 * total / (done * DARTS):.5f}")
