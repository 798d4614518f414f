"""Fields that are set before anybody can read them, so that reading them needs no check.

    def __init__(self, x):
        self.x = x                  set
        self.reset()                from here on others have seen the object
        self.y = 0.0                set, but perhaps too late
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pullback.ir.node import Block, Function, Op, Value

__all__ = ["Initialised", "initialised"]


@dataclass(slots=True)
class Initialised:
    """The fields set so far; `seen`: others may have seen the object."""

    fields: frozenset[str] = frozenset()
    seen: bool = False
    ended: bool = False  # the path does not go on

    def copy(self) -> Initialised:
        return Initialised(self.fields, self.seen, self.ended)


# The steps of super().__init__: op, attribute, what its operand is, number of operands -> what it gives.
_STEPS: dict[tuple[str, object, str | None, int], str] = {
    ("py.global", "super", None, 0): "super",
    ("py.call", None, "super", 1): "base",
    ("py.call", None, "super", 3): "base",  # the class around and the first argument are named
    ("py.attribute", "__init__", "base", 1): "init",
}  # fmt: skip


@dataclass(slots=True)
class _Walk:
    """The walk over one __init__.

    is_plain: does reading or writing an attribute of this name run no code of the user.  base: what the next __init__
    along the MRO sets.
    """

    me: Value
    is_plain: Callable[[str], bool]
    base: Callable[[], Initialised]
    supers: dict[Value, str] = field(default_factory=dict)  # what is `super` itself, super(), super().__init__
    early: set[str] = field(default_factory=set)  # read where they may not be set yet
    state: Initialised = field(default_factory=Initialised)

    def block(self, block: Block) -> None:
        for op in block.ops:
            if self.state.ended:
                return
            self.op(op)
        self.state.seen = self.state.seen or self.me in block.results

    def op(self, op: Op) -> None:
        state = self.state
        if op.name == "py.setattr" and op.operands[0] is self.me and op.operands[1] is not self.me:
            self.set(str(op.attrs["name"]))
        elif op.name == "py.attribute" and op.operands[0] is self.me:
            self.get(str(op.attrs["name"]))
        elif self.note_super(op):
            return
        elif op.name == "py.call" and self.supers.get(op.operands[0]) == "init":
            self.call_base(op)
        elif op.name == "if":
            self.branches(op.blocks)
        elif op.name == "py.raise":
            state.ended = True
        else:
            state.seen = state.seen or self.me in op.operands
            for inner in op.blocks:
                self.aside(inner)

    def get(self, name: str) -> None:
        if name in self.state.fields:
            return
        self.early.add(name)
        self.state.seen = self.state.seen or not self.is_plain(name)

    def set(self, name: str) -> None:
        if not self.is_plain(name):
            self.state.seen = True
        elif not self.state.seen and name not in self.early:
            self.state.fields |= {name}

    def note_super(self, op: Op) -> bool:
        """Is it a step of super().__init__(...), before that call itself?  If so, what it gives is noted."""
        first = self.supers.get(op.operands[0]) if op.operands else None
        step = (op.name, op.attrs.get("name"), first, len(op.operands))
        found = _STEPS.get(step)
        if found:
            self.supers[op.result] = found
        return found is not None

    def call_base(self, op: Op) -> None:
        """super().__init__(...)"""
        before = self.state
        found = self.base()
        if not before.seen:
            before.fields |= found.fields
        before.seen = before.seen or found.seen or self.me in op.operands

    def branches(self, blocks: Sequence[Block]) -> None:
        """Set after an `if`: what both branches set, of those that go on."""
        before = self.state
        ends: list[Initialised] = []
        for block in blocks:
            self.state = before.copy()
            self.block(block)
            ends.append(self.state)
        on = [end for end in ends if not end.ended]
        seen = any(end.seen for end in ends)
        fields = frozenset.intersection(*(end.fields for end in on)) if on else before.fields
        self.state = Initialised(fields, seen, not on)

    def aside(self, block: Block) -> None:
        """A block that may run never, or several times: what it sets does not count."""
        before = self.state
        self.state = before.copy()
        self.block(block)
        self.state = Initialised(before.fields, self.state.seen)


def initialised(
    function: Function, is_plain: Callable[[str], bool], base: Callable[[], Initialised], start: Initialised
) -> Initialised:
    """What an __init__ sets, given what was set before it."""
    captures = function.attrs.get("captures", ())
    assert isinstance(captures, tuple)
    walk = _Walk(function.body.params[len(captures)], is_plain, base, state=start.copy())
    walk.block(function.body)
    return walk.state
