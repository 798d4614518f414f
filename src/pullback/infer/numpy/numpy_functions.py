"""Functions of NumPy: ufuncs (rows of the registry) and the few that need a meaning of their own here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from pullback.infer.arithmetic import number_binary
from pullback.infer.dispatch import dispatch
from pullback.infer.dtypes import SCALARS
from pullback.infer.elementwise import ScalarRule, elementwise
from pullback.infer.engine import Frame
from pullback.infer.indexing import subscript
from pullback.infer.linear import matmul
from pullback.infer.numbers import (
    as_number,
    compare_numbers,
    convert,
    exactly,
    fitted,
    float_of,
    is_fixed,
    promote,
)
from pullback.infer.registry import HANDLERS, ROW_HANDLERS, Handler
from pullback.infer.structures import attribute
from pullback.infer.truth import truth
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.prims.base import Prim, PublicName
from pullback.types import NONE, Array, Complex, DType, NoneType, Number, Scalar, show

__all__ = ["common", "map_numbers"]


def map_numbers(cx: Frame, arguments: Sequence[AV], rule: ScalarRule, apart: int = 0, decay: bool = True) -> AV:
    """A rule for numbers over numbers or, elementwise, over arrays; the first `apart` take no part in the promotion.

    decay: results of rank 0 are numbers.
    """

    def whole(cx: Frame, operands: Sequence[AV]) -> AV:
        operands = [as_number(cx, av) if decay or not isinstance(av.type, Array) else av for av in operands]
        operands = [*operands[:apart], *fitted(cx, operands[apart:])]
        if any(isinstance(av.type, Array) for av in operands):
            return elementwise(cx, operands, rule)
        for av in operands:
            if not isinstance(av.type, Number):
                raise cx.error(f"no meaning for {show(av.type)} here", "numbers and arrays are needed")
        return rule(cx, operands)

    return dispatch(cx, arguments, whole)


def _accepts(prim: Prim, dtype: DType, arity: int) -> bool:
    try:
        prim.result_types([Scalar(dtype)] * arity, {})
    except TypeError:
        return False
    return True


def _arity(prim: Prim) -> int:
    return next(n for n in (1, 2, 3, 4) if _accepts(prim, DType.F64, n) or _accepts(prim, DType.I64, n))


def common(cx: Frame, operands: Sequence[AV]) -> Number:
    """The strong type NumPy computes in for these numbers."""
    kinds = [av.type for av in operands]
    assert all(isinstance(k, Number) for k in kinds)
    result = kinds[0]
    assert isinstance(result, Number)
    for kind in kinds[1:]:
        assert isinstance(kind, Number)
        both_bool = result.dtype is DType.BOOL and kind.dtype is DType.BOOL
        result = Number(DType.BOOL, result.weak and kind.weak) if both_bool else promote(result, kind)
    return Number(result.dtype, weak=False)


def _accepted(prim: Prim, kind: Number, arity: int) -> Number:
    """What operands a primitive does not take turn into: ints for bools where it takes ints, else floats."""
    if kind.dtype is DType.BOOL and _accepts(prim, DType.I64, arity):
        return Number(DType.I8, False)
    return float_of(kind)


# What some ufuncs are for bools; others have no meaning for them.
_OF_BOOLS = {"add": "or_", "mul": "and_", "maximum": "or_", "minimum": "and_"}
_NOT_OF_BOOLS = frozenset({"sub", "neg", "sign"})


def _of_bools(cx: Frame, prim: Prim, public: PublicName, values: Sequence[Value]) -> AV | None:
    """The result of a ufunc for bools, where it is of a kind of its own."""
    if prim.name in _NOT_OF_BOOLS:
        raise cx.type_error(f"{public.name} is not supported for bools", "NumPy refuses this too", "use ~ or ^")
    if prim.name == "abs" and public.name != "numpy.fabs":
        return AV(Number(DType.BOOL, False), tuple(values))
    name = _OF_BOOLS.get(prim.name)
    return AV(Number(DType.BOOL, False), (cx.e(name, *values),)) if name is not None else None


def call_row(cx: Frame, prim: Prim, public: PublicName, arguments: Sequence[AV]) -> AV:
    """A ufunc that is one primitive."""
    arity = _arity(prim)
    if len(arguments) != arity:
        plural = "s" if arity > 1 else ""
        raise cx.type_error(f"{public.name}() takes {arity} argument{plural} ({len(arguments)} given)")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        if prim.name in _COMPARISONS:
            return AV(Number(DType.BOOL, False), (compare_numbers(cx, prim.name, *operands),))
        kind = common(cx, operands)
        if kind.dtype is DType.BOOL and not _accepts(prim, DType.BOOL, arity):
            found = _of_bools(cx, prim, public, [convert(cx, av, DType.BOOL) for av in operands])
            if found is not None:
                return found
        if public.name == "numpy.fabs":
            kind = float_of(kind)
        if public.name.startswith("scipy.") and kind.dtype is not DType.F32:
            kind = Number(DType.F64, weak=False)  # SciPy computes in float32 and float64 only
        if public.name == "numpy.i0" and not kind.dtype.is_float:
            kind = Number(DType.F64, weak=False)
        if not _accepts(prim, kind.dtype, arity):
            kind = _accepted(prim, kind, arity)
        if not _accepts(prim, kind.dtype, arity):
            raise cx.error(f"{public.name} has no meaning for {show(kind)}")
        values = [convert(cx, av, kind.dtype) for av in operands]
        attrs = _literals(prim, operands)
        result = cx.e(prim.name, *values, **attrs)
        assert isinstance(result.type, Scalar)
        return AV(Number(result.type.dtype, weak=False), (result,))

    return map_numbers(cx, arguments, rule, apart=arity if prim.name in _COMPARISONS else 0)


_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def _literals(prim: Prim, operands: Sequence[AV]) -> dict[str, object]:
    """Operands written as literals (or ints) take no share at a kink."""
    if prim.name not in ("maximum", "minimum"):
        return {}
    return {"literal": tuple(is_fixed(av) for av in operands)}


def _by_operator(operator: str, name: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        _no_keywords(cx, name, keywords)
        if len(arguments) != 2:
            raise cx.type_error(f"{name}() takes 2 arguments ({len(arguments)} given)")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            kind = common(cx, operands)
            strong = [AV(Number(o.type.dtype, False), o.values, o.literal) if o.type.weak and o.type.dtype is DType.F64  # type: ignore[union-attr]
                      and kind.dtype is DType.F64 else o for o in operands]  # fmt: skip
            result = number_binary(cx, operator, _strengthen(cx, strong[0], kind), strong[1])
            assert isinstance(result.type, Number)
            return AV(Number(result.type.dtype, False), result.values)

        return map_numbers(cx, arguments, rule)

    return handler


def _strengthen(cx: Frame, av: AV, kind: Number) -> AV:
    return AV(Number(kind.dtype, False), (convert(cx, av, kind.dtype),))


def _no_keywords(cx: Frame, name: str, keywords: Mapping[str, AV]) -> None:
    if keywords:
        given = ", ".join(f"{k}=" for k in keywords)
        raise cx.error(f"{name}: the argument {given} is not supported yet", "only the arrays themselves are")


def _square(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    _no_keywords(cx, "numpy.square", keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        kind = common(cx, operands)
        kind = Number(DType.I8, False) if kind.dtype is DType.BOOL else kind
        x = convert(cx, operands[0], kind.dtype)
        return AV(kind, (cx.e("mul", x, x),))

    return map_numbers(cx, arguments, rule)


def _reciprocal(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        kind = common(cx, operands)
        if not kind.dtype.is_float:
            raise cx.error("np.reciprocal of ints is not supported", show(kind))
        x = convert(cx, operands[0], kind.dtype)
        return AV(kind, (cx.e("div", cx.e.like(1.0, x), x),))

    return map_numbers(cx, arguments, rule)


def _positive(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        kind = common(cx, operands)
        if kind.dtype is DType.BOOL:
            raise cx.type_error("numpy.positive is not supported for bools", "NumPy refuses this too")
        return AV(kind, operands[0].values)

    return map_numbers(cx, arguments, rule)


def _conjugate(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.conj of what is real: the same numbers, in a new array."""
    _no_keywords(cx, "numpy.conjugate", keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        kind = common(cx, operands)
        kind = Number(DType.I8, False) if kind.dtype is DType.BOOL else kind
        return AV(kind, (convert(cx, operands[0], kind.dtype),))

    return map_numbers(cx, arguments, rule)


def _float_power(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.float_power: a power of float64, whatever is given."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        kind = Number(DType.F64, False)
        x, n = (AV(kind, (convert(cx, av, DType.F64),), av.literal) for av in operands)
        return number_binary(cx, "**", x, n)

    _no_keywords(cx, "numpy.float_power", keywords)
    return map_numbers(cx, arguments, rule)


def _fmod(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.fmod: of ints in ints too; the remainder has the sign of the first."""
    _no_keywords(cx, "numpy.fmod", keywords)
    if len(arguments) != 2:
        raise cx.type_error(f"numpy.fmod() takes 2 arguments ({len(arguments)} given)")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        e, kind = cx.e, common(cx, operands)
        kind = Number(DType.I8, False) if kind.dtype is DType.BOOL else kind
        x, y = (convert(cx, av, kind.dtype) for av in operands)
        if kind.dtype.is_float:
            return AV(kind, (e("fmod", x, y),))
        floor, zero = e("mod", x, y), e.like(0, x)  # has the sign of y
        other = e("and_", e("ne", floor, zero), e("xor_", e("lt", x, zero), e("lt", y, zero)))
        return AV(kind, (e("select", other, e("sub", floor, y), floor),))

    return map_numbers(cx, arguments, rule)


def _logical(operation: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            values = [as_number(cx, truth(cx, av)).value for av in operands]
            return AV(Number(DType.BOOL, False), (cx.e(operation, *values),))

        return map_numbers(cx, arguments, rule)

    return handler


def _where(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    _no_keywords(cx, "numpy.where", keywords)
    if len(arguments) == 1:
        return HANDLERS["numpy.nonzero"](cx, arguments, {})
    if len(arguments) != 3:
        title = "either both or neither of x and y should be given"
        raise cx.error(title, f"{len(arguments)} arguments given", raised=("ValueError", title))

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        condition = as_number(cx, truth(cx, operands[0])).value
        kind = common(cx, operands[1:])
        x, y = (convert(cx, av, kind.dtype) for av in operands[1:])
        return AV(kind, (cx.e("select", condition, x, y),))

    return map_numbers(cx, arguments, rule, apart=3, decay=False)  # NumPy wraps what does not fit here


def _two(function: Callable[[Frame, AV, AV], AV], name: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        _no_keywords(cx, name, keywords)
        if len(arguments) != 2:
            raise cx.type_error(f"{name}() takes 2 arrays ({len(arguments)} given)")
        return dispatch(cx, arguments, lambda cx, operands: function(cx, *operands))

    return handler


def _cast(dtype: DType) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if not arguments:
            return AV(Number(dtype, False), (cx.e.constant(0, Scalar(dtype)),))

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            (av,) = operands
            if dtype is DType.BOOL:
                return AV(Number(dtype, False), as_number(cx, truth(cx, av)).values)
            weak = isinstance(av.type, Number) and av.type.weak
            return AV(Number(dtype, False), (exactly(cx, av, dtype) if weak else convert(cx, av, dtype),))

        return map_numbers(cx, arguments, rule)

    return handler


def _logaddexp(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """max + log1p(exp(-|x - y|)), with the exact weights exp(x - result), exp(y - result) as derivative."""
    _no_keywords(cx, "numpy.logaddexp", keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        e, kind = cx.e, float_of(common(cx, operands))
        x, y = (convert(cx, av, kind.dtype) for av in operands)
        a, b = e("stop", x), e("stop", y)
        gap = e("sub", a, b)
        value = e("add", e("maximum", a, b), e("log1p", e("exp", e("neg", e("abs", gap)))))
        value = e("select", e("eq", a, b), e("add", a, e.like(0.6931471805599453, a)), value)
        return AV(kind, (e("attach", e("attach", value, x, _weight(cx, y, x)), y, _weight(cx, x, y)),))

    return map_numbers(cx, arguments, rule)


def _weight(cx: Frame, x: Value, y: Value) -> Value:
    """exp(y) / (exp(x) + exp(y)), differentiable itself."""
    e = cx.e
    one = e.like(1.0, x)
    same = e("and_", e("eq", x, y), e("isinf", x))
    gap = e("select", same, e.like(0.0, x), e("sub", x, y))
    return e("select", same, e.like(0.5, x), e("div", one, e("add", one, e("exp", gap))))


def _scaled(factor: float) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            kind = float_of(common(cx, operands))
            x = convert(cx, operands[0], kind.dtype)
            return AV(kind, (cx.e("mul", x, cx.e.like(factor, x)),))

        return map_numbers(cx, arguments, rule)

    return handler


def _size(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    array = _array_like(cx, arguments[0])
    given = dict(zip(("a", "axis"), arguments, strict=False)) | dict(keywords)
    if isinstance(given.get("axis", AV(NONE)).type, NoneType):
        return attribute(cx, array, "size")
    return subscript(cx, attribute(cx, array, "shape"), given["axis"])


def _shape(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return attribute(cx, _array_like(cx, arguments[0]), "shape")


def _array_like(cx: Frame, av: AV) -> AV:
    """The argument, as an array where it is a number or a list."""
    return av if isinstance(av.type, Array | Complex) else HANDLERS["numpy.asarray"](cx, [av], {})


def _whole_part(prim: str) -> Handler:
    """np.floor, np.ceil, np.trunc: ints stay as they are."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        _no_keywords(cx, f"numpy.{prim}", keywords)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            kind = common(cx, operands)
            if prim == "rint" and kind.dtype is DType.BOOL:
                kind = float_of(kind)
            x = convert(cx, operands[0], kind.dtype)
            return AV(kind, (cx.e(prim, x) if kind.dtype.is_float else x,))

        return map_numbers(cx, arguments, rule)

    return handler


HANDLERS.update({
    "numpy.floor": _whole_part("floor"), "numpy.ceil": _whole_part("ceil"), "numpy.trunc": _whole_part("trunc"),
    "numpy.power": _by_operator("**", "numpy.power"), "numpy.float_power": _float_power, "numpy.fmod": _fmod,
    "numpy.divide": _by_operator("/", "numpy.divide"), "numpy.true_divide": _by_operator("/", "numpy.true_divide"),
    "numpy.logaddexp": _logaddexp, "numpy.deg2rad": _scaled(math.pi / 180.0), "numpy.radians": _scaled(math.pi / 180.0),
    "numpy.rad2deg": _scaled(180.0 / math.pi), "numpy.degrees": _scaled(180.0 / math.pi),
    "numpy.square": _square, "numpy.reciprocal": _reciprocal, "numpy.positive": _positive,
    "numpy.conj": _conjugate, "numpy.conjugate": _conjugate,
    "numpy.logical_and": _logical("and_"), "numpy.logical_or": _logical("or_"), "numpy.logical_xor": _logical("xor_"),
    "numpy.logical_not": _logical("not_"), "numpy.where": _where,
    "numpy.matmul": _two(matmul, "numpy.matmul"),
    **{f"numpy.{name}": _cast(dtype) for name, dtype in SCALARS.items()},
    "numpy.size": _size,
    "numpy.shape": _shape,
})  # fmt: skip
ROW_HANDLERS["ufunc"] = call_row
