"""Random programs over arrays of one and two axes that are written under many names: `source(seed)` is f(x, a, m).

    def f(x, a, m):                       a has 4 elements, m is 3 by 4; all that is made of them is known by shape
        v1 = m[1:, ::2]                   views: slices, rows, columns, transposes, reshapes, ravels
        a[np.array([2, 0, 2])] = v2       elements, slices, masks, index arrays, whole arrays, augmented or not
        for r3 in v1: r3 += a[:2] * x     loops over ranges, rows and pairs; callees; aliases behind conditions

Values stay bounded and smooth: what grows goes through sin, and no mask or condition depends on a value near its limit.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

HELPERS = '''
import math
import numpy as np

def change(p, q, s):
    p[1] = q[-1] * s
    q[0] = math.sin(p[0] + q[1])
    return p[1] + q[0]

def either(p, q, c):
    p[0] = p[0] * 0.5
    return p if c else q

def deep(p, s, n):
    if n == 0:
        return p[0] * s
    p[n % len(p)] = math.sin(p[n % len(p)] * s) + p[0]
    t = deep(p[::-1], p[0] * 0.5, n - 1)
    p[1] = t * p[-1]
    return t + p[1]

def rows(p, v, s):
    for i in range(len(p)):
        p[i] = np.sin(p[i] * v[i % len(v)]) + s
        p[i, 0] += p[i - 1, -1] * 0.3
    return p[0]

def both(p, q):
    p, q = q, p
    p[:] = np.sin(p + 0.5 * q)
    return p, q[::-1]

'''

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Name:
    """An array: its shape, and is its order in memory known where NumPy's matters (it may be raveled and written)."""

    text: str
    shape: Shape
    ordered: bool = True


class Source:
    """One program: the arrays and floats that exist at a point, and the indices of loops around it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.budget = self.random.choice((6, 9, 12))
        self.count = 0
        self.arrays: list[Name] = []
        self.floats: list[str] = []
        self.loops: list[str] = []
        self.indent = 1

    # ------------------------------------------------------------------------------------------------- pieces

    def say(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def array(self, rank: int = 0, shape: Shape | None = None) -> Name | None:
        """One of the arrays, of a rank or a shape."""
        found = [n for n in self.arrays if rank in (0, len(n.shape)) and shape in (None, n.shape)]
        return self.random.choice(found) if found else None

    def index(self, size: int) -> str:
        if self.loops and self.chance(0.6):
            step, shift = self.random.choice((1, 3)), self.random.randint(0, 3)
            return f"({step} * {self.random.choice(self.loops)} + {shift}) % {size}"
        return str(self.random.randint(-size, size - 1))

    def element(self, array: Name) -> str:
        return f"{array.text}[{', '.join(self.index(size) for size in array.shape)}]"

    def condition(self) -> str:
        return self.random.choice(("x > 0.1", "x > 5.0", *(f"{i} % 2 == 0" for i in self.loops)))

    def number(self, depth: int = 2) -> str:
        kind = self.random.randint(0, 9 if depth else 2)
        array = self.random.choice(self.arrays)
        if kind < 2:
            return self.element(array)
        if kind == 2:
            return self.random.choice([*self.floats, "0.7"])
        if kind == 3:
            return f"math.sin({self.number(depth - 1)})"
        if kind == 4:
            return f"0.2 * np.sum({array.text} * {array.text})"
        if kind == 5:
            return f"np.{self.random.choice(('mean', 'sum', 'max', 'min'))}({array.text}) * 0.4"
        if kind == 6 and (row := self.array(1)) is not None:
            return f"0.3 * ({row.text} @ {row.text})"
        if kind == 7:
            return f"np.tanh({self.number(depth - 1)} + {self.number(depth - 1)})"
        return f"{self.number(depth - 1)} * {self.number(depth - 1)}"

    def values(self, shape: Shape, depth: int = 2) -> str:
        """An expression of exactly this shape, or that broadcasts to it."""
        same, choose = self.array(shape=shape), self.random.choice
        if same is None or depth == 0:
            row = self.array(shape=shape[-1:])
            if row is not None and self.chance(0.7):
                return row.text
            return same.text if same is not None else f"{self.number(1)}"
        one, kind = same.text, self.random.randint(0, 11)
        other = self.values(shape, depth - 1)
        if kind < 2:
            return choose((f"np.sin({one} * {other})", f"np.tanh({one} + {other})"))
        if kind == 2:
            return f"(0.5 * {one} + {other})"
        if kind == 3:
            return f"{one} * ({self.number(1)})"
        if kind == 4:
            return f"np.where({one} > 0.123, {one}, 0.5 * ({other}))"
        if kind == 5:
            return f"{one}[::-1]"
        if kind == 6 and len(shape) == 2:
            return choose((f"({one} - np.mean({one}, axis=0))", f"{one} * np.sum({one}, axis=1, keepdims=True) * 0.2",
                           f"(0.4 * ({one} @ {one}.T) @ {one})"))  # fmt: skip
        if kind == 7 and len(shape) == 2:
            return f"{one}[{[self.random.randrange(shape[0]) for _ in range(shape[0])]}]"
        if kind == 8:
            return f"np.minimum(np.maximum({one}, -0.71), {other})"
        if kind == 9 and len(shape) == 1 and (table := self.table(shape[0])) is not None:
            return f"(0.4 * {table.text} @ {self.row(table.shape[1])})"
        return one

    def table(self, rows: int) -> Name | None:
        found = [n for n in self.arrays if len(n.shape) == 2 and n.shape[0] == rows]
        return self.random.choice(found) if found else None

    def row(self, size: int) -> str:
        found = self.array(shape=(size,))
        return found.text if found is not None else f"np.linspace(0.1, 0.9, {size})"

    # ---------------------------------------------------------------------------------------------- statements

    def part(self, array: Name) -> tuple[str, Shape]:
        """What an assignment to a part of the array is written to, and its shape."""
        texts: list[str] = []
        shape: list[int] = []
        for size in array.shape:
            kind = self.random.randint(0, 5)
            if kind == 0:
                texts.append(self.index(size))
                continue
            low = self.random.randint(0, size - 1)
            found = ((":", size), (f"{low}:", size - low), (f":{low + 1}", low + 1), ("::-1", size))
            text, count = self.random.choice((*found, ("::2", (size + 1) // 2)))
            texts.append(text)
            shape.append(count)
        return f"{array.text}[{', '.join(texts)}]", tuple(shape)

    def write(self) -> None:
        """A statement that changes an array."""
        array = self.random.choice(self.arrays)
        say, choose, text = self.say, self.random.choice, array.text
        operator = choose(("=", "=", "+=", "*=", "-="))
        match self.random.randint(0, 11):
            case 0 | 1 | 2:
                say(f"{self.element(array)} {choose(('=', '=', '*='))} math.sin({self.number()})")
            case 3 | 4:
                part, shape = self.part(array)
                say(f"{part} {operator} np.sin({self.values(shape) if shape else self.number()})")
            case 5:
                say(f"{text} {choose(('+=', '*=', '-='))} {self.values(array.shape)}")
                say(f"{text} *= 0.5")
            case 6:
                say(f"{text}[:] = {self.values(array.shape)}")
            case 7:
                mask = choose((f"{text} > 0.0371", f"np.abs({text}) < 0.4177", f"{text} < {text}[::-1] - 0.0123"))
                say(f"{text}[{mask}] {operator} math.sin({self.number(1)})")
            case 8:
                places = [self.random.randrange(array.shape[0]) for _ in range(self.random.randint(1, 4))]
                value = self.values((len(places), *array.shape[1:]), 0) if self.chance(0.5) else self.number(1)
                say(f"{text}[np.array({places})] {operator} np.sin({value})")
            case 9:
                say(f"{text}[{self.index(array.shape[0])}] {operator} {self.number(1)}")
                say(f"{text}[:] = np.sin({text})")
            case 10:
                say(f"{text}.fill({self.number(1)})")
            case _:
                one, other = self.element(array), self.element(array)
                say(f"{one}, {other} = {other}, {one}")

    def view(self) -> None:
        """A new name for memory that has one, or for a copy."""
        array = self.random.choice(self.arrays)
        shape, text, ordered = array.shape, array.text, array.ordered
        count = shape[0] * (shape[1] if len(shape) == 2 else 1)
        found = [(text, shape, ordered), (f"{text}.copy()", shape, True), (f"{text}[::-1]", shape, ordered)]
        if shape[0] > 2:
            found += [(f"{text}[1:]", (shape[0] - 1, *shape[1:]), ordered),
                      (f"{text}[::2]", ((shape[0] + 1) // 2, *shape[1:]), ordered)]  # fmt: skip
        if len(shape) == 2:
            column, row, turned = (shape[0],), (shape[1],), shape[::-1]
            found += [(f"{text}[{self.index(shape[0])}]", row, ordered), (f"{text}.T", turned, ordered),
                      (f"{text}[:, {self.index(shape[1])}]", column, ordered), (f"np.sin({text}.T)", turned, ordered),
                      (f"np.mean({text}, axis=0)", row, True), (f"{text}.flatten()", (count,), True)]  # fmt: skip
        if ordered and count > 1:
            found += [(f"{text}.ravel()", (count,), True)]
            found += [(f"{text}.reshape({k}, {count // k})", (k, count // k), True)
                      for k in (2, 3, 4) if count % k == 0 and count // k > 1]  # fmt: skip
        value, shape, ordered = self.random.choice(found)
        if shape[-1] > 1 and shape[0] > 1:
            self.bind(value, shape, ordered)

    def bind(self, value: str, shape: Shape, ordered: bool = True) -> None:
        """A statement that gives a new name to an array."""
        name = self.name("v")
        self.say(f"{name} = {value}")
        self.arrays.append(Name(name, shape, ordered))

    def fresh(self) -> None:
        """A new array."""
        array = self.random.choice(self.arrays)
        text, shape = array.text, array.shape
        value, ordered = self.random.choice(
            ((f"np.sin({self.values(shape)} + {text})", False), (f"np.where({text} > 0.0371, {text}, 0.25)", False),
             (f"np.zeros_like({text}) + {text} * 0.5", array.ordered),
             (f"np.zeros({shape}) + {self.values(shape)}", True))
        )  # fmt: skip
        self.bind(value, shape, ordered)

    def rebind(self) -> None:
        """A name becomes another's, perhaps under a condition."""
        one = self.random.choice(self.arrays)
        other = self.array(shape=one.shape)
        assert other is not None
        if self.chance(0.3):
            self.say(f"{one.text}, {other.text} = {other.text}, {one.text}")
            self.know(other, one.ordered and other.ordered)
        else:
            otherwise = self.random.choice((one.text, f"{one.text}.copy()"))
            self.say(f"{one.text} = {other.text} if {self.condition()} else {otherwise}")
        self.know(one, one.ordered and other.ordered)

    def know(self, name: Name, ordered: bool) -> None:
        self.arrays = [replace(n, ordered=ordered) if n.text == name.text else n for n in self.arrays]

    def call(self) -> None:
        """A call of a function that writes what it is given."""
        one, other, number = self.array(1), self.array(1), self.random.choice(self.floats)
        kind = self.random.randint(0, 4)
        table = self.array(2)
        if kind == 0 and table is not None and one is not None:
            self.bind(f"rows({table.text}, {one.text}, {number})", table.shape[1:], table.ordered)
        elif one is None or other is None:
            self.write()
        elif kind == 1:
            self.number_named(f"deep({one.text}, {number}, 3)")
        elif kind == 2 and one.shape == other.shape:
            self.bind(f"either({one.text}, {other.text}, {self.condition()})", one.shape, one.ordered and other.ordered)
        elif kind == 3 and one.shape == other.shape:
            p, q = self.name("v"), self.name("v")
            self.say(f"{p}, {q} = both({one.text}, {other.text})")
            self.arrays += [Name(p, one.shape, False), Name(q, one.shape, False)]
        else:
            self.number_named(f"change({one.text}, {other.text}, {number})")

    def number_named(self, value: str) -> None:
        name = self.name("s")
        self.say(f"{name} = math.sin({value})")
        self.floats.append(name)

    def loop(self) -> None:
        """A loop over numbers, rows or pairs, with a way out in some."""
        table, i = self.array(2), self.name("i")
        kind = self.random.randint(0, 4) if table is not None else 0
        known = self.arrays, self.floats, self.loops
        self.arrays, self.floats, self.loops = list(self.arrays), list(self.floats), [*self.loops, i]
        if kind < 3:
            self.say(f"for {i} in range({self.random.choice((0, 2, 3))}):")
        elif kind == 3:
            row = self.name("v")
            assert table is not None
            self.say(f"for {i}, {row} in enumerate({table.text}):")
            self.arrays.append(Name(row, table.shape[1:], table.ordered))
        else:
            row = self.name("v")
            assert table is not None
            self.say(f"{i} = 0")
            self.say(f"for {row} in {table.text}:")
            self.arrays.append(Name(row, table.shape[1:], table.ordered))
            self.lines.append("    " * (self.indent + 1) + f"{i} += 1")
        self.indent += 1
        if self.chance(0.2):
            self.say(f"if {i} == 2:")
            self.lines.append("    " * (self.indent + 1) + self.random.choice(("break", "continue")))
        self.block(self.random.randint(2, 4))
        self.indent -= 1
        self.leave(known)

    def leave(self, known: tuple[list[Name], list[str], list[str]]) -> None:
        """Forget the names of a block; what it may have bound anew has an order that is not known."""
        inner = {n.text: n.ordered for n in self.arrays}
        self.arrays, self.floats, self.loops = known
        self.arrays = [replace(n, ordered=n.ordered and inner.get(n.text, True)) for n in self.arrays]

    def branch(self) -> None:
        known = self.arrays, self.floats, self.loops
        self.arrays, self.floats = list(self.arrays), list(self.floats)
        self.say(f"if {self.condition()}:")
        for word in ("", "else:") if self.chance(0.5) else ("",):
            if word:
                self.say(word)
            self.indent += 1
            self.block(2)
            self.indent -= 1
            outer = {n.text for n in known[0]}
            self.arrays = [n for n in self.arrays if n.text in outer]
            self.floats = list(known[1])
        self.leave(known)

    def statement(self) -> None:
        kind = self.random.randint(0, 15)
        if kind < 5:
            self.write()
        elif kind < 8:
            self.view()
        elif kind < 9:
            self.fresh()
        elif kind < 10:
            self.rebind()
        elif kind < 12:
            self.call()
        elif kind < 14 and len(self.loops) < 2:
            self.loop()
        elif kind < 15:
            self.branch()
        else:
            self.number_named(self.number())

    def block(self, size: int) -> None:
        for _ in range(size):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement()
        self.say("x = x * 1.0")

    def text(self) -> str:
        self.arrays, self.floats = [Name("a", (4,)), Name("m", (3, 4))], ["x", "s"]
        self.lines = ["def f(x, a, m):", "    s = x * x"]
        while self.budget > 0:
            self.block(self.budget)
        terms = [f"np.sum({n.text} * {round(0.3 + 0.1 * k, 1)})" for k, n in enumerate(self.arrays)]
        self.lines.append(f"    return np.sum(m * m) + a @ a + {' + '.join([*terms, *self.floats])}")
        return HELPERS + "\n".join(self.lines) + "\n"


def source(seed: int) -> str:
    """The program of a seed."""
    return Source(seed).text()
