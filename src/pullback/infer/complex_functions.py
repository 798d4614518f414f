"""Functions of complex numbers and arrays: `complex`, cmath, NumPy's ufuncs, and what acts on both parts alike.

    cmath.exp(z)                 exp(a) at the angle b
    np.sum(z), z.reshape(2, 3)   of both parts
    np.zeros(n, dtype=complex)   two arrays of zeros
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.infer.arithmetic import binary
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import INTERCEPT, call_builtin
from pullback.infer.complex_elementary import PYTHON_NAMES, RULES, both, turned
from pullback.infer.complex_extrema import EXTREMA
from pullback.infer.complex_parts import BOTH, BY_TRUTH, EACH, NUMERIC_KEYWORDS, OWN, numeric_arguments
from pullback.infer.complexes import (
    absolute,
    angle,
    complex_binary,
    complex_compare,
    complex_of,
    complex_power,
    complex_unary,
    conjugate,
    halves,
    imaginary,
    mapped,
    pair_of,
    part_of,
)
from pullback.infer.creation import empty
from pullback.infer.dispatch import dispatch
from pullback.infer.dtypes import numpy_dtype
from pullback.infer.elementwise import array_sizes, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number, convert
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.structures import attribute
from pullback.infer.texts import is_text
from pullback.infer.values import AV, items_of
from pullback.ir.node import Block, Value
from pullback.prims.base import Emitter, get
from pullback.prims.prelude import FUNCTIONS
from pullback.types import (
    Array,
    Builtin,
    Complex,
    Constant,
    Dict,
    DType,
    List,
    NoneType,
    Number,
    PackedComplex,
    Record,
    Scalar,
    Tuple,
    Type,
    Union,
    show,
)  # fmt: skip

__all__ = ["holds_complex", "of_parts", "stored_parts", "wanted_parts"]

_CONSTRUCTORS = frozenset({"builtins.complex", "numpy.complex128", "numpy.complex64"})
_BILINEAR = frozenset({"matmul", "convolve", "cross"})
# Functions that take complex numbers as they are.
_OWN = frozenset({
    f"numpy.{name}" for name in ("dot", "outer", "inner", "tensordot", "vdot", "kron", "vecdot", "trace", "einsum",
                                 "correlate", "matvec", "vecmat", "polyval", "polyadd", "polysub", "polymul",
                                 "polyder", "polyint", "polydiv", "poly", "vander", "roots", "cov",
                                 "corrcoef")
})  # fmt: skip
_CREATION = frozenset({
    "zeros", "ones", "empty", "full", "eye", "identity", "zeros_like", "ones_like", "full_like", "empty_like", "array",
    "asarray", "arange", "ascontiguousarray",
})  # fmt: skip


# ------------------------------------------------------------------------------------------------------- functions


def holds_complex(type_: Type) -> bool:
    """Is it complex, or is something in it."""
    match type_:
        case Complex():
            return True
        case Tuple(items) | List(items):
            return any(map(holds_complex, items))
        case Union(members):
            return any(map(holds_complex, members))
    return False


def wanted_parts(av: AV | None) -> DType | None:
    """The dtype of the parts, where an argument names a complex dtype."""
    found = None if av is None else numpy_dtype(av.type)
    return {"complex64": DType.F32, "complex128": DType.F64}.get(found.name) if found is not None else None


def _is_dtype(av: AV) -> bool:
    """Is every alternative of a union a dtype."""
    assert isinstance(av.type, Union)
    return all(numpy_dtype(member) is not None for member in av.type.members)


_MODULES = ("numpy", "numpy.lib.stride_tricks", "builtins", "complex", "pullback")


def _intercept(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call of a known function in which complex values take part; None for all others."""
    module, _, short = name.rpartition(".")
    if module not in _MODULES or name in _CONSTRUCTORS:
        return None  # a constructor takes complex numbers as they are
    if module == "numpy" and short in _CREATION:
        position = 2 if short == "full" else 1
        if (kinds := keywords.get("dtype")) is not None and isinstance(kinds.type, Union):
            rest = {key: av for key, av in keywords.items() if key != "dtype"}
            return dispatch(cx, [kinds], lambda cx, one: call_builtin(cx, name, arguments, {**rest, "dtype": one[0]}))
        if len(arguments) > position and isinstance(arguments[position].type, Union) and _is_dtype(arguments[position]):
            before, after = arguments[:position], arguments[position + 1 :]
            return dispatch(cx, [arguments[position]],
                            lambda cx, one: call_builtin(cx, name, [*before, *one, *after], keywords))  # fmt: skip
        dtype = wanted_parts(keywords.get("dtype"))
        if dtype is None and len(arguments) > position:
            dtype = wanted_parts(arguments[position])
            arguments = arguments if dtype is None else [av for i, av in enumerate(arguments) if i != position]
        if dtype is not None:
            return _created(cx, name, arguments, {k: v for k, v in keywords.items() if k != "dtype"}, dtype)
    if name in _OWN or name in OWN or not any(holds_complex(av.type) for av in arguments):
        return None
    if short.endswith("_like") and module == "numpy" and _names_dtype(short, arguments, keywords):
        return call_builtin(cx, name, [_part(cx, arguments[0], 0), *arguments[1:]], keywords)  # of real numbers
    if name == "numpy.matmul" and ("out" in keywords or len(arguments) > 2):
        return None  # `outputs` takes the product of complex arrays first
    if name in ("numpy.full", "numpy.full_like", "numpy.ones_like"):
        model = arguments[1 if short == "full" else 0]
        if isinstance(model.type, Complex):
            return _created(cx, name, arguments, keywords, _part_dtype(model))
    if module == "pullback" or (module == "builtins" and short not in _BUILTINS):
        return None
    if any(isinstance(av.type, Union) for av in arguments):
        return dispatch(cx, arguments, lambda cx, operands: call_builtin(cx, name, operands, keywords))
    return _apply(cx, name, short, arguments, keywords)


def _names_dtype(short: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> bool:
    """Is a dtype given to zeros_like and kin."""
    place = 2 if short == "full_like" else 1
    found = keywords.get("dtype", arguments[place] if len(arguments) > place else None)
    return found is not None and not isinstance(found.type, NoneType)


def _part_dtype(av: AV) -> DType:
    """The dtype of the parts of a complex number or array."""
    real = halves(av)[0].type
    assert isinstance(real, Array | Number)
    return real.dtype


_BUILTINS = ("abs",)


def _apply(cx: Frame, name: str, short: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    if short in BY_TRUTH:
        zero = AV(WEAK_INT, (cx.e.integer(0),), 0)
        truth = call_builtin(cx, "numpy.not_equal", [arguments[0], zero], {})
        return call_builtin(cx, f"numpy.{short}", [truth, *arguments[1:]], keywords)
    if name == "complex.compress":
        arguments = [arguments[1], arguments[0], *arguments[2:]]  # of the function, the condition comes first
    if short == "pad" and len(arguments) > 1 and _mode(arguments, keywords) in ("maximum", "minimum", "median"):
        raise cx.error("np.pad of complex numbers with the largest, smallest or middle ones is not supported",
                       "complex numbers are ordered by both parts", "pad with constant_values=")  # fmt: skip
    if short in BOTH:
        known = next((n for n in (f"numpy.{short}", f"ndarray.{short}") if n in HANDLERS or n in FUNCTIONS), name)
        return _of_both(cx, known, short, arguments, keywords)
    if short in _BILINEAR:
        return _bilinear(cx, name, arguments, keywords)
    function = _FUNCTIONS.get(short)
    if name.startswith("numpy.") and short not in _PYTHON and all(map(_is_pythons, arguments)):
        arguments = [call_builtin(cx, "numpy.complex128", [av], {}) if isinstance(av.type, Complex) else av
                     for av in arguments]  # fmt: skip
    if function is not None and not keywords:
        return function(cx, *arguments)
    if short in RULES and len(arguments) == 1 and not keywords:
        return mapped(cx, halves(arguments[0]), RULES[short])
    raise cx.error(f"{name}() of complex numbers is not supported yet", "an argument is complex",
                   "write it with the real and imaginary parts")  # fmt: skip


_PYTHON = ("real", "imag")  # of Python's numbers these give Python's numbers


def _is_pythons(av: AV) -> bool:
    """Is this a number of Python's, of which a function of NumPy gives NumPy's."""
    kind = av.type.real if isinstance(av.type, Complex) else av.type
    return isinstance(kind, Constant) or (isinstance(kind, Number) and kind.weak)


def _mode(arguments: Sequence[AV], keywords: Mapping[str, AV]) -> object:
    """The mode of np.pad."""
    found = keywords.get("mode", arguments[2] if len(arguments) > 2 else None)
    return getattr(found.type, "value", None) if found is not None else None


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


def stored_parts(cx: Frame, av: AV) -> tuple[AV, AV]:
    """Both parts of a value, of every number in a structure."""
    return _part(cx, av, 0), _part(cx, av, 1)


def _floating(cx: Frame, real: AV) -> AV:
    if isinstance(real.type, Number) and not real.type.dtype.is_float:
        return AV(WEAK_FLOAT, (convert(cx, real, DType.F64),))
    return real


def _of_both(cx: Frame, name: str, short: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """The function on the real parts and on the imaginary parts; other arguments (shapes, axes) as they are."""
    values = numeric_arguments(short, len(arguments))

    def apply(which: int) -> AV:
        given = [_part(cx, av, which) if i in values else av for i, av in enumerate(arguments)]
        more = {key: _part(cx, av, which) if key in NUMERIC_KEYWORDS else av for key, av in keywords.items()}
        return call_builtin(cx, name, given, more)

    real, imag = apply(0), apply(1)
    if short in EACH and isinstance(real.type, Tuple) and len(arguments) == len(real.type.items):
        rows = zip(arguments, items_of(real), items_of(imag), strict=True)
        return pack_tuple([complex_of(x, y) if holds_complex(av.type) else x for av, x, y in rows])
    return of_parts(real, imag)


def of_parts(real: AV, imag: AV) -> AV:
    """Complex values of both parts, also inside structures."""
    if isinstance(real.type, NoneType):
        return real
    if not isinstance(real.type, Tuple | List):
        return complex_of(real, imag)
    items = [of_parts(x, y) for x, y in zip(items_of(real), items_of(imag), strict=True)]
    kind = replace(real.type, items=tuple(item.type for item in items))
    return AV(kind, tuple(value for item in items for value in item.values))


def _bilinear(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """A product of two arrays, by the products of their parts."""
    x, y, *rest = arguments

    def times(p: AV | None, q: AV | None) -> AV | None:
        return None if p is None or q is None else call_builtin(cx, name, [p, q, *rest], keywords)

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
    short = name.rpartition(".")[2]
    place = _NUMBERS.get(short)

    def part(which: int) -> AV:
        given = list(arguments)
        if short.endswith("_like"):
            given[0] = _part(cx, given[0], 0)
        if place is not None and place < len(given):
            given[place] = _part(cx, given[place], which)
        named = {key: _part(cx, av, which) if key in _NUMBER_NAMES else av for key, av in keywords.items()}
        return call_builtin(cx, name, given, {**named, "dtype": kind})

    real = part(0)
    return complex_of(real, part(1) if place is not None else imaginary(cx, real))


_NUMBERS = {"array": 0, "asarray": 0, "ascontiguousarray": 0, "full": 1, "full_like": 1}
_NUMBER_NAMES = ("fill_value", "object", "a")


def _square(cx: Frame, x: AV) -> AV:
    return complex_binary(cx, "*", x, x)


def _operator(operator: str) -> Callable[..., AV]:
    return lambda cx, x, y: complex_binary(cx, operator, x, y)


def _either(test: str, join: str) -> Callable[..., AV]:
    """A test of both parts."""
    return lambda cx, x: call_builtin(cx, join, [call_builtin(cx, test, [part], {}) for part in halves(x)], {})


_FUNCTIONS: dict[str, Callable[..., AV]] = {
    "equal": lambda cx, x, y: complex_compare(cx, "==", x, y), "isnan": _either("numpy.isnan", "numpy.logical_or"),
    "not_equal": lambda cx, x, y: complex_compare(cx, "!=", x, y), "isinf": _either("numpy.isinf", "numpy.logical_or"),
    "isfinite": _either("numpy.isfinite", "numpy.logical_and"),
    "abs": absolute, "absolute": absolute, "angle": angle, "conj": conjugate, "conjugate": conjugate,
    "real": lambda cx, x: part_of(x, 0), "imag": lambda cx, x: part_of(x, 1), "square": _square,
    "add": _operator("+"), "subtract": _operator("-"), "multiply": _operator("*"), "divide": _operator("/"),
    "true_divide": _operator("/"), "power": complex_power, "positive": lambda cx, x: complex_unary(cx, "+", x),
    "negative": lambda cx, x: mapped(cx, halves(x), _negated),
    "shape": lambda cx, x: call_builtin(cx, "numpy.shape", [halves(x)[0]], {}),
    "size": lambda cx, x: call_builtin(cx, "numpy.size", [halves(x)[0]], {}), **EXTREMA,
}  # fmt: skip


def _negated(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
    a, b = both(p)
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
            result = mapped(cx, [a, b], RULES[PYTHON_NAMES[name]])
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
        return mapped(cx, [r, phi], lambda e, p: turned(e, *both(p)))

    return dispatch(cx, arguments, rule)


def _packed(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """A complex array as one new array of pairs, as LAPACK takes it."""
    joined = _interleaved(cx, *halves(arguments[0]))
    assert isinstance(joined.type, Array)
    return AV(PackedComplex(joined.type), joined.values)


def _returned(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """What an entry returns: complex arrays as NumPy keeps them."""
    return packed(cx, arguments[0])


def packed(cx: Frame, av: AV) -> AV:
    """The value with complex arrays packed, in structures and unions too."""
    if not _has_array(av.type):
        return av
    match av.type:
        case Complex():
            return _whole(cx, av)
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
        case Record():
            return False  # it is put together of the parts of its fields
        case Union(members):
            return any(map(_has_array, members))
    return any(map(_has_array, getattr(type_, "items", ())))


def _whole(cx: Frame, av: AV) -> AV:
    """A complex array that is returned: that of an argument which it lies in, else a new one."""
    real, imag = halves(av)
    assert isinstance(real.type, Array)
    if real.type.contiguous and real.type.rank:  # the parts of an argument have gaps
        joined = _interleaved(cx, real, imag)
        assert isinstance(joined.type, Array)
        return AV(PackedComplex(joined.type), joined.values)
    sizes, beside = [cx.e.integer(0)] * (real.type.rank + 1), cx.e("array_beside", real.value, imag.value)
    made = cx.choose(beside, lambda: [empty(cx, sizes, real.type.dtype)], lambda: [_interleaved(cx, real, imag)])  # type: ignore[union-attr]
    assert isinstance(made[0].type, Array)
    return AV(PackedComplex(made[0].type, real.type), (*made[0].values, beside, *real.values))


def _interleaved(cx: Frame, real: AV, imag: AV) -> AV:
    """Both parts side by side, by one pass."""
    assert isinstance(real.type, Array)
    e, rank, sizes = cx.e, real.type.rank, array_sizes(cx, real)
    joined = empty(cx, [*sizes, e.integer(2)], real.type.dtype)
    places = [e("view_index", joined.value, e.integer(k), axis=rank) for k in range(2)]
    params = [Value(Scalar(real.type.dtype)) for _ in range(2)]
    attrs: dict[str, object] = {"rank": rank, "outputs": ("set", "set"), "targets": 2}
    operands = [*sizes, real.value, imag.value, *places]
    e.append(get("elementwise"), operands, attrs=attrs, blocks=[Block(params, [], params)], types=())
    return ordered_as(joined, [real, imag])


def _of_real(name: str, function: Callable[[Frame, AV], AV]) -> Handler:
    """A function of complex numbers, on real ones."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(arguments) != 1 or keywords:
            raise cx.type_error(f"{name}() takes one argument here", f"{len(arguments) + len(keywords)} are given")
        return dispatch(cx, arguments, lambda cx, operands: function(cx, as_number(cx, operands[0])))

    return handler


def _angle_of_real(cx: Frame, x: AV) -> AV:
    return angle(cx, complex_of(x, imaginary(cx, x)))


def _imaginary_of_real(cx: Frame, x: AV) -> AV:
    """Zeros, of an array in one that cannot be written."""
    return attribute(cx, x, "imag") if isinstance(x.type, Array) else imaginary(cx, x)


_REAL: dict[str, Callable[[Frame, AV], AV]] = {
    "real": lambda cx, x: x, "imag": _imaginary_of_real, "angle": _angle_of_real,
}  # fmt: skip

INTERCEPT.append(_intercept)
HANDLERS.update({f"numpy.{name}": _of_real(f"numpy.{name}", function) for name, function in _REAL.items()})
HANDLERS.update({f"ndarray.{name}": _of_real(name, lambda cx, x: x) for name in ("conj", "conjugate")})  # itself
HANDLERS.update({
    "builtins.complex": _constructor(DType.F64, weak=True), "numpy.complex128": _constructor(DType.F64, weak=False),
    "numpy.complex64": _constructor(DType.F32, weak=False), "cmath.phase": _phase, "cmath.polar": _polar,
    "cmath.rect": _rect, **{f"cmath.{name}": _cmath(name) for name in PYTHON_NAMES}, "pullback.packed": _packed,
    "pullback.returned": _returned,
    "pullback.joined": lambda cx, arguments, keywords: dispatch(cx, arguments, lambda cx, parts: complex_of(*parts)),
    "complex.conjugate": _of_real("conjugate", conjugate),  # of Python's numbers Python's, unlike numpy.conjugate
})  # fmt: skip
