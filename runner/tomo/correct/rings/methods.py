"""The names of the methods and their parameters; light, as the command line needs them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from runner.tomo.choice import Choice, Parameter

NO_RINGS = Choice(name="none")
"""Rings are left as they are."""

_SNR = Parameter(default=3.0, least=1.0)
_SMALL = Parameter(default=21, least=3, most=501, odd=True)
_LARGE = Parameter(default=51, least=3, most=501, odd=True)
_DROP = Parameter(default=0.1, least=0.0, most=0.8)

METHODS: Mapping[str, Mapping[str, Parameter]] = MappingProxyType(
    {
        NO_RINGS.name: {},
        "sorting": {"size": _SMALL},
        "filtering": {"sigma": Parameter(default=3.0, least=0.1), "size": _SMALL},
        "fitting": {
            "order": Parameter(default=2, least=1, most=8),
            "sigma": Parameter(default=10.0, least=0.1),
        },
        "large": {"snr": _SNR, "size": _LARGE, "drop": _DROP},
        "dead": {"snr": _SNR, "size": _LARGE},
        "all": {"snr": _SNR, "large": _LARGE, "small": _SMALL, "drop": _DROP},
        "wavelet-fft": {
            "level": Parameter(default=5, least=1, most=12),
            "sigma": Parameter(default=1.0, least=0.1),
            "order": Parameter(default=9, least=1, most=20),
        },
        "titarenko": {"alpha": Parameter(default=0.2, least=1e-9, most=1e3)},
        "mean": {"sigma": Parameter(default=3.0, least=0.1)},
    }
)
