"""Arrays with shadows: what functions with backpropagators compute with once a program writes to arrays.

    level 0        a: Array                        level 1      Shadowed(a, s)
    level 2        Shadowed(Shadowed(a, s2), Shadowed(s1, s12)): both the array and its shadow have one of level 2

In code that J made, a value that the function knew as an array is the array with its shadow, an accumulator of the same
shape.  Nothing else about a value's structure changes: tuples hold such pairs, branches merge them, closures capture
them, a view is made of both halves.  Sensitivities of elements lie in the shadow alone; as a value, an array has none.
Numbers are treated as before.  An array that the differentiated function found in a global stays a plain one: it is
constant, and to write to it is a CompileError.  What makes and reads shadows is in `shadow_ops`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pullback.infer.engine import Frame
from pullback.infer.values import AV, items_of, pair_of_shadowed
from pullback.infer.views import array_element
from pullback.ir.node import Value
from pullback.types import (
    Array,
    Closure,
    Complex,
    Dict,
    Iterator,
    List,
    Shadowed,
    Slice,
    Transformed,
    Tuple,
    Type,
    Union,
    rebuilt,
    slots,
)  # fmt: skip

__all__ = [
    "bare", "holds_shadowed", "inner_array", "inside", "inside_types", "is_tracked", "pair", "rebuilt_as",
    "shadowed_element", "stripped", "tracks", "with_array",
]  # fmt: skip


def is_tracked(type_: Type) -> bool:
    """An array whose elements may have sensitivities."""
    return isinstance(type_, Array) and type_.dtype.is_float


def tracks(type_: Type) -> bool:
    """Is there such an array in the structure, with a shadow or without."""
    return is_tracked(type_) or isinstance(type_, Shadowed) or any(map(tracks, inside_types(type_)))


def holds_shadowed(type_: Type) -> bool:
    """Is there an array with a shadow in the structure."""
    return isinstance(type_, Shadowed) or any(map(holds_shadowed, inside_types(type_)))


def inside_types(type_: Type) -> Sequence[Type]:
    """The types that a structure is made of."""
    match type_:
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items) | Closure(_, items, _) | Union(items):
            return items
        case Slice(parts):
            return parts
        case Transformed(_, function, _):
            return (function,)
        case Complex(real, imag):
            return (real, imag)
    return ()


def inside(av: AV) -> list[AV]:
    """The values that a structure, no union, is made of."""
    match av.type:
        case Transformed(_, function, _):
            return [AV(function, av.values)]
        case Complex(real, imag):
            half = len(slots(real))
            return [AV(real, av.values[:half]), AV(imag, av.values[half:])]
    return items_of(av)


def rebuilt_as(type_: Type, items: Sequence[AV]) -> AV:
    """A structure like that of the type, of other items."""
    types, values = tuple(item.type for item in items), tuple(v for item in items for v in item.values)
    match type_:
        case Tuple() | List() | Dict():
            return AV(rebuilt(type_, types), values)
        case Closure():
            return AV(replace(type_, captured=types), values)
        case Iterator() | Slice():
            return AV(replace(type_, parts=types), values)  # type: ignore[arg-type]
        case Transformed():
            return AV(replace(type_, function=types[0]), values)
        case Complex():
            return AV(Complex(*types), values)
    raise AssertionError(type_)


def pair(primal: AV, shadow: AV) -> AV:
    """The array with its shadow."""
    return AV(Shadowed(primal.type, shadow.type), (*primal.values, *shadow.values))


def inner_array(type_: Type) -> Array:
    """What the array is without its shadows."""
    while isinstance(type_, Shadowed):
        type_ = type_.primal
    assert isinstance(type_, Array)
    return type_


def with_array(type_: Type, array: Array) -> Type:
    """The same array, with its shadows, of which more is known."""
    if isinstance(type_, Shadowed):
        return Shadowed(with_array(type_.primal, array), with_array(type_.shadow, array))
    return array


def _mapped(av: AV, rule: Callable[[AV], AV]) -> AV:
    """The structure with another array in place of each one that has a shadow."""
    if isinstance(av.type, Shadowed):
        return rule(av)
    if not holds_shadowed(av.type) or isinstance(av.type, Union):
        return av
    return rebuilt_as(av.type, [_mapped(item, rule) for item in inside(av)])


def stripped(av: AV, levels: int) -> AV:
    """The value as the code so many levels below knows it.  Unions are left as they are."""
    for _ in range(levels):
        av = _mapped(av, lambda array: pair_of_shadowed(array)[0])
    return av


def bare(av: AV) -> AV:
    """The value without any shadow."""
    while (below := stripped(av, 1)).type != av.type:
        av = below
    return av


def shadowed_element(cx: Frame, av: AV, k: Value) -> AV:
    """An element, or a row with its shadow."""
    if inner_array(av.type).rank == 1:
        return array_element(cx, bare(av), k)
    if not isinstance(av.type, Shadowed):
        return array_element(cx, av, k)
    primal, shadow = pair_of_shadowed(av)
    return pair(shadowed_element(cx, primal, k), shadowed_element(cx, shadow, k))
