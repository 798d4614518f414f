"""`while` and `for` with break, continue and else, over every iterable of the language; early return."""

import math

import numpy as np

from programs import program

VECTOR = np.array([0.5, -1.5, 2.0, 3.25])
MATRIX = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])


@program(args=[(1.5, 4), (0.0, 3), (2.0, 0), (-1.1, 5)])
def power_by_loop(x, n):
    result = 1.0
    for _ in range(n):
        result *= x
    return result


@program(args=[(2.0,), (0.5,), (100.0,)])
def while_data_dependent(x):
    while x < 50.0:
        x = x * x + 1.0
    return x


@program(args=[(27.0,), (3.0,), (1.0,)], kink=True)
def halving_trip_count(x):
    n = 0
    y = x
    while y > 1.0:
        y = y / 2.0
        n += 1
    return y * n + x


@program(args=[(0.3, 10), (0.3, 0)])
def sin_cos_loop(x, n):
    for _ in range(n):
        x = math.sin(math.cos(x))
    return x


@program(args=[(1.1, 2, 9), (1.1, 5, 5), (1.1, 9, 2)])
def range_two(x, lo, hi):
    total = x
    for i in range(lo, hi):
        total += i * x * x
    return total


@program(
    args=[(1.1, 0, 10, 3), (1.1, 10, 0, -3), (1.1, 0, 10, -1), (1.1, -3, 4, 2)], failing=[((1.0, 0, 5, 0), ValueError)]
)
def range_three(x, lo, hi, step):
    total = 0.0
    for i in range(lo, hi, step):
        total = total * x + i
    return total


@program(args=[(1.2, 6)])
def range_backwards(x, n):
    total = 0.0
    for i in range(n - 1, -1, -1):
        total += x**i / (i + 1)
    return total


@program(args=[(1.2, 5), (1.2, 0), (1.2, 1)])
def reversed_range(x, n):
    total = 0.0
    for i in reversed(range(n)):
        total = total * 2.0 + x * i
    return total


@program(args=[(0.9, 10, 3.0), (0.9, 0, 3.0), (0.9, 10, 100.0)], argnums=(0, 2))
def loop_break(x, n, limit):
    total = 0.0
    for i in range(n):
        total += x * i
        if total > limit:
            break
    return total * x + limit


@program(args=[(0.7, 9), (0.7, 0)])
def loop_continue(x, n):
    total = 0.0
    for i in range(n):
        if i % 3 == 1:
            continue
        total += x * x * i
    return total


@program(args=[(0.5, 4), (0.5, 40), (0.5, 0)])
def for_else(x, n):
    total = x
    for i in range(n):
        total += x * i
        if total > 10.0:
            total *= 2.0
            break
    else:
        total = -total * x
    return total


@program(args=[(2.0,), (30.0,)])
def while_else(x):
    n = 0
    while x < 20.0:
        x *= 1.5
        n += 1
        if n == 3:
            break
    else:
        x = x * x
    return x * n


@program(args=[(0.25, 6), (0.9, 6)])
def break_and_continue(x, n):
    total = 0.0
    i = 0
    while True:
        i += 1
        if i > n:
            break
        if i % 2 == 0:
            continue
        total += math.exp(x * i)
        if total > 30.0:
            total -= x
            break
    return total


@program(args=[(0.3, 4, 5), (0.3, 0, 5), (0.3, 4, 0)])
def nested_loops(x, n, m):
    total = 0.0
    for i in range(n):
        row = 1.0
        for j in range(m):
            row += x * i * row - j * x
        total += row * row
    return total


@program(args=[(0.3, 5)])
def triangular_loops(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total += x ** (j + 1) * math.sin(i * x)
    return total


@program(args=[(0.5, 2.0), (0.5, 50.0), (0.5, -1.0)], argnums=(0, 1))
def early_return_nested(x, limit):
    total = 0.0
    for i in range(6):
        for j in range(6):
            total += x * (i + 1) * (j + 1)
            if total > limit:
                return total * x + limit
    return -total


@program(args=[(0.5, 7), (0.5, 3)])
def break_inner_only(x, n):
    total = 0.0
    for i in range(n):
        for j in range(n):
            if j > i or total > 20.0:
                break
            total += x * (i - j + 1)
        else:
            total += 1.0 * x
    return total


@program(args=[(VECTOR, 2.0), (np.array([]), 2.0), (np.array([1.0]), 0.5)], argnums=(0, 1))
def iterate_array(a, x):
    total = 0.0
    for v in a:
        total = total * x + v * v
    return total


@program(args=[(MATRIX,)])
def iterate_rows(m):
    total = 0.0
    for row in m:
        for v in row:
            total += v * v * v
        total *= row[0]
    return total


@program(args=[((1.5, -2.0, 3.0),)])
def iterate_tuple(t):
    total = 0.0
    for v in t:
        total += v * v
    return total


@program(args=[(0.5,)])
def iterate_literal_tuple(x):
    total = 0.0
    for coefficient in (1.0, -2.5, 3.0, 0.5):
        total = total * x + coefficient
    return total


@program(args=[(VECTOR, 1.5)], argnums=(0, 1))
def enumerate_array(a, x):
    total = 0.0
    for i, v in enumerate(a):
        total += v * x**i
    return total


@program(args=[(VECTOR,)])
def enumerate_start(a):
    total = 0.0
    for i, v in enumerate(a, 1):
        total += v / i
    for i, v in enumerate(a, start=-2):
        total += v * v * i
    return total


@program(
    args=[(VECTOR, np.array([1.0, 2.0, 3.0, 4.0])), (VECTOR, np.array([1.0, 2.0])), (np.array([]), VECTOR)],
    argnums=(0, 1),
)
def zip_arrays(a, b):
    total = 0.0
    for u, v in zip(a, b):
        total += u * v * v
    return total


@program(args=[(VECTOR, (2.0, -1.0, 0.5), 3)], argnums=(0, 1))
def zip_three(a, t, n):
    total = 0.0
    for u, v, i in zip(a, t, range(n)):
        total += u * v * (i + 1)
    return total


@program(args=[(VECTOR, VECTOR * 2.0)], argnums=(0, 1))
def enumerate_zip(a, b):
    total = 0.0
    for i, (u, v) in enumerate(zip(a, b)):
        total += (u - v) ** 2 * i
    return total


@program(args=[(VECTOR, 0.9)], argnums=(0, 1))
def reversed_array(a, x):
    total = 0.0
    for v in reversed(a):
        total = total * x + v
    return total


@program(args=[((1.0, 2.0, 5.0), 0.9)], argnums=(0, 1))
def reversed_tuple(t, x):
    total = 0.0
    for v in reversed(t):
        total = total * x + v
    return total


@program(args=[(0.5, 4), (0.5, 1)], failing=[((0.5, 0), UnboundLocalError)])
def loop_variable_after(x, n):
    for i in range(n):
        x = x * 1.5
    return x * i


@program(args=[(VECTOR, 1.0), (VECTOR, 100.0)], argnums=(0, 1))
def array_variable_after_break(a, limit):
    for v in a:
        if v > limit:
            break
    return v * v + limit


@program(args=[(0.5, 5)])
def loop_variable_reassigned(x, n):
    total = 0.0
    for i in range(n):
        i = i * 2
        total += i * x
    return total + i


@program(args=[(1.0, 1.0), (0.5, 2.0)], argnums=(0, 1))
def swap_in_loop(a, b):
    for i in range(5):
        a, b = b, a * b + i
    return a + 2.0 * b


@program(args=[(3.0, 6)])
def carried_but_unread(x, n):
    extra = x
    y = x
    for i in range(n):
        extra = y * i
        y = y * 0.5 + 1.0
    return y * y


@program(args=[(0.1, 3), (0.1, 0)])
def value_before_used_after(x, n):
    before = math.exp(x)
    total = 1.0
    for _ in range(n):
        total = total * x + 1.0
    return total * before


@program(args=[(2.0, 5), (2.0, 0)])
def square_of_accumulator(x, n):
    total = 1.0
    for i in range(n):
        total += x * i
    return total * total + 1.0 / total


@program(args=[(0.5, 12)])
def alternating_body(x, n):
    y = 1.0
    for i in range(n):
        if i % 2 == 0:
            y = y * x + 1.0
        else:
            y = math.sin(y)
    return y


@program(args=[(0.8, 30)])
def many_small_exits(x, n):
    for i in range(n):
        if x > 5.0:
            return x * i
        if x < -5.0:
            continue
        if i == 20:
            break
        x = x * 1.1 + 0.01 * i
    else:
        return -1.0
    return x * x


@program(args=[(5,), (0,), (1,)], argnums=())
def integer_loop(n):
    total = 0
    product = 1
    for i in range(1, n + 1):
        total += i * i
        product *= i
    return total, product


@program(args=[(2.0, 10)])
def while_true_return(x, n):
    i = 0
    while True:
        x = x * 0.9 + i
        i = i + 1
        if i >= n:
            return x * x


@program(args=[(1.3, 3)])
def loop_in_branch(x, n):
    if x > 1.0:
        for _ in range(n):
            x = x * x
    else:
        while x < 3.0:
            x = x + 1.0
    return x


@program(args=[(1.3, 3), (0.3, 3)])
def loop_bounds_from_float(x, n):
    steps = int(x * 4.0) + n
    total = 0.0
    for i in range(steps):
        total += x / (i + 1.0)
    return total


@program(args=[(1.5, 2), (1.5, 0)])
def empty_body(x, n):
    for _ in range(n):
        pass
    while n > 0:
        n -= 1
    return x * x + n


@program(args=[(4,), (0,)], argnums=())
def range_as_value(n):
    indices = range(n)
    total = 0
    for i in indices:
        total += i
    return total, len(indices)


@program(args=[(np.array([3, 1, 2]), 0.5)], argnums=(1,))
def iterate_integer_array(a, x):
    total = 0.0
    for n in a:
        total += x**n
    return total


@program(args=[(np.array([True, False, True]), 0.5)], argnums=(1,))
def iterate_boolean_array(a, x):
    total = 1.0
    for flag in a:
        if flag:
            total = total * x + 1.0
    return total


@program(args=[(np.array([1.5, 2.0], np.float32),), (np.array([], np.float32),)])
def total_of_single_array(a):
    total = 0.0
    for v in a:
        total += v * v
    return total


@program(args=[(2.0, 20), (2.0, 0)])
def first_trip_changes_type(x, n):
    y = 1
    for _ in range(n):
        y = y * 0.5 + x
    return y


@program(args=[(0.5, 1.5, 4)], argnums=(0, 1))
def bounds_evaluated_once(x, y, n):
    total = 0.0
    for i in range(n):
        n = 2
        total += x * i + y
    return total * n
