"""Sorting complex numbers: by their real parts, then by their imaginary parts; those with a nan come last.

    np.sort(z)      the order is found from both parts by stable sorts; both are taken in it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.calls import INTERCEPT, call
from pullback.infer.complexes import complex_of, halves, imaginary
from pullback.infer.creation import arguments_of, array_like, empty
from pullback.infer.elementwise import array_sizes, ordered_as
from pullback.infer.engine import Frame
from pullback.infer.numpy.along import flat, table
from pullback.infer.numpy.axes import expanded, rank_of
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.numpy.sums import cast_to
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV
from pullback.types import Array, Complex, DType, NoneType, show

__all__: list[str] = []

_NAMES = ("a", "axis", "kind", "order", "stable")


def _lines(cx: Frame, part: AV, axis: int) -> AV:
    """A table (before, line, after)."""
    found = table(cx, part, [axis])
    if rank_of(found) == 1:
        found = expanded(cx, found, 0)
    return expanded(cx, found, 2) if rank_of(found) == 2 else found


def _parts(cx: Frame, found: Mapping[str, AV]) -> tuple[Sequence[AV], int]:
    """Both parts, and the axis to sort along."""
    parts: Sequence[AV] = halves(found["a"])
    if not isinstance(parts[0].type, Array) or parts[0].type.rank == 0:
        title = "axis -1 is out of bounds for array of dimension 0"
        raise cx.error(title, show(found["a"].type), raised=("AxisError", title))
    if "axis" not in found:
        return parts, rank_of(parts[0]) - 1
    if isinstance(found["axis"].type, NoneType):
        return [flat(cx, part) for part in parts], 0
    return parts, axis_of(cx, found["axis"], rank_of(parts[0]))


def _sorted(cx: Frame, parts: Sequence[AV], axis: int) -> AV:
    dtype = parts[0].type.dtype  # type: ignore[union-attr]
    out = [empty(cx, array_sizes(cx, part), dtype) for part in parts]
    lines = [_lines(cx, part, axis) for part in (*parts, *out)]
    call(cx, prelude(cx, "pullback.complex_sort_columns"), lines, {})
    return complex_of(*(ordered_as(made, [part]) for made, part in zip(out, parts, strict=True)))


def _sort(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return _sorted(cx, *_parts(cx, arguments_of(cx, "numpy.sort", _NAMES, given, keywords)))


def _argsort(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    parts, axis = _parts(cx, arguments_of(cx, "numpy.argsort", _NAMES, given, keywords))
    out = empty(cx, array_sizes(cx, parts[0]), DType.I64)
    lines = [_lines(cx, part, axis) for part in (*parts, out)]
    call(cx, prelude(cx, "pullback.complex_argsort_columns"), lines, {})
    return ordered_as(out, [parts[0]])


def _sort_complex(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Real numbers become complex128."""
    found = arguments_of(cx, "numpy.sort_complex", ("a",), given, keywords)
    if not isinstance(found["a"].type, Complex):
        real = cast_to(cx, array_like(cx, found["a"]), DType.F64)
        found["a"] = complex_of(real, imaginary(cx, real))
    return _sorted(cx, *_parts(cx, found))


_RULES: dict[str, Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]] = {
    "numpy.sort": _sort, "numpy.argsort": _argsort, "complex.argsort": _argsort, "numpy.sort_complex": _sort_complex,
}  # fmt: skip


def _intercept(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A call that has a rule here; None for all others."""
    if name not in _RULES or not arguments or not isinstance(arguments[0].type, Complex):
        return None
    return _RULES[name](cx, arguments, keywords)


INTERCEPT.insert(0, _intercept)
HANDLERS["numpy.sort_complex"] = _sort_complex
