"""A volume as a folder in the form OME-Zarr 0.5: zarr version 3, several slices in each file.

A chunk is a slice, not compressed, and a shard is a file of a few of them: where each slice lies is known
before there is any, and the table of that at the end of a shard is written first.
"""

from __future__ import annotations

import struct
from pathlib import Path

from runner.tomo.volume.content import Content
from runner.tomo.volume.disk import lay_out_file
from runner.tomo.volume.slab import Files

ARRAY = "0"
_SLICES = 16  # of a shard
_NONE = 2**64 - 1  # place and length of a chunk that lies beyond the array


def lay_out(folder: Path, content: Content) -> tuple[Files, int]:
    """Make the folders, the metadata and every shard, with all but its pixels; put that back where it is.

    Returns
    -------
    files : Files
        The shards.
    offset : int
        Of the pixels in each, bytes.
    """
    for name, words in _metadata(content).items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        lay_out_file(path, len(words), words)
    slices, height, width = content.shape
    size = height * width * content.greys.bytes
    files = Files(pattern=f"{ARRAY}/c/{{}}/0/0", slices=_SLICES)
    for index in range(0, slices, _SLICES):
        path = folder / files.name(index)
        path.parent.mkdir(parents=True, exist_ok=True)
        held = min(_SLICES, slices - index)
        table = index_of_shard(held, size)
        lay_out_file(path, held * size + len(table), table, at=held * size)
    return files, 0


def index_of_shard(held: int, size: int) -> bytes:
    """Write the table at the end of a shard with `held` chunks of `size` bytes each, side by side."""
    import google_crc32c

    places = [(number * size, size) if number < held else (_NONE, _NONE) for number in range(_SLICES)]
    table = b"".join(struct.pack("<QQ", *place) for place in places)
    return table + struct.pack("<I", google_crc32c.value(table))


def _metadata(content: Content) -> dict[str, bytes]:
    """Let the library write the metadata of an array without pixels into memory: by name of the file."""
    import zarr
    from zarr.core.buffer import Buffer
    from zarr.storage import MemoryStore

    greys = content.greys
    store: dict[str, Buffer] = {}
    group = zarr.create_group(MemoryStore(store), zarr_format=3, attributes={"ome": _multiscales(content)})
    group.create_array(
        ARRAY,
        shape=content.shape,
        dtype=greys.dtype,
        chunks=(1, *content.shape[1:]),
        shards=(_SLICES, *content.shape[1:]),
        compressors=None,
        dimension_names=["z", "y", "x"],
        attributes={"units": content.units, "scale_factor": greys.step, "add_offset": greys.low},
    )
    return {name: words.to_bytes() for name, words in store.items()}


def _multiscales(content: Content) -> dict[str, object]:
    """Say how large a pixel is, and where the first one."""
    unit = {"unit": "meter"} if content.pixel_size else {}
    pixel = content.pixel_size or 1.0
    start = [begin * pixel for begin in content.origin]
    moves = [{"type": "scale", "scale": [pixel] * 3}, {"type": "translation", "translation": start}]
    return {
        "version": "0.5",
        "multiscales": [
            {
                "name": content.title,
                "axes": [{"name": name, "type": "space", **unit} for name in "zyx"],
                "datasets": [{"path": ARRAY, "coordinateTransformations": moves}],
            }
        ],
    }
