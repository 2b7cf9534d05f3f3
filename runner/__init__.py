"""Batch runner for Dask on clusters, with a quantitative tomography reconstruction on top.

The launcher (``runner.launcher``) turns the ranks of one batch job into a Dask cluster and runs a
program on it; the tomography (``runner.tomo``) reconstructs a scan on any Dask client. Neither
imports the other: ``runner.jobs`` joins them.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("tomo-runner")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
