"""Calls that run again in the reverse half instead of keeping what happened inside them.

    y = call{checkpoint} f(x, a)       forward     b = copy of a, if anything writes a from here on
                                                   y = call f(x, a)
                                       reverse     cx = call f.again(x, b, cy, shadow of a)

`f.again` is the forward and the reverse half of f in one, so nothing but the arguments outlives the call.  It works on
copies of what is overwritten and adds to the shadows of the originals; what it runs again prints nothing.  A call that
tells its caller of memory by reference, or hands on objects that it changes, cannot run again: that memory would have
a second shadow.  Such a call stays an ordinary one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pullback.ad.primal import Primal
from pullback.ad.shadows import coerce, copy_array
from pullback.analysis.alias import NO_WRITES
from pullback.analysis.cells import CellWrites
from pullback.analysis.effects import VIEWS, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.rule import RULE, mentioned_by_rule, rule_of
from pullback.ir.walk import clone_function, uses
from pullback.prims.base import Emitter, get
from pullback.types import I64, ArrayRef, Table

__all__ = ["forget", "is_checkpointed", "keep", "reads", "refusal", "silent"]


def is_checkpointed(op: Op) -> bool:
    """Is it a call that should keep only its arguments."""
    return op.name == "call" and bool(op.attrs.get("checkpoint"))


def refusal(primal: Primal, op: Op) -> str | None:
    """Why a call cannot run again, in words that follow its name; None if it can."""
    if any(primal.mirrored(v) for v in op.results):
        return "returns objects, or arrays that are known by several names and overwritten"
    aliases = primal.aliases
    writes = primal.derivations.written.get(str(op.attrs["callee"]), NO_WRITES)
    references = [v for v in op.operands if aliases.refers(v)]
    for place in writes.written:
        one = op.operands[place]
        if any(other is not one and not aliases.apart(one, other) for other in references):
            return "overwrites an array that another argument may share"
        if references.count(one) > 1:
            return "overwrites an array that it is given twice"
    for value in references:
        if not isinstance(value.type, ArrayRef | Table) and not aliases.settled(value, op):
            return "is given objects whose arrays are overwritten"
    return _changed_tables(primal, op, writes.cells)


def _changed_tables(primal: Primal, op: Op, cells: CellWrites) -> str | None:
    tables = [v for v in op.operands if isinstance(v.type, Table)]
    if not tables:
        return None
    if any(primal.aliases.refers(v) and not primal.aliases.settled(v, op) for v in tables):
        return "is given objects whose arrays are overwritten"
    changed = {key for key, _ in primal.aliases.lasting(op)}
    stored = {op.operands[place] for place, _ in cells.stored}
    if any(v in changed or v in stored or v.type.name in changed for v in tables if isinstance(v.type, Table)):
        return "is given objects that change"
    if _grows(primal.derivations.program, str(op.attrs["callee"]), set()):
        return "makes objects"
    return None


def _grows(program: Program, name: str, seen: set[str]) -> bool:
    """May the function add rows to tables that it is given."""
    seen.add(name)
    for op in program.functions[name].body.walk():
        if op.name == "table_rows":
            return True
        callee = op.attrs.get("callee")
        if isinstance(callee, str) and callee not in seen and _grows(program, callee, seen):
            return True
    return False


def keep(primal: Primal, e: Emitter, op: Op) -> list[Value | None]:
    """The arguments for the second run: copies of the arrays that something writes from the call on.

    None for an array that is only written: any memory will do.
    """
    copies: dict[Value, Value | None] = {}
    function = primal.derivations.program.functions[str(op.attrs["callee"])]
    for value, param in zip(op.operands, function.body.params, strict=True):
        if isinstance(value.type, ArrayRef) and value not in copies and not primal.aliases.settled(value, op):
            if reads(primal.derivations.program, [function.body], param):
                copies[value] = coerce(e, copy_array(e, value), value.type)
            elif value.type.contiguous:
                copies[value] = None
            else:
                copies[value] = coerce(e, copy_array(e, value), value.type)
    return [copies.get(v, v) for v in op.operands]


_LOOKING = frozenset({
    "array_size", "array_same", "array_beside", "array_overlap", "array_contiguous", "array_fits", "free",
})  # fmt: skip


def reads(program: Program, blocks: Sequence[Block], array: Value) -> bool:
    """May the blocks read elements of the array, or make it known by another name than a view."""
    return _reads(program, blocks, {array}, set())


def _reads(program: Program, blocks: Sequence[Block], known: set[Value], seen: set[tuple[str, int]]) -> bool:
    for op in (op for block in blocks for op in block.walk()):
        if known.isdisjoint(op.operands) or op.name in _LOOKING:
            continue
        if op.name in VIEWS:
            known.update(op.results)
        elif op.name == "elementwise":
            kinds = [kind for kind in op.attrs["outputs"] if kind in ("inc", "set")]  # type: ignore[attr-defined]
            targets = elementwise_targets(op)
            added = [v for v, kind in zip(targets, kinds, strict=True) if kind == "inc"]
            if not known.isdisjoint((*elementwise_inputs(op), *added)):
                return True
        elif op.name == "array_swap":
            if op.operands[0] in known and _used(blocks, op.result):
                return True
        elif op.name == "call":
            name = str(op.attrs["callee"])
            body = program.functions[name].body if name in program.functions else None
            for place in (i for i, v in enumerate(op.operands) if v in known and (name, i) not in seen):
                seen.add((name, place))
                if body is None or _reads(program, [body], {body.params[place]}, seen):
                    return True
        else:
            return True
    inner = (b for block in blocks for op in block.walk() for b in op.blocks)
    return any(not known.isdisjoint(block.results) for block in (*blocks, *inner))


def _used(blocks: Sequence[Block], value: Value) -> bool:
    return any(value in uses(block) for block in blocks)


# ------------------------------------------------------------------------------------------------------------ printing


def silent(program: Program, name: str) -> str:
    """The function without its prints, and those of what it calls; itself where there are none."""
    reached = list(_reached(program, name))
    if not any(_prints(program.functions[n].body) for n in reached):
        return name
    names = {n: f"{n}.silent" for n in reached}
    for old, new in names.items():
        if new not in program.functions:
            function = clone_function(program.functions[old])
            function.name = new
            _silence(function.body, names)
            rule = rule_of(function)
            if rule is not None:
                function.attrs[RULE] = rule.renamed(names)
            program.functions[new] = function
    return names[name]


def _reached(program: Program, name: str) -> Iterator[str]:
    seen, waiting = {name}, [name]
    while waiting:
        current = waiting.pop()
        yield current
        function = program.functions[current]
        callees = [op.attrs.get("callee") for op in function.body.walk()]
        for callee in (*callees, *mentioned_by_rule(function)):
            if isinstance(callee, str) and callee not in seen:
                seen.add(callee)
                waiting.append(callee)


def _prints(block: Block) -> bool:
    return any(op.name == "text_effect" and op.attrs["function"] == "print" for op in block.walk())


def _silence(block: Block, names: dict[str, str]) -> None:
    block.ops = [op for op in block.ops if not _prints(Block(ops=[op])) or op.blocks]
    for op in block.ops:
        if "callee" in op.attrs:
            op.attrs["callee"] = names[str(op.attrs["callee"])]
        for inner in op.blocks:
            _silence(inner, names)


def forget(function: Function) -> None:
    """After differentiation the calls are ordinary ones, and loops without a reverse keep nothing."""
    for op in function.body.walk():
        if op.name == "call":
            op.attrs.pop("checkpoint", None)
        elif op.name == "trip_bytes":
            op.prim, op.operands, op.attrs = get("const"), [], {"value": 0, "type": I64}
