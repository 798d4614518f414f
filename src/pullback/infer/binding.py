"""Arguments in the order of the parameters, as CPython binds them.

    def f(a, /, b=1, *rest, scale, **more)
    f(x, y, z, scale=s, t=t)       ->       a: x, b: y, rest: (z,), scale: s, more: {"t": t}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import FunctionType

from pullback.infer.advice import nearest
from pullback.infer.engine import Code, Frame
from pullback.infer.names import default_value
from pullback.infer.values import AV, items_of
from pullback.types import Closure, Dict, Iterator, Tuple

__all__ = ["COLLECTED", "REST", "SPREAD", "bind", "bind_to", "default_of", "pack_dict", "pack_tuple"]

Parameters = Sequence[tuple[str, str, bool]]  # name, kind, has a default
_BY_POSITION = ("positional_only", "positional")
SPREAD = "spread"
"""The kind of iterator that, as the last argument, stands for any number of them: a tuple of run-time length."""
REST = "**"
"""The name by which **kwargs are given as a whole: a dict of run-time keys."""
COLLECTED = ("var_positional", "var_keyword")


def bind(cx: Frame, function: AV, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> list[AV]:
    """The arguments of a call of a closure, one for each parameter, defaults filled in."""
    assert isinstance(function.type, Closure) and isinstance(function.type.code, Code)
    code = function.type.code
    parameters = code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    return bind_to(cx, code.name, parameters, arguments, keywords, lambda name: default_of(cx, function, name))


def bind_to(
    cx: Frame, name: str, parameters: Parameters, arguments: Sequence[AV], keywords: Mapping[str, AV],
    default: Callable[[str], AV],
) -> list[AV]:  # fmt: skip
    """Arguments for the parameters of what is called `name`; `default` gives the value of one that is left out."""
    positional = [parameter for parameter, kind, _ in parameters if kind in _BY_POSITION]
    rest = arguments[len(positional) :]
    collects = {kind: parameter for parameter, kind, _ in parameters if kind in COLLECTED}
    if rest and "var_positional" not in collects:
        _too_many(cx, name, parameters, len(arguments))
    given: dict[str, AV] = dict(zip(positional, arguments, strict=False))
    more: dict[str, AV] = {}
    named = {parameter for parameter, kind, _ in parameters if kind in ("positional", "keyword_only")}
    for keyword, av in keywords.items():
        if keyword in named and keyword in given:
            raise cx.type_error(f"{name}() got multiple values for argument '{keyword}'",
                                "given by position and by name", _signature(name, parameters))  # fmt: skip
        if keyword in named:
            given[keyword] = av
        elif keyword == REST:
            given[collects["var_keyword"]] = av
        elif "var_keyword" in collects:
            more[keyword] = av
        else:
            _unexpected(cx, name, parameters, keyword)
    _require(cx, name, parameters, given)
    if "var_positional" in collects:
        spread = len(rest) == 1 and isinstance(rest[0].type, Iterator) and rest[0].type.kind == SPREAD
        given[collects["var_positional"]] = items_of(rest[0])[0] if spread else pack_tuple(rest)
    if "var_keyword" in collects and REST not in keywords:
        given[collects["var_keyword"]] = pack_dict(more)
    return [given[parameter] if parameter in given else default(parameter) for parameter, _, _ in parameters]


def pack_tuple(items: Sequence[AV]) -> AV:
    """A tuple of the values."""
    return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))


def pack_dict(items: Mapping[str, AV]) -> AV:
    """A dict of the values."""
    type_ = Dict(tuple(items), tuple(i.type for i in items.values()))
    return AV(type_, tuple(v for i in items.values() for v in i.values))


def _too_many(cx: Frame, name: str, parameters: Parameters, count: int) -> None:
    positional = [has_default for _, kind, has_default in parameters if kind in _BY_POSITION]
    most = len(positional)
    least = most - sum(positional)
    takes = str(most) if least == most else f"from {least} to {most}"
    plural = "" if most == 1 and least == most else "s"
    were = "was" if count == 1 else "were"
    title = f"{name}() takes {takes} positional argument{plural} but {count} {were} given"
    raise cx.type_error(title, "too many arguments", _signature(name, parameters))


def _unexpected(cx: Frame, name: str, parameters: Parameters, keyword: str) -> None:
    known = [parameter for parameter, kind, _ in parameters if kind in ("positional", "keyword_only")]
    title = f"{name}() got an unexpected keyword argument '{keyword}'"
    if keyword in [parameter for parameter, kind, _ in parameters if kind == "positional_only"]:
        title = f"{name}() got some positional-only arguments passed as keyword arguments: '{keyword}'"
    help = nearest(keyword, known) or _signature(name, parameters)
    raise cx.type_error(title, "there is no parameter of this name", help)


def _require(cx: Frame, name: str, parameters: Parameters, given: Mapping[str, AV]) -> None:
    required = [p for p, kind, has_default in parameters if not has_default and kind not in COLLECTED]
    missing = [parameter for parameter in required if parameter not in given]
    if missing:
        names = " and ".join(f"'{parameter}'" for parameter in missing)
        title = f"{name}() missing required argument{'s' if len(missing) > 1 else ''}: {names}"
        raise cx.type_error(title, f"{len(given)} of {len(parameters)} given", _signature(name, parameters))


_SHOWN = {"var_positional": "*{}", "var_keyword": "**{}", "keyword_only": "{}=..."}


def _signature(name: str, parameters: Parameters) -> str:
    """How the function is called, for messages."""
    shown = [_SHOWN.get(kind, "{}=..." if has_default else "{}").format(p) for p, kind, has_default in parameters]
    return f"write {name}({', '.join(shown)})"


def default_of(cx: Frame, function: AV, name: str) -> AV:
    """A default: from the function object, or the value that a local function captured for it."""
    assert isinstance(function.type, Closure) and isinstance(function.type.code, Code)
    code = function.type.code
    python: object = code.python
    if isinstance(python, FunctionType):
        return default_value(cx, python, name)
    parameters = code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    names = [parameter for parameter, _, has_default in parameters if has_default]
    return items_of(function)[len(function.type.captured) - len(names) + names.index(name)]
