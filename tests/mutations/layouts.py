"""Where NumPy's memory order shows: reshapes, views or copies, of slices, of transposes and of what is made of them."""

import numpy as np

from mutations import mutation

A = np.array([0.5, -1.5, 2.0, 3.25])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])
S = np.array([[1.5, 0.2, -0.4, 0.8], [0.3, 2.0, 0.7, -1.1]])
F = np.asfortranarray(M)
Z = np.linspace(-1.0, 1.3, 12).reshape(2, 3, 2)
ROW = np.array([[0.3, -0.6, 0.9]])


@mutation(args=[(A,)], orders=3)
def result_of_elementwise_in_memory_order(a):
    m = a.reshape(2, 2)
    b = m.T * 2.0
    flat = b.ravel()
    flat[1] = 7.0
    return np.sum(b * m) + flat[2] * a[1]


@mutation(args=[(M,)])
def transposed_product_written_by_its_transpose(m):
    b = np.sin(m.T)
    flat = b.T.ravel()
    flat[1] = flat[0] * 3.0
    return np.sum(b * b) * b[0, 0]


@mutation(args=[(M,)])
def row_of_a_transposed_product(m):
    b = m.T * m.T
    row = b[0].ravel()
    row[1] = 5.0 * row[0]
    return np.sum(b) * row[1]


@mutation(args=[(M,)])
def transposes_with_an_array_in_rows(m):
    b = m.T + np.ones((3, 2))
    flat = b.ravel()
    flat[1] = flat[2] * flat[3]
    return np.sum(b * b)


@mutation(args=[(M, ROW)])
def transposes_with_broadcasts(m, row):
    b = m.T * row.T
    c = m.T - row[0, :2]
    flat, other = b.ravel(), c.ravel()
    flat[1] = flat[2] * 2.0
    other[2] = other[1] * other[0]
    return np.sum(b * c) + np.sum(flat * other)


@mutation(args=[(M,)])
def comparison_of_a_transpose(m):
    mask = m.T > 0.7
    flat = mask.ravel()
    flat[0] = not flat[0]
    return np.sum(np.where(mask, m.T, 0.5) * m.T)


@mutation(args=[(M,)])
def like_a_transpose(m):
    out = np.zeros_like(m.T)
    flat = out.ravel()
    flat[1] = m[0, 1]
    out += m.T
    back = out.T.ravel()
    back[2] *= m[1, 1]
    return np.sum(out * out) + np.sum(np.ones_like(m.T) * flat.reshape(3, 2))


@mutation(args=[(M,)])
def copies_of_a_transpose(m):
    kept, rows, cast = np.copy(m.T), m.T.copy(), m.T.astype(np.float32)
    first, second, third = kept.ravel(), rows.ravel(), cast.reshape(-1)
    first[1] = 3.0 * m[0, 0]
    second[1] = 4.0 * m[0, 0]
    third[1] = 5.0
    return np.sum(kept * m.T) + np.sum(rows * m.T) + second[1] * first[1]


@mutation(args=[(M,)])
def contiguous_or_copied(m):
    same, rows = np.ascontiguousarray(m), np.ascontiguousarray(m.T)
    same[0, 1] = m[1, 1] * 2.0
    rows[1, 0] *= m[0, 1]
    flat = rows.ravel()
    flat[0] = m[0, 2]
    return np.sum(m * m) + np.sum(rows * m.T)


@mutation(args=[(A,)], orders=3)
def ravel_of_a_slice_with_a_step(a):
    v = a[::2].ravel()
    v[0] = v[1] * a[0]
    w = a[1:3].ravel()
    w[0] = w[1] * a[0]
    return np.sum(a * a) * v[0]


@mutation(args=[(A,)])
def ravel_backwards(a):
    v = a[::-1]
    w = v.ravel()
    w[0] = v[1] * v[2]
    return np.sum(a * v) + w[0] * w[3]


@mutation(args=[(A,)], orders=3)
def reshape_of_a_slice_with_a_step(a):
    v = a[::-1].reshape(2, 2)
    v[0, 1] = v[1, 0] * v[1, 1]
    v[1] *= v[0]
    return np.sum(a * a) * v[0, 0]


@mutation(args=[(S, 0), (S, 1), (S, 2)])
def slice_that_may_be_everything(m, n):
    whole = m[:, : 2 + n]
    flat = whole.ravel()
    flat[1] = flat[0] * flat[2]
    return np.sum(m * m) + flat[1]


@mutation(args=[(S, 1), (S, 2)])
def step_that_may_be_one(m, k):
    flat = m[0, ::k].ravel()
    flat[1] = flat[0] * m[1, 0]
    return np.sum(m * m) * flat[1]


@mutation(args=[(S,)])
def columns_split(m):
    v = m[:, 1:].reshape(2, 3, 1)
    v[1, 2, 0] = v[0, 0, 0] * v[1, 1, 0]
    w = m[:, ::2].reshape(4)
    w[0] = v[1, 2, 0]
    return np.sum(m * m) * w[0] * w[3]


@mutation(args=[(M,)])
def transpose_raveled_then_both_written(m):
    flat = m.T.ravel()
    for i in range(len(flat) - 1):
        flat[i + 1] += flat[i] * m[0, 0]
        m[0, 0] *= 0.5
    return np.sum(flat * flat) + np.sum(m * m)


@mutation(args=[(M,)])
def raveled_again_in_each_trip(m):
    total = 0.0
    for k in range(3):
        flat = m.T.ravel()
        total += flat[k] * flat[k + 1]
        m[0, k] *= flat[5]
    return total


@mutation(args=[(M,)])
def raveled_once_written_in_trips(m):
    flat = m.T.reshape(-1)
    total = 0.0
    for k in range(3):
        m[1, k] = total * m[0, k] + flat[k]
        total += flat[2 * k] * m[1, k]
    return total


@mutation(args=[(M, True), (M, False)])
def transpose_or_not(m, p):
    v = m.T if p else m.reshape(3, 2)
    flat = v.ravel()
    flat[1] = flat[0] * flat[2]
    return np.sum(m * m) + flat[1] * v[0, 1]


@mutation(args=[(M, 1), (M, 2)])
def transpose_of_few_rows(m, n):
    flat = m[:n].T.ravel()
    flat[1] = flat[0] * m[0, 0]
    return np.sum(m * m) * flat[1]


@mutation(args=[(Z,)])
def transpose_of_three_axes(z):
    flat = z.transpose(2, 0, 1).ravel()
    flat[1] = flat[2] * 3.0
    joined = z.reshape(6, 2)[:, 0].reshape(2, 3)
    joined[1] *= joined[0]
    return np.sum(z * z) + np.sum(flat * flat)


def flattened(v, x):
    flat = v.ravel()
    flat[0] = flat[1] * x
    return flat


@mutation(args=[(M,)])
def ravel_in_a_callee(m):
    one, other = flattened(m, m[1, 1]), flattened(m.T, 2.0)
    m[0, 1] = one[0] * other[0]
    return np.sum(one * one) + np.sum(other * other) * other[2]


@mutation(args=[(M,)])
def index_arrays_lay_out_as_numpy_does(m):
    picked = m[:, np.array([2, 0])]
    flat = picked.ravel()
    flat[1] = flat[0] * flat[3]
    chosen = m[np.array([1, 0])]
    rows = chosen.ravel()
    rows[1] = rows[0] * rows[2]
    return np.sum(picked * picked) + np.sum(chosen * m) + flat[1]


@mutation(args=[(M,)], argnums=())
def results_in_memory_order(m):
    b = m.T * 2.0
    return b, b.ravel(), m.T.ravel(), m.reshape(-1), m[:, :2].reshape(2, 2, 1)


@mutation(args=[(F,), (F[::-1],), (M[:, ::2],), (M[:, 1:],), (M[:1].T,)], argnums=())
def arguments_in_other_orders(m):
    flat, back = m.ravel(), m.T.ravel()
    flat[0] = 7.0
    back[1] += 1.0
    again = m.T.reshape(1, len(back), 1)
    again[0, 2, 0] = 11.0
    rows = np.ascontiguousarray(m * 2.0)
    rows.ravel()[1] = np.sum(rows.reshape(-1))
    flat[1] = rows[-1, 0] + rows[0, -1]
    return np.sum(m), np.sum(flat), np.sum(back), m.copy().ravel()
