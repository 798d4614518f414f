"""Puts the bodies of called functions in place of the calls; recursive calls stay.

    def square(x): return mul x, x             def f(y):
    def f(y):                            ->      v = mul y, y
      v = call square y                          return v
      return v

Ops keep the spans of the function they come from.  A function is inlined where it is small or the caller stays within a
bound, so code grows at most to that bound, and where all copies of it together stay within another.  One marked
`outlined` never is, nor one with a derivative rule (until it has been differentiated), nor is a call marked
`checkpoint`.  `prune` drops functions that the entry does not reach.
"""

from __future__ import annotations

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.rule import mentioned_by_rule, rule_of
from pullback.ir.walk import clone_ops, count_ops

__all__ = ["prune", "run"]

_SMALL = 300  # ops; such a function is inlined wherever it is called ...
_LARGEST = 20_000  # ... until the caller has this many
_FEW = 24  # ops that a call would take as well
_MOST_IN_COPIES = 3000  # ops of all copies of one function, where there are more than two
_MOST_STRUCTURAL = 300  # of one that only moves rows of heaps: calls of these cost little


def run(function: Function, program: Program) -> None:
    """Inline the calls in the function, the calls in its callees first."""
    inliner = _Inliner(program)
    inliner.count_copies(function.name)
    inliner.function(function)


def prune(program: Program) -> None:
    """Drop functions that nothing reachable from the entry names."""
    reached: set[str] = set()
    waiting = [program.entry]
    while waiting:
        name = waiting.pop()
        if name not in reached and name in program.functions:
            reached.add(name)
            waiting += [*_callees(program.functions[name]), *mentioned_by_rule(program.functions[name])]
    program.functions = {name: f for name, f in program.functions.items() if name in reached}


def _callees(function: Function) -> dict[str, int]:
    """The functions that ops of the function name, and how often."""
    found: dict[str, int] = {}
    for op in function.body.walk():
        callee = op.attrs.get("callee")
        if isinstance(callee, str):
            found[callee] = found.get(callee, 0) + 1
    return found


class _Inliner:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.sizes: dict[str, int] = {}
        self.callees: dict[str, dict[str, int]] = {}
        self.done: set[str] = set()
        self.calls: dict[str, int] = {}
        self.copies: dict[str, int] = {}

    def called(self, name: str) -> dict[str, int]:
        found = self.callees.get(name)
        if found is None:
            function = self.program.functions.get(name)
            found = self.callees[name] = _callees(function) if function is not None else {}
        return found

    def count_copies(self, root: str) -> None:
        """How many copies of each function there would be, if all calls below the root were replaced."""
        order: list[str] = []
        seen: set[str] = set()

        def visit(name: str) -> None:
            seen.add(name)
            for callee in self.called(name):
                if callee not in seen:
                    visit(callee)
            order.append(name)

        visit(root)
        copies = dict.fromkeys(order, 0) | {root: 1}
        for name in reversed(order):
            for callee, times in self.called(name).items():
                copies[callee] += times * copies[name]
        self.copies = copies

    def recursive(self, name: str) -> bool:
        """Does the function reach itself."""
        seen: set[str] = set()
        waiting = list(self.called(name))
        while waiting:
            other = waiting.pop()
            if other == name:
                return True
            if other not in seen:
                seen.add(other)
                waiting += self.called(other)
        return False

    def function(self, function: Function) -> None:
        self.done.add(function.name)
        calls = self.called(function.name)
        if not calls:
            return
        for name in calls:
            if name not in self.done and name in self.program.functions:
                self.function(self.program.functions[name])
        self.calls = self.called(function.name)
        self.sizes[function.name] = count_ops(function.body)
        _Body(self, function).block(function.body)
        self.callees.pop(function.name)

    def size(self, name: str) -> int:
        found = self.sizes.get(name)
        if found is None:
            found = self.sizes[name] = count_ops(self.program.functions[name].body)
        return found


class _Body:
    """Inlining into one function."""

    def __init__(self, inliner: _Inliner, function: Function) -> None:
        self.inliner = inliner
        self.name = function.name
        self.mapping: dict[Value, Value] = {}
        self.decided: dict[str, bool] = {}

    def wanted(self, op: Op) -> bool:
        name = str(op.attrs["callee"])
        inliner = self.inliner
        function = inliner.program.functions.get(name)
        if function is None or function.attrs.get("outlined") or op.attrs.get("checkpoint"):
            return False
        if rule_of(function) is not None:
            return False
        recursive = self.decided.get(name)
        if recursive is None:
            recursive = self.decided[name] = inliner.recursive(name)
        if recursive:
            return False
        size = inliner.size(name)
        copies = inliner.copies.get(name, 1)
        most = _MOST_STRUCTURAL if function.attrs.get("structural") else _MOST_IN_COPIES
        if size > _FEW and copies > 2 and copies * size > most:
            return False
        grown = inliner.sizes[self.name] + size
        if grown > _LARGEST or (size > _SMALL and inliner.calls.get(name, 0) > 1 and grown > _LARGEST // 4):
            return False
        inliner.sizes[self.name] = grown
        return True

    def block(self, block: Block) -> None:
        mapping = self.mapping
        ops: list[Op] = []
        for op in block.ops:
            if mapping:
                op.operands = [mapping.get(v, v) for v in op.operands]
            for inner in op.blocks:
                self.block(inner)
            if op.name == "call" and self.wanted(op):
                ops += self.expanded(op)
            else:
                ops.append(op)
        block.ops = ops
        block.results = [mapping.get(v, v) for v in block.results]

    def expanded(self, op: Op) -> list[Op]:
        body = self.inliner.program.functions[str(op.attrs["callee"])].body
        names = dict(zip(body.params, op.operands, strict=True))
        ops = clone_ops(body.ops, names)
        self.mapping.update(zip(op.results, (names.get(v, v) for v in body.results), strict=True))
        return ops
