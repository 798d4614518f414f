"""Calls: helpers, default and keyword arguments, recursion, closures, functions as values, globals."""

import math
from math import cos as cosine

import numpy as np

from programs import program

RATE = 0.75
COUNT = 3
TABLE = np.array([0.5, 1.0, 2.0])
PAIR = (1.5, -0.5)


def square(x):
    return x * x


def affine(x, scale=2.0, shift=1.0):
    return x * scale + shift


@program(args=[(3.0,), (-1.0,)])
def call_helper(x):
    return square(x) + square(square(x))


@program(args=[(3.0, 0.5)], argnums=(0, 1))
def default_arguments(x, s):
    return affine(x) * affine(x, s) + affine(x, s, x)


@program(args=[(3.0, 0.5)], argnums=(0, 1))
def keyword_arguments(x, s):
    return affine(x, shift=s) * affine(shift=x, x=s) - affine(x, scale=s)


def keyword_only(x, *, power=2, offset=0.0):
    return x**power + offset


@program(args=[(3.0,)])
def keyword_only_arguments(x):
    return keyword_only(x) * keyword_only(x, power=3) + keyword_only(x, offset=x)


@program(args=[(2.0,), (2.0, 5.0)], argnums=(0,))
def default_of_program(x, y=3.0):
    return x * x * y


@program(args=[(0.5,)])
def read_globals(x):
    total = RATE * x
    for i in range(COUNT):
        total += TABLE[i] * x**i
    return total * PAIR[0] + PAIR[1]


@program(args=[(0.5,)])
def imported_name(x):
    return cosine(x) * math.sin(x)


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


@program(args=[(5,), (0,), (20,)], argnums=())
def integer_recursion(n):
    return factorial(n)


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@program(args=[(10,), (1,), (0,)], argnums=())
def double_recursion(n):
    return fibonacci(n)


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


@program(args=[(1.3, 5), (1.3, 0), (-2.0, 3), (0.0, 2)])
def fast_power(x, n):
    return power(x, n)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@program(args=[(2, 3), (1, 5), (0, 0)], argnums=())
def nested_recursion(m, n):
    return ackermann(m, n)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@program(args=[(7,), (10,)], argnums=())
def mutual_recursion(n):
    return is_even(n), is_odd(n)


def ping(x, n):
    return x if n == 0 else pong(x * x + 0.1, n - 1)


def pong(x, n):
    return x if n == 0 else ping(math.sin(x), n - 1)


@program(args=[(0.7, 6), (0.7, 1), (0.7, 0)])
def differentiable_mutual_recursion(x, n):
    return ping(x, n)


def tree_sum(x, depth):
    if depth == 0:
        return x * x
    return tree_sum(x * 0.5, depth - 1) + tree_sum(math.sin(x), depth - 1) * x


@program(args=[(0.8, 4), (0.8, 0)])
def tree_recursion(x, depth):
    return tree_sum(x, depth)


def countdown(x, limit):
    if x < limit:
        return x
    return countdown(x * 0.5 + 0.01, limit) * 1.1


@program(args=[(10.0, 0.5), (0.1, 0.5)], argnums=(0, 1))
def data_dependent_depth(x, limit):
    return countdown(x, limit) + limit


def deep(x, n):
    return x if n == 0 else deep(x * 0.99 + 0.01, n - 1) + 0.001 * x


@program(args=[(0.5, 400)])
def deep_recursion(x, n):
    return deep(x, n)


def continued(x, n, depth):
    return x if n == 0 else x + 1.0 / continued(x, n - 1, depth + 1) + depth * 0.0


@program(args=[(1.5, 8)])
def continued_fraction_recursive(x, n):
    return continued(x, n, 0)


@program(args=[(2.0, 3.0)], argnums=(0, 1))
def lambda_captures(x, y):
    f = lambda a: a * x + y
    return f(y) * f(x)


@program(args=[(2.0, 3.0)], argnums=(0, 1))
def nested_function(x, y):
    def inner(a, b=2.0):
        return a * x + b * y

    return inner(x) * inner(y, x)


@program(args=[(2.0, 3)])
def nested_recursive(x, n):
    def go(k):
        return 1.0 if k == 0 else x * go(k - 1)

    return go(n)


@program(args=[(0.5, 2.0)], argnums=(0, 1))
def lambda_down(x, y):
    return apply_twice(lambda a: a * a + x, y)


def apply_twice(f, x):
    return f(f(x))


def make_adder(x):
    def add(y):
        return x + y * x

    return add


@program(args=[(0.5, 2.0)], argnums=(0, 1))
def function_up(x, y):
    add = make_adder(x)
    return add(y) * add(x)


def compose(f, g):
    return lambda x: f(g(x))


@program(args=[(0.5, 2.0)], argnums=(0, 1))
def composition(x, y):
    h = compose(lambda a: a * y, compose(math.sin, square))
    return h(x) + h(y)


@program(args=[(0.5,), (1.5,)])
def choose_function(x):
    f = square if x > 1.0 else math.sin
    return f(x) * 2.0


@program(args=[(0.5, 1), (0.5, 0)])
def choose_closure(x, flag):
    if flag:
        f = lambda a: a * x
    else:
        f = lambda a: a + x * x
    return f(f(2.0))


@program(args=[(0.5, 4)])
def function_in_loop(x, n):
    f = math.sin
    total = x
    for i in range(n):
        total = f(total) + i * x
    return total


def repeat(f, n, x):
    for _ in range(n):
        x = f(x)
    return x


@program(args=[(0.5, 1.2)], argnums=(0, 1))
def higher_order_loop(x, k):
    return repeat(lambda a: math.sin(a) * k, 3, x) + repeat(lambda a: a * a + k, 2, x)


def fold(f, initial, array):
    for v in array:
        initial = f(initial, v)
    return initial


@program(args=[(np.array([0.5, -1.5, 2.0]), 0.5)], argnums=(0, 1))
def fold_array(a, x):
    return fold(lambda total, v: total * x + v, 0.0, a) + fold(max, -100.0, a)


def factorial_cps(n, k):
    if n == 0:
        return k(1.0)
    return factorial_cps(n - 1, lambda r: k(n * r))


@program(args=[(2.0, 5), (2.0, 0)])
def cps_factorial(x, n):
    return factorial_cps(n, lambda r: r * x)


def power_cps(x, n, k):
    if n == 0:
        return k(1.0)
    return power_cps(x, n - 1, lambda r: k(x * r))


@program(args=[(1.5, 4), (0.0, 2)])
def cps_power(x, n):
    return power_cps(x, n, lambda r: r)


@program(args=[(1.5,), (-0.5,)])
def church_numerals(x):
    two = lambda f: lambda a: f(f(a))
    three = lambda f: lambda a: f(f(f(a)))
    plus = lambda m, n: lambda f: lambda a: m(f)(n(f)(a))
    times = lambda m, n: lambda f: m(n(f))
    step = lambda a: a * 0.5 + x
    return plus(two, three)(step)(x) + times(two, three)(step)(1.0)


@program(args=[(1.5, 4), (1.5, 0)])
def y_combinator(x, n):
    fix = lambda f: (lambda z: z(z))(lambda z: f(lambda v: z(z)(v)))
    return fix(lambda again: lambda k: 1.0 if k == 0 else x * again(k - 1))(n)


@program(args=[(0.7, 3)])
def self_application(x, n):
    step = lambda me, k: x if k == 0 else math.sin(me(me, k - 1)) * x
    return step(step, n)


@program(args=[(2.0, 3.0)], argnums=(0, 1))
def curried(x, y):
    return (lambda a: lambda b: lambda c: a * b + c * x)(x)(y)(2.0)


@program(args=[(1.2,)])
def many_uses_of_helper(x):
    return square(x) + square(2) + square(np.float64(3.0)) + square(True)


@program(args=[(np.array([1.0, 2.0]), 3.0)], argnums=(0, 1))
def helper_on_array_and_scalar(a, x):
    return np.sum(square(a)) * square(x)


def optional(x, y=None):
    if y is None:
        return x * x
    return x * y


@program(args=[(2.0, 5.0)], argnums=(0, 1))
def none_default(x, y):
    return optional(x) + optional(x, y) + optional(y, None)


def swap_if(x, y, flag):
    if flag:
        return y, x
    return x, y


@program(args=[(2.0, 5.0, True), (2.0, 5.0, False)], argnums=(0, 1))
def helper_returns_tuple(x, y, flag):
    a, b = swap_if(x, y, flag)
    return a * a * b


def nothing(x):
    if x > 1.0:
        return


@program(args=[(2.0,)], argnums=())
def helper_returns_none(x):
    return nothing(x), nothing(x) is None


@program(args=[(2.0, 3.0)], argnums=(0, 1))
def keyword_order(x, y):
    def f(a, b, c=1.0, d=2.0):
        return a + 10.0 * b + 100.0 * c + 1000.0 * d

    return f(x, b=y) * f(b=x, a=y, d=x * y) + f(x, y, d=1.0)


@program(args=[(3.0,)])
def shadowed_names(x):
    abs = lambda value: value * 2.0
    max = 4.0
    return abs(x) * max


@program(args=[(0.3,)])
def closure_over_loop_result(x):
    total = 0.0
    for i in range(4):
        total += x**i
    final = total
    scale = lambda y: y * final
    return scale(x) + scale(scale(1.0))


@program(args=[(0.3, 3)])
def closure_made_in_loop(x, n):
    total = 0.0
    for i in range(n):
        factor = x * (i + 1)
        f = lambda y, factor=factor: y * factor
        total += f(x) + f(2.0)
    return total


@program(args=[(0.3, 2)])
def three_levels(x, n):
    def outer(a):
        def middle(b):
            def inner(c):
                return a * b * c * x + n

            return inner(a) + inner(b)

        return middle(x) * middle(a)

    return outer(x * 2.0)


def twice(g):
    return lambda y: g(g(y))


@program(args=[(1.5,)])
def decorated_nested_function(x):
    @twice
    def scale(y):
        return y * x

    return scale(x)


def sine_times_cosine(x):
    return math.sin(x) * math.cos(x)


@program(args=[(1.5,)], argnums=(), same_as=sine_times_cosine)
def import_inside(x):
    import math as m
    from math import cos

    return m.sin(x) * cos(x)


@program(args=[(2.0, 3.0)], argnums=(0, 1))
def keyword_only_parameters(x, y):
    def weigh(a, *, b, c=2.0):
        return a * b + c

    return weigh(x, b=y) * weigh(x, c=x, b=1.0)
