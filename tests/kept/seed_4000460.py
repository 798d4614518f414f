# wrong value in compiled
# arguments: (-0.16608208205030053, 2)
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


def rec1(x, n):
    if n <= 0:
        return math.tanh(math.sin(x))
    pass
    return math.sin(rec1(1.5 * math.cos(((n * 0.25) + 1.5)), n - 1) + math.sin((n * 0.25)) ** 3)


def program(x, n):
    v0 = math.tanh(((n * 0.25) / (1.5 + 1.0 * 1.0)))
    v2 = rec1(v0, (n * 2) % 4)
    g3 = np.zeros((2, 3)) + math.log(1.5 + v2 * v2)
    w4 = np.zeros_like(g3)
    t5 = g3
    np.copyto(t5, w4)
    w6 = np.array([math.sqrt(x * x + 0.5), 0.5, (v2 + v0)])
    v7 = math.cos(float(w6[0 % len(w6)]))
    w6[::-1] = w6
    v7 = v7 * math.sin(float(w6[0 % len(w6)]) + 0.5)
    v2 = 1.5 * math.cos(math.tanh(math.log1p(x * x)) ** 2)
    n8 = np.array([0, 2, 1])
    w6[n8 % len(w6)] *= np.sin(w6[n8 % len(w6)])
    v9 = math.sin(math.tanh(math.log(1.5 + x * x)))
    fs11 = [math.sin, math.sin]
    v0 = v2
    for f12 in fs11:
        v0 = math.tanh(f12(v0))
    w13 = w6.copy()
    h14 = {"p": w6, "q": w13}
    for i15 in range(3):
        h14["p"][:] = np.sin(h14["p"]) * math.atan(v2)
        h14["p"] = h14["q"]
        w6[1:] *= 1.5 * math.cos(((n * 0.25) if 1.0 < -0.22 else x))
        v2 += weight(h14["p"]) * (float(w13[0 % len(w13)]) - v0)
    v16 = math.tanh(math.sin((x if (3 % 2 != 1 or math.atan2(w6[(n * 2) % len(w6)], 2.0 + v9 * v9) > -0.22) else (n * 0.25))) ** 3)
    ws17 = [w6]
    for i18 in range((n * 2) % 4):
        ws17.append(ws17[-1] * math.tanh(math.sin(v16)) if ws17 else w6)
        w6[0] *= math.tanh(math.sin(v16))
    v2 = sum((weight(e) * (k + 1) for k, e in enumerate(ws17)), 0.0) * 0.25
    return math.sin(x) + math.sin(v0) + math.sin(v2) + math.sin(v7) + math.sin(v9) + math.sin(v16) + float(np.sum(w6 * w6)) + float(np.sum(w13 * w13)) + weight(g3) + weight(w4) + weight(t5) + float(np.sum(n8)) * 0.1 + sum(float(np.sum(e)) for e in ws17)
