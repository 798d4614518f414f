"""Programs that define classes inside functions."""

from __future__ import annotations

import dataclasses
import functools
import heapq
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, NamedTuple

import pullback as pb

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def case(function: Any) -> Any:
    """Note a program with the number that it is run with."""
    CASES[function.__name__] = function, (1.3,)
    return function


@case
def methods(x):
    class P:
        def __init__(self, v):
            self.v = v

        def area(self):
            return self.v * self.v

    p = P(x)
    return p.area() + P(2.0 * x).area()


@case
def everything_of_one_class(x):
    class P:
        scale = 2.0 * x
        count = 0

        def __init__(self, v):
            self.v = v
            P.count += 1

        def area(self):
            return self.v * x * P.scale

        def __add__(self, o):
            return P(self.v + o.v)

        @property
        def double(self):
            return 2.0 * self.v

        @double.setter
        def double(self, w):
            self.v = w / 2.0

        @staticmethod
        def unit():
            return P(x)

        @classmethod
        def of(cls, v):
            return cls(v * cls.scale)

    p = P(x) + P(1.0) + P.unit() + P.of(3.0)
    p.double = p.double + 1.0
    return p.area() + P.count + P.scale


@case
def inheritance_and_super(x):
    class Base:
        def __init__(self, k):
            self.k = k

        def f(self):
            return self.k * x

        def g(self):
            return self.f() + 1.0

    class D(Base):
        def __init__(self, k, m):
            super().__init__(k)
            self.m = m

        def f(self):
            return super().f() * self.m

    objs = [Base(2.0), D(3.0, x)]
    s = 0.0
    for o in objs:
        s += o.g()
        if isinstance(o, D):
            s += o.m
        if type(o) is Base:
            s += 0.5
    return s


@case
def a_dataclass(x):
    @dataclass
    class Q:
        a: float
        b: float = 2.0 * x
        items: list = field(default_factory=list)

        def total(self):
            return self.a * self.b + sum(self.items)

    q = Q(x)
    r = Q(1.0, 3.0, [x, x])
    q.items.append(x * x)
    return q.total() + r.total() + (1.0 if q == Q(x, 2.0 * x, [x * x]) else 0.0)


@case
def a_named_tuple(x):
    class V(NamedTuple):
        a: float
        b: float = 3.0

        def dot(self, o):
            return self.a * o.a + self.b * o.b

    v = V(x)
    a, b = v
    return v.dot(V(2.0, x)) + a * b + v._replace(a=1.0).a + len(v)


@case
def an_abstract_class(x):
    class Shape(ABC):
        @abstractmethod
        def area(self): ...
        def twice(self):
            return 2.0 * self.area()

    class Sq(Shape):
        def __init__(self, s):
            self.s = s

        def area(self):
            return self.s * self.s

    class Circle(Shape):
        def __init__(self, r):
            self.r = r

        def area(self):
            return math.pi * self.r**2

    return sum(s.twice() for s in [Sq(x), Circle(x), Sq(2.0)])


@case
def exceptions(x):
    class Bad(Exception):
        pass

    class Worse(Bad):
        def __init__(self, v):
            self.v = v

    def h(y):
        if y > 2.0:
            raise Worse(y * x)
        if y > 1.0:
            raise Bad("m", y)
        return y

    s = 0.0
    for y in (0.5, 1.5, 2.5):
        try:
            s += h(y)
        except Worse as er:
            s += er.v
        except Bad as er:
            s += er.args[1] * x
    return s


@case
def an_enum(x):
    class Color(Enum):
        RED = 1
        BLUE = 2

        def w(self):
            return 2.0 if self is Color.RED else 3.0

    s = 0.0
    for c in Color:
        s += c.w() * x
    return s + Color(2).w()


@case
def total_ordering_of_a_dataclass(x):
    @functools.total_ordering
    @dataclass(frozen=True)
    class T:
        v: float

        def __lt__(self, o):
            return self.v < o.v

    ts = sorted([T(3.0), T(x), T(2.0)])
    return ts[0].v * x + max(ts).v


@case
def a_list_of_nodes(x):
    class Node:
        def __init__(self, v, nxt=None):
            self.v, self.nxt = v, nxt

        def total(self):
            return self.v * x + (self.nxt.total() if self.nxt is not None else 0.0)

        def push(self, v):
            return Node(v, self)

    n = Node(1.0)
    for k in range(5):
        n = n.push(x * k)
    return n.total()


@case
def classes_made_twice(x):
    def make(s):
        class Acc:
            def __init__(self):
                self.t = 0.0

            def add(self, v):
                self.t += v * s
                return self

            def __call__(self):
                return self.t

        return Acc

    A, B = make(x), make(2.0)
    return A().add(3.0).add(x)() * B().add(x)()


@case
def registered_by_a_decorator(x):
    reg = []

    def register(cls):
        reg.append(cls)
        return cls

    @register
    class A:
        def __init__(self, v):
            self.v = v

        def f(self):
            return self.v * x

    @register
    class B(A):
        def f(self):
            return self.v + x

    return sum(c(2.0).f() for c in reg)


@case
def a_container_with_an_exception_inside(x):
    class Stack:
        class Empty(Exception):
            pass

        def __init__(self):
            self.items = []

        def push(self, v):
            self.items.append(v)

        def pop(self):
            if not self.items:
                raise Stack.Empty()
            return self.items.pop()

        def __len__(self):
            return len(self.items)

        def __iter__(self):
            for v in self.items:
                yield v

        def __contains__(self, v):
            return v in self.items

        def __getitem__(self, i):
            return self.items[i]

    st = Stack()
    for k in range(4):
        st.push(x * k)
    s = sum(st) + st[1] * len(st)
    try:
        while True:
            s += st.pop()
    except Stack.Empty:
        s += 10.0 * x
    return s


@case
def cached_methods(x):
    class Lazy:
        @functools.cached_property
        def big(self):
            return x * 3.0

        @functools.lru_cache(maxsize=None)
        def fib(self, n):
            return x if n < 2 else self.fib(n - 1) + self.fib(n - 2)

    z = Lazy()
    return z.big * z.big + z.fib(10)


@case
def slots_texts_and_patterns(x):
    class Pt:
        __slots__ = ("a", "b")

        def __init__(self, a, b):
            self.a = a
            self.b = b

        def __eq__(self, o):
            return self.a == o.a

        def __repr__(self):
            return f"Pt({self.a})"

        def __match_args__(self):
            return ()

    class Pt2:
        __match_args__ = ("a", "b")

        def __init__(self, a, b):
            self.a = a
            self.b = b

    match Pt2(x, 2.0):
        case Pt2(a, b) if b > 1.0:
            return a * b + len(repr(Pt(1, 2)))
        case _:
            return x


@case
def made_in_a_loop(x):
    total = 0.0
    for k in range(3):

        class K:
            w = x * k

            def f(self):
                return self.w + k

        total += K().f() * K.w
    return total


@case
def methods_that_assign_variables(x):
    n = 0

    class Counter:
        def hit(self):
            nonlocal n
            n += 1
            return n * x

    c = Counter()
    return c.hit() + c.hit() + n


@case
def values_in_the_body(x):
    class Meta:
        a = 1.0
        b = a + x
        c = [a, b]
        d = {"k": b}
        f = lambda self, y: y * self.b

    m = Meta()
    Meta.a = 5.0 * x
    return m.f(2.0) + sum(Meta.c) + m.d["k"] + m.a


@case
def a_gradient_in_a_method(x):
    class Particle:
        def __init__(self, q, v):
            self.q, self.v = q, v

        def potential(self, q):
            return 0.5 * q * q * x

        def step(self, dt):
            force = -pb.grad(self.potential)(self.q)
            self.v += dt * force
            self.q += dt * self.v

    p = Particle(1.0, x)
    for _ in range(10):
        p.step(0.1)
    return p.q


@case
def an_enum_that_counts(x):
    class Kind(Enum):
        A = auto()
        B = auto()
        C = (1, 2)

    return x * len(Kind) + (1.0 if Kind.B.value == 2 else 0.0) + Kind.C.value[1]


@case
def what_is_not_there(x):
    class P:
        def f(self):
            return self.g()

    try:
        return P().f()
    except AttributeError:
        return x


@case
def a_dataclass_with_slots(x):
    @dataclass(slots=True)
    class P:
        a: float
        b: float = 2.0

        def f(self):
            return self.a * self.b

    return P(x).f()


@case
def a_queue_of_ordered_objects(x):
    @dataclass(order=True, frozen=True)
    class Job:
        prio: float
        name: str = field(compare=False, default="a")

        def next(self):
            return dataclasses.replace(self, prio=self.prio * x)

    q = []
    for v in (3.0, x, 2.0):
        heapq.heappush(q, Job(v))
    s = 0.0
    while q:
        j = heapq.heappop(q)
        s = s * 0.5 + j.next().prio
    return s


@case
def private_names(x):
    class P:
        def __init__(self):
            self._a = x
            self.__b = 2.0 * x

        def get(self):
            return self._a * self.__b

    return P().get()


@case
def told_to_the_base(x):
    class Plugin:
        registry = []

        def __init_subclass__(cls):
            Plugin.registry.append(cls)

    class A(Plugin):
        def f(self):
            return x

    class B(Plugin):
        def f(self):
            return 2.0 * x

    return sum(c().f() for c in Plugin.registry)


@case
def a_manager_with_getattr(x):
    class P:
        def __init__(self, v):
            self.v = v

        def __getattr__(self, name):
            return self.v * x if name == "w" else 0.0

        def __enter__(self):
            return self

        def __exit__(self, *a):
            self.v = 0.0

    with P(3.0) as p:
        s = p.w
    return s + p.v


@case
def a_tree_made_by_a_classmethod(x):
    class Tree:
        def __init__(self, left, right, v):
            self.left, self.right, self.v = left, right, v

        @classmethod
        def build(cls, n):
            return cls(cls.build(n - 1), cls.build(n - 1), x * n) if n > 0 else None

        def fold(self):
            s = math.sin(self.v)
            if self.left is not None:
                s += self.left.fold()
            if self.right is not None:
                s += self.right.fold()
            return s

    return Tree.build(4).fold()


@case
def choices_and_loops_in_the_body(x):
    class Model:
        if x > 1.0:
            rate = 2.0 * x

            def total(self, y):
                return self.rate * y
        else:
            rate = 3.0

            def total(self, y):
                return y

        powers = []
        for k in range(3):
            powers.append(rate**k)
        try:
            last = powers[5]
        except IndexError as e:
            last = x if "range" in str(e) else 0.0
        with_default = lambda self, y=x: y * self.k

    m = Model()
    return m.total(x) + sum(Model.powers) + m.last + m.k + m.with_default() + m.with_default(3.0)


@case
def not_set_on_this_path(x):
    class Model:
        if x > 100.0:
            rate = 2.0 * x

    try:
        return Model.rate * x
    except AttributeError as e:
        return 3.0 * x if str(e) == "type object 'Model' has no attribute 'rate'" else 0.0
