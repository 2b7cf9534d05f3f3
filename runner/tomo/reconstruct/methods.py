"""The methods by name, each with what makes it; a library is loaded by the method that needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from runner.tomo.counts import Counts
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.iterative.methods import ITERATIONS
from runner.tomo.reconstruct.options import Options


class Method(Protocol):
    """What a reconstruction method has to do."""

    def __call__(
        self, sinograms: NDArray[np.float32], slices: NDArray[np.float32], /
    ) -> NDArray[np.float64] | None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel.

        An iterative method returns its misfits, (slice, iteration).
        """

    def close(self) -> None:
        """Give back what the method holds."""


@runtime_checkable
class CountsMethod(Method, Protocol):
    """A method that makes line integrals by itself."""

    def from_counts(self, counts: Counts, slices: NDArray[np.float32], /) -> None:
        """Reconstruct the rows of counts into slices (slice, y, x), 1/pixel."""


def _fourier(geometry: Geometry, options: Options) -> Method:
    if options.device == "gpu":
        from runner.tomo.reconstruct.gpu import engine as gpu

        return gpu.make_engine(geometry, options)
    from runner.tomo.reconstruct.gridding.engine import make_engine

    return make_engine(geometry, options)


def _exact(geometry: Geometry, options: Options) -> Method:
    from runner.tomo.reconstruct.exact import ExactReconstruction

    return ExactReconstruction(geometry, options)


def _fbp(geometry: Geometry, options: Options) -> Method:
    from runner.tomo.reconstruct.fbp import FilteredBackprojection

    return FilteredBackprojection(geometry, options)


def _iterative(method: str) -> Callable[[Geometry, Options], Method]:
    def make(geometry: Geometry, options: Options) -> Method:
        from runner.tomo.reconstruct.iterative.engine import make_engine

        return make_engine(method, geometry, options)

    return make


METHODS: Mapping[str, Callable[[Geometry, Options], Method]] = MappingProxyType(
    {
        "fourier": _fourier,
        "exact": _exact,
        "fbp": _fbp,
        **{method: _iterative(method) for method in ITERATIONS},
    }
)
