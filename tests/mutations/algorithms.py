"""Whole algorithms as people write them on arrays: stencils, dynamic programs, factorisations, simulations, sorting."""

import math

import numpy as np

from mutations import mutation

X = np.array([0.3, -0.2, 0.5, 0.1])
Y = np.array([0.1, 0.4, -0.3])
SPD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
L3 = np.array([[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-1.0, 0.25, 1.25]])
V = np.array([0.3, -0.6, 0.9])
T = np.array([[0.7, 0.3], [0.4, 0.6]])
E = np.array([[0.9, 0.2, 0.1], [0.1, 0.8, 0.9]])


@mutation(args=[(np.array([0.2, 0.5, -0.3, 0.8, 0.1]), 3)], orders=3)
def gauss_seidel(u, sweeps):
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1]) + 0.1 * u[i] * u[i]
    return np.sum(u * u)


@mutation(args=[(np.arange(12.0).reshape(3, 4) * 0.1, 2)])
def gauss_seidel_on_a_grid(u, sweeps):
    for _ in range(sweeps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) + 0.05 * u[i, j] ** 2
    return np.sum(u * u)


@mutation(args=[(np.array([0.0, 1.0, 0.5, -0.5, 0.0]), 0.2, 3)], argnums=(0, 1))
def heat_with_swapped_buffers(u, k, n):
    a = u.copy()
    b = np.zeros(len(u))
    for _ in range(n):
        for i in range(1, len(u) - 1):
            b[i] = a[i] + k * (a[i - 1] - 2.0 * a[i] + a[i + 1])
        a, b = b, a
    total = 0.0
    for i in range(len(u)):
        total += a[i] * a[i]
    return total


@mutation(args=[(np.array([0.1, 0.9, 0.2, 0.4]), 0.3, 3)], argnums=(0, 1))
def burgers(u, dt, n):
    for _ in range(n):
        flux = 0.5 * u * u
        u[1:] -= dt * (flux[1:] - flux[:-1])
    return np.sum(u * u)


@mutation(args=[(X, Y, 0.5)], argnums=(0, 1, 2), scale=10.0)
def soft_dynamic_time_warping(x, y, gamma):
    n = len(x)
    m = len(y)
    r = np.full((n + 1, m + 1), 1e10)
    r[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            a = -r[i - 1, j] / gamma
            b = -r[i, j - 1] / gamma
            c = -r[i - 1, j - 1] / gamma
            top = max(a, b, c)
            soft = math.log(math.exp(a - top) + math.exp(b - top) + math.exp(c - top)) + top
            r[i, j] = cost - gamma * soft
    return r[n, m]


@mutation(args=[(X, Y)], argnums=(0, 1))
def soft_edit_distance(x, y):
    previous = np.zeros(len(y) + 1)
    for j in range(len(y) + 1):
        previous[j] = 0.7 * j
    for i in range(1, len(x) + 1):
        current = np.zeros(len(y) + 1)
        current[0] = 0.7 * i
        for j in range(1, len(y) + 1):
            change = previous[j - 1] + (x[i - 1] - y[j - 1]) ** 2
            edit = -np.log(np.exp(-previous[j] - 0.7) + np.exp(-current[j - 1] - 0.7))
            current[j] = -np.log(np.exp(-change) + np.exp(-edit))
        previous = current
    return previous[-1]


@mutation(args=[(SPD,)], orders=3)
def cholesky(a):
    n = len(a)
    for j in range(n):
        for k in range(j):
            a[j, j] -= a[j, k] * a[j, k]
        a[j, j] = math.sqrt(a[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
    total = 0.0
    for j in range(n):
        total += math.log(a[j, j])
    return total + a[2, 0] * a[2, 1]


@mutation(args=[(SPD,)])
def cholesky_by_rows(a):
    low = np.zeros_like(a)
    for i in range(len(a)):
        for j in range(i + 1):
            s = a[i, j] - np.sum(low[i, :j] * low[j, :j])
            low[i, j] = np.sqrt(s) if i == j else s / low[j, j]
    return np.sum(low * low * low)


@mutation(args=[(L3, V)], argnums=(0, 1), orders=3)
def forward_substitution_in_place(low, b):
    for i in range(len(b)):
        for j in range(i):
            b[i] -= low[i, j] * b[j]
        b[i] /= low[i, i]
    return np.sum(b * b)


@mutation(args=[(L3, V)], argnums=(0, 1))
def backward_substitution_by_columns(low, b):
    for i in range(len(b) - 1, -1, -1):
        b[i] /= low[i, i]
        b[:i] -= low[i, :i] * b[i]
    return b @ b


@mutation(args=[(SPD, V)], argnums=(0, 1))
def lu_solve(a, b):
    n = len(b)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
            b[i] -= a[i, k] * b[k]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]
    return b[0] * b[1] + b[2] ** 2


@mutation(args=[(np.array([[0.1, 2.0, 1.0], [3.0, 0.5, -1.0], [1.0, 1.0, 2.0]]), V)], argnums=(0, 1))
def elimination_with_pivots(a, b):
    n = len(b)
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        if pivot != k:
            row = a[k].copy()
            a[k] = a[pivot]
            a[pivot] = row
            b[k], b[pivot] = b[pivot], b[k]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i] -= factor * a[k]
            b[i] -= factor * b[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= a[i, j] * b[j]
        b[i] /= a[i, i]
    return np.sum(b * b)


@mutation(args=[(np.array([2.0, 2.5, 3.0]), np.array([0.5, 0.25]), V)], argnums=(0, 1, 2))
def thomas_tridiagonal(d, e, b):
    n = len(d)
    for i in range(1, n):
        w = e[i - 1] / d[i - 1]
        d[i] -= w * e[i - 1]
        b[i] -= w * b[i - 1]
    b[-1] /= d[-1]
    for i in range(n - 2, -1, -1):
        b[i] = (b[i] - e[i] * b[i + 1]) / d[i]
    return np.sum(b * b)


@mutation(args=[(T, E, np.array([0, 2, 1, 0]))], argnums=(0, 1))
def hidden_markov_forward(t, e, seen):
    alpha = np.array([0.6, 0.4])
    log_likelihood = 0.0
    new = np.zeros(2)
    for o in seen:
        for j in range(2):
            new[j] = 0.0
            for i in range(2):
                new[j] += alpha[i] * t[i, j]
            new[j] *= e[j, o]
        scale = new[0] + new[1]
        log_likelihood += math.log(scale)
        for j in range(2):
            alpha[j] = new[j] / scale
    return log_likelihood


@mutation(args=[(T, E, np.array([0, 2, 1]))], argnums=(0, 1))
def hidden_markov_with_rows(t, e, seen):
    alpha = np.zeros((len(seen), 2))
    alpha[0] = e[:, seen[0]] * 0.5
    for k in range(1, len(seen)):
        row = alpha[k]
        row[:] = alpha[k - 1] @ t
        row *= e[:, seen[k]]
    return np.log(np.sum(alpha[-1]))


@mutation(args=[(T, E, np.array([0, 2, 1, 1]))], argnums=(0, 1))
def viterbi(t, e, seen):
    score = np.zeros((len(seen), 2))
    back = np.zeros((len(seen), 2), dtype=np.int64)
    for j in range(2):
        score[0, j] = math.log(e[j, seen[0]])
    for k in range(1, len(seen)):
        for j in range(2):
            best = 0
            for i in range(1, 2):
                if score[k - 1, i] + math.log(t[i, j]) > score[k - 1, best] + math.log(t[best, j]):
                    best = i
            back[k, j] = best
            score[k, j] = score[k - 1, best] + math.log(t[best, j] * e[j, seen[k]])
    state = np.argmax(score[-1])
    total = 0.0
    for k in range(len(seen) - 1, -1, -1):
        total += score[k, state]
        state = back[k, state]
    return total


@mutation(args=[(np.array([[0.0, 0.0], [1.0, 0.2], [-0.3, 0.9]]), np.array([1.0, 0.5, 0.8]), 2)], argnums=(0, 1))
def n_body(position, mass, steps):
    velocity = np.zeros_like(position)
    force = np.zeros_like(position)
    for _ in range(steps):
        force[:] = 0.0
        for i in range(len(mass)):
            for j in range(i):
                dx = position[j, 0] - position[i, 0]
                dy = position[j, 1] - position[i, 1]
                d2 = dx * dx + dy * dy + 0.1
                f = mass[i] * mass[j] / (d2 * math.sqrt(d2))
                force[i, 0] += f * dx
                force[i, 1] += f * dy
                force[j, 0] -= f * dx
                force[j, 1] -= f * dy
        for i in range(len(mass)):
            velocity[i] += 0.1 * force[i] / mass[i]
            position[i] += 0.1 * velocity[i]
    return np.sum(position * position) + np.sum(velocity * velocity)


@mutation(args=[(np.array([[0.0, 0.0], [1.0, 0.2], [-0.3, 0.9]]), 2)])
def n_body_by_rows(x, steps):
    v = np.zeros((3, 2))
    for _ in range(steps):
        for i in range(3):
            push = np.zeros(2)
            for j in range(3):
                if i != j:
                    d = x[j] - x[i]
                    push += d / (0.2 + d @ d)
            v[i] += 0.1 * push
        x += 0.1 * v
    return np.sum(x * x * x)


@mutation(args=[(np.array([1.0, 0.5, -0.5, 2.0]), np.array([0.2, -0.1, 0.4, 0.3]))], argnums=(0, 1), orders=3)
def butterflies(re, im):
    n = len(re)
    re[1], re[2] = re[2], re[1]
    im[1], im[2] = im[2], im[1]
    size = 2
    while size <= n:
        angle = -2.0 * math.pi / size
        for start in range(0, n, size):
            for k in range(size // 2):
                c = math.cos(angle * k)
                s = math.sin(angle * k)
                i = start + k
                j = i + size // 2
                tr = re[j] * c - im[j] * s
                ti = re[j] * s + im[j] * c
                re[j] = re[i] - tr
                im[j] = im[i] - ti
                re[i] += tr
                im[i] += ti
        size *= 2
    return re[1] * re[1] * im[2] + np.sum(im * im * re)


@mutation(args=[(np.array([1.0, 0.5, -0.5, 2.0]),)])
def haar_by_slices(a):
    n = len(a)
    while n > 1:
        even = a[0:n:2].copy()
        odd = a[1:n:2].copy()
        half = n // 2
        a[:half] = (even + odd) * 0.5
        a[half:n] = (even - odd) * even
        n = half
    return np.sum(a * a * a)


@mutation(args=[(np.array([3.0, -1.0, 2.0, 0.5]),)])
def sorting_network(a):
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        if a[i] > a[j]:
            a[i], a[j] = a[j], a[i]
    return a[0] * 1.0 + a[1] ** 2 + a[2] ** 3 + a[3] * a[0]


@mutation(args=[(np.array([3.0, -1.0, 2.0, 0.5]), 0.5)], argnums=(0, 1))
def soft_sorting_network(a, t):
    for i, j in ((0, 1), (2, 3), (0, 2), (1, 3), (1, 2)):
        s = 1.0 / (1.0 + math.exp((a[j] - a[i]) / t))
        low = a[i] * (1.0 - s) + a[j] * s
        a[j] = a[i] * s + a[j] * (1.0 - s)
        a[i] = low
    return a[0] * a[0] + a[3] * a[1] + a[2]


@mutation(args=[(np.array([3.0, -1.0, 2.0, 0.5, 2.5]),), (np.array([1.0]),), (np.array([]),)])
def insertion_sort(a):
    for i in range(1, len(a)):
        v = a[i]
        j = i
        while j > 0 and a[j - 1] > v:
            a[j] = a[j - 1]
            j -= 1
        a[j] = v
    total = 0.0
    for i in range(len(a)):
        total += a[i] * a[i] * (i + 1)
    return total


@mutation(args=[(np.array([3.0, -1.0, 2.0, 0.5]),)])
def bubble_sort_until_quiet(a):
    swapped = True
    rounds = 0
    while swapped:
        swapped = False
        rounds += 1
        for i in range(len(a) - 1):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                swapped = True
    return a[0] * a[1] + a[-1] ** 2 * rounds


@mutation(args=[(np.array([0.5, -0.5]), 4)], orders=3)
def power_iteration_in_place(v, n):
    m = np.array([[2.0, 0.5], [0.5, 1.0]])
    m[0, 1] = v[0] * v[1]
    for _ in range(n):
        v[:] = m @ v
        v /= np.sqrt(np.sum(v * v))
    return v @ m @ v


@mutation(args=[(SPD, V)], argnums=(0, 1), scale=10.0)
def conjugate_gradients(a, b):
    x = np.zeros(3)
    r = b.copy()
    p = b.copy()
    for _ in range(2):
        q = a @ p
        alpha = (r @ r) / (p @ q)
        x += alpha * p
        old = r @ r
        r -= alpha * q
        p *= (r @ r) / old
        p += r
    return x @ x


@mutation(
    args=[(np.array([0.5, -0.3]), np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.1]]), np.array([1.0, 0.0, 1.0]))],
    argnums=(0, 1),
)
def descent_by_hand(w, x, y):
    g = np.zeros(2)
    for _ in range(3):
        g[:] = 0.0
        for i in range(len(y)):
            p = 1.0 / (1.0 + math.exp(-(x[i] @ w)))
            for k in range(2):
                g[k] += (p - y[i]) * x[i, k]
        w -= 0.5 * g
    return w @ w


@mutation(args=[(np.array([0.5, -0.3, 0.8]), 4)])
def adam_by_hand(w, n):
    m = np.zeros(3)
    v = np.zeros(3)
    for t in range(1, n + 1):
        g = 2.0 * w - 0.5
        m *= 0.9
        m += 0.1 * g
        v *= 0.99
        v += 0.01 * g * g
        w -= 0.1 * (m / (1.0 - 0.9**t)) / (np.sqrt(v / (1.0 - 0.99**t)) + 1e-3)
    return np.sum(w * w)


@mutation(args=[(np.array([0.2, 0.5, 0.1, 0.9]), 0.7)], argnums=(0, 1))
def exponential_smoothing(x, alpha):
    level = np.empty(len(x))
    level[0] = x[0]
    for t in range(1, len(x)):
        level[t] = alpha * x[t] + (1.0 - alpha) * level[t - 1]
    errors = x[1:] - level[:-1]
    errors *= errors
    return np.sum(errors)


@mutation(args=[(np.array([1.0, -2.0, 0.5]), np.array([0.5, 3.0]))], argnums=(0, 1), orders=3)
def polynomial_product(p, q):
    r = np.zeros(len(p) + len(q) - 1)
    for i in range(len(p)):
        for j in range(len(q)):
            r[i + j] += p[i] * q[j]
    return np.sum(r * r)


@mutation(args=[(np.array([1.0, -2.0, 0.5, 0.7]), np.array([0.5, 0.25]))], argnums=(0, 1))
def convolution_by_slices(x, k):
    y = np.zeros(len(x) + len(k) - 1)
    for j in range(len(k)):
        y[j : j + len(x)] += k[j] * x
    y[1:-1] *= y[1:-1]
    return np.sum(y)


@mutation(args=[(np.array([1.0, -2.0, 0.5, 3.0]), 0.7)], argnums=(0, 1), orders=3)
def horner_division_in_place(c, x):
    for i in range(len(c) - 2, -1, -1):
        c[i] += x * c[i + 1]
    return c[0] * c[1]


@mutation(args=[(np.array([0.1, 0.5, 1.2]), np.array([1.0, 1.6, 0.3]), 0.8)], argnums=(0, 1, 2))
def newton_divided_differences(x, y, at):
    n = len(x)
    for k in range(1, n):
        for i in range(n - 1, k - 1, -1):
            y[i] = (y[i] - y[i - 1]) / (x[i] - x[i - k])
    total = y[-1]
    for i in range(n - 2, -1, -1):
        total = total * (at - x[i]) + y[i]
    return total


@mutation(args=[(np.array([0.3, 0.1, 0.4, 0.2]),)])
def de_casteljau(b):
    t = b[0]
    for k in range(len(b) - 1, 0, -1):
        for i in range(k):
            b[i] = (1.0 - t) * b[i] + t * b[i + 1]
    return b[0] * b[1]


@mutation(args=[(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.5], [5.0, 1.5, 0.0]]),)], kink=True)
def floyd_warshall(d):
    for k in range(3):
        for i in range(3):
            for j in range(3):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return np.sum(d * d)


@mutation(args=[(np.array([0.5, 1.0, -0.5]), 0.1, 5)], argnums=(0, 1))
def lorenz_in_place(s, dt, n):
    d = np.zeros(3)
    for _ in range(n):
        d[0] = 10.0 * (s[1] - s[0])
        d[1] = s[0] * (28.0 - s[2]) - s[1]
        d[2] = s[0] * s[1] - 8.0 / 3.0 * s[2]
        s += dt * 0.1 * d
    return np.sum(s * s)


@mutation(args=[(np.array([0.5, -0.2]), 0.1, 3)], argnums=(0, 1))
def runge_kutta_with_stage_rows(y, h, n):
    k = np.zeros((4, 2))
    stage = np.zeros(2)
    for _ in range(n):
        for s in range(4):
            stage[:] = y
            if s > 0:
                stage += k[s - 1] * (h if s == 3 else 0.5 * h)
            k[s, 0] = stage[1]
            k[s, 1] = -np.sin(stage[0])
        y += h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3])
    return y @ y


@mutation(
    args=[(np.array([0.3, -0.4, 0.8]), np.array([[0.2, -0.5, 0.1], [0.7, 0.3, -0.2], [0.1, 0.1, 0.4]]))], argnums=(0, 1)
)
def recurrent_network(h, w):
    states = np.zeros((3, 3))
    for t in range(3):
        h = np.tanh(w @ h)
        states[t] = h
        h[0] += states[t - 1, 1]
    return np.sum(states * states) + h[0]
