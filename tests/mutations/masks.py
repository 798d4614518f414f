"""Boolean masks and integer arrays as indices, read and assigned, with repeats, in loops and on views."""

import numpy as np

from mutations import mutation

A = np.array([0.5, -1.5, 2.0, 3.25, -0.75])
B = np.array([2.0, 0.25, -1.0, 0.75, 1.5])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])
I = np.array([3, 0, 2])
R = np.array([1, 3, 1])
S = np.array([1.5, -2.0, 0.5, 0.25], np.float32)


@mutation(args=[(A,)], orders=3)
def negatives_cleared(a):
    a[a < 0.0] = 0.0
    return np.sum(a * a * a)


@mutation(args=[(A, 0.4)], argnums=(0, 1), orders=3)
def scalar_into_mask(a, x):
    a[a > 1.0] = x * x
    return np.sum(a * a) * x


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def masked_copy(a, b):
    mask = b > 0.5
    a[mask] = b[mask] * b[mask]
    return np.sum(a * a * b)


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def masked_augmented(a, b):
    a[a > 0.0] *= 2.0
    a[b < 1.0] += b[b < 1.0]
    a[a < b] -= 0.5
    return np.sum(a * a)


@mutation(args=[(A,)])
def mask_kept_while_the_array_changes(a):
    mask = a > 0.0
    a[:] = -a
    a[mask] = a[mask] ** 2
    return np.sum(a * a * mask)


@mutation(args=[(A,), (-A,), (np.array([]),)])
def mask_without_or_with_everything(a):
    a[a > 100.0] = 5.0
    a[a > -100.0] *= 3.0
    return np.sum(a * a)


@mutation(args=[(A,)])
def selected_by_mask(a):
    chosen = a[a > 0.0]
    chosen[0] = chosen[1] * 2.0
    a[0] = 7.0
    return np.sum(chosen * chosen) + np.sum(a)


@mutation(args=[(A, np.array([True, False, True, True, False]))])
def mask_argument(a, mask):
    a[mask] = a[mask] * a[mask]
    mask[0] = False
    a[mask] += 1.0
    a[~mask] *= 0.5
    return np.sum(a * a)


@mutation(args=[(A,)])
def masks_combined(a):
    a[(a > 0.0) & (a < 3.0)] = 1.5
    a[(a < -1.0) | (a > 3.0)] *= a[0]
    return np.sum(a * a)


@mutation(args=[(M,)], orders=3)
def mask_over_a_matrix(m):
    m[m > 1.5] = m[0, 0] * 0.5
    m[m < 0.0] *= m[m < 0.0]
    return np.sum(m * m)


@mutation(args=[(M,)])
def mask_over_rows(m):
    keep = np.sum(m, axis=1) > 3.0
    m[keep] *= 2.0
    m[~keep] = m[keep] * m[0, 0]
    return np.sum(m * m)


@mutation(args=[(M,)])
def mask_over_a_column(m):
    m[:, 1][m[:, 0] > 0.7] = 3.0
    m[m[:, 1] > 0.0, 2] = m[0, 0] * m[0, 0]
    return np.sum(m * m)


@mutation(args=[(A,)])
def mask_on_a_view(a):
    v = a[::-2]
    v[v > 0.0] = v[0] * v[2]
    return np.sum(a * a)


@mutation(args=[(A, 3), (A, 0)])
def mask_in_loop(a, n):
    for i in range(n):
        a[a > i + 0.3] *= 0.5
        a[i] = np.sum(a[a > 0.0])
    return np.sum(a * a)


@mutation(args=[(A, I)], orders=3)
def gathered(a, index):
    b = a[index]
    b[0] = b[1] * b[2]
    return np.sum(b * b) * a[0]


@mutation(args=[(A, R)], orders=3)
def gathered_with_repeats(a, index):
    b = a[index] * a[index[0]]
    a[index[1]] = b[0]
    return np.sum(b * b) + np.sum(a * a)


@mutation(args=[(A, B, I)], argnums=(0, 1), orders=3)
def scattered(a, b, index):
    a[index] = b[:3] * b[2:]
    return np.sum(a * a)


@mutation(args=[(A, B, R)], argnums=(0, 1), orders=3)
def scattered_with_repeats(a, b, index):
    a[index] = b[:3] * b[:3]
    return np.sum(a * a) * a[1]


@mutation(args=[(A, B, R)], argnums=(0, 1))
def augmented_with_repeats(a, b, index):
    a[index] += b[:3]
    a[index] *= 2.0
    return np.sum(a * a)


@mutation(args=[(A, 0.3, R)], argnums=(0, 1))
def scalar_scattered(a, x, index):
    a[index] = x * a[0]
    a[index] -= x
    return np.sum(a * a)


@mutation(args=[(A, np.array([-1, 0, -4]))])
def negative_indices_in_an_array(a, index):
    a[index] = a[index] * 2.0
    a[-index] += 1.0
    return np.sum(a[index] * a[index])


@mutation(args=[(A, np.array([4, 3, 2, 1, 0]))])
def permuted_onto_itself(a, order):
    a[order] = a * a[0]
    a[:] = a[order] * a
    return np.sum(a * a)


@mutation(args=[(A, np.array([2, 2, 0])), (A, np.array([], np.int64))])
def indices_changed_after_use(a, index):
    b = a[index]
    index[:] = 1
    a[index] = b
    index += 1
    return np.sum(a[index] * b) + np.sum(a * a)


@mutation(args=[(M, np.array([1, 0, 1]))])
def rows_gathered(m, index):
    g = m[index]
    g[0] *= g[1]
    m[index[0]] = g[0] + g[2]
    return np.sum(g * g) + np.sum(m * m)


@mutation(args=[(M, np.array([1, 0]))])
def rows_scattered(m, index):
    m[index] = m * m[0]
    m[index, 1] *= 2.0
    m[:, index] += 1.0
    return np.sum(m * m)


@mutation(args=[(M, np.array([0, 1, 1]), np.array([2, 0, 0]))], orders=3)
def pairs_of_indices(m, i, j):
    v = m[i, j]
    m[i, j] = v * v
    m[j // 2, i] += v[0]
    return np.sum(m * m) + np.sum(v)


@mutation(args=[(M, np.array([[0, 1], [1, 0]]))])
def matrix_of_indices(m, index):
    t = m[index]
    v = m[0][index]
    v *= v
    m[0][index[0]] = v[1]
    return np.sum(t * t) + np.sum(m * m) + np.sum(v)


@mutation(args=[(A,)])
def literal_lists_of_indices(a):
    a[[0, 2]] = a[[1, 3]] * 2.0
    a[[1, 1]] = a[[0, 4]]
    return np.sum(a * a)


@mutation(args=[(A,)])
def indices_made_here(a):
    index = np.arange(0, 5, 2)
    a[index] = a[index - 1] * 0.5
    index[1] = 0
    return np.sum(a[index] * a[index])


@mutation(args=[(A,)])
def indices_in_loop(a):
    index = np.zeros(3, dtype=np.int64)
    total = 0.0
    for k in range(3):
        index[k] = k + 1
        b = a[index]
        a[index] = b * 0.5
        total += np.sum(b * b)
    return total * a[0]


@mutation(args=[(S, np.array([0, 2, 2], np.int32))])
def single_precision_and_narrow_indices(a, index):
    a[index] = a[index] * a[1]
    a[a > 0] += a[0]
    return np.sum(a * a)


@mutation(args=[(A,)])
def best_element_marked(a):
    best = np.argmax(a)
    worst = np.argmin(a)
    a[best], a[worst] = a[worst] * a[0], a[best] * a[best]
    return np.sum(a * a)


@mutation(args=[(A, B)], argnums=(0, 1))
def where_then_masked(a, b):
    c = np.where(a > 0.0, a, b)
    c[c > 1.0] = 1.0
    a[c == 1.0] = b[c == 1.0]
    return np.sum(a * c * b)


@mutation(args=[(np.array([4.0, 0.0, 9.0, -1.0]),)], kink=True)
def guarded_by_a_mask(a):
    out = np.zeros(4)
    good = a > 0.0
    out[good] = np.sqrt(a[good])
    out[good] /= a[good]
    return np.sum(out * out * out)


@mutation(args=[(A, np.array([0, 1, 0, 2, 1]))])
def grouped_sums(a, group):
    total = 0.0
    for k in range(3):
        part = a[group == k]
        part *= part
        total += np.sum(part) ** 2
        a[group == k] = total
    return np.sum(a)
