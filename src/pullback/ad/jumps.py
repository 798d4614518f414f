"""Refuses derivatives by what whole random numbers are drawn with.

    f(m):  k = poisson(discrete m)       grad of f: CompileError; the mean of k moves with m, though each k does not
           r = mul k, x                  with poisson(discrete (stop m)): a plain 0

An int carries no derivative, so neither mode would come to look at `discrete` by itself: what depends on the inputs
of a request is followed forward here, through calls too.
"""

from __future__ import annotations

from collections.abc import Iterable

from pullback.ad.primal import Derivations
from pullback.analysis.activity import Activity
from pullback.analysis.alias import Aliases, record_links
from pullback.diagnostic import CompileError, Diagnostic
from pullback.ir.node import Function, Op, Program, Value
from pullback.types import Table

__all__ = ["reject_jumps"]

Places = frozenset[int | tuple[int, int]]  # parameters, and columns of tables that are parameters


def reject_jumps(derivations: Derivations, function: Function, inputs: object) -> None:
    """CompileError if a number drawn in the function, or in what it calls, jumps with one of the inputs."""
    concerned = _drawing(derivations.program)
    if function.name in concerned:
        assert isinstance(inputs, Iterable)
        _follow(derivations, function, frozenset(inputs), concerned, set())


def _drawing(program: Program) -> set[str]:
    """The functions that draw such numbers, by themselves or in what they call."""
    callers: dict[str, set[str]] = {}
    waiting: list[str] = []
    for function in program.functions.values():
        for op in function.body.walk():
            if op.name == "discrete":
                waiting.append(function.name)
            elif op.name == "call":
                callers.setdefault(str(op.attrs["callee"]), set()).add(function.name)
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += callers.get(name, ())
    return found


def _follow(
    derivations: Derivations, function: Function, inputs: Places, concerned: set[str], seen: set[tuple[str, Places]]
) -> None:
    if (function.name, inputs) in seen:
        return
    seen.add((function.name, inputs))
    links, params = record_links(derivations.program), function.body.params
    starts = [params[place] if isinstance(place, int) else (params[place[0]], place[1]) for place in inputs]
    activity = Activity(
        function, starts, [], Aliases(function, derivations.written, links), derivations.written,
        derivations.types.carries, links, columns=derivations.program.layouts,
    )  # fmt: skip
    for op in function.body.walk():
        if op.name == "discrete" and activity.varied(op.operands[0]):
            raise _refused(op)
        if op.name == "call" and (callee := str(op.attrs["callee"])) in concerned:
            places = frozenset(_varied(activity, op.operands))
            if places:
                _follow(derivations, derivations.program.functions[callee], places, concerned, seen)


def _varied(activity: Activity, operands: Iterable[Value]) -> Iterable[int | tuple[int, int]]:
    for place, value in enumerate(operands):
        if isinstance(value.type, Table):
            yield from ((place, column) for column in activity.varied_columns(value))
        elif activity.varied(value):
            yield place


def _refused(op: Op) -> CompileError:
    return CompileError(
        Diagnostic(
            "a random number has no derivative by this parameter", op.span, "this is differentiated by it",
            "draw with pb.stop_gradient(...) of the parameter, or differentiate the probability instead",
        )
    )  # fmt: skip
