"""Methods and reductions of complex arrays that are not those of both parts alike.

    z.prod(axis=0)             a loop of the prelude over pairs
    z.var()                    z.real.var() + z.imag.var()
    z.astype(np.complex64)     both parts; a.astype(complex) adds a part of zeros
    z.real = x                 written into the real part
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.arithmetic import binary
from pullback.infer.assign import set_item
from pullback.infer.calls import INTERCEPT, call, call_builtin
from pullback.infer.complexes import complex_of, halves, imaginary
from pullback.infer.creation import arguments_of, dtype_of, empty
from pullback.infer.dtypes import numpy_dtype
from pullback.infer.elementwise import array_sizes, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.lattice import ELLIPSIS
from pullback.infer.numbers import as_number
from pullback.infer.numpy.along import flat, kept_sizes, table
from pullback.infer.numpy.axes import expanded
from pullback.infer.numpy.reductions import flag, reduction_axes
from pullback.infer.numpy.shapes import axis_of, reshaped
from pullback.infer.object_writes import SETTERS
from pullback.infer.registry import prelude
from pullback.infer.values import AV
from pullback.types import Array, Builtin, Complex, DType, NoneType, Number, show

__all__: list[str] = []

Rule = Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]
_PARTS = {"complex64": "numpy.float32", "complex128": "numpy.float64"}


def _rank(av: AV) -> int:
    return av.type.rank if isinstance(av.type, Array) else 0


def _dtype(av: AV) -> DType:
    assert isinstance(av.type, Array | Number)
    return av.type.dtype


def _lines(cx: Frame, part: AV, axes: Sequence[int]) -> AV:
    """A table (before, line, after)."""
    found = table(cx, part, axes)
    if _rank(found) == 1:
        found = expanded(cx, found, 0)
    return expanded(cx, found, 2) if _rank(found) == 2 else found


def _prod(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.prod", ("a", "axis", "keepdims"), given, keywords)
    parts, rank = halves(found["a"]), _rank(halves(found["a"])[0])
    axes = reduction_axes(cx, found.get("axis"), rank)
    if rank == 0:
        return complex_of(*(as_number(cx, part) for part in parts))
    if not axes:
        raise cx.error("np.prod of complex numbers along no axis is not supported", "", "write z.copy()")
    lines = [_lines(cx, part, axes) for part in parts]
    sizes = array_sizes(cx, lines[0])
    out = [empty(cx, [sizes[0], sizes[2]], _dtype(part)) for part in parts]
    call(cx, prelude(cx, "pullback.complex_prod_lines"), [*lines, *out], {})
    kept = kept_sizes(cx, parts[0], axes, keep=flag(cx, found, "keepdims"))
    results = [as_number(cx, reshaped(cx, part, kept)) for part in out]
    return complex_of(*(ordered_as(result, [part]) for result, part in zip(results, parts, strict=True)))


def _cumprod(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.cumprod", ("a", "axis"), given, keywords)
    parts: Sequence[AV] = [expanded(cx, part, 0) if _rank(part) == 0 else part for part in halves(found["a"])]
    if "axis" not in found or isinstance(found["axis"].type, NoneType):
        parts, axis = [flat(cx, part) for part in parts], 0
    else:
        axis = axis_of(cx, found["axis"], _rank(parts[0]))
    out = [empty(cx, array_sizes(cx, part), _dtype(part)) for part in parts]
    lines = [_lines(cx, part, [axis]) for part in (*parts, *out)]
    call(cx, prelude(cx, "pullback.complex_cumprod_lines"), lines, {})
    return complex_of(*(ordered_as(result, [part]) for result, part in zip(out, parts, strict=True)))


def _spread(name: str, join: Callable[[Frame, AV, AV], AV]) -> Rule:
    """np.var and np.std, from those of the parts."""

    def rule(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if {"out", "mean"} & keywords.keys():
            raise cx.error(f"{name} of complex numbers takes no out= and mean= here", "", "write z.real, z.imag")
        return join(cx, *(call_builtin(cx, name, [part, *given[1:]], keywords) for part in halves(given[0])))

    return rule


def _hypot(cx: Frame, x: AV, y: AV) -> AV:
    return call_builtin(cx, "numpy.hypot", [x, y], {})


def _both(name: str) -> Rule:
    """A method on both parts; a second argument is a number with two parts, if it is one."""

    def rule(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        results = [call_builtin(cx, name, [part, *given[1:]], keywords) for part in halves(given[0])]
        return complex_of(*results)

    return rule


def _fill(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, value = given
    set_item(cx, subject, AV(ELLIPSIS, (), Ellipsis), value)
    return AV(NoneType())


def _as_dtype(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """z.astype(...): what has no imaginary part loses it, as in NumPy."""
    found = arguments_of(cx, "astype", ("a", "dtype"), given, keywords)
    wanted = numpy_dtype(found["dtype"].type)
    if wanted is not None and wanted.name in _PARTS:
        kind = AV(Builtin(_PARTS[wanted.name]))
        return complex_of(*(call_builtin(cx, "ndarray.astype", [part, kind], {}) for part in halves(found["a"])))
    if dtype_of(cx, found["dtype"]) is DType.BOOL:
        return call_builtin(cx, "numpy.not_equal", [found["a"], AV(Number(DType.I64), (cx.e.integer(0),), 0)], {})
    return call_builtin(cx, "ndarray.astype", [halves(found["a"])[0], found["dtype"]], {})


def _to_complex(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """a.astype(complex) of a real array; None for other dtypes."""
    named = keywords.get("dtype", given[1] if len(given) > 1 else None)
    wanted = None if named is None else numpy_dtype(named.type)
    if wanted is None or wanted.name not in _PARTS:
        return None
    real = call_builtin(cx, "ndarray.astype", [given[0], AV(Builtin(_PARTS[wanted.name]))], {})
    return complex_of(real, imaginary(cx, real))


_RULES: dict[str, Rule] = {
    "prod": _prod, "cumprod": _cumprod, "var": _spread("numpy.var", lambda cx, x, y: binary(cx, "+", x, y)),
    "std": _spread("numpy.std", _hypot), "item": _both("ndarray.item"), "fill": _fill, "astype": _as_dtype,
}  # fmt: skip


def _intercept(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call that has a rule here; None for all others."""
    module, _, short = name.rpartition(".")
    if name == "ndarray.astype":
        return _to_complex(cx, arguments, keywords)
    if module not in ("numpy", "complex") or not arguments or not isinstance(arguments[0].type, Complex):
        return None
    rule = _RULES.get(short)
    return None if rule is None else rule(cx, arguments, keywords)


def _set_part(cx: Frame, subject: AV, name: str, value: AV) -> None:
    """z.real = value, z.imag = value, z.flat = value"""
    parts = dict(zip(("real", "imag"), halves(subject), strict=True))
    if name == "flat" and isinstance(parts["real"].type, Array):
        given = call_builtin(cx, "numpy.asarray", [value], {})
        for part, read in zip(parts.values(), ("real", "imag"), strict=True):
            SETTERS[Array](cx, part, name, call_builtin(cx, f"numpy.{read}", [given], {}))
        return
    if name not in parts or not isinstance(parts[name].type, Array):
        raise cx.error(f"the attribute {name} of {show(subject.type)} cannot be set", "real and imag of arrays can")
    set_item(cx, parts[name], AV(ELLIPSIS, (), Ellipsis), value)


INTERCEPT.insert(0, _intercept)
SETTERS[Complex] = _set_part
