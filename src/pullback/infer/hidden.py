"""Hidden inputs become parameters: every function that reads one, or calls a function that does, takes it last.

    f(x): lr = hidden{lr}; x * lr      ->      f(x, lr): x * lr       and every call of f passes lr on

Tables are hidden inputs as well, with the key ("table", name), but the entry makes them itself:

    entry(x): f(x)                     ->      entry(x): t = table{name}; f(x, t)

So do functions with a derivative rule, and those of the rule, with tables of which nothing comes in from outside: a
rule knows nothing of derivatives through memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from pullback.diagnostic import CompileError, Diagnostic, InternalError
from pullback.infer.stored import add_layouts, cleared_by, is_mirror, made_by, resolve_twins, twin_of
from pullback.infer.table_gradients import Tables, resolve
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.rule import mentioned_by_rule
from pullback.ir.walk import substitute
from pullback.prims.base import Emitter
from pullback.types import Machine, Table

__all__ = ["Outside", "thread_hidden"]

Key = tuple[object, int]  # (where, number of the slot)


def thread_hidden(
    program: Program, order: Mapping[Any, tuple[Machine, ...]], passed: Collection[str] = (),
    outside: Outside | None = None,
) -> set[str]:  # fmt: skip
    """Replace `hidden` ops by parameters; the entry takes all of `order`, slot by slot, and then the tables named in
    `passed` that it needs.  The names of these."""
    outside = outside or Outside({}, {})
    inside = _transitive(program, outside)
    needs = {name: outside.taken(name, needed) for name, needed in inside.items()}
    tables = [where for needed in inside.values() for where in needed if _is_table(where)]
    add_layouts(program, [where[1] for where in tables])
    order = {**order, **{where: (Table(where[1]),) for where in sorted(set(tables))}}
    every = [(where, i) for where, machine in order.items() for i in range(len(machine))]
    taken: set[str] = set()
    counts = {name: len(function.body.params) for name, function in program.functions.items()}

    def place(callee: str, name: str) -> int | None:
        """Which parameter of a function a table is."""
        found = [key[0] for key in every if key[0] in needs[callee]]
        return counts[callee] + found.index(("table", name)) if ("table", name) in found else None

    for name, function in program.functions.items():
        entry = name == program.entry
        wanted = [key for key in every if key[0] in needs[name] or (entry and not _is_table(key[0]))]
        made = [key for key in every if not entry and key[0] in inside[name] - needs[name]]
        _rewrite(function, wanted, made, order, needs, every, Tables(program, {}, place))
        if entry:
            taken = _make_tables(function, [key for key in wanted if _is_table(key[0])], passed)
    return taken


def _is_table(where: object) -> TypeGuard[tuple[str, str]]:
    return isinstance(where, tuple) and len(where) == 2 and where[0] == "table"


def _make_tables(entry: Function, keys: list[Key], passed: Collection[str]) -> set[str]:
    """The last parameters, which are tables, become tables that the entry makes, except those that are passed."""
    body, e = entry.body, Emitter(Block(), entry.span)
    params = body.params[len(body.params) - len(keys) :]
    del body.params[len(body.params) - len(keys) :]
    made: dict[Value, Value] = {}
    taken: set[str] = set()
    for param, (where, _) in zip(params, keys, strict=True):
        assert _is_table(where)
        name = where[1]
        if is_mirror(name):  # only the call that made the pullback has it
            title = "a pullback by objects with arrays, called inside, has no pullback in the formulation by closures"
            why, help = "this cannot be differentiated by closures", "differentiate it in the default formulation"
            raise CompileError(Diagnostic(title, entry.span, why, help))
        if twin_of(name) is not None:
            raise InternalError(f"nothing makes the twin {name}")
        if name in passed:
            body.params.append(param)
            taken.add(name)
        else:
            made[param] = e("table", name=name)
    substitute(body, made)
    body.ops[:0] = e.block.ops
    return taken


def _callees(block: Block) -> list[Op]:
    return [op for op in block.walk() if "callee" in op.attrs]


@dataclass(frozen=True, slots=True)
class Outside:
    """What functions with a derivative rule, and those of the rule, may know of memory outside.

    given: by function, the names of tables that its arguments may lie in.  behind: those that hidden inputs lie in.
    """

    given: Mapping[str, Collection[str]]
    behind: Mapping[object, Collection[str]]

    def taken(self, name: str, needed: set[object]) -> set[object]:
        """What of all that a function needs its callers pass; other tables it makes itself."""
        if name not in self.given:
            return needed
        known = {table for where in needed for table in self.behind.get(where, ())}.union(self.given[name])
        return {
            where for where in needed if not _is_table(where) or where[1] in known or twin_of(where[1]) is not None
        }  # fmt: skip


def _transitive(program: Program, outside: Outside) -> dict[str, set[object]]:
    needs: dict[str, set[object]] = {}
    calls: dict[str, set[str]] = {}
    for name, function in program.functions.items():
        needs[name] = {op.attrs["key"] for op in function.body.walk() if op.name == "hidden"}
        calls[name] = {str(op.attrs["callee"]) for op in _callees(function.body)}
    twins = {where for needed in needs.values() for where in needed if _is_table(where) and twin_of(where[1])}
    for name, function in program.functions.items():
        needs[name] |= cleared_by(function.body, twins)
    changed = True
    while changed:
        changed = _share(program, needs)
        for name, callees in calls.items():
            before = len(needs[name])
            for callee in callees:
                for where in outside.taken(callee, needs.get(callee, set())):
                    needs[name].add(_base(where) if made_by(program.functions[name].body, where) else where)
            changed = changed or len(needs[name]) != before
    return needs


def _share(program: Program, needs: dict[str, set[object]]) -> bool:
    """A function and those of its derivative rule take the same; has that changed what any of them needs."""
    changed = False
    for name, function in program.functions.items():
        group = [name, *mentioned_by_rule(function)]
        every = set[object]().union(*(needs[member] for member in group))
        for member in group:
            changed = changed or needs[member] != every
            needs[member] = set(every)
    return changed


def _base(where: object) -> object:
    """The table of which a twin is made."""
    assert _is_table(where)
    found = twin_of(where[1])
    assert found is not None
    return "table", found[0]


def _rewrite(
    function: Function, wanted: list[Key], own_tables: list[Key], order: Mapping[object, tuple[Machine, ...]],
    needs: Mapping[str, set[object]], every: list[Key], tables: Tables,
) -> None:  # fmt: skip
    taken = [Value(order[key[0]][key[1]], "hidden") for key in wanted]
    start = Emitter(Block(), function.span)
    new = [start("table", name=key[0][1]) for key in own_tables if _is_table(key[0])]
    params = dict(zip([*wanted, *own_tables], [*taken, *new], strict=True))
    mapping: dict[Value, Value] = {}
    _strip(function.body, params, mapping)
    made: dict[Key, Value] = {}
    for op in _callees(function.body):
        callee = str(op.attrs["callee"])
        passed_on = [key for key in every if key[0] in needs[callee]]
        for key in passed_on:
            if key not in params and key not in made:
                made[key] = Value(order[key[0]][key[1]], "twin")
        extra = [params[key] if key in params else made[key] for key in passed_on]
        if extra and op.name != "pullback":
            position = _arguments(op)
            op.operands[position:position] = extra
    own = {key[0][1]: value for key, value in params.items() if _is_table(key[0])}
    twins = {key[0][1]: value for key, value in made.items() if _is_table(key[0])}
    resolve_twins(function.body, tables.program, own, twins)
    resolve(function.body, replace(tables, own=own), mapping)
    substitute(function.body, mapping)
    function.body.params += taken
    function.body.ops[:0] = start.block.ops


def _arguments(op: Op) -> int:
    """How many operands are arguments of the callee (tangents or cotangents may come after them)."""
    outputs = op.attrs.get("outputs")
    if op.attrs.get("seeded") and isinstance(outputs, tuple):
        return len(op.operands) - len(outputs)
    if op.name != "jvp":
        return len(op.operands)
    wrt, twins = op.attrs["wrt"], op.attrs.get("tables", ())
    assert isinstance(wrt, tuple) and isinstance(twins, tuple)
    return len(op.operands) - len(wrt) - len(twins)


def _strip(block: Block, params: Mapping[Key, Value], mapping: dict[Value, Value]) -> None:
    kept: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            _strip(inner, params, mapping)
        if op.name == "hidden":
            for i, value in enumerate(op.results):
                mapping[value] = params[op.attrs["key"], i]
        else:
            kept.append(op)
    block.ops = kept
