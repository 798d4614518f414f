# wrong exception of rr in compiled: KeyError at derive.py
# arguments: (0.12184143135977629, 4)
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


def folded(node, z):
    if node is None:
        return z
    return math.sin(node.value + 0.5 * folded(node.rest, z))


def rec1(x, n):
    if n <= 0:
        return math.sin(x)
    pass
    return math.sin(rec1(math.sin(x), n - 1) * rec1(math.sin((n * 0.25)), n - 2) + math.atan2(x, 2.0 + (n * 0.25) * (n * 0.25)))


def program(x, n):
    v0 = 1.5 * math.cos(rec1((n * 0.25), 0 % 4))
    def f2(k3):
        if k3 <= 0:
            return math.sin((rec1(-0.7, k3 % 4) if (k3 % 3 == 1 and (x / (1.5 + (n * 0.25) * (n * 0.25))) > math.tanh((k3 * 0.25))) else rec1((n * 0.25), n % 4)))
        return math.tanh(f2(k3 - 1) * v0 + 0.5)
    v0 = f2(1 % 4)
    try:
        x = risky((x + x), (n + 1) % 4)
        if (n + 1) % 3 == 0:
            v5 = math.tanh(pb.grad(rec1)(float(math.tanh((n * 0.25)) ** 2), 1 % 3))
            q6 = None
            if (math.atan2(v0, 2.0 + (n * 0.25) * (n * 0.25)) > (n * 0.25) or (n + 1) % 3 == 0):
                q6 = Box(math.atan(math.atan((x / (1.5 + (n * 0.25) * (n * 0.25))))))
            v7 = (v5 / (1.5 + v0 * v0)) if q6 is None else q6.a * 2.0
    except Stop as error:
        x = math.sin(error.amount)
    v9 = math.tanh(pb.grad(lambda z8: math.sin(math.log(1.5 + ((n * 0.25) + x) * ((n * 0.25) + x))) * z8)(float(rec1(x, (n * 2) % 4))))
    seen10 = set()
    if n % 4 not in seen10:
        seen10.discard((n + 1) % 4)
        for i11 in range(1 % 4):
            if 0.5 > 0.77:
                break
            x = 1.5 * math.cos(((x * 0.5 + v0) * 0.5 + rec1(x, (n * 2) % 4)))
    seen10.add(n % 4)
    v9 = len(seen10) * rec1(x, n % 4)
    return math.sin(x) + math.sin(v0) + math.sin(v9) + len(seen10)
