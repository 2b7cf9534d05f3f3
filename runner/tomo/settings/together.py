"""Checks of settings that go together, or do not."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING

from runner.errors import UsageError
from runner.tomo.settings.allowed import GREYS, ITERATIVE, NONNEGATIVE

if TYPE_CHECKING:
    from runner.tomo.settings.settings import Settings


def check_together(settings: Settings) -> None:
    """Refuse settings that mean nothing beside each other.

    Raises
    ------
    UsageError
        Says which, and what to do.
    """
    _check_method(settings)
    if settings.greys != GREYS and not settings.dtype.startswith("uint"):
        raise UsageError(
            f"greys {settings.greys} are of whole numbers, and the pixels are {settings.dtype}",
            "say --dtype uint16 or uint8, or leave --greys out",
        )
    if settings.mask_value != 0 and not settings.mask:
        raise UsageError(
            f"mask_value {settings.mask_value:g} is for what lies outside of the mask, and there is none",
            "say --mask as well",
        )
    if math.isnan(settings.mask_value) and settings.dtype.startswith("uint"):
        raise UsageError(
            f"mask_value is not a number, and the pixels are {settings.dtype}",
            "give a number, or say --dtype float32 or float16",
        )


def _check_method(settings: Settings) -> None:
    method = settings.method
    if settings.device == "gpu" and method != "fourier":
        raise UsageError(f"the method {method} does not run on a GPU", "choose fourier, or the CPU")
    if method not in ITERATIVE and (settings.iterations is not None or settings.nonnegative):
        raise UsageError(
            f"the method {method} takes no iterations, and keeps no value from being negative",
            f"say --method {' or '.join(ITERATIVE)}",
        )
    if method not in ITERATIVE and settings.room != 1:
        raise UsageError(
            f"the method {method} has no use for room, it takes the outer columns to go on",
            f"leave room out, or say --method {' or '.join(ITERATIVE)}",
        )
    if settings.nonnegative and method not in NONNEGATIVE:
        raise UsageError(
            f"{method} cannot keep values from being negative", f"say --method {' or '.join(NONNEGATIVE)}"
        )
    for name in ("window", "cutoff", "padding"):
        if method in ITERATIVE and getattr(settings, name) != _default(settings, name):
            raise UsageError(f"{name} is of a filter, and {method} has none", f"leave {name} out")


def _default(settings: Settings, name: str) -> object:
    return next(item.default for item in fields(settings) if item.name == name)
