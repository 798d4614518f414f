"""Derivatives by objects: a function of the floats in their fields stands in for the function of the objects.

    grad(loss)(p)        planted(leaves, p): put the leaves into p's fields; return loss(p)
                         g = gradient of planted by the leaves, which are what stands there already
                         the gradient: a new object like p (made before the call, so like p was then), with g for floats

Objects in results are treated the other way round: `planted` returns their floats as well.  So what is differentiated
has arguments and results of numbers and arrays only, and every rule and order applies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Code, Frame
from pullback.infer.heaps import Heap, table_of
from pullback.infer.leaves import Direct, Visit, float_columns, has_objects, is_direct
from pullback.infer.numbering import floats_below, keeps_boxes, tables_below
from pullback.infer.registry import HANDLERS
from pullback.infer.table_gradients import twin_name
from pullback.infer.values import AV, items_of, narrow
from pullback.infer.walks import Walk
from pullback.infer.wrappers import known_parameters
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import NONE, Closure, Dict, DType, List, Number, Ref, Tuple, Type, Union, rebuilt, show

__all__ = [
    "ByTables", "Lift", "Tangents", "concerned", "copied_with", "leaves_of", "lift", "lift_gradient", "merged",
    "objects_of", "packed",
]  # fmt: skip

_INT = Number(DType.I64)


def concerned(types: Sequence[Type]) -> bool:
    """Do values of these types hold objects with floats."""
    return any(map(has_objects, types)) and any(map(floats_below, types))


def _visit(cx: Frame, values: Sequence[AV]) -> Visit:
    return Direct(cx, values) if is_direct([av.type for av in values]) else Walk.begin(cx, values)


def _revisit(cx: Frame, values: Sequence[AV], key: Sequence[Value]) -> Visit:
    return Direct(cx, values) if is_direct([av.type for av in values]) else Walk(cx, values, key)


def leaves_of(cx: Frame, values: Sequence[AV]) -> AV:
    """The floats in the objects of values, and what finds their places again."""
    visit = _visit(cx, values)
    return _leaves(cx, visit)


def _leaves(cx: Frame, visit: Visit) -> AV:
    return packed([packed(visit.gather(cx)), packed([AV(_INT, (value,)) for value in visit.key])])


def objects_of(cx: Frame, values: Sequence[AV]) -> list[AV]:
    """Blank copies of values that hold objects."""
    return _visit(cx, values).copies(cx)[0]


def copied_with(cx: Frame, values: Sequence[AV], leaves: AV) -> list[AV]:
    """Copies of values whose objects have other floats."""
    made, visit = _visit(cx, values).copies(cx)
    visit.scatter(cx, items_of(items_of(leaves)[0]))
    return made


def merged(cx: Frame, copy: AV, direct: AV) -> AV:
    """A value whose objects are those of one and whose other content is that of another."""
    if copy is direct:  # nothing but objects has floats
        return copy
    if isinstance(copy.type, Union) and has_objects(copy.type):
        return dispatch(cx, [copy], lambda cx, operands: merged(cx, operands[0], _as(direct, operands[0])))
    if not has_objects(copy.type) or isinstance(copy.type, Ref) or type(copy.type) is not type(direct.type):
        return copy if has_objects(copy.type) else direct
    assert isinstance(copy.type, Tuple | List | Dict)
    parts = [merged(cx, a, b) for a, b in zip(items_of(copy), items_of(direct), strict=True)]
    return AV(rebuilt(copy.type, [part.type for part in parts]), tuple(v for part in parts for v in part.values))


def _as(av: AV, model: AV) -> AV:
    """What a union holds where another one holds the model."""
    return narrow(av, model.type) if isinstance(av.type, Union) and model.type in av.type.members else av


def packed(items: Sequence[AV]) -> AV:
    """A tuple of values."""
    return AV(Tuple(tuple(item.type for item in items)), tuple(v for item in items for v in item.values))


# --------------------------------------------------------------------------------------------------------- lifting


@dataclass(frozen=True, slots=True)
class Lift:
    """What is differentiated in place of `target(*bound)`: its first argument are the leaves of the others.

    templates: the arguments at `places`, as blank copies made before the call, and the visit of them.  returns: do
    results hold objects.
    """

    target: AV
    bound: list[AV]
    positions: list[int]
    places: list[int]
    templates: tuple[list[AV], Visit]
    returns: bool
    tables: tuple[str, ...] = ()

    def gradients(self, cx: Frame, wanted: Sequence[int], found: Sequence[AV], twins: Sequence[Value]) -> list[AV]:
        """Gradients by the arguments `wanted` of the function, from those by `positions` of what stands in for it."""
        by_position = dict(zip(self.positions, found, strict=True))
        made, visit = self.templates
        visit.scatter(cx, items_of(items_of(by_position[0])[0]))
        copies = dict(zip(self.places, made, strict=True))
        return [
            merged(cx, copies[p], by_position.get(p + 1, copies[p])) if p in copies else by_position[p + 1]
            for p in wanted
        ]


@dataclass(frozen=True, slots=True)
class ByTables:
    """Gradients by objects of any number, taken from the twins of the tables they lie in; the call stays as it is.

    positions: arguments with floats of their own.
    """

    target: AV
    bound: Sequence[AV]
    positions: list[int]
    places: list[int]
    walk: Walk
    copies: tuple[list[AV], Walk]

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(map(str, self.walk.tables()))

    def gradients(self, cx: Frame, wanted: Sequence[int], found: Sequence[AV], twins: Sequence[Value]) -> list[AV]:
        """Gradients by the arguments `wanted`, from those by `positions` and the twins of `tables`."""
        made, copy = self.copies
        self.walk.take_twins(cx, twins, copy)
        copies, direct = dict(zip(self.places, made, strict=True)), dict(zip(self.positions, found, strict=True))
        return [merged(cx, copies[p], direct.get(p, copies[p])) if p in copies else direct[p] for p in wanted]


def lift_gradient(cx: Frame, target: AV, bound: Sequence[AV], positions: Sequence[int]) -> Lift | ByTables:
    """What stands in for the call of which a gradient by objects is wanted."""
    places = _places(cx, target, bound, positions)
    values = [bound[p] for p in places]
    if is_direct([av.type for av in values]) or keeps_boxes([av.type for av in values]):
        return lift(cx, target, bound, positions)
    walk = Walk.begin(cx, values)
    direct = [p for p in positions if p not in places or float_columns(bound[p].type)]
    return ByTables(target, bound, direct, places, walk, walk.copies(cx))


class Tangents:
    """Tangents of objects of any number: twins of the tables of all objects among arguments and results."""

    def __init__(self, cx: Frame, values: Sequence[AV], tangents: Sequence[AV], result: Type) -> None:
        walk = Walk.begin(cx, values)
        self.heaps = list(dict.fromkeys([*walk.tables(), *tables_below([result])]))
        self.tables = tuple(map(str, self.heaps))
        self.twins = [_twin(cx, heap) for heap in self.heaps]
        walk.give_twins(cx, [self._twin(heap) for heap in walk.tables()], Walk.begin(cx, tangents))

    def _twin(self, heap: Heap) -> Value:
        return self.twins[self.heaps.index(heap)]

    def of_result(self, cx: Frame, result: AV) -> AV:
        """A copy of the result whose objects have the tangents of their floats."""
        walk = Walk.begin(cx, [result])
        (copy,), made = walk.copies(cx)
        walk.take_twins(cx, [self._twin(heap) for heap in walk.tables()], made)
        return copy


def _twin(cx: Frame, heap: Heap) -> Value:
    """A twin of zeros, with as many rows as the table has."""
    table = table_of(cx, heap)
    made = cx.e("table", name=twin_name(str(heap)))
    cx.e("table_rows", made, cx.e("table_length", table))
    return made


def _places(cx: Frame, target: AV, bound: Sequence[AV], positions: Sequence[int]) -> list[int]:
    """Which arguments hold objects, all of them with floats."""
    places = [p for p in positions if has_objects(bound[p].type)]
    for p in places:
        if not floats_below(bound[p].type):
            assert isinstance(target.type, Closure)
            raise cx.type_error(
                f"grad of {target.type.name}(): {show(bound[p].type)} has no float",
                "there is nothing to differentiate by", "choose another argument with argnums",
            )  # fmt: skip
    return places


def lift(cx: Frame, target: AV, bound: Sequence[AV], positions: Sequence[int], *, returns: bool = False) -> Lift:
    """Let a function of leaves stand in for a function whose arguments at some positions hold objects."""
    places = _places(cx, target, bound, positions)
    visit = _visit(cx, [bound[p] for p in places])
    templates = visit.copies(cx)
    leaves = _leaves(cx, visit)
    moved = [p + 1 for p in positions if p not in places or float_columns(bound[p].type)]
    return Lift(_planted(cx, target, tuple(places), returns), [leaves, *bound], [0, *moved], places, templates, returns)


def _planted(cx: Frame, target: AV, places: tuple[int, ...], returns: bool) -> AV:
    """A closure that captures the function, plants leaves and calls it."""
    parameters = known_parameters(target.type)
    key = ("planted", parameters, places, returns)
    code = cx.session.codes.get(key)
    if code is None:
        code = cx.session.codes[key] = Code(_planted_code([p.name for p in parameters], places, returns), {})
    assert isinstance(target.type, Closure)
    return AV(Closure(code, (target.type,), target.type.name), target.values)


def _planted_code(names: Sequence[str], places: Sequence[int], returns: bool) -> Function:
    """Untyped IR of `lambda leaves, a, b: (plant(leaves, a), function(a, b))[1]`, perhaps with the result's leaves."""
    function, leaves = Value(None, "function"), Value(None, "leaves")
    params = [Value(None, name) for name in names]
    block = Block([function, leaves, *params])
    builder = Builder(block)
    _call(builder, "pullback.plant", [leaves, *(params[p] for p in places)])
    op = builder.append_untyped(get("py.call"), [function, *params], attrs={"keywords": ()})
    result = op.result
    if returns:
        found = _call(builder, "pullback.leaves", [result])
        result = builder.append_untyped(get("py.tuple"), [result, found]).result
    block.results = [result]
    parameters = tuple((name, "positional", False) for name in ("leaves", *names))
    attrs: dict[str, object] = {"python_name": "planted", "captures": ("function",), "parameters": parameters}
    return Function("planted", block, attrs=attrs)


def _call(builder: Builder, name: str, arguments: Sequence[Value]) -> Value:
    function = builder.append_untyped(get("py.builtin"), (), attrs={"name": name}).result
    return builder.append_untyped(get("py.call"), [function, *arguments], attrs={"keywords": ()}).result


def _plant(cx: Frame, arguments: Sequence[AV], keywords: object) -> AV:
    leaves, key = items_of(arguments[0])
    _revisit(cx, arguments[1:], key.values).scatter(cx, items_of(leaves))
    return AV(NONE)


HANDLERS["pullback.plant"] = _plant
HANDLERS["pullback.leaves"] = lambda cx, arguments, keywords: leaves_of(cx, arguments)
