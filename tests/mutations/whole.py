"""Whole arrays: created, broadcast, reduced along axes, selected, joined and multiplied between writes."""

import numpy as np

from mutations import mutation

A = np.array([0.5, -1.5, 2.0, 3.25])
B = np.array([2.0, 0.25, -1.0, 0.75])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])
V = np.array([0.3, -0.6, 0.9])
C = np.array([[2.0], [0.5]])
S = np.array([1.5, -2.0, 0.5], np.float32)


@mutation(args=[(A, 0.7)], argnums=(0, 1), orders=3)
def every_creation(a, x):
    z = np.zeros(4)
    o = np.ones((2, 2))
    f = np.full(4, x)
    e = np.eye(2)
    n = np.arange(4)
    z[1] = a[0]
    o[0] = a[:2] * f[:2]
    e[0, 1] = x * x
    f *= n
    return np.sum(z * f) + np.sum(o @ e) * a[0]


@mutation(args=[(A, 0.7)], argnums=(0, 1))
def likes_and_copies(a, x):
    z = np.zeros_like(a)
    o = np.ones_like(a)
    f = np.full_like(a, x)
    e = np.empty_like(a)
    e[:] = f * a
    z += e * o
    o[1:] = z[:-1]
    return np.sum(z * o) + np.sum(e)


@mutation(args=[(0.5, 2.0)], argnums=(0, 1))
def array_of_scalars(x, y):
    a = np.array([x, y, x * y])
    m = np.array([[x, 1.0], [y, x]])
    a[0] = m[1, 0] * a[2]
    m[0] = a[:2]
    m *= m
    return np.sum(m) + a[0] * a[1]


@mutation(args=[(0.5, 2.0)], argnums=(0, 1))
def array_of_rows(x, y):
    r = np.array([x, y])
    m = np.array([r, r * 2.0])
    r[0] = 9.0
    m[1] *= m[0]
    return np.sum(m * m) * x + r[0]


@mutation(args=[(A,)])
def grids(a):
    t = np.linspace(0.0, 1.0, 4)
    u = np.arange(0.5, 2.5, 0.5)
    t[1:] *= a[0]
    u += a * t
    return np.sum(t * u * u)


@mutation(args=[(M, V)], argnums=(0, 1), orders=3)
def sums_along_axes(m, v):
    rows = np.sum(m, axis=1)
    columns = m.sum(axis=0)
    m[0] = columns * v
    m[:, 0] = rows * rows
    columns *= np.sum(m, axis=-2)
    return np.sum(m * m) + np.sum(columns)


@mutation(args=[(M,)], orders=3)
def centred_in_place(m):
    m -= m.mean(axis=0)
    m *= np.sum(m * m, axis=1, keepdims=True)
    return np.sum(m[0] * m[0] * m[0])


@mutation(args=[(M,)])
def softmax_rows_in_place(m):
    m -= np.max(m, axis=1, keepdims=True)
    np.exp(m)
    m[:] = np.exp(m)
    m /= m.sum(axis=1, keepdims=True)
    return np.sum(m[:, 0] * m[:, 1]) + m[0, 2] ** 2


@mutation(args=[(M,)])
def statistics(m):
    m[0, 0] = np.mean(m) * np.var(m)
    m[1] += np.std(m, axis=0)
    m[0] *= m.var(axis=1)[0]
    return np.mean(m) ** 2 + np.std(m)


@mutation(args=[(M,)])
def extrema_written_back(m):
    m[0, 1] = np.max(m) * np.min(m)
    m[1] = m.max(axis=0) * m.min(axis=0)
    m[:, 2] = np.max(m, axis=1)
    return np.sum(m * m)


@mutation(args=[(A,)])
def products(a):
    a[0] = np.prod(a[1:])
    a[1] = np.prod(a)
    a[2:] *= np.prod(a[:2])
    return np.sum(a * a)


@mutation(args=[(np.array([0.0, 2.0, 3.0]),), (np.array([0.0, 0.0, 3.0]),)])
def product_with_zeros(a):
    p = np.prod(a)
    a[0] = a[1] * p
    return p * a[2] + a[0]


@mutation(args=[(M,)])
def searches(m):
    m[0, np.argmax(m[0])] = m[1, 0] * m[0, 0]
    columns = np.argmin(m, axis=0)
    for j in range(3):
        m[columns[j], j] *= m[0, 0]
    if np.any(m > 3.0) and not np.all(m > 0.0):
        m[:] = m * m
    return np.sum(m)


@mutation(args=[(M,)])
def truth_along_axes(m):
    positive = np.all(m > -0.5, axis=1)
    some = (m > 1.5).any(axis=0)
    m[positive] *= 2.0
    m[:, some] += m[0, 0]
    return np.sum(m * m)


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def selections(a, b):
    a[:] = np.where(a > b, a * b, b)
    b[1:] = np.where(a[1:] > 0.0, 2.0, b[:-1])
    return np.sum(a * a * b)


@mutation(args=[(A, B)], argnums=(0, 1))
def bounded(a, b):
    a[:] = np.clip(a, -1.0, 2.5) * b
    b[:] = np.maximum(b, 0.5)
    b[:2] = np.minimum(a[:2], b[:2])
    a.clip(0.1, 10.0)
    return np.sum(a * a * b)


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def joined(a, b):
    c = np.concatenate((a, b[:2], a))
    c[0] *= c[4]
    a[:] = c[3:7]
    s = np.stack((a, b))
    s[0] += s[1]
    b[:] = s[0]
    return np.sum(c * c) + np.sum(s * s) * b[0]


@mutation(args=[(M,)])
def joined_along_axes(m):
    wide = np.concatenate((m, m * 2.0), axis=1)
    tall = np.concatenate([m, wide[:, 3:]])
    wide[:, 1] *= tall[:2, 0]
    deep = np.stack([m, m], axis=-1)
    deep[..., 0] *= deep[..., 1]
    m[:] = 0.0
    return np.sum(wide * wide) + np.sum(tall * tall) + np.sum(deep) + np.sum(m)


@mutation(args=[(M, V)], argnums=(0, 1), orders=3)
def products_of_matrices(m, v):
    g = m @ m.T
    g[0] *= g[1]
    m[:] = g @ m
    m -= np.outer(g[0], v)
    v *= np.dot(v, m[0])
    return np.sum(m @ v) + g[0, 0]


@mutation(args=[(M, V)], argnums=(0, 1))
def products_in_loop(m, v):
    out = np.zeros((2, 3))
    for i in range(2):
        out[i] = m[i] * v
        v[:] = m.T @ (m @ v) * 0.1
        out += np.outer(m[:, i], v)
    return np.sum(out * out)


@mutation(
    args=[(M, C), (M, np.array([[2.0, 0.5, 1.5], [0.5, 1.0, -1.0]])), (M, np.array([[3.0, 1.0, 0.5]]))], argnums=(0, 1)
)
def broadcast_at_run_time(m, c):
    d = m * c + c
    d[0] += c[0]
    m[:] = d - c * c
    m *= m
    return np.sum(m) + np.sum(d * d)


@mutation(args=[(np.ones((1, 3)), np.ones((2, 1))), (np.ones((2, 3)), np.ones((1, 3)))], argnums=(0, 1))
def both_sides_broadcast(p, q):
    r = p * q
    r += p
    r *= q
    r[0] *= 2.0
    q += 1.0
    return np.sum(r * r) + np.sum(q * p)


@mutation(args=[(A,)])
def chain_of_elementwise_writes(a):
    a += np.sin(a)
    a *= np.cos(a)
    a -= np.exp(a * 0.2)
    a /= 1.0 + a * a
    a **= 2
    a += np.tanh(a) + np.sqrt(a + 1.0)
    return np.sum(a)


@mutation(args=[(np.array([0.45, 1.4, 0.75]),)])
def thirty_ufuncs(a):
    b = np.zeros((10, 3))
    b[0] = np.sin(a) + np.cos(a) + np.tan(a)
    b[1] = np.arcsin(a * 0.5) + np.arccos(a * 0.5) + np.arctan(a)
    b[2] = np.sinh(a) + np.cosh(a) + np.tanh(a)
    b[3] = np.arcsinh(a) + np.arccosh(a + 1.0) + np.arctanh(a * 0.5)
    b[4] = np.exp(a) + np.exp2(a) + np.expm1(a)
    b[5] = np.log(a) + np.log2(a) + np.log10(a) + np.log1p(a)
    b[6] = np.sqrt(a) + np.cbrt(a) + np.square(a) + np.reciprocal(a)
    b[7] = np.abs(a) + np.sign(a) + np.negative(a) + np.positive(a)
    b[8] = np.floor(a) + np.ceil(a) + np.trunc(a) + np.rint(a)
    b[9] = np.hypot(a, b[0]) + np.arctan2(a, b[1]) + np.logaddexp(a, b[2]) + np.degrees(a) + np.radians(a)
    a *= b[9]
    b[3:6] *= b[0:3]
    return np.sum(b * a)


@mutation(args=[(S, np.float32(0.25))], argnums=(0, 1))
def single_precision_throughout(a, x):
    b = np.zeros(3, dtype=np.float32)
    b[:] = a * x
    b += np.sin(a)
    c = np.full(3, x)
    c[1] = b[0] * b[1]
    d = np.zeros_like(a)
    d[:2] = c[1:] * 2.0
    a *= d
    return np.sum(a * b) + np.mean(c)


@mutation(args=[(S,)])
def precision_changed(s):
    d = s.astype(np.float64)
    d[0] = d[1] * d[2]
    f = d.astype(np.float32)
    f *= s
    s[:] = d
    return np.sum(f * f) + np.sum(d * s)


@mutation(args=[(np.array([4, 1, 3]), 2)], argnums=())
def integer_arrays(n, k):
    z = np.zeros(3, dtype=np.int64)
    z[:] = n * k
    z[n > 2] -= 1
    n[:2] = z[1:]
    total = np.arange(3)
    total *= z
    total[-1] %= 4
    return total, np.sum(z), np.prod(n), z.max(), n.mean(), z[::-1], z // 2, z > n


@mutation(args=[(np.array([4, 1, 3], np.int32), np.array([True, False, True]))], argnums=())
def narrow_integers_and_flags(n, flags):
    wide = n.astype(np.int64)
    flags[1] = n[0] > 3
    n[flags] += 1
    flags[:] = ~flags
    both = flags | (wide > 2)
    wide[both] = 0
    return n, flags, both, wide, np.sum(flags), np.any(flags), np.all(both), n.dtype == np.int32, n / 2


@mutation(args=[(M,)], argnums=())
def shapes_and_sizes(m):
    m[0, m.ndim - 1] = m.size
    m.T[m.shape[1] - 1] = len(m)
    return m.shape, m.T.shape, m.ndim, m.size, len(m.T), m[0].shape, m[:, None].shape, m[1:1].size


@mutation(args=[(np.zeros(0), A), (np.zeros((0, 4)), A), (np.zeros((3, 0)), np.zeros(0))], argnums=(0, 1))
def nothing_to_write(e, a):
    e[:] = a * 2.0 if e.size else 5.0
    e += 1.0
    e *= e
    a *= 2.0
    return np.sum(e) + np.sum(a * a)


@mutation(args=[(A, 3), (A, 0)])
def temporaries_in_a_loop(a, n):
    for i in range(n):
        t = a * a
        t[i] = 0.0
        u = t + a
        u -= t[i]
        a[:] = u * 0.5
    return np.sum(a * a)


@mutation(args=[(A,)])
def one_array_many_last_uses(a):
    b = a * 2.0
    c = b + 1.0
    b *= c
    d = b - c
    c[:] = d * d
    d[1:] = c[:-1]
    return np.sum(d * b) + c[3]


@mutation(args=[(A,)])
def scalar_reads_between_whole_writes(a):
    x = a[0]
    a *= 2.0
    y = a[0]
    a -= x
    z = a[0]
    a[:] = a * a[0]
    return x * y * z * a[0] + a[3]


@mutation(args=[(A, 2.0), (A, 0.0)], argnums=(0, 1), kink=True)
def zero_times_what_was_overwritten(a, x):
    a[0] = np.sqrt(a[0] * x) * 0.0
    a[1:] *= x
    return a[0] + np.sum(a[1:] * a[1:])


@mutation(args=[(np.zeros(3), 0.0), (np.array([0.0, 4.0, 9.0]), 1.0)], argnums=(0, 1), kink=True)
def strong_zeros_in_memory(a, x):
    b = np.sqrt(a) * x
    b[1:] *= 0.0
    b[0] = np.where(a[0] > 0.0, np.sqrt(a[0]), x)
    return np.sum(b * b)


@mutation(args=[(np.full((2, 2), 2.0), np.full((2, 2), 2.0))], argnums=(0, 1), kink=True)
def ties_between_arrays(p, q):
    p[0] = np.maximum(p[0], q[0])
    q[1] = np.minimum(q[1], 2.0)
    p[1, 0] = max(p[1, 0], q[1, 0])
    return np.sum(p * q) + np.max(p, axis=0)[0]


@mutation(args=[(A,)], orders=1)
def new_arrays_returned(a):
    z = np.zeros((2, 4))
    z[0] = a
    z[1] = a * a
    a[0] = 0.0
    return z, z[0], z.T, np.sum(z, axis=0), z[:, 1:3].copy()
