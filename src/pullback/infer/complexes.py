"""Complex numbers and arrays as pairs of real ones: operators, parts, items.

    z * w                 (a*c - b*d, a*d + b*c), over arrays one pass with two results
    z[i], z.T, len(z)     of both parts; the parts of an array that Python passed are two views of its memory

A real operand stays real: x * (c + di) is (x*c, x*d), as in Python from 3.14 on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from pullback.infer.elementwise import elementwise, elementwise_pair
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_BOOL, WEAK_FLOAT
from pullback.infer.numbers import as_number, convert, promote
from pullback.infer.samples import python_message
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.prims.base import Emitter
from pullback.types import Array, Complex, Constant, DType, Number, Scalar, show

__all__ = [
    "Rule",
    "absolute",
    "angle",
    "complex_binary",
    "complex_compare",
    "complex_of",
    "complex_power",
    "complex_truth",
    "complex_unary",
    "conjugate",
    "halves",
    "imaginary",
    "mapped",
    "pair_of",
    "part_of",
    "quotient",
    "scalar_kind",
    "single",
]  # fmt: skip

# A rule computes both parts of a result from real parts, all of one float dtype; None stands for an absent part.
Rule = Callable[[Emitter, Sequence[Value | None]], tuple[Value, Value]]
NO_QUOTIENT = python_message(lambda: 1j / 0j)
NO_POWER = python_message(lambda: 0j ** -1)


def halves(av: AV) -> tuple[AV, AV]:
    """Real and imaginary part."""
    assert isinstance(av.type, Complex)
    half = len(av.values) // 2
    return AV(av.type.real, av.values[:half]), AV(av.type.imag, av.values[half:])


def part_of(av: AV, which: int) -> AV:
    """The real (0) or imaginary (1) part as Python sees it: of an array a view, with gaps for the other part."""
    part = halves(av)[which]
    return AV(replace(part.type, gaps=1), part.values) if isinstance(part.type, Array) else part


def complex_of(real: AV, imag: AV) -> AV:
    """The value of two parts of one kind."""
    return AV(Complex(real.type, imag.type), (*real.values, *imag.values))


def pair_of(cx: Frame, av: AV) -> tuple[AV, AV | None]:
    """The parts of a complex value, or a real one without a second part."""
    return halves(av) if isinstance(av.type, Complex) else (as_number(cx, av), None)


def imaginary(cx: Frame, real: AV) -> AV:
    """An imaginary part of zeros beside a real part."""
    if isinstance(real.type, Array):
        zero = AV(WEAK_FLOAT, (cx.e.constant(0.0),), 0.0)
        return elementwise(cx, [real, zero], lambda cx, items: _zero_of(cx, items[0]))
    assert isinstance(real.type, Number)
    return AV(real.type, (cx.e.constant(0.0, Scalar(real.type.dtype)),))


def _zero_of(cx: Frame, item: AV) -> AV:
    assert isinstance(item.type, Number)
    return AV(item.type, (cx.e.constant(0.0, Scalar(item.type.dtype)),))


def scalar_kind(given: Sequence[AV | None]) -> Number:
    """The float type in which these parts are computed."""
    kind: Number | None = None
    for av in given:
        if av is None:
            continue
        found = Number(av.type.dtype, False) if isinstance(av.type, Array) else av.type
        assert isinstance(found, Number)
        kind = found if kind is None else promote(kind, found)
    if kind is None or not kind.dtype.is_float:
        kind = WEAK_FLOAT if kind is None else promote(WEAK_FLOAT, kind)
    return Number(DType.F32, weak=False) if kind.dtype is DType.F16 else kind


def mapped(cx: Frame, given: Sequence[AV | None], rule: Rule) -> AV:
    """A rule over parts: on numbers at once, over arrays elementwise."""
    given = [None if av is None else as_number(cx, av) for av in given]  # of arrays without axes the numbers
    kind = scalar_kind(given)
    present = [av for av in given if av is not None]
    if not any(isinstance(av.type, Array) for av in present):
        re, im = rule(cx.e, [None if av is None else convert(cx, av, kind.dtype) for av in given])
        return complex_of(AV(kind, (re,)), AV(kind, (im,)))

    def items(cx: Frame, found: Sequence[AV]) -> tuple[AV, AV]:
        values = iter([convert(cx, av, kind.dtype) for av in found])
        re, im = rule(cx.e, [None if av is None else next(values) for av in given])
        strong = Number(kind.dtype, False)
        return AV(strong, (re,)), AV(strong, (im,))

    return complex_of(*elementwise_pair(cx, present, items))


def single(cx: Frame, given: Sequence[AV], rule: Callable[[Emitter, Sequence[Value]], Value]) -> AV:
    """A rule of real parts with one real result."""
    given = [as_number(cx, av) for av in given]
    kind = scalar_kind(given)

    def item(cx: Frame, found: Sequence[AV]) -> AV:
        return AV(kind, (rule(cx.e, [convert(cx, av, kind.dtype) for av in found]),))

    return elementwise(cx, given, item) if any(isinstance(av.type, Array) for av in given) else item(cx, given)


# ---------------------------------------------------------------------------------------------------- operators


def _plus(e: Emitter, x: Value | None, y: Value | None, name: str) -> Value:
    if x is None:
        assert y is not None
        return y if name == "add" else e("neg", y)
    return x if y is None else e(name, x, y)


def _add(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    return _plus(e, p[0], p[2], "add"), _plus(e, p[1], p[3], "add")


def _subtract(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    return _plus(e, p[0], p[2], "sub"), _plus(e, p[1], p[3], "sub")


def product(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b, c, d = p
    assert a is not None and c is not None
    if b is None and d is not None:
        return e("mul", a, c), e("mul", a, d)
    if d is None and b is not None:
        return e("mul", a, c), e("mul", b, c)
    assert b is not None and d is not None
    return e("sub", e("mul", a, c), e("mul", b, d)), e("add", e("mul", a, d), e("mul", b, c))


def quotient(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    """Smith's division (Smith 1962, Algorithm 116): the larger part of the divisor is divided by first.

    By 0 both parts are divided by 0 without a sign, as in NumPy.
    """
    a, b, c, d = p
    assert a is not None and c is not None
    if d is None:
        assert b is not None
        return e("div", a, c), e("div", b, c)
    big = e("ge", e("abs", c), e("abs", d))
    p_, q = e("select", big, c, d), e("select", big, d, c)
    zero = e("eq", p_, e.like(0.0, p_))
    ratio = e("select", zero, e.like(0.0, p_), e("div", q, p_))
    scale = e("select", zero, e("abs", p_), e("add", p_, e("mul", q, ratio)))
    if b is None:
        first, second = e("select", big, a, e("mul", a, ratio)), e("select", big, e("mul", a, ratio), a)
        return e("div", first, scale), e("div", e("neg", second), scale)
    ar, br = e("mul", a, ratio), e("mul", b, ratio)
    re = e("select", zero, a, e("select", big, e("add", a, br), e("add", ar, b)))
    im = e("select", zero, b, e("select", big, e("sub", b, ar), e("sub", br, a)))
    return e("div", re, scale), e("div", im, scale)


_RULES: dict[str, Rule] = {"+": _add, "-": _subtract, "*": product, "/": quotient}


def complex_binary(cx: Frame, operator: str, x: AV, y: AV) -> AV:
    """x operator y, where one of them is complex."""
    for av in (x, y):
        if not isinstance(av.type, Complex | Number | Array | Constant):
            raise cx.type_error(f"unsupported operand types for {operator}: {show(x.type)} and {show(y.type)}",
                                f"{operator} has no meaning for these types")  # fmt: skip
    given = [*pair_of(cx, x), *pair_of(cx, y)]
    if operator == "**":
        return complex_power(cx, x, y)
    rule = _RULES.get(operator)
    if rule is None:
        raised = ("TypeError", f"unsupported operand type(s) for {operator}: 'complex' and 'complex'")
        raise cx.error(f"{operator} has no meaning for complex numbers", "these have no order and no remainder",
                       raised=raised)  # fmt: skip
    if operator == "/":
        _check_divisor(cx, given)
    return mapped(cx, given, rule)


def _check_divisor(cx: Frame, given: Sequence[AV | None]) -> None:
    """ZeroDivisionError, where all are Python's own numbers."""
    kind = scalar_kind(given)
    if not (kind.weak and cx.options.checks) or any(av is not None and isinstance(av.type, Array) for av in given):
        return
    cx.check(_nonzero(cx, given[2], given[3]), "ZeroDivisionError", NO_QUOTIENT)


def _nonzero(cx: Frame, real: AV | None, imag: AV | None) -> Value:
    assert real is not None
    value = convert(cx, real, DType.F64)
    found = cx.e("ne", value, cx.e.like(0.0, value))
    if imag is None:
        return found
    other = convert(cx, imag, DType.F64)
    return cx.e("or_", found, cx.e("ne", other, cx.e.like(0.0, other)))


MOST_MULTIPLIED = 100  # exponents up to which CPython multiplies


def complex_power(cx: Frame, x: AV, y: AV) -> AV:
    """x ** y: whole exponents that are written out by multiplication, others in polar form."""
    n = cx.literal_of(y)
    if isinstance(n, float) and n.is_integer():
        n = int(n)
    if isinstance(n, int) and abs(n) <= MOST_MULTIPLIED:
        one = AV(WEAK_FLOAT, (cx.e.constant(1.0),), 1.0)
        if n == 0:
            return complex_binary(cx, "+", complex_binary(cx, "*", x, _real_zero(cx)), one)
        power = _multiplied(cx, x, abs(n))
        if n > 0:
            return power
        given = [one, None, *halves(power)]
        _check_divisor(cx, given)
        return mapped(cx, given, _inverse)
    given = [*pair_of(cx, x), *pair_of(cx, y)]
    _check_base(cx, given)
    return mapped(cx, given, _polar_power)


def _inverse(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    """1 divided by a power, which is nan where that is 0."""
    _, _, c, d = p
    assert c is not None and d is not None
    zero = e("and_", e("eq", c, e.like(0.0, c)), e("eq", d, e.like(0.0, d)))
    re, im = quotient(e, p)
    return e("select", zero, e.like(math.nan, re), re), e("select", zero, e.like(math.nan, im), im)


def _real_zero(cx: Frame) -> AV:
    return AV(WEAK_FLOAT, (cx.e.constant(0.0),), 0.0)


def _multiplied(cx: Frame, x: AV, n: int) -> AV:
    result: AV | None = None
    square = x
    while n:
        if n & 1:
            result = square if result is None else complex_binary(cx, "*", result, square)
        n >>= 1
        if n:
            square = complex_binary(cx, "*", square, square)
    assert result is not None
    return result


def _check_base(cx: Frame, given: Sequence[AV | None]) -> None:
    """0 to a negative or complex power is an error of Python's numbers."""
    kind = scalar_kind(given)
    if not (kind.weak and cx.options.checks) or any(av is not None and isinstance(av.type, Array) for av in given):
        return
    assert given[2] is not None
    exponent = convert(cx, given[2], DType.F64)
    fine = cx.e("ge", exponent, cx.e.like(0.0, exponent))
    if given[3] is not None:
        other = convert(cx, given[3], DType.F64)
        fine = cx.e("and_", fine, cx.e("eq", other, cx.e.like(0.0, other)))
    cx.check(cx.e("or_", _nonzero(cx, given[0], given[1]), fine), "ZeroDivisionError", NO_POWER)


def _polar_power(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    """|x|**c exp(-d arg x) at the angle c arg x + d log |x|; 0 ** 0 is 1, and 0 ** y is 0 for y > 0, else nan."""
    a, b, c, d = p
    assert a is not None and c is not None
    zero, one = e.like(0.0, a), e.like(1.0, a)
    b = zero if b is None else b
    size = e("hypot", a, b)
    nothing = e("eq", size, zero)
    safe = e("select", nothing, one, size)
    phase = e("select", nothing, zero, e("atan2", e("select", nothing, zero, b), e("select", nothing, one, a)))
    length, angle_ = e("pow", safe, c), e("mul", phase, c)
    empty = e("eq", c, zero)
    if d is not None:
        length = e("mul", length, e("exp", e("neg", e("mul", phase, d))))
        angle_ = e("add", angle_, e("mul", d, e("log", safe)))
        empty = e("and_", empty, e("eq", d, zero))
    of_zero = e("select", empty, one, e("select", e("gt", c, zero), zero, e.like(math.nan, a)))
    length = e("select", nothing, of_zero, length)
    return e("mul", length, e("cos", angle_)), e("mul", length, e("sin", angle_))


def complex_unary(cx: Frame, operator: str, x: AV) -> AV:
    """-x or +x"""
    if operator == "+":  # of an array a new one
        return mapped(cx, halves(x), lambda e, p: (_some(p[0]), _some(p[1])))
    if operator == "-":
        return mapped(cx, halves(x), lambda e, p: (e("neg", _some(p[0])), e("neg", _some(p[1]))))
    raise cx.type_error(f"bad operand type for unary {operator}: 'complex'", "complex numbers have no bits")


def _some(value: Value | None) -> Value:
    assert value is not None
    return value


def conjugate(cx: Frame, x: AV) -> AV:
    """The complex conjugate; anything real is its own."""
    if not isinstance(x.type, Complex):
        return x
    return mapped(cx, halves(x), lambda e, p: (_some(p[0]), e("neg", _some(p[1]))))


def absolute(cx: Frame, x: AV) -> AV:
    """abs(x)"""
    size = single(cx, halves(x), lambda e, p: e("hypot", p[0], p[1]))
    if size.type == WEAK_FLOAT and cx.options.checks:
        a, b = (av.value for av in halves(x))
        endless = cx.e("and_", cx.e("isfinite", a), cx.e("isfinite", b))
        fine = cx.e("or_", cx.e("isfinite", size.value), cx.e("not_", endless))
        cx.check(fine, "OverflowError", "absolute value too large")
    return size


def angle(cx: Frame, x: AV) -> AV:
    """The angle of a complex value, in radians."""
    return single(cx, halves(x), lambda e, p: e("atan2", p[1], p[0]))


def complex_compare(cx: Frame, operator: str, x: AV, y: AV) -> AV:
    """x == y and x != y; anything else has no meaning."""
    if operator not in ("==", "!="):
        message = f"'{operator}' not supported between instances of 'complex' and 'complex'"
        raise cx.error(f"{operator} is not supported between complex numbers", "these have no order",
                       "compare abs(x), or the real parts", raised=("TypeError", message))  # fmt: skip
    (a, b), (c, d) = pair_of(cx, x), pair_of(cx, y)
    given = [as_number(cx, av) for av in (a, b or _real_zero(cx), c, d or _real_zero(cx))]
    kind = scalar_kind(given)

    def item(cx: Frame, found: Sequence[AV]) -> AV:
        p, q, r, s = (convert(cx, av, kind.dtype) for av in found)
        equal = cx.e("and_", cx.e("eq", p, r), cx.e("eq", q, s))
        return AV(Number(DType.BOOL, kind.weak), (equal if operator == "==" else cx.e("not_", equal),))

    return elementwise(cx, given, item) if any(isinstance(av.type, Array) for av in given) else item(cx, given)


def complex_truth(cx: Frame, x: AV) -> AV:
    """bool(x)"""
    real, imag = halves(x)
    if isinstance(real.type, Array):
        raise cx.error("the truth value of an array is ambiguous", f"this is {show(x.type)}", "compare single elements")
    return AV(WEAK_BOOL, (_nonzero(cx, real, imag),))
