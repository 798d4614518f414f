"""More programs of objects, short ones, each about one thing that classes are used for."""

from __future__ import annotations

import copy
import functools
import math
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import pullback as pb

PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def program(*arguments: Any) -> Any:
    def note(function: Any) -> Any:
        PROGRAMS[function.__name__] = (function, arguments)
        return function

    return note


T = TypeVar("T")


@dataclass(slots=True)
class S:
    x: float
    y: float = 2.0

    def go(self):
        return self.x * self.y


@program(1.3)
def slots_dc(a):
    s = S(a)
    s.y *= a
    return s.go()


class G(Generic[T]):
    def __init__(self, v: T):
        self.v = v

    def get(self) -> T:
        return self.v


@program(1.3)
def generic(a):
    return G(a).get() * 2


class HasArea(Protocol):
    def area(self) -> float: ...


class Sq:
    def __init__(self, s):
        self.s = s

    def area(self):
        return self.s**2


def total_area(xs):
    return sum(x.area() for x in xs)


@program(1.3)
def proto(a):
    return total_area([Sq(a), Sq(2.0)])


class Color(Enum):
    RED = auto()
    BLUE = auto()


@program(1.3)
def enum_key(a):
    d = {Color.RED: a, Color.BLUE: 2.0}
    d[Color.RED] += 1.0
    return d[Color.RED] * d[Color.BLUE]


class V:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, o):
        return V(self.x + o.x, self.y + o.y)

    def __radd__(self, o):
        return self if o == 0 else NotImplemented

    def __lt__(self, o):
        return self.x < o.x

    def __repr__(self):
        return f"V({self.x}, {self.y})"


@program(1.3)
def sum_objects(a):
    s = sum([V(a, 1.0), V(2.0, a), V(a, a)])
    return s.x * s.y


@program(1.3)
def sort_key(a):
    vs = [V(a, 1.0), V(-a, 2.0), V(0.0, 3.0)]
    vs = sorted(vs, key=lambda v: v.x)
    return vs[0].y * a + vs[1].y


@program(1.3)
def sort_lt(a):
    vs = [V(a, 1.0), V(-a, 2.0), V(0.0, 3.0)]
    vs.sort()
    return vs[0].y * a + vs[2].x


@program(1.3)
def min_obj(a):
    vs = [V(a, 1.0), V(-a, 2.0), V(0.0, 3.0)]
    return min(vs, key=lambda v: v.x).y * a + max(vs, key=lambda v: v.y).x


@program(1.3)
def copies(a):
    p = V(a, 2.0)
    q = copy.copy(p)
    q.x = 5.0
    return p.x * q.y + q.x


@program(1.3)
def text(a):
    v = V(1.0, 2.0)
    s = f"{v}"
    return a * len(s)


@program(1.3)
def str_obj(a):
    return a * len(str(V(1.0, 2.0)))


@dataclass
class D:
    x: float
    tags: list = field(default_factory=list)


@program(1.3)
def rep(a):
    return a * len(repr(D(1.0)))


@program(1.3)
def shared_default(a):
    def g(x, acc=[]):
        acc.append(x)
        return len(acc)

    return g(a) + g(a) + a


class Reg:
    items = [1.0, 2.0]


@program(1.3)
def class_list(a):
    return Reg.items[0] * a + len(Reg().items)


class Node2:
    count = 0

    def __init__(self, v):
        self.v = v


@program(1.3)
def swap(a):
    p, q = Node2(a), Node2(2.0)
    p.v, q.v = q.v, p.v
    return p.v * 3 + q.v


class LinkedList:
    class _Node:
        def __init__(self, v, nxt):
            self.v = v
            self.nxt = nxt

    def __init__(self):
        self.head = None
        self.n = 0

    def push(self, v):
        self.head = LinkedList._Node(v, self.head)
        self.n += 1

    def __len__(self):
        return self.n

    def __iter__(self):
        node = self.head
        while node:
            yield node.v
            node = node.nxt


@program(1.3)
def nested_class(a):
    l = LinkedList()
    for i in range(4):
        l.push(a * i)
    return sum(x * x for x in l) + len(l)


@program(1.3)
def list_of_iter(a):
    l = LinkedList()
    for i in range(4):
        l.push(a * i)
    xs = list(l)
    ys = [x * 2 for x in l]
    return xs[0] * ys[1] + max(l)


@program(1.3)
def obj_in_dict(a):
    d = {"p": V(a, 1.0), "q": V(2.0, a)}
    d["p"].x *= 2.0
    for k, v in d.items():
        v.y += 1.0
    return d["p"].x * d["p"].y + d["q"].y


@program(1.3)
def none_field(a):
    n = Node2(None)
    n.v = a
    return n.v * 2.0


@program(1.3)
def walrus(a):
    n = None
    if (m := Node2(a)) is not None:
        n = m
    return n.v


@program(1.3)
def ternary(a):
    n = Node2(a) if a > 0 else None
    return (n.v if n else 0.0) + (n is None) * 1.0


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, ij):
        i, j = ij
        return self.rows[i][j]

    def __setitem__(self, ij, v):
        i, j = ij
        self.rows[i][j] = v

    def __matmul__(self, o):
        return Matrix([[sum(self[i, k] * o[k, j] for k in range(2)) for j in range(2)] for i in range(2)])


@program(1.3)
def matrix(a):
    m = Matrix([[a, 1.0], [2.0, a]])
    m[0, 1] = a * a
    p = m @ m
    return p[0, 0] + p[1, 0] * p[0, 1]


@program(1.3)
def inplace_attr_item(a):
    m = Matrix([[a, 1.0], [2.0, a]])
    m[0, 0] += 3.0
    m[1, 1] *= a
    return m[0, 0] * m[1, 1]


class Temp:
    def __init__(self):
        self._c = 0.0

    @property
    def f(self):
        return self._c * 1.8 + 32

    @f.setter
    def f(self, v):
        self._c = (v - 32) / 1.8


@program(1.3)
def prop_inplace(a):
    t = Temp()
    t.f = a
    t.f += 1.0
    t.f *= 2.0
    return t._c


class Ctx:
    depth = 0

    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1.0)
        return self

    def __exit__(self, *args):
        self.log.append(2.0)


@program(1.3)
def ctx(a):
    log = []
    with Ctx(log) as c, Ctx(log):
        log.append(a)
    return sum(log) * a


@program(1.3)
def isinst_tuple(a):
    t = 0.0
    for o in (Node2(a), V(a, a), 3.0):
        if isinstance(o, (Node2, V)):
            t += 1.0
        elif isinstance(o, float):
            t += o * a
    return t


@program(1.3)
def cls_in_list(a):
    t = 0.0
    for c in (Node2, Sq):
        o = c(a)
        t += o.v if isinstance(o, Node2) else o.s * 2
    return t


@program(1.3)
def method_map(a):
    vs = [Sq(a), Sq(3.0)]
    return sum(map(lambda s: s.area(), vs)) + sum(map(Sq.area, vs))


class Poly:
    def __init__(self, *cs):
        self.cs = cs

    def __call__(self, x):
        r = 0.0
        for c in reversed(self.cs):
            r = r * x + c
        return r

    def __mul__(self, o):
        out = [0.0] * (len(self.cs) + len(o.cs) - 1)
        for i, x in enumerate(self.cs):
            for j, y in enumerate(o.cs):
                out[i + j] += x * y
        return Poly(*out)


@program(1.3)
def poly(a):
    p = Poly(a, 1.0, a * a)
    return p(2.0)


@program(1.3)
def polymul(a):
    p = Poly(a, 1.0)
    q = p * p
    return q(a)


class Dual:
    __slots__ = ("v", "d")

    def __init__(self, v, d=0.0):
        self.v = v
        self.d = d

    def __add__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v + o.v, self.d + o.d)

    __radd__ = __add__

    def __mul__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v * o.v, self.v * o.d + self.d * o.v)

    __rmul__ = __mul__


@program(1.3)
def duals(a):
    def f(x):
        return 3.0 * x * x + x * 2.0 + 1.0

    r = f(Dual(a, 1.0))
    return r.v * r.d


class Acc:
    def __init__(self):
        self.t = 0.0

    def __iadd__(self, x):
        self.t += x
        return self


@program(1.3)
def acc(a):
    b = Acc()
    for i in range(3):
        b += a * i
    return b.t


@program(1.3)
def hold_acc(a):
    class_ = Acc
    o = V(Acc(), 1.0)
    o.x += a
    o.x += 2.0
    return o.x.t


@program(1.3)
def while_true(a):
    n = Node2(a)
    while True:
        n.v *= 2.0
        if n.v > 10:
            break
    return n.v


@program(1.3)
def getset(a):
    n = Node2(a)
    for k in ("v", "w"):
        setattr(n, k, a * 2)
    return n.v + n.w


@program(1.3)
def closure_class(a):
    scale = a * 2

    def make():
        return V(scale, 1.0)

    return make().x * make().y


class Coin(Enum):
    R = 1
    G = 2

    def flip(self):
        return Coin.G if self is Coin.R else Coin.R

    @classmethod
    def first(cls):
        return cls.R


@program(1.3)
def match_enum(a):
    t = 0.0
    c = Coin.first()
    for i in range(4):
        match c:
            case Coin.R:
                t += a
            case Coin.G:
                t *= 2.0
        c = c.flip()
    return t


@program(1.3)
def enum_name(a):
    return a if Coin.R.name == "R" and Coin["G"] is Coin.G and len(Coin) == 2 else 0.0


class Fitted:
    def __init__(self, w):
        self.w = w

    @pb.jit
    def predict(self, x):
        return self.w * x * x

    def both(self, x):
        return self.predict(x) + pb.grad(self.predict)(x)


@program(1.3)
def jitted_method(a):
    return Fitted(a).both(a)


class Lookup:
    registry = {"a": 1.0, "b": 2.0}

    def lookup(self, k):
        return self.registry[k]


@program(1.3)
def class_dict_attr(a):
    return Lookup().lookup("b") * a


@dataclass
class Cfg:
    lr: float = 0.1
    steps: int = 3


def default_obj(a, cfg=Cfg()):
    x = a
    for _ in range(cfg.steps):
        x -= cfg.lr * x
    return x


CFG = Cfg(0.5, 2)


def global_obj(a):
    return a * CFG.lr**CFG.steps


class Chain:
    def __init__(self):
        self.fs = []

    def add(self, f):
        self.fs.append(f)
        return self

    def __call__(self, x):
        return functools.reduce(lambda v, f: f(v), self.fs, x)


@program(1.3)
def chain(a):
    return Chain().add(math.sin).add(lambda x: x * a).add(math.exp)(a)


class Vec(NamedTuple):
    x: float
    y: float

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def dot(self, o):
        return self.x * o.x + self.y * o.y


@program(1.3)
def nt_ops(a):
    v = Vec(a, 1.0) + Vec(2.0, a)
    w = v * 3.0
    x, y = w
    return v.dot(w) + x * y + (1.0 if v == Vec(a + 2.0, 1.0 + a) else 0.0)


class Steps:
    def __init__(self, n):
        self.n = n
        self.i = 0

    def __iter__(self):
        self.i = 0
        return self

    def __next__(self):
        self.i += 1
        if self.i > self.n:
            raise StopIteration
        return self.i


@program(1.3)
def zip_iter(a):
    t = 0.0
    for i, (x, y) in enumerate(zip(Steps(3), (a, 2.0, 3.0))):
        t += i * x * y
    return t + sum(Steps(4)) + max(Steps(3))


@program(1.3)
def memo(a):
    class_cache = {}

    def fib(n):
        if n in class_cache:
            return class_cache[n]
        class_cache[n] = a if n < 2 else fib(n - 1) + fib(n - 2)
        return class_cache[n]

    return fib(12)


class Account:
    interest = 0.02

    def __init__(self, b):
        self.b = b

    @classmethod
    def set_rate(cls, r):
        return r * cls.interest

    def __eq__(self, o):
        return self.b == o.b

    def __hash__(self):
        return 1


@program(1.3)
def acct(a):
    return Account.set_rate(a) + Account(a).set_rate(2.0) + (1.0 if Account(a) == Account(a) else 0.0)


class Failed(Exception):
    def __init__(self, code, val):
        super().__init__(code)
        self.code = code
        self.val = val


@program(1.3)
def exc(a):
    try:
        if a > 0:
            raise Failed(3, a * 2)
        return 0.0
    except Failed as e:
        return e.val * e.code


class Lin:
    def __init__(self, w):
        self.w = w

    def __rmatmul__(self, o):
        return o * self.w

    def __matmul__(self, o):
        return self.w * o


@program(1.3)
def rmat(a):
    return (Lin(a) @ 3.0) + (2.0 @ Lin(a))


class Comp:
    def __init__(self, v):
        self.v = v

    def __lt__(self, o):
        return self.v < o.v

    def __le__(self, o):
        return self.v <= o.v


@program(1.3)
def chained_cmp(a):
    return a if Comp(1.0) < Comp(a + 1) <= Comp(5.0) else 0.0


@program(1.3)
def sort_objs(a):
    return sorted([Comp(3.0), Comp(a), Comp(2.0)])[0].v * a + min(Comp(a), Comp(9.0)).v
