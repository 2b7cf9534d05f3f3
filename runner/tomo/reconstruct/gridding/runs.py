"""Points of a spectrum meet the grid: several cells that follow each other, with one weight each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
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
        for tap, weight in enumerate(_splats(builder, args[3], len(taps), lanes.width)):
            _add_products(builder, place, tap, lanes.width, [((value.re, value.im), weight)])
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
        columns = _splats(builder, args[5], len(taps), lanes.width)
        for row in _splats(builder, args[4], len(taps), lanes.width):
            weighted = _weighted(builder, value, row)
            for tap, column in enumerate(columns):
                _add_products(builder, place, tap, lanes.width, [(weighted, column)])
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
            [_splats(builder, weights, reach, width) for weights in both]
            for both in ((args[4], args[7]), (args[5], args[8]))
        )

        def add_boxes(down: int, right: int) -> None:
            at = builder.gep(place, [builder.mul(step, cgutils.intp_t(min(down, 0)))])
            for row in range(min(down, 0), reach + max(down, 0)):
                inside = [box for box, top in enumerate((0, down)) if 0 <= row - top < reach]
                weighted = [
                    (box, _weighted(builder, values[box], rows[box][row - down * box])) for box in inside
                ]
                lefts = [right * box for box in inside]
                for cell in range(min(lefts), reach + max(lefts)):
                    products = [
                        (parts, columns[box][cell - right * box])
                        for box, parts in weighted
                        if 0 <= cell - right * box < reach
                    ]
                    _add_products(builder, at, cell, width, products)
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


_Parts = tuple[ir.Value, ir.Value]
"""Real and imaginary parts."""


def _splats(builder: Any, weights: ir.Value, number: int, width: int) -> list[ir.Value]:
    """Repeat each of some weights in all lanes."""
    return [splat(builder, builder.extract_element(weights, INT(tap)), width) for tap in range(number)]


def _weighted(builder: Any, value: Pair, weight: ir.Value) -> _Parts:
    """Multiply both parts by a weight."""
    re, im = (builder.fmul(part, weight, flags=FLAGS) for part in (value.re, value.im))
    return re, im


def _add_products(
    builder: Any, place: ir.Value, element: int, width: int, products: Sequence[tuple[_Parts, ir.Value]]
) -> None:
    """Add values times weights, one after the other, to one of the elements that follow a pointer."""
    for half in (0, 1):
        offset = 4 * width * (2 * element + half)
        total = load_vector(builder, place, width, offset)
        for parts, weight in products:
            total = builder.fadd(total, builder.fmul(parts[half], weight, flags=FLAGS), flags=FLAGS)
        store_vector(builder, place, total, offset)
