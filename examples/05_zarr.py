"""Write an array that fits into no memory, from all workers at once, and read it back: dask.array and zarr.
Run it with: python -m runner --workers 2 examples/05_zarr.py flats.zarr
"""

import os
import sys

import dask.array as da
import zarr
from distributed import Client

store = sys.argv[1]  # a folder that every worker sees
client = Client()

# 240 flats of 128 x 256 pixels, 40 to a chunk; each worker makes chunks and writes them, a file per chunk
flats = da.random.default_rng(0).poisson(1000, size=(240, 128, 256), chunks=(40, 128, 256)).astype("uint16")
flats.to_zarr(store, overwrite=True)

stored = da.from_zarr(store)  # opens, reads nothing yet
mean, same = da.compute(stored.mean(), (stored == flats).all())
chunks = zarr.open_array(store, mode="r").nchunks_initialized
print(f"{stored.nbytes / 1e6:.1f} MB in {chunks} chunks, none of them through process {os.getpid()}")
print(f"read back: mean {mean:.2f}, every count as it was made: {same}")
if not same:
    sys.exit("what was read is not what was written")
