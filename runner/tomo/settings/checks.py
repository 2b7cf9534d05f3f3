"""Checks of single settings: each returns the value as it is kept, or says what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runner.errors import UsageError
from runner.tomo.choice import Choice, parse_choice
from runner.tomo.correct.rings.methods import METHODS as RING_METHODS
from runner.tomo.correct.unsharp_methods import METHODS as UNSHARP_METHODS
from runner.tomo.settings.allowed import AUTO, BINS
from runner.tomo.settings.ranges import parse_greys, parse_rows


@dataclass(frozen=True, slots=True)
class Check:
    """A check that can say beforehand what it allows.

    Attributes
    ----------
    words : str
        What is allowed, for people.
    read : callable
        The check, of a setting's name and value.
    """

    words: str
    read: Callable[[str, Any], Any]

    def __call__(self, name: str, value: Any) -> Any:
        """Return the value as it is kept."""
        return self.read(name, value)


def one_of(*allowed: str) -> Check:
    """Allow some words."""
    words = ", ".join(allowed)

    def check(name: str, value: Any) -> str:
        if value not in allowed:
            raise UsageError(f"{name} {value!r} is unknown", f"choose one of {words}")
        return str(value)

    return Check(words, check)


def column_or_auto(name: str, value: Any) -> float | str:
    """Allow a detector column, or ``"auto"``."""
    if value == AUTO:
        return AUTO
    try:
        position = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        position = math.nan
    if not math.isfinite(position) or position < 0:
        raise UsageError(f"{name} {value!r} is no detector column", "give a number from 0 up, or auto")
    return position


def fraction() -> Check:
    """Allow a number above 0 and up to 1."""
    words = "a number above 0 and up to 1"

    def check(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
            raise UsageError(f"{name} {value!r} is no fraction", f"give {words}")
        return float(value)

    return Check(words, check)


def row_range(name: str, value: Any) -> tuple[int | None, int | None] | None:
    """Allow rows, or other pixels, as text or as a pair."""
    if value is None:
        return None
    if isinstance(value, str):
        return parse_rows(value, name)
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


def between(least: float, most: float, unit: str) -> Check:
    """Allow a number, or none; the limits catch what was given in another unit."""
    words = f"a number from {least:g} to {most:g}{unit}"

    def check(name: str, value: Any) -> float | None:
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise UsageError(f"{name} {value!r} is not allowed", f"give {words}")
        return float(value)

    return Check(words, check)


def grey_window(name: str, value: Any) -> str:
    """Allow a window of grey levels."""
    if not isinstance(value, str):
        raise UsageError(f"{name} {value!r} is no window", 'write "LOW:HIGH", or "LOW%:HIGH%"')
    parse_greys(value)
    return value


def bin_factor() -> Check:
    """Allow some powers of two."""
    words = ", ".join(map(str, BINS))

    def check(name: str, value: Any) -> int:
        if type(value) is not int or value not in BINS:
            raise UsageError(f"{name} {value!r} is not allowed", f"choose one of {words}")
        return value

    return Check(words, check)


def number(name: str, value: Any) -> float:
    """Allow any number, also the one that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isinf(value):
        raise UsageError(f"{name} {value!r} is not allowed", "give a number, or nan")
    return float(value)


def whole(least: int, most: int, unit: str) -> Check:
    """Allow a whole number, or none."""
    words = f"a whole number from {least} to {most}{unit}"

    def check(name: str, value: Any) -> int | None:
        if value is not None and (type(value) is not int or not least <= value <= most):
            raise UsageError(f"{name} {value!r} is not allowed", f"give {words}")
        return value

    return Check(words, check)
