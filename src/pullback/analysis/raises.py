"""What may be raised where, over a whole program: facts for `passes.catch` and for the types of handlers.

    def f(x): check{ZeroDivisionError}(x != 0.0) ...         escapes f: {that check}
    try: call f                                              caught here: {that check}
    handler (e): ... reraise(e)                              escapes again

A `Site` is a place that raises; two ops that raise the same from the same line are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pullback.diagnostic import UNKNOWN, Span
from pullback.ir.node import Block, Function, Op, Value
from pullback.ir.rule import rule_of
from pullback.prims.exceptions import REPR, takes
from pullback.types import Caught, DType, Failure, Machine, Number, Scalar, Str, Template, Type, slots

__all__ = ["Raises", "Site", "Sites", "failure_of", "members_of", "plain_site", "site_of", "with_cause"]


@dataclass(frozen=True, slots=True)
class Site:
    """What is raised, from where, and the types of what goes with it: its own first, then that of its cause."""

    exception: str
    message: str
    span: Span
    types: tuple[Machine, ...] = ()
    failure: Failure | None = None
    cause: Site | None = None
    suppress: bool = False  # raised `from None`

    @property
    def payload(self) -> tuple[DType, ...]:
        """The kinds of the numbers that go with it."""
        return tuple(t.dtype for t in self.types if isinstance(t, Scalar))

    @property
    def own(self) -> int:
        """How many of the types are its own."""
        return len(self.types) - (len(self.cause.types) if self.cause is not None else 0)


MOST_CAUSES = 3  # of one exception, each raised from the next

Sites = dict[Site, None]  # an ordered set


def failure_of(site: Site) -> Failure:
    """The exception object that a handler gets."""
    if site.failure is not None:
        return site.failure
    types = site.types[: site.own]
    if site.message.startswith(REPR):
        return Failure(site.exception, (_shown(site.message.removeprefix(REPR), types),))
    if types:
        numbers = tuple(Number(t.dtype) for t in types if isinstance(t, Scalar))
        return Failure(site.exception, (Template(site.message, numbers),))
    return Failure(site.exception, (Str(site.message),) if site.message else ())


def _shown(text: str, types: Sequence[Machine]) -> Type:
    """The argument whose repr() is the text."""
    numbers = tuple(Number(t.dtype) for t in types if isinstance(t, Scalar))
    if text == "{0}" and len(numbers) == 1:
        return numbers[0]
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and "\\" not in text
    return Str(text[1:-1]) if quoted and not types else Template(REPR + text, numbers)


class Raises:
    """`escapes` of functions and `caught` of `try` ops; functions that are not there yet raise nothing."""

    def __init__(self, functions: Mapping[str, Function], more: Sequence[Block] = ()) -> None:
        """`more`: blocks under construction; then of the functions only those that they reach matter."""
        if more:
            functions = _reached(functions, more)
        self.functions = functions
        self.escapes: dict[str, Sites] = {name: {} for name in functions}
        self.caught: dict[Op, Sites] = {}
        self.kept: dict[Value, Op] = {}  # the exception of each handler -> its op
        self.unknown: set[str] = set()  # callees that are not there
        self.growing = True
        while self.growing:
            self.growing = False
            for name, function in functions.items():
                self._grow(self.escapes[name], self.of_block(function.body))
                for other in _in_place_of(function):
                    self._grow(self.escapes[name], self.escapes.get(other, {}))
            for block in more:
                self.of_block(block)

    def _grow(self, known: Sites, found: Sites) -> None:
        size = len(known)
        known.update(found)
        self.growing = self.growing or len(known) != size

    def of_block(self, block: Block) -> Sites:
        found: Sites = {}
        for op in block.ops:
            found.update(self.of_op(op))
        return found

    def of_op(self, op: Op) -> Sites:
        """What may come out of the op."""
        if op.name == "check":
            return self.of_check(op)
        if op.name == "reraise":
            return self.of_exception(op.operands[0], members_of(op))
        if op.name == "try":
            return self.of_try(op)
        found: Sites = {}
        callee = op.attrs.get("callee")
        if isinstance(callee, str) and op.name != "pullback":
            if callee not in self.functions:
                self.unknown.add(callee)
            found.update(self.escapes.get(callee, {}))
        for block in op.blocks:
            found.update(self.of_block(block))
        return found

    def of_try(self, op: Op) -> Sites:
        body, handler = op.blocks
        kinds = op.attrs["kinds"]
        assert isinstance(kinds, tuple)
        self.kept[handler.params[0]] = op
        inside = self.of_block(body)
        caught = {site: None for site in inside if takes(kinds, site.exception)}
        self._grow(self.caught.setdefault(op, {}), caught)
        return {**{site: None for site in inside if site not in caught}, **self.of_block(handler)}

    def of_check(self, op: Op) -> Sites:
        """One site; for each cause that it may have, one more."""
        site = plain_site(op)
        cause = op.attrs.get("cause")
        if not isinstance(cause, Caught):
            return {site: None}
        causes = self.of_exception(op.operands[-1], frozenset(cause.members))
        if not causes and op.operands[-1] not in self.kept:
            return {site: None}  # of a handler that is not looked at
        return dict.fromkeys(with_cause(site, other) for other in causes)

    def of_exception(self, value: Value, members: frozenset[Failure] | None) -> Sites:
        """The sites that the value of a handler may come from, if they make one of the members."""
        op = self.kept.get(value)
        every = (
            self.caught.get(op, {}) if op is not None else {site: None for s in self.caught.values() for site in s}
        )
        return {site: None for site in every if members is None or failure_of(site) in members}


def _reached(functions: Mapping[str, Function], blocks: Sequence[Block]) -> dict[str, Function]:
    found: dict[str, Function] = {}
    waiting = list(blocks)
    while waiting:
        for op in waiting.pop().walk():
            callee = op.attrs.get("callee")
            if isinstance(callee, str) and callee in functions and callee not in found:
                found[callee] = functions[callee]
                rules = [functions[name].body for name in _in_place_of(functions[callee]) if name in functions]
                waiting += [functions[callee].body, *rules]
    return found


def _in_place_of(function: Function) -> tuple[str, ...]:
    """The functions of a derivative rule that run where the function is called."""
    rule = rule_of(function)
    return () if rule is None else tuple(name for name in (rule.jvp, rule.forward) if name is not None)


def members_of(op: Op) -> frozenset[Failure]:
    """What a `reraise` may raise."""
    members = op.attrs["members"]
    assert isinstance(members, tuple)
    return frozenset(members)


def plain_site(op: Op) -> Site:
    """The site of a check, with the cause that is made where it raises, if there is one."""
    failure, cause = op.attrs.get("failure"), op.attrs.get("cause")
    assert failure is None or isinstance(failure, Failure)
    types = tuple(v.type for v in op.operands[1:] if v.type is not None)
    site = Site(
        str(op.attrs["exception"]), str(op.attrs["message"]), op.span, types, failure,
        suppress=bool(op.attrs.get("suppress")),
    )  # fmt: skip
    if isinstance(cause, Caught):
        return with_cause(site, None, types[:-1])
    if not isinstance(cause, Failure):
        return site
    made = Site(cause.kind, "", UNKNOWN, slots(cause), cause)  # never raised itself, so from nowhere
    return with_cause(site, made, types[: len(types) - len(slots(cause))])


def site_of(op: Op) -> Site:
    """The site of a check whose cause is known: one that nobody takes."""
    site, cause = plain_site(op), op.attrs.get("cause")
    if not isinstance(cause, Site):
        return site
    return with_cause(site, cause, site.types[: len(site.types) - len(cause.types)])


def with_cause(site: Site, cause: Site | None, own: tuple[Machine, ...] | None = None) -> Site:
    """The site with another cause."""
    own = site.types[: site.own] if own is None else own
    cause = None if cause is None else _cut(cause, MOST_CAUSES - 1)
    types = own if cause is None else (*own, *cause.types)
    return Site(site.exception, site.message, site.span, types, site.failure, cause, site.suppress)


def _cut(site: Site, depth: int) -> Site:
    """The site with so many causes behind it at most: in a loop each exception could be raised from the last."""
    cause = _cut(site.cause, depth - 1) if site.cause is not None and depth > 0 else None
    types = site.types[: site.own] if cause is None else (*site.types[: site.own], *cause.types)
    return Site(site.exception, site.message, site.span, types, site.failure, cause, site.suppress)

