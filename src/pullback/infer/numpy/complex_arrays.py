"""Methods of complex arrays that are not those of both parts alike.

    z.astype(np.complex64)     both parts; a.astype(complex) adds a part of zeros
    z.real = x                 written into the real part
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.assign import set_item
from pullback.infer.calls import INTERCEPT, call, call_builtin
from pullback.infer.complexes import complex_of, halves, imaginary
from pullback.infer.creation import arguments_of, dtype_of
from pullback.infer.dtypes import numpy_dtype
from pullback.infer.engine import Frame
from pullback.infer.lattice import ELLIPSIS
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


def _tolist(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if _rank(halves(given[0])[0]) == 0:
        return call_builtin(cx, "builtins.complex", [call_builtin(cx, "complex.item", given, {})], {})
    return call(cx, prelude(cx, "pullback.complex_tolist"), given, keywords)


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
    "item": _both("ndarray.item"), "fill": _fill, "astype": _as_dtype, "tolist": _tolist,
}  # fmt: skip


def _intercept(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call that has a rule here; None for all others."""
    module, _, short = name.rpartition(".")
    if name in ("ndarray.astype", "numpy.astype") and arguments and not isinstance(arguments[0].type, Complex):
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
