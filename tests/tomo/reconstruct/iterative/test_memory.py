import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.reconstruct.acquisition import acquisition_of
from runner.tomo.reconstruct.geometry import Geometry
from runner.tomo.reconstruct.gridding.memory import Layout
from runner.tomo.reconstruct.gridding.pair import pair_sizes
from runner.tomo.reconstruct.iterative.memory import layout_within, needed_bytes
from runner.tomo.reconstruct.iterative.methods import ITERATIONS
from runner.tomo.reconstruct.iterative.rays import full_size, seen_by, with_room
from runner.tomo.reconstruct.memory import Problem, buffers_of

problems = st.tuples(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 10_000), st.integers(1, 64))


@given(problems, st.integers(20, 45))
def test_a_layout_fits_the_limit_or_is_the_least(problem, power):
    angles, columns, size, threads = problem
    sizes, rays = pair_sizes(angles, columns, size, "standard"), angles * columns
    layout = layout_within(sizes, rays, size, threads, 2**power)
    if needed_bytes(sizes, rays, size, threads, layout) > 2**power:
        assert layout == Layout(lanes=4, block=min(angles, 256))


@given(st.integers(1, 3000), st.integers(0, 3000))
def test_the_slices_that_are_wanted_lie_in_the_middle_of_those_that_are_made(size, seen):
    whole = full_size(size, seen)
    assert whole >= max(size, seen)
    assert (whole - size) % 2 == 0
    assert whole <= max(size, seen + 1)


@pytest.mark.parametrize("method", ITERATIONS)
@pytest.mark.parametrize("room", [1.0, 1.37])
@pytest.mark.parametrize(("span", "center"), [(180, 49.5), (180, 20.0), (360, 12.0), (360, 51.7)])
def test_the_plan_foresees_the_size_that_slices_have_while_they_are_made(method, span, center, room):
    angles = np.arange(60) * span / 60
    acquisition = acquisition_of(angles, 100, center)
    geometry = Geometry(angles=tuple(angles), columns=100, size=acquisition.size, center=center, room=room)
    size = full_size(geometry.size, seen_by(geometry))
    seen = with_room(acquisition.seen, room)
    assert full_size(acquisition.size, seen) == size
    problem = Problem(
        method=method,
        quality="standard",
        angles=60,
        columns=100,
        size=acquisition.size,
        shape=(10, 10),
        seen=seen,
        threads=2,
    )
    sizes = pair_sizes(60, 100, size, "standard")
    layout = Layout(lanes=8, block=60)
    assert buffers_of(problem, np.inf) == needed_bytes(sizes, 6000, size, 2, layout)
