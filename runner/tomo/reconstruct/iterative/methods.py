"""The iterative methods, and how many steps each takes if not told. Of the standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ITERATIONS: Mapping[str, int] = MappingProxyType({"sirt": 100, "fista": 40, "cgls": 15})
"""Default number of steps of each method."""

NONNEGATIVE = ("sirt", "fista")
"""The methods that can keep all values from being negative."""
