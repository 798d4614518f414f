"""Arithmetic, comparison, logic and conversion of machine numbers.

Every op here is IEEE or wraps, and never raises: Python's checks are separate `check` ops made by inference.
Operands of one op have one dtype; inference inserts `cast`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from pullback.ir.node import Op, Value
from pullback.prims.base import (
    Attrs,
    Elementary,
    Emitter,
    Infer,
    Linear,
    Partial,
    Partials,
    Prim,
    PublicName,
    register,
)  # fmt: skip
from pullback.types import BOOL, DType, Machine, Scalar

FLOATS = (DType.F64, DType.F32, DType.F16)
INTS = (DType.I64, DType.I32, DType.I16, DType.I8, DType.U64, DType.U32, DType.U16, DType.U8)
NUMBERS = FLOATS + INTS


def same(allowed: tuple[DType, ...], arity: int) -> Infer:
    """All operands and the result are of one dtype out of `allowed`."""

    def infer(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
        if len(operands) != arity or len(set(operands)) != 1:
            raise TypeError(f"{arity} operands of one type are needed")
        (first, *_) = operands
        if not isinstance(first, Scalar) or first.dtype not in allowed:
            raise TypeError(f"not defined for {first}")
        return (first,)

    return infer


def to_bool(allowed: tuple[DType, ...], arity: int) -> Infer:
    """Operands of one dtype, a bool result."""
    inner = same(allowed, arity)

    def infer(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
        inner(operands, attrs)
        return (BOOL,)

    return infer


def ufunc(name: str) -> tuple[PublicName, ...]:
    """The public name of a NumPy ufunc."""
    return (PublicName(f"numpy.{name}", "ufunc"),)


ANY = (*NUMBERS, DType.BOOL)

# ------------------------------------------------------------------------------------------------- constants


def _const_type(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    type_ = attrs["type"]
    if not isinstance(type_, Scalar):
        raise TypeError("constants are scalars")
    return (type_,)


register(Prim(name="const", doc="a literal number (attrs value, type)", infer=_const_type))

# ------------------------------------------------------------------------------------------------ arithmetic


def _partials(*values: float | None) -> Partials:
    return lambda e, op: values


def _mul(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, y = op.operands
    return (Partial(y), Partial(x))


def _zmul(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, y = op.operands
    return (Partial(y, strong=True), Partial(x, strong=True))


def _div(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    _, y = op.operands
    return (
        Partial(e("div", e.like(1.0, y), y), strong=True),
        Partial(e("neg", e("div", op.result, y)), strong=True),
    )


def _fma(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, y, _ = op.operands
    return (Partial(y), Partial(x), 1.0)


def _floor_mod(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, y = op.operands
    return (1.0, Partial(e("neg", e("floordiv", x, y)), strong=True))


def _fmod(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, y = op.operands
    return (1.0, Partial(e("neg", e("trunc", e("div", x, y))), strong=True))


def _remainder(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, y = op.operands
    return (1.0, Partial(e("neg", e("rint", e("div", x, y))), strong=True))


def _abs(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    return (Partial(e("sign", op.operands[0])),)


def _copysign(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, _ = op.operands
    return (Partial(e("mul", e("sign", x), e("sign", op.result))), None)


def _pow(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    x, y = op.operands
    less = e("pow", x, e("sub", y, e.like(1.0, y)))
    # zmul: at y == 0 the power may be infinite while the derivative is 0 everywhere.
    return (Partial(e("zmul", y, less), strong=True), Partial(e("zmul", op.result, e("log", x)), strong=True))


def _powi(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    (x,) = op.operands
    n = int(str(op.attrs["n"]))
    if n == 0:
        return (None,)
    if n == 1:
        return (1.0,)
    slope = e("mul", e.like(float(n), x), e("powi", x, n=n - 1))
    return (Partial(slope, strong=n < 1),)


def _extremum(larger: str) -> Partials:
    """Ties share evenly; an operand written as a literal (or an int) gets no share and the other gets 0."""

    def partials(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
        x, y = op.operands
        literal = op.attrs.get("literal", (False, False))
        assert isinstance(literal, tuple)
        one, zero = e.like(1.0, x), e.like(0.0, x)
        tie = zero if any(literal) else e.like(0.5, x)
        wins, loses = e(larger, x, y), e(larger, y, x)
        first = e("select", wins, one, e("select", loses, zero, tie))
        second = e("select", loses, one, e("select", wins, zero, tie))
        return (None if literal[0] else Partial(first), None if literal[1] else Partial(second))

    return partials


# Of comparisons that hold for the product, the second is masked by the first where processors have masks.
ZMUL = """{a} = fcmp une {T} {0}, 0.0
{b} = fcmp une {T} {1}, 0.0
{c} = and i1 {a}, {b}
{d} = fmul {T} {0}, {1}
select i1 {c}, {T} {d}, {T} 0.0"""

# Python's floor division and modulo: the remainder has the sign of the divisor.
INT_FLOORDIV = """{z} = icmp eq {T} {1}, 0
{d0} = select i1 {z}, {T} 1, {T} {1}
{m1} = icmp eq {T} {d0}, -1
{d} = select i1 {m1}, {T} 1, {T} {d0}
{q} = sdiv {T} {0}, {d}
{p} = mul {T} {q}, {d}
{r} = sub {T} {0}, {p}
{nz} = icmp ne {T} {r}, 0
{x} = xor {T} {r}, {d}
{sn} = icmp slt {T} {x}, 0
{adj} = and i1 {nz}, {sn}
{q1} = sub {T} {q}, 1
{q2} = select i1 {adj}, {T} {q1}, {T} {q}
{ng} = sub {T} 0, {0}
{q3} = select i1 {m1}, {T} {ng}, {T} {q2}
select i1 {z}, {T} 0, {T} {q3}"""
INT_MOD = """{z} = icmp eq {T} {1}, 0
{m1} = icmp eq {T} {1}, -1
{u} = or i1 {z}, {m1}
{d} = select i1 {u}, {T} 1, {T} {1}
{r} = srem {T} {0}, {d}
{nz} = icmp ne {T} {r}, 0
{x} = xor {T} {r}, {d}
{sn} = icmp slt {T} {x}, 0
{adj} = and i1 {nz}, {sn}
{r1} = add {T} {r}, {d}
{r2} = select i1 {adj}, {T} {r1}, {T} {r}
select i1 {u}, {T} 0, {T} {r2}"""
UINT_FLOORDIV = """{z} = icmp eq {T} {1}, 0
{d} = select i1 {z}, {T} 1, {T} {1}
{q} = udiv {T} {0}, {d}
select i1 {z}, {T} 0, {T} {q}"""
UINT_MOD = """{z} = icmp eq {T} {1}, 0
{d} = select i1 {z}, {T} 1, {T} {1}
{r} = urem {T} {0}, {d}
select i1 {z}, {T} 0, {T} {r}"""
# CPython's float_divmod: fmod, then adjust the sign; the quotient is rounded to the nearest whole number.
FLOAT_MOD = """{r} = call {T} @pb.fmod.{t}({T} {0}, {T} {1})
{nz} = fcmp une {T} {r}, 0.0
{rn} = fcmp olt {T} {r}, 0.0
{yn} = fcmp olt {T} {1}, 0.0
{x} = xor i1 {rn}, {yn}
{adj} = and i1 {nz}, {x}
{r1} = fadd {T} {r}, {1}
{r2} = select i1 {adj}, {T} {r1}, {T} {r}
{z} = call {T} @llvm.copysign.{t}({T} 0.0, {T} {1})
select i1 {nz}, {T} {r2}, {T} {z}"""
FLOAT_FLOORDIV = """{r} = call {T} @pb.fmod.{t}({T} {0}, {T} {1})
{d0} = fsub {T} {0}, {r}
{q0} = fdiv {T} {d0}, {1}
{nz} = fcmp une {T} {r}, 0.0
{rn} = fcmp olt {T} {r}, 0.0
{yn} = fcmp olt {T} {1}, 0.0
{x} = xor i1 {rn}, {yn}
{adj} = and i1 {nz}, {x}
{q1} = fsub {T} {q0}, 1.0
{q2} = select i1 {adj}, {T} {q1}, {T} {q0}
{f} = call {T} @llvm.floor.{t}({T} {q2})
{e} = fsub {T} {q2}, {f}
{up} = fcmp ogt {T} {e}, 0.5
{f1} = fadd {T} {f}, 1.0
{f2} = select i1 {up}, {T} {f1}, {T} {f}
{quot} = fdiv {T} {0}, {1}
{sz} = call {T} @llvm.copysign.{t}({T} 0.0, {T} {quot})
{isz} = fcmp oeq {T} {q2}, 0.0
{f3} = select i1 {isz}, {T} {sz}, {T} {f2}
{dz} = fcmp oeq {T} {1}, 0.0
select i1 {dz}, {T} {quot}, {T} {f3}"""
# A product of halves is exact in double.
HALF_FMA = """{a} = fpext half {0} to double
{b} = fpext half {1} to double
{d} = fpext half {2} to double
{p} = fmul double {a}, {b}
{r} = fadd double {p}, {d}
fptrunc double {r} to half"""
# As NumPy: the second operand where both are zeros; nan if either is.  llvm.maximum orders zeros and costs more.
MAXIMUM = """{c} = fcmp ogt {T} {0}, {1}
{m} = select i1 {c}, {T} {0}, {T} {1}
{n} = fcmp uno {T} {0}, {0}
select i1 {n}, {T} {0}, {T} {m}"""
MINIMUM = MAXIMUM.replace("ogt", "olt")
HALF_MAXIMUM, HALF_MINIMUM = MAXIMUM.replace("ogt", "oge"), MAXIMUM.replace("ogt", "ole")  # the first of two zeros


def _powi_impl(x: np.generic, n: int) -> object:
    result = type(x)(1)
    for _ in range(abs(n)):
        result = result * x  # type: ignore[operator]
    return type(x)(1) / result if n < 0 else result  # type: ignore[operator]


def _fma_impl(x: Any, y: Any, z: Any) -> Any:
    """Exact, then rounded once."""
    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        return type(x)(x * y + z)
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if not exact:
        return type(x)(x * y + z)  # the sign of zero
    try:
        return type(x)(float(exact))
    except OverflowError:
        return type(x)(math.inf if exact > 0 else -math.inf)


ARITHMETIC = (
    Prim(name="add", doc="x + y", infer=same(NUMBERS, 2), impl=lambda x, y: x + y, derivative=_partials(1.0, 1.0),
         lower={"float": "fadd {T} {0}, {1}", "int": "add {T} {0}, {1}"}, public=ufunc("add"), commutative=True),
    Prim(name="accumulate", doc="x + y of parts of a sensitivity: in any order, and 0 adds nothing",
         infer=same(FLOATS, 2), impl=lambda x, y: x + y, derivative=_partials(1.0, 1.0),
         lower={"float": "fadd {T} {0}, {1}"}, commutative=True),
    Prim(name="sub", doc="x - y", infer=same(NUMBERS, 2), impl=lambda x, y: x - y, derivative=_partials(1.0, -1.0),
         lower={"float": "fsub {T} {0}, {1}", "int": "sub {T} {0}, {1}"}, public=ufunc("subtract")),
    Prim(name="mul", doc="x * y", infer=same(NUMBERS, 2), impl=lambda x, y: x * y, derivative=_mul,
         lower={"float": "fmul {T} {0}, {1}", "int": "mul {T} {0}, {1}"}, public=ufunc("multiply"), commutative=True),
    Prim(name="zmul", doc="0 if x == 0 or y == 0 else x * y: the strong zero of derivatives", infer=same(FLOATS, 2),
         impl=lambda x, y: type(x)(0) if x == 0 or y == 0 else x * y, derivative=_zmul,
         lower={"float": ZMUL}, commutative=True),
    Prim(name="div", doc="x / y, IEEE", infer=same(FLOATS, 2), impl=lambda x, y: x / y, derivative=_div,
         lower={"float": "fdiv {T} {0}, {1}"}, public=ufunc("divide")),
    Prim(name="neg", doc="-x", infer=same(NUMBERS, 1), impl=lambda x: -x, derivative=_partials(-1.0),
         lower={"float": "fneg {T} {0}", "int": "sub {T} 0, {0}"}, public=ufunc("negative")),
    Prim(name="fma", doc="x * y + z with one rounding", infer=same(FLOATS, 3), impl=_fma_impl,
         derivative=_fma,
         lower={"f16": HALF_FMA, "float": "call {T} @llvm.fma.{t}({T} {0}, {T} {1}, {T} {2})"}),
    Prim(name="floordiv", doc="x // y: Python's floor; 0 for an int divided by 0", infer=same(NUMBERS, 2),
         impl=lambda x, y: np.floor_divide(x, y),
         lower={"float": FLOAT_FLOORDIV, "int": INT_FLOORDIV, "uint": UINT_FLOORDIV},
         public=ufunc("floor_divide"), samples="nonzero"),
    Prim(name="mod", doc="x % y: the sign of y; 0 for an int modulo 0", infer=same(NUMBERS, 2),
         impl=lambda x, y: np.remainder(x, y), derivative=_floor_mod,
         lower={"float": FLOAT_MOD, "int": INT_MOD, "uint": UINT_MOD},
         public=(*ufunc("mod"), *ufunc("remainder")), samples="nonzero"),
    Prim(name="fmod", doc="the remainder with the sign of x (C)", infer=same(FLOATS, 2), impl=np.fmod, derivative=_fmod,
         lower={"float": Elementary("fmod")}, public=(PublicName("math.fmod", "math"), *ufunc("fmod")),
         samples="nonzero"),
    Prim(name="remainder", doc="IEEE remainder: x - n*y, n nearest to x/y, ties to even", infer=same(FLOATS, 2),
         impl=lambda x, y: type(x)(math.remainder(x, y)) if np.isfinite(x) and y != 0 else type(x)(np.nan),
         derivative=_remainder, lower={"float": Elementary("remainder")},
         public=(PublicName("math.remainder", "math"),), samples="nonzero"),
    Prim(name="abs", doc="|x|; derivative 0 at 0", infer=same(NUMBERS, 1), impl=np.abs, derivative=_abs,
         lower={"float": "call {T} @llvm.fabs.{t}({T} {0})", "int": "call {T} @llvm.abs.{t}({T} {0}, i1 false)",
                "uint": "select i1 true, {T} {0}, {T} {0}"},
         public=(*ufunc("abs"), *ufunc("absolute"), *ufunc("fabs"), PublicName("math.fabs", "math"))),
    Prim(name="sign", doc="-1, 0 or 1; nan for nan", infer=same(NUMBERS, 1), impl=np.sign,
         lower={"float": "{p} = fcmp ogt {T} {0}, 0.0\n{n} = fcmp olt {T} {0}, 0.0\n{z} = fcmp oeq {T} {0}, 0.0\n"
                         "{a} = select i1 {n}, {T} -1.0, {T} {0}\n{b} = select i1 {z}, {T} 0.0, {T} {a}\n"
                         "select i1 {p}, {T} 1.0, {T} {b}",
                "int": "{p} = icmp sgt {T} {0}, 0\n{n} = icmp slt {T} {0}, 0\n{a} = zext i1 {p} to {T}\n"
                       "{b} = zext i1 {n} to {T}\nsub {T} {a}, {b}",
                "uint": "{p} = icmp ne {T} {0}, 0\nzext i1 {p} to {T}"}, public=ufunc("sign")),
    Prim(name="copysign", doc="|x| with the sign of y", infer=same(FLOATS, 2), impl=np.copysign, derivative=_copysign,
         lower={"float": "call {T} @llvm.copysign.{t}({T} {0}, {T} {1})"},
         public=(PublicName("math.copysign", "math"), *ufunc("copysign"))),
    Prim(name="pow", doc="x ** y of floats, C's special cases", infer=same(FLOATS, 2), impl=np.power, derivative=_pow,
         lower={"float": Elementary("pow")}, public=(PublicName("math.pow", "math", overflow=True),),
         samples="positive"),
    Prim(name="powi", doc="x ** n for a literal int n (attr)", infer=same(FLOATS, 1), impl=_powi_impl, derivative=_powi,
         samples="nonzero"),
    Prim(name="ipow", doc="x ** n of ints, n >= 0, wrapping", infer=same(INTS, 2),
         impl=lambda x, n: type(x)(np.power(x, np.maximum(n, type(n)(0)))), samples="small"),
    Prim(name="maximum", doc="the larger; nan if either is", infer=same(NUMBERS, 2),
         impl=lambda x, y, literal=None: np.maximum(x, y), derivative=_extremum("gt"),
         lower={"f16": HALF_MAXIMUM, "float": MAXIMUM, "int": "call {T} @llvm.smax.{t}({T} {0}, {T} {1})",
                "uint": "call {T} @llvm.umax.{t}({T} {0}, {T} {1})"}, public=ufunc("maximum")),
    Prim(name="minimum", doc="the smaller; nan if either is", infer=same(NUMBERS, 2),
         impl=lambda x, y, literal=None: np.minimum(x, y), derivative=_extremum("lt"),
         lower={"f16": HALF_MINIMUM, "float": MINIMUM, "int": "call {T} @llvm.smin.{t}({T} {0}, {T} {1})",
                "uint": "call {T} @llvm.umin.{t}({T} {0}, {T} {1})"}, public=ufunc("minimum")),
    Prim(name="python_max", doc="y if y > x else x: the builtin", infer=same(NUMBERS, 2),
         impl=lambda x, y, literal=None: y if y > x else x, derivative=_extremum("gt"),
         lower={"float": "{c} = fcmp ogt {T} {1}, {0}\nselect i1 {c}, {T} {1}, {T} {0}",
                "int": "call {T} @llvm.smax.{t}({T} {0}, {T} {1})",
                "uint": "call {T} @llvm.umax.{t}({T} {0}, {T} {1})"}),
    Prim(name="python_min", doc="y if y < x else x: the builtin", infer=same(NUMBERS, 2),
         impl=lambda x, y, literal=None: y if y < x else x, derivative=_extremum("lt"),
         lower={"float": "{c} = fcmp olt {T} {1}, {0}\nselect i1 {c}, {T} {1}, {T} {0}",
                "int": "call {T} @llvm.smin.{t}({T} {0}, {T} {1})",
                "uint": "call {T} @llvm.umin.{t}({T} {0}, {T} {1})"}),
)  # fmt: skip

# ----------------------------------------------------------------------------------------- comparison, logic


def _compare(name: str, symbol: str, float_code: str, int_code: str, public: str) -> Prim:
    unsigned = f"icmp {int_code.replace('s', 'u') if int_code[0] == 's' else int_code} {{T}} {{0}}, {{1}}"
    return Prim(
        name=name, doc=f"x {symbol} y", infer=to_bool(ANY, 2), impl=getattr(np, public),
        lower={"float": f"fcmp {float_code} {{T}} {{0}}, {{1}}", "int": f"icmp {int_code} {{T}} {{0}}, {{1}}",
               "uint": unsigned, "bool": unsigned},
        public=ufunc(public), commutative=name in ("eq", "ne"),
    )  # fmt: skip


def _logic(name: str, instruction: str, impl: object, public: tuple[PublicName, ...]) -> Prim:
    line = f"{instruction} {{T}} {{0}}, {{1}}"
    return Prim(name=name, doc=f"bitwise {name[:-1]}", infer=same((*INTS, DType.BOOL), 2), impl=impl,  # type: ignore[arg-type]
                lower={"int": line, "bool": line}, public=public, commutative=True)  # fmt: skip


LOGIC = (
    _compare("eq", "==", "oeq", "eq", "equal"),
    _compare("ne", "!=", "une", "ne", "not_equal"),
    _compare("lt", "<", "olt", "slt", "less"),
    _compare("le", "<=", "ole", "sle", "less_equal"),
    _compare("gt", ">", "ogt", "sgt", "greater"),
    _compare("ge", ">=", "oge", "sge", "greater_equal"),
    _logic("and_", "and", lambda x, y: x & y, ufunc("bitwise_and")),
    _logic("or_", "or", lambda x, y: x | y, ufunc("bitwise_or")),
    _logic("xor_", "xor", lambda x, y: x ^ y, ufunc("bitwise_xor")),
    Prim(name="not_", doc="not x (bool), ~x (int)", infer=same((*INTS, DType.BOOL), 1), impl=lambda x: ~x,
         lower={"int": "xor {T} {0}, -1", "bool": "xor i1 {0}, true"}, public=ufunc("invert")),
    Prim(name="shl", doc="x << n, wrapping; 0 for n >= bits", infer=same(INTS, 2), impl=np.left_shift, samples="small",
         lower={"int": "{m} = and {T} {1}, {mask}\n{s} = shl {T} {0}, {m}\n{o} = icmp uge {T} {1}, {bits}\n"
                       "select i1 {o}, {T} 0, {T} {s}"}, public=ufunc("left_shift")),
    Prim(name="shr", doc="x >> n; arithmetic, of unsigned ints 0 for n >= bits", infer=same(INTS, 2),
         impl=np.right_shift, samples="small",
         lower={"int": "{o} = icmp uge {T} {1}, {bits}\n{m} = select i1 {o}, {T} {mask}, {T} {1}\nashr {T} {0}, {m}",
                "uint": "{m} = and {T} {1}, {mask}\n{s} = lshr {T} {0}, {m}\n{o} = icmp uge {T} {1}, {bits}\n"
                        "select i1 {o}, {T} 0, {T} {s}"}, public=ufunc("right_shift")),
)  # fmt: skip

# -------------------------------------------------------------------------------------------- select and cast


def _attach_partials(e: Emitter, op: Op) -> Sequence[Partial | float | None]:
    _, _, weight = op.operands
    return (1.0, Partial(weight), None)


def _select_infer(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    if len(operands) != 3 or operands[0] != BOOL or operands[1] != operands[2]:
        raise TypeError("select takes a bool and two operands of one type")
    return (operands[1],)


def _select_push(e: Emitter, op: Op, tangents: Sequence[Value | None]) -> Value | None:
    condition, x, y = op.operands
    _, dx, dy = tangents
    return e("select", condition, dx or e.like(0.0, x), dy or e.like(0.0, y))


def _select_transpose(e: Emitter, op: Op, cotangent: Value) -> Sequence[Value | None]:
    condition, x, _ = op.operands
    zero = e.like(0.0, x)
    return (None, e("select", condition, cotangent, zero), e("select", condition, zero, cotangent))


def _cast_infer(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    (source,) = operands
    if not isinstance(source, Scalar) or not isinstance(attrs["to"], DType):
        raise TypeError("cast takes one scalar and a dtype")
    return (Scalar(attrs["to"]),)


def _cast_push(e: Emitter, op: Op, tangents: Sequence[Value | None]) -> Value | None:
    (tangent,) = tangents
    to = op.attrs["to"]
    return e("cast", tangent, to=to) if tangent is not None and isinstance(to, DType) and to.is_float else None


def _cast_transpose(e: Emitter, op: Op, cotangent: Value) -> Sequence[Value | None]:
    source = op.operands[0].type
    if not isinstance(source, Scalar) or not source.dtype.is_float:
        return (None,)
    return (e("cast", cotangent, to=source.dtype),)


NUMPY_DTYPES: dict[DType, Any] = {
    DType.BOOL: np.bool_, DType.I8: np.int8, DType.I16: np.int16, DType.I32: np.int32, DType.I64: np.int64,
    DType.U8: np.uint8, DType.U16: np.uint16, DType.U32: np.uint32, DType.U64: np.uint64, DType.F16: np.float16,
    DType.F32: np.float32, DType.F64: np.float64,
}  # fmt: skip


def _cast_impl(x: np.generic, to: DType) -> object:
    if not to.is_int:
        return x.astype(NUMPY_DTYPES[to])
    if isinstance(x, np.floating):
        return NUMPY_DTYPES[to](_wrapped(_truncated(float(x), to), to))
    return NUMPY_DTYPES[to](_wrapped(int(x), to))


def _truncated(x: float, to: DType) -> int:
    """The float's whole part as x86-64 finds it: in 32 bits for int32 and shorter ints, whose low bits are taken.

    What does not fit gives the smallest int of as many bits; of a uint64 the highest bit is found apart.
    """
    if to is DType.U64 and x >= 2.0**63:
        return _truncated(x - 2.0**63, DType.I64) + 2**63
    low, high = (DType.I32 if to in _BY_32_BITS else DType.I64).limits
    return int(x) if math.isfinite(x) and low <= int(x) <= high else low


_BY_32_BITS = (DType.I8, DType.I16, DType.I32, DType.U8, DType.U16)


def _wrapped(number: int, to: DType) -> int:
    """The int modulo the range of a dtype."""
    low, high = to.limits
    return (number - low) % (high - low + 1) + low


CONVERSION = (
    Prim(name="select", doc="x if c else y; both are computed", infer=_select_infer, impl=lambda c, x, y: x if c else y,
         derivative=Linear(_select_push, _select_transpose)),
    Prim(name="stop", doc="x, without its derivative", infer=same(FLOATS, 1), impl=lambda x: x,
         lower={"float": "select i1 true, {T} {0}, {T} {0}"}),
    Prim(name="discrete", doc="x, of which whole numbers are made that jump: refused where it is differentiated by",
         infer=same(FLOATS, 1), impl=lambda x: x, lower={"float": "select i1 true, {T} {0}, {T} {0}"}),
    Prim(name="differentiated", doc="is anything differentiated by x: what `ad` answers; false once nothing more is",
         infer=to_bool(FLOATS, 1), impl=lambda x, effects=False: False,
         lower={"float": "select i1 false, i1 true, i1 false"}),
    Prim(name="attach", doc="y; its derivative is dy + w * dx: how n-ary kinks share among ties", infer=same(FLOATS, 3),
         impl=lambda y, x, w: y, derivative=_attach_partials, lower={"float": "select i1 true, {T} {0}, {T} {0}"}),
    Prim(name="cast", doc="conversion to attr `to`; float to int truncates (out of range: the smallest int)",
         infer=_cast_infer, impl=_cast_impl, derivative=Linear(_cast_push, _cast_transpose)),
)  # fmt: skip

# ------------------------------------------------------------------------------------ integer checks, indices


def _overflow_impl(operation: Callable[[int, int], int]) -> Callable[..., bool]:
    def impl(x: np.integer, y: np.integer) -> bool:
        exact = operation(int(x), int(y))
        info = np.iinfo(type(x))
        return bool(not info.min <= exact <= info.max)

    return impl


def _overflow_lower(operation: str) -> dict[str, str | Elementary]:
    call = "{p} = call {{T}, i1} @llvm.OP.with.overflow.{t}({T} {0}, {T} {1})\nextractvalue {{T}, i1} {p}, 1"
    return {"int": call.replace("OP", f"s{operation}"), "uint": call.replace("OP", f"u{operation}")}


def _pow_overflows(x: np.integer, n: np.integer) -> bool:
    info = np.iinfo(type(x))
    if abs(int(x)) > 1 and int(n) > 64:
        return True
    return bool(int(n) >= 0 and not info.min <= int(x) ** int(n) <= info.max)


def _wrap_impl(i: np.integer, n: np.integer) -> object:
    return i + n if i < 0 else i


def _block_start(block: np.integer, trips: np.integer, blocks: np.integer) -> object:
    product, count = int(block * trips), max(int(blocks), 1)
    return type(block)(abs(product) // count * (1 if product > 0 else -1))


INTEGER = (
    Prim(name="add_overflows", doc="does x + y leave the range of the dtype", infer=to_bool(INTS, 2),
         impl=_overflow_impl(lambda x, y: x + y), lower=_overflow_lower("add")),
    Prim(name="sub_overflows", doc="does x - y leave the range of the dtype", infer=to_bool(INTS, 2),
         impl=_overflow_impl(lambda x, y: x - y), lower=_overflow_lower("sub")),
    Prim(name="mul_overflows", doc="does x * y leave the range of the dtype", infer=to_bool(INTS, 2),
         impl=_overflow_impl(lambda x, y: x * y), lower=_overflow_lower("mul")),
    Prim(name="pow_overflows", doc="does x ** n (n >= 0) leave the 64 bits", infer=to_bool((DType.I64,), 2),
         impl=_pow_overflows, samples="small"),
    Prim(name="high_product", doc="the upper 64 bits of x * y of unsigned ints", infer=same((DType.U64,), 2),
         impl=lambda x, y: type(x)(int(x) * int(y) >> 64), commutative=True,
         lower={"uint": "{x} = zext i64 {0} to i128\n{y} = zext i64 {1} to i128\n{p} = mul i128 {x}, {y}\n"
                        "{h} = lshr i128 {p}, 64\ntrunc i128 {h} to i64"}),
    Prim(name="ult", doc="i < n as unsigned: 0 <= i < n for n >= 0", infer=to_bool(INTS, 2),
         impl=lambda i, n: bool(0 <= i < n), lower={"int": "icmp ult {T} {0}, {1}"}),
    Prim(name="wrap_index", doc="i + n if i < 0 else i", infer=same((DType.I64,), 2), impl=_wrap_impl,
         lower={"int": "{c} = icmp slt {T} {0}, 0\n{s} = add {T} {0}, {1}\nselect i1 {c}, {T} {s}, {T} {0}"}),
    Prim(name="block_start", doc="b * n // blocks: where block number b of n trips begins, for 0 <= b <= blocks",
         infer=same((DType.I64,), 3), impl=_block_start, samples="positive",
         lower={"int": "{p} = mul {T} {0}, {1}\n{m} = call {T} @llvm.smax.{t}({T} {2}, {T} 1)\nsdiv {T} {p}, {m}"}),
)  # fmt: skip

PRIMS = tuple(register(p) for p in (*ARITHMETIC, *LOGIC, *CONVERSION, *INTEGER))

__all__ = ["FLOATS", "INTS", "NUMBERS", "NUMPY_DTYPES", "PRIMS", "same", "to_bool", "ufunc"]
