"""Functions with some arguments given already: bound methods, functools.partial.

    obj.method                  Closure(Application(method), (method, obj))
    partial(f, x, scale=s)      Closure(Application(f, ("scale",)), (f, x, s))

Their code is not that of a function, so whatever holds closures (tuples, fields, families) holds them too.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from pullback.infer.values import AV, items_of
from pullback.types import Builtin, Class, Closure, Type

__all__ = ["Application", "MethodOf", "Super", "apply_to", "parts"]


@dataclass(frozen=True, slots=True)
class Application:
    """The code of a function with leading arguments given, and trailing ones by these keywords.

    target: the function's own code, so that partials of one function join and recursive ones are found.
    """

    target: Hashable
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Super:
    """The code of super(): attributes of what it captures, looked up after `owner`."""

    owner: type


@dataclass(frozen=True, slots=True)
class MethodOf:
    """The code of a method of one of several classes: which function it is, is looked up when it is called."""

    name: str


def apply_to(function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV] | None = None) -> AV:
    """The function with arguments given; of a function that has some already, they come after those."""
    keywords = keywords or {}
    if isinstance(function.type, Closure) and isinstance(function.type.code, Application):
        function, first, named = parts(function)
        arguments, keywords = [*first, *arguments], {**named, **keywords}
    items = [function, *arguments, *keywords.values()]
    code = Application(_target(function.type), tuple(keywords))
    captured = tuple(item.type for item in items)
    return AV(Closure(code, captured, _name(function.type)), tuple(v for item in items for v in item.values))


def parts(function: AV) -> tuple[AV, list[AV], dict[str, AV]]:
    """The function, the arguments given by position and those given by keyword."""
    assert isinstance(function.type, Closure) and isinstance(function.type.code, Application)
    names = function.type.code.keywords
    inner, *items = items_of(function)
    count = len(items) - len(names)
    return inner, items[:count], dict(zip(names, items[count:], strict=True))


def _target(type_: Type) -> Hashable:
    return type_.code if isinstance(type_, Closure) else type_


def _name(type_: Type) -> str:
    match type_:
        case Closure(_, _, name) | Builtin(name):
            return name
        case Class(python):
            return python.__name__
    return "function"
