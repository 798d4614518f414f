"""Functions of single numbers over arrays that are no primitives: fmax, heaviside, ldexp, modf, gcd, round and kin.

    np.fmax(x, y)        select(isnan(y), x, select(isnan(x), y, maximum(x, y))), in one pass
    np.modf(x)           a loop of the prelude that fills two arrays
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call, call_builtin
from pullback.infer.creation import arguments_of, array_or_number, cast, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import broadcast, elementwise
from pullback.infer.engine import Frame
from pullback.infer.filling import copy
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number, convert, float_of, is_fixed, promote
from pullback.infer.numpy.numpy_functions import common, map_numbers
from pullback.infer.numpy.shapes import flattened
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.values import AV
from pullback.infer.views import integer
from pullback.ir.node import Value
from pullback.types import Array, Complex, DType, Number, show

__all__ = ["operand"]


def operand(cx: Frame, av: AV) -> AV:
    """A number or an array; of a sequence the array that NumPy makes of it."""
    if isinstance(av.type, Complex):
        return av
    return array_or_number(cx, av)


def _given(cx: Frame, name: str, count: int, given: Sequence[AV], keywords: Mapping[str, AV]) -> list[AV]:
    if len(given) != count or keywords:
        raise cx.type_error(f"{name}() takes {count} argument{'s' if count > 1 else ''} ({len(given)} given)",
                            ", ".join(keywords))  # fmt: skip
    return [operand(cx, av) for av in given]


Formula = Callable[[Frame, Number, Sequence[AV]], AV]


def _mapped(name: str, count: int, formula: Formula) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        def rule(cx: Frame, items: Sequence[AV]) -> AV:
            return formula(cx, common(cx, items), items)

        return map_numbers(cx, _given(cx, name, count, given, keywords), rule)

    return handler


def _floating(kind: Number) -> Number:
    return float_of(Number(kind.dtype, weak=False))


def _nan_aside(name: str) -> Formula:
    """np.fmax and np.fmin: as maximum and minimum, but of nan and a number the number."""

    def formula(cx: Frame, kind: Number, items: Sequence[AV]) -> AV:
        if kind.dtype is DType.BOOL:
            x, y = (convert(cx, av, DType.BOOL) for av in items)
            return AV(kind, (cx.e("or_" if name == "maximum" else "and_", x, y),))
        x, y = (convert(cx, av, kind.dtype) for av in items)
        both = cx.e(name, x, y, literal=tuple(is_fixed(av) for av in items))
        if not kind.dtype.is_float:
            return AV(kind, (both,))
        other = cx.e("select", cx.e("isnan", x), y, both)
        return AV(kind, (cx.e("select", cx.e("isnan", y), x, other),))

    return formula


def _heaviside(cx: Frame, kind: Number, items: Sequence[AV]) -> AV:
    kind = _floating(kind)
    x, half = (convert(cx, av, kind.dtype) for av in items)
    e, zero, one = cx.e, cx.e.like(0.0, x), cx.e.like(1.0, x)
    side = e("select", e("gt", x, zero), one, e("select", e("eq", x, zero), half, zero))
    return AV(kind, (e("select", e("isnan", x), e("stop", x), side),))


def _signbit(cx: Frame, kind: Number, items: Sequence[AV]) -> AV:
    e = cx.e
    if kind.dtype is DType.BOOL:
        return AV(Number(DType.BOOL, False), (e.boolean(False),))
    x = convert(cx, items[0], kind.dtype)
    signed = e("copysign", e.like(1.0, x), x) if kind.dtype.is_float else x
    return AV(Number(DType.BOOL, False), (e("lt", signed, e.like(0, signed)),))


def _spacing(cx: Frame, kind: Number, items: Sequence[AV]) -> AV:
    """The distance to the next float away from 0; of the largest float, of that towards 0."""
    kind, e = _floating(kind), cx.e
    x = e("stop", convert(cx, items[0], kind.dtype))
    up = e("nextafter", x, e("copysign", e.like(float("inf"), x), x))
    inner = e("sub", x, e("nextafter", x, e.like(0.0, x)))
    found = e("select", e("isfinite", up), e("sub", up, x), inner)
    return AV(kind, (e("select", e("isfinite", x), found, e.like(float("nan"), x)),))


def _truncated(cx: Frame, kind: Number, items: Sequence[AV]) -> AV:
    x = convert(cx, items[0], kind.dtype)
    return AV(kind, (cx.e("trunc", x) if kind.dtype.is_float else x,))


def _bit_count(cx: Frame, kind: Number, items: Sequence[AV]) -> AV:
    """Ones in the absolute value, added up in pairs, in fours, ... (Warren, Hacker's Delight, 5-1)."""
    if not kind.dtype.is_int and kind.dtype is not DType.BOOL:
        raise cx.type_error("ufunc 'bitwise_count' not supported for the input types", show(kind))
    e = cx.e
    x = convert(cx, items[0], DType.I64)
    if not kind.dtype.is_unsigned and kind.dtype is not DType.BOOL:
        x = e("abs", x)
    top = e("lt", x, e.integer(0))  # of the only number that has no absolute value, and of large unsigned ones
    v = e("and_", x, e.integer(2**63 - 1))

    def pairs(v: Value, shift: int, mask: int) -> Value:
        high = e("and_", e("shr", v, e.integer(shift)), e.integer(mask))
        return e("add", e("and_", v, e.integer(mask)), high)

    for shift, mask in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F),
                        (8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)):  # fmt: skip
        v = pairs(v, shift, mask)
    total = e("add", v, e("cast", top, to=DType.I64))
    return AV(Number(DType.U8, False), (e("cast", total, to=DType.U8),))


# ----------------------------------------------------------------------------------------- loops over scalar functions


def _looped(cx: Frame, function: str, operands: Sequence[AV], dtypes: Sequence[DType]) -> list[AV]:
    """Fresh arrays (or numbers) of a scalar function of the prelude with one or two arguments and results."""
    arrays = [av for av in operands if isinstance(av.type, Array)]
    count = ("one" if len(operands) == 1 else "two") + ("_to_two" if len(dtypes) == 2 else "")
    shape = [extent.size for extent in broadcast(cx, arrays)] if arrays else []
    rows = [flattened(cx, _whole(cx, av, shape)) for av in operands]
    outs = [empty(cx, shape, dtype) for dtype in dtypes]
    flat = [flattened(cx, out) for out in outs]
    call(cx, prelude(cx, f"pullback.map_{count}"), [prelude(cx, function), *rows, *flat], {})
    return outs if arrays else [as_number(cx, out) for out in outs]


def _whole(cx: Frame, av: AV, shape: Sequence[Value]) -> AV:
    """The operand in full: a contiguous array of the shape."""
    number = av.type
    assert isinstance(number, Array | Number)
    target = empty(cx, shape, number.dtype)
    strong = av if isinstance(number, Array) else AV(Number(number.dtype, False), av.values)
    return elementwise(cx, [strong], lambda cx, items: items[0], output="set", target=target)


def _ints(name: str) -> Handler:
    """np.gcd and np.lcm"""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            kind = _common_kind(cx, operands)
            if not kind.dtype.is_int:
                title = f"ufunc '{name}' did not contain a loop with signature matching types"
                raise cx.error(title, show(kind), raised=("TypeError", title))
            return _looped(cx, f"pullback.{name}_of", [_in(cx, av, kind.dtype) for av in operands], [kind.dtype])[0]

        return dispatch(cx, _given(cx, f"numpy.{name}", 2, given, keywords), rule)

    return handler


def _common_kind(cx: Frame, operands: Sequence[AV]) -> Number:
    kinds = [Number(av.type.dtype, False) if isinstance(av.type, Array) else av.type for av in operands]
    result = kinds[0]
    for kind in kinds[1:]:
        assert isinstance(result, Number) and isinstance(kind, Number)
        result = promote(result, kind)
    assert isinstance(result, Number)
    return Number(result.dtype, False)


def _in(cx: Frame, av: AV, dtype: DType) -> AV:
    if isinstance(av.type, Array):
        return av if av.type.dtype is dtype else cast(cx, av, dtype)
    return AV(Number(dtype, False), (convert(cx, av, dtype),))


def _ldexp(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        x, n = operands
        kind = _floating(_common_kind(cx, [x]))
        if _common_kind(cx, [n]).dtype.is_float:
            title = "ufunc 'ldexp' not supported for the input types"
            raise cx.error(title, show(n.type), "the exponent is an int", raised=("TypeError", title))
        return _looped(cx, "pullback.ldexp_of", [_in(cx, x, kind.dtype), _in(cx, n, DType.I64)], [kind.dtype])[0]

    return dispatch(cx, _given(cx, "numpy.ldexp", 2, given, keywords), rule)


def _two_parts(name: str) -> Handler:
    """np.modf and np.frexp"""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            kind = _floating(_common_kind(cx, operands))
            second = DType.I32 if name == "frexp" else kind.dtype
            x = _in(cx, operands[0], kind.dtype)
            return pack_tuple(_looped(cx, f"pullback.{name}_of", [x], [kind.dtype, second]))

        return dispatch(cx, _given(cx, f"numpy.{name}", 1, given, keywords), rule)

    return handler


def _divmod(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    pair = _given(cx, "numpy.divmod", 2, given, keywords)
    return pack_tuple([call_builtin(cx, name, pair, {}) for name in ("numpy.floor_divide", "numpy.remainder")])


# ------------------------------------------------------------------------------------------------------- rounding


def _round(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.round", ("a", "decimals", "out"), given, keywords)
    digits = found.get("decimals", AV(WEAK_INT, (cx.e.integer(0),), 0))

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        result = _rounded(cx, operand(cx, operands[0]), digits)
        if "out" in found:
            call_builtin(cx, "numpy.copyto", [found["out"], result], {})
            return found["out"]
        return result

    return dispatch(cx, [found["a"]], rule)


def _rounded(cx: Frame, av: AV, digits: AV) -> AV:
    assert isinstance(av.type, Array | Number)
    dtype = av.type.dtype
    if cx.literal_of(digits) == 0:
        if dtype.is_float or dtype is DType.BOOL:
            return call_builtin(cx, "numpy.rint", [av], {})
        return copy(cx, av) if isinstance(av.type, Array) else AV(Number(dtype, False), av.values)
    places = AV(WEAK_INT, (integer(cx, digits),))
    if dtype.is_float:
        return call(cx, prelude(cx, "pullback.round_to"), [_strong(av), places], {})
    wide = call(cx, prelude(cx, "pullback.round_ints"), [_in(cx, av, DType.F64), places], {})
    whole = _in(cx, wide, dtype)
    kept = AV(WEAK_INT, (places.value,))
    return call_builtin(cx, "numpy.where", [_not_negative(cx, kept), _strong(av), whole], {})


def _not_negative(cx: Frame, av: AV) -> AV:
    return AV(Number(DType.BOOL, False), (cx.e("ge", av.value, cx.e.integer(0)),))


def _strong(av: AV) -> AV:
    return av if not isinstance(av.type, Number) else AV(Number(av.type.dtype, False), av.values, av.literal)


# ------------------------------------------------------------------------------------------------- special values


def _nan_to_num(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.nan_to_num", ("x", "copy", "nan", "posinf", "neginf"), given, keywords)
    subject = operand(cx, found["x"])
    def rule(cx: Frame, items: Sequence[AV]) -> AV:
        kind, e = common(cx, items[:1]), cx.e
        x = convert(cx, items[0], kind.dtype)
        if not kind.dtype.is_float:
            return AV(kind, (x,))
        high, zero = e.like(_LARGEST[kind.dtype], x), e.like(0.0, x)
        most = _replacement(cx, found.get("posinf"), high, kind.dtype)
        least = _replacement(cx, found.get("neginf"), e("neg", high), kind.dtype)
        endless = e("select", e("lt", x, zero), least, most)
        value = e("select", e("isinf", x), endless, x)
        return AV(kind, (e("select", e("isnan", x), _replacement(cx, found.get("nan"), zero, kind.dtype), value),))

    result = map_numbers(cx, [subject], rule)
    if "copy" in found and getattr(found["copy"].type, "value", True) is False and isinstance(subject.type, Array):
        call_builtin(cx, "numpy.copyto", [subject, result], {})
        return subject
    return result


_LARGEST = {DType.F16: 65504.0, DType.F32: 3.4028234663852886e38, DType.F64: 1.7976931348623157e308}


def _replacement(cx: Frame, av: AV | None, default: Value, dtype: DType) -> Value:
    number = None if av is None else as_number(cx, av)
    return convert(cx, number, dtype) if number is not None and isinstance(number.type, Number) else default


HANDLERS.update({
    "numpy.fmax": _mapped("numpy.fmax", 2, _nan_aside("maximum")),
    "numpy.fmin": _mapped("numpy.fmin", 2, _nan_aside("minimum")),
    "numpy.heaviside": _mapped("numpy.heaviside", 2, _heaviside),
    "numpy.signbit": _mapped("numpy.signbit", 1, _signbit), "numpy.spacing": _mapped("numpy.spacing", 1, _spacing),
    "numpy.fix": _mapped("numpy.fix", 1, _truncated),
    "numpy.bitwise_count": _mapped("numpy.bitwise_count", 1, _bit_count),
    "numpy.gcd": _ints("gcd"), "numpy.lcm": _ints("lcm"), "numpy.ldexp": _ldexp, "numpy.modf": _two_parts("modf"),
    "numpy.frexp": _two_parts("frexp"), "numpy.divmod": _divmod, "numpy.nan_to_num": _nan_to_num,
    "numpy.round": _round, "numpy.around": _round,
})  # fmt: skip
