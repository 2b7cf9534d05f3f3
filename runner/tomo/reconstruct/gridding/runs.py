"""Points of a spectrum meet the grid: several cells that follow each other, with one weight each."""

from __future__ import annotations

import itertools
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
def add_two_boxes(
    _typing: Any,
    grid: types.Array,
    _index: types.Type,
    _pitch: types.Type,
    lanes: ComplexLanes,
    across: RealLanes,
    along: RealLanes,
    _other: ComplexLanes,
    _other_across: RealLanes,
    _other_along: RealLanes,
    _down: types.Type,
    _right: types.Type,
    taps: Any,
) -> Any:
    """Do `add_box` for two values, the second of which lies `down` rows and `right` elements on: -1, 0 or 1.

    Most elements belong to both boxes. They are read and written once, which is what takes the time; each
    still gets the first product before the second one.
    """
    width, reach = lanes.width, len(taps)

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = element_of(context, builder, grid, *args[:2])
        step = builder.mul(args[2], cgutils.intp_t(8 * width))
        values = [Pair.of(context, builder, lanes, value) for value in (args[3], args[6])]
        rows, columns = (
            [
                [splat(builder, builder.extract_element(weights, INT(tap)), width) for tap in range(reach)]
                for weights in both
            ]
            for both in ((args[4], args[7]), (args[5], args[8]))
        )

        def add_boxes(down: int, right: int) -> None:
            at = builder.gep(place, [builder.mul(step, cgutils.intp_t(min(down, 0)))])
            for row in range(min(down, 0), reach + max(down, 0)):
                inside = [box for box, top in enumerate((0, down)) if 0 <= row - top < reach]
                weighted = {
                    box: [
                        builder.fmul(part, rows[box][row - down * box], flags=FLAGS)
                        for part in (values[box].re, values[box].im)
                    ]
                    for box in inside
                }
                for cell in range(
                    min(right * box for box in inside), reach + max(right * box for box in inside)
                ):
                    for half in (0, 1):
                        offset = 4 * width * (2 * cell + half)
                        total = load_vector(builder, at, width, offset)
                        for box in inside:
                            if 0 <= (tap := cell - right * box) < reach:
                                product = builder.fmul(weighted[box][half], columns[box][tap], flags=FLAGS)
                                total = builder.fadd(total, product, flags=FLAGS)
                        store_vector(builder, at, total, offset)
                at = builder.gep(at, [step])

        done = builder.append_basic_block("done")
        switch = builder.switch(builder.add(builder.mul(args[9], cgutils.intp_t(3)), args[10]), done)
        for down, right in itertools.product((-1, 0, 1), repeat=2):
            block = builder.append_basic_block("boxes")
            switch.add_case(cgutils.intp_t(3 * down + right), block)
            builder.position_at_end(block)
            add_boxes(down, right)
            builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    value = (lanes, across, along)
    return types.void(grid, types.intp, types.intp, *value, *value, types.intp, types.intp, taps), generate


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
