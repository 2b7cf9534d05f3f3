"""What computes: the processor or a GPU, and what is left to it."""

from __future__ import annotations

import numpy as np

from runner.errors import UsageError
from runner.tomo.reconstruct.gpu.layout import COUNT_TYPES

DEVICES = ("cpu", "gpu", "auto")


def choose_device(device: str, method: str) -> str:
    """Choose ``"cpu"`` or ``"gpu"``, for what was asked for and what this process sees.

    Raises
    ------
    UsageError
        If a GPU was asked for, and the method does not run on one.
    """
    if method != "fourier":
        if device == "gpu":
            raise UsageError(f"the method {method} does not run on a GPU", "choose fourier, or the CPU")
        return "cpu"
    if device == "auto":
        from runner.tomo.reconstruct.gpu.device import is_there

        return "gpu" if is_there() else "cpu"
    return device


def takes_counts(device: str, method: str, pixels: np.dtype[np.generic]) -> bool:
    """Tell whether a reconstructor here takes counts of that type, and makes line integrals of them itself.

    >>> [takes_counts(device, "fourier", np.dtype(np.uint16)) for device in ("cpu", "gpu")]
    [False, True]
    """
    return pixels in COUNT_TYPES and choose_device(device, method) == "gpu"
