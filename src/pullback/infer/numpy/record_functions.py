"""Functions, attributes and comparisons of structured arrays.

    a.shape, a.dtype.names, a.T, a.copy()     of the whole
    np.sort(a, order="x")                     by the fields in turn: those named, then the others
    np.concatenate((a, b)), np.flip(a)        each field so
    a == b                                    where all fields are equal
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import INTERCEPT, call_builtin
from pullback.infer.complexes import halves
from pullback.infer.creation import arguments_of
from pullback.infer.dtypes import dtype_value
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.record_writes import assign_whole
from pullback.infer.records import fields, mapped, model_of, not_single, record_copy, record_item, record_kind, taken
from pullback.infer.registry import HANDLERS
from pullback.infer.structures import ATTRIBUTES, attribute
from pullback.infer.truth import compare
from pullback.infer.values import AV, items_of
from pullback.infer.views import array_of
from pullback.types import NONE, Array, Closure, Complex, List, NoneType, Record, Str, Tuple, show

__all__ = ["FUNCTIONS", "joined", "only_first_axis", "sorted_places"]

_METHODS = ("copy", "astype", "fill", "sort", "argsort", "take", "repeat", "reshape", "flatten", "tolist")
_ALONG = {"flip": ("m", "axis"), "roll": ("a", "shift", "axis"), "repeat": ("a", "repeats", "axis")}


def _attribute(cx: Frame, subject: AV, name: str) -> AV:
    """a.name"""
    kind = record_kind(subject)
    if name == "dtype":
        return dtype_value(kind.layout)  # type: ignore[arg-type]
    if name in ("shape", "ndim", "size"):
        return attribute(cx, model_of(not_single(cx, subject)), name)
    if name == "T":
        return mapped(subject, lambda leaf: _turned(cx, leaf, kind.rank), kind.rank, single=kind.single)
    if name in ("itemsize", "nbytes"):
        return _bytes(cx, subject, whole=name == "nbytes")
    if name in _METHODS or (name == "item" and kind.single):
        return AV(Closure(f"record.{name}", (kind,), f"record.{name}"), subject.values)
    help = "they have shape, ndim, size, dtype, itemsize, nbytes, T, " + ", ".join(_METHODS)
    help = f"write [{name!r}] for the field" if name in kind.names else help
    title = f"{show(kind)} has no attribute '{name}' in compiled code"
    raise cx.error(title, "of structured arrays few are known", help)


def _bytes(cx: Frame, subject: AV, *, whole: bool) -> AV:
    """How many bytes a record takes, or all of them."""
    size = record_kind(subject).layout.itemsize  # type: ignore[attr-defined]
    if not whole:
        return AV(WEAK_INT, (cx.e.integer(size),), size)
    count = attribute(cx, model_of(not_single(cx, subject)), "size")
    return AV(WEAK_INT, (cx.e("mul", count.value, cx.e.integer(size)),))


def _turned(cx: Frame, leaf: AV, rank: int) -> AV:
    """The first axes in reverse order."""
    assert isinstance(leaf.type, Array)
    perm = (*reversed(range(rank)), *range(rank, leaf.type.rank))
    ones = tuple(leaf.type.is_one(axis) for axis in perm)
    return array_of(cx.e("view_transpose", leaf.value, perm=perm), leaf.type, ones, perm=perm)


def _copy(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return record_copy(cx, given[0])


def _array_copy(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.copy(a), which makes an array of a record."""
    subject = arguments_of(cx, "numpy.copy", ("a",), given, keywords)["a"]
    return record_copy(cx, not_single(cx, subject))


# ------------------------------------------------------------------------------------------------------- functions


def _line(cx: Frame, name: str, av: AV) -> AV:
    if record_kind(av).rank != 1 or record_kind(av).single:
        raise cx.error(f"{name} takes structured arrays of one axis here", show(av.type), "write it for each field")
    return av


def _along(name: str) -> Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]:
    """A function along the only axis, of each field."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, _ALONG[name.rpartition(".")[2]], given, keywords)
        subject, *rest = [value for key, value in found.items() if key != "axis"]
        only_first_axis(cx, name, found)
        axis = {"axis": AV(WEAK_INT, (cx.e.integer(0),), 0)}
        return mapped(_line(cx, name, subject), lambda leaf: call_builtin(cx, name, [leaf, *rest], axis), 1)

    return handler


def only_first_axis(cx: Frame, name: str, found: Mapping[str, AV]) -> None:
    """Refuses an axis that is named and is not the first one."""
    if "axis" in found and not isinstance(found["axis"].type, NoneType) and cx.number_of(found["axis"]) not in (0, -1):
        raise cx.error(f"{name} of a structured array is along axis 0 here", show(found["axis"].type))


def _take(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """np.take(a, places): as a[places], copied."""
    found = arguments_of(cx, "numpy.take", ("a", "indices", "axis"), given, keywords)
    only_first_axis(cx, "numpy.take", found)
    return record_copy(cx, record_item(cx, _line(cx, "numpy.take", found["a"]), found["indices"]))


def _transposed(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return attribute(cx, arguments_of(cx, "numpy.transpose", ("a",), given, keywords)["a"], "T")


def _concatenate(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    parts = [_line(cx, "numpy.concatenate", av) if isinstance(av.type, Record) else av for av in items_of(given[0])]
    kinds = {part.type.layout if isinstance(part.type, Record) else None for part in parts}
    found = arguments_of(cx, "numpy.concatenate", ("arrays", "axis"), given, keywords)
    only_first_axis(cx, "numpy.concatenate", found)
    if len(kinds) != 1:
        raise cx.error("np.concatenate takes structured arrays of one dtype here", show(given[0].type))
    return joined(cx, parts)


def joined(cx: Frame, parts: Sequence[AV]) -> AV:
    """Structured arrays of one dtype, one after the other along the first axis."""
    first = parts[0]
    if isinstance(first.type, Array):
        zero = AV(WEAK_INT, (cx.e.integer(0),), 0)
        return call_builtin(cx, "numpy.concatenate", [pack_tuple(parts)], {"axis": zero})
    inner = [halves(part) if isinstance(first.type, Complex) else items_of(part) for part in parts]
    found = [joined(cx, column) for column in zip(*inner, strict=True)]
    types, values = tuple(part.type for part in found), tuple(v for part in found for v in part.values)
    if isinstance(first.type, Complex):
        return AV(Complex(*types), values)
    kind = record_kind(first)
    return AV(Record(kind.names, types, kind.layout, kind.rank), values)


def sorted_places(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> tuple[AV, AV]:
    """The array, and the numbers of its records in sorted order."""
    found = arguments_of(cx, name, ("a", "axis", "kind", "order"), given, keywords)
    subject = _line(cx, name, found["a"])
    kind, wanted = record_kind(subject), _wanted(cx, found.get("order"))
    first = [kind.names.index(field) for field in wanted if field in kind.names]
    if len(first) < len(wanted):
        raise cx.error(f"{name}: order= names an unknown field", f"the fields are {', '.join(kind.names)}")
    items = items_of(subject)
    chosen = [items[i] for i in (*first, *(i for i in range(len(items)) if i not in first))]
    keys = [key for item in chosen for key in _keys(cx, name, kind, item)]
    return subject, call_builtin(cx, "numpy.lexsort", [pack_tuple(keys[::-1])], {})


def _keys(cx: Frame, name: str, kind: Record, item: AV) -> list[AV]:
    """What a field is sorted by: complex numbers without a nan come first, by their real parts."""
    parts = list(halves(item)) if isinstance(item.type, Complex) else [item]
    if any(not isinstance(part.type, Array) or part.type.rank != 1 for part in parts):
        raise cx.error(f"{name} takes records of numbers here", show(kind), "write a[np.argsort(a['name'])]")
    if isinstance(item.type, Complex):
        nans = [call_builtin(cx, "numpy.isnan", [part], {}) for part in parts]
        return [*nans, *parts]
    return parts


def _wanted(cx: Frame, order: AV | None) -> list[str]:
    if order is None or isinstance(order.type, NoneType):
        return []
    types = order.type.items if isinstance(order.type, List | Tuple) else (order.type,)
    if not all(isinstance(type_, Str) for type_ in types):
        raise cx.error("order= takes names of fields", show(order.type), "write the names as texts")
    return [type_.value for type_ in types if isinstance(type_, Str)]


def _sorted(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    subject, order = sorted_places(cx, "numpy.sort", given, keywords)
    return subject if cx.dead else taken(cx, subject, [order])


def _sort(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    made = _sorted(cx, given, keywords)
    if not cx.dead:
        assign_whole(cx, given[0], made)
    return AV(NONE)


def _argsort(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """Equal records keep their order, which is one of the orders that are right."""
    return sorted_places(cx, "numpy.argsort", given, keywords)[1]


FUNCTIONS = {
    "copy": _array_copy, "concatenate": _concatenate, "sort": _sorted, "argsort": _argsort, "take": _take,
    "transpose": _transposed,
    **{name: _along(f"numpy.{name}") for name in _ALONG},
}  # fmt: skip


_ELSEWHERE = ("array", "asarray", "zeros_like", "ones_like", "empty_like", "full_like", "iterable")


def _intercept(cx: Frame, name: str, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV | None:
    """A function of NumPy of structured arrays; None for all others."""
    module, _, short = name.rpartition(".")
    if module.partition(".")[0] not in ("numpy", "scipy") or not given:
        return None
    subject = given[min(len(given), 2) - 1].type if short == "where" else given[0].type
    inside = subject.items if isinstance(subject, Tuple | List) else (subject,)
    if not any(isinstance(type_, Record) for type_ in inside) or short in _ELSEWHERE:
        return None
    if short in ("shape", "ndim", "size"):
        return attribute(cx, given[0], short)
    if short not in FUNCTIONS:
        known = ", ".join(sorted(FUNCTIONS))
        raise cx.error(f"{name} of structured arrays is not supported", show(given[0].type), f"known are {known}")
    return FUNCTIONS[short](cx, given, keywords)


# ------------------------------------------------------------------------------------------------------ comparisons


def _compare(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """a == b and a != b, where both are records of the same fields."""
    operator, a, b = given
    assert isinstance(operator.type, Str)
    same = isinstance(a.type, Record) and isinstance(b.type, Record) and a.type.names == b.type.names
    if operator.type.value not in ("==", "!=") or not same:
        title = f"{operator.type.value} is not supported between {show(a.type)} and {show(b.type)}"
        label = "records of the same fields can be compared with == and !="
        raise cx.error(title, label, "compare a field: a['name']")
    equal = _equal(cx, a, b)
    return equal if operator.type.value == "==" else call_builtin(cx, "numpy.logical_not", [equal], {})


def _equal(cx: Frame, a: AV, b: AV) -> AV:
    """Where all fields are equal."""
    found: AV | None = None
    rank = max(0 if record_kind(av).single else record_kind(av).rank for av in (a, b))
    for x, y in zip(fields(cx, a), fields(cx, b), strict=True):
        one = _equal(cx, x, y) if isinstance(x.type, Record) else compare(cx, "==", x, y)
        while isinstance(one.type, Array) and one.type.rank > rank:
            last = AV(WEAK_INT, (cx.e.integer(-1),), -1)
            one = call_builtin(cx, "numpy.all", [one], {"axis": last})
        found = one if found is None else call_builtin(cx, "numpy.logical_and", [found, one], {})
    assert found is not None
    return found


ATTRIBUTES[Record] = _attribute
INTERCEPT.insert(0, _intercept)
HANDLERS.update({
    "record.copy": _copy, "record.sort": _sort, "record.argsort": _argsort, "record.compare": _compare,
    "record.take": _take, "record.repeat": _along("numpy.repeat"),
})  # fmt: skip
