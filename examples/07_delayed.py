"""A program of ordinary functions, made parallel by calling them later: dask.delayed.
Run it with: python -m runner --workers 2 examples/07_delayed.py
"""

import sys

import dask
import numpy as np
from distributed import Client

Frame = np.ndarray


@dask.delayed
def load(number: int) -> Frame:
    """Stands for reading one frame, (y, x), from a file."""
    return np.random.default_rng(number).normal(loc=number, size=(200, 300))


@dask.delayed
def clean(frame: Frame) -> Frame:
    return np.clip(frame, *np.percentile(frame, (1, 99)))


@dask.delayed
def add(one: Frame, other: Frame) -> Frame:
    return one + other


client = Client()

sums = [clean(load(number)) for number in range(16)]  # nothing runs yet
while len(sums) > 1:  # a tree: neighbours are added where they are, four levels in place of 15 steps
    sums = [add(one, other) for one, other in zip(sums[::2], sums[1::2], strict=True)]
total = sums[0].compute()

mean = total.mean() / 16
print(f"mean of 16 frames: {mean:.3f}, expected 7.500")
if abs(mean - 7.5) > 0.01:
    sys.exit("the mean is wrong")
