"""Rules on views, records and checks: what `simplify` does to ops without blocks beyond the scalar rules.

    array_size{0} (array_zeros n)              ->    n
    array_get (view_index{0} a, i), j          ->    array_get a, i, j
    view_transpose{1,0} (view_transpose{1,0} a)  ->  a
    unbox (box a, b)                           ->    a, b
    check(true)                                ->
"""

from __future__ import annotations

from pullback.ir.node import Op, Value
from pullback.passes.walker import Rule, Walker
from pullback.types import I64, ArrayRef

__all__ = ["STRUCTURE_RULES"]


def _rank(value: Value) -> int:
    assert isinstance(value.type, ArrayRef)
    return value.type.rank


def _axis(op: Op) -> int:
    axis = op.attrs["axis"]
    assert isinstance(axis, int)
    return axis


def _permutation(op: Op) -> tuple[int, ...]:
    perm = op.attrs["perm"]
    assert isinstance(perm, tuple)
    return perm


def _array_size(walker: Walker, op: Op) -> Value | None:
    """The size of an array whose shape is known where it is made."""
    array, axis = op.operands[0], _axis(op)
    maker = walker.definitions.get(array)
    if maker is None:
        return None
    name = maker.prim.name
    if name in ("array_zeros", "array_empty"):
        return maker.operands[axis]
    if name == "elementwise":
        return maker.operands[axis] if isinstance(array.type, ArrayRef) else None
    if name == "view_reshape":
        return maker.operands[1 + axis]
    if name == "view_slice" and axis == _axis(maker):
        return maker.operands[2]
    source: tuple[Value, int] | None = None
    if name in ("view_slice", "view_relax"):
        source = maker.operands[0], axis
    elif name == "view_index":
        source = maker.operands[0], axis if axis < _axis(maker) else axis + 1
    elif name == "view_transpose":
        source = maker.operands[0], _permutation(maker)[axis]
    elif name == "matmul":
        source = maker.operands[axis], axis
    elif name == "view_expand":
        if axis == _axis(maker):
            return walker.constant(1, I64)
        source = maker.operands[0], axis if axis < _axis(maker) else axis - 1
    return walker.emit("array_size", (source[0],), I64, axis=source[1]) if source is not None else None


def _element(walker: Walker, op: Op) -> Value | None:
    """Elements of views are elements of the array that is viewed.  The op is changed in place."""
    while (view := walker.definitions.get(op.operands[0])) is not None:
        array = op.operands[0]
        indices, rest = op.operands[1 : 1 + _rank(array)], op.operands[1 + _rank(array) :]
        if view.prim.name == "view_index":
            indices.insert(_axis(view), view.operands[1])
        elif view.prim.name == "view_expand":
            del indices[_axis(view)]
        elif view.prim.name == "view_transpose":
            perm = _permutation(view)
            indices = [indices[perm.index(axis)] for axis in range(len(perm))]
        elif view.prim.name != "view_relax":
            break
        op.operands = [view.operands[0], *indices, *rest]
    return None


def _transpose(walker: Walker, op: Op) -> Value | None:
    (array,), perm = op.operands, _permutation(op)
    if perm == tuple(range(len(perm))) and array.type == op.results[0].type:
        return array
    inner = walker.definition(array, "view_transpose")
    if inner is None:
        return None
    through = tuple(_permutation(inner)[axis] for axis in perm)
    source = inner.operands[0]
    if through == tuple(range(len(perm))):
        return source if source.type == op.results[0].type else None
    op.operands, op.attrs["perm"] = [source], through
    return None


def _unbox(walker: Walker, op: Op) -> Value | None:
    record = op.operands[0]
    maker = walker.definition(record, "box")
    if maker is None or maker.attrs["variant"] != op.attrs["variant"] or len(maker.operands) != len(op.results):
        return None
    walker.mapping.update(zip(op.results, maker.operands, strict=True))
    return maker.operands[0] if maker.operands else record


def _box_tag(walker: Walker, op: Op) -> Value | None:
    maker = walker.definition(op.operands[0], "box")
    if maker is None:
        return None
    variant = maker.attrs["variant"]
    assert isinstance(variant, int)
    return walker.constant(variant, I64)


def _array_same(walker: Walker, op: Op) -> Value | None:
    return walker.boolean(True) if op.operands[0] is op.operands[1] else None


def _check(walker: Walker, op: Op) -> Value | None:
    return op.operands[0] if walker.constant_of(op.operands[0]) is True else None


STRUCTURE_RULES: dict[str, Rule] = {
    "array_size": _array_size,
    "array_get": _element,
    "array_inc": _element,
    "view_transpose": _transpose,
    "unbox": _unbox,
    "box_tag": _box_tag,
    "array_same": _array_same,
    "check": _check,
}
