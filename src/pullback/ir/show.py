"""The IR as text, one op a line, with the user's lines as comments.

    def loss(x: f64, n: i64) -> f64:
        c1: f64 = const 1.0
        r: f64 = for n, c1:  # model.py:3
          body (k: i64, acc: f64):
            acc1: f64 = mul acc, x  # model.py:4
            yield acc1
        return r
"""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator, Sequence

from pullback.diagnostic import Span
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import Machine, Table

__all__ = ["show_function", "show_program"]

_LABELS = {"if": ("then", "else"), "while": ("cond", "body"), "for": ("body",)}


class _Printer:
    def __init__(self, source: bool) -> None:
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.counts: dict[str, int] = {}
        self.lines: list[str] = []
        self.source = source
        self.last: Span | None = None

    def name(self, value: Value) -> str:
        found = self.names.get(value)
        if found is not None:
            return found
        base = value.name or "v"
        number = self.counts.get(base, -1 if value.name else 0)
        name = base if number < 0 else f"{base}{number}"
        self.counts[base] = max(number + 1, 1)
        if name in self.taken:  # x1 may be the user's own name
            return self.name(value)
        self.taken.add(name)
        self.names[value] = name
        return name

    def typed(self, value: Value) -> str:
        return self.name(value) + (f": {value.type}" if value.type is not None else "")

    def function(self, function: Function) -> None:
        params = ", ".join(map(self.typed, function.body.params))
        types = ", ".join(str(v.type) for v in function.body.results if v.type is not None)
        self.lines.append(f"def {function.name}({params})" + (f" -> {types}" if types else "") + ":")
        self.ops(function.body, 1)
        self.lines.append("    return " + ", ".join(map(self.name, function.body.results)))

    def ops(self, block: Block, depth: int) -> None:
        for op in block.ops:
            self.op(op, depth)

    def op(self, op: Op, depth: int) -> None:
        pad = "    " * depth
        left = ", ".join(map(self.typed, op.results))
        attrs = "".join(f" {k}={_attr(v)}" for k, v in op.attrs.items())
        if op.name in ("const", "py.const"):
            attrs = f" {op.attrs.get('value')!r}"
        right = ", ".join(map(self.name, op.operands))
        text = f"{pad}{left + ' = ' if left else ''}{op.name}{attrs}{' ' + right if right else ''}"
        self.lines.append(text + (":" if op.blocks else "") + self.comment(op.span))
        labels = _LABELS.get(op.name.removeprefix("py."), ())
        for i, block in enumerate(op.blocks):
            params = f" ({', '.join(map(self.typed, block.params))})" if block.params else ""
            self.lines.append(f"{pad}  {labels[i] if i < len(labels) else 'block'}{params}:")
            self.ops(block, depth + 1)
            self.lines.append(f"{pad}    yield " + ", ".join(map(self.name, block.results)))

    def comment(self, span: Span) -> str:
        """The user's line, once for each run of ops that come from it."""
        if not span.line or (self.last and (self.last.file, self.last.line) == (span.file, span.line)):
            return ""
        self.last = span
        text = linecache.getline(span.file, span.line).strip() if self.source else ""
        return f"  # {os.path.basename(span.file)}:{span.line}" + (f": {text}" if text else "")


def _attr(value: object) -> str:
    if isinstance(value, Function):
        return value.name
    return f"({', '.join(map(_attr, value))})" if isinstance(value, tuple) else str(value)


def show_function(function: Function, *, source: bool = True) -> str:
    """Text of one function."""
    printer = _Printer(source)
    printer.function(function)
    return "\n".join(printer.lines)


def show_program(program: Program, *, source: bool = True) -> str:
    """Text of every function, the entry first."""
    names = sorted(program.functions, key=lambda n: (n != program.entry, n))
    tables = {v.type.name for f in program.functions.values() for v in _defined(f.body) if isinstance(v.type, Table)}
    parts = [_layout(name, layout, name in tables) for name, layout in program.layouts.items()]
    return "\n\n".join(parts + [show_function(program.functions[n], source=source) for n in names])


def _defined(block: Block) -> Iterator[Value]:
    """Parameters and results, inner ones included."""
    yield from block.params
    for op in block.walk():
        yield from op.results
        for inner in op.blocks:
            yield from inner.params


def _layout(name: str, variants: Sequence[Sequence[Machine]], table: bool) -> str:
    """The records behind a box: `box F = (i64, f64) | ()`; the row of a table: `table N = (i64, f64)`."""
    rows = " | ".join("(" + ", ".join(map(str, slots)) + ")" for slots in variants)
    return f"{'table' if table else 'box'} {name} = {rows}"
