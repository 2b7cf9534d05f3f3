"""Where the parts of a scan are to be found, where its file does not say so by itself.

Of the standard library only: the command line reads these before anything heavy is loaded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from runner.errors import UsageError

_RANGE = re.compile(r"\s*([^:\s]+)\s*:\s*([^:\s]+)\s*:\s*(\d+)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What the user says about where a scan's parts are.

    Attributes
    ----------
    entry : str or None
        The group of the file that holds the scan, where there are several.
    projections : str or None
        Path inside the file of a dataset (frame, row, column), in a file of no known form.
    flats, darks : str or None
        Where they are, if not where the form has them: a path inside the scan's file that begins with
        ``/``, another file or folder, or ``FILE::/PATH``; several, in the order in which they were
        taken, are separated by commas.
    angles : str or None
        ``"A:B:N"`` for N angles from A to B degrees, B not included; a path inside the file; a text file
        with a number in each line; or ``FILE::/PATH``.
    subset : str or None
        ``"FIRST:END:STEP"``, each of which may be left out: use only these projections, numbered from 0 in
        the order in which they were taken, END not included.
    no_flats, no_darks : bool
        Do without, whether there are any or not. The projections are then transmissions, or have air at both
        sides of the sample; counts without beam are 0.

    Raises
    ------
    UsageError
        If frames are named that are not to be used.
    """

    entry: str | None = None
    projections: str | None = None
    flats: str | None = None
    darks: str | None = None
    angles: str | None = None
    subset: str | None = None
    no_flats: bool = False
    no_darks: bool = False

    def __post_init__(self) -> None:
        for kind in ("flats", "darks"):
            if getattr(self, kind) is not None and getattr(self, f"no_{kind}"):
                raise UsageError(
                    f"{kind} are named, and no_{kind} says to do without", "leave one of the two out"
                )


NAMES = tuple(item.name for item in fields(Sources))


def check_source(name: str, value: Any) -> str | None:
    """Check one of the :class:`Sources`, as far as its text alone tells.

    Raises
    ------
    UsageError
        If it is no text, or empty, or a range that makes no sense.
    """
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name} {value!r} is no name of a place", "give a text")
    if name == "angles":
        angle_range(value)
    if name == "subset":
        parse_subset(value)
    return value


def flag(name: str, value: Any) -> bool:
    """Check a setting that is true or false.

    Raises
    ------
    UsageError
        If it is neither.
    """
    if not isinstance(value, bool):
        raise UsageError(f"{name} {value!r} is neither true nor false")
    return value


CHECKS: Mapping[str, Callable[[str, Any], Any]] = MappingProxyType(
    dict.fromkeys(NAMES, check_source) | dict.fromkeys(("no_flats", "no_darks"), flag)
)
"""How each of them is checked."""


def angle_range(text: str) -> tuple[float, float, int] | None:
    """Read angles written as ``"A:B:N"``: first, end (not included) and number; None if it is no such text.

    Raises
    ------
    UsageError
        If it is one that makes no sense.

    Examples
    --------
    >>> angle_range("0:180:1500")
    (0.0, 180.0, 1500)
    """
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    try:
        first, end, count = float(match[1]), float(match[2]), int(match[3])
    except ValueError:
        return None
    if not (math.isfinite(first) and math.isfinite(end)) or first == end or count < 2:
        raise UsageError(
            f"angles {text!r} are not spread over anything",
            "write FIRST:END:NUMBER in degrees, the end not included, like 0:180:1500",
        )
    return first, end, count


def parse_subset(text: str) -> slice:
    """Read which projections to use.

    Raises
    ------
    UsageError
        If it is no range, or goes backwards.

    Examples
    --------
    >>> parse_subset("::4")
    slice(None, None, 4)
    """
    parts = text.split(":")
    try:
        bounds = [int(part) if part.strip() else None for part in parts]
    except ValueError:
        bounds = []
    if not 2 <= len(bounds) <= 3 or (len(bounds) == 3 and bounds[2] is not None and bounds[2] < 1):
        raise UsageError(
            f"subset {text!r} is no range of projections", "write FIRST:END:STEP, like 0:900 or ::4"
        )
    return slice(*bounds)


def places(text: str | None) -> list[tuple[str, str]]:
    """Split places into (file, path inside it); either may be empty.

    >>> places("before.h5::/data, /entry/flats, darks")
    [('before.h5', '/data'), ('', '/entry/flats'), ('darks', '')]
    """
    found = []
    for part in (text or "").split(","):
        place = part.strip()
        if "::" in place:
            file, _, path = place.partition("::")
            found.append((file, path))
        elif place:
            found.append(("", place) if place.startswith("/") else (place, ""))
    return found
