"""Generators that are run before their time, as zip(...) of several needs: refused where a program could tell.

    for a, b in zip(g(n), h(m)):        h(m) is collected; then g(n) pushes, and the body takes one row each time

Python runs g, h and the body in turns, and h no further than it is needed.  So h must not print, change anything or
raise, and must not read what g or the body change.  That is known once everything is inferred: ops are marked before.
zip_longest and groupby run their generators before all else, and whatever the function changes counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pullback.diagnostic import CompileError, Diagnostic
from pullback.infer.engine import Frame
from pullback.infer.heaps import heap_of_type
from pullback.infer.values import AV
from pullback.ir.node import Op, Program
from pullback.types import Ref, Table

__all__ = ["ARRAYS", "Deeds", "beside", "collected_apart", "reject_interleaved"]

_TABLE_WRITES = frozenset({"table_set", "table_swap", "table_inc", "table_rows"})
_ARRAY_WRITES = frozenset({"array_inc", "array_swap", "matmul_inc", "slot_inc", "buffer_inc", "buffer_put"})
_ARRAY_READS = frozenset({"array_get", "matmul", "lapack", "elementwise", "buffer_get"})
ARRAYS = "arrays"  # all arrays together, among names of tables


def collected_apart(cx: Frame, parts: Sequence[AV], collect: Callable[[AV], AV], *, alone: bool = False) -> list[AV]:
    """Collect generators, and mark what does so.  `alone`: nothing will be marked as running beside them."""
    start = len(cx.e.block.ops)
    found = [collect(part) for part in parts]
    allowed = tuple(name for av in found for name in _tables(av))
    for op in cx.e.block.ops[start:]:
        op.attrs["apart"] = allowed
        op.attrs["beside"] = alone
    return found


def _tables(av: AV) -> list[str]:
    """The tables of a list that was collected."""
    heap = heap_of_type(av.type) if isinstance(av.type, Ref) else None
    if heap is None:
        return []
    items = heap_of_type(heap.known("items"))
    return [str(heap), *([str(items)] if items is not None else [])]


def beside(cx: Frame, run: Callable[[], AV]) -> AV:
    """Run a generator, with the body of its loop, and mark what does so."""
    start = len(cx.e.block.ops)
    found = run()
    for op in cx.e.block.ops[start:]:
        op.attrs["beside"] = True
    return found


@dataclass(slots=True)
class Deeds:
    """What some ops do, with all that they call.  `wrong`: the first that nobody may do out of turn."""

    program: Program
    allowed: Iterable[str] = ()
    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    wrong: Op | None = None
    seen: set[str] = field(default_factory=set)

    def look(self, op: Op) -> None:
        """Note what an op does."""
        self._one(op)
        for block in op.blocks:
            for inner in block.ops:
                self.look(inner)
        callee = str(op.attrs.get("callee", ""))
        if callee in self.program.functions and callee not in self.seen:
            self.seen.add(callee)
            for inner in self.program.functions[callee].body.ops:
                self.look(inner)

    def _one(self, op: Op) -> None:
        table = op.operands[0].type if op.operands else None
        name = table.name if isinstance(table, Table) else ARRAYS
        if op.name in _TABLE_WRITES and name not in self.allowed:
            self.writes.add(name)
            self.wrong = self.wrong or op
        elif op.name in _ARRAY_WRITES:
            self.writes.add(ARRAYS)
            self.wrong = self.wrong or op
        elif op.name == "text_effect" or (op.name == "check" and op.attrs.get("exception") != "OverflowError"):
            self.wrong = self.wrong or op
        if op.name in ("table_get", "table_swap", "table_inc") or op.name in _ARRAY_READS:
            self.reads.add(name)


def reject_interleaved(program: Program) -> None:
    """Guard: running generators out of turn makes no difference.  Takes the marks off."""
    for function in program.functions.values():
        marked = [(op, op.attrs.pop("apart", None), op.attrs.pop("beside", False)) for op in function.body.walk()]
        found = [(op, allowed) for op, allowed, _ in marked if isinstance(allowed, tuple)]
        if not found:
            continue
        alone = any(pushes for _, allowed, pushes in marked if isinstance(allowed, tuple))
        around = Deeds(program, [name for _, allowed in found for name in allowed])
        for op, _, pushes in marked:
            if pushes or alone:
                around.look(op)
        for op, allowed in found:
            deeds = Deeds(program, allowed)
            deeds.look(op)
            if deeds.wrong is not None or deeds.reads & around.writes:
                raise CompileError(Diagnostic(
                    "a generator is run before its time here, and the program could tell",
                    op.span, "Python would run it in turns with the loop; it prints, changes data or may raise",
                    "collect its values first: list(...), or write one generator that yields all values",
                ))  # fmt: skip
