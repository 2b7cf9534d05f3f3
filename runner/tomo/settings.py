"""What a user can choose for a reconstruction, and where each choice came from.

Of the standard library only: the command line reads the allowed values before anything heavy is loaded.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from runner.errors import MissingFileError, UsageError
from runner.tomo.choice import Choice, parse_choice
from runner.tomo.correct.rings.methods import METHODS as RING_METHODS
from runner.tomo.correct.rings.methods import NO_RINGS
from runner.tomo.correct.unsharp_methods import METHODS as UNSHARP_METHODS
from runner.tomo.correct.unsharp_methods import NO_UNSHARP
from runner.tomo.sources import NAMES as SOURCE_NAMES
from runner.tomo.sources import Sources, text_or_none

METHODS = ("fourier", "exact", "fbp")
QUALITIES = ("standard", "high")
DEVICES = ("cpu", "gpu", "auto")
WINDOWS = ("ram-lak", "shepp-logan", "cosine", "hann", "hamming", "butterworth", "linear")
PADDINGS = ("edge", "zero")
FIELDS = ("auto", "full", "half")
UNITS = ("1/cm", "1/pixel")
DTYPES = ("float32", "float16", "uint16", "uint8")
GREYS = "0.1%:99.9%"
RINGS = tuple(RING_METHODS)
UNSHARP = tuple(UNSHARP_METHODS)
AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to reconstruct.

    Attributes
    ----------
    entry, projections, flats, darks, angles, subset : str or None
        Where the parts of the scan are, and which to use; see :class:`runner.tomo.sources.Sources`.
    center : float or "auto"
        Detector column of the rotation axis, pixel centres at 0, 1, ...; or find it.
    method, quality, device, window, padding : str
        See :class:`runner.tomo.reconstruct.Reconstructor`.
    cutoff : float
        See there.
    field_of_view : str
        ``"half"`` where a full turn about an axis near the detector's end shows twice as much, ``"full"``
        where not; ``"auto"`` finds out.
    rows : pair of int or None, or None
        First detector row and the one after the last; None for the outermost, or for all.
    units : str
        ``"1/cm"``, where the scan tells its pixel size, or ``"1/pixel"``.
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
        Set the slices to zero outside of the largest circle that fits.
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
    center: float | str = AUTO
    method: str = "fourier"
    quality: str = "standard"
    device: str = "cpu"
    window: str = "ram-lak"
    cutoff: float = 1.0
    padding: str = "edge"
    field_of_view: str = "auto"
    rows: tuple[int | None, int | None] | None = None
    units: str = "1/cm"
    rings: Choice = NO_RINGS
    zingers: float | None = None
    delta_beta: float | None = None
    unsharp: Choice = NO_UNSHARP
    energy: float | None = None
    distance: float | None = None
    pixel_size: float | None = None
    mask: bool = False
    dtype: str = "float32"
    greys: str = GREYS
    origins: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            object.__setattr__(self, name, check(name, getattr(self, name)))
        if self.device == "gpu" and self.method != "fourier":
            raise UsageError(f"the method {self.method} does not run on a GPU", "choose fourier, or the CPU")
        if self.greys != GREYS and not self.dtype.startswith("uint"):
            raise UsageError(
                f"greys {self.greys} are of whole numbers, and the pixels are {self.dtype}",
                "say --dtype uint16 or uint8, or leave --greys out",
            )

    @property
    def sources(self) -> Sources:
        """Where the parts of the scan are."""
        return Sources(**{name: getattr(self, name) for name in SOURCE_NAMES})

    def origin(self, name: str) -> str:
        """Tell where a setting came from: ``"default"``, ``"command line"``, or the file's name."""
        return self.origins.get(name, "default")


NAMES = tuple(item.name for item in dataclasses.fields(Settings) if item.name != "origins")


def load_settings(config: Path | None, command_line: Mapping[str, Any]) -> Settings:
    """Put settings together: the command line goes before the file, and the file before the defaults.

    Parameters
    ----------
    config : Path or None
        A TOML file with settings at its top level.
    command_line : mapping
        Settings by name; None where not given.

    Raises
    ------
    MissingFileError
        If there is no such file.
    UsageError
        If a name or a value is not allowed; says what is.
    """
    from_file = {} if config is None else _read(config)
    given = {name: value for name, value in command_line.items() if value is not None}
    origins = dict.fromkeys(from_file, str(config)) | dict.fromkeys(given, "command line")
    return Settings(**from_file | given, origins=MappingProxyType(origins))


def parse_rows(text: str) -> tuple[int | None, int | None]:
    """Read a range of rows as in Python: ``"10:20"``, ``"10:"``, ``":20"``.

    Raises
    ------
    UsageError
        If it is none.
    """
    first, colon, end = text.partition(":")
    try:
        bounds = (int(first) if first.strip() else None, int(end) if end.strip() else None)
    except ValueError:
        colon = ""
    if not colon:
        raise UsageError(f"rows {text!r} is no range", "write FIRST:END, the end not included, like 10:20")
    return bounds


def parse_greys(text: str) -> tuple[float, float, bool]:
    """Read a window of grey levels: its ends, and whether they are percentiles.

    >>> parse_greys("-0.5:2"), parse_greys("1%:99.5%")
    ((-0.5, 2.0, False), (1.0, 99.5, True))

    Raises
    ------
    UsageError
        If it is none.
    """
    low, _, high = text.replace(" ", "").partition(":")
    percent = low.endswith("%") and high.endswith("%")
    try:
        ends = (float(low[:-1]), float(high[:-1])) if percent else (float(low), float(high))
    except ValueError:
        ends = (math.nan, math.nan)
    if not -math.inf < ends[0] < ends[1] < math.inf or (percent and not 0 <= ends[0] < ends[1] <= 100):
        raise UsageError(
            f"greys {text!r} are no window", "write LOW:HIGH, like 0:2.5, or percentiles, like 0.1%:99.9%"
        )
    return *ends, percent


def rows_within(rows: tuple[int | None, int | None] | None, total: int) -> tuple[int, int]:
    """Apply a choice of rows to a detector of `total` rows.

    Raises
    ------
    UsageError
        If the rows are not all on the detector, or there are none.
    """
    if rows is None:
        return 0, total
    first = 0 if rows[0] is None else rows[0]
    end = total if rows[1] is None else rows[1]
    if not 0 <= first < end <= total:
        raise UsageError(
            f"rows {first}:{end} are not on the detector",
            f"choose within 0:{total}, the end not included and larger than the first",
        )
    return first, end


def _read(config: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingFileError(f"there is no configuration file {config}") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{config} cannot be read as TOML: {error}") from error
    for name in content:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1, cutoff=0.5)
            remedy = f"did you mean {near[0]}?" if near else f"it may hold {', '.join(NAMES)}"
            raise UsageError(f"{config}: unknown setting {name!r}", remedy)
    return content


def _one_of(*allowed: str) -> Callable[[str, Any], str]:
    def check(name: str, value: Any) -> str:
        if value not in allowed:
            raise UsageError(f"{name} {value!r} is unknown", f"choose one of {', '.join(allowed)}")
        return str(value)

    return check


def _center(name: str, value: Any) -> float | str:
    if value == AUTO:
        return AUTO
    try:
        position = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        position = math.nan
    if not math.isfinite(position) or position < 0:
        raise UsageError(f"{name} {value!r} is no detector column", "give a number from 0 up, or auto")
    return position


def _fraction(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise UsageError(f"{name} {value!r} is no fraction", "give a number above 0 and up to 1")
    return float(value)


def _rows(name: str, value: Any) -> tuple[int | None, int | None] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return parse_rows(value)
    if (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(type(v) in (int, type(None)) for v in value)
    ):
        return value[0], value[1]
    raise UsageError(f"{name} {value!r} is no range", 'write "FIRST:END" or [FIRST, END]')


def read_rings(name: str, value: Any) -> Choice:
    """Read a method of removing rings; see :func:`runner.tomo.choice.parse_choice`."""
    return parse_choice(name, value, RING_METHODS)


def read_unsharp(name: str, value: Any) -> Choice:
    """Read a method of sharpening."""
    return parse_choice(name, value, UNSHARP_METHODS)


def _between(least: float, most: float, unit: str) -> Callable[[str, Any], float | None]:
    """Allow a number, or none; the limits catch what was given in another unit."""

    def check(name: str, value: Any) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise UsageError(
                f"{name} {value!r} is not allowed", f"give a number from {least:g} to {most:g}{unit}"
            )
        return float(value)

    return check


def _greys(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} {value!r} is no window", 'write "LOW:HIGH", or "LOW%:HIGH%"')
    parse_greys(value)
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name} {value!r} is neither true nor false")
    return value


_CHECKS: Mapping[str, Callable[[str, Any], Any]] = MappingProxyType(
    {
        **dict.fromkeys(SOURCE_NAMES, text_or_none),
        "center": _center,
        "method": _one_of(*METHODS),
        "quality": _one_of(*QUALITIES),
        "device": _one_of(*DEVICES),
        "window": _one_of(*WINDOWS),
        "cutoff": _fraction,
        "padding": _one_of(*PADDINGS),
        "field_of_view": _one_of(*FIELDS),
        "rows": _rows,
        "units": _one_of(*UNITS),
        "rings": read_rings,
        "zingers": _between(1e-3, 1e3, ""),
        "delta_beta": _between(1e-3, 1e6, ""),
        "unsharp": read_unsharp,
        "energy": _between(0.1, 2000, " keV"),
        "distance": _between(1e-6, 500, " m"),
        "pixel_size": _between(1e-9, 2e-3, " m"),
        "mask": _flag,
        "dtype": _one_of(*DTYPES),
        "greys": _greys,
    }
)
