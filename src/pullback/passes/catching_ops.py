"""What single ops become where exceptions are caught: see `passes.catch`.

    check(ok) of site 3                  ok joins the checks that decide whether the block goes on
    r = call f(x)                   ->   r, site, values... = call f__caught(x)
    for n: body that may raise      ->   while(site == 0 and k < n)
    try {body} {handler}            ->   body; if(site == 0) {} {handler}
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pullback.analysis.raises import Site, failure_of, members_of, plain_site, with_cause
from pullback.ir.node import Block, Function, Op, Value
from pullback.ir.rule import RULE, rule_of
from pullback.ir.walk import count_ops
from pullback.passes.catching import SITE, Landing, Raised, Sites, State, is_raised, machine, zeros
from pullback.passes.catching_loops import Loops
from pullback.prims.base import Emitter, get
from pullback.prims.exceptions import takes
from pullback.types import EXCEPTION, Caught, is_float

if TYPE_CHECKING:
    from pullback.passes.catch import Plan

__all__ = ["Body"]

MOST_COPIES = 3  # of a handler that stands where the body raises ...
SHORT = 12  # ... if it has so few ops


class Body(Loops):
    """The new body of one function; `outer` are the sites that its callers take."""

    def __init__(self, plan: Plan, outer: Sites) -> None:
        super().__init__(plan)
        self.outer = outer

    def function(self, function: Function, name: str) -> Function:
        block = Block(self.fresh(function.body.params))
        e = Emitter(block, function.span)
        results, state = self.run(e, function.body, 0, {}, self.outer)
        if self.outer:
            results += self.state_values(e, state, self.keys(self.outer))
        block.results = results
        return Function(name, block, function.span, function.attrs | self._rule(function))

    def _rule(self, function: Function) -> dict[str, object]:
        """A function that returns the state has a derivative rule whose functions return it too."""
        rule = rule_of(function)
        if rule is None or not self.outer:
            return {}
        versions = {old: self.plan.version(old, self.outer) for old in (rule.jvp, rule.forward) if old is not None}
        return {RULE: replace(rule.renamed(versions), states=len(self.keys(self.outer)))}

    def op(self, e: Emitter, op: Op, state: State, caught: Sites) -> None:
        match op.name:
            case "mark":
                self.mark(op, state)
            case "try":
                self.try_(e, op, state, caught)
            case "if":
                self.if_(e, op, state, caught)
            case "for":
                self.for_(e, op, state, caught)
            case "while":
                self.while_(e, op, state, caught)
            case "caught_is" | "caught_member" | "caught_values":
                self.asked(e, op)
            case "box_null" if op.result.type == EXCEPTION:
                self.values[op.result] = tuple(zeros(e, self.plan.exception))
            case _ if "callee" in op.attrs:
                self.call(e, op, state, caught)
            case _:
                self.plain(e, op)

    def plain(self, e: Emitter, op: Op) -> None:
        """The same op; its blocks hold arithmetic only."""
        blocks = []
        for block in op.blocks:
            inner = Block(self.fresh(block.params))
            inner.results, _ = self.run(Emitter(inner, op.span), block, 0, {}, frozenset())
            blocks.append(inner)
        attrs = dict(op.attrs)
        if isinstance(attrs.get("types"), tuple):
            attrs["types"] = self.plan.expanded(attrs["types"])  # type: ignore[arg-type]
        new = Op(op.prim, self.mapped(op.operands), self.fresh(op.results), attrs, blocks, op.span)
        e.block.ops.append(new)

    def mark(self, op: Op, state: State) -> None:
        state.update(zip(self.marked(op), self.mapped(op.operands), strict=True))

    # ------------------------------------------------------------------------------------------------ raising

    def check(self, e: Emitter, op: Op, caught: Sites) -> list[Raised]:
        taken: list[Raised] = []
        for raised in self.alternatives(e, op):
            if raised[1] in caught:
                taken.append(raised)
            else:
                self.emit_check(e, *raised, op=op)
        return taken

    def alternatives(self, e: Emitter, op: Op) -> list[Raised]:
        """What the check raises, once for each exception that its cause may be."""
        ok, *payload = op.operands
        condition = self.values[ok][0]
        site, cause = plain_site(op), op.attrs.get("cause")
        if not isinstance(cause, Caught):
            return [(condition, site, self.mapped(payload))]
        number, *pool = self.values[payload[-1]]
        found: list[Raised] = []
        for other in self.plan.raises.of_exception(payload[-1], frozenset(cause.members)):
            fits = e("or_", condition, e("ne", number, e.integer(self.plan.numbers[other])))
            raised = with_cause(site, other)
            carried = [pool[place] for place in self.plan.places(other.types)[: len(raised.types) - raised.own]]
            found.append((fits, raised, [*self.mapped(payload[:-1]), *carried]))
        return found

    def emit_check(self, e: Emitter, ok: Value, site: Site, payload: Sequence[Value], op: Op | None = None) -> None:
        """A check that leaves the function."""
        attrs: dict[str, object] = {"exception": site.exception, "message": site.message}
        given = {"failure": site.failure, "cause": site.cause, "suppress": site.suppress}
        attrs |= {name: value for name, value in given.items() if value}
        if op is not None and op.attrs.get("shapes"):
            attrs["shapes"] = True
        around, e.span = e.span, site.span
        e.append(get("check"), [ok, *payload], attrs=attrs, types=())
        e.span = around

    def reraise(
        self, e: Emitter, op: Op, block: Block, number: int, state: State, caught: Sites
    ) -> tuple[list[Value], State]:
        """A check for each place whose exception leaves; of the others the state tells again."""
        results = self.placeholders(block, number)(e)
        site, *pool = self.values[op.operands[0]]
        possible = self.plan.raises.of_exception(op.operands[0], members_of(op))
        for other in possible:
            if other not in caught:
                payload = [pool[place] for place in self.plan.places(other.types)]
                self.emit_check(e, e("ne", site, e.integer(self.plan.numbers[other])), other, payload)
        taken = [other for other in possible if other in caught]
        if taken:
            state[SITE] = site
            state.update((("pool", place), pool[place]) for place in self.plan.used(taken))
            if block in self.landings:
                return self.landings[block].handle(e, state)
        return results, state

    def try_(self, e: Emitter, op: Op, state: State, caught: Sites) -> None:
        """The body, and where one of its sites has raised the handler; sites that others take pass by."""
        body, handler = op.blocks
        taken = frozenset(self.plan.raises.caught.get(op, {}))
        passing = bool((caught - taken).intersection(self.plan.raises.of_block(body)))
        inits = self.mapped(op.operands)
        seen: list[Hashable] = [("mark", op.attrs["guard"], i) for i in range(len(inits))]
        marks: State = dict(zip(seen, inits, strict=True))

        def handle(e: Emitter, raised: State) -> tuple[list[Value], State]:
            parts = self.state_values(e, raised, [SITE, *(("pool", i) for i in range(len(self.plan.pool)))])
            self.bind(handler.params, [*parts, *(raised[key] for key in marks)])
            fine = {key: value for key, value in raised.items() if not is_raised(key) and key not in marks}
            return self.run(e, handler, 0, fine, caught)

        if not passing and self.is_short(body, handler, caught | taken):
            self.landings[body] = Landing(frozenset(marks), handle)
        else:
            self.landings.pop(body, None)
        results, after = self.run(e, body, 0, state | marks, caught | taken)
        if SITE in after and body not in self.landings:
            results, after = self.handled(e, results, after, handle, taken if passing else None)
        self.bind(op.results, results)
        state.clear()
        state.update((key, value) for key, value in after.items() if key not in marks)

    def is_short(self, body: Block, handler: Block, caught: Sites) -> bool:
        """May the handler stand wherever the body raises."""
        places = sum(1 for op in body.ops if self.sites_of(op, caught))
        return places <= 1 or (places <= MOST_COPIES and count_ops(handler) <= SHORT)

    def handled(
        self, e: Emitter, results: list[Value], after: State,
        handle: Callable[[Emitter, State], tuple[list[Value], State]], taken: Sites | None,
    ) -> tuple[list[Value], State]:  # fmt: skip
        """The handler after the body; `taken`: the sites that it takes, where others pass by."""
        site = after[SITE]
        fine = {key: value for key, value in after.items() if not is_raised(key)}

        def raised(e: Emitter) -> tuple[list[Value], State]:
            if taken is None:
                return handle(e, after)
            mine = self.one_of(e, site, list(taken))
            return self.choose(
                e, mine, lambda e: handle(e, after), lambda e: (zeros(e, map(machine, results)), after)
            )  # fmt: skip

        return self.choose(e, e("eq", site, e.integer(0)), lambda e: (results, fine), raised)

    def one_of(self, e: Emitter, site: Value, sites: Sequence[Site]) -> Value:
        """Is the number that of one of the sites."""
        found: Value | None = None
        for number in sorted(self.plan.numbers[other] for other in sites):
            hit = e("eq", site, e.integer(number))
            found = hit if found is None else e("or_", found, hit)
        return e.boolean(False) if found is None else found

    def asked(self, e: Emitter, op: Op) -> None:
        """What a handler asks of its exception."""
        exception = op.operands[0]
        site, *pool = self.values[exception]
        if op.name == "caught_values":
            types = op.attrs["types"]
            assert isinstance(types, tuple)
            types = self.plan.expanded(types)
            made = any(failure_of(site) == op.attrs["member"] for site in self.plan.sites)
            self.bind(op.results, [pool[i] for i in self.plan.places(types)] if made else zeros(e, types))
            return
        possible = self.plan.raises.of_exception(exception, None)
        if op.name == "caught_is":
            kinds = op.attrs["kinds"]
            assert isinstance(kinds, tuple)
            hits = [other for other in possible if takes(kinds, other.exception)]
            answer = e.boolean(True) if len(hits) == len(possible) else self.one_of(e, site, hits)
        else:
            answer = self.which(e, op, site, list(possible))
        self.values[op.result] = (answer,)

    def which(self, e: Emitter, op: Op, site: Value, possible: Sequence[Site]) -> Value:
        """The number of the member that a place makes."""
        members = op.attrs["members"]
        assert isinstance(members, tuple)
        answer = e.integer(0)
        for number, member in enumerate(members[1:], 1):
            places = [other for other in possible if failure_of(other) == member]
            answer = e("select", self.one_of(e, site, places), e.integer(number), answer)
        return answer

    # ------------------------------------------------------------------------------------------------ calls

    def call(self, e: Emitter, op: Op, state: State, caught: Sites) -> None:
        """A call, or a request for a derivative, of the version that returns the state."""
        callee, box = str(op.attrs["callee"]), op.attrs.get("box")
        sites = self.plan.boxes[str(box)] if box in self.plan.boxes else self.sites_of(op, caught)
        if not sites:
            self.plain(e, op)
            return
        keys = self.keys(sites)
        types = [self.type_of(key) for key in keys]
        attrs = dict(op.attrs) | {"callee": self.plan.version(callee, sites)}
        operands = self.mapped(op.operands)
        results = [machine(v) for v in self.fresh(op.results)]
        if op.name == "pullback":
            operands += zeros(e, filter(is_float, types))
            self.bind(op.results, e.append(op.prim, operands, attrs=attrs, types=results).results)
            return
        width = len(self.plan.expanded(machine(v) for v in self.plan.originals[callee].body.results))
        tangents = [t for t in types if is_float(t)] if op.name == "jvp" else []
        made = e.append(
            op.prim, operands, attrs=attrs, types=[*results[:width], *types, *results[width:], *tangents]
        ).results  # fmt: skip
        end = width + len(keys)
        self.bind(op.results, [*made[:width], *made[end : end + len(results) - width]])
        found = dict(zip(keys, made[width:end], strict=True))
        for site in sites - caught:
            payload = [found["pool", place] for place in self.plan.places(site.types)]
            self.emit_check(e, e("ne", found[SITE], e.integer(self.plan.numbers[site])), site, payload)
        if sites & caught:
            state |= found

    # ------------------------------------------------------------------------------------------------ control

    def if_(self, e: Emitter, op: Op, state: State, caught: Sites) -> None:
        sides = []
        for block in op.blocks:
            inner = Emitter(Block(), op.span)
            sides.append((inner, *self.run(inner, block, 0, state, caught)))
        results, after = self.merge(e, self.values[op.operands[0]][0], sides)
        self.bind(op.results, results)
        state.clear()
        state.update(after)
