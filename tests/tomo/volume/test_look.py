"""A few pixels of a volume are those that all of it has, in every form and type."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from runner.tomo.volume.content import ChunkRecord
from runner.tomo.volume.forms import create_volume, finish_volume
from runner.tomo.volume.greys import Greys
from runner.tomo.volume.look import description_in, read_pixels
from runner.tomo.volume.slab import write_slab

ROWS = 20  # two shards of zarr
GREYS = [Greys(), Greys(dtype="float16"), Greys(dtype="uint16", low=-1, high=2), Greys(dtype="uint8", high=1)]


@pytest.mark.parametrize("name", ["volume.h5", "volume.tif", "volume.zarr", "volume.h5d", "volume"])
@pytest.mark.parametrize("greys", GREYS, ids=lambda greys: greys.dtype)
def test_what_is_looked_at_is_what_was_written(tmp_path, content, name, greys):
    place = tmp_path / name
    pixels = np.random.default_rng(3).uniform(greys.low, greys.high or 1, (ROWS, 5, 4)).astype(np.float32)
    target = create_volume(place, replace(content, shape=(ROWS, 5, 4), greys=greys))
    write_slab(target, content.first_row, pixels.copy())
    record = ChunkRecord(first_row=10, end_row=10 + ROWS, worker="", begun=0.0, seconds={})
    finish_volume(place, target, [record])
    finished = replace(target, path=description_in(place))
    everything = read_pixels(finished, range(ROWS), range(5), range(4))
    close = {"float32": 0, "float16": 1e-3}.get(greys.dtype, greys.step / 2 + 1e-6)
    np.testing.assert_allclose(everything, pixels, rtol=0, atol=close)
    for slices, rows, columns in (
        (range(0, ROWS, 3), range(2, 3), range(4)),
        (range(17, 18), range(0, 5, 2), range(1, 4, 2)),
        (range(1, ROWS, 5), range(5), range(3, 4)),
    ):
        some = everything[slices.start :: slices.step, rows.start :: rows.step, columns.start :: columns.step]
        expected = some[: len(slices), : len(rows), : len(columns)]
        np.testing.assert_array_equal(read_pixels(finished, slices, rows, columns), expected)


def test_a_volume_cut_short_is_said(tmp_path, content):
    target = create_volume(tmp_path / "volume.h5", content)
    with target.path.open("r+b") as file:
        file.truncate(target.offset + 30)
    with pytest.raises(OSError, match="the file ends before byte"):
        read_pixels(target, range(6), range(5), range(4))
