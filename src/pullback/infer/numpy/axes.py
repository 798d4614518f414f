"""Axes moved, taken away, put in, reversed and broadcast: views, as far as compiled code has them.

    np.moveaxis(a, 0, -1)          view_transpose
    np.flip(a, 1)                  view_slice with the step -1
    np.squeeze(a)                  view_index of the axes whose size is known to be 1
    np.broadcast_to(a, (3, n))     a read-only copy; refused where a write to `a` would tell it from a view
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pullback.infer.binding import pack_tuple
from pullback.infer.binding import pack_tuple as pack
from pullback.infer.creation import arguments_of, array_like, sizes_of
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, shape_text
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.literals import literal
from pullback.infer.numpy.shapes import axis_of
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.static import static_int, static_items
from pullback.infer.values import AV
from pullback.infer.views import array_of, integer
from pullback.ir.node import Value
from pullback.types import Array, DType, List, NoneType, Ref, Tuple, show

__all__ = [
    "Rule", "axes_of", "broadcasted", "common_shape", "expanded", "flipped", "is_none", "known_int", "moved",
    "moved_axis", "of_array", "pack", "part", "raised", "rank_of", "several", "spread",
]  # fmt: skip

Rule = Callable[[Frame, AV, Mapping[str, AV]], AV]


def of_array(name: str, names: Sequence[str], rule: Rule) -> Handler:
    """A handler of a function whose first argument is an array or what NumPy makes one of; the others by name."""

    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = arguments_of(cx, name, names, given, keywords)

        def each(cx: Frame, operands: Sequence[AV]) -> AV:
            arguments = found.replaced(operands)
            return rule(cx, array_like(cx, arguments[names[0]]), arguments)

        return dispatch(cx, list(found.values()), each)

    return handler


def is_none(found: Mapping[str, AV], name: str) -> bool:
    """Is an argument absent or None."""
    return name not in found or isinstance(found[name].type, NoneType)


def known_int(cx: Frame, found: Mapping[str, AV], name: str, default: int) -> int:
    """An int argument that must be known while compiling."""
    return static_int(cx, found[name], name) if name in found else default


def axes_of(cx: Frame, av: AV, rank: int) -> list[int]:
    """One axis or a tuple of them, counted from the start; none twice."""
    axes = [axis_of(cx, part, rank) for part in several(cx, av, "axes")]
    if len(set(axes)) != len(axes):
        raise cx.error("repeated axis", show(av.type), raised=("ValueError", "repeated axis"))
    return axes


def several(cx: Frame, av: AV, what: str) -> list[AV]:
    """The items of a tuple or list; a number stands for itself."""
    return static_items(cx, av, what) if isinstance(av.type, Tuple | List | Ref) else [av]


def rank_of(av: AV) -> int:
    """How many axes an array has."""
    assert isinstance(av.type, Array)
    return av.type.rank


# ------------------------------------------------------------------------------------------------------ permuted


def moved(cx: Frame, av: AV, perm: Sequence[int]) -> AV:
    """The view whose axis k is axis perm[k] of the array."""
    assert isinstance(av.type, Array)
    if list(perm) == list(range(av.type.rank)):
        return av
    ones = [av.type.is_one(axis) for axis in perm]
    return array_of(cx.e("view_transpose", av.value, perm=tuple(perm)), av.type, ones, perm=perm)


def moved_axis(cx: Frame, av: AV, source: int, target: int) -> AV:
    """The view with one axis at another place, the others in their order."""
    order = [axis for axis in range(rank_of(av)) if axis != source]
    order.insert(target, source)
    return moved(cx, av, order)


def _moveaxis(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    rank = rank_of(av)
    sources, targets = axes_of(cx, found["source"], rank), axes_of(cx, found["destination"], rank)
    if len(sources) != len(targets):
        title = "`source` and `destination` arguments must have the same number of elements"
        raise cx.error(title, f"{len(sources)} and {len(targets)}", raised=("ValueError", title))
    order = [axis for axis in range(rank) if axis not in sources]
    for target, source in sorted(zip(targets, sources, strict=True)):
        order.insert(target, source)
    return moved(cx, av, order)


def _swapaxes(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    rank = rank_of(av)
    first, second = axis_of(cx, found["axis1"], rank), axis_of(cx, found["axis2"], rank)
    perm = list(range(rank))
    perm[first], perm[second] = second, first
    return moved(cx, av, perm)


def _matrix_transpose(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    rank = rank_of(av)
    if rank < 2:
        title = f"Input array must be at least 2-dimensional, but it is {rank}"
        raise cx.error(title, show(av.type), raised=("ValueError", title))
    return moved(cx, av, [*range(rank - 2), rank - 1, rank - 2])


# ------------------------------------------------------------------------------------------------- put in, taken away


def expanded(cx: Frame, av: AV, axis: int) -> AV:
    """The view with a new axis of size 1."""
    assert isinstance(av.type, Array)
    ones = [av.type.is_one(k) for k in range(av.type.rank)]
    ones.insert(axis, True)
    return array_of(cx.e("view_expand", av.value, axis=axis), av.type, ones)


def _expand_dims(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    count = len(several(cx, found["axis"], "axes"))
    for place in sorted(axes_of(cx, found["axis"], rank_of(av) + count)):
        av = expanded(cx, av, place)
    return av


def _squeeze(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    assert isinstance(av.type, Array)
    if not is_none(found, "axis"):
        axes = axes_of(cx, found["axis"], av.type.rank)
        message = "cannot select an axis to squeeze out which has size not equal to one"
        for axis in axes:
            size = cx.e("array_size", av.value, axis=axis)
            cx.check(cx.e("eq", size, cx.e.integer(1)), "ValueError", message)
    else:
        known = [av.type.is_one(axis) for axis in range(av.type.rank)]
        if None in known:
            label = f"whether axis {known.index(None)} has size 1 is known only at run time"
            raise cx.error("np.squeeze needs an axis here", label, "write the axes: np.squeeze(a, axis=...)")
        axes = [axis for axis, one in enumerate(known) if one]
    for axis in sorted(axes, reverse=True):
        av = part(cx, av, axis)
    return av


def part(cx: Frame, av: AV, axis: int) -> AV:
    """The view of index 0 along an axis."""
    assert isinstance(av.type, Array)
    ones = [av.type.is_one(k) for k in range(av.type.rank) if k != axis]
    return array_of(cx.e("view_index", av.value, cx.e.integer(0), axis=axis), av.type, ones)


def raised(cx: Frame, av: AV, rank: int) -> AV:
    """np.atleast_1d, 2d, 3d: axes of size 1 where NumPy puts them."""
    if rank_of(av) == 0:
        av = expanded(cx, av, 0)
    if rank > 1 and rank_of(av) == 1:
        av = expanded(cx, av, 0)
    if rank > 2 and rank_of(av) == 2:
        av = expanded(cx, av, 2)
    return av


def _at_least(rank: int) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        arguments_of(cx, f"numpy.atleast_{rank}d", (), (), keywords)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            found = [raised(cx, array_like(cx, av), rank) for av in operands]
            return found[0] if len(found) == 1 else pack_tuple(found)

        return dispatch(cx, given, rule)

    return handler


# ------------------------------------------------------------------------------------------------------ reversed


def flipped(cx: Frame, av: AV, axis: int) -> AV:
    """The view with an axis read from its end."""
    assert isinstance(av.type, Array)
    size = cx.e("array_size", av.value, axis=axis)
    last, step = cx.e("sub", size, cx.e.integer(1)), cx.e.integer(-1)
    return array_of(cx.e("view_slice", av.value, last, size, step, axis=axis, unit=False), av.type, av.type.ones)


def _flip(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    axes = range(rank_of(av)) if is_none(found, "axis") else axes_of(cx, found["axis"], rank_of(av))
    for axis in axes:
        av = flipped(cx, av, axis)
    return av


def _flip_axis(axis: int, name: str) -> Rule:
    def rule(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
        if rank_of(av) <= axis:
            title = f"Input must be >= {axis + 1}-d."
            raise cx.error(title, show(av.type), raised=("ValueError", title))
        return flipped(cx, av, axis)

    return rule


def _rot90(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    turns = known_int(cx, found, "k", 1) % 4
    axes = axes_of(cx, found["axes"], rank_of(av)) if "axes" in found else [0, 1]
    if len(axes) != 2 or rank_of(av) < 2:
        raise cx.error("np.rot90 turns an array of at least two axes in a plane of two", show(av.type))
    first, second = axes
    perm = list(range(rank_of(av)))
    perm[first], perm[second] = second, first
    if turns == 0:
        return moved(cx, av, range(rank_of(av)))
    if turns == 2:
        return flipped(cx, flipped(cx, av, first), second)
    if turns == 1:
        return moved(cx, flipped(cx, av, second), perm)
    return flipped(cx, moved(cx, av, perm), second)


# ------------------------------------------------------------------------------------------------------ diagonals


def _diagonal(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    """A read-only view: what lies off the diagonal is sliced off, the two axes stand last."""
    assert isinstance(av.type, Array)
    rank = av.type.rank
    if rank < 2:
        title = "diag requires an array of at least two dimensions"
        raise cx.error(title, show(av.type), raised=("ValueError", title))
    first = axis_of(cx, found["axis1"], rank) if "axis1" in found else 0
    second = axis_of(cx, found["axis2"], rank) if "axis2" in found else 1
    if first == second:
        title = "axis1 and axis2 cannot be the same"
        raise cx.error(title, show(av.type), raised=("ValueError", title))
    if "offset" in found and cx.literal_of(found["offset"]) != 0:
        offset, zero = integer(cx, found["offset"]), cx.e.integer(0)
        av = _from(cx, av, first, cx.e("maximum", cx.e("neg", offset), zero))
        av = _from(cx, av, second, cx.e("maximum", offset, zero))
    others = [axis for axis in range(rank) if axis not in (first, second)]
    turned = moved(cx, av, [*others, first, second])
    assert isinstance(turned.type, Array)
    view = cx.e("view_diagonal", turned.value)
    return array_of(view, replace(turned.type, readonly=True, rows=False, columns=False))


def _from(cx: Frame, av: AV, axis: int, start: Value) -> AV:
    """The view from an index on, which may be the end or beyond."""
    assert isinstance(av.type, Array)
    size = cx.e("array_size", av.value, axis=axis)
    begin = cx.e("minimum", start, size)
    left = cx.e("sub", size, begin)
    return array_of(cx.e("view_slice", av.value, begin, left, cx.e.integer(1), axis=axis, unit=True), av.type)


# ------------------------------------------------------------------------------------------------------ broadcast


def spread(cx: Frame, av: AV, sizes: Sequence[Value]) -> AV:
    """The array broadcast to sizes that it fits: a read-only copy, of which no write may tell that it is one."""
    assert isinstance(av.type, Array)
    attrs: dict[str, object] = {"whole": True, "foreign": False, "readonly": True, "spread": True}
    taken = cx.e("view_relax", cx.e("reshape", av.value, *sizes, **attrs))
    return array_of(taken, replace(av.type, readonly=True, rows=False, columns=False, foreign=False))


def broadcasted(cx: Frame, av: AV, sizes: Sequence[Value]) -> AV:
    """np.broadcast_to: `spread`, after a check that it fits."""
    own = array_sizes(cx, av)
    if len(own) > len(sizes):
        title = "input operand has more dimensions than allowed by the axis remapping"
        raise cx.error(title, show(av.type), raised=("ValueError", title))
    message = ("operands could not be broadcast together with remapped shapes [original->remapped]: "
               f"{shape_text(0, len(own))}  and requested shape {shape_text(len(own), len(sizes))}")  # fmt: skip
    for size, wanted in zip(own, sizes[len(sizes) - len(own) :], strict=True):
        fits = cx.e("or_", cx.e("eq", size, wanted), cx.e("eq", size, cx.e.integer(1)))
        cx.check(fits, "ValueError", message, *own, *sizes, shapes=True)
    return spread(cx, av, sizes)


def _broadcast_to(cx: Frame, av: AV, found: Mapping[str, AV]) -> AV:
    return broadcasted(cx, av, sizes_of(cx, found["shape"], DType.BOOL))


def _broadcast_arrays(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    arguments_of(cx, "numpy.broadcast_arrays", (), (), keywords)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        arrays = [array_like(cx, av) for av in operands]
        shape = common_shape(cx, [array_sizes(cx, av) for av in arrays])
        return pack_tuple([spread(cx, av, shape) for av in arrays])

    return dispatch(cx, given, rule)


def _broadcast_shapes(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    arguments_of(cx, "numpy.broadcast_shapes", (), (), keywords)
    shapes = [several(cx, av, "a shape") for av in given]
    sizes = common_shape(cx, [[integer(cx, size) for size in shape] for shape in shapes])
    return pack_tuple([AV(WEAK_INT, (size,)) for size in sizes])


def common_shape(cx: Frame, shapes: Sequence[Sequence[Value]]) -> list[Value]:
    """What shapes broadcast to; a ValueError names the first two that do not fit."""
    rank = max(map(len, shapes), default=0)
    e, result = cx.e, list[Value]()
    for axis in range(-rank, 0):
        common: Value | None = None
        for number, shape in enumerate(shapes):
            if len(shape) < -axis:
                continue
            for other in range(number):
                if len(shapes[other]) >= -axis:
                    _require_fit(cx, shapes, other, number, axis)
            size = shape[axis]
            common = size if common is None else e("select", e("eq", common, e.integer(1)), size, common)
        assert common is not None
        result.append(common)
    return result


def _require_fit(cx: Frame, shapes: Sequence[Sequence[Value]], first: int, second: int, axis: int) -> None:
    e, m, n = cx.e, shapes[first][axis], shapes[second][axis]
    if m is n:
        return
    one, before, after = e.integer(1), len(shapes[first]), len(shapes[second])
    fits = e("or_", e("eq", m, n), e("or_", e("eq", m, one), e("eq", n, one)))
    message = (f"shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg {first} with "
               f"shape {_tuple_text(0, before)} and arg {second} with shape {_tuple_text(before, after)}.")  # fmt: skip
    cx.check(fits, "ValueError", message, *shapes[first], *shapes[second], shapes=True)


def _tuple_text(first: int, rank: int) -> str:
    """As `shape_text`, the way Python shows tuples."""
    return shape_text(first, rank).replace(",{", ", {")


def _functions() -> dict[str, Handler]:
    rows: dict[str, tuple[tuple[str, ...], Rule]] = {
        "moveaxis": (("a", "source", "destination"), _moveaxis), "swapaxes": (("a", "axis1", "axis2"), _swapaxes),
        "matrix_transpose": (("x",), _matrix_transpose),
        "expand_dims": (("a", "axis"), _expand_dims), "squeeze": (("a", "axis"), _squeeze),
        "flip": (("m", "axis"), _flip), "flipud": (("m",), _flip_axis(0, "flipud")),
        "fliplr": (("m",), _flip_axis(1, "fliplr")), "rot90": (("m", "k", "axes"), _rot90),
        "diagonal": (("a", "offset", "axis1", "axis2"), _diagonal), "broadcast_to": (("array", "shape"), _broadcast_to),
    }  # fmt: skip
    return {f"numpy.{name}": of_array(f"numpy.{name}", *row) for name, row in rows.items()}


def _axis(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """axis_of(axis, rank), for the prelude."""
    axis, rank = given
    return literal(cx, axis_of(cx, axis, static_int(cx, rank, "the rank")))


HANDLERS.update(_functions())
HANDLERS["pullback.axis_of"] = _axis
HANDLERS.update({f"numpy.atleast_{rank}d": _at_least(rank) for rank in (1, 2, 3)})
HANDLERS.update({"numpy.broadcast_arrays": _broadcast_arrays, "numpy.broadcast_shapes": _broadcast_shapes})
