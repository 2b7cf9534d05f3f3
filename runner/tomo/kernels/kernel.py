"""What makes a compiled function of a Python function. Slow to import: only kernels do so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

from runner.tomo.kernels.cache import cache_folder


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function at its first call, for any number of threads at once, and keep it on disk."""
    previous, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache_folder())
    try:
        compiled: Callable[..., Any] = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    finally:
        numba.config.CACHE_DIR = previous
    return compiled
