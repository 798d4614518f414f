"""Derivatives by whole tables: which operand of a request a table is, is known once tables are parameters.

    v, t' = value_and_grad{wrt: (), tables: (T)}(x)      ->      v, t' = value_and_grad{wrt: (1)}(x, t)
    v, dv = jvp{wrt: (), tables: (T)}(x, t')             ->      v, dv = jvp{wrt: (1)}(x, t, t')

The tangent of a table is its twin as well.  The gradient by a table is its twin: the same rows, of what carries
derivatives.  A function that does not use the table has a gradient of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pullback.ir.node import Block, Op, Program, Value
from pullback.prims.base import Emitter
from pullback.types import Machine, is_float

__all__ = ["Tables", "resolve", "twin_layout", "twin_name"]


def twin_name(name: str) -> str:
    """The name of the twin of a table."""
    return name + "'"


def twin_layout(columns: tuple[Machine, ...]) -> tuple[Machine, ...]:
    """The columns of a twin."""
    return tuple(column for column in columns if is_float(column))


@dataclass(frozen=True, slots=True)
class Tables:
    """What is known when the requests of a function are rewritten: its tables by name, and which parameter of a callee
    a table is (None: it does not use the table)."""

    program: Program
    own: Mapping[str, Value]
    place: Callable[[str, str], int | None]


def resolve(block: Block, tables: Tables, mapping: dict[Value, Value]) -> None:
    """Rewrite the requests in a block; `mapping` gets what replaces results."""
    ops, block.ops = block.ops, []
    for op in ops:
        for inner in op.blocks:
            resolve(inner, tables, mapping)
        names = op.attrs.pop("tables", ())
        assert isinstance(names, tuple)
        if names:
            _request(op, names, Emitter(block, op.span), tables, mapping)
        block.ops.append(op)


def _request(op: Op, names: tuple[str, ...], e: Emitter, tables: Tables, mapping: dict[Value, Value]) -> None:
    layouts, wrt = tables.program.layouts, op.attrs["wrt"]
    assert isinstance(wrt, tuple)
    for name in names:
        layouts[twin_name(name)] = [twin_layout(tuple(layouts[name][0]))]
    places = [tables.place(str(op.attrs["callee"]), name) for name in names]
    op.attrs["wrt"] = (*wrt, *(place for place in places if place is not None))
    if op.name == "jvp":  # the last operands are the tangents of tables
        first = len(op.operands) - len(names)
        op.operands[first:] = [v for v, place in zip(op.operands[first:], places, strict=True) if place is not None]
    elif op.name != "vjp":  # the last results are the gradients by tables
        results = op.results[len(op.results) - len(names) :]
        for name, result, place in zip(names, results, places, strict=True):
            if place is None:
                op.results.remove(result)
                mapping[result] = made = e("table", name=twin_name(name))
                e.op("table_rows", made, e("table_length", tables.own[name]))
