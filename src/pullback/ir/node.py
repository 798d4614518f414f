"""The nodes of the intermediate representation.

Grammar (every value has one definition; blocks see the values of the blocks around them):

    Program  := functions by name, layouts of boxes, the entry's name
    Function := name, body              parameters are the parameters of its body
    Block    := params, ops, results    it ends by yielding `results` to the op (or function) that holds it
    Op       := results = prim{attrs}(operands) { blocks }     with a source span

Control flow is structured; there are no jumps.  `break`, `continue` and early `return` are flags made by the front end.

    r... = if(cond) {then: () -> r...} {else: () -> r...}
    r... = while(init...) {cond: (c...) -> go} {body: (c...) -> next...}
    r... = for(n, init...) {body: (k, c...) -> next...}         k runs 0, 1, ..., n-1; no trips if n <= 0

`Value.type` is None before inference and a machine type (types.Machine) after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from pullback.diagnostic import UNKNOWN, Span
from pullback.types import Machine

__all__ = ["Block", "Function", "Op", "Primitive", "Program", "Value"]


class Primitive(Protocol):
    """What the IR knows of a primitive.  `effects` is a set of "read", "write", "raise", "allocate", "call"."""

    @property
    def name(self) -> str: ...

    @property
    def effects(self) -> frozenset[str]: ...

    def result_types(self, operands: Sequence[Machine], attrs: Mapping[str, object]) -> tuple[Machine, ...]:
        """Types of the results; raises TypeError when the operands do not fit."""
        ...


class Value:
    """One definition: a block parameter or a result of an op."""

    __slots__ = ("name", "type")

    def __init__(self, type: Machine | None = None, name: str = "") -> None:
        self.type = type
        self.name = name

    def __repr__(self) -> str:
        return f"%{self.name or 'v'}{id(self) % 9973}: {self.type}"


class Op:
    """One use of a primitive.  Mutable: passes replace operands and results in place."""

    # `name` is that of the primitive: it is asked for more often than anything else, so it is not looked up each time.
    __slots__ = ("_prim", "attrs", "blocks", "name", "operands", "results", "span")

    def __init__(
        self,
        prim: Primitive,
        operands: Sequence[Value] = (),
        results: Sequence[Value] = (),
        attrs: Mapping[str, object] | None = None,
        blocks: Sequence[Block] = (),
        span: Span = UNKNOWN,
    ) -> None:
        self.prim = prim
        self.operands = list(operands)
        self.results = list(results)
        self.attrs: dict[str, object] = dict(attrs or {})
        self.blocks = list(blocks)
        self.span = span

    @property
    def prim(self) -> Primitive:
        return self._prim

    @prim.setter
    def prim(self, prim: Primitive) -> None:
        self._prim = prim
        self.name = prim.name

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value

    def __repr__(self) -> str:
        return f"{self.results} = {self.name}{self.attrs or ''}({self.operands})"


class Block:
    """A sequence of ops with parameters; it yields `results`."""

    __slots__ = ("ops", "params", "results")

    def __init__(
        self, params: Sequence[Value] = (), ops: Sequence[Op] = (), results: Sequence[Value] = ()
    ) -> None:
        self.params = list(params)
        self.ops = list(ops)
        self.results = list(results)

    def walk(self) -> Iterator[Op]:
        """Every op of the block and of the blocks nested in it, outer ops before inner ones."""
        waiting = [iter(self.ops)]
        while waiting:
            for op in waiting[-1]:
                yield op
                if op.blocks:
                    waiting += [iter(block.ops) for block in reversed(op.blocks)]
                    break
            else:
                waiting.pop()


class Function:
    """A named body.  `attrs` holds facts for later stages (for untyped IR: Python name, captured names, defaults)."""

    __slots__ = ("attrs", "body", "name", "span")

    def __init__(
        self, name: str, body: Block, span: Span = UNKNOWN, attrs: Mapping[str, object] | None = None
    ) -> None:
        self.name = name
        self.body = body
        self.span = span
        self.attrs: dict[str, object] = dict(attrs or {})


class Program:
    """Typed functions that call each other by name, and the layouts of their boxes.

    `layouts[box name]` gives, per variant, the machine types of the slots.
    """

    __slots__ = ("entry", "functions", "layouts")

    def __init__(
        self,
        functions: Mapping[str, Function] | None = None,
        entry: str = "",
        layouts: Mapping[str, Sequence[tuple[Machine, ...]]] | None = None,
    ) -> None:
        self.functions = dict(functions or {})
        self.entry = entry
        self.layouts: dict[str, list[tuple[Machine, ...]]] = {k: list(v) for k, v in (layouts or {}).items()}
