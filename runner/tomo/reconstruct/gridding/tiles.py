"""Rows of slices meet lanes: square tiles of as many columns as there are lanes, transposed in registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from runner.tomo.reconstruct.gridding.lanes import (
    INT,
    load_vector,
    pointer_to,
    store_vector,
    width_of,
)


@intrinsic
def read_tile(
    _typing: Any,
    buffer: types.Array,
    _to: types.Type,
    stack: types.Array,
    _from: types.Type,
    _step: types.Type,
    _slices: types.Type,
    factors: types.Array,
    _factor: types.Type,
) -> Any:
    """Put a few columns of one row of each slice into the real parts of elements that follow each other.

    `to` counts floats, half elements: an odd multiple of the width reaches the imaginary parts. `step` is
    the distance between slices; lanes beyond the last of the `slices` repeat it. As many columns as lanes.
    """
    width = width_of(buffer)

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        target = _floats(context, builder, buffer, args[0], args[1])
        source = _floats(context, builder, stack, args[2], args[3])
        column = load_vector(builder, _floats(context, builder, factors, args[6], args[7]), width)
        rows = []
        last = builder.sub(args[5], cgutils.intp_t(1))
        for lane in range(width):
            inside = builder.icmp_signed("<", cgutils.intp_t(lane), last)
            index = builder.select(inside, cgutils.intp_t(lane), last)
            byte = builder.mul(builder.mul(index, args[4]), cgutils.intp_t(4))
            rows.append(builder.fmul(load_vector(builder, builder.gep(source, [byte]), width), column))
        for number, values in enumerate(_transposed(builder, rows)):
            store_vector(builder, target, values, 8 * width * number)
        return context.get_dummy_value()

    return types.void(
        buffer, types.intp, stack, types.intp, types.intp, types.intp, factors, types.intp
    ), generate


@intrinsic
def write_tile(
    _typing: Any,
    buffer: types.Array,
    _from: types.Type,
    stack: types.Array,
    _to: types.Type,
    _step: types.Type,
    _slices: types.Type,
    factors: types.Array,
    _factor: types.Type,
) -> Any:
    """Do the reverse of `read_tile`; nothing is written beyond the last of the slices."""
    width = width_of(buffer)

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        source = _floats(context, builder, buffer, args[0], args[1])
        target = _floats(context, builder, stack, args[2], args[3])
        column = load_vector(builder, _floats(context, builder, factors, args[6], args[7]), width)
        elements = [load_vector(builder, source, width, 8 * width * number) for number in range(width)]
        for lane, values in enumerate(_transposed(builder, elements)):
            with builder.if_then(builder.icmp_signed("<", cgutils.intp_t(lane), args[5])):
                byte = builder.mul(args[4], cgutils.intp_t(4 * lane))
                store_vector(builder, builder.gep(target, [byte]), builder.fmul(values, column))
        return context.get_dummy_value()

    return types.void(
        buffer, types.intp, stack, types.intp, types.intp, types.intp, factors, types.intp
    ), generate


def _floats(context: Any, builder: Any, array: types.Array, value: ir.Value, index: ir.Value) -> ir.Value:
    return pointer_to(context, builder, array, value, builder.mul(index, cgutils.intp_t(4)))


def _transposed(builder: Any, rows: Sequence[ir.Value]) -> list[ir.Value]:
    """Swap blocks off the diagonal, of half the width, of a quarter of it, and so on."""
    width, rows = len(rows), list(rows)
    step = width // 2
    while step:
        for i in range(width):
            if i & step:
                continue
            a, b = rows[i], rows[i | step]
            first = [lane if not lane & step else width + (lane ^ step) for lane in range(width)]
            second = [lane | step if not lane & step else width + lane for lane in range(width)]
            kind = ir.VectorType(INT, width)
            rows[i] = builder.shuffle_vector(a, b, ir.Constant(kind, first))
            rows[i | step] = builder.shuffle_vector(a, b, ir.Constant(kind, second))
        step //= 2
    return rows
