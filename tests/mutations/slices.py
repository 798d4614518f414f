"""Writing slices: of every step, onto themselves, in loops, with sources of another shape, dtype and order."""

import numpy as np

from mutations import mutation

A = np.array([0.5, -1.5, 2.0, 3.25, -0.75])
B = np.array([2.0, 0.25, -1.0, 0.75, 1.5])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0], [1.5, 0.75, -2.0]])
V = np.array([0.3, -0.6, 0.9])
S = np.array([1.5, -2.0, 0.5, 0.25], np.float32)


@mutation(args=[(A,)], orders=3)
def constant_into_slice(a):
    a[1:3] = 2.0
    return np.sum(a * a * a)


@mutation(args=[(A, 0.7)], argnums=(0, 1), orders=3)
def scalar_into_slice(a, x):
    a[1:4] = x * x
    return np.sum(a * a) * a[0]


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def array_into_slice(a, b):
    a[1:4] = b[:3] * b[2:]
    return np.sum(a * a * b)


@mutation(args=[(A,), (np.array([2.0]),), (np.array([]),)], orders=3)
def shifted_onto_itself(a):
    a[1:] = 2.0 * a[:-1]
    return np.sum(a * a)


@mutation(args=[(A,)])
def shifted_without_arithmetic(a):
    a[1:] = a[:-1]
    a[:-2] = a[2:]
    return np.sum(a * a * a) + a[0] * a[-1]


@mutation(args=[(A,), (np.array([1.0, 2.0]),), (np.array([]),)], orders=3)
def reversed_onto_itself(a):
    a[:] = a[::-1] * a
    return np.sum(a * a)


@mutation(args=[(A,)])
def reversed_plainly(a):
    a[:] = a[::-1]
    a[::-1] = a * a[0]
    return a[0] * a[0] * a[1] + np.sum(a)


@mutation(args=[(A,)])
def negative_step_written(a):
    a[::-2] = a[:3] * 2.0
    a[3:0:-1] = a[0:3] * a[1:4]
    return np.sum(a * a)


@mutation(args=[(A,)], orders=3)
def every_other(a):
    a[::2] = a[::2] * a[::2]
    a[1::2] += a[:-1:2]
    return np.sum(a * a)


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def augmented_slices(a, b):
    a[1:3] += b[1:3] * a[0]
    a[2:] *= b[:3]
    a[:2] -= a[3:]
    a[::2] /= b[::2]
    a[1:] **= 2
    return np.sum(a) * a[1]


@mutation(args=[(A,)], orders=3)
def augmented_by_an_overlap(a):
    a[1:] += a[:-1]
    a[:-1] *= a[1:]
    return np.sum(a * a)


@mutation(args=[(A,)])
def augmented_by_its_reverse(a):
    a += a[::-1]
    a *= a[::-1]
    return np.sum(a * a)


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def whole_array_augmented(a, b):
    a += b * b
    a *= a
    a -= 2.0
    a /= b
    return np.sum(a * a)


@mutation(args=[(A, 4), (A, 0)])
def augmented_in_loop(a, n):
    for i in range(n):
        a *= 1.0 + 0.1 * i
        a += np.sin(a)
    return np.sum(a * a)


@mutation(args=[(A, 3)], orders=3)
def heat_in_place(u, n):
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.2 * (u[:-2] - 2.0 * u[1:-1] + u[2:]) * u[1:-1]
    return np.sum(u * u)


@mutation(args=[(A, 4), (A, 1)])
def heat_with_two_buffers(u, n):
    v = u.copy()
    for _ in range(n):
        v[1:-1] = u[1:-1] + 0.25 * (u[:-2] - 2.0 * u[1:-1] + u[2:])
        u, v = v, u
    return np.sum(u * u * u)


@mutation(args=[(M,)], orders=3)
def row_written(m):
    m[0] = m[1] * m[2]
    m[2, :] += m[0]
    m[-1, 1:] = m[0, :2] * m[1, 0]
    return np.sum(m * m)


@mutation(args=[(M, V)], argnums=(0, 1), orders=3)
def column_written(m, v):
    m[:, 0] = v * v
    m[:, -1] *= m[:, 0]
    m[:2, 1] = m[1:, 2]
    return np.sum(m * m)


@mutation(args=[(M, V)], argnums=(0, 1))
def rows_and_columns_in_loop(m, v):
    for i in range(3):
        m[i] *= v[i]
        m[:, i] += v
        m[i, i:] -= m[0, i:] * 0.5
    return np.sum(m * m)


@mutation(args=[(M,)])
def block_written(m):
    m[1:, 1:] = m[:2, :2]
    m[:2, :2] *= m[1:, 1:]
    m[::2, ::2] = m[::2, ::-2] * 2.0
    return np.sum(m * m)


@mutation(args=[(M, V)], argnums=(0, 1), orders=3)
def row_broadcast_into_matrix(m, v):
    m[:] = v * m[0, 0]
    m[1:] += v[:2].reshape(2, 1)
    return np.sum(m * m)


@mutation(args=[(M, 1.5)], argnums=(0, 1))
def ellipsis_and_new_axis(m, x):
    m[..., 0] = x
    m[1, ...] = m[0, ...] * x
    m[...] = m[None, 0] * m[:, 0, None]
    return np.sum(m * m)


@mutation(args=[(np.arange(12.0).reshape(2, 2, 3) * 0.25, V)], argnums=(0, 1))
def rank_three_slices(c, v):
    c[0, :, :] = c[1] * v
    c[:, 1] += v
    c[..., ::2] *= 0.5
    c[1, :, 0] = c[0, 0, :2]
    return np.sum(c * c)


@mutation(
    args=[(M, np.array([[2.0], [0.5], [-1.0]])), (M, np.array([[2.0, 0.5, -1.0]])), (M, np.array([[1.5]]))],
    argnums=(0, 1),
)
def size_one_axes(m, c):
    m += c
    m *= c * c
    return np.sum(m * m)


@mutation(args=[(A, np.array([3.0])), (A, B)], argnums=(0, 1))
def size_one_source(a, b):
    a[:] = b * a
    a[1:] += b[:1]
    return np.sum(a * a)


@mutation(args=[(A, 0, 3), (A, 2, 2), (A, -3, -1), (A, -9, 9), (A, 4, 1)])
def bounds_at_run_time(a, i, j):
    a[i:j] = a[i:j] * a[0] + 1.0
    return np.sum(a * a)


@mutation(args=[(A, 4, 0, -2), (A, 0, 5, 2), (A, -1, -6, -1), (A, 1, 4, 3)])
def step_at_run_time(a, i, j, k):
    a[i:j:k] = a[i:j:k] * a[i:j:k]
    a[::k] += 1.0
    return np.sum(a * a)


@mutation(args=[(A, 2), (A, 1), (A, 5), (A, 0)])
def window_moves(a, width):
    total = 0.0
    for i in range(len(a) - width + 1):
        a[i : i + width] *= 0.5
        total += np.sum(a[i : i + width] ** 2)
    return total


@mutation(args=[(S, np.array([0.25, 0.5, -1.0, 2.0], np.float32))], argnums=(0, 1))
def single_precision_slices(a, b):
    a[1:] = a[:-1] * b[1:]
    a *= 2.0
    a[::2] += b[::2]
    return np.sum(a * a)


@mutation(args=[(S, B)], argnums=(0, 1))
def double_into_single(s, b):
    s[:] = b[1:] * 0.3
    s[1:] += b[1:4]
    return np.sum(s * s)


@mutation(args=[(B, S)], argnums=(0, 1))
def single_into_double(b, s):
    b[:4] = s * s
    b[1:] *= s
    return np.sum(b * b)


@mutation(args=[(np.array([5, 2, 7, 1]), B)], argnums=(1,))
def integer_slices(n, b):
    n[1:] = n[:-1] + 1
    n[::2] *= 2
    n //= 3
    total = 0.0
    for k in n:
        total += b[k % 5] ** 2 * k
    return total


@mutation(args=[(B, np.array([1, 2, 3]))])
def integers_into_floats(b, n):
    b[1:4] = n
    b[:3] += n * 2
    return np.sum(b * b)


@mutation(args=[(np.zeros(4, np.int64), B)], argnums=(), orders=0)
def floats_into_integers(n, b):
    n[:] = b[:4] * 3.0
    n[1:3] = 7.9
    return n


@mutation(args=[(A,), (np.array([]),), (np.array([1.0]),)])
def empty_slices(a):
    a[3:1] = 5.0
    a[len(a) :] = a[:0]
    a[:0] += 2.0
    return np.sum(a * a)


@mutation(args=[(np.zeros((0, 3)), V), (np.ones((2, 3)), V)], argnums=(0, 1))
def no_rows(m, v):
    m[:] = v * 2.0
    m += v
    for row in m:
        row *= v
    return np.sum(m * m) + np.sum(v * v)


@mutation(args=[(A[::2],), (A[::-1],), (M[:, 1],), (M.T[0],)])
def strided_argument(a):
    a[1:] = a[:-1] * a[0]
    a[0] = a[-1] ** 2
    a *= 1.5
    return np.sum(a * a)


@mutation(args=[(M.T,), (M[::-1, ::2],), (np.asfortranarray(M),), (M[1:, :2],)])
def strided_matrix_argument(m):
    m[0] = m[1] * 2.0
    m[:, 1] += m[:, 0] * m[0, 0]
    m[-1, 0] = 0.5
    return np.sum(m * m)


@mutation(args=[(A,)])
def overwritten_then_read_by_slices(a):
    y = a[1:4] * a[:3]
    a[1:4] = y
    z = np.sum(np.exp(a * 0.1))
    a[:] = 0.0
    a[2:] = z
    return np.sum(a * y[0])


@mutation(args=[(A,)])
def dead_slice(a):
    y = np.sum(a * a)
    a[:] = a * 3.0
    a[:] = 1.0
    return y


@mutation(args=[(M,)], orders=3)
def gauss_elimination_by_rows(m):
    for k in range(2):
        for i in range(k + 1, 3):
            m[i] -= m[i, k] / m[k, k] * m[k]
    return m[0, 0] * m[1, 1] * m[2, 2]


@mutation(args=[(M,)])
def normalised_columns(m):
    for j in range(3):
        m[:, j] /= np.sqrt(np.sum(m[:, j] * m[:, j]))
        for k in range(j + 1, 3):
            m[:, k] -= np.sum(m[:, j] * m[:, k]) * m[:, j]
    return m[0, 0] * m[1, 1] + m[0, 1] * m[2, 0]


@mutation(args=[(M, V)], argnums=(0, 1))
def matrix_product_into_slice(m, v):
    y = np.zeros(6)
    y[:3] = m @ v
    y[3:] = y[:3] @ m
    m[:] = np.outer(y[:3], v)
    return np.sum(y * y) + np.sum(m)


@mutation(args=[(A, B)], argnums=(0, 1))
def function_of_both_sides(a, b):
    a[1:4] = np.where(a[1:4] > 0.0, a[:3] * b[1:4], b[:3])
    a[:2] = np.maximum(a[:2], b[:2])
    a[3:] = np.minimum(b[3:] * 3.0, a[3:])
    return np.sum(a * a)


@mutation(args=[(A, B)], argnums=(0, 1), orders=1)
def slices_returned(a, b):
    a[1:] = b[1:] * a[:-1]
    return a[::2], b, a[1:3] * 2.0


@mutation(args=[(A, B)], argnums=(0, 1))
def list_and_tuple_sources(a, b):
    a[:2] = (b[0], a[3] * b[1])
    a[2:5] = [a[0] * a[1], 2.0, b[4]]
    return np.sum(a * a)
