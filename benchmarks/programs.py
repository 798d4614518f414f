"""The programs on arrays, as a user writes them: plain Python and NumPy, which CPython runs unchanged.

pb.value_and_grad(gauss_seidel, argnums=(0, 3))(u0, target, sweeps, omega)
"""

import math

import numpy as np


def heat(u0, target, steps, alpha):
    """Explicit steps of the heat equation between two buffers; mean squared distance of the end from a target."""
    u, v = u0.copy(), u0.copy()
    for _ in range(steps):
        centre = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        v[1:-1, 1:-1] = centre + alpha * (around - 4.0 * centre)
        u, v = v, u
    return np.mean((u - target) ** 2)


def heat_loops(u0, target, steps, alpha):
    """The same, element by element."""
    u, v = u0.copy(), u0.copy()
    rows, columns = u.shape
    for _ in range(steps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                v[i, j] = u[i, j] + alpha * (around - 4.0 * u[i, j])
        u, v = v, u
    return np.mean((u - target) ** 2)


def gauss_seidel(u0, target, sweeps, omega):
    """Relaxation in place: every update reads the updates before it."""
    u = u0.copy()
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] += omega * (0.25 * around - u[i, j])
    return np.mean((u - target) ** 2)


def attract(p, mass, softening, a):
    """Accelerations of all bodies, written into `a`."""
    for i in range(len(mass)):
        ax, ay, az = 0.0, 0.0, 0.0
        for j in range(len(mass)):
            dx, dy, dz = p[0, j] - p[0, i], p[1, j] - p[1, i], p[2, j] - p[2, i]
            q = dx * dx + dy * dy + dz * dz + softening
            s = mass[j] / (q * math.sqrt(q))
            ax += s * dx
            ay += s * dy
            az += s * dz
        a[0, i], a[1, i], a[2, i] = ax, ay, az


def n_body(p0, v0, mass, weights, steps, h, softening):
    """Symplectic Euler steps of bodies that attract each other; a weighted sum of their last positions."""
    p, v = p0.copy(), v0.copy()
    a = np.empty_like(p)
    for _ in range(steps):
        attract(p, mass, softening, a)
        v += h * a
        p += h * v
    return np.sum(weights * p)


def hidden_markov(initial, transition, emission, observed):
    """Log-likelihood by the forward algorithm; all arguments but the observations are logarithms."""
    alpha = initial + emission[:, observed[0]]
    for t in range(1, len(observed)):
        scores = alpha[:, None] + transition
        top = np.max(scores, axis=0)
        alpha = top + np.log(np.sum(np.exp(scores - top), axis=0)) + emission[:, observed[t]]
    top = np.max(alpha)
    return top + np.log(np.sum(np.exp(alpha - top)))


def cholesky(matrix):
    """Logarithm of the determinant by a Cholesky factor, element by element."""
    n = len(matrix)
    factor = np.zeros((n, n))
    total = 0.0
    for i in range(n):
        for j in range(i + 1):
            s = matrix[i, j]
            for k in range(j):
                s -= factor[i, k] * factor[j, k]
            if i == j:
                factor[i, i] = math.sqrt(s)
                total += 2.0 * math.log(factor[i, i])
            else:
                factor[i, j] = s / factor[j, j]
    return total


def soft_minimum(a, b, c):
    """-log(exp(-a) + exp(-b) + exp(-c))."""
    m = min(a, b, c)
    return m - math.log(math.exp(m - a) + math.exp(m - b) + math.exp(m - c))


def soft_dtw(x, y):
    """Soft dynamic time warping of two series, gamma 1."""
    table = np.full((len(x) + 1, len(y) + 1), 1e10)
    table[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            d = x[i - 1] - y[j - 1]
            table[i, j] = d * d + soft_minimum(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[len(x), len(y)]


def log_sum_exp(x):
    """As in the definition."""
    return np.log(np.sum(np.exp(x)))


def logistic(weights, bias, x):
    """The sum of the outputs of a logistic layer."""
    return np.sum(1.0 / (1.0 + np.exp(-(weights @ x + bias))))


def network(w1, b1, w2, b2, x, labels):
    """Mean cross-entropy of a relu network with one hidden layer."""
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    top = np.max(scores, axis=1)
    total = np.log(np.sum(np.exp(scores - top[:, None]), axis=1)) + top
    right = labels[:, None] == np.arange(scores.shape[1])
    return np.mean(total - np.sum(np.where(right, scores, 0), axis=1))


def chain(a, x, b, c):
    """Elementwise operations with a final sum."""
    return np.sum(np.tanh(a * x + b) * c)
