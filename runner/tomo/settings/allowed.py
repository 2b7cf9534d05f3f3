"""The values that settings may have."""

from __future__ import annotations

from runner.tomo.correct.rings.methods import METHODS as RING_METHODS
from runner.tomo.correct.unsharp_methods import METHODS as UNSHARP_METHODS

ITERATIVE = ("sirt", "fista", "cgls")
NONNEGATIVE = ("sirt", "fista")
METHODS = ("fourier", "exact", "fbp", *ITERATIVE)
QUALITIES = ("standard", "high")
DEVICES = ("cpu", "gpu", "auto")
WINDOWS = ("ram-lak", "shepp-logan", "cosine", "hann", "hamming", "parzen", "butterworth", "linear")
PADDINGS = ("edge", "zero")
BINS = (1, 2, 4, 8)
FIELDS = ("auto", "full", "half")
FLATS_BY = ("median", "mean")
UNITS = ("1/cm", "1/pixel")
DTYPES = ("float32", "float16", "uint16", "uint8")
GREYS = "0.1%:99.9%"
RINGS = tuple(RING_METHODS)
UNSHARP = tuple(UNSHARP_METHODS)
AUTO = "auto"
