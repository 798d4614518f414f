"""jvp and vjp of functions whose arguments or results hold objects.

    jvp(f, (p,), (dp,))       the floats of dp are the tangent of the floats of p (see `planting`); the tangent of an
                              object in the result is a copy of it whose floats are their tangents
    vjp(f, p)[1](c)           as for gradients; a cotangent of an object in the result is an object like it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT, join
from pullback.infer.leaves import has_objects, is_direct
from pullback.infer.planting import Tangents, copied_with, leaves_of, lift, merged, objects_of, packed
from pullback.infer.values import AV, coerce, items_of
from pullback.infer.walks import Walk
from pullback.ir.node import Value
from pullback.types import Closure, Dict, List, Tuple, Type, rebuilt, show

__all__ = ["jvp", "likened", "pull", "vjp"]

Rule = Callable[..., AV]
Pulled = Callable[[Frame, AV, AV, tuple[str, ...]], tuple[AV, list[Value]]]  # gradients, and those by tables


def likened(cx: Frame, what: str, wanted: AV, given: AV) -> AV:
    """A tangent or cotangent, which refers to objects of the same classes as its value, in the type of that."""
    if _alike(given.type, wanted.type):  # lists from two places are of one structure, not of one type
        parts = [
            likened(cx, what, *pair) if has_objects(pair[0].type) else pair[1]
            for pair in zip(items_of(wanted), items_of(given), strict=True)
        ]
        return AV(rebuilt(given.type, tuple(part.type for part in parts)), tuple(v for p in parts for v in p.values))
    if join(given.type, wanted.type) != wanted.type:
        kind = show(wanted.type)
        raise cx.type_error(f"a {what} of {kind} cannot be {show(given.type)}", f"the {what} must be like its value",
                            f"pass {kind} objects with floats")  # fmt: skip
    return coerce(cx.e, given, wanted.type)


def _alike(given: Type, wanted: Type) -> TypeGuard[Tuple | List | Dict]:
    """Are both structures of one kind and of as many items."""
    match given, wanted:
        case (Tuple(items), Tuple(others)) | (List(items), List(others)):
            return len(items) == len(others)
        case Dict(keys), Dict(others):
            return keys == others
    return False


def jvp(cx: Frame, target: AV, bound: Sequence[AV], tangents: Sequence[AV], result: Type, rule: Rule) -> AV:
    """(value, tangent); `rule` does it for functions of numbers and arrays."""
    places = [p for p in range(len(tangents)) if has_objects(bound[p].type)]
    tangents = [likened(cx, "tangent", bound[p], t) if p in places else t for p, t in enumerate(tangents)]
    values = [bound[p] for p in places]
    if not is_direct([*(av.type for av in values), result]):
        return _jvp_by_tables(cx, target, bound, tangents, places, result, rule)
    lifted = lift(cx, target, bound, places, returns=has_objects(result))
    leaves = leaves_of(cx, [tangents[p] for p in places])
    found = rule(cx, lifted.target, lifted.bound, [leaves, *tangents])
    if cx.dead or not lifted.returns:
        return found
    value, tangent = (items_of(part) for part in items_of(found))
    (copy,) = copied_with(cx, [value[0]], tangent[1])
    return packed([value[0], merged(cx, copy, tangent[0])])


def _jvp_by_tables(
    cx: Frame, target: AV, bound: Sequence[AV], tangents: Sequence[AV], places: Sequence[int], result: Type, rule: Rule
) -> AV:
    given = Tangents(cx, [bound[p] for p in places], [tangents[p] for p in places], result)
    found = rule(cx, target, bound, tangents, given.tables, given.twins)
    if cx.dead or not has_objects(result):
        return found
    value, tangent = items_of(found)
    return packed([value, merged(cx, given.of_result(cx, value), tangent)])


def vjp(
    cx: Frame, target: AV, bound: Sequence[AV], count: int, result: Type, rule: Rule
) -> AV:
    """(value, pullback).  What the pullback needs to make gradients of the structure that the arguments had is kept
    with it: blank copies of them, and where their objects were found."""
    places = [p for p in range(count) if has_objects(bound[p].type)]
    values, returns = [bound[p] for p in places], has_objects(result)
    direct = is_direct([av.type for av in values])
    lifted = lift(cx, target, bound, places if direct else [], returns=returns) if direct or returns else None
    inner, given = (target, bound) if lifted is None else (lifted.target, lifted.bound)
    walk = None if direct else Walk.begin(cx, values)
    templates = objects_of(cx, values) if walk is None else walk.copies(cx)[0]
    tables = () if walk is None else tuple(map(str, walk.tables()))
    found = rule(cx, inner, given, count + (lifted is not None), tables)
    if cx.dead:
        return found
    out, pull = items_of(found)
    value = items_of(out)[0] if returns else out
    models = objects_of(cx, [value]) if returns else []
    key = [] if walk is None else [AV(WEAK_INT, (v,)) for v in walk.key]
    held = packed([pull, packed(templates), packed(models), packed(values), packed(key)])
    kind = Closure("pullback.by_objects", (held.type,), "pullback")
    return packed([value, AV(kind, held.values)])


def pull(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV], pulled: Pulled) -> AV:
    """The call of such a pullback: the first argument is what it keeps.  `pulled` calls a plain one."""
    subject, *given = arguments
    if len(given) != 1 or keywords:
        raise cx.type_error("a pullback takes one cotangent, of the structure of the result",
                            f"{len(given) + len(keywords)} arguments are given")  # fmt: skip
    plain, *kept = items_of(subject)
    templates, models, values, key = map(items_of, kept)
    cotangent = given[0]
    for model in models:
        cotangent = likened(cx, "cotangent", model, cotangent)
        cotangent = packed([cotangent, leaves_of(cx, [cotangent])])
    walk = Walk(cx, values, [av.value for av in key]) if key else None
    found, twins = pulled(cx, plain, cotangent, () if walk is None else tuple(map(str, walk.tables())))
    gradients = items_of(found)
    if walk is None:
        leaves, *gradients = gradients
        copies = iter(copied_with(cx, templates, leaves))
    else:
        made, copy = Walk.begin(cx, templates).copies(cx)
        walk.take_twins(cx, twins, copy)
        copies = iter(made)
        gradients = gradients[1:] if models else gradients
    return packed([merged(cx, next(copies), g) if has_objects(g.type) else g for g in gradients])
