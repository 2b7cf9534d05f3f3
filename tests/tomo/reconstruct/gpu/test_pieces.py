"""Every point that reaches into a tile is in one of its pieces, once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gpu.layout import (
    PIECE,
    Layout,
    choose_layout,
    device_bytes,
    tiles_of,
)
from runner.tomo.reconstruct.gpu.pieces import make_pieces
from runner.tomo.reconstruct.gridding.memory import sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES
from runner.tomo.reconstruct.gridding.tables import make_tables


def touched(pieces, sizes, layout):
    """For each cell of the grid, (row, column), how many points touch it by the pieces."""
    counts = np.zeros((sizes.rows, sizes.along), int)
    _, columns = tiles_of(sizes, layout)
    for tile in range(len(pieces.starts) - 1):
        row, column = tile // columns * layout.rows, tile % columns * layout.columns
        for piece in pieces.pieces[pieces.starts[tile] : pieces.starts[tile + 1]]:
            k = piece["k"] + np.arange(abs(piece["count"]))
            u = np.ceil(piece["period"] + k * piece["step_u"] - layout.width / 2).astype(int) - piece["row"]
            v = np.ceil(k * piece["step_v"] - layout.width / 2).astype(int) - piece["column"]
            for a in range(layout.width):
                for b in range(layout.width):
                    inside = (u + a >= 0) & (u + a < layout.rows) & (v + b >= 0) & (v + b < layout.columns)
                    cells = row + u[inside] + a, column + v[inside] + b
                    kept = (cells[0] < sizes.rows) & (cells[1] < sizes.along)
                    np.add.at(counts, tuple(values[kept] for values in cells), 1)
    return counts


def expected(lines, sizes, width):
    """Count all points of all lines and of their mirror images, on a periodic grid."""
    counts = np.zeros((sizes.across, sizes.along), int)
    k = np.arange(sizes.points)
    for step_u, step_v in zip(lines.step_u, lines.step_v, strict=True):
        for sign in (1, -1):
            u = np.ceil(sign * k * step_u - width / 2).astype(int)
            v = np.ceil(sign * k * step_v - width / 2).astype(int) + sizes.along // 2
            for a in range(width):
                for b in range(width):
                    np.add.at(counts, ((u + a) % sizes.across, (v + b) % sizes.along), 1)
    return counts[: sizes.rows]


@settings(max_examples=25, deadline=None)
@given(
    degrees=st.lists(st.floats(0, 360) | st.sampled_from([0.0, 45.0, 90.0, 180.0]), min_size=1, max_size=4),
    columns=st.integers(1, 40),
    quality=st.sampled_from(list(QUALITIES)),
    rows=st.sampled_from([4, 8, 16]),
)
def test_each_cell_has_the_points_that_touch_it(degrees, columns, quality, rows):
    geometry = Geometry(angles=tuple(degrees), columns=columns, size=columns, center=(columns - 1) / 2)
    sizes = sizes_of(len(degrees), columns, geometry.shape, QUALITIES[quality])
    lines = make_tables(geometry, sizes, np.ones(sizes.points), QUALITIES[quality]).lines
    layout = Layout(lanes=32, rows=rows, columns=16, width=QUALITIES[quality].width)
    pieces = make_pieces(lines, sizes, layout)
    np.testing.assert_array_equal(touched(pieces, sizes, layout), expected(lines, sizes, layout.width))
    counts = np.abs(pieces.pieces["count"])
    assert 1 <= counts.min() <= counts.max() <= PIECE
    assert sorted(pieces.order) == list(range(len(pieces.starts) - 1))
    of_tiles = np.add.reduceat(np.append(counts, 0), pieces.starts[:-1]) * (np.diff(pieces.starts) > 0)
    assert (np.diff(of_tiles[pieces.order]) <= 0).all()


@pytest.mark.parametrize("shared", [49_152, 65_536, 98_304, 166_912, 232_448])
@pytest.mark.parametrize("width", [5, 7])
@pytest.mark.parametrize("lanes", [32, 16, 8, 4, 2, 1])
def test_a_tile_fits_the_shared_memory_of_every_gpu(shared, width, lanes):
    layout = choose_layout(lanes, width, shared)
    assert layout.shared <= shared
    assert np.prod(layout.block) == 128


def test_2048_columns_and_1500_angles_fit_the_smaller_gpus_whole():
    sizes = sizes_of(1500, 2048, (2048, 2048), QUALITIES["standard"])
    assert device_bytes(sizes, 2048, (2048, 2048), 32) < 16e9
    assert device_bytes(sizes, 2048, (2048, 2048), 16) == device_bytes(sizes, 2048, (2048, 2048), 32) // 2
