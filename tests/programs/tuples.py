"""Tuples: building, unpacking, nesting, constant and run-time indices, as arguments and results."""

import math

from programs import program


@program(args=[((2.0, 3.0),)])
def unpack_argument(t):
    a, b = t
    return a * b * b


@program(args=[((2.0, (3.0, 4.0)), 0.5)], argnums=(0, 1))
def nested_argument(t, x):
    a, (b, c) = t
    return a * b + c * x + t[1][0] * t[0]


@program(args=[(2.0, 3.0)], argnums=(0, 1), orders=1)
def tuple_result(x, y):
    return x * y, x + y


@program(args=[(2.0, 3.0)], argnums=(0, 1), orders=1)
def nested_result(x, y):
    return (x * x, (y, x * y)), 7, True


@program(
    args=[((1.0, 2.0, 3.0), 0), ((1.0, 2.0, 3.0), 2), ((1.0, 2.0, 3.0), -1)],
    failing=[(((1.0, 2.0, 3.0), 3), IndexError)],
)
def runtime_index(t, i):
    return t[i] * t[i] + t[0]


@program(args=[((1.0, 2.0, 3.0),)])
def constant_index(t):
    return t[0] * t[1] + t[-1] ** 2


@program(args=[((1.0, 2.0, 3.0, 4.0), 3), ((1.0, 2.0, 3.0, 4.0), 0)])
def index_in_loop(t, n):
    total = 0.0
    for i in range(n):
        total += t[i] * t[-1 - i]
    return total


@program(args=[((1.0, 2, True),)])
def mixed_tuple(t):
    x, n, flag = t
    return x * n if flag else -x


@program(args=[(3.0, 4.0)], argnums=(0, 1))
def swap(x, y):
    x, y = y, x
    (x, y), z = (y, x * x), 2.0
    return x * 3.0 + y * z


@program(args=[(0.5, 6), (0.5, 0)])
def carried_pair(x, n):
    pair = (1.0, x)
    for i in range(n):
        pair = (pair[1], pair[0] * x + pair[1] * i)
    return pair[0] + 2.0 * pair[1]


@program(args=[(0.5, 4)])
def carried_nested(x, n):
    state = ((x, 1.0), 0)
    for _ in range(n):
        (a, b), count = state
        state = ((a * b, b + x), count + 1)
    return state[0][0] + state[0][1] * state[1]


@program(args=[(0.3,)])
def nested_targets(x):
    total = 0.0
    for a, (b, c) in ((1.0, (2.0, 3.0)), (4.0, (5.0, 6.0))):
        total += a * x + b * x * x + c
    return total


@program(args=[((1.0, 2.0),), ((3.0, -2.0),)])
def choose_tuple(t):
    a = t if t[0] < 2.0 else (t[1], t[0])
    return a[0] * a[0] * a[1]


@program(args=[((1.0, 2.0), (3.0, 4.0))], argnums=(0, 1))
def complex_product(z, w):
    re = z[0] * w[0] - z[1] * w[1]
    im = z[0] * w[1] + z[1] * w[0]
    return re * re + im * im


@program(args=[((3, 1, 2),), ((1, 1, 1),)], argnums=())
def integer_tuple(t):
    return len(t), t[0] + t[1] * t[2], sum(t), max(t), min(t)


@program(args=[((3.0, 1.0, 2.0),)])
def reductions_of_tuple(t):
    return sum(t) * max(t) + min(t) * len(t)


@program(args=[((3.0, 1.0), 2.0)], argnums=(0, 1))
def sum_with_start(t, x):
    return sum(t, x) * x


@program(args=[(0.5, 1.5)], argnums=(0, 1))
def minmax_of_literal_tuple(x, y):
    return max((x, y, 1.0)) * min((x, y)) + sum((x, x, y))


@program(args=[(2.0,)])
def single_element(x):
    (y,) = (x * x,)
    t = (y,)
    return t[0] * len(t)


@program(args=[()], argnums=(), orders=1)
def no_arguments():
    return (1.5, 2), ()


@program(args=[((1.0, 2.0), (1.0, 2.0)), ((1.0, 2.0), (1.0, 3.0)), ((1.0, 2.0), (0.5, 9.0))], argnums=())
def compare_tuples(a, b):
    return a == b, a != b, a < b, a >= b


@program(args=[((1.0, 2.0), (3.0,))], argnums=(0, 1))
def concatenate(a, b):
    c = a + b + (4.0,)
    return c[0] * c[2] + c[-1] * c[1] + len(c)


@program(args=[(2.0,)])
def slice_constant(x):
    t = (x, x * x, x**3, 1.0)
    head, tail = t[:2], t[2:]
    return head[0] * tail[0] + head[1] * tail[1]


def rotate(point, angle):
    x, y = point
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)


@program(args=[((1.0, 2.0), 0.3, 3)], argnums=(0, 1))
def rotate_many(point, angle, n):
    for _ in range(n):
        point = rotate(point, angle)
    return point[0] * point[0] * point[1]


@program(args=[(((1.0, 2.0), (3.0, 4.0)), ((0.5, -1.0), (2.0, 0.25)))], argnums=(0, 1))
def matrix_product_by_tuples(a, b):
    (a00, a01), (a10, a11) = a
    (b00, b01), (b10, b11) = b
    c = ((a00 * b00 + a01 * b10, a00 * b01 + a01 * b11), (a10 * b00 + a11 * b10, a10 * b01 + a11 * b11))
    return c[0][0] * c[1][1] - c[0][1] * c[1][0] + c[0][0]


@program(args=[(1.1, 5)], argnums=(0,))
def fibonacci_matrix_power(x, n):
    result = ((1.0, 0.0), (0.0, 1.0))
    for _ in range(n):
        (a, b), (c, d) = result
        result = ((a * x + b, a), (c * x + d, c))
    return result[0][0] + result[1][1]


@program(args=[((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))], argnums=(0, 1), orders=1)
def cross_product(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@program(args=[(2.0, 1), (2.0, 0)])
def tuple_of_functions(x, i):
    functions = (math.sin, math.cos)
    return functions[0](x) * functions[1](x) if i else functions[1](x)


@program(args=[((2.0, 5.0), 3.0)], argnums=(0, 1), orders=1)
def active_and_constant(t, x):
    return t[0] * x, 4.0, t


@program(args=[(2.0,)])
def repeated_tuple(x):
    t = (x, 1.0) * 2 + 2 * (x,)
    return t[0] * t[2] * t[4] + len(t) + len((x,) * 0)
