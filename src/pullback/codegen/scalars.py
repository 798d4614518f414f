"""Scalar primitives as instructions: templates of the rows, and the few ops that have a method of their own.

    r = mul(x, y)             ->   %t3 = fmul double %t1, %t2
    r = cast{to: i64}(x)      ->   fptosi where |x| < 2**63, else the smallest int
    r = powi{n: 5}(x)         ->   x2 = x*x; x4 = x2*x2; x4*x
"""

from __future__ import annotations

import math
import re
import struct

import numpy as np

from pullback.codegen.abi import LLVM
from pullback.codegen.elementary import symbol
from pullback.codegen.templates import FAST, template
from pullback.codegen.writer import FunctionWriter
from pullback.diagnostic import InternalError
from pullback.ir.node import Op, Value
from pullback.prims.base import Elementary, Prim
from pullback.types import F32, DType, Scalar

__all__ = ["RULES", "cast", "constant", "dtype_of", "scalar"]

# How many calls of elementary functions (up to 200 instructions each) are inlined in a function: in loops that are to
# become vectors, in others, and outside.  Inlining saves nanoseconds a call, and without it kernels are not vectorised;
# compiling costs milliseconds a call.
_INLINED_AS_VECTORS, _INLINED_IN_LOOPS, _INLINED_ONCE = 128, 40, 8  # the loop of a kernel stands there twice
_ADDITION = re.compile(r"^(fadd|fsub) (?!reassoc)")


def dtype_of(value: Value) -> DType:
    """The dtype of a scalar value."""
    if not isinstance(value.type, Scalar):
        raise InternalError(f"{value!r} is not a scalar")
    return value.type.dtype


def constant(value: object, dtype: DType) -> str:
    """A number as an LLVM literal; a float as the bits of the double that equals it."""
    if dtype is DType.BOOL:
        return "true" if value else "false"
    if dtype.is_int:
        return str(int(value))  # type: ignore[call-overload]
    number = float(value)  # type: ignore[arg-type]
    if dtype is DType.F16:
        with np.errstate(over="ignore"):
            return f"0xH{np.float16(number).view(np.uint16):04X}"
    if dtype is DType.F32 and math.isfinite(number):
        number = _single(number)
    if math.isnan(number):
        return "0x7FF8000000000000" if math.copysign(1.0, number) > 0 else "0xFFF8000000000000"
    return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"


def _single(number: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def scalar(w: FunctionWriter, op: Op) -> None:
    """Any primitive with a template or an elementary function."""
    prim, pieces = op.prim, w.pieces
    if not isinstance(prim, Prim) or not op.operands:
        raise InternalError(f"no code for {op.name}")
    operands = [pieces[v][0] for v in op.operands]
    result = dtype_of(op.result)
    found = template(prim, dtype_of(op.operands[0]), result, w.fast)
    if found is None:
        raise InternalError(f"no code for {op.name} of {op.operands[0].type}")
    if dtype_of(op.operands[-1]) is DType.F16 and (isinstance(found, Elementary) or found.elementary):
        _in_single(w, op)
        return
    if isinstance(found, Elementary):
        pieces[op.results[0]] = (_elementary(w, found.name, op, operands),)
        return
    for declared in found.declarations:
        w.module.declarations.setdefault(*declared)
    for called in found.elementary:
        w.module.elementary[called] = None
    if found.temporaries:
        names = {name: f"%t{w.count + i}" for i, name in enumerate(found.temporaries)}
        w.count += len(names)
        w.lines += ["  " + line.format(*operands, **names) for line in found.lines]
        right = found.result.format(*operands, **names)
    else:
        right = found.result.format(*operands)
    if op in w.any_order:
        right = _ADDITION.sub(r"\1 reassoc ", right)
    pieces[op.results[0]] = (w.set(right),)


def _elementary(w: FunctionWriter, name: str, op: Op, operands: list[str]) -> str:
    dtype = dtype_of(op.operands[-1])
    w.module.elementary[name, dtype.value] = None
    arguments = ", ".join(f"{t} {v}" for t, v in zip(w.types(op.operands), operands, strict=True))
    most = _INLINED_AS_VECTORS if w.lanes else _INLINED_IN_LOOPS if w.often else _INLINED_ONCE
    inlined = not w.compact and w.inlined < most
    w.inlined += inlined
    attribute = "" if inlined else " noinline"
    return w.set(f"call {LLVM[dtype_of(op.result)]} {symbol(name, dtype.value)}({arguments}){attribute}")


def _in_single(w: FunctionWriter, op: Op) -> None:
    """A function of float16: computed in float32 and rounded, as NumPy does."""

    def single(value: Value) -> Value:
        return Value(F32, value.name) if dtype_of(value) is DType.F16 else value

    operands, result = [single(v) for v in op.operands], single(op.result)
    for value, given in zip(operands, op.operands, strict=True):
        w.pieces[value] = (cast(w, w.only(given), dtype_of(given), dtype_of(value)),)
    scalar(w, Op(op.prim, operands, [result], op.attrs, (), op.span))
    w.pieces[op.result] = (cast(w, w.only(result), dtype_of(result), dtype_of(op.result)),)


def _const(w: FunctionWriter, op: Op) -> None:
    w.pieces[op.results[0]] = (constant(op.attrs["value"], dtype_of(op.result)),)


def _select(w: FunctionWriter, op: Op) -> None:
    condition, *arms = op.operands
    types = w.types(arms[:1])
    choices = zip(types, w.pieces[arms[0]], w.pieces[arms[1]], strict=True)
    chosen = [w.set(f"select i1 {w.only(condition)}, {t} {x}, {t} {y}") if x != y else x for t, x, y in choices]
    w.bind(op.results, chosen)


def _cast(w: FunctionWriter, op: Op) -> None:
    source, to = dtype_of(op.operands[0]), op.attrs["to"]
    assert isinstance(to, DType)
    w.pieces[op.result] = (cast(w, w.only(op.operands[0]), source, to),)


def cast(w: FunctionWriter, value: str, source: DType, to: DType) -> str:
    """Conversion as NumPy does it; a float out of the range of an int gives the smallest int."""
    s, t = LLVM[source], LLVM[to]
    if source is to:
        return value
    if to is DType.BOOL:
        return w.set(f"fcmp une {s} {value}, 0.0" if source.is_float else f"icmp ne {s} {value}, 0")
    if source is DType.BOOL:
        return w.set(f"{'uitofp' if to.is_float else 'zext'} i1 {value} to {t}")
    if source.is_float and to.is_float:
        if (source, to) == (DType.F64, DType.F16):
            return _half_of_double(w, value)
        return w.set(f"{'fpext' if to.bytes > source.bytes else 'fptrunc'} {s} {value} to {t}")
    if source.is_int and to.is_int:
        if source.bytes == to.bytes:
            return value
        longer = "zext" if source.is_unsigned else "sext"
        return w.set(f"{longer if to.bytes > source.bytes else 'trunc'} {s} {value} to {t}")
    if source.is_int:
        if to is DType.F16:  # what a float32 does not hold is beyond float16
            return cast(w, cast(w, value, source, DType.F32), DType.F32, to)
        return w.set(f"{'uitofp' if source.is_unsigned else 'sitofp'} {s} {value} to {t}")
    return _whole(w, value, source, to)


def _half_of_double(w: FunctionWriter, value: str) -> str:
    """Rounded once: first to a float32 whose last bit says that it is not exact (Boldo, Melquiond 2008)."""
    near = w.set(f"fptrunc double {value} to float")
    back = w.set(f"fpext float {near} to double")
    sizes = [w.intrinsic(f"call double @llvm.fabs.f64(double {x})") for x in (back, value)]
    bits = w.set(f"bitcast float {near} to i32")
    away = w.set(f"fcmp ogt double {sizes[0]}, {sizes[1]}")
    below = w.set(f"select i1 {away}, i32 {w.set(f'sub i32 {bits}, 1')}, i32 {bits}")
    exact = w.set(f"fcmp oeq double {back}, {value}")
    odd = w.set(f"select i1 {exact}, i32 {bits}, i32 {w.set(f'or i32 {below}, 1')}")
    return w.set(f"fptrunc float {w.set(f'bitcast i32 {odd} to float')} to half")


def _whole(w: FunctionWriter, value: str, source: DType, to: DType) -> str:
    """A float's whole part; see `prims.scalar._truncated` for what does not fit."""
    if source is DType.F16:
        return _whole(w, w.set(f"fpext half {value} to float"), DType.F32, to)
    if to is DType.U64:
        s, half = LLVM[source], constant(2.0**63, source)
        large = w.set(f"fcmp oge {s} {value}, {half}")
        rest = w.set(f"select i1 {large}, {s} {w.set(f'fsub {s} {value}, {half}')}, {s} {value}")
        found = _whole(w, rest, source, DType.I64)
        return w.set(f"xor i64 {found}, {w.set(f'select i1 {large}, i64 {-(2**63)}, i64 0')}")
    if to.bytes < 4 or to is DType.U32:
        middle = DType.I32 if to.bytes < 4 else DType.I64
        return cast(w, _whole(w, value, source, middle), middle, to)
    # The conversion is poison out of range; select does not pass on what it does not choose.
    s, t, (low, _) = LLVM[source], LLVM[to], to.limits
    fits = w.set(f"fcmp olt {s} {value}, {constant(-float(low), source)}")
    if source is DType.F64 and to is DType.I32:  # whose fractions below the least int are cut off
        fits = w.set(f"and i1 {fits}, {w.set(f'fcmp ogt {s} {value}, {constant(low - 1.0, source)}')}")
    else:
        fits = w.set(f"and i1 {fits}, {w.set(f'fcmp oge {s} {value}, {constant(float(low), source)}')}")
    converted = w.set(f"fptosi {s} {value} to {t}")
    return w.set(f"select i1 {fits}, {t} {converted}, {t} {low}")


def _powi(w: FunctionWriter, op: Op) -> None:
    n = op.attrs["n"]
    if not isinstance(n, int):
        raise InternalError(f"powi needs an int exponent, not {n!r}")
    dtype = dtype_of(op.result)
    t, one = LLVM[dtype], constant(1.0, dtype)
    result = _power(w, w.only(op.operands[0]), abs(n), t, one)
    if n < 0:
        result = w.set(f"fdiv {FAST if w.fast else ''}{t} {one}, {result}")
    w.pieces[op.result] = (result,)


def _power(w: FunctionWriter, base: str, n: int, t: str, one: str) -> str:
    """Squaring and multiplying from the low bit."""
    multiply = f"fmul {FAST if w.fast else ''}{t}"
    result = one
    while n:
        if n & 1:
            result = base if result == one else w.set(f"{multiply} {result}, {base}")
        n >>= 1
        if n:
            base = w.set(f"{multiply} {base}, {base}")
    return result


def _integer_power(w: FunctionWriter, op: Op) -> None:
    """In 64 bits, of which as many are kept as the result has."""
    dtype = dtype_of(op.operands[0])
    x, n = (cast(w, w.only(v), dtype, DType.I64) for v in op.operands)
    if dtype is DType.U64:  # the power 2**63 of an even number is 0, of an odd one 1
        least = w.set(f"and i64 {n}, {2**63 - 1}")
        found = w.set(f"call i64 {w.module.helper('pb.ipow.i64')}(i64 {x}, i64 {least})")
        even = w.set(f"icmp eq i64 {w.set(f'and i64 {x}, 1')}, 0")
        vanishes = w.set(f"and i1 {even}, {w.set(f'icmp slt i64 {n}, 0')}")
        w.pieces[op.result] = (w.set(f"select i1 {vanishes}, i64 0, i64 {found}"),)
        return
    helper = w.module.helper(f"pb.{op.name}.i64")
    if op.name == "pow_overflows":
        w.pieces[op.result] = (w.set(f"call i1 {helper}(i64 {x}, i64 {n})"),)
        return
    w.pieces[op.result] = (cast(w, w.set(f"call i64 {helper}(i64 {x}, i64 {n})"), DType.I64, dtype),)


RULES = {
    "const": _const,
    "select": _select,
    "cast": _cast,
    "powi": _powi,
    "ipow": _integer_power,
    "pow_overflows": _integer_power,
}
