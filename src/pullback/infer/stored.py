"""What backpropagators do with cells of heaps: twins of tables, and where they are made (`ad.stored` says why).

    py.prim{table_inc, memory: (T, (0,))}(row, d)      ->      t = hidden{T_d0}; table_inc{column of floats} t, row, d
    py.twins{path: (0,)}()                             ->      twins{path: (0,)}
    py.prim{table_set, memory: (T, (0,))}(row, a)      ->      t = hidden{T_m0}; rows up to T's; table_set t, row, a

A mirror has columns for the arrays in T; it gets rows where they are asked for, so it is empty where it is made.
`twins` is resolved when tables become parameters (`hidden`), for then it is known which twins the backpropagators need:

    twins{path: (0,)}                                  ->      t = table{T_d0}; table_rows t, (table_length T)
    twins{path: (0, 1), zero}                          ->      for k < table_length T_d0d1: table_set{0} T_d0d1, k, 0.0
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence

from pullback.diagnostic import InternalError
from pullback.infer.engine import Branch, Frame, Specialization
from pullback.infer.heaps import Heap
from pullback.infer.values import zero
from pullback.ir.node import Block, Op, Program, Value
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, Machine, Scalar, Table, is_float

__all__ = [
    "MEMORY", "Path", "access", "add_layouts", "cell_access", "cells_of", "cleared_by", "is_mirror", "keeps_floats",
    "made_by", "resolve_twins", "stores_unnoticed", "twin_of", "twins",
]  # fmt: skip

MEMORY = frozenset({"table_get", "table_set", "table_swap", "table_inc", "table_rows", "table_length"})
_WRITES = frozenset({"table_set", "table_swap", "table_inc"})
Path = tuple[int, ...]
_TWIN = re.compile(r"(.*)_((?:d\d+)+|(?:m\d+)+)")  # names of heaps end in a number


def _name(heap: str, path: Path, letter: str) -> str:
    return heap + "_" + "".join(f"{letter}{level}" for level in path) if path else heap


def twin_of(name: str) -> tuple[str, Path] | None:
    """The table that a twin belongs to, and its path; None of any other table."""
    found = _TWIN.fullmatch(name)
    return None if found is None else (found[1], tuple(int(level) for level in re.split("[dm]", found[2])[1:]))


def is_mirror(name: str) -> bool:
    """Is it a table of shadows of arrays."""
    found = _TWIN.fullmatch(name)
    return found is not None and found[2].startswith("m")


def _layout(columns: Iterable[Machine], kind: type[Machine]) -> tuple[Machine, ...]:
    """A twin has the columns of numbers that carry derivative, a mirror those of arrays."""
    return tuple(column for column in columns if isinstance(column, kind) and is_float(column))


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
    heap, results, mirror = _heap(cx, name), op.attrs["results"], False
    assert isinstance(results, tuple)
    if "column" in stated:
        column, cell = stated["column"], (*op.attrs["types"], *results)[-1]  # type: ignore[misc]
        if heap.columns[column : column + 1] != (cell,):  # code for what was known of the heap once: nobody runs it
            cx.check(cx.e.boolean(False), "SystemError", "code of a layout that is over")
            return [zero(cx.e, type_) for type_ in results]
        attrs["column"] = len(_layout(heap.columns[:column], type(cell))) if path else column
        mirror = bool(path) and isinstance(cell, ArrayRef)
    table = cx.table(_name(str(heap), path, "m" if mirror else "d"))
    if mirror:
        _grow(cx, table, cx.table(str(heap)))
    made = cx.e.append(get(kind), [table, *operands], attrs=attrs, types=results)
    cx.noticed.add(made)
    return made.results


def cell_access(
    cx: Frame, heap: Heap, path: Path, column: int, kind: str, operands: Sequence[Value]
) -> list[Value]:
    """An op on a cell of a heap's table, or on the twin or mirror of the cell: `operands` begin with the row."""
    cell = heap.columns[column]
    mirror = bool(path) and isinstance(cell, ArrayRef)
    attrs: dict[str, object] = {"column": len(_layout(heap.columns[:column], type(cell))) if path else column}
    if kind == "table_get":
        attrs["type"] = cell
    table = cx.table(_name(str(heap), path, "m" if mirror else "d"))
    if mirror:
        _grow(cx, table, cx.table(str(heap)))
    given = [_relaxed(cx, value, cell) for value in operands]
    results = [cell] if kind in ("table_get", "table_swap") else []
    return cx.e.append(get(kind), [table, *given], attrs=attrs, types=results).results


def _relaxed(cx: Frame, value: Value, cell: Machine) -> Value:
    """An array as one of the kind that the cell is for."""
    return cx.e("view_relax", value) if isinstance(value.type, ArrayRef) and value.type != cell else value


def _grow(cx: Frame, mirror: Value, table: Value) -> None:
    """The mirror gets the rows that the table got since, with the numbers that these have."""
    has, wanted = cx.e("table_length", mirror), cx.e("table_length", table)
    missing = cx.e("select", cx.e("lt", has, wanted), cx.e("sub", wanted, has), cx.e.integer(0))
    cx.e("table_rows", mirror, missing, numbered=True)


def twins(cx: Frame, op: Op) -> None:
    """py.twins: a place for `resolve_twins`."""
    stated = {name: bool(op.attrs.get(name)) for name in ("zero", "mirrors")}
    cx.e.append(get("twins"), (), attrs={"path": op.attrs["path"], **stated}, types=())


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
    return tuple((op.name, op.attrs.get("column"), *(v.type for v in (*op.operands, *op.results)))
                 for op in branch.block.walk() if op.name in MEMORY)  # fmt: skip


def _carries(cx: Frame, table: Value) -> bool:
    assert isinstance(table.type, Table)
    return twin_of(table.type.name) is not None or any(map(is_float, _heap(cx, table.type.name).columns))


# -------------------------------------------------------------------------------------------------- resolution


Key = tuple[str, str]  # ("table", name)


def made_by(block: Block, key: object) -> bool:
    """Does the code make that twin."""
    return any(op.name == "twins" and not op.attrs["zero"] and _is_meant(op, key) for op in block.walk())


def _is_meant(op: Op, key: object) -> bool:
    """Is the twin one of those that `twins` makes or clears.  Mirrors of mirrors are made anew with these."""
    path, stated = _path(key), op.attrs["path"]
    assert isinstance(key, tuple) and isinstance(stated, tuple)
    if not path or is_mirror(key[1]) != op.attrs["mirrors"]:
        return False
    return path == stated if op.attrs["mirrors"] else path[: len(stated)] == stated


def _path(key: object) -> Path:
    found = twin_of(key[1]) if isinstance(key, tuple) and key[0] == "table" else None
    return found[1] if found is not None else ()


def cleared_by(block: Block, every: Iterable[Key]) -> set[Key]:
    """The twins that the code clears."""
    cleared = [op for op in block.walk() if op.name == "twins" and op.attrs["zero"]]
    return {key for key in every if any(_is_meant(op, key) for op in cleared)}


def resolve_twins(block: Block, program: Program, tables: Mapping[str, Value], made: Mapping[str, Value]) -> None:
    """Rewrite the ops `twins`.  tables: those that the function has; made: twins that it makes, to be defined here."""
    ops, block.ops = block.ops, []
    for op in ops:
        for inner in op.blocks:
            resolve_twins(inner, program, tables, made)
        if op.name != "twins":
            block.ops.append(op)
            continue
        e = Emitter(block, op.span)
        for name, value in (tables if op.attrs["zero"] else made).items():
            if not _is_meant(op, ("table", name)):
                continue
            if op.attrs["zero"]:
                _clear(e, value, program)
                continue
            block.ops.append(Op(get("table"), (), [value], {"name": name}, span=op.span))
            if not op.attrs["mirrors"]:
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
            kind = ArrayRef if is_mirror(name) else Scalar
            program.layouts[name] = [_layout(program.layouts[found[0]][0], kind)]
