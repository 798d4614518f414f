"""Programs in which objects meet the rest of the language: containers, closures, derivatives inside, recursion."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def program(*arguments: Any) -> Any:
    def note(function: Any) -> Any:
        PROGRAMS[f"{function.__name__}{len(PROGRAMS)}"] = (function, arguments)
        return function

    return note


class Cell:
    def __init__(self, value):
        self.value = value


@program(0.7)
def objects_in_tuples(a):
    cells = (Cell(a), Cell(2.0), Cell(a * a))
    cells[0].value += cells[2].value
    for cell in cells:
        cell.value *= a
    return cells[0].value + cells[1].value * cells[2].value


@program(0.7, 5)
def list_of_objects(a, n):
    cells = [Cell(a * i) for i in range(n)]
    for i in range(1, n):
        cells[i].value += cells[i - 1].value * a
    cells.append(cells[0])
    cells[-1].value = 3.0
    return sum(c.value for c in cells)


class Tree:
    def __init__(self, value):
        self.value = value
        self.children = []

    def add(self, child):
        self.children.append(child)
        return self

    def total(self):
        result = self.value
        for child in self.children:
            result += 0.5 * child.total()
        return result


def _grow(a, depth):
    tree = Tree(a)
    for i in range(depth):
        tree.add(_grow(a * (i + 1), i))
    return tree


@program(0.7, 4)
def tree_with_children(a, n):
    return _grow(a, n).total()


class Stack:
    def __init__(self):
        self.items = []
        self.pushed = 0

    def push(self, x):
        self.items.append(x)
        self.pushed += 1

    def pop(self):
        return self.items.pop()

    def __len__(self):
        return len(self.items)


@program(0.7, 6)
def stack_machine(a, n):
    stack = Stack()
    for i in range(n):
        stack.push(a + i)
        if len(stack) > 2:
            x = stack.pop()
            y = stack.pop()
            stack.push(x * y)
    total = 0.0
    while stack:
        total += stack.pop()
    return total + stack.pushed


@program(0.7)
def dict_field(a):
    class_like = Registry()
    class_like.set("x", a)
    class_like.set("y", a * a)
    class_like.set("x", class_like.get("x") * 3.0)
    return class_like.get("x") * class_like.get("y") + len(class_like.table)


class Registry:
    def __init__(self):
        self.table = {}

    def set(self, name, value):
        self.table[name] = value

    def get(self, name):
        return self.table[name]


@program(0.7)
def closure_in_field(a):
    handler = Handler(lambda x: x * a)
    first = handler.run(2.0)
    handler.then(lambda x: x + 1.0)
    return first + handler.run(a)


class Handler:
    def __init__(self, action):
        self.action = action
        self.following = None

    def then(self, action):
        self.following = action

    def run(self, x):
        y = self.action(x)
        if self.following is not None:
            y = self.following(y)
        return y


@program(0.7)
def gradient_inside_method(a):
    return Newton(lambda x: x * x - a, 1.0).solve(6)


class Newton:
    def __init__(self, f, x):
        self.f = f
        self.x = x

    def solve(self, n):
        for _ in range(n):
            self.x = self.x - self.f(self.x) / pb.grad(self.f)(self.x)
        return self.x


class Spring:
    def __init__(self, k):
        self.k = k
        self.x = 1.0
        self.v = 0.0

    def potential(self, x):
        return 0.5 * self.k * x * x + math.cos(x)

    def step(self, dt):
        self.v -= dt * pb.grad(self.potential)(self.x)
        self.x += dt * self.v


@program(0.7, 8)
def force_is_a_gradient(a, n):
    spring = Spring(a)
    for _ in range(n):
        spring.step(0.1)
    return spring.x * spring.x + spring.v


@program(0.7)
def no_perturbation_confusion(a):
    cell = Cell(a)

    def inner(x):
        cell.value = cell.value * x
        return cell.value * x

    slope = pb.grad(inner)(a)
    return slope * cell.value


@program(0.7)
def object_made_inside_a_gradient(a):
    def loss(w):
        model = Line(w, a)
        model.b += w * w
        return model(2.0) ** 2

    value, slope = pb.value_and_grad(loss)(a)
    return value * slope


class Line:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return self.w * x + self.b


@program(0.7)
def forward_inside(a):
    line = Line(a, 1.0)

    def curve(x):
        line.b = line.b * x
        return line(x) * x

    value, tangent = pb.jvp(curve, (a,), (1.0,))
    return value + tangent * line.b


@program(np.float32(0.7))
def single_precision(a):
    cell = Cell(a)
    for _ in range(3):
        cell.value = cell.value * a + np.float32(0.5)
    return cell.value


@program(0.7, 3)
def numbers_of_several_kinds(a, n):
    cell = Cell(n)
    total = 0.0
    for i in range(4):
        if i == 2:
            cell.value = a
        total += cell.value * 2
        cell.value = cell.value + 1
    return total


class Count:
    """An iterator of its own."""

    def __init__(self, n, x):
        self.n, self.x = n, x

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.x *= 1.5
        return self.x


@program(0.7, 4)
def own_iterator(a, n):
    total = 0.0
    for x in Count(n, a):
        total = total * a + x
    return total


class Squares:
    def __init__(self, a):
        self.a = a

    def __getitem__(self, i):
        if i >= 4:
            raise IndexError("past the end")
        return self.a * i


@program(0.7)
def iteration_by_index(a):
    total = 0.0
    for x in Squares(a):
        total += x * x
    return total


class Walk:
    def __init__(self, node):
        self.node = node

    def __iter__(self):
        node = self.node
        while node is not None:
            yield node.value
            node = node.next


class Link:
    def __init__(self, value, next):
        self.value, self.next = value, next


@program(0.7, 4)
def generator_method(a, n):
    head = None
    for i in range(n):
        head = Link(a + i, head)
    total = 1.0
    for value in Walk(head):
        total *= value
    return total + sum(v * v for v in Walk(head))


class Proxy:
    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)


@program(0.7)
def attribute_hook(a):
    proxy = Proxy(Line(a, 2.0))
    return proxy.w * proxy.b + proxy.inner.w


class Checked:
    def __init__(self, x):
        self.x = x

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


@program(0.7)
def write_hook(a):
    checked = Checked(a)
    checked.x = checked.x * a
    return checked.x


class Pair:
    def __init__(self, left: float, right: float) -> None:
        self.left: float = left
        self.right: float = right

    def swap(self) -> Pair:
        return Pair(self.right, self.left)


@program(0.7)
def annotated_class(a):
    p = Pair(a, 2.0).swap()
    q = Pair(np.array([a, 1.0]), np.ones(2))
    return p.left * p.right + float(np.dot(q.left, q.right))


@dataclass
class Animal:
    size: float
    legs: int = 4

    def speed(self):
        return self.size * self.legs


@dataclass
class Bird(Animal):
    legs: int = 2
    wings: list = field(default_factory=list)

    def speed(self):
        return super().speed() + len(self.wings)


@program(0.7)
def dataclass_inheritance(a):
    bird, cat = Bird(a), Animal(a * a)
    bird.wings.append(a)
    return bird.speed() * cat.speed() + (1.0 if bird == Bird(a, wings=[a]) else 0.0)


class Visitor:
    """The method is chosen by the name of the class, where that is known while compiling."""

    def visit(self, node):
        method = getattr(self, "visit_" + type(node).__name__)
        return method(node)

    def visit_Number(self, node):  # noqa: N802
        return node.value

    def visit_Halved(self, node):  # noqa: N802
        return node.factor * node.inner


@dataclass
class Number:
    value: float


@dataclass
class Add:
    left: Any
    right: Any


@dataclass
class Scale:
    factor: float
    inner: Any


@program(0.7)
def visitor(a):
    return Visitor().visit(Number(a)) + Visitor().visit(Halved(a, a * a))


class Halved:
    def __init__(self, factor, inner):
        self.factor, self.inner = factor, inner


def _evaluate(node):
    match node:
        case Number(v):
            return v
        case Add(Number(x), Number(y)):
            return x + y
        case Add(left, right):
            return _evaluate(left) + _evaluate(right)
        case Scale(factor=k, inner=inner):
            return k * _evaluate(inner)
        case _:
            raise TypeError("no such node")


@program(0.7, 4)
def matched_tree(a, n):
    tree = Number(a)
    for i in range(n):
        tree = Add(tree, Number(2.0)) if i % 2 else Scale(a, tree)
    return _evaluate(tree)


class State(NamedTuple):
    position: np.ndarray
    speed: float


@program(0.7, 4)
def state_in_a_named_tuple(a, n):
    state = State(np.array([a, 1.0]), a)
    for _ in range(n):
        state = state._replace(position=state.position * state.speed, speed=state.speed + 0.1)
    return float(np.sum(state.position)) * state.speed


class Network:
    def __init__(self, sizes, scale):
        self.layers = [Layer(m, n, scale) for m, n in zip(sizes[:-1], sizes[1:])]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Layer:
    def __init__(self, m, n, scale):
        self.w = np.full((n, m), scale)
        self.b = np.arange(n) * scale

    def __call__(self, x):
        return np.tanh(self.w @ x + self.b)


@program(0.7)
def network(a):
    net = Network((2, 3, 2), a)
    return float(np.sum(net(np.array([1.0, a]))))


class Account:
    def __init__(self, balance):
        self.balance = balance

    def draw(self, amount):
        if amount > self.balance:
            raise ValueError("too much")
        self.balance -= amount
        return self.balance


@program(0.7)
def exception_in_method(a):
    account = Account(a)
    total = 0.0
    for amount in (0.1, 0.5, 0.5):
        try:
            total += account.draw(amount)
        except ValueError:
            total += 10.0 * account.balance
    return total


class Guard:
    def __init__(self, cell, value):
        self.cell, self.value = cell, value

    def __enter__(self):
        self.cell.value, self.value = self.value, self.cell.value
        return self.cell

    def __exit__(self, kind, error, trace):
        self.cell.value = self.value
        return False


@program(0.7)
def context_manager(a):
    cell = Cell(a)
    with Guard(cell, 3.0) as inner:
        total = inner.value * a
    return total + cell.value * cell.value


@program(0.7, 300)
def deep_recursion(a, n):
    return _depth(Cell(a), n)


def _depth(cell, n):
    if n == 0:
        return cell.value
    cell.value = math.sin(cell.value)
    return _depth(Cell(cell.value + 0.1), n - 1) + cell.value


@program(0.7)
def identity_of_objects(a):
    p, q = Cell(a), Cell(a)
    r = p
    total = 0.0
    if p is not q:
        total += a
    if p is r and p == r:
        total += a * a
    if p != q:
        total *= 3.0
    if p in (q, r):
        total += 1.0
    return total


@program(0.7, 1)
@program(0.7, 0)
def maybe_object(a, flag):
    cell = Cell(a) if flag else None
    if cell:
        cell.value *= 2.0
    value = cell.value if cell is not None else a * a
    return value if not isinstance(cell, Cell) else value * 3.0


@program(0.7)
def inner_functions_share_an_object(a):
    total = Cell(0.0)

    def add(x):
        total.value += x * a
        return add

    add(1.0)(a)(2.0)
    return total.value


@program(0.7, 5)
def object_swapped_in_loop(a, n):
    p, q = Cell(a), Cell(1.0)
    for i in range(n):
        p, q = q, p
        p.value += q.value * i
    return p.value * q.value
