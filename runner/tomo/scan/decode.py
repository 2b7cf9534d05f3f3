"""What HDF5's filters did to a chunk, undone outside of HDF5, which does one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from runner.tomo.deflate import DeflateError, decompress
from runner.tomo.scan.plugins import plugin_decoder
from runner.tomo.scan.stored import Filter

Bytes = bytes | memoryview
Decoder = Callable[[Bytes, int], Bytes]
"""Takes a chunk's bytes and their number in the end; raises ValueError if they are damaged."""


def decoders_of(filters: Sequence[Filter]) -> list[Decoder] | None:
    """Find what undoes each filter; None if there is one that only HDF5 can undo."""
    known = [_decoder(code, values) for code, values in filters]
    found = [decoder for decoder in known if decoder is not None]
    return found if len(found) == len(filters) else None


def decode(stored: Bytes, decoders: Sequence[Decoder], mask: int, nbytes: int) -> Bytes:
    """Undo all filters of a chunk, the last one first, but for those that `mask` says were left out.

    Raises
    ------
    ValueError
        If it does not become `nbytes` bytes.
    """
    for number, decoder in reversed(list(enumerate(decoders))):
        if not mask >> number & 1:
            stored = decoder(stored, nbytes)
    if len(stored) != nbytes:
        raise ValueError(f"a chunk of {nbytes} bytes became {len(stored)}")
    return stored


def _decoder(code: int, values: tuple[int, ...]) -> Decoder | None:
    if code == 1:
        return _inflate
    if code == 2:
        return lambda stored, _: _unshuffle(stored, values[0])
    return plugin_decoder(code, values)


def _inflate(stored: Bytes, nbytes: int) -> bytes:
    try:
        return decompress(stored, bufsize=nbytes)
    except DeflateError as damage:
        raise ValueError("a chunk is damaged") from damage


def _unshuffle(stored: Bytes, itemsize: int) -> memoryview:
    """Bring together the bytes of each number: first come the first bytes of all, then the second ones."""
    planes = np.frombuffer(stored, np.uint8)
    whole = len(planes) - len(planes) % itemsize  # what is left beyond was not moved
    numbers = planes.copy()
    for number, plane in enumerate(planes[:whole].reshape(itemsize, -1)):
        numbers[number:whole:itemsize] = plane
    return numbers.data
