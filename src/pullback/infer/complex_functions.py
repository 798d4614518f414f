"""Functions of complex numbers and arrays: `complex`, cmath, NumPy's ufuncs, and what acts on both parts alike.

    cmath.exp(z)                 exp(a) at the angle b
    np.sum(z), z.reshape(2, 3)   of both parts
    np.zeros(n, dtype=complex)   two arrays of zeros
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.infer.arithmetic import binary
from pullback.infer.calls import INTERCEPT, call_builtin
from pullback.infer.complexes import (
    Rule,
    absolute,
    angle,
    complex_binary,
    complex_of,
    complex_power,
    conjugate,
    halves,
    imaginary,
    mapped,
    pair_of,
    quotient,
)
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number, convert
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.texts import is_text
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.prims.base import Emitter
from pullback.types import (
    Array,
    Builtin,
    Complex,
    Constant,
    Dict,
    DType,
    List,
    Number,
    PackedComplex,
    Str,
    Tuple,
    Type,
    Union,
    show,
)  # fmt: skip

__all__: list[str] = []

DTYPES = {
    "builtins.complex": DType.F64, "numpy.complex128": DType.F64, "numpy.complex64": DType.F32,
    "complex": DType.F64, "complex128": DType.F64, "complex64": DType.F32,
}  # fmt: skip
# Functions that act on both parts in the same way.
_BOTH = frozenset({
    "sum", "mean", "reshape", "ravel", "transpose", "copy", "concatenate", "stack", "expand_dims", "squeeze",
    "diagonal", "where", "array", "asarray", "ascontiguousarray", "zeros_like", "empty_like", "flatten", "vstack",
    "hstack", "trace", "atleast_1d", "broadcast_to", "cumsum", "diff", "flip", "roll", "tile", "repeat",
})  # fmt: skip
_BILINEAR = frozenset({"dot", "matmul", "outer", "inner", "tensordot"})
_CREATION = frozenset({
    "zeros", "ones", "empty", "full", "eye", "identity", "zeros_like", "ones_like", "array", "asarray",
})  # fmt: skip


# --------------------------------------------------------------------------------------------------- scalar rules


def _turned(e: Emitter, length: Value, angle_: Value) -> tuple[Value, Value]:
    return e("mul", length, e("cos", angle_)), e("mul", length, e("sin", angle_))


def _exp(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = _both(p)
    return _turned(e, e("exp", a), b)


def _log(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = _both(p)
    return e("log", e("hypot", a, b)), e("atan2", b, a)


def _sqrt(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    """The root with a real part that is not negative, as CPython computes it, without cancellation."""
    a, b = _both(p)
    zero, half = e.like(0.0, a), e.like(0.5, a)
    nothing = e("and_", e("eq", a, zero), e("eq", b, zero))
    size = e("hypot", e("select", nothing, e.like(1.0, a), a), b)
    s = e("sqrt", e("mul", half, e("add", e("abs", a), size)))
    d = e("div", e("mul", half, e("abs", b)), s)
    right = e("ge", a, zero)
    re, im = e("select", right, s, d), e("copysign", e("select", right, d, s), b)
    return e("select", nothing, zero, re), e("select", nothing, b, im)


def _sin(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = _both(p)
    return e("mul", e("sin", a), e("cosh", b)), e("mul", e("cos", a), e("sinh", b))


def _cos(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = _both(p)
    return e("mul", e("cos", a), e("cosh", b)), e("neg", e("mul", e("sin", a), e("sinh", b)))


def _sinh(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = _both(p)
    return e("mul", e("sinh", a), e("cos", b)), e("mul", e("cosh", a), e("sin", b))


def _cosh(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = _both(p)
    return e("mul", e("cosh", a), e("cos", b)), e("mul", e("sinh", a), e("sin", b))


def _tan(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    return quotient(e, [*_sin(e, p), *_cos(e, p)])


def _tanh(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    return quotient(e, [*_sinh(e, p), *_cosh(e, p)])


def _both(p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = p
    assert a is not None and b is not None
    return a, b


_RULES: dict[str, Rule] = {
    "exp": _exp, "log": _log, "sqrt": _sqrt, "sin": _sin, "cos": _cos, "tan": _tan, "sinh": _sinh, "cosh": _cosh,
    "tanh": _tanh,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------- functions


def _holds_complex(type_: Type) -> bool:
    match type_:
        case Complex():
            return True
        case Tuple(items) | List(items):
            return any(map(_holds_complex, items))
        case Union(members):
            return any(map(_holds_complex, members))
    return False


def _wanted(av: AV | None) -> DType | None:
    """The dtype of the parts, where an argument names a complex dtype."""
    if av is None:
        return None
    name = av.type.name if isinstance(av.type, Builtin) else av.type.value if isinstance(av.type, Str) else ""
    return DTYPES.get(name)


def _intercept(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call of a known function in which complex values take part; None for all others."""
    module, _, short = name.rpartition(".")
    if module not in ("numpy", "builtins", "complex", "pullback") or name in DTYPES:
        return None  # a constructor takes complex numbers as they are
    if module == "numpy" and short in _CREATION:
        dtype = _wanted(keywords.get("dtype"))
        position = 2 if short == "full" else 1
        if dtype is None and len(arguments) > position:
            dtype = _wanted(arguments[position])
            arguments = arguments if dtype is None else [av for i, av in enumerate(arguments) if i != position]
        if dtype is not None:
            return _created(cx, name, arguments, {k: v for k, v in keywords.items() if k != "dtype"}, dtype)
    if not any(_holds_complex(av.type) for av in arguments):
        return None
    if name == "numpy.full":
        return _created(cx, name, arguments, keywords, DType.F64)
    if module == "pullback" or (module == "builtins" and short not in _BUILTINS):
        return None
    if any(isinstance(av.type, Union) for av in arguments):
        return dispatch(cx, arguments, lambda cx, operands: call_builtin(cx, name, operands, keywords))
    return _apply(cx, name, short, arguments, keywords)


_BUILTINS = ("abs",)


def _apply(cx: Frame, name: str, short: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    if short in _BOTH:
        return _of_both(cx, f"numpy.{short}" if name.startswith("complex.") else name, arguments, keywords)
    if short in _BILINEAR:
        return _bilinear(cx, name, arguments, keywords)
    function = _FUNCTIONS.get(short)
    if function is not None and not keywords:
        return function(cx, *arguments)
    if short in _RULES and len(arguments) == 1 and not keywords:
        return mapped(cx, halves(arguments[0]), _RULES[short])
    raise cx.error(f"{name}() of complex numbers is not supported yet", "an argument is complex",
                   "write it with the real and imaginary parts")  # fmt: skip


def _part(cx: Frame, av: AV, which: int) -> AV:
    """The real (0) or imaginary (1) part of a value, of every number in a structure."""
    match av.type:
        case Complex():
            return halves(av)[which]
        case Tuple() | List():
            items = [_part(cx, item, which) for item in items_of(av)]
            kind = replace(av.type, items=tuple(item.type for item in items))
            return AV(kind, tuple(value for item in items for value in item.values))
        case Number() | Array() | Constant():
            number = as_number(cx, av)
            return number if which == 0 else imaginary(cx, _floating(cx, number))
    raise cx.type_error(f"{show(av.type)} has no real and imaginary part", "numbers and arrays have")


def _floating(cx: Frame, real: AV) -> AV:
    if isinstance(real.type, Number) and not real.type.dtype.is_float:
        return AV(WEAK_FLOAT, (convert(cx, real, DType.F64),))
    return real


def _of_both(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """The function on the real parts and on the imaginary parts; other arguments (shapes, axes) as they are."""
    kinds = {"numpy.where": 1}
    first = kinds.get(name, 0)  # arguments before this one are no numbers
    values = range(first, len(arguments)) if first else range(1)

    def apply(which: int) -> AV:
        given = [_part(cx, av, which) if i in values else av for i, av in enumerate(arguments)]
        return call_builtin(cx, name, given, keywords)

    return complex_of(apply(0), apply(1))


def _bilinear(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """A product of two arrays, by the products of their parts."""
    x, y = arguments

    def times(p: AV | None, q: AV | None) -> AV | None:
        return None if p is None or q is None else call_builtin(cx, name, [p, q], keywords)

    (a, b), (c, d) = pair_of(cx, x), pair_of(cx, y)
    return complex_of(_sum(cx, "-", times(a, c), times(b, d)), _sum(cx, "+", times(a, d), times(b, c)))


def _sum(cx: Frame, operator: str, p: AV | None, q: AV | None) -> AV:
    if p is None:
        assert q is not None
        return q
    return p if q is None else binary(cx, operator, p, q)


def _created(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV], dtype: DType) -> AV:
    """An array of a complex dtype."""
    kind = AV(Builtin("numpy.float64" if dtype is DType.F64 else "numpy.float32"))
    given = {**keywords, "dtype": kind}
    short = name.rpartition(".")[2]
    if short in ("array", "asarray") or (short == "full" and any(_holds_complex(av.type) for av in arguments)):
        values = 0 if short != "full" else 1
        before, complexes, after = arguments[:values], arguments[values], arguments[values + 1 :]
        both = [call_builtin(cx, name, [*before, _part(cx, complexes, which), *after], given) for which in (0, 1)]
        return complex_of(*both)
    if short.endswith("_like"):
        arguments = [_part(cx, arguments[0], 0), *arguments[1:]]
    real = call_builtin(cx, name, arguments, given)
    return complex_of(real, imaginary(cx, real))


def _square(cx: Frame, x: AV) -> AV:
    return complex_binary(cx, "*", x, x)


def _vdot(cx: Frame, x: AV, y: AV) -> AV:
    return _bilinear(cx, "numpy.dot", [conjugate(cx, x), y], {})


def _operator(operator: str) -> Callable[..., AV]:
    return lambda cx, x, y: complex_binary(cx, operator, x, y)


_FUNCTIONS: dict[str, Callable[..., AV]] = {
    "abs": absolute, "absolute": absolute, "angle": angle, "conj": conjugate, "conjugate": conjugate,
    "real": lambda cx, x: halves(x)[0], "imag": lambda cx, x: halves(x)[1], "square": _square, "vdot": _vdot,
    "add": _operator("+"), "subtract": _operator("-"), "multiply": _operator("*"), "divide": _operator("/"),
    "true_divide": _operator("/"), "power": complex_power, "negative": lambda cx, x: mapped(cx, halves(x), _negated),
    "shape": lambda cx, x: call_builtin(cx, "numpy.shape", [halves(x)[0]], {}),
    "size": lambda cx, x: call_builtin(cx, "numpy.size", [halves(x)[0]], {}),
}  # fmt: skip


def _negated(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = _both(p)
    return e("neg", a), e("neg", b)


# ------------------------------------------------------------------------------------------ constructors and cmath


def _constructor(dtype: DType, *, weak: bool) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        given = dict(zip(("real", "imag"), arguments, strict=False)) | dict(keywords)
        zero = AV(WEAK_FLOAT, (cx.e.constant(0.0),), 0.0)
        kind = Number(dtype, weak)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            for av in operands:
                if is_text(av.type) or not isinstance(av.type, Number | Constant | Complex):
                    raise cx.error(f"complex() takes numbers, not {show(av.type)}", "this is no number",
                                   "convert it with float(...)")  # fmt: skip
            (a, b), (c, d) = pair_of(cx, operands[0]), pair_of(cx, operands[1])
            re, im = convert(cx, a, dtype), convert(cx, c, dtype)
            if d is not None:
                re = cx.e("sub", re, convert(cx, d, dtype))
            if b is not None:
                im = cx.e("add", im, convert(cx, b, dtype))
            return complex_of(AV(kind, (re,)), AV(kind, (im,)))

        return dispatch(cx, [given.get("real", zero), given.get("imag", zero)], rule)

    return handler


def _cmath(name: str) -> Handler:
    """A function of cmath: Python's numbers, with its errors."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            a, b = (_weak(cx, part) for part in _scalar_parts(cx, operands[0]))
            if name == "log" and cx.options.checks:
                size = cx.e("hypot", a.value, b.value)
                cx.check(cx.e("ne", size, cx.e.like(0.0, size)), "ValueError", "math domain error")
            result = mapped(cx, [a, b], _RULES[name])
            if cx.options.checks and name != "sqrt":
                _check_range(cx, [a, b], halves(result))
            return result

        if len(arguments) != 1 or keywords:
            raise cx.type_error(f"cmath.{name}() takes one number here", f"{len(arguments) + len(keywords)} are given")
        return dispatch(cx, arguments, rule)

    return handler


def _scalar_parts(cx: Frame, av: AV) -> tuple[AV, AV]:
    real, imag = pair_of(cx, av)
    if not isinstance(real.type, Number):
        help = "use the function of the same name in numpy"
        raise cx.type_error(f"cmath takes one number, not {show(av.type)}", help)
    return real, imaginary(cx, _floating(cx, real)) if imag is None else imag


def _weak(cx: Frame, av: AV) -> AV:
    return AV(WEAK_FLOAT, (convert(cx, av, DType.F64),))


def _check_range(cx: Frame, given: Sequence[AV], result: Sequence[AV]) -> None:
    def finite(avs: Sequence[AV]) -> Value:
        return cx.e("and_", *(cx.e("isfinite", av.value) for av in avs))

    cx.check(cx.e("or_", finite(result), cx.e("not_", finite(given))), "OverflowError", "math range error")


def _phase(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return dispatch(cx, arguments, lambda cx, operands: angle(cx, complex_of(
        *(_weak(cx, part) for part in _scalar_parts(cx, operands[0])))))  # fmt: skip


def _polar(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        z = complex_of(*(_weak(cx, part) for part in _scalar_parts(cx, operands[0])))
        pair = (absolute(cx, z), angle(cx, z))
        return AV(Tuple(tuple(av.type for av in pair)), tuple(v for av in pair for v in av.values))

    return dispatch(cx, arguments, rule)


def _rect(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        r, phi = (_weak(cx, av) for av in operands)
        return mapped(cx, [r, phi], lambda e, p: _turned(e, *_both(p)))

    return dispatch(cx, arguments, rule)


def _packed(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """What an entry returns: complex arrays as one array of pairs, as NumPy keeps them."""
    return packed(cx, arguments[0])


def packed(cx: Frame, av: AV) -> AV:
    """The value with complex arrays packed, in structures and unions too."""
    if not _has_array(av.type):
        return av
    match av.type:
        case Complex():
            return _interleaved(cx, av)
        case Union():
            return dispatch(cx, [av], lambda cx, operands: packed(cx, operands[0]))
    items = [packed(cx, item) for item in items_of(av)]
    assert isinstance(av.type, Tuple | List | Dict)
    kind = replace(av.type, items=tuple(item.type for item in items))
    return AV(kind, tuple(value for item in items for value in item.values))


def _has_array(type_: Type) -> bool:
    match type_:
        case Complex(real, _):
            return isinstance(real, Array)
        case Union(members):
            return any(map(_has_array, members))
    return any(map(_has_array, getattr(type_, "items", ())))


def _interleaved(cx: Frame, av: AV) -> AV:
    pair = [call_builtin(cx, "numpy.expand_dims", [part, _minus_one(cx)], {}) for part in halves(av)]
    both = AV(Tuple(tuple(p.type for p in pair)), tuple(v for p in pair for v in p.values))
    joined = call_builtin(cx, "numpy.concatenate", [both], {"axis": _minus_one(cx)})
    assert isinstance(joined.type, Array)
    return AV(PackedComplex(joined.type), joined.values)


def _minus_one(cx: Frame) -> AV:
    value = cx.e.integer(-1)
    cx.literals[value] = -1
    return AV(WEAK_INT, (value,), -1)


def _of_real(name: str, function: Callable[[Frame, AV], AV]) -> Handler:
    """A function of complex numbers, on real ones."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(arguments) != 1 or keywords:
            raise cx.type_error(f"{name}() takes one argument here", f"{len(arguments) + len(keywords)} are given")
        return dispatch(cx, arguments, lambda cx, operands: function(cx, as_number(cx, operands[0])))

    return handler


def _angle_of_real(cx: Frame, x: AV) -> AV:
    return angle(cx, complex_of(x, imaginary(cx, x)))


_REAL: dict[str, Callable[[Frame, AV], AV]] = {
    "real": lambda cx, x: x, "imag": imaginary, "conj": lambda cx, x: x, "conjugate": lambda cx, x: x,
    "angle": _angle_of_real,
}  # fmt: skip

INTERCEPT.append(_intercept)
HANDLERS.update({f"numpy.{name}": _of_real(f"numpy.{name}", function) for name, function in _REAL.items()})
HANDLERS["numpy.vdot"] = lambda cx, arguments, keywords: call_builtin(cx, "numpy.dot", arguments, keywords)
HANDLERS.update({
    "builtins.complex": _constructor(DType.F64, weak=True), "numpy.complex128": _constructor(DType.F64, weak=False),
    "numpy.complex64": _constructor(DType.F32, weak=False), "cmath.phase": _phase, "cmath.polar": _polar,
    "cmath.rect": _rect, **{f"cmath.{name}": _cmath(name) for name in _RULES}, "pullback.packed": _packed,
})  # fmt: skip
