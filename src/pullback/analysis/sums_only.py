"""What happens to an array in a function: is it only added to, from where to where, and on whose behalf.

    s = array_zeros m, n          Uses(function).of(s): [(1, SUM, the matmul_inc), (2, READ, the return)]
    for t: matmul_inc s, a, b
    return s

A parameter that its function, and all functions it is passed to, only add to is `received`; so are the views of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from pullback.analysis.effects import VIEWS, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.types import ArrayRef

__all__ = ["Kind", "Place", "Use", "Uses", "received"]

Place = tuple[str, int]  # a function and the number of a parameter
_READS = frozenset(
    {"array_get", "array_swap", "elementwise", "matmul", "matmul_inc", "free", "array_same", "array_overlap"}
)


class Kind(Enum):
    """Additions may change their order; a read wants all that was added before; what escapes may be read anywhere."""

    SUM = 0
    READ = 1
    ESCAPE = 2


@dataclass(frozen=True, slots=True)
class Use:
    """A use of an array or a view of it, and the op of the array's own block in which it is."""

    position: int
    kind: Kind
    op: Op | None  # None: yielded
    value: Value


class Uses:
    """The uses of the values of a function."""

    def __init__(self, function: Function) -> None:
        self.body = function.body
        self.home: dict[Value, Block] = {}
        self.place: dict[Op, tuple[Block, int]] = {}
        self.holder: dict[Block, Op] = {}
        self._users: dict[Value, list[Op]] = {}
        self._yielding: dict[Value, list[Block]] = {}
        self._block(function.body)

    def _block(self, block: Block) -> None:
        self.home.update(dict.fromkeys(block.params, block))
        for index, op in enumerate(block.ops):
            self.place[op] = (block, index)
            self.home.update(dict.fromkeys(op.results, block))
            for value in dict.fromkeys(op.operands):
                self._users.setdefault(value, []).append(op)
            for inner in op.blocks:
                self.holder[inner] = op
                if op.name != "elementwise":
                    self._block(inner)
        for value in dict.fromkeys(block.results):
            self._yielding.setdefault(value, []).append(block)

    def of(self, array: Value, only_added: Callable[[Place], bool]) -> list[Use]:
        """All uses of the array and of views of it, in order."""
        return sorted(self._of(array, self.home[array], only_added), key=lambda use: use.position)

    def _of(self, value: Value, home: Block, only_added: Callable[[Place], bool]) -> Iterator[Use]:
        for op in self._users.get(value, ()):
            position = self.position(op, home)
            if op.name in VIEWS:
                yield from self._of(op.result, home, only_added)
            elif op.name != "array_size":
                kind = _kind(op, value, only_added)
                yield Use(position, kind, op, value)
        for block in self._yielding.get(value, ()):
            if block is home:
                yield Use(len(home.ops), Kind.READ, None, value)
            else:
                yield Use(self.position(self.holder[block], home), Kind.ESCAPE, None, value)

    def position(self, op: Op, home: Block) -> int:
        """The number of the op of `home` that is this one or holds it."""
        block, index = self.place[op]
        while block is not home:
            block, index = self.place[self.holder[block]]
        return index

    def loops(self, op: Op, home: Block) -> list[Op]:
        """The loops inside of `home` around an op."""
        found: list[Op] = []
        block, _ = self.place[op]
        while block is not home:
            holder = self.holder[block]
            if holder.name in ("for", "while"):
                found.append(holder)
            block, _ = self.place[holder]
        return found


def _kind(op: Op, value: Value, only_added: Callable[[Place], bool]) -> Kind:
    """What an op does with an array."""
    if op.name in ("matmul_inc", "array_inc") and value not in op.operands[1:]:
        return Kind.SUM
    if op.name == "elementwise" and value not in elementwise_inputs(op):
        outputs = op.attrs["outputs"]
        assert isinstance(outputs, tuple)
        kinds = [kind for kind in outputs if kind in ("inc", "set")]
        if all(kind == "inc" for kind, v in zip(kinds, elementwise_targets(op), strict=True) if v is value):
            return Kind.SUM
    if op.name == "call":
        places = [(str(op.attrs["callee"]), i) for i, v in enumerate(op.operands) if v is value]
        return Kind.SUM if all(map(only_added, places)) else Kind.ESCAPE
    return Kind.READ if op.name in _READS else Kind.ESCAPE


def received(program: Program, uses: dict[str, Uses]) -> set[Place]:
    """The matrices among parameters that are only added to: the largest set of which that holds."""
    found = {
        (name, i) for name, function in program.functions.items() for i, v in enumerate(function.body.params)
        if name != program.entry and isinstance(v.type, ArrayRef) and v.type.rank == 2 and v.type.dtype.is_float
    }  # fmt: skip
    while True:
        wrong = {
            (name, i) for name, i in found
            if any(
                use.kind is not Kind.SUM
                for use in uses[name].of(program.functions[name].body.params[i], found.__contains__)
            )
        }  # fmt: skip
        if not wrong:
            return found
        found -= wrong
