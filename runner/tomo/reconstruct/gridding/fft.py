"""Fast Fourier transforms of all lanes at once, along one axis.

Stockham's autosort algorithm by radices 2, 3, 4, 5 and 8, decimation in frequency: each stage reads one
buffer and writes another in an order that needs no bit reversal. The transform is

    result[m] = sum over n of source[n] exp(+2 pi i n m / length),

with no factor in front. Strides between elements are long, lanes are short: the inner loops have no
dependence between lanes, and need none of a compiler's cleverness.

References
----------
C. Van Loan, *Computational Frameworks for the Fast Fourier Transform*, SIAM 1992, section 1.7.
"""

from __future__ import annotations

import math

from runner.tomo.kernels.kernel import kernel
from runner.tomo.reconstruct.gridding.lanes import load, store, times_i

_HALF_ROOT = math.sqrt(0.5)
_SIN_3 = math.sin(2 * math.pi / 3)
_COS_5, _SIN_5 = math.cos(2 * math.pi / 5), math.sin(2 * math.pi / 5)
_COS_5_2, _SIN_5_2 = math.cos(4 * math.pi / 5), math.sin(4 * math.pi / 5)


@kernel
def transform(source, start, first, second, plan):
    """Transform the elements from `source[start]`; returns that of two scratch buffers which has the result.

    `source` is kept; `plan` is a :class:`.fft_plan.FftPlan`.
    """
    return transform_into(source, start, first, second, first if len(plan.radices) % 2 else second, plan)


@kernel
def transform_into(source, start, first, second, result, plan):
    """Transform the elements from `source[start]` into `result`, and return it.

    With more than one stage, `result` may lie over the source.
    """
    stride, offset, twiddles = 1, 0, plan.twiddles
    origin, target, spare = source, first, second
    for radix in plan.radices:
        butterflies = plan.length // (radix * stride)
        if butterflies == 1:
            target = result
        if radix == 8:
            _radix_8(origin, start, target, butterflies, stride, twiddles, offset)
        elif radix == 4:
            _radix_4(origin, start, target, butterflies, stride, twiddles, offset)
        elif radix == 5:
            _radix_5(origin, start, target, butterflies, stride, twiddles, offset)
        elif radix == 3:
            _radix_3(origin, start, target, butterflies, stride, twiddles, offset)
        else:
            _radix_2(origin, start, target, butterflies, stride, twiddles, offset)
        offset += butterflies * (radix - 1)
        stride *= radix
        start = 0
        origin, target, spare = target, spare, target
    return origin


@kernel
def _radix_2(source, start, target, butterflies, stride, twiddles, offset):
    apart = butterflies * stride
    for p in range(butterflies):
        w1 = twiddles[offset + p]
        for q in range(stride):
            i = start + p * stride + q
            a, b = load(source, i), load(source, i + apart)
            o = 2 * p * stride + q
            store(target, o, a + b)
            store(target, o + stride, (a - b) * w1)


@kernel
def _radix_3(source, start, target, butterflies, stride, twiddles, offset):
    apart = butterflies * stride
    for p in range(butterflies):
        t = offset + 2 * p
        w1, w2 = twiddles[t], twiddles[t + 1]
        for q in range(stride):
            i = start + p * stride + q
            a, b, c = load(source, i), load(source, i + apart), load(source, i + 2 * apart)
            both = b + c
            turned = times_i(b - c) * _SIN_3
            middle = a - both * 0.5
            o = 3 * p * stride + q
            store(target, o, a + both)
            store(target, o + stride, (middle + turned) * w1)
            store(target, o + 2 * stride, (middle - turned) * w2)


@kernel
def _radix_4(source, start, target, butterflies, stride, twiddles, offset):
    apart = butterflies * stride
    for p in range(butterflies):
        t = offset + 3 * p
        w1, w2, w3 = twiddles[t], twiddles[t + 1], twiddles[t + 2]
        for q in range(stride):
            i = start + p * stride + q
            a, b = load(source, i), load(source, i + apart)
            c, d = load(source, i + 2 * apart), load(source, i + 3 * apart)
            even, odd = a + c, b + d
            even_rest, odd_rest = a - c, times_i(b - d)
            o = 4 * p * stride + q
            store(target, o, even + odd)
            store(target, o + stride, (even_rest + odd_rest) * w1)
            store(target, o + 2 * stride, (even - odd) * w2)
            store(target, o + 3 * stride, (even_rest - odd_rest) * w3)


@kernel
def _radix_5(source, start, target, butterflies, stride, twiddles, offset):
    apart = butterflies * stride
    for p in range(butterflies):
        t = offset + 4 * p
        w1, w2, w3, w4 = twiddles[t], twiddles[t + 1], twiddles[t + 2], twiddles[t + 3]
        for q in range(stride):
            i = start + p * stride + q
            a = load(source, i)
            b, e = load(source, i + apart), load(source, i + 4 * apart)
            c, d = load(source, i + 2 * apart), load(source, i + 3 * apart)
            outer, inner = b + e, c + d
            outer_rest, inner_rest = times_i(b - e), times_i(c - d)
            near = a + outer * _COS_5 + inner * _COS_5_2
            far = a + outer * _COS_5_2 + inner * _COS_5
            near_turned = outer_rest * _SIN_5 + inner_rest * _SIN_5_2
            far_turned = outer_rest * _SIN_5_2 - inner_rest * _SIN_5
            o = 5 * p * stride + q
            store(target, o, a + outer + inner)
            store(target, o + stride, (near + near_turned) * w1)
            store(target, o + 2 * stride, (far + far_turned) * w2)
            store(target, o + 3 * stride, (far - far_turned) * w3)
            store(target, o + 4 * stride, (near - near_turned) * w4)


@kernel
def _radix_8(source, start, target, butterflies, stride, twiddles, offset):
    apart = butterflies * stride
    for p in range(butterflies):
        t = offset + 7 * p
        for q in range(stride):
            i = start + p * stride + q
            a0, a1 = load(source, i), load(source, i + apart)
            a2, a3 = load(source, i + 2 * apart), load(source, i + 3 * apart)
            a4, a5 = load(source, i + 4 * apart), load(source, i + 5 * apart)
            a6, a7 = load(source, i + 6 * apart), load(source, i + 7 * apart)
            # the even results are the four-point transform of the sums ...
            s0, s1, s2, s3 = a0 + a4, a1 + a5, a2 + a6, a3 + a7
            even, odd, even_rest, odd_rest = s0 + s2, s1 + s3, s0 - s2, times_i(s1 - s3)
            o = 8 * p * stride + q
            store(target, o, even + odd)
            store(target, o + 2 * stride, (even_rest + odd_rest) * twiddles[t + 1])
            store(target, o + 4 * stride, (even - odd) * twiddles[t + 3])
            store(target, o + 6 * stride, (even_rest - odd_rest) * twiddles[t + 5])
            # ... and the odd ones that of the differences, each turned by another eighth
            d0, d1, d2, d3 = a0 - a4, a1 - a5, times_i(a2 - a6), a3 - a7
            d1 = (d1 + times_i(d1)) * _HALF_ROOT
            d3 = (times_i(d3) - d3) * _HALF_ROOT
            even, odd, even_rest, odd_rest = d0 + d2, d1 + d3, d0 - d2, times_i(d1 - d3)
            store(target, o + stride, (even + odd) * twiddles[t])
            store(target, o + 3 * stride, (even_rest + odd_rest) * twiddles[t + 2])
            store(target, o + 5 * stride, (even - odd) * twiddles[t + 4])
            store(target, o + 7 * stride, (even_rest - odd_rest) * twiddles[t + 6])
