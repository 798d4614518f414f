"""Calls in which numbers may be complex: which parameters these are, and the rule for them.

    rows = {"median": (("a", "axis", "keepdims"), ("a",), rule)}     np.median(z): rule(cx, {"a": z})

Of a union of types each alternative is its own call, which stays as it is where nothing in it is complex.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer import lists
from pullback.infer.arguments import Arguments, arguments_of
from pullback.infer.calls import INTERCEPT, call_builtin
from pullback.infer.complex_functions import holds_complex
from pullback.infer.complexes import complex_of, imaginary
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.numpy.along import table
from pullback.infer.numpy.axes import expanded, rank_of
from pullback.infer.numpy.sums import cast_to
from pullback.infer.values import AV
from pullback.types import Array, Complex, DType, Union

__all__ = ["Found", "Row", "Rule", "as_complex_array", "lines_of", "take_complex"]

Found = Mapping[str, AV]
Rule = Callable[[Frame, Found], AV]
Row = tuple[Sequence[str], Sequence[str], Rule]  # the parameters, those that may be complex, and the rule


def take_complex(rows: Mapping[str, Row]) -> None:
    """Give calls of these functions their meaning for complex numbers."""

    def intercept(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
        module, _, short = name.rpartition(".")
        if module != "numpy" or short not in rows:
            return None
        names, numbers, rule = rows[short]
        offered = {**dict(zip(names, given, strict=False)), **keywords}
        if not any(holds_complex(offered[key].type) for key in numbers if key in offered):
            return None
        found = arguments_of(cx, f"numpy.{short}", names, given, keywords)
        places = [key for key in numbers if key in found]

        def alternative(cx: Frame, operands: Sequence[AV]) -> AV:
            now = Arguments(cx, f"numpy.{short}", {**found, **dict(zip(places, operands, strict=True))})
            if any(holds_complex(av.type) for av in operands):
                return rule(cx, now)
            return call_builtin(cx, name, [], now)

        return dispatch(cx, [found[key] for key in places], alternative)

    INTERCEPT.insert(0, intercept)


def as_complex_array(cx: Frame, value: AV) -> AV:
    """The complex array of a number, of an array, or of a sequence; of ints in complex128."""
    made = call_builtin(cx, "numpy.asarray", [value], {})
    if isinstance(made.type, Complex):
        return made
    assert isinstance(made.type, Array)
    real = cast_to(cx, made, DType.F32 if made.type.dtype in _IN_SINGLE else DType.F64)
    return complex_of(real, imaginary(cx, real))


# Functions that take lists as they are.
_OF_LISTS = frozenset({"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require", "block",
                       "concatenate", "stack", "hstack", "vstack", "row_stack", "dstack", "column_stack"})  # fmt: skip


def _is_list(av: AV) -> bool:
    """Is it a list or tuple of run-time length whose items are numbers, complex ones among them."""
    if not lists.is_sequence(av.type):
        return False
    item = lists.item_type(av)
    return holds_complex(item) and not any(
        isinstance(member.real if isinstance(member, Complex) else member, Array)
        for member in (item.members if isinstance(item, Union) else (item,))
    )  # fmt: skip


def _listed(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """np.median(list_): of the array that NumPy makes of it."""
    module, _, short = name.rpartition(".")
    if module != "numpy" or short in _OF_LISTS or not any(map(_is_list, (*given, *keywords.values()))):
        return None

    def array(av: AV) -> AV:
        return call_builtin(cx, "numpy.asarray", [av], {}) if _is_list(av) else av

    return call_builtin(cx, name, [array(av) for av in given], {key: array(av) for key, av in keywords.items()})


INTERCEPT.insert(0, _listed)
_IN_SINGLE = (DType.F32, DType.F16, DType.I16, DType.I8, DType.U16, DType.U8, DType.BOOL)


def lines_of(cx: Frame, part: AV, axes: Sequence[int]) -> AV:
    """A part of a complex array as a table (before, line, after)."""
    found = table(cx, part, axes)
    if rank_of(found) == 1:
        found = expanded(cx, found, 0)
    return expanded(cx, found, 2) if rank_of(found) == 2 else found
