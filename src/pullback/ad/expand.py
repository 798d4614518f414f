"""Replaces every request for a derivative by plain typed code, innermost first.

    r, g = value_and_grad{callee: f, wrt: (0,)}(x, n)      ->      the body of f's joint form, spliced in

Before f is differentiated, its own requests (and those of what it calls) are expanded, `optimise` runs on it, and loops
whose condition writes are rotated.  Calls that remain are differentiated on demand: derived functions are made once per
callee, kind and activity, and live in the program.  An order of differentiation that depends on data is a CompileError.
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.ad import derive, ruled
from pullback.ad.checkpoints import forget, silent
from pullback.ad.forward import tangent_function
from pullback.ad.jumps import reject_jumps
from pullback.ad.kept import Residual
from pullback.ad.primal import Mask, SplitCall
from pullback.ad.rotate import rotate
from pullback.ad.schedule import Budget, schedule
from pullback.ad.shadows import ShadowTypes, coerce, copy_array
from pullback.ad.zeros import zeros_function
from pullback.analysis.alias import NO_WRITES, Writes, written_parameters
from pullback.diagnostic import CompileError, Diagnostic
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.rule import mentioned_by_rule, rule_of
from pullback.ir.walk import clone_ops
from pullback.prims.base import Emitter
from pullback.types import ArrayRef, is_float

__all__ = ["expand"]

REQUESTS = frozenset({"value_and_grad", "jvp", "vjp", "pullback"})
Optimise = Callable[[Function, Program], None]


def expand(program: Program, *, optimise: Optimise | None = None, budget: Budget | None = None) -> list[Residual]:
    """Expand all requests of the program, in place.  `budget`: loops keep within it (see `schedule`).

    The answer says what the reverse halves are given to keep.
    """
    driver = _Driver(program, optimise, budget)
    driver.reject_endless()
    ruled.reject_writes(driver)
    for name in list(program.functions):
        driver.expanded(name)
    ruled.forget_rules(program)
    driver.prune()
    kept = driver.kept
    for function in program.functions.values():
        forget(function)
    return kept


class _Driver:
    """Implements `primal.Derivations`."""

    def __init__(self, program: Program, optimise: Optimise | None, budget: Budget | None) -> None:
        self.program = program
        self.budget = budget
        self.kept: list[Residual] = []
        self._scheduled: set[str] = set()
        self.types = ShadowTypes(program)
        self.optimise = optimise
        self._written: dict[str, Writes] | None = None
        self._declared: dict[str, frozenset[int]] = {}
        if any(op.name in REQUESTS for function in program.functions.values() for op in function.body.walk()):
            self._declared = {name: found.written for name, found in self.written.items()}
        self._expanded: set[str] = set()
        self._optimised: set[str] = set()
        self._pending: list[Callable[[], None]] = []
        self._splits: dict[tuple[str, Mask], SplitCall] = {}
        self._tangents: dict[tuple[str, Mask], str] = {}
        self._reruns: dict[tuple[str, Mask], str] = {}
        self._zeros: dict[str, str] = {}
        self._around: dict[str, Function] = {}
        self._templates: dict[tuple[object, ...], Function] = {}
        self._halves: dict[str, tuple[Function, Function]] = {}

    # --------------------------------------------------------------------------------------- what derivations ask

    @property
    def written(self) -> dict[str, Writes]:
        if self._written is None:
            self._written = written_parameters(self.program)
        return self._written

    def declared(self, name: str) -> frozenset[int] | None:
        """The parameters that a function of the program wrote before anything in it was derived."""
        return self._declared.get(name)

    def split(self, name: str, mask: Mask) -> SplitCall:
        found = self._splits.get((name, mask))
        if found is None:
            augmented, pull = self.fresh(f"{name}.aug{mask}"), self.fresh(f"{name}.pull{mask}")
            found = SplitCall(augmented, pull, self.fresh_box(f"{name}.record{mask}"))
            self._splits[name, mask] = found
            names = found

            def make() -> None:
                source = self.program.functions[name]
                halves = derive.split if rule_of(source) is None else ruled.split
                for function in halves(self, source, mask, names):
                    self.program.functions[function.name] = function

            self._pending.append(make)
        return found

    def tangent(self, name: str, mask: Mask) -> str:
        found = self._tangents.get((name, mask))
        if found is None:
            found = self._tangents[name, mask] = derived = self.fresh(f"{name}.jvp{mask}")

            def make() -> None:
                source = self.program.functions[name]
                push = tangent_function if rule_of(source) is None else ruled.tangent
                self.program.functions[derived] = push(self, source, mask, derived)

            self._pending.append(make)
        return found

    def again(self, name: str, mask: Mask) -> str:
        found = self._reruns.get((name, mask))
        if found is None:
            found = self._reruns[name, mask] = derived = self.fresh(f"{name}.again{mask}")
            source = silent(self.program, name)

            def make() -> None:
                self.program.functions[derived] = derive.again(self, self.derived_from(source), mask, derived)

            self._pending.append(make)
        return found

    def zeros(self, box: str) -> str:
        if box not in self._zeros:
            self._zeros[box] = name = self.fresh(f"zeros.{box}")

            def make() -> None:
                self.program.functions[name] = zeros_function(self, box, name)

            self._pending.append(make)
        return self._zeros[box]

    def fresh(self, stem: str) -> str:
        """A function name; a derivation of several derivations stays readable."""
        taken = {*self.program.functions, *self._tangents.values(), *self._reruns.values(), *self._zeros.values()}
        taken |= {name for split in self._splits.values() for name in (split.augmented, split.pull)}
        return _unused(stem, taken)

    def fresh_box(self, stem: str) -> str:
        """The name of a new layout, which is empty until its values are known."""
        name = _unused(stem, set(self.program.layouts))
        self.program.layouts[name] = []
        return name

    def _finish(self) -> None:
        """Make the derived functions that were asked for, and those they ask for."""
        while self._pending:
            self._pending.pop()()
        self._written = None

    # ------------------------------------------------------------------------------------------------------- order

    def reject_endless(self) -> None:
        """A function whose derivative needs its own derivative has no end."""
        calls = {name: _mentioned(function) for name, function in self.program.functions.items()}
        for name, function in self.program.functions.items():
            for op in function.body.walk():
                if op.name in REQUESTS and name in _reachable(str(op.attrs["callee"]), calls):
                    raise CompileError(
                        Diagnostic(
                            title="the order of differentiation depends on run-time data",
                            span=op.span,
                            label="this differentiates a function that can reach this very place again",
                            help="nest derivatives a fixed number of times instead of by recursion",
                        )
                    )

    def ready(self, name: str) -> Function:
        """The function as it is differentiated: no requests in it or in what it calls, optimised."""
        for reached in _reachable(name, self._calls(name)):
            self.expanded(reached)
        for reached in _reachable(name, self._calls(name)):
            if reached not in self._optimised:
                self._optimised.add(reached)
                if self.optimise is not None:
                    self.optimise(self.program.functions[reached], self.program)
                    self._written = None
                rotate(self.program.functions[reached])
        return self.derived_from(name)

    def derived_from(self, name: str) -> Function:
        """The function that is differentiated for a request: one with a rule is called, so that the rule is used."""
        function = self.program.functions[name]
        if rule_of(function) is None:
            return function
        if name not in self._around:
            self._around[name] = ruled.around(function)
        return self._around[name]

    def _calls(self, name: str) -> dict[str, list[str]]:
        calls: dict[str, list[str]] = {}
        pending = [name]
        while pending:
            caller = pending.pop()
            if caller not in calls:
                calls[caller] = _mentioned(self.program.functions[caller])
                pending += calls[caller]
        return calls

    def expanded(self, name: str) -> None:
        """Expand the requests of one function."""
        if name in self._expanded:
            return
        self._expanded.add(name)
        self._block(self.program.functions[name].body, {})
        self._written = None

    # ---------------------------------------------------------------------------------------------------- requests

    def _block(self, block: Block, mapping: dict[Value, Value]) -> None:
        old, block.ops = block.ops, []
        for op in old:
            op.operands = [mapping.get(v, v) for v in op.operands]
            if op.name in REQUESTS:
                results = self._request(Emitter(block, op.span), op)
                mapping.update(zip(op.results, results, strict=True))
                continue
            for inner in op.blocks:
                self._block(inner, mapping)
            block.ops.append(op)
        block.results = [mapping.get(v, v) for v in block.results]

    def _request(self, e: Emitter, op: Op) -> list[Value]:
        function = self.ready(str(op.attrs["callee"]))
        reject_jumps(self, function, op.attrs["wrt"])
        if op.name != "jvp":
            self.schedule(function)
        wrt = op.attrs["wrt"]
        assert isinstance(wrt, tuple)
        operands = list(op.operands)
        if op.name == "value_and_grad":
            template = self._value_and_grad(function, wrt, op)
        elif op.name == "jvp":
            template, operands = self._jvp(e, function, wrt, operands)
        else:
            template = self._half(function, wrt, op)
        self._finish()
        operands = [coerce(e, v, p.type) for v, p in zip(operands, template.body.params, strict=True)]
        mapping = dict(zip(template.body.params, operands, strict=True))
        e.block.ops += clone_ops(template.body.ops, mapping)
        results = [mapping.get(v, v) for v in template.body.results]
        return [coerce(e, v, wanted.type) for v, wanted in zip(results, op.results, strict=True)]

    def schedule(self, function: Function) -> None:
        """Let the loops of a function that is differentiated in reverse keep within the budget."""
        if self.budget is not None and function.name not in self._scheduled:
            self._scheduled.add(function.name)
            schedule(function, self.program, self.written, self.budget)
            self._written = None

    def _value_and_grad(self, function: Function, wrt: tuple[int, ...], op: Op) -> Function:
        outputs = op.attrs["outputs"]
        assert isinstance(outputs, tuple)
        seeded = bool(op.attrs.get("seeded"))
        key = ("grad", function.name, wrt, outputs, seeded)
        if key not in self._templates:
            self._templates[key] = derive.joint(self, function, wrt, outputs, seeded=seeded)
        return self._templates[key]

    def _jvp(
        self, e: Emitter, function: Function, wrt: tuple[int, ...], operands: list[Value]
    ) -> tuple[Function, list[Value]]:
        body = function.body
        params = tuple(i in wrt for i in range(len(body.params)))
        mask = Mask(params, tuple(v.type is not None and is_float(v.type) for v in body.results))
        key = ("jvp", function.name, mask)
        if key not in self._templates:
            name = f"{function.name}.jvp{mask}"
            self._templates[key] = tangent_function(self, function, mask, name, tame=True)
        count = len(body.params)
        written = self.written.get(function.name, NO_WRITES).written
        given = {  # what the caller hands over is never written
            i: copy_array(e, v) if i in written and isinstance(v.type, ArrayRef) else v
            for i, v in zip(wrt, operands[count:], strict=True)
        }
        return self._templates[key], [*operands[:count], *(given[i] for i in sorted(given))]

    def _half(self, function: Function, wrt: tuple[int, ...], op: Op) -> Function:
        box = str(op.attrs["box"])
        if box not in self._halves:
            names = SplitCall(f"{function.name}.aug.{box}", f"{function.name}.pull.{box}", box)
            self._halves[box] = derive.vjp(self, function, wrt, names)
        return self._halves[box][op.name == "pullback"]

    def prune(self) -> None:
        """Drop functions that the entry does not reach."""
        if self.program.entry in self.program.functions:
            reached = _reachable(self.program.entry, self._calls(self.program.entry))
            self.program.functions = {k: f for k, f in self.program.functions.items() if k in reached}


def _unused(stem: str, taken: set[str]) -> str:
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}.{number}"
    return name


def _mentioned(function: Function) -> list[str]:
    """Callees of calls and of requests, and of a rule, in order."""
    names = [str(op.attrs["callee"]) for op in function.body.walk() if op.name == "call" or op.name in REQUESTS]
    return list(dict.fromkeys([*names, *mentioned_by_rule(function)]))


def _reachable(name: str, calls: dict[str, list[str]]) -> list[str]:
    """Functions reached from `name`, itself included, callees before callers where there are no cycles."""
    order: list[str] = []
    seen: set[str] = set()
    pending: list[tuple[str, bool]] = [(name, False)]
    while pending:
        current, done = pending.pop()
        if done:
            order.append(current)
        elif current not in seen:
            seen.add(current)
            pending.append((current, True))
            pending += [(callee, False) for callee in calls.get(current, ())]
    return order
