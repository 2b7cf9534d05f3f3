"""The public signature of every reconstruction method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from runner.errors import UsageError
from runner.tomo.reconstruct.fbp import FilteredBackprojection
from runner.tomo.reconstruct.filters import PADDINGS, WINDOWS
from runner.tomo.reconstruct.fourier import FourierReconstruction
from runner.tomo.reconstruct.geometry import Geometry


class Method(Protocol):
    """What a reconstruction method has to do."""

    def __call__(self, sinograms: NDArray[np.float32], slices: NDArray[np.float32], /) -> None:
        """Reconstruct sinograms (slice, angle, column) into slices (slice, y, x), 1/pixel."""

    def close(self) -> None:
        """Give back what the method holds."""


METHODS: Mapping[str, Callable[..., Method]] = MappingProxyType(
    {"fourier": FourierReconstruction, "fbp": FilteredBackprojection}
)


class Reconstructor:
    """Sinograms in, slices out: a plan that is made once and used for every chunk of a scan.

    Parameters
    ----------
    angles : (angle,) array_like
        Rotation angle of each projection, degrees, evenly spread over a whole number of half turns.
    columns : int
        Detector columns.
    size : int, optional
        Pixels along both sides of a slice; as many as columns if not given.
    center : float, optional
        Detector column of the rotation axis, pixel centres at 0, 1, ...; the middle if not given. It
        falls on pixel ``(size - 1) / 2`` of the slice.
    method : {"fourier", "fbp"}
        The exact Fourier sum, or plain filtered backprojection with linear interpolation.
    window : {"ram-lak", "shepp-logan", "cosine", "hann", "hamming"}
        Window on the ramp filter.
    padding : {"edge", "zero"}
        What is taken to lie outside of the detector.
    threads : int
        How many threads compute. The slices do not depend on it.
    mask : bool or float
        Set the slices to zero outside of a circle: True for the largest circle that fits, a number for
        its radius in pixels.

    Raises
    ------
    UsageError
        For an unknown choice or an impossible size.

    Examples
    --------
    >>> import numpy as np
    >>> with Reconstructor(angles=np.arange(0, 180, 2), columns=64) as reconstruct:
    ...     slices = reconstruct(np.zeros((3, 90, 64), np.float32))
    >>> slices.shape, slices.dtype
    ((3, 64, 64), dtype('float32'))
    """

    def __init__(
        self,
        *,
        angles: ArrayLike,
        columns: int,
        size: int | None = None,
        center: float | None = None,
        method: str = "fourier",
        window: str = "ram-lak",
        padding: str = "edge",
        threads: int = 1,
        mask: bool | float = False,
    ) -> None:
        _check_choice("method", method, METHODS)
        _check_choice("window", window, WINDOWS)
        _check_choice("padding", padding, PADDINGS)
        self.geometry = Geometry(
            angles=tuple(np.asarray(angles, dtype=np.float64).ravel().tolist()),
            columns=columns,
            size=columns if size is None else size,
            center=(columns - 1) / 2 if center is None else float(center),
        )
        _check_geometry(self.geometry, threads)
        self._outside = _outside_of_circle(self.geometry, mask)
        self._method = METHODS[method](self.geometry, window=window, padding=padding, threads=threads)

    def __call__(self, sinograms: NDArray[np.float32]) -> NDArray[np.float32]:
        """Reconstruct some slices.

        Parameters
        ----------
        sinograms : (slice, angle, column) float32
            Line integrals of the attenuation, finite.

        Returns
        -------
        (slice, y, x) float32
            Attenuation in 1/pixel.

        Raises
        ------
        UsageError
            If the sinograms do not have the plan's shape.
        """
        geometry = self.geometry
        expected = (len(geometry.angles), geometry.columns)
        if sinograms.ndim != 3 or sinograms.shape[1:] != expected:
            raise UsageError(
                f"sinograms of shape {sinograms.shape}, but the plan is for (slices, {expected[0]} angles, "
                f"{expected[1]} columns)"
            )
        slices = np.empty((len(sinograms), geometry.size, geometry.size), np.float32)
        self._method(sinograms.astype(np.float32, copy=False), slices)
        if self._outside is not None:
            slices[:, self._outside] = 0
        return slices

    def close(self) -> None:
        """End the threads; the plan cannot be used afterwards."""
        self._method.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_choice(name: str, value: str, allowed: Mapping[str, object] | tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{name} {value!r} is unknown", f"choose one of {', '.join(allowed)}")


def _check_geometry(geometry: Geometry, threads: int) -> None:
    if not geometry.angles or not np.isfinite(geometry.angles).all():
        raise UsageError("a reconstruction needs at least one angle, and finite ones")
    if geometry.columns < 1 or geometry.size < 1 or threads < 1:
        raise UsageError(
            f"columns {geometry.columns}, size {geometry.size} and threads {threads} must be at least 1"
        )
    if not 0 <= geometry.center <= geometry.columns - 1:
        raise UsageError(
            f"the rotation axis at column {geometry.center:g} lies outside of the detector",
            f"give one within 0 .. {geometry.columns - 1}",
        )


def _outside_of_circle(geometry: Geometry, mask: bool | float) -> NDArray[np.bool_] | None:
    if mask is False:
        return None
    radius = geometry.size / 2 if mask is True else float(mask)
    positions = geometry.pixel_positions()
    return np.asarray(np.hypot(positions, positions[:, np.newaxis]) > radius)
