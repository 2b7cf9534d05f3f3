"""The names of the methods and their parameters; light, as the command line needs them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runner.tomo.choice import Choice, Parameter

NO_UNSHARP = Choice(name="none")
"""Projections are not sharpened."""

METHODS: Mapping[str, Mapping[str, Parameter]] = MappingProxyType(
    {
        NO_UNSHARP.name: {},
        "gaussian": {
            "sigma": Parameter(default=1.0, least=0.1, most=100.0),
            "coeff": Parameter(default=3.0, least=0.0),
        },
    }
)
