"""What every part of the lowering shares: spans, refusals, the op under construction, branches and merges.

    if c: y = a            r = if(c) {then: yield a} {else: yield b}
    else: y = b      ->    y is bound to r

Only names that are live after the merge and differ between the branches become results.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NoReturn

from pullback.diagnostic import CompileError, Diagnostic, InternalError, Span
from pullback.front.flow import NOTHING, Facts, Flow
from pullback.front.scope import Scope
from pullback.front.source import Found
from pullback.front.state import FLAGS, RETURN, Binding, Branch, Flag, Guard, State
from pullback.ir.build import Builder
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import get

__all__ = ["Context", "Unit"]


def shown(name: str) -> str:
    """The name of a value in IR text."""
    return "value" if name == RETURN else name


@dataclass(frozen=True, slots=True)
class Unit:
    """The text being lowered and the name by which spans call the function."""

    found: Found
    function: str

    def span(self, node: ast.AST) -> Span:
        """Where the node stands; of a `def` only its first line's head."""
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        end_line, end_column = getattr(node, "end_lineno", line), getattr(node, "end_col_offset", column)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            end_line, end_column = line, column + len(f"def {getattr(node, 'original', node).name}".encode())
        elif isinstance(node, ast.For | ast.While | ast.If | ast.With | ast.Try | ast.Match | ast.AsyncFunctionDef):
            end_line, end_column = line, column + len(type(node).__name__.removeprefix("Async"))
        return Span(self.found.file, line, column, end_line, end_column, self.function)

    def error(
        self, node: ast.AST, title: str, label: str = "", help: str = "", notes: Sequence[str] = ()
    ) -> CompileError:
        span = self.span(node)
        lines = self.found.lines
        text = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
        return CompileError(Diagnostic(title, span, label, help, tuple(notes), text))


class Context:
    """The walk over one function: where ops go, and the state so far."""

    def __init__(
        self,
        unit: Unit,
        scope: Scope,
        captures: Sequence[str] = (),
        self_name: str | None = None,
        forwards: Mapping[str, Scope] | None = None,
        end: Facts = NOTHING,
    ) -> None:
        self.unit = unit
        self.scope = scope
        self.captures = frozenset(captures)
        self.self_name = self_name
        self.forwards = dict(forwards or {})  # functions defined around this one after it
        self.flow = Flow(scope, end)
        self.builder = Builder(span=unit.span(scope.node))
        self.state = State()
        self.cells: dict[str, Value] = {}  # variables that functions share and that change, captured ones too
        self.known: dict[ast.expr, Value] = {}  # values of conditions that the front end made up
        self.guards: list[Guard] = []  # around the statement being lowered
        self.guard_count = 0
        self.handling: Value | None = None  # the exception whose handler is being lowered

    # ------------------------------------------------------------------------------------------------ ops

    def refuse(self, node: ast.AST, title: str, label: str = "", help: str = "", notes: Sequence[str] = ()) -> NoReturn:
        raise self.unit.error(node, title, label, help, notes)

    def op(
        self,
        node: ast.AST | None,
        name: str,
        *operands: Value,
        results: int = 1,
        blocks: Sequence[Block] = (),
        names: Sequence[str] = (),
    ) -> Op:
        """Append an op that comes from `node` (None: from the same place as the op before)."""
        self.at(node)
        return self.builder.append_untyped(get(name), operands, blocks=blocks, results=results, names=names)

    def at(self, node: ast.AST | None) -> None:
        """Ops that follow come from `node`."""
        if node is not None:
            self.builder.span = self.unit.span(node)

    def make(self, node: ast.AST | None, prim: str, /, *operands: Value, **attrs: object) -> Value:
        """Append an op and return its only result."""
        self.at(node)
        return self.builder.append_untyped(get(prim), operands, attrs=attrs).result

    def constant(self, node: ast.AST | None, value: object) -> Value:
        return self.make(node, "py.const", value=value)

    def truth(self, node: ast.AST | None, value: Value) -> Value:
        return self.make(node, "py.truth", value)

    def flag(self, flag: Flag) -> Value:
        """A flag as a value."""
        if flag is None:
            raise InternalError("a flag that nobody asked for is read")
        return self.constant(None, flag) if isinstance(flag, bool) else flag

    # ------------------------------------------------------------------------------------------------ names

    def is_carried(self, name: str) -> bool:
        """Whether control merges values of the name: a variable of this scope that is in no cell."""
        return name in self.scope.locals and name not in self.cells

    def bind(self, name: str, value: Value) -> None:
        if name in self.cells:
            self.op(None, "py.cell_set", self.cells[name], value, results=0).attrs["name"] = name
            return
        if not value.name:
            value.name = shown(name)
        self.state.names[name] = Binding(value)
        self.mark(name, value)

    def mark(self, name: str, value: Value) -> None:
        """Handlers around see this value of the name from here on."""
        for guard in self.guards:
            if name in guard.names and (not self.scope.inline or name in self.scope.exports):
                attrs = {"guard": guard.key, "slot": guard.names.index(name)}
                self.op(None, "py.mark", value, results=0).attrs.update(attrs)

    def raw(self, name: str) -> tuple[Value, bool]:
        """The value of a name whether set or not, and whether it may be unset."""
        binding = self.state.names.get(name)
        if binding is not None:
            return binding.value, binding.maybe
        return self.make(None, "py.unbound", name=name), True

    def checked(self, node: ast.AST | None, name: str, /, **attrs: object) -> Value:
        """The value of a name, tested where it may be unset."""
        if name in self.cells:
            return self.make(node, "py.cell_get", self.cells[name], name=name, **attrs)
        if name in self.state.names and self.state.names[name].dead:
            raise InternalError(f"the dead variable {name} is read")
        value, maybe = self.raw(name)
        if not maybe:
            return value
        result = self.make(node, "py.check_bound", value, name=name, **attrs)
        result.name = value.name or shown(name)
        self.state.names[name] = Binding(result, origin=value)
        return result

    # ------------------------------------------------------------------------------------------------ branches

    @contextmanager
    def inside(self, block: Block) -> Iterator[None]:
        """Append to `block` for a while."""
        saved = self.builder.block
        self.builder.block = block
        try:
            yield
        finally:
            self.builder.block = saved

    def branch(self, work: Callable[[], Sequence[Value] | None], block: Block | None = None) -> Branch:
        """Lower on the side, from the present state."""
        block = block or Block()
        saved = self.state
        self.state = saved.copy()
        with self.inside(block):
            values = work() or ()
        branch = Branch(block, self.state, values)
        self.state = saved
        return branch

    def merge(
        self,
        node: ast.AST | None,
        condition: Value | Sequence[Value],
        then: Branch,
        other: Branch,
        live: Facts | None = None,
        wanted: Collection[str] = FLAGS,
        prim: str = "if",
        partly: Facts | None = None,
        **attrs: object,
    ) -> list[Value]:
        """Append the op of the two branches and go on with what holds after either; `live` None: all names are.

        prim: "if" with a condition, or another op of two blocks with its operands and attributes.  partly: names that
        are read only where the first branch was taken, after it.
        """
        operands = [condition] if isinstance(condition, Value) else condition
        results = _Merge(self, then, other, live, wanted, prim, partly, attrs).run(node, operands)
        return results[: max(len(then.values), len(other.values))]


class _Merge:
    """The columns of values that an `if` yields, one value from each branch."""

    def __init__(
        self,
        cx: Context,
        then: Branch,
        other: Branch,
        live: Facts | None,
        wanted: Collection[str],
        prim: str,
        partly: Facts | None,
        attrs: Mapping[str, object],
    ) -> None:
        self.cx = cx
        self.prim = prim
        self.partly = partly
        self.attrs = attrs
        self.sides = (then, other)
        self.live = live
        self.wanted = wanted
        self.columns: list[tuple[Value, Value]] = list(zip(then.values, other.values, strict=True))
        self.names: list[str] = [""] * len(self.columns)
        self.merged: dict[int, tuple[str, bool, bool]] = {}
        self.flags: dict[int, str] = {}

    def run(self, node: ast.AST | None, operands: Sequence[Value]) -> list[Value]:
        then, other = self.sides
        cx = self.cx
        after = cx.state.copy()
        if then.state.never is not None and other.state.never is not None:
            return self._never(node, operands, after)
        for name in dict.fromkeys([*then.state.names, *other.state.names]):
            self._name(name, after)
        for flag in FLAGS:
            self._flag(flag, after)
        results = self._append(node, operands)
        for i, (name, maybe, buried) in self.merged.items():
            after.names[name] = Binding(results[i], maybe, dead=buried)
        for i, flag in self.flags.items():
            after.flags[flag] = results[i]
        cx.state = after
        return results

    def _append(self, node: ast.AST | None, operands: Sequence[Value]) -> list[Value]:
        blocks = [side.block for side in self.sides]
        if not self.columns and not any(block.ops for block in blocks):
            return []
        for i, block in enumerate(blocks):
            block.results = [column[i] for column in self.columns]
        op = self.cx.op(node, self.prim, *operands, results=len(self.columns), blocks=blocks, names=self.names)
        op.attrs.update(self.attrs)
        return op.results

    def _never(self, node: ast.AST | None, operands: Sequence[Value], after: State) -> list[Value]:
        """Neither branch reaches its end, so nothing after the `if` does."""
        then, other = (side.state.never for side in self.sides)
        assert then is not None and other is not None
        self.columns.append((then, other))
        self.names.append("never")
        results = self._append(node, operands)
        after.never, after.flags["done"] = results[-1], True
        self.cx.state = after
        return results

    def _name(self, name: str, after: State) -> None:
        absent = Binding(Value(), True)
        before = after.names.get(name, absent)
        found = [before if s.state.never is not None else s.state.names.get(name, absent) for s in self.sides]
        a, b = found
        # A name may be dead where control goes on and live where it has left.
        buried = any(x.dead and s.state.flags["done"] is not True for s, x in zip(self.sides, found, strict=True))
        # Within an expression a name that is set by one operand is read where that one was evaluated.
        loose = self.live is None or self.partly is not None
        idle = [loose and (x.dead or (x is absent and " " in name)) for x in found]
        if a.source is b.source:
            maybe = any(x.maybe or x.origin is not None for x in found)
            same = before if before.source is a.source else Binding(a.source, maybe)
            if same is not absent:
                after.names[name] = replace(same, dead=buried and not (loose and any(not x.dead for x in found)))
            return
        dead = all(idle) if self.live is None else name not in self.live | (self.partly or NOTHING)
        if dead and name != RETURN:
            after.bury([name])
            return
        buried = buried and not loose
        maybe = False
        values = []
        for side, binding, unread in zip(self.sides, found, idle, strict=True):
            value = side.state.never
            if value is None:
                value = binding.value
                if binding is absent or unread:
                    with self.cx.inside(side.block):
                        value = self.cx.make(None, "py.unbound", name=name, **({"dead": True} if unread else {}))
                maybe = maybe or (binding.maybe and not unread)
            values.append(value)
        self.merged[len(self.columns)] = (name, maybe, buried)
        self.columns.append((values[0], values[1]))
        self.names.append(shown(name))

    def _flag(self, flag: str, after: State) -> None:
        kept = [side.state.flags[flag] for side in self.sides if side.state.never is None]
        if len(kept) == 1 and not isinstance(kept[0], Value):
            after.flags[flag] = kept[0]
            return
        if len(kept) == 2 and kept[0] is kept[1]:
            after.flags[flag] = kept[0]
            return
        after.flags[flag] = None
        if flag not in self.wanted:
            return
        values = []
        for side in self.sides:
            with self.cx.inside(side.block):
                values.append(side.state.never or self.cx.flag(side.state.flags[flag]))
        self.flags[len(self.columns)] = flag
        self.columns.append((values[0], values[1]))
        self.names.append(flag)
