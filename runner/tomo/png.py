"""Grey pictures: as PNG files, and inside of a page."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_DARKEST, _BRIGHTEST = 1.0, 99.5  # percentiles of the values that are black and white


def window_of(values: NDArray[np.float32]) -> tuple[float, float]:
    """Choose what is black and what is white; what is not a number does not count."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = np.percentile(finite, (_DARKEST, _BRIGHTEST)).tolist()
    return low, high


def picture(image: NDArray[np.float32], low: float, high: float) -> str:
    """Make a picture that a page can hold: a PNG as a ``data:`` address.

    Parameters
    ----------
    image : (y, x) float32
        The values.
    low, high : float
        What is black and what is white; what is not a number is black.
    """
    return "data:image/png;base64," + base64.b64encode(png(to_grey(image, low, high))).decode("ascii")


def to_grey(image: NDArray[np.float32], low: float, high: float) -> NDArray[np.uint8]:
    """Turn values (y, x) into the grey levels 0 to 255."""
    scaled = (image - low) * (255 / (high - low) if high > low else 0)
    grey: NDArray[np.uint8] = np.nan_to_num(scaled, nan=0.0).clip(0, 255).round().astype(np.uint8)
    return grey


def png(grey: NDArray[np.uint8]) -> bytes:
    """Write grey levels (y, x) as a PNG file.

    The form is that of the W3C's recommendation "Portable Network Graphics", third edition: 8 bits, grey.
    """
    height, width = grey.shape
    lines = np.zeros((height, width + 1), np.uint8)  # each begins with the number of its filter: none
    lines[:, 1:] = grey
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(name, content) for name, content in parts)


def _part(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
