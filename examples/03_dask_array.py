"""A Dask array without a word about clusters: compute() runs on the workers all the same.
Run it with: python -m runner --workers 2 examples/03_dask_array.py
"""

import os

import dask.array as da
import numpy as np

# 400 projections of 64 x 512 pixels, made on the workers 50 at a time: nothing large passes through here
projections = da.random.default_rng(0).poisson(1000, size=(400, 64, 512), chunks=(50, 64, 512))
line_integrals = -da.log(projections / 1000)

mean, deviation = da.compute(line_integrals.mean(), line_integrals.std())
print(f"{projections.nbytes / 1e6:.0f} MB of counts: mean {mean:.4f}, standard deviation {deviation:.4f}")


def process_of(_block: np.ndarray) -> np.ndarray:
    return np.array([[[os.getpid()]]])


processes = np.unique(projections.map_blocks(process_of, dtype=int).compute())
print(f"computed by {len(processes)} processes, this one not among them: {os.getpid() not in processes}")
