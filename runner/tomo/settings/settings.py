"""What a user can choose for a reconstruction, and where each choice came from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from runner.tomo.choice import Choice
from runner.tomo.correct.rings.methods import NO_RINGS
from runner.tomo.correct.unsharp_methods import NO_UNSHARP
from runner.tomo.settings.allowed import (
    AUTO,
    DEVICES,
    DTYPES,
    FIELDS,
    FLATS_BY,
    GREYS,
    METHODS,
    PADDINGS,
    QUALITIES,
    UNITS,
    WINDOWS,
)
from runner.tomo.settings.checks import (
    Check,
    between,
    bin_factor,
    column_or_auto,
    fraction,
    grey_window,
    number,
    one_of,
    read_rings,
    read_unsharp,
    row_range,
    whole,
)
from runner.tomo.settings.together import check_together
from runner.tomo.sources import CHECKS as SOURCE_CHECKS
from runner.tomo.sources import NAMES as SOURCE_NAMES
from runner.tomo.sources import Sources, flag


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to reconstruct.

    Attributes
    ----------
    entry, projections, flats, darks, angles, subset : str or None
        Where the parts of the scan are, and which to use; see :class:`runner.tomo.sources.Sources`.
    no_flats, no_darks : bool
        See there.
    center : float or "auto"
        Detector column of the rotation axis, pixel centres at 0, 1, ...; or find it.
    method, quality, device, window, padding : str
        See :class:`runner.tomo.reconstruct.Reconstructor`.
    cutoff : float
        See there.
    iterations : int or None
        Steps of an iterative method; None for the method's own number.
    nonnegative : bool
        Keep all values from being negative, where the method can.
    room : float
        How many times as wide as the field of view the object is, to an iterative method.
    field_of_view : str
        ``"half"`` where a full turn about an axis near the detector's end shows twice as much, ``"full"``
        where not; ``"auto"`` finds out.
    bin : int
        So many detector pixels along both sides become one: 1, 2, 4 or 8. All else that is counted in pixels
        is counted in those of the detector: `rows`, `center`, and `x` and `y`.
    rows : pair of int or None, or None
        First detector row and the one after the last; None for the outermost, or for all.
    x, y : pair of int or None, or None
        The part of the slices that is made, in pixels of the whole slice; None as for `rows`.
    units : str
        ``"1/cm"``, where the scan tells its pixel size, or ``"1/pixel"``.
    flats_by : str
        How the flats of a group become one: ``"median"`` or ``"mean"``.
    ring_current : bool
        Follow the storage ring's current, where the scan tells it of every frame.
    air : int or None
        Normalise every line of a projection by so many columns of air at both of its ends; None for not.
    double_flat : float or None
        Take away the mean of all projections (double flat-field), less its blur by a Gaussian of so many
        pixels; 0 for all of the mean, None for not.
    defects : bool
        Interpolate the pixels that preflight finds to be defective; those without any signal always are.
    rings : Choice
        How rings are removed; given as ``"sorting"``, ``"sorting:size=31"`` or a table with ``method``.
    zingers : float or None
        By how much brighter than those around it a pixel is replaced, as a share; None for not.
    delta_beta : float or None
        Phase retrieval (Paganin), with the ratio of refraction to absorption; None for not.
    unsharp : Choice
        Sharpening, given as ``rings`` is.
    energy, distance, pixel_size : float or None
        Of the photons in keV, from the sample to the detector and at the sample in metres; None for what the
        scan tells.
    mask : bool
        Set the slices to `mask_value` outside of the largest circle that fits the whole slice.
    mask_value : float
        In the volume's unit; may be NaN.
    dtype : str
        Of the volume's pixels: ``"float32"``, ``"float16"``, ``"uint16"`` or ``"uint8"``.
    greys : str
        Values of the lowest and the highest grey level of an integer `dtype`: ``"LOW:HIGH"`` in the volume's
        unit, or percentiles of the values, ``"0.1%:99.9%"``.
    origins : mapping of str to str
        For each setting that was given: by what. The others are defaults.
    """

    entry: str | None = None
    projections: str | None = None
    flats: str | None = None
    darks: str | None = None
    angles: str | None = None
    subset: str | None = None
    no_flats: bool = False
    no_darks: bool = False
    center: float | str = AUTO
    method: str = "fourier"
    quality: str = "standard"
    device: str = "cpu"
    window: str = "ram-lak"
    cutoff: float = 1.0
    padding: str = "edge"
    iterations: int | None = None
    nonnegative: bool = False
    room: float = 1.0
    field_of_view: str = "auto"
    bin: int = 1
    rows: tuple[int | None, int | None] | None = None
    x: tuple[int | None, int | None] | None = None
    y: tuple[int | None, int | None] | None = None
    units: str = "1/cm"
    flats_by: str = "median"
    ring_current: bool = False
    air: int | None = None
    double_flat: float | None = None
    defects: bool = True
    rings: Choice = NO_RINGS
    zingers: float | None = None
    delta_beta: float | None = None
    unsharp: Choice = NO_UNSHARP
    energy: float | None = None
    distance: float | None = None
    pixel_size: float | None = None
    mask: bool = False
    mask_value: float = 0.0
    dtype: str = "float32"
    greys: str = GREYS
    origins: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))
        _ = self.sources  # raises if they contradict each other
        check_together(self)

    @property
    def sources(self) -> Sources:
        """Where the parts of the scan are."""
        return Sources(**{name: getattr(self, name) for name in SOURCE_NAMES})

    def origin(self, name: str) -> str:
        """Tell where a setting came from: ``"default"``, ``"command line"``, or the file's name."""
        return self.origins.get(name, "default")


NAMES = tuple(item.name for item in dataclasses.fields(Settings) if item.name != "origins")

_CHECKS: Mapping[str, Callable[[str, Any], Any]] = MappingProxyType(
    {
        **SOURCE_CHECKS,
        "center": column_or_auto,
        "method": one_of(*METHODS),
        "quality": one_of(*QUALITIES),
        "device": one_of(*DEVICES),
        "window": one_of(*WINDOWS),
        "cutoff": fraction(),
        "padding": one_of(*PADDINGS),
        "iterations": whole(1, 10_000, ""),
        "nonnegative": flag,
        "room": between(1, 4, " fields of view"),
        "field_of_view": one_of(*FIELDS),
        "bin": bin_factor(),
        **dict.fromkeys(("rows", "x", "y"), row_range),
        "units": one_of(*UNITS),
        "flats_by": one_of(*FLATS_BY),
        "ring_current": flag,
        "air": whole(1, 10_000, " columns"),
        "double_flat": between(0, 500, " pixels"),
        "defects": flag,
        "rings": read_rings,
        "zingers": between(1e-3, 1e3, ""),
        "delta_beta": between(1e-3, 1e6, ""),
        "unsharp": read_unsharp,
        "energy": between(0.1, 2000, " keV"),
        "distance": between(1e-6, 500, " m"),
        "pixel_size": between(1e-9, 2e-3, " m"),
        "mask": flag,
        "mask_value": number,
        "dtype": one_of(*DTYPES),
        "greys": grey_window,
    }
)


def allowed_for(name: str) -> str:
    """Say what a setting may be, where words or limits say it all; else nothing."""
    check = _CHECKS[name]
    return check.words if isinstance(check, Check) else ""
