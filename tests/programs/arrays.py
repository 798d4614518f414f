"""Reading 1-D and 2-D arrays: elements, negative indices, shape, len, rows; sums and products."""

import numpy as np

from programs import program

A = np.array([0.5, -1.5, 2.0, 3.25])
B = np.array([2.0, 0.25, -1.0, 0.75])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])
S = np.array([[2.0, 0.5, 0.1], [0.5, 1.5, -0.3], [0.1, -0.3, 1.0]])
V = np.array([0.3, -0.6, 0.9])


@program(args=[(A, 0), (A, 3), (A, -1), (A, -4)], failing=[((A, 4), IndexError), ((A, -5), IndexError)])
def element(a, i):
    return a[i] * a[i]


@program(args=[(M, 0, 0), (M, 1, -1), (M, -2, 2)], failing=[((M, 2, 0), IndexError), ((M, 0, 3), IndexError)])
def element_of_matrix(m, i, j):
    return m[i, j] * m[i, j] + m[i][j]


@program(args=[(A,), (np.array([]),)], argnums=())
def length_and_shape(a):
    return len(a), a.shape[0], a.shape, a.ndim, a.size


@program(args=[(M,)], argnums=())
def shape_of_matrix(m):
    rows, columns = m.shape
    return rows, columns, len(m), m.shape[-1], m.size


@program(args=[(A,), (np.array([2.0]),), (np.array([]),)])
def sum_by_index(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * a[i] * i
    return total


@program(args=[(M,)])
def sum_of_matrix_by_index(m):
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            total += m[i, j] ** 2 * (i + j)
    return total


@program(args=[(A,)])
def neighbours(a):
    total = 0.0
    for i in range(1, len(a) - 1):
        total += (a[i - 1] - 2.0 * a[i] + a[i + 1]) ** 2
    return total


@program(args=[(A,)])
def negative_indices_in_loop(a):
    total = 0.0
    for i in range(len(a)):
        total += a[-i] * a[i] + a[-1 - i]
    return total


@program(args=[(A, np.array([0, 2, 2, -1]))])
def indirect(a, index):
    total = 1.0
    for i in index:
        total *= a[i]
    return total


@program(args=[(M, 0), (M, 1), (M, -1)])
def row_of_matrix(m, i):
    row = m[i]
    return row[0] * row[1] + np.sum(row) + len(row)


@program(args=[(S, V)], argnums=(0, 1))
def quadratic_form_by_loops(s, v):
    total = 0.0
    for i in range(len(v)):
        for j in range(len(v)):
            total += v[i] * s[i, j] * v[j]
    return total


@program(args=[(S, V)], argnums=(0, 1))
def quadratic_form(s, v):
    return v @ s @ v


@program(args=[(A, B), (np.array([]), np.array([]))], argnums=(0, 1))
def dot_vectors(a, b):
    return np.dot(a, b) * 2.0 + a @ b


@program(args=[(M, V)], argnums=(0, 1))
def matrix_vector(m, v):
    y = m @ v
    return np.sum(y * y)


@program(args=[(np.array([1.0, -2.0]), M)], argnums=(0, 1))
def vector_matrix(v, m):
    return np.sum((v @ m) ** 2)


@program(args=[(M, S)], argnums=(0, 1))
def matrix_matrix(m, s):
    return np.sum(np.dot(m, s) * (m @ s))


@program(args=[(A,), (M,), (np.array([]),)])
def sum_of_squares(a):
    return np.sum(a * a)


@program(args=[(A,)])
def sum_builtin(a):
    return sum(a) * 2.0


@program(args=[(A, 0.5)], argnums=(0, 1))
def array_scalar_arithmetic(a, x):
    return np.sum((a + x) * (2.0 - a) / (x * x + 1.0) - x / (a * a + 1.0))


@program(args=[(A, B)], argnums=(0, 1))
def array_array_arithmetic(a, b):
    return np.sum((a - b) * (a + b) / (b * b + 1.0) + -a)


@program(args=[(np.array([0.5, 1.5, 2.0]),)])
def array_powers(a):
    return np.sum(a**2 + a**3.0 + a**-1 + 2.0**a + a**0.5)


@program(args=[(np.array([0.5, 1.5, 2.0]), np.array([2.0, 0.5, -1.0]))], argnums=(0, 1))
def array_power_array(a, b):
    return np.sum(a**b)


@program(args=[(M, V)], argnums=(0, 1))
def broadcast_row(m, v):
    return np.sum((m * v - v) ** 2)


@program(args=[(np.array([[1.0], [2.0]]), M)], argnums=(0, 1))
def broadcast_column(c, m):
    return np.sum(c * m * m + c)


@program(args=[(np.array([2.0]), A), (np.array([2.0]), np.array([3.0]))], argnums=(0, 1))
def broadcast_ones(a, b):
    return np.sum(a * b * b)


@program(args=[(A, 2.0)], argnums=(0, 1), orders=1)
def array_result(a, x):
    return a * a * x


@program(args=[(M, V)], argnums=(0, 1), orders=1)
def array_and_scalar_result(m, v):
    y = m @ v
    return y, np.sum(y), m * v


@program(args=[(A,)], orders=1)
def argument_returned(a):
    return a


@program(args=[(A, B)], argnums=(0, 1))
def loop_over_array_values(a, b):
    state = a
    for i in range(3):
        state = state * b + a * i
    return np.sum(state * state)


@program(args=[(S, V, 4), (S, V, 0)], argnums=(0, 1))
def power_iteration(s, v, n):
    for _ in range(n):
        w = s @ v
        v = w / np.sqrt(np.sum(w * w))
    return v @ (s @ v)


@program(args=[(A, 1.0), (A, 100.0)], argnums=(0, 1))
def array_until(a, limit):
    n = 0
    while np.sum(a * a) < limit and n < 20:
        a = a * 1.5
        n += 1
    return np.sum(a) * n


@program(args=[(np.array([1.5, -2.0], np.float32), np.array([0.5, 3.0], np.float32))], argnums=(0, 1))
def single_arrays(a, b):
    return np.sum(a * b + 2.0 * a * a)


@program(args=[(np.array([1.5, -2.0], np.float32), np.array([0.5, 3.0]))], argnums=(0, 1))
def single_and_double_arrays(a, b):
    return np.sum(a * b)


@program(args=[(np.array([1.5, -2.0], np.float32),)])
def single_elements(a):
    total = a[0] * a[1]
    for v in a:
        total += v * v * 0.5
    return total


@program(args=[(np.array([3, -1, 2]), A)], argnums=(1,))
def integer_array(n, a):
    return np.sum(n) + n[0] * a[0] + a[n[2]] * len(n)


@program(args=[(np.array([3, -1, 2]),)], argnums=())
def integer_array_arithmetic(n):
    return n * 2 + 1, n / 2, n // 2, n % 3, n**2, np.sum(n), np.dot(n, n)


@program(args=[(np.array([3, -1, 2], np.int32), np.array([1, 2, 3]))], argnums=())
def integer_widths(a, b):
    return a + b, a * a, np.sum(a), a[0] + b[0], a[0] * 2


@program(args=[(A[::2],), (A[::-1],), (M[:, 1],), (M.T,), (np.asfortranarray(S),)])
def strided_argument(a):
    total = 0.0
    for row in a:
        total += np.sum(row * row)
    return total + np.sum(a)


@program(args=[(A,)], orders=1)
def array_comparison(a):
    return a > 0.0, a <= 1.0, a * (a > 0.0)


@program(args=[(A, 0), (A, 1)])
def array_or_other(a, flag):
    b = a if flag else a * 2.0
    return np.sum(b * b) + b[0]


@program(args=[(A, A)], argnums=(0, 1))
def same_array_twice(a, b):
    return np.sum(a * b) + a[0] * b[0] * b[0]


@program(args=[(M,)])
def rows_pairwise(m):
    total = 0.0
    for i in range(len(m)):
        for j in range(len(m)):
            total += np.sum((m[i] - m[j] * 2.0) ** 2)
    return total


@program(args=[(M,)])
def enumerate_rows(m):
    total = 0.0
    for i, row in enumerate(m):
        for j, v in enumerate(row):
            total += v * v * (i + 1) / (j + 1)
    return total


@program(args=[(M, np.array([1.0, -2.0]))], argnums=(0, 1))
def zip_rows(m, weights):
    total = 0.0
    for row, w in zip(m, weights):
        total += w * np.sum(row) ** 2
    return total


@program(args=[(M,)])
def reversed_rows(m):
    total = 1.0
    for row in reversed(m):
        total = total * row[0] + row[-1]
    return total


@program(args=[((A, B),)])
def tuple_of_arrays(t):
    a, b = t
    total = np.sum(a * b)
    for array in t:
        total += array[0] * array[-1]
    return total


@program(args=[(A, M)], argnums=(0, 1))
def unused_elements(a, m):
    return a[1] * m[0, 2]


@program(args=[(A,)])
def loop_carried_element(a):
    best = a[0]
    for v in a:
        if v > best:
            best = v
    return best * best


@program(args=[(A,)])
def early_return_in_array(a):
    for i, v in enumerate(a):
        if v > 1.0:
            return v * v * i
    return 0.0


@program(args=[(A, 2.0)], argnums=(0, 1))
def augmented_array_name(a, x):
    b = a * x
    b = b + a
    c = b * b
    return np.sum(c) + np.sum(b)


@program(args=[(np.arange(8.0).reshape(2, 2, 2),)])
def three_axes(a):
    total = a[0, 1, 1] * a[1, 0, 1]
    for plane in a:
        total += plane[1, 0] * plane[0, 1]
    return total * a.ndim * a.shape[2]
