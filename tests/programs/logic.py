"""`and`, `or`, `not` on values, with Python's short circuit; conditional names."""

import math

from programs import program


@program(args=[(0.0, 3.0), (2.0, 3.0), (-1.0, 0.0)], argnums=(0, 1), kink=True)
def value_or_default(x, default):
    y = x or default
    return y * y


@program(args=[(0.0, 3.0), (2.0, 3.0)], argnums=(0, 1), kink=True)
def value_and_value(x, y):
    z = x and y * y
    return z + x


@program(args=[(0, 2.5), (3, 2.5)], argnums=())
def int_or_float(n, x):
    return n or x


@program(args=[(4.0,), (0.0,), (-4.0,)], kink=True)
def guard_division(x):
    if x != 0.0 and 8.0 / x > 1.0:
        return 8.0 / x
    return x * x


@program(args=[(2.0,), (0.0,), (-1.0,)], kink=True)
def guard_logarithm(x):
    return (x > 0.0 and math.log(x)) or -1.0 - x


@program(args=[(2.0, True, False), (2.0, False, False), (2.0, True, True)])
def and_not(x, a, b):
    if a and not b:
        return x * x
    elif not a or b:
        return 3.0 * x
    return x


@program(args=[(1, 0), (0, 0), (0, 5), (2, 5)], argnums=())
def logic_returns_operands(a, b):
    return a and b, a or b, not a, not b, a and b or 7


@program(args=[(0.0,), (1.0,), (2.0,), (3.0,)], kink=True)
def three_guards(x):
    if x and x < 2.5 and math.sin(x) > 0.5:
        return math.sin(x) * x
    return x or 4.0


@program(args=[(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)], argnums=(0, 1), kink=True)
def conditional_name(x, y):
    if x > y:
        z = x * x
    elif x < y:
        z = y * x
    else:
        z = 0.5
    return z + y


@program(args=[(2.0, 3), (2.0, 1)], failing=[((2.0, 0), UnboundLocalError)])
def name_set_in_loop(x, n):
    for i in range(n):
        last = x * (i + 1)
    return last * last


@program(args=[(2.0,)], failing=[((-2.0,), UnboundLocalError)])
def name_set_on_one_branch(x):
    if x > 0.0:
        scale = 3.0
    y = x * x
    return y * scale


@program(args=[(2.0, 4), (0.5, 7)])
def name_set_in_first_trip(x, n):
    total = 0.0
    for i in range(n):
        if i == 0:
            first = x * x
        total += first * i
    return total


@program(args=[(0.4,), (0.6,)])
def bool_variable(x):
    inside = 0.0 < x < 0.5
    outside = not inside
    return x * x * inside + 3.0 * x * outside


@program(args=[(1.0, 0), (1.0, 1), (1.0, 2), (1.0, 9)])
def dispatch_on_int(x, kind):
    if kind == 0:
        return x
    elif kind == 1:
        return x * x
    elif kind == 2:
        return math.exp(x)
    else:
        return -1.0 * x


@program(args=[(3.0,), (-3.0,)])
def not_float(x):
    return x if not x < 0.0 else -2.0 * x


@program(args=[(5.0, 2.0, 1.0), (0.0, 2.0, 1.0), (0.0, 0.0, 1.0)], argnums=(0, 1, 2), kink=True)
def chain_of_or(a, b, c):
    return (a or b or c) * 2.0 + a * b


@program(args=[(1.0,), (-1.0,)])
def condition_in_while(x):
    n = 0
    while n < 10 and x < 20.0 and not (n > 4 and x < 0.0):
        x = x * 1.5
        n += 1
    return x * n
