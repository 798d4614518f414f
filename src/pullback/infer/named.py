"""Calls with ** of a dict whose keys are known at run time only: the parameters look for their names in it.

    def f(x, scale=1.0, **rest)
    f(2.0, **d)      ->      more = d.copy()
                             f(2.0, scale=more.pop("scale") if "scale" in more else 1.0, **rest: more)
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType

from pullback.infer import lists
from pullback.infer.binding import REST, default_of
from pullback.infer.bound import Application, parts
from pullback.infer.classes import function_of, member
from pullback.infer.dicts import is_dict, make_dict, run, update
from pullback.infer.engine import Code, Frame
from pullback.infer.numbers import as_number
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.types import Class, Closure, Str

__all__ = ["spread_names"]


def spread_names(cx: Frame, function: AV, given: int, named: dict[str, AV], av: AV) -> bool:
    """Give `named` the arguments that a dict of run-time keys has; False where it is not known what is called."""
    called = _called(cx, function, given) if is_dict(av) else None
    if called is None:
        return False
    function, before = called
    assert isinstance(function.type, Closure) and isinstance(function.type.code, Code)
    parameters = function.type.code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    positional = [name for name, kind, _ in parameters if kind in ("positional", "positional_only")]
    by_name = [row for row in parameters if row[1] in ("positional", "keyword_only")]
    taken = {*positional[:before], *named}
    more = _more(cx, function, [row[0] for row in by_name], named, av)
    for name, _, has_default in by_name:
        if not cx.dead:
            _look_up(cx, function, name, more, has_default, name in taken, named)
    if cx.dead:
        return True
    if any(kind == "var_keyword" for _, kind, _ in parameters):
        named[REST] = more
    else:
        none_left = cx.e("not_", as_number(cx, HANDLERS["builtins.bool"](cx, [more], {})).value)
        cx.check(none_left, "TypeError", f"{function.type.name}() got an unexpected keyword argument")
    return True


def _called(cx: Frame, function: AV, before: int) -> tuple[AV, int] | None:
    """The function of the user that a call reaches, and how many arguments by position it gets."""
    match function.type:
        case Closure(Code()):
            return function, before
        case Closure(Application()):
            inner, first, keywords = parts(function)
            return None if keywords else _called(cx, inner, before + len(first))
        case Class(python):
            found = member(cx, python, "__init__")
            written = found is not None and isinstance(found[1], FunctionType)
            if found is None or not written or found[1].__code__.co_filename == "<string>":
                return None
            return _called(cx, function_of(cx, found[1], "__init__"), before + 1)
    return None


def _more(cx: Frame, function: AV, names: Sequence[str], named: dict[str, AV], av: AV) -> AV:
    """A new dict of what is spread, after the arguments by name that no parameter takes."""
    more = make_dict(cx, lists.key_here(cx), [])
    for name in [name for name in named if name not in names]:
        key = AV(Str(name), (), name)
        _check_once(cx, function, name, _has(cx, av, key))
        run(cx, "set_item", more, key, named.pop(name))
    update(cx, [more, av], {})
    return more


def _look_up(
    cx: Frame, function: AV, name: str, more: AV, has_default: bool, taken: bool, named: dict[str, AV]
) -> None:  # fmt: skip
    """One parameter takes its argument out of the dict."""
    key = AV(Str(name), (), name)
    there = _has(cx, more, key)
    if taken:
        _check_once(cx, function, name, there)
    elif has_default:
        (named[name],) = cx.choose(
            there, lambda: [run(cx, "pop", more, key)], lambda: [default_of(cx, function, name)]
        )  # fmt: skip
    else:
        assert isinstance(function.type, Closure)
        cx.check(there, "TypeError", f"{function.type.name}() missing 1 required positional argument: '{name}'")
        named[name] = run(cx, "pop", more, key)


def _has(cx: Frame, av: AV, key: AV) -> Value:
    found = run(cx, "contains", av, key)
    return cx.e.boolean(False) if cx.dead else as_number(cx, found).value


def _check_once(cx: Frame, function: AV, name: str, there: Value) -> None:
    assert isinstance(function.type, Closure)
    message = f"{function.type.name}() got multiple values for argument '{name}'"
    cx.check(cx.e("not_", there), "TypeError", message)
