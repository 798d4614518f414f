"""Programs of classes and objects, each with arguments: run by CPython, on dual numbers, interpreted and compiled.

Every function takes floats (and perhaps ints) and returns a float; the derivative is taken by the first argument.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections import namedtuple
from dataclasses import InitVar, dataclass, field, replace
from enum import Enum, IntEnum
from typing import ClassVar, NamedTuple

import numpy as np

PROGRAMS: dict[str, tuple] = {}


def program(*arguments):
    def note(function):
        PROGRAMS[function.__name__] = (function, arguments)
        return function

    return note


# ------------------------------------------------------------------------------------------------ plain classes


class Point:
    """Fields, methods, aliases."""

    def __init__(self, x, y=2.0):
        self.x = x
        self.y = y

    def norm2(self):
        return self.x * self.x + self.y * self.y

    def scale(self, s):
        self.x = self.x * s
        self.y *= s
        return self


@program(3.0)
def alias(a):
    p = Point(a)
    q = p
    q.scale(a)
    return p.norm2() + (1.0 if p is q else 0.0)


@program(1.5)
def two_objects(a):
    p, q = Point(a), Point(a * a, a)
    p.x += q.x
    q.y = p.x * p.y
    return p.norm2() * q.norm2() + (1.0 if p is q else 0.0)


@program(0.7, 6)
def object_in_loop(a, n):
    p = Point(a, 1.0)
    for i in range(n):
        p.x = math.sin(p.x + i) * p.y
        p.y = p.y * a
    return p.x + p.y


@program(0.7, 6)
def objects_made_in_loop(a, n):
    best = Point(a, 0.0)
    for i in range(n):
        other = Point(a * i, best.x)
        if other.norm2() > best.norm2():
            best = other
    return best.norm2()


@program(0.3)
def passed_to_callee(a):
    def bump(p, by):
        p.x += by
        return p.x * p.y

    p = Point(a, 3.0)
    first = bump(p, a)
    second = bump(p, first)
    return first * second + p.x


@program(0.3)
def captured(a):
    p = Point(a, 3.0)

    def step():
        p.x = p.x * p.y + a
        return p.x

    return step() + step() * p.x


class Counter:
    total_name = "count"
    rate = 0.5

    def __init__(self):
        self.count = 0
        self.sum = 0.0

    def add(self, x):
        self.count += 1
        self.sum += x * self.rate
        return self

    @property
    def mean(self):
        return self.sum / self.count

    @mean.setter
    def mean(self, value):
        self.sum = value * self.count

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def of(cls, *values):
        counter = cls()
        for value in values:
            counter.add(value)
        return counter


@program(2.0)
def properties(a):
    c = Counter().add(a).add(a * a)
    before = c.mean
    c.mean = before * a
    return c.sum + before


@program(2.0)
def static_and_class_methods(a):
    c = Counter.of(a, 2.0 * a, a * a)
    return Counter.square(c.mean) + c.square(a) + Counter.rate


@program(2.0)
def class_attribute_shadowed(a):
    c = Counter()
    d = Counter()
    c.rate = a
    c.add(3.0)
    d.add(a)
    return c.sum + d.sum


@program(2.0)
def bound_method_as_value(a):
    c = Counter()
    add = c.add
    add(a)
    add(a * a)
    f = Counter.square
    return c.sum + f(a)


class Shape:
    def area(self):
        return 0.0

    def describe(self, k):
        return self.area() * k


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r * self.r


class Square(Shape):
    def __init__(self, s):
        self.s = s

    def area(self):
        return self.s**2

    def describe(self, k):
        return super().describe(k) + 1.0


@program(1.5)
def inheritance(a):
    return Circle(a).describe(2.0) + Square(a).describe(a) + Shape().describe(3.0)


@program(1.5, 1)
@program(1.5, 0)
def union_of_objects(a, which):
    shape = Circle(a) if which else Square(a)
    return shape.describe(a) * shape.area()


@program(1.5, 5)
def union_in_loop(a, n):
    total = 0.0
    shape = Shape()
    for i in range(n):
        total += shape.area()
        if isinstance(shape, Circle):
            shape = Square(shape.r + a)
        elif i % 2:
            shape = Circle(a * i)
        else:
            shape = Shape()
    return total


class Base:
    def __init__(self, x):
        self.x = x
        self.log = 1.0

    def value(self):
        return self.x


class Left(Base):
    def __init__(self, x):
        super().__init__(x * 2.0)
        self.left = x

    def value(self):
        return super().value() + self.left


class Right(Base):
    def value(self):
        return super().value() * 3.0


class Both(Left, Right):
    def __init__(self, x):
        super().__init__(x + 1.0)
        self.extra = self.x * x

    def value(self):
        return super().value() * self.extra


@program(1.25)
def diamond(a):
    b = Both(a)
    return b.value() + b.log


class Function(ABC):
    @abstractmethod
    def __call__(self, x): ...

    def twice(self, x):
        return self(self(x))


class Affine(Function):
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        return self.w * x + self.b


class Sine(Function):
    def __call__(self, x):
        return math.sin(x)


@program(1.25)
def callables(a):
    return Affine(a, 2.0).twice(a) + Sine().twice(a)


@program(1.25)
def composed_callables(a):
    layers = (Affine(a, 0.5), Sine(), Affine(a * a, a))
    x = a
    for layer in layers:
        x = layer(x)
    return x


# ---------------------------------------------------------------------------------------------------- operators


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if isinstance(other, Vector):
            return Vector(self.x + other.x, self.y + other.y)
        return Vector(self.x + other, self.y + other)

    __radd__ = __add__

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        if isinstance(k, Vector):
            return NotImplemented
        return Vector(self.x * k, self.y * k)

    def __rmul__(self, k):
        return self * k

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return math.sqrt(self @ self)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __eq__(self, other):
        return isinstance(other, Vector) and self.x == other.x and self.y == other.y

    def __bool__(self):
        return self.x != 0.0 or self.y != 0.0

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return self.y if i else self.x

    def __setitem__(self, i, v):
        if i:
            self.y = v
        else:
            self.x = v

    def __contains__(self, v):
        return v == self.x or v == self.y

    def __iter__(self):
        return iter((self.x, self.y))


@program(1.5)
def arithmetic_operators(a):
    v, w = Vector(a, 2.0), Vector(1.0, a)
    u = (v + w) * a - 2.0 * w + 1.0
    return u @ (-v) + abs(u)


@program(1.5)
def inplace_operators(a):
    v = Vector(a, 2.0)
    w = v
    v += Vector(a, a)
    v *= a
    return w.x * v.x + (1.0 if w is v else 0.0)


@program(1.5)
def container_operators(a):
    v = Vector(a, 2.0)
    v[1] = v[0] * a
    v[0] += 1.0
    total = len(v) + v[1]
    if v:
        total += 3.0
    if 2.5 in v:
        total *= 2.0
    for x in v:
        total += x * x
    return total


@program(1.5)
def equality(a):
    v, w = Vector(a, 2.0), Vector(a, 2.0)
    total = a
    if v == w:
        total *= 2.0
    if v != Vector(a, 3.0):
        total *= 3.0
    if v == 3:
        total *= 5.0
    return total


@functools.total_ordering
class Ranked:
    def __init__(self, rank, value):
        self.rank, self.value = rank, value

    def __eq__(self, other):
        return self.rank == other.rank

    def __lt__(self, other):
        return self.rank < other.rank


@program(1.5)
def ordering(a):
    x, y = Ranked(1, a), Ranked(2, a * a)
    total = 0.0
    if x < y:
        total += x.value
    if x <= y:
        total += 10.0 * y.value
    if x > y or x >= y:
        total += 100.0
    return total


class Meters:
    def __init__(self, m):
        self.m = m

    def __add__(self, other):
        return Meters(self.m + other.m) if isinstance(other, Meters) else NotImplemented

    def __float__(self):
        return self.m * 1.0


class Feet:
    def __init__(self, f):
        self.f = f

    def __radd__(self, other):
        return Meters(other.m + self.f * 0.3048)


@program(1.5)
def reflected(a):
    return (Meters(a) + Feet(a * a)).m + (Meters(a) + Meters(1.0)).m


# -------------------------------------------------------------------------------------------------- dataclasses


@dataclass
class Particle:
    x: float
    v: float = 0.5
    mass: float = field(default=2.0, kw_only=True)
    kind: ClassVar[str] = "point"

    def step(self, dt):
        self.x += self.v * dt
        self.v -= self.x * dt / self.mass

    @property
    def energy(self):
        return 0.5 * self.mass * self.v**2 + 0.5 * self.x**2


@program(0.9, 10)
def particle(a, n):
    p = Particle(a, mass=a)
    for _ in range(n):
        p.step(0.1)
    return p.energy


@dataclass(frozen=True)
class Parameters:
    w: float
    b: float = 1.0
    scale: InitVar[float] = 2.0
    total: float = field(init=False, default=0.0)

    def __post_init__(self, scale):
        object.__setattr__(self, "total", self.w * scale + self.b)

    def apply(self, x):
        return self.w * x + self.b + self.total


@program(0.9)
def frozen_dataclass(a):
    p = Parameters(a, scale=3.0)
    q = replace(p, b=a * a, scale=a)
    return p.apply(2.0) * q.apply(a) + (1.0 if p == q else 0.0)


@dataclass(order=True)
class Item:
    cost: float
    name: str = field(compare=False, default="item")


@program(0.9)
def dataclass_order(a):
    x, y = Item(a), Item(a * a, "other")
    low = x if x < y else y
    same = Item(a) == Item(a, "else")
    return low.cost * (2.0 if same else 3.0) + (x.cost if low.name == "other" else 0.0)


@dataclass
class Nested:
    point: Point
    pair: tuple = (1.0, 2.0)
    inner: Particle = field(default_factory=lambda: Particle(1.0, 2.0))


@program(0.9)
def nested_objects(a):
    n = Nested(Point(a, 1.0))
    m = Nested(n.point, (a, a))
    m.point.x *= 3.0
    m.inner.x = a
    n.inner.v = n.point.x * a
    return n.point.norm2() + m.pair[0] * m.inner.energy + n.inner.energy


@dataclass
class Optional_:
    value: float
    child: "Optional_ | None" = None


@program(0.9, 4)
def optional_chain(a, n):
    top = Optional_(a)
    for i in range(n):
        top = Optional_(a * i, top)
    total = 0.0
    node = top
    while node:
        total = total * a + node.value
        node = node.child
    return total


# ----------------------------------------------------------------------------------------------- recursive types


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@program(0.8, 6)
def linked_list(a, n):
    head = None
    for i in range(n):
        head = Node(a * i, head)
    total = 0.0
    while head is not None:
        total += head.value * head.value
        head = head.next
    return total


@program(0.8, 6)
def list_reversed_in_place(a, n):
    head = None
    for i in range(n):
        head = Node(a + i, head)
    back = None
    while head is not None:
        head.next, back, head = back, head, head.next
    total, weight = 0.0, 1.0
    while back is not None:
        total += weight * back.value
        weight *= a
        back = back.next
    return total


def _total(node):
    return 0.0 if node is None else node.value * node.value + _total(node.next)


@program(0.8, 6)
def recursive_fold(a, n):
    head = None
    for i in range(n):
        head = Node(a * i, head)
    return _total(head)


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def insert(self, value):
        if value < self.value:
            if self.left is None:
                self.left = Tree(value)
            else:
                self.left.insert(value)
        elif self.right is None:
            self.right = Tree(value)
        else:
            self.right.insert(value)

    def fold(self, f):
        left = self.left.fold(f) if self.left is not None else 0.0
        right = self.right.fold(f) if self.right is not None else 1.0
        return f(self.value, left, right)


def _complete(depth, value):
    if depth == 0:
        return None
    return Tree(value, _complete(depth - 1, value * 0.5), _complete(depth - 1, value + 1.0))


@program(0.8, 4)
def balanced_tree(a, depth):
    tree = _complete(depth, a)
    return tree.fold(lambda v, left, right: math.tanh(v) * left + right * a)


@program(0.8, 8)
def search_tree(a, n):
    tree = Tree(a)
    for i in range(n):
        tree.insert(a * ((i * 5) % 7))
    return tree.fold(lambda v, left, right: v + 0.5 * left * right)


class Leaf:
    def __init__(self, x):
        self.x = x

    def evaluate(self):
        return self.x


class Sum:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def evaluate(self):
        return self.left.evaluate() + self.right.evaluate()


class Product:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def evaluate(self):
        return self.left.evaluate() * self.right.evaluate()


@program(0.8)
def expression_tree(a):
    e = Product(Sum(Leaf(a), Leaf(2.0)), Sum(Product(Leaf(a), Leaf(a)), Leaf(1.0)))
    return e.evaluate()


@program(0.8, 5)
def grown_expression(a, n):
    e = Leaf(a)
    for i in range(n):
        e = Sum(e, Leaf(a * i)) if i % 2 else Product(e, Leaf(a + 1.0))
    return e.evaluate()


@program(0.8)
def cycle(a):
    p, q = Node(a), Node(a * a)
    p.next, q.next = q, p
    return p.next.next.next.value * p.next.next.value


# ------------------------------------------------------------------------------------ named tuples and enums


class Pair(NamedTuple):
    first: float
    second: float = 3.0

    def total(self):
        return self.first * self.second

    @property
    def swapped(self):
        return Pair(self.second, self.first)


Triple = namedtuple("Triple", "a b c", defaults=(5.0,))


@program(0.8)
def named_tuples(a):
    p = Pair(a)
    q = p._replace(second=a * a)
    first, second = q.swapped
    return p.total() + first / second + q[0] + (1.0 if p > q else 2.0)


@program(0.8)
def old_named_tuple(a):
    t = Triple(a, b=a * a)
    u = Triple._make((a, 1.0, 2.0))
    return t.a * t.b * t.c + sum(u) + len(t)


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 4

    @property
    def weight(self):
        return self.value * 0.5


class Level(IntEnum):
    LOW = 1
    HIGH = 10


@program(0.8, 2)
def enums(a, n):
    color = Color.RED
    total = 0.0
    for _ in range(n + 3):
        total += a * color.value + color.weight
        if color is Color.RED:
            color = Color.GREEN
        elif color == Color.GREEN:
            color = Color.BLUE
        else:
            color = Color.RED
    return total + (1.0 if color in (Color.RED, Color.BLUE) else 0.0)


@program(0.8, 4)
def enum_lookup(a, n):
    color = Color(n)
    total = a
    for c in Color:
        if c is color:
            total *= c.value
    return total + Level.HIGH * a + (a if Level.LOW < Level.HIGH else 0.0)


# --------------------------------------------------------------------------------------------- classes as values


@program(0.8, 1)
@program(0.8, 0)
def class_chosen(a, which):
    kind = Circle if which else Square
    shape = kind(a)
    extra = 1.0 if type(shape) is Circle else 2.0
    return shape.area() + extra + (3.0 if issubclass(kind, Shape) else 0.0)


@program(0.8)
def attributes_by_name(a):
    p = Point(a)
    setattr(p, "x", a * a)
    total = getattr(p, "x") + getattr(p, "z", 5.0)  # noqa: B009
    if hasattr(p, "y"):
        total *= p.y
    if not hasattr(p, "z"):
        total += 1.0
    return total


class Lazy:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def heavy(self):
        self.x += 1.0
        return self.x * self.x


@program(0.8)
def cached(a):
    lazy = Lazy(a)
    return lazy.heavy + lazy.heavy * lazy.x


class Late:
    """A field that only some paths set."""

    fallback = 7.0

    def __init__(self, x, flag):
        if flag > 0:
            self.fallback = x
        self.prepare(x)

    def prepare(self, x):
        self.ready = x * 2.0


@program(0.8, 1)
@program(0.8, 0)
def late_fields(a, flag):
    late = Late(a, flag)
    return late.fallback * late.ready + a


class Slotted:
    __slots__ = ("u", "w")

    def __init__(self, u):
        self.u = u
        self.w = u * u


@program(0.8)
def slots(a):
    s = Slotted(a)
    s.w *= s.u
    return s.w + s.u


# ------------------------------------------------------------------------------------------ binding of arguments


def _collect(first, *rest, scale=2.0, **named):
    total = first
    for x in rest:
        total = total * scale + x
    return total + named.get("bonus", 0.5) * len(named)


@program(0.8)
def star_parameters(a):
    return _collect(a, 1.0, a, scale=a) + _collect(a, bonus=a, other=1.0) + _collect(1.0)


@program(0.8)
def star_arguments(a):
    values = (a, 2.0 * a, a * a)
    options = {"scale": a, "bonus": 3.0}
    return _collect(*values, **options) + _collect(1.0, *values[1:], scale=2.0) + max(*values, 0.0)


def _only(a, /, b, *, c=1.0):
    return a * b + c


@program(0.8)
def positional_and_keyword_only(a):
    return _only(a, 2.0) + _only(a, b=a, c=a)


@program(0.8)
def partials(a):
    f = functools.partial(_collect, a, scale=3.0)
    g = functools.partial(f, 2.0)
    return f(1.0) + g(a, bonus=a) + f()


def _logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs) * 2.0

    return inner


@_logged
def _decorated(x, y=3.0):
    return x * x + y


@program(0.8)
def decorated(a):
    return _decorated(a) + _decorated(a, y=a)


# ------------------------------------------------------------------------------------ functions and arrays in fields


class Model:
    def __init__(self, activation, weights):
        self.activation = activation
        self.weights = weights

    def __call__(self, x):
        for w in self.weights:
            x = self.activation(w * x)
        return x


@program(0.8)
def function_in_field(a):
    model = Model(math.tanh, (a, 2.0, a * a))
    other = Model(lambda x: x * a, (1.0, a, 2.0))
    return model(1.5) + other(a)


class Buffer:
    def __init__(self, n, x):
        self.data = np.zeros(n)
        self.data[0] = x

    def spread(self):
        for i in range(1, len(self.data)):
            self.data[i] = self.data[i - 1] * self.data[0] + 1.0
        return self


@program(0.8, 5)
def array_in_field(a, n):
    b = Buffer(n, a).spread()
    c = b.data
    c *= a
    b.data = c + 1.0
    return float(np.sum(b.data * c))


@program(0.8)
def match_class(a):
    total = 0.0
    for shape in (Circle(a), Square(2.0 * a), Shape()):
        match shape:
            case Circle(r=r):
                total += r * r
            case Square(s=s) if s > 1.0:
                total += s
            case _:
                total *= 3.0
    return total
