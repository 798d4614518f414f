"""What backpropagators do with cells of heaps: twins of tables, and where they are made (`ad.stored` says why).

    py.prim{table_inc, memory: (T, (0,))}(row, d)      ->      t = hidden{T_d0}; table_inc{column of floats} t, row, d
    py.twins{path: (0,)}()                             ->      twins{path: (0,)}

`twins` is resolved when tables become parameters (`hidden`), for then it is known which twins the backpropagators need:

    twins{path: (0,)}                                  ->      t = table{T_d0}; table_rows t, (table_length T)
    twins{path: (0, 1), zero}                          ->      for k < table_length T_d0d1: table_set{0} T_d0d1, k, 0.0
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping

from pullback.diagnostic import InternalError
from pullback.infer.engine import Branch, Frame, Specialization
from pullback.infer.heaps import Heap
from pullback.infer.values import zero
from pullback.ir.node import Block, Op, Program, Value
from pullback.prims.base import Emitter, get
from pullback.types import I64, Machine, Scalar, Table, is_float

__all__ = [
    "MEMORY", "access", "add_layouts", "cells_of", "cleared_by", "keeps_floats", "made_by", "resolve_twins",
    "stores_unnoticed", "twin_of", "twins",
]  # fmt: skip

MEMORY = frozenset({"table_get", "table_set", "table_swap", "table_inc", "table_rows", "table_length"})
_WRITES = frozenset({"table_set", "table_swap", "table_inc"})
Path = tuple[int, ...]
_TWIN = re.compile(r"(.*)_((?:d\d+)+)")  # names of heaps end in a number


def _name(heap: str, path: Path) -> str:
    return heap + "_" + "".join(f"d{level}" for level in path) if path else heap


def twin_of(name: str) -> tuple[str, Path] | None:
    """The table that a twin belongs to, and its path; None of any other table."""
    found = _TWIN.fullmatch(name)
    return None if found is None else (found[1], tuple(int(level) for level in found[2][1:].split("d")))


def _layout(columns: Iterable[Machine]) -> tuple[Machine, ...]:
    """A twin has the columns of numbers that carry derivative."""
    return tuple(column for column in columns if isinstance(column, Scalar) and is_float(column))


def _heap(cx: Frame, name: str) -> Heap:
    """The heap that had this name when the code was made: it may have become another one since."""
    for heap in cx.session.heaps.values():
        if name == heap.own_name:
            return heap.representative
    raise InternalError(f"no heap has the table {name}")


def access(cx: Frame, op: Op, operands: list[Value]) -> list[Value]:
    """An op on a table or on one of its twins."""
    memory, kind, stated = op.attrs["memory"], str(op.attrs["name"]), op.attrs["attributes"]
    assert isinstance(memory, tuple) and isinstance(stated, Mapping)
    name, path = memory
    attrs: dict[str, object] = {k: v for k, v in stated.items() if k != "type" or kind == "table_get"}
    heap, results = _heap(cx, name), op.attrs["results"]
    assert isinstance(results, tuple)
    if "column" in stated:
        column, cell = stated["column"], (*op.attrs["types"], *results)[-1]  # type: ignore[misc]
        if heap.columns[column : column + 1] != (cell,):  # code for what was known of the heap once: nobody runs it
            cx.check(cx.e.boolean(False), "SystemError", "code of a layout that is over")
            return [zero(cx.e, type_) for type_ in results]
        attrs["column"] = len(_layout(heap.columns[:column])) if path else column
    table = cx.table(_name(str(heap), path))
    made = cx.e.append(get(kind), [table, *operands], attrs=attrs, types=results)
    cx.noticed.add(made)
    return made.results


def twins(cx: Frame, op: Op) -> None:
    """py.twins: a place for `resolve_twins`."""
    cx.e.append(get("twins"), (), attrs={"path": op.attrs["path"], "zero": bool(op.attrs.get("zero"))}, types=())


def keeps_floats(cx: Frame, branch: Branch) -> bool:
    """May the code touch a table that holds numbers with derivatives, itself or in what it calls."""
    known = {spec.name: spec for spec in cx.session.order}
    pending, seen = [branch.block], set[str]()
    while pending:
        for op in pending.pop().walk():
            if op.name in MEMORY and _carries(cx, op.operands[0]):
                return True
            spec = known.get(str(op.attrs.get("callee")))
            if spec is None or spec.name in seen:
                continue
            seen.add(spec.name)
            if spec.function is None:
                return True  # it is being inferred, and may do anything
            pending.append(spec.function.body)
    return False


def stores_unnoticed(cx: Frame, block: Block) -> bool:
    """Does the code of a function with a backpropagator store numbers in a way that has none."""
    return _stores(cx, block, {spec.name: spec for spec in cx.session.order}, set())


def _stores(cx: Frame, block: Block, known: Mapping[str, Specialization], seen: set[str]) -> bool:
    for op in block.walk():
        if op.name in _WRITES and op not in cx.noticed and is_float(_machine(op.operands[2])):
            return True
        spec = known.get(str(op.attrs.get("callee")))
        if spec is None or spec.function is None or spec.code.primal is not None or spec.name in seen:
            continue
        if op in cx.noticed:
            continue
        seen.add(spec.name)
        made = bool(spec.code.untyped.attrs.get("derivative"))  # it was looked at when it was made
        if not made and _stores(cx, spec.function.body, known, seen):
            return True
    return False


def _machine(value: Value) -> Machine:
    assert value.type is not None
    return value.type


def cells_of(branch: Branch) -> tuple[Hashable, ...]:
    """Which cells of which tables the code touches: they move as more is learned of what heaps hold."""
    return tuple((op.name, op.operands[0].type, op.attrs.get("column"), *(v.type for v in op.results))
                 for op in branch.block.walk() if op.name in MEMORY)  # fmt: skip


def _carries(cx: Frame, table: Value) -> bool:
    assert isinstance(table.type, Table)
    return twin_of(table.type.name) is not None or any(map(is_float, _heap(cx, table.type.name).columns))


# -------------------------------------------------------------------------------------------------- resolution


Key = tuple[str, str]  # ("table", name)


def made_by(block: Block, key: object) -> bool:
    """Does the code make that twin."""
    path = _path(key)
    return bool(path) and any(
        op.name == "twins" and not op.attrs["zero"] and path[:1] == op.attrs["path"] for op in block.walk()
    )


def _path(key: object) -> Path:
    found = twin_of(key[1]) if isinstance(key, tuple) and key[0] == "table" else None
    return found[1] if found is not None else ()


def cleared_by(block: Block, every: Iterable[Key]) -> set[Key]:
    """The twins that the code clears."""
    paths = [op.attrs["path"] for op in block.walk() if op.name == "twins" and op.attrs["zero"]]
    return {key for key in every if any(_path(key)[: len(path)] == path for path in paths)}  # type: ignore[arg-type]


def resolve_twins(block: Block, program: Program, tables: Mapping[str, Value], made: Mapping[str, Value]) -> None:
    """Rewrite the ops `twins`.  tables: those that the function has; made: twins that it makes, to be defined here."""
    ops, block.ops = block.ops, []
    for op in ops:
        for inner in op.blocks:
            resolve_twins(inner, program, tables, made)
        if op.name != "twins":
            block.ops.append(op)
            continue
        e, path = Emitter(block, op.span), op.attrs["path"]
        assert isinstance(path, tuple)
        for name, value in (tables if op.attrs["zero"] else made).items():
            if _path(("table", name))[: len(path)] != path:
                continue
            if op.attrs["zero"]:
                _clear(e, value, program)
            else:
                block.ops.append(Op(get("table"), (), [value], {"name": name}, span=op.span))
                base = twin_of(name)
                assert base is not None
                e.op("table_rows", value, e("table_length", tables[base[0]]))


def _clear(e: Emitter, twin: Value, program: Program) -> None:
    assert isinstance(twin.type, Table)
    k = Value(I64, "k")
    body = Emitter(Block([k]), e.span)
    for column, type_ in enumerate(program.layouts[twin.type.name][0]):
        assert isinstance(type_, Scalar)
        body.op("table_set", twin, k, body.constant(0.0, type_), column=column)
    e.append(get("for"), [e("table_length", twin)], blocks=[body.block], types=[])


def add_layouts(program: Program, names: Iterable[str]) -> None:
    """The columns of the twins."""
    for name in names:
        found = twin_of(name)
        if found is not None:
            program.layouts[name] = [_layout(program.layouts[found[0]][0])]
