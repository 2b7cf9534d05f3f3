import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.tomo.deflate import DeflateError, crc32, decompress


@given(st.binary(max_size=5000), st.binary(max_size=300))
def test_it_is_the_crc_that_others_read(first, then):
    assert crc32(then, crc32(first)) == zlib.crc32(first + then)


def test_of_an_array():
    pixels = np.arange(300_000, dtype=np.float32)
    assert crc32(pixels.data.cast("B")) == zlib.crc32(pixels.tobytes())


@given(st.binary(max_size=5000), st.integers(0, 9))
def test_what_zlib_packed_is_unpacked(content, level):
    packed = zlib.compress(content, level)
    assert decompress(packed, bufsize=max(len(content), 1)) == content
    with pytest.raises(DeflateError):
        decompress(packed[:-1], bufsize=max(len(content), 1))
