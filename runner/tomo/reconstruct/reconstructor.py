"""The public signature of every reconstruction method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from runner.errors import UsageError
from runner.tomo import reused
from runner.tomo.counts import Counts
from runner.tomo.reconstruct.devices import DEVICES, choose_device
from runner.tomo.reconstruct.filters import PADDINGS, WINDOWS
from runner.tomo.reconstruct.geometry import Geometry, gap_shares
from runner.tomo.reconstruct.gpu.layout import COUNT_TYPES
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.iterative.methods import ITERATIONS, NONNEGATIVE
from runner.tomo.reconstruct.methods import METHODS, CountsMethod
from runner.tomo.reconstruct.options import Options

_SINOGRAMS = "give sinograms: corrected_sinograms makes them of a scan"


class Reconstructor:
    """Sinograms in, slices out: a plan that is made once and used for every chunk of a scan.

    Parameters
    ----------
    angles : (angle,) array_like
        Rotation angle of each projection, degrees.
    columns : int
        Detector columns.
    size : int, optional
        Pixels along both sides of a slice; if not given, as many as columns, or for half acquisition as the
        object may be wide.
    center : float, optional
        Detector column of the rotation axis, pixel centres at 0, 1, ...; the middle if not given. It
        falls on pixel ``(size - 1) / 2`` of the slice.
    method : {"fourier", "exact", "fbp", "sirt", "fista", "cgls"}
        The Fourier sum by fast gridding; the same sum to five digits by a non-uniform FFT; plain filtered
        backprojection with linear interpolation; or step by step, see
        :mod:`runner.tomo.reconstruct.iterative`.
    iterations : int, optional
        Steps of an iterative method: 100 of `sirt`, 40 of `fista`, 15 of `cgls` if not given.
    nonnegative : bool
        Keep all values from being negative: `sirt` and `fista`.
    room : float
        How many times as wide as what the detector sees the object is, to an iterative method: beyond that
        nothing is. What is not in the slice is cut off in the end.
    quality : {"standard", "high"}
        Of `fourier`, and of the projector of iterative methods: within 1e-3 or 1e-4 of the exact sum, as the
        root of the mean square.
    window : str
        Window on the ramp filter: ``"ram-lak"``, ``"shepp-logan"``, ``"cosine"``, ``"hann"``, ``"hamming"``,
        ``"parzen"``, ``"butterworth"``, or ``"linear"``, which gives the smoothness of programs that
        interpolate linearly.
    cutoff : float
        Where the window ends, as a fraction of the Nyquist frequency.
    padding : {"edge", "zero"}
        What is taken to lie outside of the detector.
    region : pair of pair of int, optional
        Make only this part of the slices: ``((y, y_end), (x, x_end))``, the ends not included. The pixels
        are those of the whole slice, bit by bit.
    shifts : (angle,) array_like, optional
        By how many columns the rotation axis lies right of `center` in each projection.
    weights : (angle,) array_like or "gaps", optional
        The share of each projection in the integral over half a turn, radians: their sum is pi.
        ``"gaps"`` takes the gaps between uneven angles. If not given, the angles are taken to be evenly
        spread over a whole number of half turns. To an iterative method it is how much the misfit of a
        projection counts.
    half_acquisition : bool
        The axis lies near one end of the detector, and the angles span a full turn.
    mask : bool or float
        Set the slices to `mask_value` outside of a circle about the axis: True for the largest one that fits
        the whole slice, a number for its radius in pixels.
    mask_value : float
        In the unit of the slices, or NaN.
    scale : float
        Factor of all values of the slices, which are in 1/pixel without.
    threads : int
        How many threads compute. The slices do not depend on it.
    memory : float
        Bytes that the buffers of `fourier` and of iterative methods may take of the host's memory; the slices
        do not depend on it.
    device : {"cpu", "gpu", "auto"}
        What computes `fourier`: the processor, the first NVIDIA GPU that the process sees (by CuPy), or the
        GPU where there is one. Their slices agree to 1e-4.

    Attributes
    ----------
    geometry : Geometry
        Where the rays lie.
    outside : (y, x) bool ndarray, or None
        The pixels that the mask cuts off.
    misfits : (slice, iteration) float64 ndarray, or None
        Of the last call, by an iterative method: what the slices did not explain after each step, as a share
        of what was measured (a ratio of root mean squares).

    Raises
    ------
    UsageError
        For an unknown choice, an impossible size, or a GPU that is not there.

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
        quality: str = "standard",
        window: str = "ram-lak",
        cutoff: float = 1.0,
        padding: str = "edge",
        region: tuple[tuple[int, int], tuple[int, int]] | None = None,
        shifts: ArrayLike | None = None,
        weights: ArrayLike | Literal["gaps"] | None = None,
        half_acquisition: bool = False,
        mask: bool | float = False,
        mask_value: float = 0.0,
        scale: float = 1.0,
        threads: int = 1,
        memory: float = float("inf"),
        device: str = "cpu",
        iterations: int | None = None,
        nonnegative: bool = False,
        room: float = 1.0,
    ) -> None:
        for name, value, allowed in (
            ("method", method, METHODS),
            ("quality", quality, QUALITIES),
            ("window", window, WINDOWS),
            ("padding", padding, PADDINGS),
            ("device", device, DEVICES),
        ):
            _check_choice(name, value, allowed)
        degrees = _numbers(angles)
        shares = gap_shares(degrees, half_acquisition) if isinstance(weights, str) else _optional(weights)
        geometry = Geometry(
            angles=degrees,
            columns=columns,
            size=columns if size is None else size,
            center=(columns - 1) / 2 if center is None else float(center),
            region=region,
            shifts=_optional(shifts),
            shares=shares,
            half_acquisition=half_acquisition,
            room=room,
        )
        _check_geometry(geometry, threads, cutoff)
        if size is None:
            geometry = replace(geometry, size=geometry.extent)
        _check_region(geometry)
        self.geometry = geometry
        self.outside = _outside_of_circle(geometry, mask)
        self._mask_value = mask_value
        options = Options(
            window=window,
            cutoff=cutoff,
            padding=padding,
            quality=quality,
            threads=threads,
            memory=memory,
            device=choose_device(device, method),
            iterations=ITERATIONS.get(method, 0) if iterations is None else iterations,
            nonnegative=nonnegative,
            scale=scale,
        )
        _check_steps(method, options, iterations)
        _check_room(method, room)
        self.misfits: NDArray[np.float64] | None = None
        self._method = METHODS[method](geometry, options)

    def __call__(
        self, sinograms: NDArray[np.float32], out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Reconstruct some slices.

        Parameters
        ----------
        sinograms : (slice, angle, column) float32
            Line integrals of the attenuation, finite.
        out : (slice, y, x) float32, optional
            Where the slices go; what it holds is overwritten. For loops: the system clears new memory, which
            takes a twentieth of the time.

        Returns
        -------
        (slice, y, x) float32
            Attenuation in 1/pixel, or `scale` times that.

        Raises
        ------
        UsageError
            If the sinograms do not have the plan's shape, or `out` is no place for the slices.
        """
        slices = self._room(sinograms, out)
        self.misfits = self._method(sinograms.astype(np.float32, copy=False), slices)
        return self._masked(slices)

    def from_counts(self, counts: Counts) -> NDArray[np.float32]:
        """Reconstruct some slices on a GPU from what the detector counted; it makes the line integrals, too.

        Fewer bytes cross to it, and the cores are left alone. The line integrals are those that
        :func:`runner.tomo.corrected_sinograms` makes of the same rows, to the last bit.

        Parameters
        ----------
        counts : Counts
            Some rows of all projections, as :func:`runner.tomo.read_counts` reads them.

        Returns
        -------
        (slice, y, x) float32
            Attenuation in 1/pixel.

        Raises
        ------
        UsageError
            If the counts do not have the plan's shape, if it is not a GPU that computes, or if their type is
            not for it: `uint8`, `int16`, `uint16`, `int32`, `uint32` and `float32` are.
        """
        slices = self._room(counts.sinograms)
        if not isinstance(self._method, CountsMethod):
            raise UsageError("only a GPU makes slices of counts", _SINOGRAMS)
        if counts.projections.dtype not in COUNT_TYPES:
            raise UsageError(f"a GPU makes no slices of {counts.projections.dtype} counts", _SINOGRAMS)
        self._method.from_counts(counts, slices)
        return self._masked(slices)

    def _room(
        self, sinograms: NDArray[np.number], out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Make room for the slices of some sinograms where there is none, after a look at their shape."""
        geometry = self.geometry
        expected = (len(geometry.angles), geometry.columns)
        if sinograms.ndim != 3 or sinograms.shape[1:] != expected:
            raise UsageError(
                f"sinograms of shape {sinograms.shape}, but the plan is for (slices, {expected[0]} angles, "
                f"{expected[1]} columns)"
            )
        shape = (len(sinograms), *geometry.shape)
        if out is None:
            room: NDArray[np.float32] = reused.empty("slices", shape, np.float32)
            return room
        _check_out(out, shape, sinograms)
        return out

    def _masked(self, slices: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.outside is not None:
            np.copyto(slices, self._mask_value, where=self.outside)
        return slices

    def close(self) -> None:
        """End the threads; the plan cannot be used afterwards."""
        self._method.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _check_out(out: NDArray[np.float32], shape: tuple[int, ...], sinograms: NDArray[np.number]) -> None:
    if out.shape != shape or out.dtype != np.float32:
        raise UsageError(f"out is {out.shape} of {out.dtype}", f"the slices take {shape} of float32")
    if not (out.flags.c_contiguous and out.flags.writeable) or np.may_share_memory(out, sinograms):
        raise UsageError(
            "out must be contiguous, writable, and apart from the sinograms",
            "give an array of its own",
        )


def _check_steps(method: str, options: Options, iterations: int | None) -> None:
    if method not in ITERATIONS:
        if iterations is not None or options.nonnegative:
            raise UsageError(f"the method {method} takes no steps", f"choose one of {', '.join(ITERATIONS)}")
        return
    if options.iterations < 1:
        raise UsageError(f"iterations {options.iterations} are none", "give a number from 1 up")
    if options.nonnegative and method not in NONNEGATIVE:
        raise UsageError(
            f"{method} cannot keep values from being negative", f"choose one of {', '.join(NONNEGATIVE)}"
        )
    plain = Options()
    for name in ("window", "cutoff", "padding"):
        if getattr(options, name) != getattr(plain, name):
            raise UsageError(f"{name} is of a filter, and {method} has none", f"leave {name} out")


def _check_room(method: str, room: float) -> None:
    if room != 1 and method not in ITERATIONS:
        raise UsageError(f"the method {method} needs no room", f"choose one of {', '.join(ITERATIONS)}")
    if not 1 <= room < float("inf"):
        raise UsageError(f"room {room:g} is less than what the detector sees", "give a number from 1 up")


def _check_choice(name: str, value: str, allowed: Mapping[str, object] | tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{name} {value!r} is unknown", f"choose one of {', '.join(allowed)}")


def _numbers(values: ArrayLike) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=np.float64).ravel().tolist())


def _optional(values: ArrayLike | None) -> tuple[float, ...] | None:
    return None if values is None else _numbers(values)


def _check_geometry(geometry: Geometry, threads: int, cutoff: float) -> None:
    if not geometry.angles or not np.isfinite(geometry.angles).all():
        raise UsageError("a reconstruction needs at least one angle, and finite ones")
    for name, values in (("shifts", geometry.shifts), ("weights", geometry.shares)):
        if values is not None and (len(values) != len(geometry.angles) or not np.isfinite(values).all()):
            raise UsageError(f"{name} must be {len(geometry.angles)} finite numbers, one for each angle")
    if geometry.columns < 1 or geometry.size < 1 or threads < 1:
        raise UsageError(
            f"columns {geometry.columns}, size {geometry.size} and threads {threads} must be at least 1"
        )
    if not 0 < cutoff <= 1:
        raise UsageError(f"cutoff {cutoff:g} is no fraction of the Nyquist frequency", "give one in 0 .. 1")
    _check_axis(geometry)


def _check_axis(geometry: Geometry) -> None:
    if not 0 <= geometry.center <= geometry.columns - 1:
        raise UsageError(
            f"the rotation axis at column {geometry.center:g} lies outside of the detector",
            f"give one within 0 .. {geometry.columns - 1}",
        )
    if geometry.half_acquisition and not geometry.full_turn:
        raise UsageError("half acquisition needs angles over a full turn of 360 degrees")


def _check_region(geometry: Geometry) -> None:
    for name, (begin, end) in zip("yx", geometry.region or (), strict=False):
        if not 0 <= begin < end <= geometry.size:
            raise UsageError(
                f"region {name} {begin}:{end} does not lie in the slice",
                f"choose within 0:{geometry.size}, the end not included",
            )


def _outside_of_circle(geometry: Geometry, mask: bool | float) -> NDArray[np.bool_] | None:
    if mask is False:
        return None
    radius = geometry.size / 2 if mask is True else float(mask)
    return np.asarray(np.hypot(geometry.x, geometry.y[:, np.newaxis]) > radius)
