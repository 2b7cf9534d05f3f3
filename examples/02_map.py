"""Map a function over many inputs, take the results as they come, and survive inputs that fail.
Run it with: python -m runner --workers 2 examples/02_map.py 20
"""

import random
import sys

from distributed import Client, as_completed

DARTS = 100_000


def hits(seed: int) -> int:
    """Throw darts at the unit square, count those inside of the quarter circle."""
    if seed % 10 == 7:
        raise ValueError(f"seed {seed} brings bad luck")
    dice = random.Random(seed)
    return sum(dice.random() ** 2 + dice.random() ** 2 < 1 for _ in range(DARTS))


seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
client = Client()
futures = client.map(hits, seeds)  # the function travels with its task, this file stays here

counts: list[int] = []
failed: list[str] = []
for future in as_completed(futures):
    if future.status == "error":  # result() would raise here what was raised there
        failed.append(str(future.exception()))
        continue
    counts.append(future.result())
    print(f"after {len(counts):3} rounds pi is about {4 * sum(counts) / (len(counts) * DARTS):.5f}")

print(f"{len(failed)} of {len(seeds)} failed: {'; '.join(sorted(failed))}")
if len(failed) > len(seeds) / 10:
    sys.exit("more bad luck than expected")
