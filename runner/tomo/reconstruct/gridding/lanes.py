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
INT = ir.IntType(32)
# a product and a sum may become one instruction; nothing may be reordered, so that all bits are reproducible
FLAGS = ("contract",)


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
        super().__init__(manager, lanes, vector(lanes.width))


@register_model(ComplexLanes)
class _ComplexModel(models.StructModel):
    def __init__(self, manager: Any, lanes: ComplexLanes) -> None:
        part = RealLanes(lanes.width)
        super().__init__(manager, lanes, [("re", part), ("im", part)])


def vector(width: int) -> ir.VectorType:
    """Give LLVM's type of so many floats."""
    return ir.VectorType(_FLOAT, width)


class Pair:
    """The two LLVM vectors of a ComplexLanes value."""

    def __init__(self, re: ir.Value, im: ir.Value) -> None:
        self.re, self.im = re, im

    @classmethod
    def of(cls, context: Any, builder: Any, lanes: ComplexLanes, value: ir.Value) -> Pair:
        """Take a value apart."""
        proxy = cgutils.create_struct_proxy(lanes)(context, builder, value=value)
        return cls(proxy.re, proxy.im)

    def value(self, context: Any, builder: Any, lanes: ComplexLanes) -> ir.Value:
        """Put the value together again."""
        proxy = cgutils.create_struct_proxy(lanes)(context, builder)
        proxy.re, proxy.im = self.re, self.im
        return proxy._getvalue()  # noqa: SLF001 - numba's own name for it


# --------------------------------------------------------------------------------------------- arithmetic


@infer_global(operator.add)
@infer_global(operator.sub)
class _TypeOfSum(AbstractTemplate):
    def generic(self, args: Sequence[types.Type], kws: Any) -> Any:
        if not kws and len(args) == 2 and isinstance(args[0], ComplexLanes) and args[0] == args[1]:
            return signature(args[0], *args)
        return None


@infer_global(operator.mul)
class _TypeOfProduct(AbstractTemplate):
    def generic(self, args: Sequence[types.Type], kws: Any) -> Any:
        if not kws and len(args) == 2 and isinstance(args[0], ComplexLanes):
            scalar = types.complex64 if isinstance(args[1], types.Complex) else types.float32
            return signature(args[0], args[0], scalar)
        return None


@lower_builtin(operator.add, ComplexLanes, ComplexLanes)
def _add(context: Any, builder: Any, sig: Any, args: Any) -> ir.Value:
    lanes = sig.return_type
    a, b = (Pair.of(context, builder, lanes, value) for value in args)
    total = Pair(builder.fadd(a.re, b.re, flags=FLAGS), builder.fadd(a.im, b.im, flags=FLAGS))
    return total.value(context, builder, lanes)


@lower_builtin(operator.sub, ComplexLanes, ComplexLanes)
def _subtract(context: Any, builder: Any, sig: Any, args: Any) -> ir.Value:
    lanes = sig.return_type
    a, b = (Pair.of(context, builder, lanes, value) for value in args)
    rest = Pair(builder.fsub(a.re, b.re, flags=FLAGS), builder.fsub(a.im, b.im, flags=FLAGS))
    return rest.value(context, builder, lanes)


@lower_builtin(operator.mul, ComplexLanes, types.float32)
def _scale(context: Any, builder: Any, sig: Any, args: Any) -> ir.Value:
    lanes = sig.return_type
    a, factor = Pair.of(context, builder, lanes, args[0]), splat(builder, args[1], lanes.width)
    scaled = Pair(builder.fmul(a.re, factor, flags=FLAGS), builder.fmul(a.im, factor, flags=FLAGS))
    return scaled.value(context, builder, lanes)


@lower_builtin(operator.mul, ComplexLanes, types.complex64)
def _multiply(context: Any, builder: Any, sig: Any, args: Any) -> ir.Value:
    lanes = sig.return_type
    a = Pair.of(context, builder, lanes, args[0])
    scalar = context.make_complex(builder, types.complex64, args[1])
    re, im = splat(builder, scalar.real, lanes.width), splat(builder, scalar.imag, lanes.width)

    def product(x: ir.Value, y: ir.Value) -> ir.Value:
        return builder.fmul(x, y, flags=FLAGS)

    result = Pair(
        builder.fsub(product(a.re, re), product(a.im, im), flags=FLAGS),
        builder.fadd(product(a.re, im), product(a.im, re), flags=FLAGS),
    )
    return result.value(context, builder, lanes)


@intrinsic
def times_i(_typing: Any, lanes: types.Type) -> Any:
    """Multiply by the imaginary unit: a turn of 90 degrees."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        a = Pair.of(context, builder, lanes, args[0])
        return Pair(builder.fneg(a.im), a.re).value(context, builder, lanes)

    return lanes(lanes), generate


@intrinsic
def conj(_typing: Any, lanes: types.Type) -> Any:
    """Negate the imaginary parts."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        a = Pair.of(context, builder, lanes, args[0])
        return Pair(a.re, builder.fneg(a.im)).value(context, builder, lanes)

    return lanes(lanes), generate


def splat(builder: Any, scalar: ir.Value, width: int) -> ir.Value:
    """Repeat one number in all lanes."""
    first = builder.insert_element(ir.Constant(vector(width), ir.Undefined), scalar, INT(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(INT, width), [0] * width))


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


def pointer_to(context: Any, builder: Any, array: types.Array, value: ir.Value, byte: ir.Value) -> ir.Value:
    """Point to a byte of an array's data."""
    data = context.make_array(array)(context, builder, value).data
    return builder.gep(builder.bitcast(data, cgutils.voidptr_t), [byte])


def load_vector(builder: Any, pointer: ir.Value, width: int, offset: int = 0) -> ir.Value:
    """Read so many floats, `offset` bytes beyond a pointer."""
    place = builder.gep(pointer, [cgutils.intp_t(offset)])
    return builder.load(builder.bitcast(place, vector(width).as_pointer()), align=4, typ=vector(width))


def store_vector(builder: Any, pointer: ir.Value, vector: ir.Value, offset: int = 0) -> None:
    """Write floats, `offset` bytes beyond a pointer."""
    place = builder.gep(pointer, [cgutils.intp_t(offset)])
    builder.store(vector, builder.bitcast(place, vector.type.as_pointer()), align=4)


def element_of(context: Any, builder: Any, buffer: types.Array, value: ir.Value, index: ir.Value) -> ir.Value:
    """Point to an element of a buffer."""
    size = cgutils.intp_t(8 * width_of(buffer))
    return pointer_to(context, builder, buffer, value, builder.mul(index, size))


@intrinsic
def load(_typing: Any, buffer: types.Array, _index: types.Type) -> Any:
    """Read one element of a buffer."""
    lanes = ComplexLanes(width_of(buffer))

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = element_of(context, builder, buffer, *args)
        re, im = (load_vector(builder, place, lanes.width, offset) for offset in (0, 4 * lanes.width))
        return Pair(re, im).value(context, builder, lanes)

    return lanes(buffer, types.intp), generate


@intrinsic
def store(_typing: Any, buffer: types.Array, _index: types.Type, lanes: types.Type) -> Any:
    """Write one element of a buffer."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = element_of(context, builder, buffer, *args[:2])
        pair = Pair.of(context, builder, lanes, args[2])
        store_vector(builder, place, pair.re)
        store_vector(builder, place, pair.im, 4 * lanes.width)
        return context.get_dummy_value()

    return types.void(buffer, types.intp, lanes), generate


@intrinsic
def zero(_typing: Any, buffer: types.Array) -> Any:
    """Make a zero with as many lanes as a buffer has."""
    lanes = ComplexLanes(width_of(buffer))

    def generate(context: Any, builder: Any, _sig: Any, _args: Any) -> ir.Value:
        nothing = ir.Constant(vector(lanes.width), None)
        return Pair(nothing, nothing).value(context, builder, lanes)

    return lanes(buffer), generate


@intrinsic
def prefetch(_typing: Any, buffer: types.Array, _index: types.Type) -> Any:
    """Bring an element of a buffer nearer, for reading it soon."""

    def generate(context: Any, builder: Any, _sig: Any, args: Any) -> ir.Value:
        place = element_of(context, builder, buffer, *args)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, INT, INT, INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, INT(0), INT(3), INT(1)])
        return context.get_dummy_value()

    return types.void(buffer, types.intp), generate
