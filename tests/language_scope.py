"""The ground of the generator of random programs: names by kind, draws, and expressions over what can be read.

    pen = Pen(seed)
    pen.number(Scope({"x": "num", "values": "list"}))       'math.sin(values[1 % len(values)] * x)', say

Numbers stay within a few units and have no kinks, so that a wrong derivative cannot hide behind a large or an
undefined one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

UNARY = (
    "math.sin({0})", "math.cos({0})", "math.tanh({0})", "math.atan({0})", "math.exp(-{0} * {0})",
    "math.sqrt({0} * {0} + 0.5)", "math.log(1.5 + {0} * {0})", "(-{0})", "math.tanh({0}) ** 2", "math.sin({0}) ** 3",
    "math.log1p({0} * {0})", "math.erf({0})",
)  # fmt: skip
BINARY = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} * 0.5 + {1})", "({0} / (1.5 + {1} * {1}))",
    "math.atan2({0}, 2.0 + {1} * {1})", "({0} - {1} * 0.3)",
)  # fmt: skip
FEATURES = (
    "branch", "for", "while", "break", "continue", "early return", "closure", "nonlocal", "recursion", "tuple", "list",
    "dict", "dataclass", "alias", "array mutation", "view", "exception", "second order", "generator", "comprehension",
    "none", "linked list", "match", "string", "nested lists", "objects in lists", "functions in data", "higher order",
    "inheritance", "set", "star", "with", "arrays in data", "callee exception", "factory", "walrus", "array alias",
    "array swap", "in place", "overlap", "live view", "array fields", "array helper", "array cells", "matrix",
    "matrix loops", "element while", "index error", "float32", "int array", "axis", "ufunc options", "array gradient",
    "array history", "array generator", "mask",
)  # fmt: skip


@dataclass(slots=True)
class Scope:
    """What can be read here, by kind; ``kept`` names are not assigned; ``loops`` enclose within this function."""

    kinds: dict[str, str]
    kept: set[str] = field(default_factory=set)
    loops: int = 0
    own: set[str] = field(default_factory=set)  # assigned in this function, so a function inside may say nonlocal

    def of(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind in kinds]

    def assignable(self, kind: str) -> list[str]:
        return [name for name in self.of(kind) if name in self.own and name not in self.kept]

    def inner(self, *, loop: bool = False) -> Scope:
        return Scope(dict(self.kinds), set(self.kept), self.loops + loop, set(self.own))

    def function(self, parameters: dict[str, str]) -> Scope:
        """Inside a function that captures what can be read."""
        return Scope(self.kinds | parameters, set(self.kept) | set(parameters), 0, set())


class Pen:
    """Draws, writes lines, and notes the features of what it wrote."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.counter = 0
        self.used: set[str] = set()
        self.recursions: list[str] = []
        self.generators: list[str] = []
        self.shapes: dict[str, str] = {}  # names of one shape have one word here
        self.solid: set[str] = set()  # matrices whose elements lie in order
        self.short: set[str] = set()  # arrays of which no part is taken

    def pick(self, *options: Any) -> Any:
        return self.draw.choice(options)

    def chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def write(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    # --- expressions

    def number(self, scope: Scope, depth: int = 2) -> str:
        """An expression whose value is a float."""
        roll = self.draw.random()
        if depth <= 0 or roll < 0.25:
            return self.leaf(scope)
        if roll < 0.6:
            return str(self.pick(*BINARY)).format(self.number(scope, depth - 1), self.number(scope, depth - 1))
        if roll < 0.85:
            return str(self.pick(*UNARY)).format(self.number(scope, depth - 1))
        if roll < 0.92:
            return f"({self.number(scope, depth - 1)} if {self.condition(scope)} else {self.number(scope, depth - 1)})"
        return self.called(scope, depth) or self.leaf(scope)

    def bounded(self, scope: Scope, depth: int = 2) -> str:
        return f"{self.pick('math.sin', 'math.tanh', 'math.atan', '1.5 * math.cos')}({self.number(scope, depth)})"

    def leaf(self, scope: Scope) -> str:
        options = scope.of("num", "num") + [f"({name} * 0.25)" for name in scope.of("int")]
        options += [f"{name}[{self.pick(0, 1, -1)}]" for name in scope.of("tuple")]
        options += [f"{name}.{self.pick('a', 'b')}" for name in scope.of("box")]
        options += [self.element(scope, name) for name in scope.of("array")]
        options += [self.item(scope, name) for name in scope.of("list")]
        options += [f"{name}.get({self.integer(scope)}, 0.5)" for name in scope.of("dict")]
        options += [f'{name}["{self.pick("p", "q")}"]' for name in scope.of("table")]
        if not options or self.chance(0.15):
            return str(self.pick("0.5", "1.5", "-0.7", "2.0", "1.0"))
        return str(self.draw.choice(options))

    def item(self, scope: Scope, name: str) -> str:
        index = self.integer(scope)
        return self.pick(f"({name}[{index} % len({name})] if {name} else 0.25)", f"sum({name}, 0.0)")  # type: ignore[no-any-return]

    def element(self, scope: Scope, name: str) -> str:
        index = f"{name}[{self.integer(scope)} % len({name})]"
        if self.chance(0.06):
            return index  # a NumPy scalar among Python's
        return str(self.pick(f"float({index})", f"float({index})", f"float(np.sum({name}))"))

    def called(self, scope: Scope, depth: int) -> str | None:
        """A call of a function that can be seen here."""
        given = self.number(scope, depth - 1)
        options = [f"{name}({given})" for name in scope.of("fn")]
        options += [f"{name}.scaled({given})" for name in scope.of("box")]
        options += [f"{name}({given}, {self.integer(scope)} % 4)" for name in self.recursions]
        return self.draw.choice(options) if options else None

    def integer(self, scope: Scope) -> str:
        options = scope.of("int", "int") + [f"len({name})" for name in scope.of("list", "tuple")]
        if not options or self.chance(0.4):
            return str(self.pick(0, 1, 2, 3))
        text = self.draw.choice(options)
        return self.pick(text, f"({text} + 1)", f"({text} * 2)")  # type: ignore[no-any-return]

    def condition(self, scope: Scope) -> str:
        roll = self.draw.random()
        if roll < 0.6:
            left, right = self.number(scope, 1), self.pick("0.31", "-0.22", "0.77", self.number(scope, 1))
            text = f"{left} {self.pick('<', '>')} {right}"
        elif roll < 0.85:
            text = f"{self.integer(scope)} % {self.pick(2, 3)} {self.pick('== 0', '!= 1', '== 1')}"
        else:
            options = [f"len({name}) > {self.pick(1, 2)}" for name in scope.of("list")] + scope.of("list")
            options += [f"{self.integer(scope)} in {name}" for name in scope.of("dict")]
            options += [f'{name} == "{self.pick("p", "q")}"' for name in scope.of("string")]
            text = self.draw.choice(options) if options else "True"
        if self.chance(0.15):
            return f"({text} {self.pick('and', 'or')} {self.condition(scope)})"
        return f"not ({text})" if self.chance(0.08) else text
