"""What is said of a volume beside its pixels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from runner.tomo.scan.defects import Defects
from runner.tomo.volume.greys import FLOAT32, Greys
from runner.tomo.volume.provenance import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a volume's file says beside the pixels.

    Attributes
    ----------
    title : str
        Of the scan.
    first_row : int
        Detector row of the first slice.
    shape : (int, int, int)
        Axes (slice, y, x).
    units : str
        Of the pixels' values: ``"1/cm"`` or ``"1/pixel"``.
    pixel_size : float or None
        Metres.
    greys : Greys
        The type of the pixels.
    provenance : Provenance
        How it came about.
    corner : (float, float, float), or None
        Where the centre of the first pixel lies, (z, y, x) in the volume's pixels: z from the detector's
        first row, y and x from the rotation axis. None for whole slices about the axis.
    defects : Defects or None
        Pixels of the detector that were interpolated.
    """

    title: str
    first_row: int
    shape: tuple[int, int, int]
    units: str
    pixel_size: float | None
    provenance: Provenance
    greys: Greys = FLOAT32
    corner: tuple[float, float, float] | None = None
    defects: Defects | None = None

    @property
    def origin(self) -> tuple[float, float, float]:
        """Where the centre of the first pixel lies, see `corner`."""
        _, height, width = self.shape
        return self.corner or (self.first_row, -(height - 1) / 2, -(width - 1) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """What is noted about a chunk: which rows, and who made it when and how fast.

    Attributes
    ----------
    first_row, end_row : int
        Detector rows, the end not included.
    worker : str
        Address.
    begun : float
        Seconds since 1970, by the worker's clock.
    seconds : mapping of str to float
        Wall time of each stage.
    tries : int
        Attempts that it took.
    misfits : tuple of float
        After each step of an iterative method: what its slices do not explain. Else empty.
    """

    first_row: int
    end_row: int
    worker: str
    begun: float
    seconds: Mapping[str, float]
    tries: int = 1
    misfits: tuple[float, ...] = ()


def words_for_tiff(content: Content) -> str:
    """Say in JSON, ASCII, where the pixels of a TIFF begin, and that their value is pixel * step + low."""
    greys = content.greys
    words = {
        "units": content.units,
        "step": greys.step,
        "low": greys.low,
        "origin": content.origin,
        "title": content.title,
    }
    return json.dumps(words)
