"""What makes a file with a volume's pixels a BigTIFF: a header at its start, a directory for each slice.

The pixels lie one slice after another wherever the file has them; every directory points at its own. HDF5
lets a file begin with something else (its user block), so that one file is both.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from runner.tomo.volume.content import Content, words_for_tiff

_ASCII, _SHORT, _LONG, _RATIONAL, _LONG8 = 2, 3, 4, 5, 16  # types of values, and how they lie in a file:
_FORMS = {_SHORT: "<HHQH6x", _LONG: "<HHQI4x", _LONG8: "<HHQQ"}


def header(first: int) -> bytes:
    """Write the start of a file whose first directory lies at a byte."""
    return struct.pack("<2sHHHQ", b"II", 43, 8, 0, first)


def length_of_directories(content: Content) -> int:
    """Tell how long the directories of a volume are, with their text, bytes."""
    return len(directories(content, pixels=0, place=0))


def directories(content: Content, *, pixels: int, place: int) -> bytes:
    """Write the directories of all slices, and the text that they share.

    Parameters
    ----------
    content : Content
        Of the volume.
    pixels, place : int
        Where in the file the first pixel is, and where the first directory will be, bytes.
    """
    slices, height, width = content.shape
    size = height * width * content.greys.bytes
    text = words_for_tiff(content).encode("ascii") + b"\0"
    length = len(_directory(content, 0, text, 0, 0))
    end = place + slices * length
    parts = [
        _directory(content, pixels + number * size, text, end, place + (number + 1) * length)
        for number in range(slices - 1)
    ]
    parts.append(_directory(content, pixels + (slices - 1) * size, text, end, 0))
    return b"".join(parts) + text


def _directory(content: Content, pixels: int, text: bytes, text_place: int, following: int) -> bytes:
    entries = list(_entries(content, pixels, text, text_place))
    return struct.pack("<Q", len(entries)) + b"".join(entries) + struct.pack("<Q", following)


def _entries(content: Content, pixels: int, text: bytes, text_place: int) -> Iterator[bytes]:
    """Write the entries of a directory, in the order of their tags."""
    _, height, width = content.shape
    greys = content.greys
    yield _entry(256, _LONG, width)
    yield _entry(257, _LONG, height)
    yield _entry(258, _SHORT, 8 * greys.bytes)
    yield _entry(259, _SHORT, 1)  # not compressed
    yield _entry(262, _SHORT, 1)  # the lowest value is black
    yield struct.pack("<HHQQ", 270, _ASCII, len(text), text_place)
    yield _entry(273, _LONG8, pixels)
    yield _entry(277, _SHORT, 1)  # value of a pixel
    yield _entry(278, _LONG, height)  # rows in the one strip
    yield _entry(279, _LONG8, height * width * greys.bytes)
    if content.pixel_size:
        per_cm = Fraction(0.01 / content.pixel_size).limit_denominator(100)
        for tag in (282, 283):
            yield struct.pack("<HHQII", tag, _RATIONAL, 1, per_cm.numerator, per_cm.denominator)
        yield _entry(296, _SHORT, 3)  # centimetre
    yield _entry(339, _SHORT, 3 if np.dtype(greys.dtype).kind == "f" else 1)


def _entry(tag: int, kind: int, value: int) -> bytes:
    return struct.pack(_FORMS[kind], tag, kind, 1, value)
