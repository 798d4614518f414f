"""What is known at a point of the walk: the value of each name, and whether control has left.

Jumps become flags.  A flag that is the same on every path is a Python bool and costs nothing; where paths differ it is
a value of the IR.

    done      control has left the statements being lowered (break, continue or return)
    go        the innermost loop goes on
    returned  the function has returned; its value is the binding of RETURN
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pullback.ir.node import Block, Value

__all__ = ["FLAGS", "RETURN", "Binding", "Branch", "Flag", "Guard", "State"]

RETURN = "return value"  # no name of Python has a space
FLAGS = ("done", "go", "returned")
Flag = bool | Value | None  # None: differs between paths, and nobody reads it


@dataclass(frozen=True, slots=True)
class Binding:
    """The value of a name.  `maybe`: it may be unset; `origin`: the value before `py.check_bound`.

    `dead`: the value is an old one.  It is set again before it is read, but may be merged where control has left.
    """

    value: Value
    maybe: bool = False
    origin: Value | None = None
    dead: bool = False

    @property
    def source(self) -> Value:
        return self.origin or self.value

    def buried(self) -> Binding:
        """The same, marked as dead."""
        return replace(self, dead=True)


@dataclass(slots=True)
class State:
    """Names (absent: not set), flags, and the mark of a `raise`."""

    names: dict[str, Binding] = field(default_factory=dict)
    flags: dict[str, Flag] = field(default_factory=lambda: {"done": False, "go": True, "returned": False})
    never: Value | None = None  # the result of py.raise: this point is not reached

    def copy(self) -> State:
        return State(dict(self.names), dict(self.flags), self.never)

    def bury(self, names: Iterable[str]) -> None:
        """From here on the names are set before they are read."""
        self.names.update({name: self.names[name].buried() for name in names if name in self.names})


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A `try` whose body is being lowered, with the names whose present values its other part reads."""

    key: int
    names: tuple[str, ...]


@dataclass(slots=True)
class Branch:
    """A block that was lowered on the side, with the state at its end and the values it is to yield."""

    block: Block
    state: State
    values: Sequence[Value]
