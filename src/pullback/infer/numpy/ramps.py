"""Numbers at even distances: linspace, logspace, geomspace.

    np.linspace(a, b, 5)     out[k] = a + k * ((b - a) / 4), and out[4] = b; of arrays a and b row by row
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call, call_builtin
from pullback.infer.creation import arguments_of, array_or_number, cast, dtype_of, empty
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, require_room
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number, convert, promote
from pullback.infer.numpy.axes import common_shape, is_none, moved_axis, rank_of
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.static import static_flag
from pullback.infer.values import AV
from pullback.infer.views import integer
from pullback.types import Array, Constant, DType, Number, show

__all__: list[str] = []

_NAMES = ("start", "stop", "num", "endpoint", "retstep", "dtype", "axis")


def _linspace(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.linspace", _NAMES, given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        values, step = _spaced(cx, operands[0], operands[1], found)
        wanted = dtype_of(cx, found.get("dtype"), _float_of(values))
        if wanted.is_int:
            values = call_builtin(cx, "numpy.floor", [values], {})
        values = values if wanted is _float_of(values) else cast(cx, values, wanted)
        flag = "retstep" in found and static_flag(cx, found["retstep"], "retstep")
        return pack_tuple([values, step]) if flag else values

    return dispatch(cx, [found["start"], found["stop"]], rule)


def _float_of(av: AV) -> DType:
    assert isinstance(av.type, Array | Number)
    return av.type.dtype


def _spaced(cx: Frame, start: AV, stop: AV, found: Mapping[str, AV]) -> tuple[AV, AV]:
    """The array and the step, in NumPy's float dtype for these ends."""
    ends = [_end(cx, av) for av in (start, stop)]
    kind = WEAK_FLOAT
    for av in ends:
        assert isinstance(av.type, Array | Number)
        kind = promote(kind, Number(av.type.dtype, isinstance(av.type, Number) and av.type.weak))
    dtype = kind.dtype
    ends = [_in(cx, av, dtype) for av in ends]
    number = found.get("num", AV(WEAK_INT, (cx.e.integer(50),), 50))
    count = integer(cx, number)
    cx.check(cx.e("ge", count, cx.e.integer(0)), "ValueError", "Number of samples, {0}, must be non-negative.", count)
    flag = Constant("endpoint" not in found or static_flag(cx, found["endpoint"], "endpoint"))
    shape = common_shape(cx, [array_sizes(cx, av) for av in ends if isinstance(av.type, Array)])
    require_room(cx, [count, *shape], dtype)
    out = empty(cx, [count, *shape], dtype)
    step = call(cx, prelude(cx, "pullback.linspace"), [*ends, AV(flag, (), flag.value), out], {})
    axis = axis_of(cx, found["axis"], rank_of(out)) if "axis" in found else 0
    return moved_axis(cx, out, 0, axis), step


def _end(cx: Frame, av: AV) -> AV:
    av = array_or_number(cx, av)
    if not isinstance(av.type, Array | Number):
        raise cx.type_error(f"np.linspace takes numbers and arrays, not {show(av.type)}")
    return av


def _in(cx: Frame, av: AV, dtype: DType) -> AV:
    """A strong number, or an array, of the dtype."""
    if isinstance(av.type, Array):
        return av if av.type.dtype is dtype else cast(cx, av, dtype)
    return AV(Number(dtype, False), (convert(cx, av, dtype),))


def _logspace(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    names = ("start", "stop", "num", "endpoint", "base", "dtype", "axis")
    found = arguments_of(cx, "numpy.logspace", names, given, keywords)
    base = found.get("base", AV(WEAK_FLOAT, (cx.e.constant(10.0),), 10.0))

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        exponents, _ = _spaced(cx, operands[0], operands[1], found)
        result = call_builtin(cx, "numpy.power", [base, exponents], {})
        return result if is_none(found, "dtype") else cast(cx, result, dtype_of(cx, found["dtype"]))

    return dispatch(cx, [found["start"], found["stop"]], rule)


def _geomspace(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Of two numbers of one sign: powers of 10 between their logarithms, with the ends exact."""
    names = ("start", "stop", "num", "endpoint", "dtype")
    found = arguments_of(cx, "numpy.geomspace", names, given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        ends = [as_number(cx, av) for av in operands]
        if not all(isinstance(av.type, Number) for av in ends):
            raise cx.error("np.geomspace takes two numbers here", ", ".join(show(av.type) for av in ends))
        ends = [_in(cx, av, DType.F64) for av in ends]
        sign = call(cx, prelude(cx, "pullback.geomspace_sign"), ends, {})
        sizes = [call_builtin(cx, "numpy.multiply", [av, sign], {}) for av in ends]
        logs = [call_builtin(cx, "numpy.log10", [av], {}) for av in sizes]
        exponents, _ = _spaced(cx, logs[0], logs[1], found)
        flag = Constant("endpoint" not in found or static_flag(cx, found["endpoint"], "endpoint"))
        result = call(cx, prelude(cx, "pullback.geomspace"), [exponents, sign, *ends, AV(flag, (), flag.value)], {})
        return result if is_none(found, "dtype") else cast(cx, result, dtype_of(cx, found["dtype"]))

    return dispatch(cx, [found["start"], found["stop"]], rule)


HANDLERS.update({
    "numpy.linspace": _linspace, "numpy.logspace": _logspace, "numpy.geomspace": _geomspace,
})  # fmt: skip
