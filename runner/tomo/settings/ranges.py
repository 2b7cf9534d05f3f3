"""Ranges that are written as in Python, rows, parts of a slice and grey levels, and what of them is there."""

from __future__ import annotations

import math

from runner.errors import UsageError


def parse_rows(text: str, name: str = "rows") -> tuple[int | None, int | None]:
    """Read a range of rows, or of others of that name, as in Python: ``"10:20"``, ``"10:"``, ``":20"``.

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
        raise UsageError(f"{name} {text!r} is no range", "write FIRST:END, the end not included, like 10:20")
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


def center_within(center: float | str, columns: int, binning: int = 1) -> float | None:
    """Return the rotation axis that was given, None if it is to be found.

    Parameters
    ----------
    center : float or "auto"
        Column of the detector.
    columns : int
        Of the detector.
    binning : int
        How many of them make one; the axis lies between the outermost centres of those.

    Raises
    ------
    UsageError
        If it is not on the detector.
    """
    if isinstance(center, str):
        return None
    first, last = (binning - 1) / 2, columns // binning * binning - (binning + 1) / 2
    if not first <= center <= last:
        raise UsageError(
            f"center {center:g} lies outside of the detector", f"give a column within {first:g} .. {last:g}"
        )
    return center


def part_within(
    name: str, part: tuple[int | None, int | None] | None, size: int, most: int
) -> tuple[int, int]:
    """Apply a choice of pixels along an axis of a slice, `name`, that has `size` of them.

    Parameters
    ----------
    most : int
        How many there may turn out to be, where that is not known yet; else `size`.

    Raises
    ------
    UsageError
        If they are not all in the slice, or there are none.
    """
    first, end = part or (None, None)
    first = 0 if first is None else first
    end = max(size, min(first + 1, most)) if end is None else end
    if not 0 <= first < end <= most:
        raise UsageError(
            f"{name} {first}:{end} does not lie in the slice",
            f"choose within 0:{most}, the end not included and larger than the first",
        )
    return first, end
