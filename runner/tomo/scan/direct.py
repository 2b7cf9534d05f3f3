"""Positioned reads of the pixels that are needed, and no others, by several threads at once."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runner.tomo.scan.decode import Decoder, decode
from runner.tomo.scan.stored import Stored
from runner.tomo.share import share

_MEMORY = 64 << 20  # bytes for chunks that are being decoded, at least
_FRAMES = 16  # whose lines a thread reads at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """What a chunk and the wanted rows have in common.

    Attributes
    ----------
    place : (int, int)
        Of the chunk among those of its frames: in the direction of rows and of columns.
    inside : (slice, slice)
        Rows and columns, counted in the chunk.
    into : (slice, slice)
        The same, counted in the result.
    """

    place: tuple[int, int]
    inside: tuple[slice, slice]
    into: tuple[slice, slice]


def overlaps(shape: tuple[int, int], block: tuple[int, int], rows: slice) -> Iterator[Overlap]:
    """Find the chunks of a frame that hold some of its rows.

    Parameters
    ----------
    shape, block : (int, int)
        Rows and columns of a frame and of a chunk.
    rows : slice
        Which rows are wanted: start and stop.
    """
    (_, width), (tall, wide) = shape, block
    across = range(-(-width // wide))
    for down, right in itertools.product(range(rows.start // tall, -(-rows.stop // tall)), across):
        first, last = max(rows.start, down * tall), min(rows.stop, (down + 1) * tall)
        left, end = right * wide, min(width, (right + 1) * wide)
        yield Overlap(
            place=(down, right),
            inside=(slice(first - down * tall, last - down * tall), slice(0, end - left)),
            into=(slice(first - rows.start, last - rows.start), slice(left, end)),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reader:
    """Reads from a file in which a dataset lies.

    Attributes
    ----------
    file : int
        Its descriptor.
    stored : Stored
        Where the dataset lies.
    decoders : sequence of Decoder
        What undoes its filters.
    """

    file: int
    stored: Stored
    decoders: Sequence[Decoder]

    def pays(self, threads: int) -> bool:
        """Tell whether this is faster than HDF5: not if chunks are read whole, one after the other."""
        return threads > 1 if self.decoders else self.stored.block[2] == self.stored.shape[2]

    def read(
        self, indices: NDArray[np.int64], rows: slice, pixels: NDArray[np.number], *, threads: int
    ) -> None:
        """Read some rows of some frames.

        Parameters
        ----------
        indices : (frame,) int64
            Which frames, ascending.
        rows : slice
            Which rows: start and stop.
        pixels : (frame, row, column) ndarray
            Result; its memory in one piece.
        threads : int
            How many read and decode.

        Raises
        ------
        OSError, EOFError
            If the file cannot be read, or ends too early.
        ValueError
            If a chunk is not there, or cannot be decoded.
        """
        stored, count = self.stored, len(indices)
        if self.decoders:
            work = self._read_chunks
            cuts = (np.flatnonzero(np.diff(indices // stored.block[0])) + 1).tolist()
            # each holds a chunk's bytes and pixels: no more than the sinograms will take, where that is a lot
            most = max(_MEMORY, 2 * pixels.nbytes) // (2 * stored.block_bytes)
        else:
            work, cuts, most = self._read_lines, list(range(_FRAMES, count, _FRAMES)), threads

        def do(part: tuple[int, int]) -> None:
            work(indices[slice(*part)], rows, pixels[slice(*part)])

        parts = [part for part in itertools.pairwise([0, *cuts, count]) if part[0] < part[1]]
        share(do, parts, max(min(threads, most), 1))

    def _read_lines(self, indices: NDArray[np.int64], rows: slice, pixels: NDArray[np.number]) -> None:
        """Read lines that are stored whole and as they are, those of each frame and chunk at once."""
        depth, tall, _ = self.stored.block
        line = self.stored.shape[2] * self.stored.dtype.itemsize
        parts = list(overlaps(self.stored.shape[1:], self.stored.block[1:], rows))
        for index, frame in zip(indices.tolist(), pixels, strict=True):
            layer, inside = divmod(index, depth)
            for part in parts:
                start = self._start((layer, *part.place))
                _fill(self.file, frame[part.into[0]], start + (inside * tall + part.inside[0].start) * line)

    def _read_chunks(self, indices: NDArray[np.int64], rows: slice, pixels: NDArray[np.number]) -> None:
        """Read and decode the chunks of some frames that share them."""
        stored = self.stored
        layer, inside = int(indices[0]) // stored.block[0], indices % stored.block[0]
        for part in overlaps(stored.shape[1:], stored.block[1:], rows):
            place = (layer, *part.place)
            packed = np.empty(stored.sizes[place], np.uint8)
            _fill(self.file, packed, self._start(place))
            whole = decode(packed.data, self.decoders, int(stored.masks[place]), stored.block_bytes)
            chunk = np.frombuffer(whole, stored.dtype).reshape(stored.block)
            pixels[:, *part.into] = chunk[:, *part.inside][inside]

    def _start(self, place: tuple[int, ...]) -> int:
        if not self.stored.sizes[place]:
            raise ValueError(f"chunk {place} was never written")
        return int(self.stored.offsets[place])


def _fill(file: int, pixels: NDArray[np.generic], offset: int) -> None:
    """Fill an array, its memory in one piece, from a place in a file."""
    rest = pixels.reshape(-1).view(np.uint8).data
    while rest:
        count = os.preadv(file, [rest], offset)
        if count == 0:
            raise EOFError(f"the file ends before byte {offset}")
        rest, offset = rest[count:], offset + count
