# wrong exception of r in compiled
# arguments: (0.9879803177825073, 3)
# argnums: (0,)
import functools
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


def program(x, n):
    v0 = math.sin(math.sin((n * 0.25)))
    l1 = []
    b2 = Box(2.0, math.sin(x))
    w3 = np.full(3, math.sqrt(0.5 * 0.5 + 0.5))
    t4 = w3
    i5 = 0
    while i5 < 3:
        i5 += 1
        w3[:-1] += 1.5 * math.cos((i5 * 0.25))
        t4 = w3 + math.atan(math.atan2((l1[2 % len(l1)] if l1 else 0.25), 2.0 + w3[len(l1) % len(w3)] * w3[len(l1) % len(w3)]))
    def make6(a8):
        def f7(z9):
            return 1.5 * math.cos(math.exp(-sum(l1, 0.0) * sum(l1, 0.0)))
        return f7
    f10 = make6(w3[len(l1) % len(w3)])
    v0 = f10((b2.a - float(t4[3 % len(t4)]) * 0.3)) + f10(0.5)
    q11 = None
    if f10((n * 0.25)) > -0.22:
        q11 = Box(1.5 * math.cos(1.5))
    v0 = ((n * 0.25) if x < 0.31 else w3[n % len(w3)]) if q11 is None else q11.a * 2.0
    p12 = [Box(1.5 * math.cos((b2.a - b2.a * 0.3))), Box(0.5, b2.scaled(0.5))]
    p12[(len(l1) * 2) % len(p12)].a = 1.5 * math.cos((b2.a - b2.a * 0.3))
    b13 = Box(math.tanh((math.sqrt(v0 * v0 + 0.5) + (float(t4[2 % len(t4)]) * (n * 0.25)))), b2.a)
    k14 = 0
    while float(np.sum(t4)) < 1.5 * math.cos(b2.scaled(float(np.sum(w3)))) and k14 < 3:
        k14 += 1
        t4 = t4 * 0.8
    v15 = math.tanh(math.atan(math.atan(b13.a)))
    g16 = np.outer(np.array([1.0, math.atan2(sum(l1, 0.0), 2.0 + b13.b * b13.b)]), np.array([b13.a, 0.5, -1.0]))
    g16[:, 1] += g16[:, 0] * math.tanh((2.0 * 0.5 + (k14 * 0.25)))
    v0 = math.atan(b2.b)
    try:
        v15 = risky(math.log1p((k14 * 0.25) * (k14 * 0.25)), (n + 1) % 4)
        v17 = math.atan((k14 * 0.25))
    except Stop as error:
        v15 = math.sin(error.amount * error.amount)
    t18 = t4
    t19 = t18
    for i20 in range(3):
        t18, t19 = t19, t18
        t19[:] = np.sin(t18 * 1.5 * math.cos((v15 + b2.a)))
    t19[(k14 * 2) % len(t19)] = math.sin(b2.scaled(b2.a))
    v15 = math.sin((math.atan2((k14 * 0.25), 2.0 + (l1[2 % len(l1)] if l1 else 0.25) * (l1[2 % len(l1)] if l1 else 0.25)) * 0.5 + (v15 * 1.0)))
    l21 = l1[:]
    return math.sin(x) + math.sin(v0) + math.sin(v15) + sum(l1) * 0.5 + sum(l21) * 0.5 + b2.a * b2.b + sum(b2.items) + b13.a * b13.b + sum(b13.items) + weight(w3) + weight(t4) + weight(t18) + float(np.sum(t19 * t19)) + weight(g16) + sum(e.a * e.b for e in p12)
