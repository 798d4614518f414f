"""Lists, dicts and sets of run-time size as text: what str(), repr(), print and f-strings show of them.

    f"{xs}"          call(pullback.items_text, xs, "[", "]")
    str({1: x})      call(pullback.pairs_text, d.items(), "{", "}")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.calls import call
from pullback.infer.engine import Frame
from pullback.infer.heaps import kind_of
from pullback.infer.lists import length
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV
from pullback.runtime.boundary import RECORDS
from pullback.types import Str

__all__: list[str] = []


def _repr(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """repr() of a container in a heap."""
    (av,) = arguments
    kind = kind_of(av.type)
    if kind in ("list", "deque"):
        return _items(cx, av, *("[]" if kind == "list" else ("deque([", "])")))
    if kind == "tuple":
        one = cx.e("eq", length(cx, av), cx.e.integer(1))
        (text,) = cx.choose(one, lambda: [_items(cx, av, "(", ",)")], lambda: [_items(cx, av, "(", ")")])
        return text
    if kind in RECORDS:
        return _items(cx, av, "(", ",)" if kind == "record1" else ")")
    if kind == "dict":
        return _items(cx, HANDLERS["dict.items"](cx, [av], {}), "{", "}", "pullback.pairs_text")
    some = cx.e("gt", HANDLERS["builtins.len"](cx, [av], {}).value, cx.e.integer(0))
    opening, closing = ("{", "}") if kind == "set" else ("frozenset({", "})")
    empty = AV(Str(f"{kind}()"), (), f"{kind}()")
    (text,) = cx.choose(some, lambda: [_items(cx, av, opening, closing)], lambda: [empty])
    return text


def _items(cx: Frame, av: AV, opening: str, closing: str, name: str = "pullback.items_text") -> AV:
    ends = [AV(Str(text), (), text) for text in (opening, closing)]
    return call(cx, prelude(cx, name), [av, *ends], {})


for _kind in ("list", "deque", "tuple", "dict", "set", "frozenset", *RECORDS):
    HANDLERS[f"{_kind}.__repr__"] = _repr
