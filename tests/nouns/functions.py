"""Nouns of functions: definitions, closures, cells, higher-order functions, recursion, parameters."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np

import pullback as pb
from nouns import elsewhere, noun
from nouns.elsewhere import scaled


@noun("def inside def", args=[(0.7,), (-1.2,)])
def nested_definitions(x):
    def outer(a):
        def inner(b):
            return b * math.sin(a)

        return inner(a) + inner(2.0)

    return outer(x) * outer(x + 1.0)


@noun("lambda", args=[(0.7,), (2.0,)])
def lambdas(x):
    scale = lambda a, b=2.0: a * b
    twice = lambda f, a: f(f(a))
    return twice(lambda a: a * math.cos(a), scale(x)) + (lambda: x * x)()


@noun("closure over a differentiated variable", args=[(0.7,), (-1.3,)])
def closure_over_differentiated(x):
    y = x * x

    def f(a):
        return a * y + x

    return f(y) * f(1.0)


@noun("closure over a reassigned variable", args=[(0.7,), (1.9,)])
def closure_over_reassigned(x):
    scale = x

    def f(a):
        return a * scale

    first = f(2.0)
    scale = scale * scale
    second = f(3.0)
    for k in range(3):
        scale += k * x
    return first + second * f(x)


@noun("late binding in a loop", args=[(0.7,), (1.9,)])
def late_binding(x):
    functions = []
    for i in range(3):
        functions.append(lambda a: a * i + x)
    total = 0.0
    for f in functions:
        total += f(x)
    return total * functions[0](2.0)


@noun("nonlocal", args=[(0.7, 4), (1.3, 2)])
def nonlocal_counter(x, n):
    total = x

    def add(a):
        nonlocal total
        total = total * 0.5 + a * a
        return total

    for i in range(n):
        add(x + i)
    return total * add(1.0)


@noun("closure returned from a branch", args=[(0.7,), (-0.7,)])
def closure_from_branch(x):
    def choose(a):
        if a > 0.0:
            return lambda b: b * b * a
        return lambda b: math.sin(b) - a

    return choose(x)(x) + choose(-x)(2.0 * x)


@noun("closure returned from a loop", args=[(0.7, 3), (0.4, 5)])
def closure_from_loop(x, n):
    f = lambda a: a
    for i in range(n):
        if i % 2 == 0:
            f = lambda a, k=i: a * x + k
    return f(x) * f(2.0)


@noun("closures stored in a tuple", args=[(0.7, 0), (0.7, 1), (0.7, 2)])
def closures_in_tuple(x, k):
    functions = (lambda a: a * x, lambda a: math.sin(a), lambda a: a + x * x)
    return functions[k](x) + functions[0](functions[2](1.0))


@noun("closures stored in a list", args=[(0.7, 0), (0.7, 1)])
def closures_in_list(x, k):
    functions = [lambda a: a * x, lambda a: math.exp(a)]
    functions.append(lambda a: a - x)
    total = functions[k](x)
    for f in functions:
        total = total + f(total)
    return total


@noun("closures stored in a dict", args=[(0.7, "square"), (0.7, "shift")])
def closures_in_dict(x, name):
    table = {"square": lambda a: a * a, "shift": lambda a: a + x}
    return table[name](x) * table["square"](x)


@dataclass
class Layer:
    weight: float
    activation: object

    def __call__(self, a):
        return self.activation(self.weight * a)


@noun("closures stored in dataclass fields", args=[(0.7,), (-0.4,)])
def closures_in_fields(x):
    layers = [Layer(x, lambda a: math.tanh(a + x)), Layer(0.5, math.sin), Layer(x * x, lambda a: a * a)]
    y = x
    for layer in layers:
        y = layer(y)
    return y


@noun("map", args=[(0.7,), (1.5,)])
def using_map(x):
    total = 0.0
    for y in map(lambda a, b: a * b * x, (1.0, 2.0, 3.0), [x, x * x, 1.0]):
        total += y
    return total + sum(map(math.sin, [x, 2.0 * x]))


@noun("filter", args=[(0.7,), (1.5,)])
def using_filter(x):
    values = [x, -x, x * x, 0.5 - x]
    return sum(filter(lambda a: a > 0.0, values)) + len(list(filter(None, [0, 1, 2]))) * x


@noun("functools.reduce", args=[(0.7,), (1.5,)])
def using_reduce(x):
    return functools.reduce(lambda a, b: a * x + b, [1.0, x, 3.0]) + reduce(lambda a, b: a - b * x, (x, x), 1.0)


@noun("sum", args=[(0.7, 4)])
def using_sum(x, n):
    return sum(x**i for i in range(n)) + sum([x, x * x], 1.0) + sum((x, 2))


@noun("any and all", args=[(0.7,), (1.7,)])
def using_any_all(x):
    values = [x, x * x, 0.5]
    y = x * x if all(v < 1.0 for v in values) else math.exp(x)
    return y + (math.sin(x) if any(v > 2.0 for v in values) else x)


@noun("min and max with a key", args=[(0.7,), (-1.9,)])
def extremes_with_key(x):
    values = [x, x * x - 1.0, 0.3 * x + 2.0]
    return max(values, key=lambda v: -v * v) * 3.0 + min(values, key=abs) ** 2


@noun("sorted with a key", args=[(0.7,), (-1.9,)])
def sorted_with_key(x):
    values = sorted([x, 2.0 * x * x, 0.3 - x, 1.0], key=lambda v: -v)
    pairs = sorted([(2, x), (1, x * x), (2, 1.0)], key=lambda pair: pair[0])
    return values[0] * values[1] + values[3] * 0.5 + pairs[0][1] * pairs[1][1]


@noun("functools.partial", args=[(0.7,), (-1.9,)])
def using_partial(x):
    def poly(a, b, c=0.0, *, d=1.0):
        return a * b * b + c * b + d

    f = functools.partial(poly, x, c=x * x)
    g = partial(f, d=2.0)
    return f(2.0) * g(x) + f(x, d=x)


@noun("itertools.accumulate", args=[(0.7,), (1.3,)])
def using_accumulate(x):
    total = 0.0
    for i, y in enumerate(itertools.accumulate([x, x * x, 2.0])):
        total += (i + 1) * y
    for y in itertools.accumulate((x, 2.0, x), lambda a, b: a * b):
        total += y
    return total


@noun("itertools.chain", args=[(0.7,), (1.3,)])
def using_chain(x):
    total = 1.0
    for y in itertools.chain([x, 2.0], (x * x,), [3.0]):
        total = total * 0.5 + y * x
    for y in itertools.chain.from_iterable([[x], [x * x, 1.0]]):
        total += y * y
    return total


@noun("itertools.product", args=[(0.7,), (1.3,)])
def using_product(x):
    total = 0.0
    for a, b in itertools.product([x, 2.0, x * x], (1.0, x)):
        total += a * a * b
    return total


@noun("itertools.repeat", args=[(0.7, 3), (1.3, 0)])
def using_repeat(x, n):
    y = x
    for scale in itertools.repeat(x, n):
        y = y * scale + 1.0
    return y


@noun("itertools.count", args=[(0.7,), (1.3,)])
def using_count(x):
    y = x
    for i in itertools.count(1):
        y = y * 0.5 + x / i
        if i > 5 or y > 2.0:
            break
    return y * y


@noun("itertools.takewhile", args=[(0.7,), (1.3,)])
def using_takewhile(x):
    total = 0.0
    for y in itertools.takewhile(lambda v: v < 3.0, [x, x * x, 2.0 * x, 10.0, x]):
        total += y * y
    return total


@noun("itertools.zip_longest", args=[(0.7,), (1.3,)])
def using_zip_longest(x):
    total = 0.0
    for a, b in itertools.zip_longest([x, x * x, 2.0], (1.5,), fillvalue=x):
        total += a * b * b
    return total


@noun("fixed-point combinator", args=[(0.7, 4), (1.3, 1)])
def fixed_point(x, n):
    fix = lambda f: (lambda g: g(g))(lambda g: f(lambda a, k: g(g)(a, k)))
    power = fix(lambda again: lambda a, k: 1.0 if k == 0 else a * again(a, k - 1))
    return power(x, n) + x


@noun("recursion that depends on values", args=[(3.7,), (0.2,)])
def value_recursion(x):
    def halve(a):
        if a < 0.5:
            return a * a
        return math.sin(halve(a * 0.5)) + a

    return halve(x)


def even(x, n):
    return x if n == 0 else odd(x * x, n - 1)


def odd(x, n):
    return math.cos(x) if n == 0 else even(x + 0.5, n - 1) * x


@noun("mutual recursion", args=[(0.7, 3), (0.7, 4)])
def mutual_recursion(x, n):
    return even(x, n) + odd(x, n)


@noun("recursive closure", args=[(0.7, 5)])
def recursive_closure(x, n):
    def fold(k):
        if k == 0:
            return x
        return fold(k - 1) * x + k

    return fold(n)


@noun("recursion beyond CPython's depth", args=[(0.9999, 3000)])
def deep_recursion(x, n):
    def power(k):
        return 1.0 if k == 0 else x * power(k - 1)

    return power(n)


@noun("*args", args=[(0.7,), (1.2,)])
def star_parameters(x):
    def weigh(first, *rest):
        total = first
        for i, a in enumerate(rest):
            total += a * (i + 1) * first
        return total

    values = (x * x, 2.0)
    return weigh(x) + weigh(x, 1.0, x) * weigh(*values, x)


@noun("**kwargs", args=[(0.7,), (1.2,)])
def keyword_parameters(x):
    def build(scale, **options):
        total = scale
        for name, value in options.items():
            total += value * (2.0 if name == "weight" else 1.0)
        return total * options.get("rate", 1.0)

    more = {"rate": x, "weight": 2.0}
    return build(x, weight=x * x) + build(scale=1.0, **more)


@noun("defaults evaluated once", args=[(0.7,), (1.2,)])
def shared_defaults(x):
    def total(a, items=[], scale=x * x):
        items.append(a * scale)
        return sum(items) * len(items)

    return total(1.0) + total(x) * total(x, scale=2.0)


@noun("keyword-only parameters", args=[(0.7,), (1.2,)])
def keyword_only(x):
    def f(a, *, b, c=2.0):
        return a * b + c

    return f(x, b=x) * f(1.0, c=x, b=3.0)


@noun("positional-only parameters", args=[(0.7,), (1.2,)])
def positional_only(x):
    def f(a, b=2.0, /, c=1.0):
        return a * b**2 + c

    return f(x) + f(x, x, c=x * x)


class Polynomial:
    degree = 2

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def value(self, x):
        return self.a * x**2 + self.b * x

    @property
    def vertex(self):
        return -self.b / (2.0 * self.a)

    def __call__(self, x):
        return self.value(x)

    @staticmethod
    def square(a):
        return a * a

    @classmethod
    def monic(cls, b):
        return cls(1.0, b)


@noun("method", args=[(0.7,), (1.2,)])
def methods(x):
    p = Polynomial(x, 2.0)
    f = p.value
    return p.value(x) * f(2.0) + p.degree * x


@noun("property", args=[(0.7,), (1.2,)])
def properties(x):
    p = Polynomial(x, x * x)
    return p.vertex * x + p.vertex**2


@noun("__call__", args=[(0.7,), (1.2,)])
def callable_objects(x):
    p = Polynomial(x, 1.0)
    return p(p(x))


@noun("static method", args=[(0.7,)])
def static_methods(x):
    return Polynomial.square(x) + Polynomial(x, x).square(x + 1.0)


@noun("class method", args=[(0.7,)])
def class_methods(x):
    return Polynomial.monic(x)(2.0) * Polynomial.monic(1.0)(x)


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, other):
        if isinstance(other, Vector):
            return self.x * other.x + self.y * other.y
        return Vector(self.x * other, self.y * other)

    def __rmul__(self, other):
        return self * other

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __sub__(self, other):
        return self + -other

    def __lt__(self, other):
        return self * self < other * other

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __getitem__(self, index):
        return self.x if index == 0 else self.y

    def __len__(self):
        return 2

    def __bool__(self):
        return self.x != 0.0

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self


@noun("operators of user classes", args=[(0.7,), (1.2,)])
def user_operators(x):
    a, b = Vector(x, 2.0), Vector(1.0, x * x)
    c = 2.0 * a - b * x
    alias = c
    c += a
    y = alias * b + c[0] * c[1] * len(c)
    if a < b or a == b or not c:
        y = y * 2.0
    return y


class Shape:
    def __init__(self, scale):
        self.scale = scale

    def area(self):
        return 0.0

    def weight(self, density):
        return self.area() * density * self.scale


class Disc(Shape):
    def __init__(self, scale, radius):
        super().__init__(scale)
        self.radius = radius

    def area(self):
        return math.pi * self.radius**2


class Ring(Disc):
    def area(self):
        return super().area() - math.pi * 0.25


@noun("inheritance", args=[(0.7,), (1.2,)])
def inheritance(x):
    total = 0.0
    for shape in (Disc(x, 2.0), Ring(1.0, x), Shape(x)):
        total += shape.weight(x)
    return total


class Model:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return math.tanh(self.w * x + self.b)


@noun("gradient with respect to a callable object", args=[(0.7,), (1.2,)])
def gradient_of_callable(x):
    model = Model(x, 0.5)
    gradient = pb.grad(lambda m: m(2.0) * m(x))(model)
    return gradient.w * x + gradient.b


@noun("functions from other modules", args=[(0.7,), (1.2,)])
def other_modules(x):
    return elsewhere.softplus(x) * scaled(x, factor=2.0) + elsewhere.RATE * x


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs) * 2.0

    return wrapper


@logged
def decorated_square(x, power=2):
    return x**power


@noun("decorated functions", args=[(0.7,), (1.2,)])
def decorated(x):
    @logged
    def local(a):
        return a * x

    return decorated_square(x) + decorated_square(x, power=3) * local(2.0)


@pb.jit
def jitted_square(x):
    return x * x


@noun("already jitted functions", args=[(0.7,), (1.2,)])
def calls_jitted(x):
    return jitted_square(math.sin(x)) + jitted_square(2.0) * x


@noun("function passed to and returned by a function", args=[(0.7,), (1.2,)])
def higher_order(x):
    def compose(f, g):
        return lambda a: f(g(a))

    def power(f, n):
        return f if n == 1 else compose(f, power(f, n - 1))

    return power(lambda a: a * x + 1.0, 3)(x) + compose(math.sin, np.exp)(x)
