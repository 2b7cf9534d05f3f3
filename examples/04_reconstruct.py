"""Simulate a scan, reconstruct it on the cluster, and hold the grey values against the truth.
Run it with: python -m runner --workers 2 examples/04_reconstruct.py volume.h5
"""

import sys
import tempfile
from pathlib import Path

import h5py
from distributed import Client

from runner.tomo import simulate
from runner.tomo.phantom import voxelise
from runner.tomo.pipeline import reconstruct
from runner.tomo.settings import Settings

volume = Path(sys.argv[1]).resolve()
with tempfile.TemporaryDirectory(dir=volume.parent) as folder:  # every worker must see the scan
    scan = Path(folder) / "scan.nx"
    truth = simulate.write_scan(scan, simulate.Settings(columns=128, rows=32, angles=200))
    # any Dask client will do here: the tomography knows no launcher
    outcome = reconstruct(scan, volume, Settings(), Client(), overwrite=True)

slices, _, size = outcome.shape
expected = voxelise(truth.ellipsoids, slices=slices, size=size, pixel=truth.detector.pixel)
with h5py.File(outcome.volume) as file:
    found = file[outcome.dataset][:]

print(f"axis: column {outcome.axis.position:.2f} found, {truth.detector.center:.2f} true")
inside = expected > 0
print(
    f"mean attenuation: {found[inside].mean():.3f} {outcome.units} found, {expected[inside].mean():.3f} true"
)
