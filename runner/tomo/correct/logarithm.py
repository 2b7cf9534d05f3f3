"""The natural logarithm of single-precision numbers, as a compiled function that fits into a vector loop.

NumPy's own depends in its last bit on the processor; this one consists of operations that IEEE 754 rounds in
one way only.
"""

from __future__ import annotations

import numpy as np

from runner.tomo.kernels.kernel import kernel

_ROOT_HALF = np.int32(np.float32(0.5**0.5).view(np.int32))
_MANTISSA = np.int32(0x7FFFFF)
_ONE, _TWO = np.float32(1), np.float32(2)
_LN2_HEAD = np.float32(0.693145751953125)  # ends in nine zeros: times an exponent, it is exact
_LN2_TAIL = np.float32(1.42860682030941723e-6)
_3, _5, _7, _9 = (np.float32(2 / power) for power in (3, 5, 7, 9))


@kernel
def log(x):
    """Return the logarithm of a positive, normal float32, less than one unit in the last place off.

    With x = 2^k (1 + f), 1 + f between sqrt(1/2) and sqrt(2), and s = f / (2 + f), it is k ln 2 + 2 artanh s.
    As 2 s = f - s f, the series 2 artanh s = 2 s + 2/3 s^3 + ... becomes f - s (f - 2/3 s^2 - ...), where
    what is rounded is small beside the exact f.
    """
    bits = np.int32(np.float32(x).view(np.int32) - _ROOT_HALF)
    k = np.float32(bits >> np.int32(23))
    f = np.int32((bits & _MANTISSA) + _ROOT_HALF).view(np.float32) - _ONE
    s = f / (_TWO + f)
    square = s * s
    series = square * (_3 + square * (_5 + square * (_7 + square * _9)))
    return k * _LN2_HEAD + (f - (s * (f - series) - k * _LN2_TAIL))
