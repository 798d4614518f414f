"""Calls that only a derivative makes where Python would look up their result (`caches`): do they just compute?

    if differentiated(key):                      if differentiated{effects}(key):
        total.append(key)              ->            total.append(key)
    else: known[key] ...                         else: known[key] ...          refused where `key` is differentiated

What a call does that lasts is known once everything is inferred: it prints, or it changes what something else has made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pullback.analysis.alias import NO_WRITES, Writes, written_parameters
from pullback.analysis.keys import refused
from pullback.infer.engine import Frame
from pullback.infer.interleaving import ARRAYS, Deeds
from pullback.infer.values import AV
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import Table

__all__ = ["note_effects", "repeats"]


def repeats(cx: Frame, allowed: Iterable[str], run: Callable[[], AV]) -> AV:
    """Make such a call, and mark what does so; `allowed`: the tables of the cache."""
    start, names = len(cx.e.block.ops), tuple(allowed)
    found = run()
    for op in cx.e.block.ops[start:]:
        op.attrs["repeated"] = names
    return found


class _Mark(NamedTuple):
    function: Function
    op: Op
    conditions: tuple[Value, ...]  # of the branches around it


def note_effects(program: Program) -> None:
    """Say at the questions which of the marked calls do more than compute.  Takes the marks off."""
    marks = [mark for function in program.functions.values() for mark in _marks(function, function.body, ())]
    allowed = {name for mark in marks for name in mark.op.attrs.pop("repeated")}  # type: ignore[attr-defined]
    writes = written_parameters(program) if marks else {}
    for mark in marks:
        if _has_effects(program, mark.op, allowed, writes):
            asked = list(_questions(mark))
            for question in asked:
                question.attrs["effects"] = True
            if not asked:
                raise refused(mark.op.span)


def _marks(function: Function, block: Block, around: tuple[Value, ...]) -> Iterator[_Mark]:
    for op in block.ops:
        if "repeated" in op.attrs:
            yield _Mark(function, op, around)
        for inner in op.blocks:
            yield from _marks(function, inner, (*around, op.operands[0]) if op.name == "if" else around)


def _questions(mark: _Mark) -> Iterator[Op]:
    """The `differentiated` ops that the innermost conditions of a marked op are made of."""
    ops = (op for op in mark.function.body.walk() if op.name in ("or_", "if", "differentiated"))
    makers = {value: op for op in ops for value in op.results}
    waiting = list(mark.conditions)
    while waiting:
        op = makers.get(waiting.pop())
        if op is not None and op.name == "differentiated":
            yield op
        elif op is not None:
            waiting += [*op.operands, *(v for block in op.blocks for v in block.results)]


def _has_effects(program: Program, op: Op, allowed: set[str], writes: dict[str, Writes]) -> bool:
    deeds = Deeds(program, allowed)
    deeds.look(op)
    reached = [program.functions[name] for name in deeds.seen]
    ops = [op, *(inner for function in reached for inner in function.body.walk())]
    if any(inner.name == "text_effect" for inner in ops):
        return True
    if ARRAYS in deeds.writes and (op.name != "call" or writes.get(str(op.attrs["callee"]), NO_WRITES).written):
        return True
    return bool(deeds.writes - {ARRAYS} & _made_elsewhere(program, deeds.seen))


def _made_elsewhere(program: Program, reached: set[str]) -> set[str]:
    """Tables with rows that come from Python, or that other functions than those have made."""
    given = program.functions[program.entry].body.params
    others = [function for name, function in program.functions.items() if name not in reached]
    made = (op.operands[0] for function in others for op in function.body.walk() if op.name == "table_rows")
    return {v.type.name for v in (*given, *made) if isinstance(v.type, Table)}
