"""Random programs of objects: aliases, optional fields, overridden methods, closures over objects, lists of them.

    program(seed)  ->  (source text, function of two floats)

Every program is a function f(x, y) over a fixed set of classes; CPython runs it as it stands.
"""

from __future__ import annotations

import linecache
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

__all__ = ["program"]


class Cell:
    def __init__(self, v, w=0.5):
        self.v = v
        self.w = w

    def mix(self, k):
        self.v = math.tanh(self.v * k + self.w)
        return self.v

    def score(self):
        return self.v * self.w

    def __add__(self, other):
        if isinstance(other, Cell):
            return Cell(self.v + other.v, self.w)
        return Cell(self.v + other, self.w)

    def __lt__(self, other):
        return self.v < other.v

    def __bool__(self):
        return self.v > 0.0


class Scaled(Cell):
    def __init__(self, v, w=2.0):
        super().__init__(v * 0.5, w)
        self.extra = w + v

    def score(self):
        return super().score() + 0.25 * self.extra


class Link(Cell):
    def __init__(self, v, w=1.0, next=None):
        super().__init__(v, w)
        self.next = next

    def score(self):
        return self.v if self.next is None else self.v + 0.5 * self.next.score()


@dataclass
class Bag:
    cell: Cell
    gain: float = 1.5
    items: list = field(default_factory=list)

    def put(self, x):
        self.items.append(x * self.gain)
        return len(self.items)

    @property
    def total(self):
        return sum(self.items, 0.0)


class Pair(NamedTuple):
    a: float
    b: Cell


class Mode(Enum):
    UP = 1
    DOWN = 2


NAMES = {
    "math": math, "Cell": Cell, "Scaled": Scaled, "Link": Link, "Bag": Bag, "Pair": Pair, "Mode": Mode,
}  # fmt: skip


class Writer:
    """Statements that keep the invariant: c0..c2 are cells, b a bag, m a cell or None, mode a Mode, n0.. numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        self.functions = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def cell(self) -> str:
        return self.pick("c0", "c1", "c2", "b.cell", "p.b")

    def number(self, level: int = 0) -> str:
        simple = ["x", "y", "n0", "n1", f"{self.random.uniform(-1.5, 1.5):.3f}", f"{self.cell()}.v", f"{self.cell()}.w",
                  "b.gain", "p.a"]  # fmt: skip
        if level > 1 or self.random.random() < 0.4:
            return self.random.choice(simple)
        left, right = self.number(level + 1), self.number(level + 1)
        return self.pick(
            f"({left} + {right})", f"({left} - {right})", f"({left} * {right})", f"math.sin({left})",
            f"{self.cell()}.score()", f"{self.cell()}.mix({left})", f"({left} if {self.condition()} else {right})",
            f"({self.cell()} + {left}).v", "b.total", "mode.value * 0.5", f"step({left})", f"max({left}, {right})",
            "sum(c.v for c in cells)", "len(b.items) * 0.25", "peek(m)",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick(
            f"{self.cell()}.v > {self.number(2)}", f"{self.cell()} is {self.cell()}",
            f"isinstance({self.cell()}, Scaled)",
            f"{self.cell()}", "m is None", "m", "mode is Mode.UP", f"{self.cell()} < {self.cell()}",
            f"hasattr({self.cell()}, 'extra')", f"not {self.cell()}", f"type({self.cell()}) is Link",
        )  # fmt: skip

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def make(self) -> str:
        kind = self.pick("Cell", "Scaled", "Link")
        if kind == "Link":
            return f"Link({self.number(1)}, {self.number(2)}, {self.pick('None', 'm', self.cell())})"
        more = f", w={self.number(2)}" if self.random.random() < 0.5 else ""
        return f"{kind}({self.number(1)}{more})"

    def statement(self, level: int) -> None:
        kinds = "field field number alias make maybe bag mode pair augment swap cells".split()
        if level < 3:
            kinds += ["if", "if", "for", "while", "closure", "isinstance", "try"]
        getattr(self, "do_" + self.random.choice(kinds))(level)

    def block(self, level: int) -> None:
        self.depth += 1
        for _ in range(self.random.randint(1, 3)):
            self.statement(level + 1)
        self.depth -= 1

    def do_field(self, level: int) -> None:
        self.emit(f"{self.cell()}.{self.pick('v', 'w')} = {self.number()}")

    def do_augment(self, level: int) -> None:
        self.emit(f"{self.cell()}.{self.pick('v', 'w')} {self.pick('+=', '*=', '-=')} {self.number(1)}")

    def do_number(self, level: int) -> None:
        self.emit(f"{self.pick('n0', 'n1')} = math.tanh({self.number()})")

    def do_alias(self, level: int) -> None:
        self.emit(f"{self.pick('c0', 'c1', 'c2', 'b.cell')} = {self.cell()}")

    def do_make(self, level: int) -> None:
        self.emit(f"{self.pick('c0', 'c1', 'c2')} = {self.make()}")

    def do_maybe(self, level: int) -> None:
        self.emit(f"m = {self.pick('None', self.cell(), self.make())}")

    def do_bag(self, level: int) -> None:
        self.emit(self.pick(f"b.put({self.number(1)})", f"b = Bag({self.cell()}, {self.number(2)})", "k = b",
                            f"b.gain = math.tanh({self.number(1)})"))  # fmt: skip

    def do_mode(self, level: int) -> None:
        self.emit(f"mode = {self.pick('Mode.UP', 'Mode.DOWN', 'Mode(3 - mode.value)')}")

    def do_pair(self, level: int) -> None:
        self.emit(self.pick(f"p = Pair({self.number(1)}, {self.cell()})", f"p = p._replace(a={self.number(1)})",
                            "n0, c0 = p"))  # fmt: skip

    def do_swap(self, level: int) -> None:
        self.emit(self.pick("c0, c1 = c1, c0", "c1.v, c2.v = c2.v, c1.v", "c0, c2 = c2, c1"))

    def do_cells(self, level: int) -> None:
        self.emit(self.pick(f"cells.append({self.cell()})", f"cells = [c0, {self.cell()}, c2]",
                            f"cells[{self.random.randint(0, 1)}].v *= 0.5", "cells = sorted(cells, key=lambda c: c.v)",
                            "c1 = cells[-1]", "c0 = max(cells, key=lambda c: c.w)"))  # fmt: skip

    def do_if(self, level: int) -> None:
        self.emit(f"if {self.condition()}:")
        self.block(level)
        if self.random.random() < 0.6:
            self.emit("else:")
            self.block(level)

    def do_isinstance(self, level: int) -> None:
        c = self.pick("c0", "c1", "m")
        self.emit(f"if isinstance({c}, {self.pick('Link', '(Link, Scaled)', 'Scaled')}):")
        self.depth += 1
        self.emit(f"n1 = {c}.score() + {c}.v")
        self.depth -= 1
        self.block(level)

    def do_for(self, level: int) -> None:
        count = self.random.randint(1, 3)
        self.emit(self.pick(f"for i in range({count}):", "for c in (c0, c1):", "for c in cells[:2]:"))
        self.block(level)
        if self.random.random() < 0.3:
            self.depth += 1
            self.emit(f"if {self.condition()}:")
            self.emit(f"    {self.pick('break', 'continue')}")
            self.depth -= 1

    def do_while(self, level: int) -> None:
        name = f"t{level}"
        self.emit(f"{name} = 0")
        self.emit(f"while {name} < 2 and ({self.condition()}):")
        self.depth += 1
        self.emit(f"{name} += 1")
        self.depth -= 1
        self.block(level)

    def do_closure(self, level: int) -> None:
        self.functions += 1
        name = f"g{self.functions}"
        c = self.pick("c0", "c1", "c2", "b.cell")
        self.emit(f"def {name}(z, c={c}):")
        self.emit("    c.v = math.tanh(c.v + z)")
        self.emit(f"    return c.score() * {self.pick('x', 'y', 'n0')}")
        self.emit(f"n1 = {name}({self.number(1)})")

    def do_try(self, level: int) -> None:
        self.emit("try:")
        self.depth += 1
        self.emit(self.pick("n0 = m.v", f"n0 = cells[{self.random.randint(1, 4)}].v", f"n0 = {self.cell()}.extra"))
        self.depth -= 1
        self.block(level)
        self.emit("except (AttributeError, IndexError):")
        self.depth += 1
        self.emit(f"n0 = math.tanh({self.number(1)})")
        self.depth -= 1


def program(seed: int, statements: int = 8) -> tuple[str, Callable[[float, float], float]]:
    """A random program, and its text."""
    writer = Writer(seed)
    for line in (
        "def step(z):", "    c0.w = math.tanh(c0.w + 0.1 * z)", "    return c0.w", "def peek(m):",
        "    return 0.125 if m is None else m.v", "c0 = Cell(x)", f"c1 = {writer.pick('Scaled(y)', 'Cell(y)', 'c0')}",
        f"c2 = Link(x, y, {writer.pick('None', 'c1', 'Link(y)')})", "b = Bag(c1)", "m = None", "mode = Mode.UP",
        "p = Pair(y, c2)", "n0 = x", "n1 = y", "cells = [c0, c1]",
    ):  # fmt: skip
        writer.emit(line)
    for _ in range(statements):
        writer.statement(0)
    result = "c0.score() + 2.0 * c1.score() + 3.0 * c2.v + b.cell.v + b.total + n0 + n1 + p.a + peek(m) + mode.value"
    writer.emit(f"return {result} + sum(c.w for c in cells)")
    name = f"<random objects {seed}>"
    text = "def f(x, y):\n" + "\n".join(writer.lines) + "\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = dict(NAMES)
    exec(compile(text, name, "exec"), scope)
    return text, scope["f"]
