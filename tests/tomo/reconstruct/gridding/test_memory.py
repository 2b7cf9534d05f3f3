import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runner.tomo.reconstruct.gridding.memory import Layout, buffer_bytes, choose_layout, sizes_of
from runner.tomo.reconstruct.gridding.quality import QUALITIES

sizes = st.builds(
    lambda angles, extent, height, width, quality: sizes_of(
        angles, extent, (height, width), QUALITIES[quality]
    ),
    st.integers(1, 40_000),
    st.integers(1, 30_000),
    st.integers(1, 30_000),
    st.integers(1, 30_000),
    st.sampled_from(list(QUALITIES)),
)


@given(sizes, st.integers(1, 128), st.integers(20, 45))
def test_a_layout_fits_the_limit_or_is_the_least(sizes, threads, power):
    layout = choose_layout(sizes, threads, 2**power)
    least = Layout(lanes=4, block=min(sizes.angles, 256))
    if buffer_bytes(sizes, layout, threads) > 2**power:
        assert layout == least
    assert layout.block == sizes.angles or layout.block % 2 == 0


@given(sizes, st.integers(1, 128), st.integers(20, 45))
def test_what_was_chosen_is_chosen_again_within_its_own_size(sizes, threads, power):
    layout = choose_layout(sizes, threads, 2**power)
    assume(buffer_bytes(sizes, layout, threads) <= 2**power)
    assert choose_layout(sizes, threads, buffer_bytes(sizes, layout, threads)) == layout


@pytest.mark.parametrize(
    ("limit", "layout"),
    [
        (float("inf"), Layout(lanes=8, block=1500)),
        (420e6, Layout(lanes=8, block=1500)),
        (350e6, Layout(lanes=8, block=1046)),
        (200e6, Layout(lanes=4, block=1428)),
        (0, Layout(lanes=4, block=256)),
    ],
)
def test_less_memory_makes_blocks_first_and_fewer_slices_then(limit, layout):
    assert choose_layout(sizes_of(1500, 2048, (2048, 2048), QUALITIES["standard"]), 2, limit) == layout
