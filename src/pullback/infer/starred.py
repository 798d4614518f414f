"""J of calls with * and **: the items of what is spread are taken one by one, and the call is an ordinary one.

    f(x, *pair, **options)      ->      def spread(f, x, pair, options):
                                            a, b = pair
                                            return f(x, a, b, scale=options["scale"])
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.infer.engine import Code, Frame
from pullback.infer.loops import iterable
from pullback.infer.made import function
from pullback.infer.shadowed import bare
from pullback.infer.stars import left_for, room
from pullback.infer.values import AV
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import get
from pullback.types import Closure, Dict, show

__all__ = ["spread"]

Items = int | tuple[str, ...]  # how many items * gives, or the keys that ** gives


def spread(cx: Frame, callee: AV, kinds: Sequence[str], values: Sequence[AV]) -> Code:
    """A function of the callee and the values that makes the call."""
    if (collected := _collected(cx, callee, kinds, values)) is not None:
        return collected
    found: list[Items] = []
    before = 0
    for number, (kind, av) in enumerate(zip(kinds, values, strict=True)):
        if kind == "**":
            found.append(_keys(cx, bare(av)))
            continue
        count = _count(cx, callee, bare(av), before, kinds[number + 1 :]) if kind == "*" else 1
        found.append(count)
        before += count if kind in ("*", "positional") else 0
    key = ("spread", tuple(kinds), tuple(found))
    code = cx.session.codes.get(key)
    if code is None:
        code = cx.session.codes[key] = Code(_calling(kinds, found), {})
    return code


def _collected(cx: Frame, callee: AV, kinds: Sequence[str], values: Sequence[AV]) -> Code | None:
    """The call of a function that takes all else by *args, with a list of run-time length at the end; else None."""
    *before, last = kinds
    if last != "*" or set(before) - {"positional"} or _known(cx, bare(values[-1])) is not None:
        return None
    if not isinstance(callee.type, Closure) or not isinstance(callee.type.code, Code):
        return None
    parameters = callee.type.code.untyped.attrs["parameters"]
    assert isinstance(parameters, tuple)
    *own, rest = parameters or ((None, "", False),)
    plain = all(kind in ("positional_only", "positional") and not default for _, kind, default in own)
    if rest[1] != "var_positional" or not plain or len(before) > len(own):
        return None
    key = ("collected", len(before), len(own))
    if key not in cx.session.codes:
        cx.session.codes[key] = Code(_collecting(len(before), len(own) - len(before)), {})
    return cx.session.codes[key]


def _collecting(before: int, more: int) -> Function:
    """def spread(f, x, xs): a, *rest = xs; f(x, a, rest), with one operand per parameter."""
    params = [Value(None, f"x{i}") for i in range(2 + before)]
    builder = Builder(Block(params))
    callee, *given, whole = params
    if more:
        attrs: dict[str, object] = {"before": more, "after": 0}
        *first, whole = builder.append_untyped(get("py.unpack_star"), [whole], attrs=attrs, results=more + 1).results
        given += first
    maker = builder.append_untyped(get("py.builtin"), (), attrs={"name": "builtins.tuple"}).result
    rest = builder.append_untyped(get("py.call"), [maker, whole], attrs={"keywords": ()}).result
    stated: dict[str, object] = {"keywords": (), "bound": True}
    result = builder.append_untyped(get("py.call"), [callee, *given, rest], attrs=stated).results
    return function("spread", params, builder, result)


def _count(cx: Frame, callee: AV, av: AV, before: int, after: Sequence[str]) -> int:
    """How many items there are; of a list of run-time length as many as the function has room for."""
    known = _known(cx, av)
    if known is not None:
        return known
    end = left_for(room(cx, callee.type), after)
    if end is None:
        raise _refused(cx, "*", av)
    return end - before


def _known(cx: Frame, av: AV) -> int | None:
    """How many items there are, where that is known."""
    known: list[int] = []

    def look() -> list[AV]:
        items = iterable(cx, av).items
        known.extend([] if items is None else [len(items)])
        return []

    cx.branch(look)
    return known[0] if known else None


def _keys(cx: Frame, av: AV) -> tuple[str, ...]:
    if not isinstance(av.type, Dict) or not all(isinstance(key, str) for key in av.type.keys):
        raise _refused(cx, "**", av)
    return tuple(map(str, av.type.keys))


def _refused(cx: Frame, star: str, av: AV) -> Exception:
    return cx.error(f"a call with {star}{show(av.type)} has no backpropagator in the formulation by closures",
                    "how many arguments this gives depends on run-time data",
                    "differentiate it in the default formulation")  # fmt: skip


def _calling(kinds: Sequence[str], found: Sequence[Items]) -> Function:
    params = [Value(None, f"x{i}") for i in range(1 + len(kinds))]
    builder = Builder(Block(params))

    def emit(name: str, operands: Sequence[Value] = (), results: int = 1, /, **attrs: object) -> list[Value]:
        return list(builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs, results=results).results)

    given: list[Value] = []
    named: list[tuple[str, Value]] = []
    for kind, items, param in zip(kinds, found, params[1:], strict=True):
        if kind == "positional":
            given.append(param)
        elif isinstance(items, tuple):
            named += [(key, emit("subscript", [param, *emit("const", value=key)])[0]) for key in items]
        elif kind == "*":
            given += emit("unpack", [param], items, count=items)
        else:
            named.append((kind[1:], param))
    operands = [params[0], *given, *(value for _, value in named)]
    result = emit("call", operands, keywords=tuple(name for name, _ in named))
    return function("spread", params, builder, result)
