"""Scalar primitives as instructions: templates of the rows, and the few ops that have a method of their own.

    r = mul(x, y)             ->   %t3 = fmul double %t1, %t2
    r = cast{to: i64}(x)      ->   fptosi where |x| < 2**63, else the smallest int
    r = powi{n: 5}(x)         ->   x2 = x*x; x4 = x2*x2; x4*x
"""

from __future__ import annotations

import math
import re
import struct

from pullback.codegen.abi import LLVM
from pullback.codegen.elementary import symbol
from pullback.codegen.templates import FAST, template
from pullback.codegen.writer import FunctionWriter
from pullback.diagnostic import InternalError
from pullback.ir.node import Op, Value
from pullback.prims.base import Elementary, Prim
from pullback.types import DType, Scalar

__all__ = ["RULES", "cast", "constant", "dtype_of", "scalar"]

# How many calls of elementary functions (up to 200 instructions each) are inlined in a function, in loops and outside.
# Inlining saves nanoseconds a call, and without it kernels are not vectorised; compiling costs milliseconds a call.
_INLINED_IN_LOOPS, _INLINED_ONCE = 64, 8
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
    inlined = w.inlined < (_INLINED_IN_LOOPS if w.depth else _INLINED_ONCE)
    w.inlined += inlined
    attribute = "" if inlined else " noinline"
    return w.set(f"call {LLVM[dtype_of(op.result)]} {symbol(name, dtype.value)}({arguments}){attribute}")


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
        return w.set(f"{'fpext' if to is DType.F64 else 'fptrunc'} {s} {value} to {t}")
    if source.is_int and to.is_int:
        return w.set(f"{'sext' if to is DType.I64 else 'trunc'} {s} {value} to {t}")
    if source.is_int:
        return w.set(f"sitofp {s} {value} to {t}")
    # The conversion is poison out of range; select does not pass on what it does not choose.
    bits = 8 * to.bytes - 1
    size = w.intrinsic(f"call {s} @llvm.fabs.{source.value}({s} {value})")
    fits = w.set(f"fcmp olt {s} {size}, {constant(2.0**bits, source)}")
    converted = w.set(f"fptosi {s} {value} to {t}")
    return w.set(f"select i1 {fits}, {t} {converted}, {t} {-(2**bits)}")


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
    dtype = dtype_of(op.operands[0])
    helper = w.module.helper(f"pb.{op.name}.{dtype.value}")
    x, n = (w.only(v) for v in op.operands)
    t = LLVM[dtype]
    w.pieces[op.result] = (w.set(f"call {LLVM[dtype_of(op.result)]} {helper}({t} {x}, {t} {n})"),)


RULES = {
    "const": _const,
    "select": _select,
    "cast": _cast,
    "powi": _powi,
    "ipow": _integer_power,
    "pow_overflows": _integer_power,
}
