"""What makes shadows of arrays and reads them: the meaning of ops that J writes where a program writes to arrays.

    y = py.dressed(x)          x with zeros for a shadow of each array in it
    t = py.shadows(y)          these shadows, in the structure of the sensitivity of x
    py.increased(t, u)         adds the arrays of one such tree to those of another

What an array with a shadow is, `shadowed` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.analysis.alias import written_parameters
from pullback.infer.binding import pack_tuple
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame, Specialization
from pullback.infer.filling import copy, write
from pullback.infer.lattice import family_of
from pullback.infer.reached import reached
from pullback.infer.sensitivities import environment, kind_of, opened, part, zero
from pullback.infer.shadowed import (
    bare,
    holds_shadowed,
    inner_array,
    inside,
    is_tracked,
    pair,
    rebuilt_as,
    stripped,
    tracks,
)  # fmt: skip
from pullback.infer.sites import like_sites
from pullback.infer.values import AV, items_of, pair_of_shadowed
from pullback.ir.node import Op, Value
from pullback.types import (
    Array,
    ArrayRef,
    BoxedFunction,
    Closure,
    Complex,
    Dict,
    DType,
    Environment,
    Iterator,
    List,
    Number,
    Scalar,
    Shadowed,
    Slice,
    Transformed,
    Tuple,
    Type,
    Union,
    Zero,
    is_float,
    show,
)  # fmt: skip

__all__ = ["MEANINGS", "check_apart", "check_overlap", "dressed", "fresh_shadow", "gradient_of", "zeros_like"]


# --------------------------------------------------------------------------------------------------- new shadows


def _zeros(cx: Frame, model: AV) -> AV:
    """Zeros of the shape of an array, with as many shadows."""
    if isinstance(model.type, Shadowed):
        primal, shadow = pair_of_shadowed(model)
        return pair(_zeros(cx, primal), _zeros(cx, shadow))
    assert isinstance(model.type, Array)
    value = cx.e("array_zeros", *array_sizes(cx, model), dtype=model.type.dtype)
    return AV(replace(model.type, contiguous=True, readonly=False, rows=False, columns=False, foreign=False), (value,))


def _like(cx: Frame, zeros: AV, model: AV) -> AV:
    """Zeros as a value of the model's own machine type."""
    assert isinstance(zeros.type, Array) and isinstance(model.type, Array)
    value = zeros.value if model.type.contiguous else cx.e("view_relax", zeros.value)
    return AV(model.type, (value,))


def zeros_like(cx: Frame, array: AV) -> AV:
    """Zeros of the shape of an array without shadows, of its own type."""
    return _like(cx, _zeros(cx, array), array)


def fresh_shadow(cx: Frame, array: AV, order: int) -> AV:
    """A fresh shadow, with `order` shadows of its own."""
    if isinstance(array.type, Shadowed):
        primal, shadow = pair_of_shadowed(array)
        return pair(fresh_shadow(cx, primal, order - 1), fresh_shadow(cx, shadow, order - 1))
    if order > 0:
        return pair(fresh_shadow(cx, array, order - 1), fresh_shadow(cx, array, order - 1))
    return zeros_like(cx, array)


def dressed(cx: Frame, av: AV, order: int = 0, shadow: Callable[[Frame, AV, int], AV] = fresh_shadow) -> AV:
    """The value with a shadow of zeros for each array in it.  `order`: of how many derivatives this is in the code."""
    type_ = av.type
    if isinstance(type_, Shadowed) or is_tracked(type_):
        return pair(av, shadow(cx, av, order))
    if isinstance(type_, BoxedFunction):
        if any(tracks(t) for member in family_of(type_).members for t in member.captured):
            raise _refused(cx, "a recursive function that captured arrays")
        return av
    if not tracks(type_):
        return av
    if isinstance(type_, Union):
        return dispatch(cx, [av], lambda cx, one: dressed(cx, one[0], order, shadow))
    return rebuilt_as(type_, [dressed(cx, item, order, shadow) for item in inside(av)])


def _refused(cx: Frame, what: str) -> Exception:
    return cx.error(f"{what} has no backpropagator in the formulation by closures, where arrays are written",
                    "this cannot be differentiated by closures",
                    "differentiate it in the default formulation")  # fmt: skip


_VIEW = "cannot differentiate by closures: what this operation gives shares memory with an argument"
_SHARED = "cannot differentiate by closures: arguments share memory, and the function writes to it"


def check_apart(cx: Frame, spec: Specialization, given: Sequence[AV]) -> None:
    """Of each argument the shadow is made for itself: where one is written, no other may be the same memory."""
    if not cx.session.shadowed:
        return
    values = [v for av in given for v in av.values]
    arrays = [place for place, v in enumerate(values) if isinstance(v.type, ArrayRef) and is_float(v.type)]
    if len(arrays) < 2:
        return
    written = set(arrays)
    if spec.function is not None and len(spec.function.body.params) == len(values):
        written &= written_parameters(reached(cx, spec.function))[spec.name].written
    for number, first in enumerate(arrays):
        for second in arrays[number + 1 :]:
            if first in written or second in written:
                check_overlap(cx, cx.e("array_overlap", values[first], values[second]))


def check_overlap(cx: Frame, shared: Value) -> None:
    """Guard: two arrays of which each has a shadow of its own are not one memory."""
    cx.check(cx.e("not_", shared), "ValueError", _SHARED)


# ------------------------------------------------------------------------------------------------- trees of shadows


def shadows(cx: Frame, av: AV) -> AV:
    """The shadows of all arrays in a value, in the structure of its sensitivity."""
    match av.type:
        case Shadowed():
            return pair_of_shadowed(av)[1]
        case Transformed(_, function, _):
            return shadows(cx, AV(function, av.values))
        case _ if not holds_shadowed(av.type):
            return zero()
        case Tuple() | List() | Dict() | Iterator() | Slice() | Complex():
            return pack_tuple([shadows(cx, item) for item in inside(av)])
        case Closure(code):
            of = code.of if isinstance(code, Environment) else kind_of(code)  # of a tree, in a further derivative
            return environment(of, [shadows(cx, item) for item in items_of(av)])
    raise _refused(cx, show(av.type))


def _walk(cx: Frame, tree: AV, others: Sequence[AV], rule: Callable[[Sequence[AV]], None]) -> None:
    """The rule on each array of a tree and what stands in its place in the others."""
    if isinstance(tree.type, Array | Shadowed):
        rule([tree, *others])
    elif isinstance(tree.type, Tuple):
        for index, item in enumerate(items_of(tree)):
            _walk(cx, item, [part(cx, other, index) for other in others], rule)
    elif isinstance(tree.type, Closure):
        items, of = items_of(tree), tree.type.code.of  # type: ignore[attr-defined]
        beside = [opened(cx, other, of, len(items)) for other in others]
        for index, item in enumerate(items):
            _walk(cx, item, [row[index] for row in beside], rule)


def increased(cx: Frame, tree: AV, other: AV) -> None:
    """Add the arrays of one tree to those of another."""

    def add(arrays: Sequence[AV]) -> None:
        target, given = (bare(av) for av in arrays)
        if not isinstance(given.type, Zero):
            write(cx, target, [target, given], _sum)

    _walk(cx, tree, [other], add)


def _sum(cx: Frame, items: Sequence[AV]) -> AV:
    return AV(Number(_dtype(items[0].type), weak=False), (cx.e("add", *(item.value for item in items)),))


def _dtype(type_: Type) -> DType:
    assert isinstance(type_, Number)
    return type_.dtype


def cleared(cx: Frame, tree: AV) -> None:
    """Zeros in all arrays of a tree."""

    def clear(arrays: Sequence[AV]) -> None:
        (target,) = (bare(av) for av in arrays)
        kind = Number(inner_array(target.type).dtype, weak=False)
        write(cx, target, [], lambda cx, _: AV(kind, (cx.e.constant(0.0, Scalar(kind.dtype)),)))

    _walk(cx, tree, [], clear)


def _numbers(cx: Frame, tree: AV) -> AV:
    """The tree without its arrays."""
    match tree.type:
        case Array() | Shadowed():
            return zero()
        case Tuple():
            return pack_tuple([_numbers(cx, item) for item in items_of(tree)])
        case Closure(code):
            return environment(code.of, [_numbers(cx, item) for item in items_of(tree)])  # type: ignore[attr-defined]
    return tree


def gradient_of(cx: Frame, tree: AV, primal: AV, number: Callable[[AV, AV], AV]) -> AV:
    """Arrays of a tree in the structure of a value; `number`: the same for what is no array and holds none."""
    if isinstance(primal.type, Shadowed) or is_tracked(primal.type):
        return tree if isinstance(tree.type, Array | Shadowed) else _zeros(cx, primal)
    if tracks(primal.type) and isinstance(primal.type, Tuple | List | Dict | Complex):
        parts = [part(cx, tree, index) for index in range(len(inside(primal)))]
        items = [gradient_of(cx, *one, number) for one in zip(parts, inside(primal), strict=True)]
        return rebuilt_as(like_sites(primal.type), items)
    return number(tree, primal)


# ------------------------------------------------------------------------------------------------- the ops one by one


def _primal(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return dispatch(cx, operands, lambda cx, one: stripped(one[0], 1))


def _shadow(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """Of a constant array, which may stand for one with a shadow, there is none."""
    return dispatch(
        cx, operands, lambda cx, one: pair_of_shadowed(one[0])[1] if isinstance(one[0].type, Shadowed) else zero()
    )


def _shadowed(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return dispatch(cx, operands, lambda cx, both: both[0] if isinstance(both[1].type, Zero) else pair(*both))


def _shadows(cx: Frame, op: Op, operands: list[AV]) -> AV:
    return shadows(cx, operands[0])


def _increased(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    increased(cx, *operands)
    return []


def _cleared(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    cleared(cx, operands[0])
    return []


def _fresh(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """Guard: no array of the first operand is memory of the others, whose shadows would have to be its own."""
    values = [bare(av).values for av in operands]
    made, *given = ([v for v in one if isinstance(v.type, ArrayRef) and is_float(v.type)] for one in values)
    for array in made:
        for other in (v for values in given for v in values):
            cx.check(cx.e("not_", cx.e("array_overlap", array, other)), "ValueError", _VIEW)
    return []


_HELD = "cannot differentiate by closures: an array that an object held before is used where arrays are changed"


def _sought(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """The shadow of an array from a cell.  An array that was there before, or is constant, has none: zeros.

    Nobody asks for these.  Where arrays are written it may be known by other names, with which it would have to share
    its shadow.
    """
    found, mirror = operands
    assert isinstance(found.type, Array)
    if not found.type.rank:
        raise _refused(cx, "an array without axes that is stored")
    none = cx.e.boolean(False)
    for size, kept in zip(array_sizes(cx, found), array_sizes(cx, mirror), strict=True):
        none = cx.e("or_", none, cx.e("ne", size, kept))
    if cx.session.overwrites:
        cx.check(cx.e("not_", none), "ValueError", _HELD)
        return mirror
    return cx.choose(none, lambda: [_like(cx, _zeros(cx, found), mirror)], lambda: [mirror])[0]


def _copied(cx: Frame, av: AV) -> AV:
    """The value with its arrays copied."""
    if isinstance(av.type, Array):
        return copy(cx, av, rows=True) if is_tracked(av.type) else av
    return rebuilt_as(av.type, [_copied(cx, item) for item in inside(av)]) if tracks(av.type) else av


MEANINGS: Mapping[str, Callable[[Frame, Op, list[AV]], AV | list[AV]]] = {
    "py.primal": _primal, "py.shadow": _shadow, "py.shadowed": _shadowed, "py.shadows": _shadows,
    "py.increased": _increased, "py.cleared": _cleared,
    "py.numbers": lambda cx, op, operands: _numbers(cx, operands[0]),
    "py.copied": lambda cx, op, operands: _copied(cx, operands[0]),
    "py.bare": lambda cx, op, operands: bare(operands[0]), "py.fresh": _fresh, "py.sought": _sought,
}  # fmt: skip
