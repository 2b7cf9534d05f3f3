"""Fit a slope to every pixel of a stack (time, y, x), a NumPy function on xarray: apply_ufunc.
Run it with: python -m runner --workers 2 examples/06_xarray.py
"""

import sys

import numpy as np
import xarray as xr
from distributed import Client


def slopes(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Slopes of least squares along the last axis, of any number of pixels at once."""
    centred = times - times.mean()
    return values @ centred / (centred @ centred)


client = Client()

dice = np.random.default_rng(0)
days = np.arange(48) / 24
drift = np.linspace(-1, 1, 96)[:, np.newaxis] * np.linspace(0, 2, 128)  # true slopes, (y, x), per day
heights = 5 + drift * days[:, np.newaxis, np.newaxis] + dice.normal(scale=0.1, size=(48, 96, 128))
stack = xr.DataArray(heights, dims=("time", "y", "x"), coords={"time": days})

found = xr.apply_ufunc(
    slopes,
    stack.chunk({"time": -1, "y": 24}),  # whole series of 24 rows: four tasks
    stack.time,
    input_core_dims=[["time"], ["time"]],
    dask="parallelized",
    output_dtypes=[float],
).compute()

expected = np.polyfit(days, heights.reshape(48, -1), 1)[0].reshape(96, 128)  # all in one process
difference = float(np.abs(found - expected).max())
print(f"{found.size} slopes from {float(found.min()):.2f} to {float(found.max()):.2f} per day")
print(f"largest difference from numpy.polyfit: {difference:.0e}")
if difference > 1e-12:
    sys.exit("the slopes are wrong")
