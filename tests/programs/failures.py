"""Assertions, raised exceptions and the checks of Python arithmetic: same type, message and line as CPython."""

import math

import numpy as np

from programs import program

A = np.array([0.5, -1.5, 2.0])


@program(args=[(2.0,)], failing=[((-1.0,), AssertionError)])
def assertion(x):
    assert x > 0.0
    return math.sqrt(x)


@program(args=[(2.0,)], failing=[((-1.0,), AssertionError)])
def assertion_with_message(x):
    assert x > 0.0, "x must be positive"
    return math.sqrt(x) * x


@program(args=[(2.0,)], failing=[((-1.0,), ValueError), ((0.0,), ZeroDivisionError)])
def raise_exceptions(x):
    if x < 0.0:
        raise ValueError("negative input")
    if x == 0.0:
        raise ZeroDivisionError("nothing to divide by")
    return 1.0 / x


@program(args=[(2.0, 5)], failing=[((2.0, 50), RuntimeError)])
def raise_in_loop(x, n):
    total = 0.0
    for i in range(n):
        total += x * i * i
        if total > 1000.0:
            raise RuntimeError("diverged")
    return total


@program(
    args=[(2.0, 0)],
    failing=[((2.0, 1), TypeError), ((2.0, 2), KeyError), ((2.0, 3), IndexError), ((2.0, 4), ArithmeticError)],
)
def raise_kinds(x, kind):
    if kind == 1:
        raise TypeError("one")
    elif kind == 2:
        raise KeyError("two")
    elif kind == 3:
        raise IndexError
    elif kind == 4:
        raise ArithmeticError()
    return x * x


def checked_root(x):
    if x < 0.0:
        raise ValueError("root of a negative number")
    return math.sqrt(x)


@program(args=[(4.0, 1.0)], argnums=(0, 1), failing=[((4.0, -1.0), ValueError), ((-4.0, 1.0), ValueError)])
def raise_in_helper(x, y):
    return checked_root(x) + checked_root(y) * x


@program(args=[(2.0, 3)], failing=[((2.0, -1), ValueError)])
def raise_in_recursion(x, n):
    if n < 0:
        raise ValueError("negative depth")
    if n == 0:
        return x
    return x * raise_in_recursion(x, n - 1)


@program(args=[(2.0, 4.0)], argnums=(0, 1), failing=[((2.0, 2.0), ZeroDivisionError)])
def division_by_difference(x, y):
    return x / (x - y)


@program(args=[(5, 2)], argnums=(), failing=[((5, 0), ZeroDivisionError)])
def integer_true_division(a, b):
    return a / b


@program(args=[(5.0, 2.0)], argnums=(), failing=[((5.0, 0.0), ZeroDivisionError)])
def float_floor_division_zero(a, b):
    return a // b


@program(args=[(5.0, 2.0)], argnums=(), failing=[((5.0, 0.0), ZeroDivisionError)])
def divmod_zero(a, b):
    q, r = divmod(a, b)
    return q + r


@program(args=[(0.5,)], failing=[((2.0,), ValueError)])
def domain_error_in_middle(x):
    y = x * 2.0 - 1.0
    z = math.acos(y)
    return z * z


@program(args=[(5.0,)], failing=[((1000.0,), OverflowError)])
def overflow_in_loop(x):
    total = 0.0
    for i in range(5):
        total += math.exp(x * i)
    return total


@program(args=[(A, 2)], failing=[((A, 3), IndexError), ((A, -4), IndexError)])
def index_after_work(a, i):
    total = 0.0
    for v in a:
        total += v * v
    return total * a[i]


@program(args=[(A, 3)], failing=[((A, 4), IndexError)])
def index_in_loop(a, n):
    total = 0.0
    for i in range(n):
        total += a[i] * 2.0
    return total


@program(args=[((1.0, 2.0), 1)], failing=[(((1.0, 2.0), 2), IndexError), (((1.0, 2.0), -3), IndexError)])
def tuple_index(t, i):
    return t[i] * t[0]


@program(args=[(A, A)], argnums=(0, 1), failing=[((A, np.array([1.0, 2.0])), ValueError)])
def shapes_differ_at_run_time(a, b):
    return np.sum(a * b)


@program(args=[(A, A)], argnums=(0, 1), failing=[((A, np.array([1.0, 2.0])), ValueError)])
def dot_of_different_lengths(a, b):
    return np.dot(a, b)


@program(args=[(A,)], failing=[((np.array([1.0, 2.0]),), ValueError)])
def unpack_array(a):
    x, y, z = a
    return x * y + z


@program(args=[(1.0,)], failing=[((-1.0,), AssertionError)])
def assertion_spread_over_lines(x):
    # fmt: off
    assert x > 0.0, (
        "x out of range"
    )
    # fmt: on
    return x * x


@program(args=[(1.0,)], argnums=(), failing=[((0.0,), ZeroDivisionError)])
def check_whose_value_is_unused(x):
    y = 1.0 / x
    return 3.0


@program(args=[(2.0, False)], failing=[((0.0, True), ZeroDivisionError)])
def check_on_one_branch(x, flag):
    if flag:
        return 1.0 / x
    return x


@program(args=[(3, 4)], argnums=(), failing=[((3, -1), ValueError)])
def negative_shift(a, s):
    return a << s


@program(args=[(A,)], failing=[((np.array([0.5, 0.0]),), ValueError)])
def raise_for_element(a):
    total = 0.0
    for i, v in enumerate(a):
        if v == 0.0:
            raise ValueError("zero element")
        total += 1.0 / v
    return total


@program(args=[(2.0,)], failing=[((0.5,), ValueError)])
def conditional_raise_in_nested_function(x):
    def check(y):
        if y < 1.0:
            raise ValueError("too small")
        return y * y

    return check(x) + check(x * 2.0)


@program(args=[(2.0,)], argnums=(), failing=[((-2.0,), ValueError)])
def max_of_nothing(x):
    return max(()) if x < 0.0 else x


@program(args=[((1.0, 3.0),)], failing=[((A[:0],), ValueError)])
def max_of_iterable(values):
    return max(values)


@program(args=[(A,)], failing=[((A[:0],), ValueError)])
def largest_element(a):
    return np.max(a) * 2.0


@program(args=[], argnums=(), failing=[((2.0,), UnboundLocalError)])
def read_before_assignment(x):
    y = later * x  # noqa: F821
    later = 1.0
    return y


@program(args=[(2.0,)], argnums=(), failing=[((-1.0,), ValueError)])
def raise_from_none(x):
    if x < 0.0:
        raise ValueError("negative") from None
    return x


@program(args=[(2.0,)], argnums=(), failing=[((-1.0,), ValueError)])
def braces_in_the_text(x):
    assert x < 100.0, "{0} {x} {{}} %s"
    if x < 0.0:
        raise ValueError("set {0} {x} {{}} %s\nsecond line")
    return x


def root_of_positive(x):
    if x > 0.0:
        return x**0.5


# ------------------------------------------------------------- only some paths have a type without meaning


@program(args=[(4.0,)], argnums=(), failing=[((-4.0,), TypeError)])
def operator_on_none(x):
    return root_of_positive(x) * 2.0


@program(args=[(4.0,)], argnums=(), failing=[((-4.0,), TypeError)])
def function_of_none(x):
    return math.sin(root_of_positive(x))


@program(args=[(4.0,)], argnums=(), failing=[((-4.0,), TypeError)])
def conversion_of_none(x):
    return float(root_of_positive(x))


@program(args=[(4.0,)], argnums=(), failing=[((-4.0,), TypeError)])
def order_of_none(x):
    return 1.0 if root_of_positive(x) < 3.0 else 2.0


@program(args=[(4.0,)], argnums=(), failing=[((-4.0,), AttributeError)], same_as=root_of_positive)
def attribute_of_none(x):
    return root_of_positive(x).real


def number_or_pair(x):
    return x if x > 0.0 else (x, x)


@program(args=[(2.0,)], argnums=(), failing=[((-2.0,), TypeError)])
def tuple_times_float(x):
    return number_or_pair(x) * 2.0


@program(args=[(2.0,)], argnums=(), failing=[((-2.0,), TypeError)])
def tuple_plus_float(x):
    return number_or_pair(x) + 2.0


@program(args=[(2.0,)], argnums=(), failing=[((-2.0,), TypeError)])
def negative_tuple(x):
    return -number_or_pair(x)


@program(args=[(-2.0,)], argnums=(), failing=[((2.0,), TypeError)])
def length_of_float(x):
    return len(number_or_pair(x))


@program(args=[(-2.0,)], argnums=(), failing=[((2.0,), TypeError)])
def index_of_float(x):
    return number_or_pair(x)[1]


@program(args=[(-2.0,)], argnums=(), failing=[((2.0,), TypeError)])
def unpack_float(x):
    a, b = number_or_pair(x)
    return a + b


@program(args=[(-2.0,)], argnums=(), failing=[((2.0,), TypeError)])
def iterate_float(x):
    total = 0.0
    for v in number_or_pair(x):
        total += v
    return total


@program(args=[(2.0,)], argnums=(), failing=[((-2.0,), TypeError)])
def call_of_float(x):
    f = math.sin if x > 0.0 else x
    return f(x)


@program(args=[(2.0, 0)], argnums=(), failing=[((2.0, 1), TypeError)])
def unlike_items(x, i):
    t = (x, (x, x))
    return t[int(x) - 2 + i] * 2.0  # known only while running


@program(args=[(3,)], argnums=(), failing=[((-3,), TypeError)])
def bits_of_float(n):
    m = n if n > 0 else n * 0.5
    return m & 1
