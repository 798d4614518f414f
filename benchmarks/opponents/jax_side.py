"""The workloads in JAX: jit of pure functions, loops as `lax.scan`, recurrences along an axis as lanes or matrices."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import chain_inputs
import loops_inputs
import nn_inputs
import zyg_inputs
from opponents.trees import levels

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_cpu_enable_async_dispatch", False)  # the caller waits anyway; a second thread would cost it time

__all__ = ["sides"]

Calls = dict[str, Callable[[], object]]


def sides(workload: str) -> Calls:
    """The calls of a workload by kind."""
    make = _WORKLOADS.get(workload)
    return make() if make else {}


def _call(function: Callable, arguments: tuple) -> Callable[[], object]:
    return lambda: jax.block_until_ready(function(*arguments))


def _both(program: Callable, arguments: tuple, argnums: int | tuple[int, ...]) -> Calls:
    given = tuple(jnp.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments)
    slopes = jax.jit(jax.value_and_grad(program, argnums))
    return {"value": _call(jax.jit(program), given), "gradient": _call(slopes, given)}


def _scan(step: Callable, state: object, given: object, length: int | None = None) -> tuple:
    """A scan that keeps the states alone and computes each step again: faster by far where steps are small."""
    return lax.scan(jax.checkpoint(step), state, given, length)


# ---- numbers --------------------------------------------------------------------------------------------------------


def _points(start: float, step: float, count: int, program: Callable, slope: Callable) -> Calls:
    """A program at many points, and its slope: as many lanes."""
    at = jnp.asarray(start + step * np.arange(count))
    made = {"value": program, "gradient": slope}
    return {kind: _call(jax.jit(lambda x, f=f: jnp.sum(jax.vmap(f)(x))), (at,)) for kind, f in made.items()}


def _sincos() -> Calls:
    def program(x):
        return jnp.sin(jnp.cos(x))

    return _points(zyg_inputs.X0, 1e-3, 10_000, program, jax.grad(program))


def _power() -> Calls:
    def program(x):
        return _scan(lambda r, _: (r * x, None), 1.0, None, zyg_inputs.POW_N)[0]

    return _points(zyg_inputs.POW_X, 1e-9, 100, program, jax.grad(program))


def _grow_past() -> Calls:
    """Reverse mode takes no `while`: the slope is that of forward mode."""

    def program(x):
        return lax.while_loop(lambda r: r < zyg_inputs.DD_LIM, lambda r: r * x, 1.0)

    return _points(zyg_inputs.DD_X, 1e-9, 100, program, lambda x: jax.jvp(program, (x,), (1.0,))[1])


def _lorenz() -> Calls:
    h = loops_inputs.LOR_H

    def program(theta):
        sigma, rho, beta = theta[3], theta[4], theta[5]

        def flow(x, y, z):
            return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

        def moved(state, slope, by):
            return tuple(s + by * d for s, d in zip(state, slope, strict=True))

        def step(state, _):
            a = flow(*state)
            b = flow(*moved(state, a, h / 2))
            c = flow(*moved(state, b, h / 2))
            d = flow(*moved(state, c, h))
            four = zip(state, a, b, c, d, strict=True)
            return tuple(s + h / 6 * (p + 2 * q + 2 * r + t) for s, p, q, r, t in four), None

        x, y, z = _scan(step, (theta[0], theta[1], theta[2]), None, loops_inputs.LOR_N)[0]
        return 0.5 * (x * x + y * y + z * z)

    return _both(program, (loops_inputs.LOR,), 0)


def _garch() -> Calls:
    def program(theta, returns):
        squares = returns * returns

        def step(state, pair):
            variance, total = state
            before, now = pair
            variance = theta[0] + theta[1] * before + theta[2] * variance
            return (variance, total + jnp.log(variance) + now / variance), None

        return 0.5 * _scan(step, (1.0, 0.0), (squares[:-1], squares[1:]))[0][1] / len(returns)

    return _both(program, (loops_inputs.GTH, loops_inputs.GR), 0)


# ---- arrays ---------------------------------------------------------------------------------------------------------


def _heat() -> Calls:
    steps = loops_inputs.HT

    def program(u, target, alpha):
        def step(u, _):
            centre = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            return u.at[1:-1, 1:-1].set(centre + alpha * (around - 4.0 * centre)), None

        return jnp.mean((lax.scan(step, u, None, steps)[0] - target) ** 2)

    arguments = (loops_inputs.HU, loops_inputs.HG, loops_inputs.HA)
    return _both(program, arguments, (0, 2)) | {"by u": _both(program, arguments, 0)["gradient"]}


def _gauss_seidel(key: str) -> Calls:
    """Along a row the update is a linear recurrence, so that a row is the product with a triangular matrix."""
    size, sweeps = loops_inputs.GS[key]
    distance = np.maximum(np.arange(size - 2)[:, None] - np.arange(size - 2), 0)
    below = np.tril(np.ones((size - 2, size - 2)))

    def program(u, target, omega):
        c = 0.25 * omega
        solve = below * c**distance

        def row(above, rows):
            here, under = rows
            right = (1 - omega) * here[1:-1] + c * (above[1:-1] + under[1:-1] + here[2:])
            new = solve @ right.at[0].add(c * here[0])
            new = jnp.concatenate([here[:1], new, here[-1:]])
            return new, new

        def sweep(u, _):
            inner = lax.scan(row, u[0], (u[1:-1], u[2:]))[1]
            return jnp.concatenate([u[:1], inner, u[-1:]]), None

        return jnp.mean((lax.scan(sweep, u, None, sweeps)[0] - target) ** 2)

    return _both(program, (loops_inputs.GU[key], loops_inputs.GG[key], loops_inputs.GW), (0, 2))


def _n_body() -> Calls:
    def program(p, v, mass, weights):
        def step(state, _):
            p, v = state
            d = p[:, None, :] - p[:, :, None]
            q = jnp.sum(d * d, axis=0) + loops_inputs.NE2
            a = jnp.sum(mass / (q * jnp.sqrt(q)) * d, axis=2)
            v = v + loops_inputs.NH * a
            return (p + loops_inputs.NH * v, v), None

        return jnp.sum(weights * _scan(step, (p, v), None, loops_inputs.NT)[0][0])

    return _both(program, (loops_inputs.NP, loops_inputs.NV, loops_inputs.NM, loops_inputs.NW), (0, 1, 2))


def _hidden_markov() -> Calls:
    observed = np.asarray(loops_inputs.OB)

    def program(initial, transition, emission):
        seen = emission.T[observed]

        def step(alpha, here):
            return jax.nn.logsumexp(alpha[:, None] + transition, axis=0) + here, None

        return jax.nn.logsumexp(lax.scan(step, initial + seen[0], seen[1:])[0])

    return _both(program, (loops_inputs.PI, loops_inputs.A, loops_inputs.B), (0, 1, 2))


def _cholesky(size: int) -> Calls:
    def program(matrix):
        whole = jnp.tril(matrix) + jnp.tril(matrix, -1).T
        return 2.0 * jnp.sum(jnp.log(jnp.diagonal(jnp.linalg.cholesky(whole))))

    return _both(program, (loops_inputs.CH[size],), 0)


def _soft_dtw() -> Calls:
    """Antidiagonal after antidiagonal."""
    n = loops_inputs.DN
    i = np.arange(n + 1)
    j = np.arange(2, 2 * n + 1)[:, None] - i
    inside = (i >= 1) & (j >= 1) & (j <= n)

    def program(x, y):
        d = x[np.clip(i - 1, 0, n - 1)] - y[np.clip(j - 1, 0, n - 1)]

        def step(last, now):
            two, one = last
            cost, here = now
            up, corner = jnp.roll(one, 1), jnp.roll(two, 1)
            low = -jnp.logaddexp(jnp.logaddexp(-up, -one), -corner)
            new = jnp.where(here, cost + low, 1e10)
            return (one, new), None

        far = jnp.full(n + 1, 1e10)
        return lax.scan(step, (far.at[0].set(0.0), far), (d * d, inside))[0][1][n]

    return _both(program, (loops_inputs.DX, loops_inputs.DY), (0, 1))


def _log_sum_exp(size: int) -> Calls:
    return _both(lambda x: jnp.log(jnp.sum(jnp.exp(x))), (zyg_inputs.LSE[size],), 0)


def _logistic() -> Calls:
    def program(weights, bias, x):
        return jnp.sum(jax.nn.sigmoid(weights @ x + bias))

    return _both(program, (zyg_inputs.LW, zyg_inputs.Lb, zyg_inputs.Lx), (0, 1))


def _cross_entropy(scores, labels):
    return jnp.mean(jax.nn.logsumexp(scores, axis=1) - jnp.take_along_axis(scores, labels[:, None], 1)[:, 0])


def _network(batch: int) -> Calls:
    def program(w1, b1, w2, b2, x, labels):
        return _cross_entropy(jnp.maximum(x @ w1 + b1, 0) @ w2 + b2, labels)

    weights = (zyg_inputs.W1, zyg_inputs.b1, zyg_inputs.W2, zyg_inputs.b2)
    return _both(program, (*weights, zyg_inputs.MX[batch], zyg_inputs.MY[batch]), (0, 1, 2, 3))


def _chain() -> Calls:
    arrays = (chain_inputs.CA, chain_inputs.CX, chain_inputs.CB, chain_inputs.CC)
    return _both(lambda a, x, b, c: jnp.sum(jnp.tanh(a * x + b) * c), arrays, (0, 1, 2, 3))


# ---- recurrent networks ---------------------------------------------------------------------------------------------


def _characters(kind: str) -> Calls:
    """Rows are picked by a product with ones and zeros: its gradient is a product again, and no scatter."""
    weights = nn_inputs.RNN if kind == "rnn" else nn_inputs.LSTM
    read, following = np.asarray(nn_inputs.XI), np.asarray(nn_inputs.YI).reshape(-1)

    def program(wx, wh, b, wo, bo):
        given = jax.nn.one_hot(read, nn_inputs.Vn, dtype=wx.dtype) @ wx + b

        def simple(h, x):
            h = jnp.tanh(x + h @ wh)
            return h, h

        def gated(state, x):
            h, c = state
            i, f, u, o = jnp.split(x + h @ wh, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(u)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((nn_inputs.Bn, nn_inputs.Hn), wx.dtype)
        states = lax.scan(simple, zero, given)[1] if kind == "rnn" else lax.scan(gated, (zero, zero), given)[1]
        return _cross_entropy(states.reshape(-1, nn_inputs.Hn) @ wo + bo, following)

    return _both(program, tuple(weights), tuple(range(5)))


def _tree_lstm() -> Calls:
    """The nodes of one height at once; compiled for this one shape of tree."""
    tree = levels()

    def program(wl, bl, wi, bi, wo, bo, words):
        i, o, u = jnp.split(words @ wl + bl, 3, axis=1)
        c = jax.nn.sigmoid(i) * jnp.tanh(u)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        for left, right in tree.parts:
            gates = jnp.concatenate([h[left], h[right]], axis=1) @ wi + bi
            i, f, e, o, u = jnp.split(gates, 5, axis=1)
            new = jax.nn.sigmoid(i) * jnp.tanh(u) + jax.nn.sigmoid(f) * c[left] + jax.nn.sigmoid(e) * c[right]
            c = jnp.concatenate([c, new])
            h = jnp.concatenate([h, jax.nn.sigmoid(o) * jnp.tanh(new)])
        return _cross_entropy(h @ wo + bo, tree.labels) * len(tree.labels)

    return _both(program, (*nn_inputs.TP, tree.words), tuple(range(6)))


_WORKLOADS: dict[str, Callable[[], Calls]] = {
    "sincos": _sincos,
    "pow": _power,
    "dd": _grow_past,
    "lorenz": _lorenz,
    "garch": _garch,
    "heat": _heat,
    "gs32x10": partial(_gauss_seidel, "gs32x10"),
    "gs128x100": partial(_gauss_seidel, "gs128x100"),
    "nbody": _n_body,
    "hmm": _hidden_markov,
    "chol50": partial(_cholesky, 50),
    "chol200": partial(_cholesky, 200),
    "sdtw": _soft_dtw,
    "lse100": partial(_log_sum_exp, 100),
    "lse10000": partial(_log_sum_exp, 10_000),
    "logreg": _logistic,
    "mlp1": partial(_network, 1),
    "mlp128": partial(_network, 128),
    "chain": _chain,
    "rnn": partial(_characters, "rnn"),
    "lstm": partial(_characters, "lstm"),
    "treelstm": _tree_lstm,
}
