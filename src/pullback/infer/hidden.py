"""Hidden inputs become parameters: every function that reads one, or calls a function that does, takes it last.

    f(x): lr = hidden{lr}; x * lr      ->      f(x, lr): x * lr       and every call of f passes lr on
"""

from __future__ import annotations

from collections.abc import Mapping

from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.walk import substitute
from pullback.types import Machine

__all__ = ["thread_hidden"]

Key = tuple[object, int]  # (where, number of the slot)


def thread_hidden(program: Program, order: Mapping[object, tuple[Machine, ...]]) -> None:
    """Replace `hidden` ops by parameters; the entry takes all of `order`, slot by slot."""
    needs = _transitive(program)
    every = [(where, i) for where, machine in order.items() for i in range(len(machine))]
    for name, function in program.functions.items():
        wanted = every if name == program.entry else [key for key in every if key[0] in needs[name]]
        _rewrite(function, wanted, order, needs, every)


def _callees(block: Block) -> list[Op]:
    return [op for op in block.walk() if "callee" in op.attrs]


def _transitive(program: Program) -> dict[str, set[object]]:
    needs: dict[str, set[object]] = {}
    calls: dict[str, set[str]] = {}
    for name, function in program.functions.items():
        needs[name] = {op.attrs["key"] for op in function.body.walk() if op.name == "hidden"}
        calls[name] = {str(op.attrs["callee"]) for op in _callees(function.body)}
    changed = True
    while changed:
        changed = False
        for name, callees in calls.items():
            before = len(needs[name])
            for callee in callees:
                needs[name] |= needs.get(callee, set())
            changed = changed or len(needs[name]) != before
    return needs


def _rewrite(
    function: Function, wanted: list[Key], order: Mapping[object, tuple[Machine, ...]],
    needs: Mapping[str, set[object]], every: list[Key],
) -> None:  # fmt: skip
    params = {key: Value(order[key[0]][key[1]], "hidden") for key in wanted}
    mapping: dict[Value, Value] = {}
    _strip(function.body, params, mapping)
    for op in _callees(function.body):
        callee = str(op.attrs["callee"])
        extra = [params[key] for key in every if key[0] in needs[callee]]
        if extra and op.name != "pullback":
            position = _arguments(op)
            op.operands[position:position] = extra
    substitute(function.body, mapping)
    function.body.params += list(params.values())


def _arguments(op: Op) -> int:
    """How many operands are arguments of the callee (a jvp has tangents after them)."""
    if op.name != "jvp":
        return len(op.operands)
    wrt = op.attrs["wrt"]
    assert isinstance(wrt, tuple)
    return len(op.operands) - len(wrt)


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
