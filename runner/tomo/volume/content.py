"""What is said of a volume beside its pixels."""

from __future__ import annotations

import json
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
    defects: Defects | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRecord:
    """What is noted about a chunk: which rows, and who made it how fast."""

    first_row: int
    end_row: int
    seconds: float
    worker: str


def words_for_tiff(content: Content) -> str:
    """Say in JSON, ASCII, what the pixels of a TIFF mean: value = pixel * step + low."""
    greys = content.greys
    words = {"units": content.units, "step": greys.step, "low": greys.low, "title": content.title}
    return json.dumps(words)
