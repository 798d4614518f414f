"""Several names for one memory: slices, rows, transposes, reshapes and diagonals kept in variables and written."""

import numpy as np

from mutations import mutation

A = np.array([0.5, -1.5, 2.0, 3.25])
B = np.array([2.0, 0.25, -1.0, 0.75])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])
Q = np.array([[1.5, 0.2, -0.4], [0.3, 2.0, 0.7], [-0.6, 0.1, 1.2]])
V = np.array([0.3, -0.6, 0.9])


@mutation(args=[(A,)], orders=3)
def slice_kept_then_written(y):
    v = y[1:]
    v[0] = y[0] * v[1]
    return np.sum(y * y) * y[1]


@mutation(args=[(A,)], orders=3)
def base_written_view_read(a):
    v = a[::2]
    a[2] = a[0] * a[1]
    a[0] = v[1] * 3.0
    return v[0] * v[1] + np.sum(v)


@mutation(args=[(A,)], orders=3)
def reverse_view_written(a):
    r = a[::-1]
    r[0] = r[1] * r[2]
    r[1:] *= r[:-1]
    return np.sum(a * a)


@mutation(args=[(A,)])
def two_overlapping_views(a):
    left = a[:3]
    right = a[1:]
    left[1] = right[2] * left[0]
    right[0] += left[1]
    left *= right
    right -= left
    return np.sum(a * a)


@mutation(args=[(A,)])
def view_of_view_of_view(a):
    v = a[1:]
    w = v[::-1]
    z = w[:2]
    z[1] = z[0] * a[0]
    w[2] = z[1] * z[1]
    return np.sum(a * a) + v[1]


@mutation(args=[(M,)], orders=3)
def row_kept_then_written(m):
    row = m[0]
    row[1] = row[0] * m[1, 2]
    row *= row
    m[1] += row
    return np.sum(m * m)


@mutation(args=[(M,)])
def column_kept_then_written(m):
    column = m[:, 1]
    column[0] = m[1, 1] * m[0, 2]
    column += m[:, 0]
    return np.sum(m * m) + column[0] * column[1]


@mutation(args=[(M,)])
def rows_written_in_iteration(m):
    for row in m:
        row[0] = row[1] * row[2]
        row[1:] += row[:-1]
    return np.sum(m * m)


@mutation(args=[(M, V)], argnums=(0, 1))
def rows_written_by_enumerate_and_zip(m, v):
    for i, row in enumerate(m):
        row *= v[i]
    for row, x in zip(m, v):
        row[1] = x * row[0]
    for row in reversed(m):
        row[2] += row[0]
    return np.sum(m * m)


@mutation(args=[(Q, 2), (Q, 0)])
def row_chosen_at_run_time(q, i):
    row = q[i]
    other = q[(i + 1) % 3]
    row[:] = other * row
    other[i] = row[0] * 2.0
    return np.sum(q * q)


@mutation(args=[(M,)], orders=3)
def transpose_written(m):
    t = m.T
    t[2, 0] = t[0, 1] * t[1, 1]
    t[1] *= t[0]
    return np.sum(m * m)


@mutation(args=[(Q,)])
def transpose_added_in_place(q):
    q += q.T
    q.T[0] *= 2.0
    return np.sum(q * q)


@mutation(args=[(Q,)])
def symmetrised_by_elements(q):
    t = q.T
    for i in range(3):
        for j in range(i):
            q[i, j] = 0.5 * (q[i, j] + t[i, j])
            t[i, j] = q[i, j]
    return np.sum(q * q * q)


@mutation(args=[(A,)], orders=3)
def reshape_written(a):
    m = a.reshape(2, 2)
    m[0, 1] = m[1, 0] * m[1, 1]
    m[1] += m[0]
    return np.sum(a * a)


@mutation(args=[(M,)], orders=3)
def ravel_written(m):
    flat = m.ravel()
    flat[4] = flat[0] * flat[2]
    flat[1:] *= flat[:-1]
    return np.sum(m * m)


@mutation(args=[(M,)])
def ravel_of_a_transpose_is_a_copy(m):
    flat = m.T.ravel()
    flat[0] = flat[1] * 10.0
    m[0, 1] = flat[0] + flat[2]
    return np.sum(m * m) + np.sum(flat)


@mutation(args=[(M,)])
def reshape_of_a_slice_is_a_copy(m):
    block = m[:, :2]
    flat = block.reshape(-1)
    flat *= flat
    block[0, 0] = flat[3]
    return np.sum(m * m) + np.sum(flat * flat)


@mutation(args=[(M,)])
def flatten_and_copy_do_not_share(m):
    f = m.flatten()
    c = m.copy()
    n = np.copy(m)
    p = np.array(m)
    f[0] = 5.0
    c[0, 1] = m[0, 0]
    n[1] *= 2.0
    p[:] = 1.0
    m[0, 2] = c[0, 1] * n[1, 0]
    return np.sum(m * m) + np.sum(f) + np.sum(c * n * p)


@mutation(args=[(M,)])
def asarray_shares(m):
    s = np.asarray(m)
    s[0, 0] = s[1, 1] * s[0, 1]
    return np.sum(m * m)


@mutation(args=[(Q,)])
def diagonal_read_after_writes(q):
    d = q.diagonal()
    before = d[0] * d[1]
    q[0, 0] = q[1, 2] * 3.0
    q[2] *= 2.0
    return before + d[0] * d[2] + np.sum(d * d)


@mutation(args=[(Q,)])
def diagonal_by_stride(q):
    flat = q.reshape(9)
    d = flat[::4]
    d *= d
    d[1] += q[0, 1]
    return np.sum(q * q)


@mutation(args=[(Q,)])
def numpy_named_views(q):
    t = np.transpose(q)
    f = np.ravel(q)
    r = np.reshape(q, (1, 9))
    t[0, 1] = f[0] * f[1]
    r[0, 4:6] *= 2.0
    f[8] = t[1, 2] + np.diagonal(q)[1]
    return np.sum(q * q)


@mutation(args=[(np.arange(12.0).reshape(2, 3, 2) * 0.3,)])
def rank_three_views(c):
    t = c.transpose(2, 0, 1)
    t[0] *= t[1]
    plane = c[1]
    plane[0] = t[0, 0, :2]
    c.reshape(6, 2)[4] += 1.0
    return np.sum(c * c)


@mutation(args=[(A, 1), (A, -2)])
def alias_chosen_at_run_time(a, p):
    b = a.copy()
    c = a if p > 0 else b
    c[0] = c[1] * c[2]
    c *= 2.0
    return np.sum(a * a) + np.sum(a * b)


@mutation(args=[(A, B, 1), (A, B, 0)], argnums=(0, 1), orders=3)
def alias_of_one_argument(a, b, p):
    c = a if p else b
    c[1] = a[0] * b[0]
    c[2:] *= c[1]
    return np.sum(a * b)


@mutation(args=[(A, 3), (A, 4), (A, 0)])
def buffers_exchanged_by_name(x, n):
    a = x.copy()
    b = np.zeros(4)
    for i in range(n):
        for j in range(4):
            b[j] = a[j - 1] * 0.5 + a[j] * a[j]
        a, b = b, a
    return np.sum(a * x) + np.sum(b * b)


@mutation(args=[(A, 3), (A, 2)])
def active_through_exchange(x, n):
    a = np.ones(2)
    b = np.zeros(2)
    for i in range(n):
        b[0] = a[0] + 1.0 if i < 2 else a[0] * x[0]
        b[1] = a[1] * x[1]
        a, b = b, a
    return a[0] * a[1] * b[1]


@mutation(args=[(A,)])
def three_names_rotate(x):
    a = x.copy()
    b = x * 2.0
    c = np.ones(4)
    for i in range(4):
        c[i] = a[i] * b[i]
        a, b, c = b, c, a
    return np.sum(a * a) + np.sum(b * c)


@mutation(args=[(A,)])
def renamed_then_rebound(a):
    b = a
    b[0] = b[1] * 2.0
    a = a * a
    b[1] = a[0] * 3.0
    a += b
    return np.sum(a * b)


@mutation(args=[(A,)])
def augmented_name_against_rebinding(a):
    b = a
    b += 1.0
    c = a
    c = c + a[0]
    c *= 2.0
    return np.sum(a * c) + np.sum(b)


@mutation(args=[(A,)])
def view_taken_inside_a_loop(a):
    v = a
    for i in range(3):
        v = v[:-1] if i else a[1:]
        v[0] = v[0] * a[i]
        v += 0.5
    return np.sum(a * a) + np.sum(v)


@mutation(args=[(A, 2), (A, 0)])
def view_carried_by_a_loop(a, n):
    v = a[:2]
    for i in range(n):
        v[0] *= v[1]
        v = a[i : i + 2]
        v[1] += a[0]
    return np.sum(a * a) + v[0]


@mutation(args=[(A, 3), (A, 0)])
def view_defined_in_one_branch(a, n):
    v = a
    if n > 1:
        v = a[1:3]
        v[0] = v[1] ** 2
    v[0] = v[0] * 2.0
    return np.sum(a * a)


@mutation(args=[(A, B)], argnums=(0, 1))
def views_in_a_tuple(a, b):
    pair = (a[1:], b[::-1])
    pair[0][0] = pair[1][0] * b[1]
    left, right = pair
    right[1] *= left[2]
    left += right[1:]
    return np.sum(a * b)


@mutation(args=[(A, B, 0), (A, B, 1)], argnums=(0, 1))
def buffers_indexed_at_run_time(a, b, i):
    buffers = (a, b)
    buffers[i][0] = buffers[1 - i][1] * a[2]
    buffers[i][1:] *= 2.0
    total = 0.0
    for buffer in buffers:
        buffer[3] = buffer[0] * buffer[0]
        total += np.sum(buffer)
    return total * a[0]


@mutation(args=[(M,)])
def views_in_a_dict(m):
    parts = {"first": m[0], "rest": m[1:]}
    parts["first"][1] = parts["rest"][0, 2] * 2.0
    parts["rest"] *= parts["first"]
    half = parts["first"] * 0.5
    half[0] = 9.0
    return np.sum(m * m) + np.sum(half)


@mutation(args=[(M,)], orders=1)
def views_returned(m):
    row = m[0]
    row *= 2.0
    m[1, 0] = row[2] * row[0]
    return row, m.T, m[:, ::-1], m.reshape(6)


@mutation(args=[(A,)])
def expanded_view_written(a):
    column = a[:, None]
    column[2, 0] = a[0] * a[1]
    column[:2] *= column[2:]
    row = a[None]
    row[0, 3] += a[2]
    return np.sum(a * a)


@mutation(args=[(M,)])
def broadcast_view_sees_writes(m):
    row = m[0]
    outer = row[:, None] * row
    row[0] = outer[1, 2]
    again = row[:, None] * row
    return np.sum(outer * again)


@mutation(args=[(A,)])
def self_product_of_views(a):
    a[1:3] = a[:2] @ a[2:]
    a[0] = np.dot(a, a[::-1])
    return np.sum(a * a)


@mutation(args=[(Q, V)], argnums=(0, 1))
def matrix_times_its_own_row(q, v):
    q[1] = q @ q[1]
    v[:] = v @ q
    q[:, 0] = q.T @ v
    return np.sum(q * q) + v[0]


@mutation(args=[(A, 2.0)], argnums=(0, 1))
def copy_then_both_written(a, x):
    b = a.copy()
    b[0] = x * a[1]
    a[0] = b[0] * x
    b[1:] += a[:-1]
    return np.sum(a * b)


@mutation(args=[(A,)])
def copies_in_a_loop(a):
    total = 0.0
    for i in range(3):
        b = a.copy()
        b[i] = b[i] * b[i + 1]
        b *= a
        a[i] += b[i] * 0.1
        total += np.sum(b)
    return total


@mutation(args=[(np.arange(1.0, 6.0), 3), (np.arange(1.0, 6.0), 7)], orders=3)
def ring_buffer(a, n):
    ring = np.ones(3)
    position = 0
    total = 0.0
    for i in range(n):
        ring[position] = ring[position] * a[i % 5] + ring[(position + 1) % 3] * 0.5
        total += ring[position]
        position = (position + 1) % 3
    return total * ring[0]
