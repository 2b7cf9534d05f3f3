"""Batch runner for Dask on clusters, with a quantitative tomography reconstruction on top.

The launcher (``runner.launcher``) turns the ranks of one batch job into a Dask cluster and runs a
program on it; the tomography (``runner.tomo``) reconstructs a scan on any Dask client. Neither
imports the other: ``runner.jobs`` joins them.
"""

__version__ = "0.1.0"

__all__ = [
    "Job",
    "Map",
    "__version__",
    "cluster",
    "connect",
    "map",
    "on_allocation",
    "on_drain",
    "open_map",
    "time_left",
]

TYPE_CHECKING = False  # as in typing, without importing it: every rank starts with this file
if TYPE_CHECKING:
    from runner.client import connect
    from runner.clusters import cluster, on_allocation
    from runner.maps.job import Job
    from runner.maps.make import map  # noqa: A004  (a script says runner.map)
    from runner.maps.map import Map, open_map
    from runner.walltime import on_drain, time_left

#: Where the names are; asked for by a script, not before: every rank starts with this file.
_HOMES = {
    "Job": "runner.maps.job",
    "Map": "runner.maps.map",
    "cluster": "runner.clusters",
    "connect": "runner.client",
    "map": "runner.maps.make",
    "on_allocation": "runner.clusters",
    "on_drain": "runner.walltime",
    "open_map": "runner.maps.map",
    "time_left": "runner.walltime",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
