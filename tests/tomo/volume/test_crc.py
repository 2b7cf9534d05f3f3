import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.volume.crc import crc32


@given(st.binary(max_size=5000), st.binary(max_size=300))
def test_it_is_the_crc_that_others_read(first, then):
    assert crc32(then, crc32(first)) == zlib.crc32(first + then)


def test_of_an_array():
    pixels = np.arange(300_000, dtype=np.float32)
    assert crc32(pixels.data.cast("B")) == zlib.crc32(pixels.tobytes())
