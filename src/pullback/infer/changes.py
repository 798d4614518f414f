"""What operations and functions change of what they are given, as far as J and Jacobians ask.

    a[0] = x            writes to an array of floats
    l.append(a)         stores something that has no backpropagator: a CompileError
    f(x, rng)           draws numbers: it may not be run once for each direction
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.analysis.alias import Aliases, Writes, record_links, written_parameters
from pullback.analysis.cells import TABLE_WRITES
from pullback.infer.engine import Branch, Frame, Specialization
from pullback.infer.given import reachable
from pullback.infer.reached import reached
from pullback.infer.values import AV
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import ArrayRef, Ref, Table, is_float

__all__ = ["alters", "is_found", "refuse_aliases", "refuse_stores", "writes_to_given"]

_HELP = "differentiate it in the default formulation"
_CELLS = frozenset({"table_get", "table_set", "table_swap"})


def refuse_stores(cx: Frame, branch: Branch, params: Sequence[AV]) -> None:
    """What an operation stores in heaps would go unnoticed by backpropagators."""
    tables = any(isinstance(v.type, Table) for op in branch.block.walk() for v in op.operands)
    if tables or any(isinstance(av.type, Ref) for av in params):
        raise cx.error("what is stored here has no backpropagator in the formulation by closures",
                       "of objects, lists and dicts only the numbers have one", _HELP)  # fmt: skip


def _as_function(branch: Branch, params: Sequence[AV]) -> Function:
    given = [v for av in params for v in av.values]
    return Function("operation", Block(given, branch.block.ops, [v for av in branch.results for v in av.values]))


def writes_to_given(cx: Frame, branch: Branch, params: Sequence[AV]) -> bool:
    """Does the operation write to arrays of floats that it is given."""
    given = [v for av in params for v in av.values]
    if not any(isinstance(v.type, ArrayRef) for v in given):
        return False
    if not any("write" in op.prim.effects for op in branch.block.walk()):
        return False
    function = _as_function(branch, params)
    written = written_parameters(reached(cx, function))[function.name].written
    return any(is_float(given[place].type) for place in written)  # type: ignore[arg-type]


def alters(cx: Frame, spec: Specialization) -> bool:
    """May a call change arrays, lists or objects that it is given, captures or finds: another call sees other ones.

    Of lists and objects every write counts that is to the table of one that is given, to a new one there too.
    """
    if spec.function is None:
        return True
    program = reached(cx, spec.function)
    written, links = written_parameters(program), record_links(program)
    if any(isinstance(spec.function.body.params[place].type, ArrayRef) for place in written[spec.name].written):
        return True
    outside = [hidden.type for hidden in cx.session.hidden.values()]
    tables = {str(heap) for heap in reachable([*spec.parameters, *outside])}
    for each in program.functions.values():
        found = [v for op in each.body.walk() if op.name == "hidden" for v in op.results]
        arrays = [v for v in found if isinstance(v.type, ArrayRef)]
        if arrays and any(map(Aliases(each, written, links).written, arrays)):
            return True
        if any(op.name in TABLE_WRITES and _table_of(op) in tables for op in each.body.walk()):
            return True
    return _changed_from_tables(program, written, links)


def _changed_from_tables(program: Program, written: Mapping[str, Writes], links: Sequence[tuple[str, str]]) -> bool:
    """May an array that a function was given be kept in a cell or an object, and be written when it is read there."""
    kept, changed = set[str](), set[str]()
    for each in program.functions.values():
        cells = [op for op in each.body.walk() if op.name in _CELLS]
        accesses = [op for op in cells if any(map(_is_array, (*op.operands, *op.results)))]
        aliases = Aliases(each, written, links) if accesses else None
        if aliases is not None:
            given = set(each.body.params)
            stored = [(op, v) for op in accesses for v in op.operands if _is_array(v)]
            kept |= {_table_of(op) for op, v in stored if not given.isdisjoint(aliases.origins(v))}
            changed |= {_table_of(op) for op in accesses for v in op.results if _is_array(v) and aliases.written(v)}
    return not kept.isdisjoint(changed)


def _is_array(value: Value) -> bool:
    return isinstance(value.type, ArrayRef)


def _table_of(op: Op) -> str:
    type_ = op.operands[0].type
    return type_.name if isinstance(type_, Table) else ""


def refuse_aliases(cx: Frame, branch: Branch, params: Sequence[AV], *, writes: bool) -> None:
    """Of an operation that is differentiated as a whole nothing is known but its results, which must be new.

    What does not show here, behind calls, is asked when it runs (`py.fresh`).
    """
    function = _as_function(branch, params)
    program = reached(cx, function)
    aliases = Aliases(function, written_parameters(program), record_links(program))
    given = set(function.body.params)
    gradients = {v for op in branch.block.ops if op.name == "value_and_grad" for v in op.results}  # not known to be new
    results = [v for v in function.body.results if v not in gradients]
    arrays = [v for v in results if isinstance(v.type, ArrayRef) and is_float(v.type)]
    if writes or any(not given.isdisjoint(aliases.origins(v)) for v in arrays):
        what = "a change of an array by this operation" if writes else "a view of an array by this operation"
        raise cx.error(f"{what} has no backpropagator in the formulation by closures",
                       "which elements it means is not known to backpropagators", _HELP)  # fmt: skip


def is_found(branch: Branch) -> bool:
    """Is what the code gives an array from outside, which is a constant."""
    made = {v: op for op in branch.block.ops for v in op.results}
    arrays = [v for av in branch.results for v in av.values if isinstance(v.type, ArrayRef)]
    return all(v in made and made[v].name == "hidden" for v in arrays)
