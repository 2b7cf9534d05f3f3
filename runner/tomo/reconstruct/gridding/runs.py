"""Points of a spectrum meet the grid: several cells that follow each other, with one weight each."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from runner.tomo.reconstruct.gridding.lanes import (
    FLAGS,
    INT,
    ComplexLanes,
    Pair,
    RealLanes,
    element_of,
    load_vector,
    pointer_to,
    splat,
    store_vector,
    vector,
    width_of,
)


@intrinsic
def window_weights(_typing: Any, coefficients: types.Array, _distance: types.Type, taps: Any) -> Any:
    """Evaluate the polynomials of a :class:`.kaiser_bessel.Window`, by Horner's scheme."""
    lanes, degree = RealLanes(8), len(taps)

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        table = pointer_to(context, builder, coefficients, args[0], cgutils.intp_t(0))
        distance = splat(builder, args[1], 8)
        total = load_vector(builder, table, 8, 32 * degree)
        for power in reversed(range(degree)):
            total = builder.fmul(total, distance, flags=FLAGS)
            total = builder.fadd(total, load_vector(builder, table, 8, 32 * power), flags=FLAGS)
        return total

    return lanes(coefficients, types.float32, taps), generate


@intrinsic
def pick(_typing: Any, lanes: RealLanes, _index: types.Type) -> Any:
    """Take one number out of several."""

    def generate(_context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        return builder.extract_element(args[0], builder.trunc(args[1], INT))

    return types.float32(lanes, types.intp), generate


@intrinsic
def add_run(
    _typing: Any, grid: types.Array, _index: types.Type, lanes: ComplexLanes, weights: RealLanes, taps: Any
) -> Any:
    """Add a value times one weight each to elements that follow each other."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = element_of(context, builder, grid, *args[:2])
        value = Pair.of(context, builder, lanes, args[2])
        size = 4 * lanes.width
        for tap in range(len(taps)):
            weight = splat(builder, builder.extract_element(args[3], INT(tap)), lanes.width)
            for part, offset in ((value.re, 2 * tap * size), (value.im, (2 * tap + 1) * size)):
                product = builder.fmul(part, weight, flags=FLAGS)
                total = builder.fadd(load_vector(builder, place, lanes.width, offset), product, flags=FLAGS)
                store_vector(builder, place, total, offset)
        return context.get_dummy_value()

    return types.void(grid, types.intp, lanes, weights, taps), generate


@intrinsic
def add_box(
    _typing: Any,
    grid: types.Array,
    _index: types.Type,
    _pitch: types.Type,
    lanes: ComplexLanes,
    across: RealLanes,
    along: RealLanes,
    taps: Any,
) -> Any:
    """Add a value times the products of weights to a box of elements; its rows are `pitch` apart."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = element_of(context, builder, grid, *args[:2])
        step = builder.mul(args[2], cgutils.intp_t(8 * lanes.width))
        value = Pair.of(context, builder, lanes, args[3])
        size = 4 * lanes.width
        columns = [
            splat(builder, builder.extract_element(args[5], INT(tap)), lanes.width)
            for tap in range(len(taps))
        ]
        for row in range(len(taps)):
            weight = splat(builder, builder.extract_element(args[4], INT(row)), lanes.width)
            parts = [builder.fmul(part, weight, flags=FLAGS) for part in (value.re, value.im)]
            for tap, column in enumerate(columns):
                for half, part in enumerate(parts):
                    offset = (2 * tap + half) * size
                    product = builder.fmul(part, column, flags=FLAGS)
                    total = builder.fadd(
                        load_vector(builder, place, lanes.width, offset), product, flags=FLAGS
                    )
                    store_vector(builder, place, total, offset)
            place = builder.gep(place, [step])
        return context.get_dummy_value()

    return types.void(grid, types.intp, types.intp, lanes, across, along, taps), generate


@intrinsic
def sum_box(
    _typing: Any,
    grid: types.Array,
    _index: types.Type,
    _pitch: types.Type,
    across: RealLanes,
    along: RealLanes,
    taps: Any,
) -> Any:
    """Sum a box of elements times the products of weights: the adjoint of `add_box`."""
    lanes = ComplexLanes(width_of(grid))

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = element_of(context, builder, grid, *args[:2])
        step = builder.mul(args[2], cgutils.intp_t(8 * lanes.width))
        nothing = ir.Constant(vector(lanes.width), None)
        totals = [nothing, nothing]
        for row in range(len(taps)):
            sums = [nothing, nothing]
            for tap in range(len(taps)):
                weight = splat(builder, builder.extract_element(args[4], INT(tap)), lanes.width)
                for half in (0, 1):
                    value = load_vector(builder, place, lanes.width, 4 * lanes.width * (2 * tap + half))
                    product = builder.fmul(value, weight, flags=FLAGS)
                    sums[half] = builder.fadd(sums[half], product, flags=FLAGS)
            weight = splat(builder, builder.extract_element(args[3], INT(row)), lanes.width)
            for half in (0, 1):
                product = builder.fmul(sums[half], weight, flags=FLAGS)
                totals[half] = builder.fadd(totals[half], product, flags=FLAGS)
            place = builder.gep(place, [step])
        return Pair(*totals).value(context, builder, lanes)

    return lanes(grid, types.intp, types.intp, across, along, taps), generate
