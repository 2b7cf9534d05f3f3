"""Batch runner for Dask on clusters, with a quantitative tomography reconstruction on top.

The launcher (``runner.launcher``) turns the ranks of one batch job into a Dask cluster and runs a
program on it; the tomography (``runner.tomo``) reconstructs a scan on any Dask client. Neither
imports the other: ``runner.jobs`` joins them.
"""

__version__ = "0.1.0"

__all__ = ["__version__", "cluster", "connect", "on_allocation", "on_drain", "time_left"]

TYPE_CHECKING = False  # as in typing, without importing it: every rank starts with this file
if TYPE_CHECKING:
    from runner.client import connect
    from runner.clusters import cluster, on_allocation
    from runner.walltime import on_drain, time_left


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "connect":
        from runner import client

        return client.connect
    if name in ("cluster", "on_allocation"):
        from runner import clusters

        return getattr(clusters, name)
    from runner import walltime

    return getattr(walltime, name)
