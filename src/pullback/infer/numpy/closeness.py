"""Questions about arrays as a whole: isclose, allclose, array_equal, isreal, isscalar and kin.

    np.allclose(a, b)          bool(np.all(np.isclose(a, b))), which is the prelude's
    np.isrealobj(a)            known while compiling
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.calls import call, call_builtin
from pullback.infer.creation import arguments_of, array_like
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_BOOL, WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.float_functions import operand
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.static import static_flag
from pullback.infer.structures import attribute
from pullback.infer.values import AV
from pullback.types import Array, Complex, Constant, Iterator, Number, Str, Text, show

__all__: list[str] = []


def _close(whole: bool) -> Handler:
    name = "allclose" if whole else "isclose"

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, f"numpy.{name}", ("a", "b", "rtol", "atol", "equal_nan"), given, keywords)
        rtol = found.get("rtol", AV(WEAK_FLOAT, (cx.e.constant(1e-5),), 1e-5))
        atol = found.get("atol", AV(WEAK_FLOAT, (cx.e.constant(1e-8),), 1e-8))
        flag = "equal_nan" in found and static_flag(cx, found["equal_nan"], "equal_nan")

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            a, b = (_strong(operand(cx, av)) for av in operands)
            more = [operand(cx, rtol), operand(cx, atol), AV(Constant(flag), (), flag)]
            return call(cx, prelude(cx, f"pullback.{name}"), [a, b, *more], {})

        return dispatch(cx, [found["a"], found["b"]], rule)

    return handler


def _strong(av: AV) -> AV:
    """A number of NumPy's instead of one of Python's."""
    return AV(Number(av.type.dtype, False), av.values) if isinstance(av.type, Number) else av


def _array_equal(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.array_equal", ("a1", "a2", "equal_nan"), given, keywords)
    flag = "equal_nan" in found and static_flag(cx, found["equal_nan"], "equal_nan")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        a, b = (av if isinstance(av.type, Complex) else array_like(cx, as_number(cx, av)) for av in operands)
        shapes = [attribute(cx, av, "shape") for av in (a, b)]
        if len(shapes[0].values) != len(shapes[1].values):
            return AV(WEAK_BOOL, (cx.e.boolean(False),))
        return call(cx, prelude(cx, "pullback.array_equal"), [a, b, AV(Constant(flag), (), flag)], {})

    return dispatch(cx, [found["a1"], found["a2"]], rule)


def _array_equiv(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.array_equiv", ("a1", "a2"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        a, b = (array_like(cx, as_number(cx, av)) for av in operands)
        e, fits = cx.e, cx.e.boolean(True)
        for m, n in zip(reversed(array_sizes(cx, a)), reversed(array_sizes(cx, b)), strict=False):
            one = e.integer(1)
            alike = e("or_", e("eq", m, n), e("or_", e("eq", m, one), e("eq", n, one)))
            fits = e("and_", fits, alike)

        def equal() -> list[AV]:
            return [call(cx, prelude(cx, "pullback.all_equal"), [a, b], {})]

        return cx.choose(fits, equal, lambda: [AV(WEAK_BOOL, (cx.e.boolean(False),))])[0]

    return dispatch(cx, [found["a1"], found["a2"]], rule)


# ------------------------------------------------------------------------------------------------ real and complex


def _is_real(real: bool) -> Handler:
    """np.isreal and np.iscomplex: is the imaginary part 0, of each element."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        (subject,) = given

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            av = operand(cx, operands[0])
            zero = AV(WEAK_INT, (cx.e.integer(0),), 0)
            imag = attribute(cx, av, "imag") if isinstance(av.type, Complex) else _zeros_of(cx, av)
            return call_builtin(cx, "numpy.equal" if real else "numpy.not_equal", [imag, zero], {})

        return dispatch(cx, [subject], rule)

    return handler


def _zeros_of(cx: Frame, av: AV) -> AV:
    if isinstance(av.type, Array):
        return call_builtin(cx, "numpy.zeros_like", [av], {})
    return AV(WEAK_INT, (cx.e.integer(0),))


def _known(test: Callable[[AV], bool]) -> Handler:
    """A question whose answer the type gives."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            answer = test(operands[0])
            return AV(Constant(answer), (), answer)

        return dispatch(cx, given, rule)

    return handler


def _is_scalar(av: AV) -> bool:
    if isinstance(av.type, Complex):
        return isinstance(av.type.real, Number)
    return isinstance(av.type, Number | Constant | Str | Text)


def _real_if_close(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.real_if_close", ("a", "tol"), given, keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        if isinstance(operands[0].type, Complex):
            tolerance = {"tol": found["tol"]} if "tol" in found else {}
            return call(cx, prelude(cx, "pullback.real_if_close"), [operands[0]], tolerance)
        return array_like(cx, operands[0])

    return dispatch(cx, [found["a"]], rule)


def _of_infinity(negative: bool) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        (subject,) = given
        value = operand(cx, subject)
        endless = call_builtin(cx, "numpy.isinf", [value], {})
        sign = call_builtin(cx, "numpy.signbit", [value], {})
        if not negative:
            sign = call_builtin(cx, "numpy.logical_not", [sign], {})
        return call_builtin(cx, "numpy.logical_and", [endless, sign], keywords)

    return handler


def _ndim(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (subject,) = given

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        av = operand(cx, operands[0])
        if isinstance(av.type, Number):
            return AV(WEAK_INT, (cx.e.integer(0),), 0)
        return attribute(cx, av, "ndim")

    return dispatch(cx, [subject], rule)


def _shares_memory(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    a, b = (array_like(cx, av) for av in given[:2])
    return AV(WEAK_BOOL, (cx.e("array_overlap", a.value, b.value, ranges=True),))


def _errstate(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.errstate(...): a context that changes nothing, since compiled code gives no warnings."""
    for name, av in keywords.items():
        if getattr(av.type, "value", None) not in ("ignore", "warn", "print"):
            raise cx.error(f"np.errstate({name}=...) of this kind is not supported", show(av.type),
                           "compiled code raises nothing and warns of nothing here: write 'ignore'")  # fmt: skip
    made = call(cx, prelude(cx, "pullback.no_context"), [], {})
    assert isinstance(made.type, Iterator)
    return AV(Iterator("context", made.type.parts), made.values)


HANDLERS.update({
    "numpy.isclose": _close(False), "numpy.allclose": _close(True), "numpy.array_equal": _array_equal,
    "numpy.array_equiv": _array_equiv, "numpy.isreal": _is_real(True), "numpy.iscomplex": _is_real(False),
    "numpy.isrealobj": _known(lambda av: not isinstance(av.type, Complex)),
    "numpy.iscomplexobj": _known(lambda av: isinstance(av.type, Complex)), "numpy.isscalar": _known(_is_scalar),
    "numpy.real_if_close": _real_if_close, "numpy.isposinf": _of_infinity(False), "numpy.isneginf": _of_infinity(True),
    "numpy.ndim": _ndim, "numpy.may_share_memory": _shares_memory, "numpy.errstate": _errstate,
})  # fmt: skip
