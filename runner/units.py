"""Numbers with units as people write them: memory sizes and durations, both ways."""

from __future__ import annotations

import re

from runner.errors import UsageError

_BINARY = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS_OF_TIME = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_size(text: str) -> int:
    """Read a memory size: ``"400G"``, ``"1.5 GiB"``, ``"4096"`` (bytes).

    All prefixes are binary (G = 1024**3), as in every batch system's options.

    Raises
    ------
    UsageError
        If the text is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} is not a memory size", "write it like 400G, 1.5GiB or 4096 (bytes)")
    return int(float(match["number"]) * _BINARY[match["unit"].upper()])


def format_size(size: float) -> str:
    """Write a number of bytes for people: ``"1.9 GiB"``.

    >>> format_size(2_040_109_465)
    '1.9 GiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def parse_duration(text: str) -> float:
    """Read a duration in seconds: ``"2:00:00"``, ``"1-12:00:00"`` (days), ``"90s"``, ``"5m"``, ``"90"``.

    Raises
    ------
    UsageError
        If the text is not a duration.
    """
    stripped = text.strip()
    if match := re.fullmatch(r"(?:(\d+)-)?(\d+):(\d{1,2})(?::(\d{1,2}))?", stripped):
        days, first, second, third = match.groups()
        # two fields are h:mm, as in LSF and in speech; SLURM's m:ss is the odd one out, so write three
        hours, minutes, seconds = int(first), int(second), int(third or 0)
        return float(((int(days or 0) * 24 + hours) * 60 + minutes) * 60 + seconds)
    if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", stripped):
        return float(match[1]) * _UNITS_OF_TIME[match[2] or "s"]
    raise UsageError(f"{text!r} is not a duration", "write it like 2:00:00 (h:mm:ss), 90s, 5m or 2h")


def format_duration(seconds: float) -> str:
    """Write a duration for people: ``"12.3 s"``, ``"4:07"`` (m:ss), ``"2:00:00"`` (h:mm:ss).

    >>> format_duration(7200)
    '2:00:00'
    """
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
