"""A numba type of `width` complex numbers side by side, one of each slice, and what can be done with them.

The slices of a group go through the same computation with the same weights. They are the innermost axis of
every buffer, so that one instruction works on all of them; in kernels they look like one complex number.
LLVM fits a vector of any width to what the processor has: no kernel is written for one kind of it.

A buffer of `lanes_dtype(width)` elements is read by `load` and written by `store`. Indices count elements
from the start of a buffer, whatever its shape, and are not checked.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from runner.tomo.reconstruct.gridding.cache import cache_folder

_FLOAT = ir.FloatType()
_INT = ir.IntType(32)
# a product and a sum may become one instruction; nothing may be reordered, so that all bits are reproducible
_FLAGS = ("contract",)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function at its first call, for any number of threads at once, and keep it on disk."""
    previous, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache_folder())
    try:
        compiled: Callable[..., Any] = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    finally:
        numba.config.CACHE_DIR = previous
    return compiled


class RealLanes(types.Type):
    """`width` float32 numbers."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"RealLanes({width})")


class ComplexLanes(types.Type):
    """`width` complex numbers: real parts and imaginary parts apart."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"ComplexLanes({width})")


@register_model(RealLanes)
class _RealModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: RealLanes) -> None:
        super().__init__(manager, lanes, _vector(lanes.width))


@register_model(ComplexLanes)
class _ComplexModel(models.StructModel):
    def __init__(self, manager: Any, lanes: ComplexLanes) -> None:
        part = RealLanes(lanes.width)
        super().__init__(manager, lanes, [("re", part), ("im", part)])


def _vector(width: int) -> ir.VectorType:
    return ir.VectorType(_FLOAT, width)


class _Pair:
    """The two LLVM vectors of a ComplexLanes value."""

    def __init__(self, re: ir.Value, im: ir.Value) -> None:
        self.re, self.im = re, im

    @classmethod
    def of(cls, context: Any, builder: Any, lanes: ComplexLanes, value: ir.Value) -> _Pair:
        proxy = cgutils.create_struct_proxy(lanes)(context, builder, value=value)
        return cls(proxy.re, proxy.im)

    def value(self, context: Any, builder: Any, lanes: ComplexLanes) -> ir.Value:
        proxy = cgutils.create_struct_proxy(lanes)(context, builder)
        proxy.re, proxy.im = self.re, self.im
        return proxy._getvalue()  # noqa: SLF001 - numba's own name for it


# --------------------------------------------------------------------------------------------- arithmetic


@infer_global(operator.add)
@infer_global(operator.sub)
class _TypeOfSum(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Sequence[types.Type], kws: Any) -> Any:
        if not kws and len(args) == 2 and isinstance(args[0], ComplexLanes) and args[0] == args[1]:
            return signature(args[0], *args)
        return None


@infer_global(operator.mul)
class _TypeOfProduct(AbstractTemplate):  # type: ignore[misc]
    def generic(self, args: Sequence[types.Type], kws: Any) -> Any:
        if not kws and len(args) == 2 and isinstance(args[0], ComplexLanes):
            scalar = types.complex64 if isinstance(args[1], types.Complex) else types.float32
            return signature(args[0], args[0], scalar)
        return None


@lower_builtin(operator.add, ComplexLanes, ComplexLanes)
def _add(context: Any, builder: Any, sig: Any, args: Any) -> ir.Value:
    lanes = sig.return_type
    a, b = (_Pair.of(context, builder, lanes, value) for value in args)
    total = _Pair(builder.fadd(a.re, b.re, flags=_FLAGS), builder.fadd(a.im, b.im, flags=_FLAGS))
    return total.value(context, builder, lanes)


@lower_builtin(operator.sub, ComplexLanes, ComplexLanes)
def _subtract(context: Any, builder: Any, sig: Any, args: Any) -> ir.Value:
    lanes = sig.return_type
    a, b = (_Pair.of(context, builder, lanes, value) for value in args)
    rest = _Pair(builder.fsub(a.re, b.re, flags=_FLAGS), builder.fsub(a.im, b.im, flags=_FLAGS))
    return rest.value(context, builder, lanes)


@lower_builtin(operator.mul, ComplexLanes, types.float32)
def _scale(context: Any, builder: Any, sig: Any, args: Any) -> ir.Value:
    lanes = sig.return_type
    a, factor = _Pair.of(context, builder, lanes, args[0]), _splat(builder, args[1], lanes.width)
    scaled = _Pair(builder.fmul(a.re, factor, flags=_FLAGS), builder.fmul(a.im, factor, flags=_FLAGS))
    return scaled.value(context, builder, lanes)


@lower_builtin(operator.mul, ComplexLanes, types.complex64)
def _multiply(context: Any, builder: Any, sig: Any, args: Any) -> ir.Value:
    lanes = sig.return_type
    a = _Pair.of(context, builder, lanes, args[0])
    scalar = context.make_complex(builder, types.complex64, args[1])
    re, im = _splat(builder, scalar.real, lanes.width), _splat(builder, scalar.imag, lanes.width)

    def product(x: ir.Value, y: ir.Value) -> ir.Value:
        return builder.fmul(x, y, flags=_FLAGS)

    result = _Pair(
        builder.fsub(product(a.re, re), product(a.im, im), flags=_FLAGS),
        builder.fadd(product(a.re, im), product(a.im, re), flags=_FLAGS),
    )
    return result.value(context, builder, lanes)


@intrinsic
def times_i(_typing: Any, lanes: types.Type) -> Any:
    """Multiply by the imaginary unit: a turn of 90 degrees."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        a = _Pair.of(context, builder, lanes, args[0])
        return _Pair(builder.fneg(a.im), a.re).value(context, builder, lanes)

    return lanes(lanes), generate


@intrinsic
def conj(_typing: Any, lanes: types.Type) -> Any:
    """Negate the imaginary parts."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        a = _Pair.of(context, builder, lanes, args[0])
        return _Pair(a.re, builder.fneg(a.im)).value(context, builder, lanes)

    return lanes(lanes), generate


def _splat(builder: Any, scalar: ir.Value, width: int) -> ir.Value:
    first = builder.insert_element(ir.Constant(_vector(width), ir.Undefined), scalar, _INT(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_INT, width), [0] * width))


# ------------------------------------------------------------------------------------------------- memory


def width_of(buffer: types.Array) -> int:
    """Lanes of the elements of a buffer, known when a kernel is compiled."""
    return int(buffer.dtype.fields["re"].type.shape[0])


@intrinsic
def width_of_lanes(_typing: Any, buffer: types.Array) -> Any:
    """Tell how many lanes the elements of a buffer have; the compiler sees a constant."""
    width = width_of(buffer)

    def generate(_context: Any, _builder: Any, _sig: Any, _args: Any) -> ir.Value:
        return cgutils.intp_t(width)

    return types.intp(buffer), generate


def _pointer(context: Any, builder: Any, array: types.Array, value: ir.Value, byte: ir.Value) -> ir.Value:
    data = context.make_array(array)(context, builder, value).data
    return builder.gep(builder.bitcast(data, cgutils.voidptr_t), [byte])


def _load(builder: Any, pointer: ir.Value, width: int, offset: int = 0) -> ir.Value:
    place = builder.gep(pointer, [cgutils.intp_t(offset)])
    return builder.load(builder.bitcast(place, _vector(width).as_pointer()), align=4, typ=_vector(width))


def _store(builder: Any, pointer: ir.Value, vector: ir.Value, offset: int = 0) -> None:
    place = builder.gep(pointer, [cgutils.intp_t(offset)])
    builder.store(vector, builder.bitcast(place, vector.type.as_pointer()), align=4)


def _element(context: Any, builder: Any, buffer: types.Array, value: ir.Value, index: ir.Value) -> ir.Value:
    size = cgutils.intp_t(8 * width_of(buffer))
    return _pointer(context, builder, buffer, value, builder.mul(index, size))


@intrinsic
def load(_typing: Any, buffer: types.Array, _index: types.Type) -> Any:
    """Read one element of a buffer."""
    lanes = ComplexLanes(width_of(buffer))

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = _element(context, builder, buffer, *args)
        re, im = (_load(builder, place, lanes.width, offset) for offset in (0, 4 * lanes.width))
        return _Pair(re, im).value(context, builder, lanes)

    return lanes(buffer, types.intp), generate


@intrinsic
def store(_typing: Any, buffer: types.Array, _index: types.Type, lanes: types.Type) -> Any:
    """Write one element of a buffer."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = _element(context, builder, buffer, *args[:2])
        pair = _Pair.of(context, builder, lanes, args[2])
        _store(builder, place, pair.re)
        _store(builder, place, pair.im, 4 * lanes.width)
        return context.get_dummy_value()

    return types.void(buffer, types.intp, lanes), generate


@intrinsic
def zero(_typing: Any, buffer: types.Array) -> Any:
    """Make a zero with as many lanes as a buffer has."""
    lanes = ComplexLanes(width_of(buffer))

    def generate(context: Any, builder: Any, _sig: Any, _args: Any) -> ir.Value:
        nothing = ir.Constant(_vector(lanes.width), None)
        return _Pair(nothing, nothing).value(context, builder, lanes)

    return lanes(buffer), generate


@intrinsic
def prefetch(_typing: Any, buffer: types.Array, _index: types.Type) -> Any:
    """Bring an element of a buffer nearer, for reading it soon."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = _element(context, builder, buffer, *args)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, _INT(0), _INT(3), _INT(1)])
        return context.get_dummy_value()

    return types.void(buffer, types.intp), generate


# ------------------------------------------------------------------------------- windows onto the grid


@intrinsic
def window_weights(_typing: Any, coefficients: types.Array, _distance: types.Type, taps: Any) -> Any:
    """Evaluate the polynomials of a :class:`.kaiser_bessel.Window`, by Horner's scheme."""
    lanes, degree = RealLanes(8), len(taps)

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        table = _pointer(context, builder, coefficients, args[0], cgutils.intp_t(0))
        distance = _splat(builder, args[1], 8)
        total = _load(builder, table, 8, 32 * degree)
        for power in reversed(range(degree)):
            total = builder.fmul(total, distance, flags=_FLAGS)
            total = builder.fadd(total, _load(builder, table, 8, 32 * power), flags=_FLAGS)
        return total

    return lanes(coefficients, types.float32, taps), generate


@intrinsic
def pick(_typing: Any, lanes: RealLanes, _index: types.Type) -> Any:
    """Take one number out of several."""

    def generate(_context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        return builder.extract_element(args[0], builder.trunc(args[1], _INT))

    return types.float32(lanes, types.intp), generate


@intrinsic
def add_run(
    _typing: Any, grid: types.Array, _index: types.Type, lanes: ComplexLanes, weights: RealLanes, taps: Any
) -> Any:
    """Add a value times one weight each to elements that follow each other."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = _element(context, builder, grid, *args[:2])
        value = _Pair.of(context, builder, lanes, args[2])
        size = 4 * lanes.width
        for tap in range(len(taps)):
            weight = _splat(builder, builder.extract_element(args[3], _INT(tap)), lanes.width)
            for part, offset in ((value.re, 2 * tap * size), (value.im, (2 * tap + 1) * size)):
                product = builder.fmul(part, weight, flags=_FLAGS)
                total = builder.fadd(_load(builder, place, lanes.width, offset), product, flags=_FLAGS)
                _store(builder, place, total, offset)
        return context.get_dummy_value()

    return types.void(grid, types.intp, lanes, weights, taps), generate


@intrinsic
def sum_run(_typing: Any, grid: types.Array, _index: types.Type, weights: RealLanes, taps: Any) -> Any:
    """Sum elements that follow each other, times one weight each."""
    lanes = ComplexLanes(width_of(grid))

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = _element(context, builder, grid, *args[:2])
        size = 4 * lanes.width
        totals: list[ir.Value] = [ir.Constant(_vector(lanes.width), None)] * 2
        for tap in range(len(taps)):
            weight = _splat(builder, builder.extract_element(args[2], _INT(tap)), lanes.width)
            for part in (0, 1):
                value = _load(builder, place, lanes.width, (2 * tap + part) * size)
                product = builder.fmul(value, weight, flags=_FLAGS)
                totals[part] = builder.fadd(totals[part], product, flags=_FLAGS)
        return _Pair(*totals).value(context, builder, lanes)

    return lanes(grid, types.intp, weights, taps), generate


# ------------------------------------------------------------------------------------ tiles of the slices


@intrinsic
def read_tile(_typing: Any, buffer: types.Array, _to: types.Type, stack: types.Array, _from: types.Type,
              _step: types.Type, _slices: types.Type, factors: types.Array, _factor: types.Type) -> Any:
    """Put a few columns of one row of each slice into the real parts of elements that follow each other.

    `to` counts floats, half elements: an odd multiple of the width reaches the imaginary parts. `step` is
    the distance between slices; lanes beyond the last of the `slices` repeat it. As many columns as lanes.
    """
    width = width_of(buffer)

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        target = _floats(context, builder, buffer, args[0], args[1])
        source = _floats(context, builder, stack, args[2], args[3])
        column = _load(builder, _floats(context, builder, factors, args[6], args[7]), width)
        rows = []
        last = builder.sub(args[5], cgutils.intp_t(1))
        for lane in range(width):
            inside = builder.icmp_signed("<", cgutils.intp_t(lane), last)
            index = builder.select(inside, cgutils.intp_t(lane), last)
            byte = builder.mul(builder.mul(index, args[4]), cgutils.intp_t(4))
            rows.append(builder.fmul(_load(builder, builder.gep(source, [byte]), width), column))
        for number, vector in enumerate(_transposed(builder, rows)):
            _store(builder, target, vector, 8 * width * number)
        return context.get_dummy_value()

    return types.void(buffer, types.intp, stack, types.intp, types.intp, types.intp, factors, types.intp), generate


@intrinsic
def write_tile(_typing: Any, buffer: types.Array, _from: types.Type, stack: types.Array, _to: types.Type,
               _step: types.Type, _slices: types.Type, factors: types.Array, _factor: types.Type) -> Any:
    """Do the reverse of `read_tile`; nothing is written beyond the last of the slices."""
    width = width_of(buffer)

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        source = _floats(context, builder, buffer, args[0], args[1])
        target = _floats(context, builder, stack, args[2], args[3])
        column = _load(builder, _floats(context, builder, factors, args[6], args[7]), width)
        elements = [_load(builder, source, width, 8 * width * number) for number in range(width)]
        for lane, vector in enumerate(_transposed(builder, elements)):
            with builder.if_then(builder.icmp_signed("<", cgutils.intp_t(lane), args[5])):
                byte = builder.mul(args[4], cgutils.intp_t(4 * lane))
                _store(builder, builder.gep(target, [byte]), builder.fmul(vector, column))
        return context.get_dummy_value()

    return types.void(buffer, types.intp, stack, types.intp, types.intp, types.intp, factors, types.intp), generate


def _floats(context: Any, builder: Any, array: types.Array, value: ir.Value, index: ir.Value) -> ir.Value:
    return _pointer(context, builder, array, value, builder.mul(index, cgutils.intp_t(4)))


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
            kind = ir.VectorType(_INT, width)
            rows[i] = builder.shuffle_vector(a, b, ir.Constant(kind, first))
            rows[i | step] = builder.shuffle_vector(a, b, ir.Constant(kind, second))
        step //= 2
    return rows
