# wrong value in compiled
# arguments: (-1.7411259921493545, 3)
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
    v0 = math.tanh(x)
    w1 = np.arange(3.0) * 2.0
    v2 = math.cos(float(w1[n % len(w1)]))
    w1[::-1] = w1
    v2 = v2 * math.sin(float(w1[n % len(w1)]) + 0.5)
    g3 = np.outer(np.array([1.0, (v0 * v2)]), np.array([(n * 0.25), 0.5, -1.0]))
    v4 = float(np.linalg.norm(g3))
    q5 = np.full(4, math.atan(((n * 0.25) / (1.5 + float(np.sum(w1)) * float(np.sum(w1))))), dtype=np.float32)
    q5[(n * 2) % len(q5)] = math.atan(((n * 0.25) / (1.5 + float(np.sum(w1)) * float(np.sum(w1)))))
    w6 = q5.astype(np.float64)
    b7 = Box(math.tanh(float(w1[(n + 1) % len(w1)])))
    with Held(b7, ((n * 0.25) / (1.5 + (n * 0.25) * (n * 0.25)))) as q8:
        match b7:
            case Box(a=m9) if m9 > 0.2:
                v2 = math.atan((m9 / (1.5 + (n * 0.25) * (n * 0.25))))
            case Box():
                v10 = math.tanh(x)
            case _:
                v4 = math.sin((float(w6[(n * 2) % len(w6)]) + ((n * 0.25) * (n * 0.25))))
    v2 = 1.5 * math.cos(v2)
    for i11 in range(g3.shape[0]):
        for j12 in range(g3.shape[1]):
            g3[i11, j12] = math.sin(g3[i11 - 1, j12] * b7.scaled((n * 0.25)))
    for i13 in range(2):
        try:
            w1[i13] = w1[2] * math.sin(math.atan(v2))
        except IndexError:
            w1[:] = np.cos(w1)
        else:
            w1[...] = w1 * 1.5 * math.cos((v4 - (i13 * 0.25)))
    return math.sin(x) + math.sin(v0) + math.sin(v2) + math.sin(v4) + b7.a * b7.b + sum(b7.items) + weight(w1) + weight(w6) + weight(g3) + weight(q5)
