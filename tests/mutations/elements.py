"""Writing single elements: straight-line, in loops, over and over, before and after they are read."""

import math

import numpy as np

from mutations import mutation

A = np.array([0.5, -1.5, 2.0, 3.25])
B = np.array([2.0, 0.25, -1.0, 0.75])
P = np.array([1.1, 0.7, 1.9])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])
S = np.array([1.5, -2.0, 0.5], np.float32)
W = np.array([1.0, -0.5, 2.0, 0.25])


@mutation(args=[(A,)], orders=3)
def increment(a):
    a[0] = a[0] + 1.0
    return a[0] * a[0] * a[1]


@mutation(args=[(A, 0.3)], argnums=(0, 1), orders=3)
def overwritten_by_scalar(a, x):
    a[1] = x * x
    return a[0] * a[1] * a[1]


@mutation(args=[(A, 0.4)], argnums=(0, 1), orders=3)
def scaled_in_place(a, t):
    a[2] = math.cos(t) * a[2]
    return a[2] * a[2] + a[0] * t


@mutation(args=[(A,)], orders=3)
def nonlinear_in_the_overwritten_value(a):
    y = np.sin(a[0])
    a[0] = y * a[0]
    z = np.exp(a[0]) * y
    a[0] = z
    return a[0] * a[0]


@mutation(args=[(A,)], orders=3)
def overwritten_in_loop_after_use(a):
    total = 0.0
    for i in range(4):
        total += a[0] * a[0]
        a[0] = np.sin(a[0]) + a[i] * 0.5
    return total


@mutation(args=[(A,), (np.array([2.0]),), (np.array([]),)], orders=3)
def prefix_sums(a):
    for i in range(1, len(a)):
        a[i] = a[i] + a[i - 1]
    return np.sum(a * a * a)


@mutation(args=[(A,), (np.array([0.0, 2.0, 3.0]),)], orders=3)
def prefix_products(a):
    for i in range(1, len(a)):
        a[i] *= a[i - 1]
    total = 0.0
    for v in a:
        total += v * v
    return total


@mutation(args=[(A, 0.9)], argnums=(0, 1), orders=3)
def recurrence_into_fresh(x, a):
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i + 1] = y[i] * a + x[i] * x[i]
    return y[-1] * y[2]


@mutation(args=[(A,)])
def every_augmented_assignment(a):
    a[0] += a[1]
    a[1] -= a[2] * a[0]
    a[2] *= a[3]
    a[3] /= a[0] * a[0] + 1.0
    a[0] **= 2
    return np.sum(a * a) + a[0] * a[1]


@mutation(args=[(np.array([5.5, -3.25, 2.5]),)], kink=True)
def augmented_remainder_and_quotient(a):
    a[0] %= 2.0
    a[1] //= 2.0
    a[2] = a[2] % 0.75
    return a[0] * a[0] + a[1] + a[2] * a[2]


@mutation(args=[(A,)], orders=3)
def swapped_elements(a):
    a[0], a[3] = a[3], a[0]
    a[1], a[2] = a[2] * a[0], a[1] * a[3]
    return a[0] * a[1] + a[2] * a[2] * a[3]


@mutation(args=[(A,), (np.array([1.0]),)])
def reversed_by_swaps(a):
    i = 0
    j = len(a) - 1
    while i < j:
        a[i], a[j] = a[j], a[i]
        i += 1
        j -= 1
    total = 0.0
    for k in range(len(a)):
        total += a[k] * a[k] * (k + 1)
    return total


@mutation(args=[(A,)], orders=3)
def written_twice(a):
    a[1] = a[0] * a[0]
    a[1] = a[1] * a[1] + a[2]
    a[2] = 7.0
    a[2] = a[1] * a[0]
    return a[2] * a[1]


@mutation(args=[(A,)])
def dead_writes(a):
    a[0] = a[1] * 100.0
    a[0] = a[2]
    a[3] = a[1] * a[0]
    y = a[0] * a[1]
    a[1] = 0.0
    a[2] = y * 5.0
    return y


@mutation(args=[(A, 2), (A, 0)])
def constant_overwrites_the_input(a, n):
    for i in range(n):
        a[i] = 1.5
    return np.sum(a * a * a)


@mutation(args=[(A, 1, 2), (A, -1, 3), (A, 0, -4), (A, 2, 2)])
def indices_that_may_meet(a, i, j):
    a[i] = a[j] * a[j]
    a[j] = a[i] * a[0]
    return a[i] * a[j]


@mutation(args=[(A,)])
def negative_indices_written(a):
    a[-1] = a[-2] * a[0]
    a[-2] += a[-1] * a[-4]
    a[-4] = a[-1] + a[3]
    return a[0] * a[2] * a[3]


@mutation(args=[(A,)])
def negative_indices_in_loop(a):
    for i in range(len(a)):
        a[-i] = a[-i] * 0.5 + a[-i - 1] * a[-i - 1]
    return np.sum(a)


@mutation(args=[(M,)], orders=3)
def element_of_matrix(m):
    m[0, 1] = m[0, 1] * m[1, 2]
    m[-1, -1] += m[0, 1] * m[0, 0]
    m[1][0] = m[0][1] ** 2
    return m[0, 1] * m[1, 2] + m[1, 0] * m[1, 1]


@mutation(args=[(M,)])
def transposed_by_elements(m):
    t = np.empty((m.shape[1], m.shape[0]))
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            t[j, i] = m[i, j] * m[i, 0]
    return np.sum(t * t) + t[2, 1] * t[0, 1]


@mutation(args=[(M,)])
def running_sums_both_ways(m):
    for i in range(m.shape[0]):
        for j in range(1, m.shape[1]):
            m[i, j] += m[i, j - 1]
    for i in range(1, m.shape[0]):
        for j in range(m.shape[1]):
            m[i, j] += m[i - 1, j]
    return m[-1, -1] * m[0, -1] + m[1, 0] ** 2


@mutation(args=[(S, np.float32(0.5))], argnums=(0, 1))
def single_precision(a, x):
    a[0] = a[1] * x
    a[1] += a[0] * a[2]
    return a[0] * a[1] * a[1]


@mutation(args=[(S, 0.1)], argnums=(0, 1))
def double_stored_in_single(a, x):
    a[0] = x * 3.0
    a[2] = np.float64(x) * a[1]
    return a[0] * a[0] + a[2] * a[1]


@mutation(args=[(S, A)], argnums=(0, 1))
def single_stored_in_double(s, a):
    a[0] = s[0] * s[1]
    a[1] += s[2]
    return np.sum(a * a)


@mutation(args=[(A, np.array([0, 0, 0]))])
def counts_in_an_integer_array(a, counts):
    for v in a:
        if v < 0.0:
            counts[0] += 1
        elif v < 2.5:
            counts[1] += 1
        else:
            counts[2] += 1
    total = 0.0
    for i in range(3):
        total += counts[i] * a[i] * a[i]
    return total


@mutation(args=[(np.array([3, 1, 2]),)], argnums=())
def integer_elements(n):
    n[0] = n[1] * 7
    n[1] //= 2
    n[2] **= 3
    n[0] %= 4
    return n[0] + n[1], n[2]


@mutation(args=[(np.array([3, 1, 2], np.int32), 2.9)], argnums=())
def narrow_integer_elements(n, x):
    n[0] = x
    n[1] = -x
    n[2] += 40
    return n[0], n[1], n[2], n


@mutation(args=[(np.array([True, False, False]), A)], argnums=(1,))
def flags_written(flags, a):
    flags[1] = a[0] > 0.0
    flags[2] = not flags[1]
    flags[0] = flags[0] and flags[2]
    total = 0.0
    for i in range(3):
        if flags[i]:
            total += a[i] * a[i]
    return total


@mutation(args=[(A, np.array([2, 0, 1, 0]))])
def through_an_index(a, index):
    total = 0.0
    for i in index:
        a[i] = a[i] * a[i] + 0.1
        total += a[i]
    return total * a[0]


@mutation(args=[(A, np.array([2, 0, 2, -1]))])
def histogram(a, index):
    sums = np.zeros(4)
    for k in range(len(index)):
        sums[index[k]] += a[k] * a[k]
    return np.sum(sums * sums)


@mutation(args=[(A, 1.0), (A, 30.0), (A, -1.0)], argnums=(0, 1))
def while_with_writes(a, limit):
    n = 0
    while a[0] * a[0] < limit and n < 12:
        a[0] = a[0] * 1.5 + a[1] * 0.1
        a[1] += a[0]
        n += 1
    return a[0] * a[1] + n * limit


@mutation(args=[(A,), (np.array([3.0, 3.0]),), (np.array([]),)])
def break_between_two_writes(a):
    total = 0.0
    for i in range(len(a)):
        a[i] = a[i] * a[i]
        if a[i] > 2.0:
            break
        a[i] += 10.0
        total += a[i]
    return total + np.sum(a * a)


@mutation(args=[(A, 0), (A, 2), (A, 9)])
def early_return_between_writes(a, n):
    for i in range(len(a)):
        a[i] = np.sin(a[i])
        if i == n:
            return a[i] * a[i] + a[-1]
        a[0] += a[i]
    return a[0] * a[0]


@mutation(args=[(A,)])
def continue_before_the_write(a):
    for i in range(len(a)):
        if a[i] < 0.0:
            continue
        a[i] = a[i] ** 2 * a[0]
    else:
        a[1] *= a[2]
    return np.sum(a)


@mutation(args=[(A, 1), (A, 0)])
def written_in_one_branch(a, flag):
    if flag:
        a[0] = a[1] * a[1]
    else:
        a[1] = a[0] * a[0] * a[0]
    return a[0] * a[1]


@mutation(args=[(A, 4), (A, 0)])
def branch_by_iteration(a, n):
    for i in range(n):
        if i % 2 == 0:
            a[0] = a[0] * a[1]
        else:
            a[1] = a[1] + a[0] * a[0]
    return a[0] * a[1]


@mutation(args=[(A, 3)])
def nested_loops_over_one_slot(a, n):
    for i in range(n):
        for j in range(i):
            a[j] = a[j] * a[i] + 0.1
        a[i] = np.tanh(a[i])
    return np.sum(a * a)


@mutation(args=[(A,)])
def local_array_of_constants(a):
    c = np.zeros(3)
    c[0] = 2.0
    c[1] = a[0]
    c[2] = c[0] * c[1]
    c[0] = c[2] * c[2]
    return c[0] * c[1]


@mutation(args=[(A,)])
def local_array_in_loop(a):
    total = 0.0
    for i in range(len(a)):
        c = np.zeros(2)
        c[0] = a[i]
        c[1] += c[0] * c[0]
        total += c[0] * c[1]
    return total


@mutation(args=[(A,)])
def loop_reads_what_it_wrote_last_time(a):
    last = np.zeros(1)
    total = 0.0
    for v in a:
        total += v * last[0]
        last[0] = v * v
    return total


@mutation(args=[(A,)])
def iteration_sees_writes(a):
    total = 0.0
    for i, v in enumerate(a):
        if i + 1 < len(a):
            a[i + 1] += v * v
        total += v
    return total


@mutation(args=[(np.array(2.0),)], orders=3)
def rank_zero(x):
    x[()] = x[()] * x[()]
    x[...] = x * 1.5
    return x[()] * x[()]


@mutation(args=[(np.arange(8.0).reshape(2, 2, 2) * 0.5,)])
def rank_three(c):
    for i in range(2):
        for j in range(2):
            for k in range(2):
                c[i, j, k] = c[i, j, k] * c[k, j, i] + c[0, i, j]
    return np.sum(c * c)


@mutation(args=[(A, 1e-3)], argnums=(0, 1))
def written_before_it_is_differentiated_away(a, x):
    a[0] = 0.0 * a[0]
    a[1] = a[1] - a[1]
    a[2] = x / (x + a[2])
    return a[0] + a[1] * a[2] + a[2]


@mutation(args=[(P,)], orders=3)
def chain_of_functions(a):
    a[0] = np.log(a[0])
    a[1] = np.sqrt(a[1]) * a[0]
    a[2] = np.exp(a[1]) / a[2]
    a[0] = np.tanh(a[2]) + a[0]
    return a[0] * a[1] * a[2]


@mutation(args=[(P, 5)], orders=3)
def fixed_point_in_one_slot(a, n):
    for _ in range(n):
        a[0] = 0.5 * (a[0] + a[1] / a[0])
    return a[0] * a[2]


@mutation(args=[(A,)])
def builtin_extrema_written(a):
    a[0] = max(a[1], a[2] * 0.5)
    a[3] = min(a[0] * a[2], a[3])
    a[1] = abs(a[1])
    return a[0] * a[1] + a[3] * a[3]


@mutation(args=[(A, 2.0)], argnums=(0, 1), orders=1)
def the_argument_returned(a, x):
    a[0] = a[0] * x
    a[2] = x * x
    return a


@mutation(args=[(A,)], orders=1)
def several_results(a):
    y = a[0] * a[1]
    a[0] = y
    z = a * y
    a[1] = 5.0
    return y, z, a


@mutation(args=[(A, 3.0)], argnums=())
def nothing_returned(a, x):
    a[0] = x
    a[1] = a[0] + a[1]
