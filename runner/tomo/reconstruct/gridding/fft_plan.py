"""Into what factors a transform is split, and the twiddle factors between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len


class FftPlan(NamedTuple):
    """How a transform of one length is computed.

    Attributes
    ----------
    length : int
        A product of powers of 2, 3 and 5.
    radices : (stage,) int64
        The factors, in the order of their use.
    twiddles : (number,) complex64
        Of all stages: for each butterfly, radix - 1 factors.
    """

    length: int
    radices: NDArray[np.int64]
    twiddles: NDArray[np.complex64]


def good_length(least: int) -> int:
    """Find an even length from `least` up that is quick to transform.

    >>> [good_length(least) for least in (1, 10, 11, 1025)]
    [2, 10, 12, 1080]
    """
    return 2 * int(next_fast_len(-(-least // 2), real=True))


def split(length: int) -> list[int]:
    """Split a length into radices: large ones last, where their strides are long.

    >>> split(1280)
    [4, 5, 8, 8]
    """
    rest, radices = length, []
    for radix in (5, 3):
        while rest % radix == 0:
            radices.append(radix)
            rest //= radix
    twos = rest.bit_length() - 1
    eights, left = divmod(twos, 3)
    if left == 1 and eights:  # 2 * 8 = 4 * 4
        eights, fours, pairs = eights - 1, 2, 0
    else:
        fours, pairs = int(left == 2), int(left == 1)
    return [2] * pairs + [4] * fours + radices + [8] * eights


def make_fft_plan(length: int) -> FftPlan:
    """Plan transforms of one length, a product of powers of 2, 3 and 5."""
    radices = split(length)
    twiddles, rest = [], length
    for radix in radices:
        butterfly = np.arange(rest // radix)[:, np.newaxis]
        twiddles.append(np.exp(2j * np.pi * butterfly * np.arange(1, radix) / rest).ravel())
        rest //= radix
    return FftPlan(
        length=length,
        radices=np.array(radices, np.int64),
        twiddles=np.concatenate([*twiddles, np.ones(1)]).astype(np.complex64),
    )
