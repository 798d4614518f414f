"""Random programs in the accepted language, made from a seed; each is a source text with arguments to run it on.

    sample = random_program(17)
    print(sample.source)          # helpers, recursion, and `def program(x, n, xs): ...`
    sample.function(*sample.arguments[0])

Expressions know only whether they are a number or an int, so that ints, floats and NumPy scalars mix as they do in real
programs; whatever exception a program raises in CPython is part of what it means.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

UNARY = (
    "math.sin({0})",
    "math.cos({0})",
    "math.tanh({0})",
    "math.atan({0})",
    "math.exp(-abs({0}))",
    "math.exp(math.sin({0}))",
    "math.log1p(abs({0}))",
    "math.log(1.5 + {0} * {0})",
    "math.sqrt(abs({0}) + 0.25)",
    "math.sqrt(abs({0}))",
    "math.erf({0})",
    "math.asinh({0})",
    "math.fabs({0})",
    "math.expm1(math.tanh({0}))",
    "math.acos(0.5 * math.sin({0}))",
    "math.radians({0})",
    "np.sin({0})",
    "np.tanh({0})",
    "np.abs({0})",
    "np.exp(-np.square({0}))",
    "abs({0})",
    "(-{0})",
    "(+{0})",
    "float({0})",
    "{0} ** 2",
    "{0} ** 3",
    "(1.5 + abs({0})) ** -0.5",
    "2.0 ** math.sin({0})",
    "round(float({0}), 1)",
    "np.float32({0})",
    "np.float64({0})",
    "np.sqrt({0} * {0} + 1)",
    "math.floor({0})",
    "math.lgamma(2.5 + math.sin({0}))",
    "math.sqrt({0})",
    "math.log({0})",
)
BINARY = (
    "({0} + {1})",
    "({0} - {1})",
    "({0} * {1})",
    "({0} + {1})",
    "({0} - {1})",
    "({0} * {1})",
    "({0} / (1.5 + abs({1})))",
    "({0} / {1})",
    "({0} % (0.75 + abs({1})))",
    "({0} // (0.5 + abs({1})))",
    "math.hypot({0}, {1})",
    "math.atan2({0}, {1})",
    "math.copysign({0}, {1})",
    "math.fmod({0}, 1.25 + abs({1}))",
    "min({0}, {1})",
    "max({0}, {1})",
    "max({0}, {1}, 0.25)",
    "min({0}, 1.0, {1})",
    "(1.25 + abs({0})) ** math.tanh({1})",
    "({0} or {1})",
    "({0} and {1})",
    "np.maximum({0}, {1})",
    "np.minimum({0}, {1})",
    "divmod({0}, 1.5 + abs({1}))[1]",
    "pow(abs({0}) + 0.5, math.sin({1}))",
    "sum(({0}, {1}))",
    "max(({0}, {1}))",
    "(lambda p, q: p * q + p)({0}, {1})",
)
INTEGER = (
    "({0} + {1})",
    "({0} - {1})",
    "({0} * {1} % 7)",
    "({0} // 2)",
    "({0} % 5)",
    "({0} // (1 + abs({1})))",
    "abs({0})",
    "max({0}, {1})",
    "min({0}, {1}, 3)",
    "(-{0})",
    "({0} or {1})",
    "({0} and {1})",
    "divmod({0}, 3)[0]",
    "{0} ** 2 % 5",
    "({0} & 3)",
    "int({0} / 2)",
    "({0} % {1})",
)
COMPARE = ("<", "<=", ">", ">=", "<", ">", "==", "!=")
EXCEPTIONS = ("ValueError", "RuntimeError", "ZeroDivisionError", "ArithmeticError", "IndexError")


@dataclass(slots=True)
class Scope:
    """What can be read here: names that are surely bound by kind, names that perhaps are, and where we stand."""

    kinds: dict[str, str]
    perhaps: dict[str, str] = field(default_factory=dict)
    loops: int = 0
    fixed: frozenset[str] = frozenset()

    def of(self, *kinds: str) -> list[str]:
        return [name for name, kind in self.kinds.items() if kind in kinds]

    def inner(self, loop: bool = False) -> Scope:
        return Scope(dict(self.kinds), dict(self.perhaps), self.loops + loop, self.fixed)

    def merge(self, branches: list[Scope]) -> None:
        """What holds after one of the branches ran."""
        names = {name: kind for branch in branches for name, kind in (branch.kinds | branch.perhaps).items()}
        for name, kind in names.items():
            if all(branch.kinds.get(name) == kind for branch in branches):
                self.kinds[name] = kind
            elif name not in self.kinds:
                self.perhaps[name] = kind


@dataclass(frozen=True, slots=True)
class Sample:
    """A program as text, as a function, and with argument tuples; ``argnums`` are the arguments that hold floats."""

    seed: int
    source: str
    function: Callable[..., Any]
    arguments: tuple[tuple[Any, ...], ...]
    argnums: tuple[int, ...]


class Writer:
    """Writes one program; ``budget`` bounds the number of its statements."""

    def __init__(self, seed: int, budget: int) -> None:
        self.draw = random.Random(seed)
        self.budget = budget
        self.lines: list[str] = []
        self.counter = 0
        self.helpers: list[str] = []

    # --- expressions

    def pick(self, *options: Any) -> Any:
        return self.draw.choice(options)

    def chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    def fresh(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    def number(self, scope: Scope, depth: int = 3) -> str:
        """An expression whose value is a float, an int or a NumPy scalar."""
        if depth <= 0 or self.chance(0.2):
            return self.leaf(scope)
        roll = self.draw.random()
        if roll < 0.35:
            return self.pick(*UNARY).format(self.number(scope, depth - 1))
        if roll < 0.7:
            return self.pick(*BINARY).format(self.number(scope, depth - 1), self.number(scope, depth - 1))
        if roll < 0.78:
            condition = self.condition(scope, depth - 1)
            return f"({self.number(scope, depth - 1)} if {condition} else {self.number(scope, depth - 1)})"
        if roll < 0.9 and self.helpers:
            return self.call(scope, depth)
        if roll < 0.95:
            return self.of_array(scope, depth)
        return self.integer(scope, depth - 1)

    def leaf(self, scope: Scope) -> str:
        options = scope.of("number", "number", "counter") * 3 + ["LEVEL", "RATE"]
        options += [f"{name}[{self.pick(0, 1, -1, -2)}]" for name in scope.of("pair")] * 2
        options += [f"{name}[{self.integer(scope, 0)} % 2]" for name in scope.of("pair")]
        options += [f"{name}[{self.integer(scope, 0)} % len({name})]" for name in scope.of("array")] * 2
        options += [f"{name}[0]" for name in scope.of("array")]
        if scope.perhaps and self.chance(0.04):
            options = [name for name, kind in scope.perhaps.items() if kind == "number"] or options
        if self.chance(0.2):
            return str(self.pick(0.5, 1.0, 2.0, 0.0, -1.5, 0.3, 2, 1, 3, 1e-3))
        return str(self.draw.choice(options))

    def of_array(self, scope: Scope, depth: int) -> str:
        arrays = [*scope.of("array"), "TABLE"]
        a = self.draw.choice(arrays)
        x = self.number(scope, depth - 1)
        return str(
            self.pick(
                f"np.sum({a})", f"np.dot({a}, {a})", f"np.sum({a} * {x})", f"np.sum(np.sin({a}))", f"({a} @ {a})",
                f"np.sum({a} ** 2 + {x})", f"np.sum(np.maximum({a}, {x}))", f"sum({a})", f"max({a})", f"({a} * {x})[0]",
            )
        )  # fmt: skip

    def integer(self, scope: Scope, depth: int = 2) -> str:
        roll = self.draw.random()
        if depth <= 0 or roll < 0.25:
            options = scope.of("counter") * 2 + ["COUNT"] + [f"len({a})" for a in scope.of("array")]
            return str(self.pick(0, 1, 2, 3)) if self.chance(0.2) else str(self.draw.choice(options))
        if roll < 0.75:
            return self.pick(*INTEGER).format(self.integer(scope, depth - 1), self.integer(scope, depth - 1))
        if roll < 0.85:
            inner = self.number(scope, depth - 1)
            return str(self.pick(f"int(math.tanh({inner}) * 3)", f"round(math.sin({inner}) * 2)", f"int({inner} > 0)"))
        condition = self.condition(scope, depth - 1)
        return f"({self.integer(scope, depth - 1)} if {condition} else {self.integer(scope, depth - 1)})"

    def condition(self, scope: Scope, depth: int = 2) -> str:
        roll = self.draw.random()
        if depth <= 0 or roll < 0.55:
            make = self.number if self.chance(0.7) else self.integer
            left, right = make(scope, depth - 1), make(scope, depth - 1)
            if self.chance(0.12):
                return f"{left} {self.pick(*COMPARE)} {right} {self.pick(*COMPARE)} {make(scope, depth - 1)}"
            return f"{left} {self.pick(*COMPARE)} {right}"
        if roll < 0.75:
            word = self.pick("and", "or")
            return f"({self.condition(scope, depth - 1)} {word} {self.condition(scope, depth - 1)})"
        if roll < 0.85:
            return f"not ({self.condition(scope, depth - 1)})"
        if roll < 0.92:
            return f"{self.integer(scope, depth - 1)} % 2"
        return str(self.pick("{0}", "bool({0})")).format(self.number(scope, depth - 1))

    def call(self, scope: Scope, depth: int) -> str:
        name = self.draw.choice(self.helpers)
        x, y = self.number(scope, depth - 2), self.number(scope, depth - 2)
        if name.startswith("again"):
            bound = f"{self.integer(scope, 1)} % {self.pick(3, 4, 5)}"
            return str(
                self.pick(f"{name}({x}, {bound})", f"{name}({x}, {bound}, {y})", f"{name}({x}, n={bound}, y={y})")
            )
        if name.startswith("twice"):
            captured = self.draw.choice(["RATE", *[known for known in scope.kinds if known.startswith("c")]])
            return f"{name}(lambda z: {self.pick('z * ' + captured, 'math.sin(z) + ' + captured, 'z')}, {x})"
        if name.startswith("pair"):
            return f"{name}({x}, {y})[{self.pick(0, 1, -1)}]"
        return str(
            self.pick(f"{name}({x})", f"{name}({x}, {y})", f"{name}({x}, scale={y})", f"{name}(scale={y}, a={x})",
                      f"{name}({x}, power=3)")
        )  # fmt: skip

    # --- statements

    def write(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def block(self, scope: Scope, indent: int, size: int) -> None:
        before = len(self.lines)
        for _ in range(size):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement(scope, indent)
        if len(self.lines) == before:
            self.write(indent, "pass")

    def statement(self, scope: Scope, indent: int) -> None:
        table: list[tuple[float, Callable[[Scope, int], None]]] = [
            (5, self.assignment),
            (3, self.augmented),
            (1.5, self.integer_assignment),
            (1.5, self.pairs),
            (3, self.branch),
            (0.6, self.early_return),
            (0.4, self.failing),
        ]
        if indent < 4:
            table += [(2.5, self.for_loop), (1.2, self.while_loop)]
        if scope.loops:
            table += [(1.0, self.leave)]
        else:
            table += [(1.0, self.nested)]
        chosen = self.draw.choices([row[1] for row in table], [row[0] for row in table])[0]
        chosen(scope, indent)

    def target(self, scope: Scope, kind: str, prefix: str) -> str:
        known = [name for name in scope.of(kind) if name not in scope.fixed]
        known += [name for name, other in scope.perhaps.items() if other == kind]
        return self.draw.choice(known) if known and self.chance(0.65) else self.fresh(prefix)

    def bounded(self, scope: Scope) -> str:
        """In loops mostly a value that cannot grow from trip to trip."""
        text = self.number(scope)
        if scope.loops and self.chance(0.6):
            return f"{self.pick('math.sin', 'math.tanh', 'math.atan', '0.25 * math.cos')}({text})"
        return text

    def bind(self, scope: Scope, name: str, kind: str) -> None:
        scope.kinds[name] = kind
        scope.perhaps.pop(name, None)

    def assignment(self, scope: Scope, indent: int) -> None:
        name = self.target(scope, "number", "v")
        self.write(indent, f"{name} = {self.bounded(scope)}")
        self.bind(scope, name, "number")

    def augmented(self, scope: Scope, indent: int) -> None:
        known = [name for name in scope.of("number") if name not in scope.fixed]
        if not known:
            return self.assignment(scope, indent)
        self.write(indent, f"{self.draw.choice(known)} {self.pick('+=', '-=', '+=', '*=')} {self.bounded(scope)}")
        return None

    def integer_assignment(self, scope: Scope, indent: int) -> None:
        name = self.target(scope, "counter", "k")
        self.write(indent, f"{name} = ({self.integer(scope)}) % {self.pick(3, 5, 9)}")
        self.bind(scope, name, "counter")

    def pairs(self, scope: Scope, indent: int) -> None:
        a, b = self.bounded(scope), self.bounded(scope)
        roll = self.draw.random()
        if roll < 0.5:
            name = self.target(scope, "pair", "t")
            self.write(indent, f"{name} = ({a}, {b})")
            return self.bind(scope, name, "pair")
        one, two = self.target(scope, "number", "v"), self.target(scope, "number", "v")
        sources = [f"{a}, {b}", *scope.of("pair")]
        self.write(indent, f"{one}, {two} = {self.draw.choice(sources)}")
        self.bind(scope, one, "number")
        return self.bind(scope, two, "number")

    def branch(self, scope: Scope, indent: int) -> None:
        branches = []
        self.write(indent, f"if {self.condition(scope)}:")
        branches.append(scope.inner())
        self.block(branches[-1], indent + 1, self.pick(1, 1, 2))
        if self.chance(0.25):
            self.write(indent, f"elif {self.condition(scope)}:")
            branches.append(scope.inner())
            self.block(branches[-1], indent + 1, 1)
        branches.append(scope.inner())
        if self.chance(0.5):
            self.write(indent, "else:")
            self.block(branches[-1], indent + 1, self.pick(1, 2))
        scope.merge(branches)

    def early_return(self, scope: Scope, indent: int) -> None:
        self.write(indent, f"if {self.condition(scope)}:")
        self.write(indent + 1, f"return {self.number(scope)}")

    def failing(self, scope: Scope, indent: int) -> None:
        if self.chance(0.5):
            message = self.pick("", ', "it does not hold"')
            self.write(indent, f"assert {self.number(scope, 1)} < {self.pick(2.0, 10.0)}{message}")
        else:
            self.write(indent, f"if {self.number(scope, 2)} > {self.pick(2.0, 5.0)}:")
            self.write(indent + 1, f'raise {self.pick(*EXCEPTIONS)}("too much")')

    def leave(self, scope: Scope, indent: int) -> None:
        self.write(indent, f"if {self.condition(scope)}:")
        if self.chance(0.3):
            self.write(indent + 1, f"{self.target(scope, 'number', 'v')} = {self.bounded(scope)}")
        self.write(indent + 1, str(self.pick("break", "continue")))

    def nested(self, scope: Scope, indent: int) -> None:
        constant = self.fresh("c")
        self.write(indent, f"{constant} = {self.number(scope)}")
        name = self.fresh("f")
        inner = Scope({constant: "number", "z": "number"})
        if self.chance(0.5):
            self.write(indent, f"{name} = lambda z: {self.number(inner, 2)}")
        else:
            self.write(indent, f"def {name}(z):")
            if self.chance(0.5):
                self.write(indent + 1, f"if {self.condition(inner)}:")
                self.write(indent + 2, f"return {self.number(inner, 2)}")
            self.write(indent + 1, f"return {self.number(inner, 2)}")
        result = self.target(scope, "number", "v")
        x, y = self.number(scope, 1), self.number(scope, 1)
        call = self.pick(f"{name}({x})", f"{name}({x}) - {name}({y})", f"{name}({name}({x}))")
        self.write(indent, f"{result} = {call}")
        self.bind(scope, result, "number")

    def for_loop(self, scope: Scope, indent: int) -> None:
        inner = scope.inner(loop=True)
        head, bound = self.iteration(scope)
        for name, kind in bound.items():
            self.bind(inner, name, kind)
        self.write(indent, f"for {head}:")
        self.block(inner, indent + 1, self.pick(1, 2, 3))
        before, extra = scope.inner(), scope.inner()
        if self.chance(0.2):
            self.write(indent, "else:")
            self.block(extra, indent + 1, 1)
        scope.merge([before, inner, extra])

    def iteration(self, scope: Scope) -> tuple[str, dict[str, str]]:
        i = self.fresh("i") if self.chance(0.7) else self.target(scope, "counter", "i")
        x, y = self.fresh("e"), self.fresh("e")
        arrays, pairs = [*scope.of("array"), "TABLE"], scope.of("pair")
        a, b = self.draw.choice(arrays), self.draw.choice(arrays)
        n = f"{self.integer(scope, 1)} % {self.pick(3, 4, 6)}"
        options: list[tuple[str, dict[str, str]]] = [
            (f"{i} in range({n})", {i: "counter"}),
            (f"{i} in range(1, {n})", {i: "counter"}),
            (f"{i} in range({n}, -1, -1)", {i: "counter"}),
            (f"{i} in range({self.pick(2, 3, 5)})", {i: "counter"}),
            (f"{i} in reversed(range({n}))", {i: "counter"}),
            (f"{x} in {a}", {x: "number"}),
            (f"{x} in reversed({a})", {x: "number"}),
            (f"{i}, {x} in enumerate({a})", {i: "counter", x: "number"}),
            (f"{x}, {y} in zip({a}, {b})", {x: "number", y: "number"}),
            (f"{i}, {x} in enumerate({self.pair(scope)}, 1)", {i: "counter", x: "number"}),
            (f"{i}, {x} in zip(range({n}), {a})", {i: "counter", x: "number"}),
        ]
        options += [(f"{x} in {pair}", {x: "number"}) for pair in pairs]
        return self.draw.choice(options)

    def pair(self, scope: Scope) -> str:
        return f"({self.number(scope, 1)}, {self.number(scope, 1)})"

    def while_loop(self, scope: Scope, indent: int) -> None:
        trips = self.fresh("w")
        limit = self.pick(3, 5, 8)
        self.write(indent, f"{trips} = 0")
        self.bind(scope, trips, "counter")
        inner = scope.inner(loop=True)
        inner.kinds.pop(trips)
        if self.chance(0.6):
            self.write(indent, f"while {trips} < {limit} and {self.condition(scope)}:")
            self.write(indent + 1, f"{trips} += 1")
        else:
            self.write(indent, "while True:")
            self.write(indent + 1, f"{trips} += 1")
            self.write(indent + 1, f"if {trips} > {limit} or {self.condition(scope)}:")
            self.write(indent + 2, "break")
        self.block(inner, indent + 1, self.pick(1, 2, 3))
        before, extra = scope.inner(), scope.inner()
        if self.chance(0.15):
            self.write(indent, "else:")
            self.block(extra, indent + 1, 1)
        scope.merge([before, inner, extra])

    # --- functions

    def helper(self) -> None:
        kind = self.pick("plain", "again", "twice", "pair", "mutual")
        name = self.fresh("plain" if kind == "mutual" else kind)
        getattr(self, f"helper_{kind}")(name)
        self.write(0, "")
        self.helpers.append(name)

    def helper_plain(self, name: str) -> None:
        self.write(0, f"def {name}(a, scale={self.pick('0.5', 'RATE', '2')}, *, power=2):")
        scope = Scope({"a": "number", "scale": "number"})
        self.budget += 2
        self.block(scope, 1, self.pick(0, 1, 2))
        self.write(1, f"return {self.number(scope)} + math.tanh(a) ** power")

    def helper_again(self, name: str) -> None:
        self.write(0, f"def {name}(x, n, y=0.75):")
        scope = Scope({"x": "number", "y": "number", "n": "counter"}, fixed=frozenset({"n"}))
        self.write(1, "if n <= 0:")
        self.write(2, f"return {self.number(scope)}")
        self.budget += 1
        if self.chance(0.5):
            self.block(scope, 1, 1)
            scope.kinds.setdefault("n", "counter")
        step = self.pick("n - 1", "n // 2", "n - 2")
        inner = f"{name}({self.number(scope, 2)}, {step}, {self.number(scope, 1)})"
        if self.chance(0.3):
            inner += f" * {name}({self.number(scope, 1)}, n - 2)"
        self.write(1, f"return {self.pick(f'math.sin({inner})', inner, f'{inner} + x', f'0.5 * {inner} - y')}")

    def helper_mutual(self, name: str) -> None:
        scope = Scope({"x": "number"})
        self.write(0, f"def {name}even(x, n):")
        self.write(1, f"return {self.number(scope, 2)} if n <= 0 else {name}odd({self.number(scope, 2)}, n - 1)")
        self.write(0, "")
        self.write(0, f"def {name}odd(x, n):")
        self.write(1, f"return {self.number(scope, 2)} if n <= 0 else x + {name}even({self.number(scope, 1)}, n - 1)")
        self.write(0, "")
        self.write(0, f"def {name}(a, scale=1.5, *, power=2):")
        self.write(1, f"return {name}even(a, power) * scale")

    def helper_twice(self, name: str) -> None:
        self.write(0, f"def {name}(f, x):")
        self.write(1, f"return {self.pick('f(f(x))', 'f(x) + f(2 * x)', 'f(x) if x > 0 else -f(-x)')}")

    def helper_pair(self, name: str) -> None:
        scope = Scope({"x": "number", "y": "number"})
        self.write(0, f"def {name}(x, y):")
        if self.chance(0.5):
            self.write(1, f"if {self.condition(scope)}:")
            self.write(2, f"return y, {self.number(scope, 2)}")
        self.write(1, f"return {self.number(scope, 2)}, {self.number(scope, 2)}")

    def program(self, kinds: list[tuple[str, str]]) -> str:
        self.write(0, "import math")
        self.write(0, "")
        self.write(0, "import numpy as np")
        self.write(0, "")
        self.write(0, f"LEVEL, RATE, COUNT = {self.pick(0.7, -1.2)}, {self.pick(0.25, 1.1)}, {self.pick(2, 3)}")
        self.write(0, f"TABLE = np.array([{self.pick('0.5, -1.25, 0.8', '1.5, 0.25')}])")
        self.write(0, "")
        for _ in range(self.pick(0, 1, 1, 2)):
            self.helper()
        scope = Scope({name: {"float": "number", "single": "number", "int": "counter"}.get(kind, "array")
                       for name, kind in kinds})  # fmt: skip
        self.write(0, f"def program({', '.join(name for name, _ in kinds)}):")
        start = len(self.lines)
        if self.chance(0.4):
            self.write(1, f"v0 = {self.pick(0, 1, 0.0, '0.5')}")
            scope.kinds["v0"] = "number"
        while self.budget > 0:
            self.block(scope, 1, 1)
        if self.chance(0.3) and not any("return" in line for line in self.lines[start:]):
            self.write(1, f"return {self.number(scope)}, {self.integer(scope)}, {self.condition(scope)}")
        else:
            names = [f"math.sin({name})" for name in scope.of("number")] + [f"{name}[-1]" for name in scope.of("pair")]
            self.draw.shuffle(names)
            self.write(1, f"return {' + '.join([self.number(scope), *names[:5]])}")
        return "\n".join(self.lines) + "\n"


def random_arguments(draw: random.Random, kinds: list[tuple[str, str]]) -> tuple[Any, ...]:
    def one(kind: str) -> Any:
        if kind == "int":
            return draw.randint(-3, 6)
        if kind == "single":
            return np.float32(draw.gauss(0, 1))
        if kind == "float":
            return draw.choice([0.0, 1.0]) if draw.random() < 0.1 else draw.gauss(0, 1.2)
        array = np.array([draw.gauss(0, 1) for _ in range(draw.randint(1, 4))])
        return array.astype(np.float32) if kind == "singles" else array

    return tuple(one(kind) for _, kind in kinds)


def function_of(source: str, seed: int) -> Callable[..., Any]:
    """The function ``program`` of the text, whose source the front end finds."""
    file = f"<random program {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": f"random_program_{seed}"}
    exec(compile(source, file, "exec"), namespace)
    return namespace["program"]  # type: ignore[no-any-return]


def random_program(seed: int, budget: int = 0) -> Sample:
    """The program of a seed; a larger budget gives longer programs."""
    draw = random.Random(seed)
    names = {"float": "xy", "int": "nm", "single": "sr", "array": "uw", "singles": "pq"}
    kinds = draw.choices(list(names), [5, 2, 1, 2, 0.5], k=draw.randint(1, 3))
    if all(kind == "int" for kind in kinds):
        kinds[0] = "float"
    taken: dict[str, int] = {}
    parameters = []
    for kind in kinds:
        position = taken[kind] = taken.get(kind, -1) + 1
        parameters.append((names[kind][position] if position < 2 else f"{names[kind][0]}{position}", kind))
    source = Writer(draw.randrange(2**40), budget or draw.choice([3, 5, 8])).program(parameters)
    arguments = tuple(random_arguments(draw, parameters) for _ in range(2))
    argnums = tuple(position for position, kind in enumerate(kinds) if kind != "int")
    return Sample(seed, source, function_of(source, seed), arguments, argnums)
