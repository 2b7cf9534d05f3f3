"""Two boxes at once are one after the other, to the last bit."""

import itertools

import numba
import numpy as np
import pytest

from runner.tomo.reconstruct.gridding.buffers import make_buffer
from runner.tomo.reconstruct.gridding.kaiser_bessel import make_window, shape_parameter
from runner.tomo.reconstruct.gridding.lanes import load
from runner.tomo.reconstruct.gridding.runs import add_box, add_two_boxes, window_weights

PITCH, ROWS = 20, 15


@numba.njit(error_model="numpy")
def weigh(window, distance):
    return window_weights(window.coefficients, distance, window.taps)


@numba.njit(error_model="numpy")
def add_at_once(grid, place, values, window, distances, down, right):
    across, along = weigh(window, distances[0]), weigh(window, distances[1])
    other_across, other_along = weigh(window, distances[2]), weigh(window, distances[3])
    add_two_boxes(
        grid, place, PITCH, load(values, 0), across, along,
        load(values, 1), other_across, other_along, down, right, window.taps,
    )  # fmt: skip


@numba.njit(error_model="numpy")
def add_in_turn(grid, place, values, window, distances, down, right):
    across, along = weigh(window, distances[0]), weigh(window, distances[1])
    add_box(grid, place, PITCH, load(values, 0), across, along, window.taps)
    other_across, other_along = weigh(window, distances[2]), weigh(window, distances[3])
    add_box(
        grid, place + down * PITCH + right, PITCH, load(values, 1), other_across, other_along, window.taps
    )


def random_buffer(random, elements, lanes):
    buffer = make_buffer(elements, lanes)
    buffer.view(np.float32)[:] = random.normal(size=2 * lanes * elements)
    return buffer


@pytest.mark.parametrize(("lanes", "width"), [(8, 5), (4, 5), (8, 7)])
def test_two_boxes_at_once_are_one_after_the_other(lanes, width):
    random = np.random.default_rng(0)
    window = make_window(width, shape_parameter(width, 1.25))
    for down, right in itertools.product((-1, 0, 1), repeat=2):
        values = random_buffer(random, 2, lanes)
        distances = random.uniform(-0.5, 0.5, 4).astype(np.float32)
        grid = random_buffer(random, PITCH * ROWS, lanes)
        before, expected = grid.copy(), grid.copy()
        place = 3 * PITCH + 4
        add_at_once(grid, place, values, window, distances, down, right)
        add_in_turn(expected, place, values, window, distances, down, right)
        assert grid.tobytes() == expected.tobytes()
        changed = (grid.view(np.uint8) != before.view(np.uint8)).reshape(ROWS, PITCH, -1).any(axis=2)
        assert changed.sum() == 2 * width**2 - (width - abs(down)) * (width - abs(right))
