"""Programs that fail after some of their writes: those stay done, later ones are not, and the words are NumPy's."""

import numpy as np

from mutations import mutation

A = np.array([0.5, -1.5, 2.0, 3.25])
B = np.array([2.0, 0.25, -1.0])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])
LOCKED = np.array([1.0, 2.0, 3.0])
LOCKED.flags.writeable = False


@mutation(args=[(A, 4), (A, 5)], failing=[((A, 5), IndexError)])
def past_the_end(a, n):
    for i in range(n):
        a[i] = a[i] * a[i]
    return np.sum(a)


@mutation(args=[(A, -4), (A, -5)], failing=[((A, -5), IndexError)])
def before_the_beginning(a, i):
    a[0] = 2.0 * a[0]
    a[i] = a[0] * a[1]
    a[1] = 9.0
    return np.sum(a * a)


@mutation(args=[(M, 1, 2), (M, 2, 0), (M, 0, 3)], failing=[((M, 2, 0), IndexError), ((M, 0, 3), IndexError)])
def either_axis(m, i, j):
    m[0] *= 2.0
    m[i, j] = m[0, 0]
    return np.sum(m * m)


@mutation(args=[(A, B, 1), (A, B, 0)], argnums=(0, 1), failing=[((A, B, 0), ValueError)])
def source_too_long(a, b, start):
    a[0] *= 3.0
    a[start:] = b
    if start == 0:
        a[1] = 5.0
    return np.sum(a * a)


@mutation(args=[(A, B, 3), (A, B, 4)], argnums=(0, 1), failing=[((A, B, 4), ValueError)])
def operands_do_not_match(a, b, n):
    a[0] = b[0] * b[0]
    a[:n] += b
    return np.sum(a * a)


@mutation(
    args=[(M, np.array([1.0, 2.0, 3.0])), (M, np.array([1.0, 2.0]))],
    argnums=(0, 1),
    failing=[((M, np.array([1.0, 2.0])), ValueError)],
)
def rows_do_not_match(m, v):
    m[1] = v
    m *= v
    return np.sum(m * m)


@mutation(args=[(np.ones((1, 3)), M), (np.ones((2, 3)), M)], failing=[((np.ones((1, 3)), M), ValueError)])
def result_does_not_fit(p, m):
    p[0, 0] = 4.0
    p += m
    return np.sum(p * p)


@mutation(args=[(A, 1.0, 2), (A, 1.0, 0)], argnums=(0, 1), failing=[((A, 1.0, 0), ZeroDivisionError)])
def division_after_writes(a, x, n):
    a[0] = x * a[1]
    y = x / n
    a[1] = y
    return np.sum(a * a)


@mutation(
    args=[(A, np.array([0, 3])), (A, np.array([0, 4])), (A, np.array([-5, 1]))],
    failing=[((A, np.array([0, 4])), IndexError), ((A, np.array([-5, 1])), IndexError)],
)
def index_array_out_of_range(a, index):
    a[2] *= a[2]
    a[index] = a[2]
    return np.sum(a * a)


@mutation(
    args=[(A, np.array([True, False, True, False])), (A, np.array([True, False]))],
    failing=[((A, np.array([True, False])), IndexError)],
)
def mask_of_another_length(a, mask):
    a[0] = 7.0 * a[1]
    a[mask] *= 2.0
    return np.sum(a * a)


@mutation(args=[(A, B, 0.5), (A, B, -9.0)], argnums=(0, 1), failing=[((A, B, 0.5), ValueError)])
def masked_source_of_another_length(a, b, limit):
    a[1] *= a[1]
    mask = a[:3] > limit
    a[:3][mask] = b
    return np.sum(a * a)


@mutation(args=[(A, 1), (A, 0)], failing=[((A, 0), ValueError)])
def step_of_zero(a, step):
    a[0] += 1.0
    a[::step] *= 2.0
    return np.sum(a * a)


@mutation(args=[(A, 2), (A, 3)], failing=[((A, 3), ValueError)])
def reshape_does_not_fit(a, rows):
    a[3] = a[0] * a[1]
    m = a.reshape(rows, 2)
    m[0] *= 2.0
    return np.sum(m * m)


@mutation(args=[(A, 3), (A, 0)], failing=[((A, 0), ValueError)])
def nothing_to_take_the_maximum_of(a, n):
    a[0] *= 2.0
    a[1] = np.max(a[:n])
    return np.sum(a * a)


@mutation(args=[(A, 4), (A, -1)], failing=[((A, -1), ValueError)])
def negative_size(a, n):
    a[0] *= 2.0
    b = np.zeros(n)
    b[:] = a
    return np.sum(b * b)


@mutation(args=[(A, 9.0), (A, 0.0)], argnums=(0, 1), failing=[((A, 0.0), RuntimeError)])
def raise_between_writes(a, limit):
    for i in range(len(a)):
        a[i] *= a[i]
        if a[i] > limit + 2.0:
            raise RuntimeError("too large")
        a[i] += 1.0
        if i == 1:
            break
    return np.sum(a * a)


@mutation(args=[(A, 3), (A, 2)], failing=[((A, 2), AssertionError)])
def assert_between_writes(a, n):
    a[0] = 2.0 * a[1]
    assert n > 2, "n is small"
    a[1] = a[0] * a[0]
    return a[0] * a[1]


def write_until(a, n):
    if n == len(a):
        a[n] = 1.0
    a[n] *= 2.0
    write_until(a, n + 1)


@mutation(args=[(A,)], failing=[((A,), IndexError)], orders=0, argnums=())
def failing_in_a_recursion(a):
    write_until(a, 0)
    return a[0]


@mutation(args=[(A, B)], failing=[((A, LOCKED), ValueError)])
def read_only_argument_written(a, b):
    a[0] = b[0] * b[0]
    b[1] = a[0] * a[1]
    a[2] = 5.0
    return np.sum(a * a) + b[1]


@mutation(args=[(A, B), (A, LOCKED)], argnums=(0, 1))
def read_only_argument_read(a, b):
    a[:3] *= b
    return np.sum(a * a) + b[0] * b[1]


@mutation(args=[(A, B, 0), (A, LOCKED, 0)], failing=[((A, LOCKED, 1), ValueError)])
def read_only_behind_a_choice(a, b, p):
    a[0] = 2.0 * a[1]
    c = b if p else a
    c[1:] *= 2.0
    return np.sum(a * a) + np.sum(b)
