"""Statements of random programs that make and change data: tuples, lists, dicts, objects, arrays, linked lists."""

from __future__ import annotations

from language_scope import Pen, Scope

HEAD = """import functools
import itertools
import math
from dataclasses import dataclass, field

import numpy as np

import pullback as pb


class Stop(Exception):
    def __init__(self, amount):
        super().__init__("stopped")
        self.amount = amount


@dataclass
class Box:
    a: float
    b: float = 0.5
    items: list = field(default_factory=list)

    def scaled(self, z):
        return math.tanh(self.a * z) + self.b

    def shift(self, z):
        self.a = math.sin(self.a + z)
        self.items.append(self.a)
        return self.a


class Shape:
    def __init__(self, size):
        self.size = size

    def area(self, z):
        return math.sin(self.size * z)

    @property
    def double(self):
        return self.area(1.0) * 2.0


class Wide(Shape):
    def area(self, z):
        return super().area(z) * self.size + z


class Tall(Shape):
    def __init__(self, size, height=1.5):
        super().__init__(size * 0.5)
        self.height = height

    def area(self, z):
        return math.tanh(self.size * self.height + z)


class Held:
    def __init__(self, box, z):
        self.box = box
        self.z = z

    def __enter__(self):
        self.box.a += self.z
        return self.box.a * 0.5

    def __exit__(self, kind, error, trace):
        self.box.a = math.sin(self.box.a)
        return False


def weigh(first, *rest, scale=1.0, **options):
    total = first * scale
    for k, value in enumerate(rest):
        total = total * 0.5 + value * (k + 1)
    for name, value in options.items():
        total += value * (2.0 if name == "p" else 1.0)
    return math.tanh(total)


def risky(x, n):
    if x > 0.8:
        raise Stop(x * n)
    if n <= 0:
        return x
    if x < -0.9:
        raise ValueError("low", n)
    return risky(math.sin(x) + 0.3, n - 1) * x


class Node:
    def __init__(self, value, rest=None):
        self.value = value
        self.rest = rest


class Rows:
    def __init__(self, left, right):
        self.left = left
        self.right = right

    def push(self, z):
        self.left += z
        return self.left

    def turn(self):
        self.left, self.right = self.right, self.left


def weight(w):
    return float(np.sum(np.sin(w) * (np.arange(w.size) + 1.0).reshape(w.shape)))


def marked(w, z):
    w[0] = z
    return w


def larger(left, right):
    return left if left[0] > right[0] else right


def tail(w):
    return w[-2:]


def parts(w):
    for k in range(len(w) - 1):
        yield w[k : k + 2]


def states(w, n):
    yield w
    for k in range(n):
        w = np.sin(w) + k * 0.25
        yield w


def pushed(w, z, n):
    if n <= 0:
        return w
    w[n % len(w)] += z
    return pushed(w, z * 0.5, n - 1)


def folded(node, z):
    if node is None:
        return z
    return math.sin(node.value + 0.5 * folded(node.rest, z))


"""


class DataWriter(Pen):
    """Writes one statement, or a few that belong together, into a block."""

    def bind(self, scope: Scope, name: str, kind: str) -> None:
        scope.kinds[name] = kind
        scope.own.add(name)

    def some(self, scope: Scope, kind: str, indent: int, make: str) -> str:
        """A name of that kind, made first where there is none."""
        known = scope.of(kind)
        if known:
            return self.draw.choice(known)
        name = self.fresh({"array": "w", "list": "l", "dict": "d", "box": "b", "tuple": "t", "fn": "f"}[kind])
        self.write(indent, f"{name} = {make}")
        self.bind(scope, name, kind)
        return name

    def target(self, scope: Scope) -> str:
        known = scope.assignable("num")
        return self.draw.choice(known) if known and self.chance(0.6) else self.fresh("v")

    def assignment(self, scope: Scope, indent: int) -> None:
        name = self.target(scope)
        self.write(indent, f"{name} = {self.bounded(scope)}")
        self.bind(scope, name, "num")

    def augmented(self, scope: Scope, indent: int) -> None:
        known = scope.assignable("num")
        if not known:
            return self.assignment(scope, indent)
        name = self.draw.choice(known)
        return self.write(indent, f"{name} {self.pick('+=', '-=')} {self.bounded(scope)}")

    def result(self, scope: Scope, indent: int, text: str) -> None:
        name = self.target(scope)
        self.write(indent, f"{name} = {text}")
        self.bind(scope, name, "num")

    def around(self, scope: Scope, indent: int, place: str, text: str) -> None:
        """A write, perhaps under another name, between two reads of the place."""
        v = self.fresh("v")
        self.write(indent, f"{v} = math.cos({place})")
        self.write(indent, text)
        self.write(indent, f"{v} = {v} * math.sin({place} + 0.5)")
        self.bind(scope, v, "num")

    def tuples(self, scope: Scope, indent: int) -> None:
        known = scope.of("tuple")
        a, b = self.bounded(scope), self.number(scope, 1)
        if known and self.chance(0.5):
            t = self.draw.choice(known)
            one, two = self.target(scope), self.fresh("v")
            self.write(indent, self.pick(f"{one}, {two} = {t}[:2]", f"{one}, *_, {two} = {t} + ({a},)"))
            self.bind(scope, one, "num")
            return self.bind(scope, two, "num")
        name = self.fresh("t")
        self.write(indent, f"{name} = {self.pick(f'({a}, {b})', f'({a}, {b}, 1.5)', f'({a},) + ({b}, 2.0)[::-1]')}")
        return self.bind(scope, name, "tuple")

    def lists(self, scope: Scope, indent: int) -> None:
        new = self.pick("[]", f"[{self.number(scope, 1)}, 0.5]", f"[{self.number(scope, 1)}] * 2")
        name, a, k = self.some(scope, "list", indent, new), self.bounded(scope), self.integer(scope)
        roll = self.draw.randrange(9)
        if roll < 3:
            self.write(indent, f"if len({name}) < 7:")
            grown = f"{name} += [{a}]" if name in scope.own else f"{name}.append({a})"
            self.write(indent + 1, self.pick(f"{name}.append({a})", f"{name}.extend([{a}, 0.3])", grown))
        elif roll == 3:
            self.write(indent, f"if {name}:")
            self.write(indent + 1, self.pick(f"{name}[{k} % len({name})] = {a}", f"{name}[-1] *= {a}"))
        elif roll == 4:
            self.result(scope, indent, f"{name}.pop() if {name} else {a}")
        elif roll == 5:
            self.write(indent, f"if len({name}) < 7:")
            self.write(indent + 1, f"{name}.insert({k}, {a})")
        elif roll == 6:
            self.write(indent, self.pick(f"{name}.reverse()", f"{name}[1:] = [{a}]", f"{name}.sort()"))
        else:
            made = self.fresh("l")
            self.write(
                indent, f"{made} = {self.pick(f'{name}[1:]', f'{name} + [{a}]', f'sorted({name})', f'{name}[:]')}"
            )
            self.bind(scope, made, "list")

    def dicts(self, scope: Scope, indent: int) -> None:
        if self.chance(0.3):
            name = self.fresh("r")
            self.write(indent, f'{name} = {{"p": {self.bounded(scope)}, "q": {self.number(scope, 1)}}}')
            self.write(indent, f'{name}["p"] {self.pick("=", "+=")} {self.bounded(scope)}')
            return self.bind(scope, name, "table")
        name = self.some(scope, "dict", indent, self.pick("{}", f"{{0: {self.number(scope, 1)}, 2: 0.5}}"))
        a, k = self.bounded(scope), self.integer(scope)
        text = self.pick(
            f"{name}[{k} % 5] = {a}", f"{name}[{k} % 4] = {name}.get({k} % 4, 0.5) * {a}",
            f"{name}.setdefault({k} % 3, {a})", f"{name}.update({{1: {a}}})", f"{name}.pop({k} % 3, {a})",
        )  # fmt: skip
        return self.write(indent, text)

    def objects(self, scope: Scope, indent: int) -> None:
        name, a = self.some(scope, "box", indent, f"Box({self.bounded(scope)})"), self.bounded(scope)
        roll = self.draw.randrange(5)
        if roll == 0:
            made = self.fresh("b")
            self.write(indent, f"{made} = Box({a}, {name}.a)")
            self.bind(scope, made, "box")
        elif roll == 1:
            self.write(indent, f"if len({name}.items) < 5:")
            self.write(indent + 1, self.pick(f"{name}.items.append({a})", f"{name}.shift({a})"))
        else:
            self.write(indent, self.pick(f"{name}.a = {a}", f"{name}.b += {a}", f"{name}.a, {name}.b = {name}.b, {a}"))

    def alias(self, scope: Scope, indent: int) -> None:
        """A second name, attribute or place for something that can be changed."""
        kind = self.pick(*[k for k in ("list", "box", "array", "dict") if scope.of(k)] or ["box"])
        make = {"list": "[0.5]", "box": "Box(0.5)", "array": "np.zeros(3)", "dict": "{}"}[kind]
        name, other = self.some(scope, kind, indent, make), self.fresh("o")
        others = [n for n in scope.of(kind) if n != name]
        if others and self.chance(0.5):
            second = self.draw.choice(others)
            self.write(indent, f"{other} = {name} if {self.condition(scope)} else {second}")
            if kind == "box" and self.chance(0.6):
                self.around(scope, indent, f"{other}.a", f"{self.pick(name, second)}.a = {self.bounded(scope, 1)}")
        elif kind == "list" and scope.of("box") and self.chance(0.6):
            box = self.draw.choice(scope.of("box"))
            self.write(indent, f"{box}.items = {name}")
            self.write(indent, f"{other} = {box}.items")
        else:
            self.write(indent, f"{other} = {name}")
            self.shapes[other] = self.shapes.get(name, name)
        self.bind(scope, other, kind)

    def arrays(self, scope: Scope, indent: int) -> None:
        made = self.pick("np.zeros(3)", f"np.array([{self.number(scope, 1)}, 0.5, {self.number(scope, 1)}])")
        name, a = self.some(scope, "array", indent, made), self.bounded(scope)
        if indent < 4 and self.chance(0.4):
            return self.sweep(scope, indent, name)
        place = f"{name}[{self.integer(scope)} % len({name})]"
        scale = f"{name} *= {a}" if name in scope.own else f"{name}[:] = {name} * {a}"
        text = self.pick(f"{place} = {a}", f"{place} += {a}", scale, f"{name}[:] = np.sin({name}) + {a}",
                         f"{name}[1:] = {a}", f"{name}[{name} > 0.4] = {a}")  # fmt: skip
        if self.chance(0.6):
            return self.write(indent, text)
        return self.around(scope, indent, place, text)

    def sweep(self, scope: Scope, indent: int, name: str) -> None:
        """A loop whose trips read what earlier ones wrote and overwrite what earlier ones read."""
        i, inner = self.fresh("i"), scope.inner(loop=True)
        inner.kinds[i] = "int"
        inner.kept.add(i)
        self.write(indent, f"for {i} in range({self.pick(f'len({name})', 3, 4)}):")
        if self.chance(0.3):
            self.block(inner, indent + 1, 1)
        here, there = (f"{name}[({i} + {self.integer(scope)}) % len({name})]" for _ in range(2))
        a = self.number(inner, 1)
        text = self.pick(f"{here} = math.sin({there} * {a})", f"{here} = math.tanh({here} * {there}) + {a} * 0.5",
                         f"{here}, {there} = math.sin({there} * {a}), math.cos({here})",
                         f"{name}[1:] = np.sin({name}[:-1] * {here})",
                         f"{name}[:] = np.sin({name} * {there})")  # fmt: skip
        self.write(indent + 1, text)

    def views(self, scope: Scope, indent: int) -> None:
        name, a = self.some(scope, "array", indent, "np.zeros(4)"), self.bounded(scope)
        view = self.fresh("s")
        if self.chance(0.3):
            grid = self.fresh("g")
            self.write(indent, f"{grid} = np.zeros((2, 3)) + {a}")
            self.write(
                indent, f"{view} = {grid}{self.pick(f'[{self.integer(scope)} % 2]', '.T[1]', '[:, 0]', '.ravel()')}"
            )
            self.write(indent, f"{view}[{self.pick(0, 1, -1)}] = {a}")
            return self.result(scope, indent, f"float(np.sum({grid} * {grid}[0, 1]))")
        self.write(indent, f"{view} = {name}{self.pick('[1:]', '[::-1]', '[:-1]', '[::2]')}")
        text = self.pick(
            f"{view}[0] = {a}", f"{view} *= {a}", f"{view} += {self.number(scope, 1)}", f"{name}[-1] = {a}"
        )
        self.write(indent, f"if len({view}) > 0:")
        self.write(indent + 1, text)
        return self.result(scope, indent, f"float(np.sum({view}))")

    def comprehension(self, scope: Scope, indent: int) -> None:
        i = self.fresh("i")
        inner = scope.inner()
        inner.kinds[i] = "int"
        body, test = self.number(inner, 1), self.pick("", f" if {self.condition(inner)}")
        loop = f"for {i} in range({self.integer(scope)} % 4){test}"
        roll = self.draw.randrange(4)
        if roll == 0:
            return self.result(scope, indent, f"sum({body} {loop})")
        if roll == 1:
            name = self.fresh("d")
            self.write(indent, f"{name} = {{{i}: {body} {loop}}}")
            return self.bind(scope, name, "dict")
        name = self.fresh("l")
        self.write(indent, f"{name} = [{body} {loop}]")
        return self.bind(scope, name, "list")

    def none(self, scope: Scope, indent: int) -> None:
        o = self.fresh("q")
        self.write(indent, f"{o} = None")
        self.write(indent, f"if {self.condition(scope)}:")
        box = self.chance(0.3)
        self.write(indent + 1, f"{o} = {f'Box({self.bounded(scope)})' if box else self.bounded(scope)}")
        value = f"{o}.a" if box else o
        other = self.number(scope, 1)
        self.result(scope, indent, self.pick(f"{other} if {o} is None else {value} * 2.0",
                                             f"{value} + 1.0 if {o} is not None else {other}"))  # fmt: skip

    def linked(self, scope: Scope, indent: int) -> None:
        known = scope.of("node")
        if known and self.chance(0.5):
            node, total = self.fresh("c"), self.fresh("v")
            self.write(indent, f"{node}, {total} = {self.draw.choice(known)}, {self.number(scope, 1)}")
            self.write(indent, f"while {node} is not None:")
            self.write(indent + 1, f"{total} = {total} * 0.5 + {node}.value")
            self.write(indent + 1, f"{self.pick(f'{node}.value *= 0.5', 'pass')}")
            self.write(indent + 1, f"{node} = {node}.rest")
            return self.bind(scope, total, "num")
        head, i = self.fresh("h"), self.fresh("i")
        self.write(indent, f"{head} = None")
        self.write(indent, f"for {i} in range({self.integer(scope)} % 4):")
        inner = scope.inner()
        inner.kinds[i] = "int"
        self.write(indent + 1, f"{head} = Node({self.bounded(inner)}, {head})")
        return self.bind(scope, head, "node")
