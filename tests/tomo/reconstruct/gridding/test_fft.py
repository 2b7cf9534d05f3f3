import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.tomo.reconstruct.gridding.buffers import LANES, make_buffer
from runner.tomo.reconstruct.gridding.fft import transform
from runner.tomo.reconstruct.gridding.fft_plan import good_length, make_fft_plan, split

smooth = st.builds(
    lambda two, three, five: 2**two * 3**three * 5**five,
    st.integers(0, 7),
    st.integers(0, 3),
    st.integers(0, 2),
).filter(lambda length: length > 1)


@given(smooth)
def test_a_length_is_the_product_of_its_radices_the_large_ones_last(length):
    radices = split(length)
    assert np.prod(radices) == length
    assert set(radices) <= {2, 3, 4, 5, 8}
    assert radices == sorted(radices, key=lambda radix: (radix == 8, radix in (3, 5)))


@given(st.integers(1, 100_000))
def test_a_good_length_is_even_smooth_and_little_more(least):
    length = good_length(least)
    assert length % 2 == 0
    assert least <= length <= 1.25 * least + 2
    assert np.prod(split(length)) == length


@pytest.mark.parametrize("lanes", LANES)
@settings(deadline=None)  # the first example is compiled
@given(length=smooth, start=st.integers(0, 5), seed=st.integers(0, 1000))
def test_every_lane_is_numpys_transform(lanes, length, start, seed):
    random = np.random.default_rng(seed)
    values = random.normal(size=(length + start, lanes)) + 1j * random.normal(size=(length + start, lanes))
    source, first, second = (
        make_buffer(length + start, lanes),
        make_buffer(length, lanes),
        make_buffer(length, lanes),
    )
    source["re"], source["im"] = values.real, values.imag
    before = source.copy()
    result = transform(source, start, first, second, make_fft_plan(length))
    expected = np.fft.ifft(values[start:], axis=0) * length
    error = np.linalg.norm(result["re"] + 1j * result["im"] - expected) / np.linalg.norm(expected)
    assert error < 5e-7
    np.testing.assert_array_equal(source, before)


def test_a_buffer_begins_with_a_cache_line():
    for lanes in LANES:
        buffer = make_buffer(3, lanes)
        assert buffer.ctypes.data % 64 == 0
        assert buffer.nbytes == 3 * 8 * lanes
