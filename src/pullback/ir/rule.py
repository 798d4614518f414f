"""Functions with a derivative rule of their own: which functions take the place of their derivations.

    square{rule: Rule(jvp="square_jvp")}(x) -> y

    jvp(params..., tangents of `inputs`..., hidden...) -> results..., tangents of `outputs`...
    forward(params..., hidden...) -> results..., residuals...
    backward(residuals..., cotangents of `outputs`..., hidden...) -> cotangents of `inputs`...

All are ordinary functions of the program; `hidden` are the last parameters of all four, the same for each.  Tangents
and cotangents of arrays are contiguous, and what a rule returns shares no memory with what it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pullback.ir.node import Function, Program, Value
from pullback.types import ArrayRef, Machine

__all__ = ["RULE", "Rule", "mentioned_by_rule", "misfit", "rule_of"]

RULE = "rule"  # the attribute of a function that has one


@dataclass(frozen=True, slots=True)
class Rule:
    """Names of functions; `inputs` and `outputs` are positions of parameters and results that have a derivative.

    title: what the user calls the function.  declared: how many parameters come before the hidden ones.
    states: how many results, the last ones of all but `backward`, tell what the function has raised; the first of them
    is 0 where it has returned.
    """

    title: str
    declared: int
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    jvp: str | None = None
    forward: str | None = None
    backward: str | None = None
    states: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The functions of the rule."""
        return tuple(name for name in (self.jvp, self.forward, self.backward) if name is not None)

    def renamed(self, names: Mapping[str, str]) -> Rule:
        """The rule by functions of other names."""
        new = (None if name is None else names.get(name, name) for name in (self.jvp, self.forward, self.backward))
        jvp, forward, backward = new
        return replace(self, jvp=jvp, forward=forward, backward=backward)


def misfit(function: Function, program: Program) -> str:
    """What is wrong with the functions of its rule; empty where nothing is."""
    rule = rule_of(function)
    if rule is None:
        return ""
    params, results = _types(function.body.params), _types(function.body.results)
    states = results[len(results) - rule.states :]
    results = results[: len(results) - rule.states]
    declared, hidden = params[: rule.declared], params[rule.declared :]
    inputs, outputs = [_tangent(params[i]) for i in rule.inputs], [_tangent(results[i]) for i in rule.outputs]
    taken = {rule.jvp: [*declared, *inputs, *hidden], rule.forward: params}
    given = {rule.jvp: [*results, *outputs, *states], rule.backward: inputs}
    for name in rule.names:
        body = program.functions[name].body
        if _types(body.params) != taken.get(name, _types(body.params)):
            return f"{name} does not take what the rule of {function.name} is given"
        if _types(body.results) != given.get(name, _types(body.results)):
            return f"{name} does not return what the rule of {function.name} gives"
    return ""


def _types(values: Sequence[Value]) -> list[Machine | None]:
    return [v.type for v in values]


def _tangent(type_: Machine | None) -> Machine | None:
    return ArrayRef(type_.dtype, type_.rank, True) if isinstance(type_, ArrayRef) else type_


def rule_of(function: Function) -> Rule | None:
    """The rule of a typed function, if it has one."""
    found = function.attrs.get(RULE)
    return found if isinstance(found, Rule) else None


def mentioned_by_rule(function: Function) -> tuple[str, ...]:
    """The functions that its rule needs."""
    rule = rule_of(function)
    return () if rule is None else rule.names
