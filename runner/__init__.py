"""Batch runner for Dask on clusters, with a quantitative tomography reconstruction on top.

The launcher (``runner.launcher``) turns the ranks of one batch job into a Dask cluster and runs a
program on it; the tomography (``runner.tomo``) reconstructs a scan on any Dask client. Neither
imports the other: ``runner.jobs`` joins them.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
