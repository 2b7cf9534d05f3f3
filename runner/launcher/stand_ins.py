"""Inside of a job, the starters of other cluster makers find that all is started already.

A script written for dask-mpi or for dask-jobqueue's ``SLURMRunner`` makes every rank start a part of the
cluster. Here the script runs once, and the cluster is there: its ``initialize()`` has nothing left to do. So
when the job imports one of these functions, it gets the one of the same name of ``runner.compat``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_STAND_INS = {
    "dask_mpi.initialize": ("initialize",),
    "dask_mpi.execute": ("execute", "send_close_signal"),
    "dask_jobqueue.slurm": ("SLURMRunner",),
}
_THEIR_HOME = "runner.compat"  # above the launcher, therefore by name


def install() -> None:
    """Put the stand-ins in place, for imports from now on."""
    sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds a module where it is, and has a few of its names replaced."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in _STAND_INS:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, original: Loader) -> None:
        self._original = original

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._original.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._original.exec_module(module)
        home = importlib.import_module(_THEIR_HOME)
        for name in _STAND_INS[module.__name__]:
            setattr(module, name, getattr(home, name))
