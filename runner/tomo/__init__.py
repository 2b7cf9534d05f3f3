"""A scan becomes a volume: read, correct, reconstruct, write, on any Dask client or on none.

Read :mod:`runner.tomo.pipeline` first. ``Reconstructor`` needs neither files nor a cluster; it is loaded
when it is asked for, since the command line looks into this package before anything heavy is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.tomo.reconstruct import Reconstructor

__all__ = ["Reconstructor"]


def __getattr__(name: str) -> Any:
    if name != "Reconstructor":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from runner.tomo.reconstruct import Reconstructor

    return Reconstructor
