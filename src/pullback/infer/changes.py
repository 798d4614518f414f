"""What operations change of what they are given, as far as J asks.

    a[0] = x            writes to an array of floats
    l.append(a)         stores something that has no backpropagator: a CompileError
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.analysis.alias import Aliases, record_links, written_parameters
from pullback.infer.engine import Branch, Frame
from pullback.infer.reached import reached
from pullback.infer.values import AV
from pullback.ir.node import Block, Function
from pullback.types import ArrayRef, Ref, Table, is_float

__all__ = ["is_found", "refuse_aliases", "refuse_stores", "writes_to_given"]

_HELP = "differentiate it in the default formulation"


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


def refuse_aliases(cx: Frame, branch: Branch, params: Sequence[AV], *, writes: bool) -> None:
    """Of an operation that is differentiated as a whole nothing is known but its results, which must be new.

    What does not show here, behind calls, is asked when it runs (`py.fresh`).
    """
    function = _as_function(branch, params)
    program = reached(cx, function)
    aliases = Aliases(function, written_parameters(program), record_links(program))
    given = set(function.body.params)
    arrays = [v for v in function.body.results if isinstance(v.type, ArrayRef) and is_float(v.type)]
    if writes or any(not given.isdisjoint(aliases.origins(v)) for v in arrays):
        what = "a change of an array by this operation" if writes else "a view of an array by this operation"
        raise cx.error(f"{what} has no backpropagator in the formulation by closures",
                       "which elements it means is not known to backpropagators", _HELP)  # fmt: skip


def is_found(branch: Branch) -> bool:
    """Is what the code gives an array from outside, which is a constant."""
    made = {v: op for op in branch.block.ops for v in op.results}
    arrays = [v for av in branch.results for v in av.values if isinstance(v.type, ArrayRef)]
    return all(v in made and made[v].name == "hidden" for v in arrays)
