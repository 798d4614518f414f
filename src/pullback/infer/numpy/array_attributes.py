"""Attributes of arrays beside shape and dtype, and what is done with arrays as Python objects.

    a.real             the array itself                a.flat      its elements in a row: a view where it is contiguous
    a.tolist()         lists of Python's numbers       np.unstack  a tuple of views
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pullback.infer.calls import call, call_builtin
from pullback.infer.creation import arguments_of, array_like
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.fancy import true_places
from pullback.infer.filling import copy, writable
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number
from pullback.infer.numpy.axes import moved, moved_axis, of_array, rank_of
from pullback.infer.numpy.selecting import mask_of
from pullback.infer.numpy.shapes import axis_of, flattened
from pullback.infer.numpy.sums import cast_to
from pullback.infer.object_writes import SETTERS
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.structures import GETTERS, attribute
from pullback.infer.values import AV
from pullback.infer.views import array_of
from pullback.types import Array, Number, Tuple, show

__all__: list[str] = []


def _itself(cx: Frame, av: AV) -> AV:
    return av


def _imag(cx: Frame, av: AV) -> AV:
    """Zeros that cannot be written."""
    zeros = call_builtin(cx, "numpy.zeros_like", [av], {})
    assert isinstance(zeros.type, Array)
    return AV(replace(zeros.type, readonly=True), zeros.values)


def _matrix_transposed(cx: Frame, av: AV) -> AV:
    rank = rank_of(av)
    if rank < 2:
        title = "matrix transpose with ndim < 2 is undefined"
        raise cx.error(title, show(av.type), raised=("ValueError", title))
    return moved(cx, av, [*range(rank - 2), rank - 1, rank - 2])


def _flat(cx: Frame, av: AV) -> AV:
    """Of a contiguous array a view, of which slices are copies; of others a read-only copy, which no write to the array
    may tell from a view."""
    assert isinstance(av.type, Array)
    total = cx.e.integer(1)
    for size in array_sizes(cx, av):
        total = cx.e("mul", total, size)
    if av.type.contiguous and not av.type.foreign:
        view = array_of(cx.e("view_reshape", av.value, total), av.type)
        assert isinstance(view.type, Array)
        return AV(replace(view.type, flat=True), view.values)
    attrs: dict[str, object] = {"whole": True, "foreign": False, "readonly": True, "spread": True, "flat": True}
    taken = cx.e("reshape", av.value, total, **attrs)
    return array_of(taken, replace(av.type, readonly=True, rows=False, columns=False, foreign=False))


def _item_size(cx: Frame, av: AV) -> AV:
    assert isinstance(av.type, Array)
    size = av.type.dtype.bytes
    return AV(WEAK_INT, (cx.e.integer(size),), size)


def _bytes(cx: Frame, av: AV) -> AV:
    size = attribute(cx, av, "size")
    return AV(WEAK_INT, (cx.e("mul", size.value, _item_size(cx, av).value),))


GETTERS.update({
    "real": _itself, "imag": _imag, "mT": _matrix_transposed, "flat": _flat, "itemsize": _item_size, "nbytes": _bytes,
})  # fmt: skip


def _strides(cx: Frame, av: AV) -> AV:
    """Of a contiguous array; others have run-time strides that compiled code does not show."""
    assert isinstance(av.type, Array)
    if not av.type.contiguous or av.type.foreign or av.type.gaps:
        raise cx.error("the strides of this array are not known", show(av.type), "take np.ascontiguousarray of it")
    step, found = cx.e.integer(av.type.dtype.bytes), list[AV]()
    for size in reversed(array_sizes(cx, av)):
        found.insert(0, AV(WEAK_INT, (step,)))
        step = cx.e("mul", step, size)
    return AV(Tuple((WEAK_INT,) * len(found)), tuple(item.value for item in found))


GETTERS["strides"] = _strides


def _set_attribute(cx: Frame, subject: AV, name: str, value: AV) -> None:
    """a.flat = v: the elements of v in turn, again from its first when there are no more; a.real = v: a[...] = v."""
    if name not in ("flat", "real"):
        title = f"{show(subject.type)} has no attribute '{name}' that can be set"
        raised = ("AttributeError", f"'{show(subject.type)}' object has no attribute '{name}'")
        help = "write a = a.reshape(...)" if name == "shape" else ""
        raise cx.error(title, "attributes of objects can be set", help, raised=raised)
    assert isinstance(subject.type, Array)
    if name == "real" or isinstance(value.type, Number):
        HANDLERS["pullback.store"](cx, [subject, value], {})
        return
    writable(cx, subject)
    given = array_like(cx, as_number(cx, value))
    if max(rank_of(subject), rank_of(given)) > 1 and given.value is not subject.value:
        apart = cx.e("not_", cx.e("array_overlap", subject.value, given.value))
        cx.check(apart, "ValueError", "a.flat = b, where a and b share memory: write b.copy()")
    row = copy(cx, flattened(cx, cast_to(cx, given, subject.type.dtype)))
    start = AV(WEAK_INT, (cx.e.integer(0),), 0)
    call(cx, prelude(cx, "pullback.put_flat"), [subject, row, start], {})


SETTERS[Array] = _set_attribute


def _tolist(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (subject,) = given
    if rank_of(subject) == 0:
        return HANDLERS["ndarray.item"](cx, [subject], {})
    return call(cx, prelude(cx, "pullback.tolist"), [subject], {})


def _unstack(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    axis = axis_of(cx, found["axis"], rank_of(av)) if "axis" in found else 0
    return call(cx, prelude(cx, "pullback.unstack"), [moved_axis(cx, av, axis, 0)], {})


def _mask_indices(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = arguments_of(cx, "numpy.mask_indices", ("n", "mask_func", "k"), given, keywords)
    zero = AV(WEAK_INT, (cx.e.integer(0),), 0)
    shape = AV(Tuple((WEAK_INT, WEAK_INT)), (*found["n"].values, *found["n"].values))
    ones = call_builtin(cx, "numpy.ones", [shape], {})
    masked = call(cx, found["mask_func"], [ones, found.get("k", zero)], {})
    places = true_places(cx, mask_of(cx, array_like(cx, masked)))
    return AV(Tuple(tuple(av.type for av in places)), tuple(v for av in places for v in av.values))


HANDLERS.update({
    "ndarray.tolist": _tolist, "numpy.unstack": of_array("numpy.unstack", ("x", "axis"), _unstack),
    "numpy.mask_indices": _mask_indices,
})  # fmt: skip
