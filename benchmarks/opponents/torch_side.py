"""The workloads in PyTorch, eager: whole arrays per operation, Python loops where each step needs the one before."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch.nn import functional

import chain_inputs
import loops_inputs
import nn_inputs
import zyg_inputs
from opponents.trees import levels

torch.set_num_threads(1)

__all__ = ["sides"]

Calls = dict[str, Callable[[], object]]


def sides(workload: str) -> Calls:
    """The calls of a workload by kind."""
    make = _WORKLOADS.get(workload)
    return make() if make else {}


def _tensor(value: object) -> object:
    return torch.from_numpy(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value


def _both(program: Callable, arguments: Sequence[object], argnums: Sequence[int]) -> Calls:
    given = [_tensor(value) for value in arguments]
    active = [torch.as_tensor(v).detach().clone().requires_grad_(i in argnums) for i, v in enumerate(given)]
    active = [leaf if i in argnums else value for i, (leaf, value) in enumerate(zip(active, given, strict=True))]
    wanted = [active[i] for i in argnums]

    def value() -> object:
        with torch.no_grad():
            return program(*given)

    def slopes() -> object:
        result = program(*active)
        return result.detach(), tuple(torch.autograd.grad(result, wanted))

    return {"value": value, "gradient": slopes}


# ---- numbers --------------------------------------------------------------------------------------------------------


def _points(start: float, step: float, count: int, program: Callable) -> Calls:
    """A program at many points at once."""
    at = torch.from_numpy(start + step * np.arange(count))
    active = at.clone().requires_grad_(True)

    def value() -> object:
        with torch.no_grad():
            return torch.sum(program(at))

    return {
        "value": value,
        "gradient": lambda: torch.sum(torch.autograd.grad(torch.sum(program(active)), active)[0]),
    }


def _power(x):
    r = torch.ones_like(x)
    for _ in range(zyg_inputs.POW_N):
        r = r * x
    return r


def _grow_past(x):
    """All lanes go on until the last one is done; those that are stay as they are."""
    r = torch.ones_like(x)
    while bool((r < zyg_inputs.DD_LIM).any()):
        r = torch.where(r < zyg_inputs.DD_LIM, r * x, r)
    return r


def _lorenz() -> Calls:
    h = loops_inputs.LOR_H

    def flow(s, theta):
        x, y, z = s.unbind()
        return torch.stack((theta[3] * (y - x), x * (theta[4] - z) - y, x * y - theta[5] * z))

    def program(theta):
        s = theta[:3]
        for _ in range(loops_inputs.LOR_N):
            a = flow(s, theta)
            b = flow(s + h / 2 * a, theta)
            c = flow(s + h / 2 * b, theta)
            d = flow(s + h * c, theta)
            s = s + h / 6 * (a + 2 * b + 2 * c + d)
        return 0.5 * torch.sum(s * s)

    return _both(program, (loops_inputs.LOR,), (0,))


def _garch() -> Calls:
    def program(theta, returns):
        squares = returns * returns
        driven = (theta[0] + theta[1] * squares[:-1]).unbind()
        decay = theta[2]
        variance = torch.ones((), dtype=returns.dtype)
        variances = []
        for term in driven:
            variance = term + decay * variance
            variances.append(variance)
        all_of_them = torch.stack(variances)
        return 0.5 * torch.sum(torch.log(all_of_them) + squares[1:] / all_of_them) / len(returns)

    return _both(program, (loops_inputs.GTH, loops_inputs.GR), (0,))


# ---- arrays ---------------------------------------------------------------------------------------------------------


def _heat() -> Calls:
    def program(u, target, alpha):
        for _ in range(loops_inputs.HT):
            centre = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            v = u.clone()
            v[1:-1, 1:-1] = centre + alpha * (around - 4.0 * centre)
            u = v
        return torch.mean((u - target) ** 2)

    arguments = (loops_inputs.HU, loops_inputs.HG, torch.tensor(loops_inputs.HA, dtype=torch.float64))
    by_u = _both(program, arguments, (0,))["gradient"]
    return _both(program, arguments, (0, 2)) | {"by u": by_u}


def _gauss_seidel(key: str) -> Calls:
    """Along a row the update is a linear recurrence, so that a row is the product with a triangular matrix."""
    size, sweeps = loops_inputs.GS[key]
    distance = torch.from_numpy(np.maximum(np.arange(size - 2)[:, None] - np.arange(size - 2), 0))
    below = torch.from_numpy(np.tril(np.ones((size - 2, size - 2))))

    def program(u, target, omega):
        c = 0.25 * omega
        solve = below * c**distance
        first = torch.zeros(size - 2, dtype=u.dtype)
        first[0] = 1.0
        rows = list(u.unbind())
        for _ in range(sweeps):
            for i in range(1, size - 1):
                here = rows[i]
                right = (1 - omega) * here[1:-1] + c * (rows[i - 1][1:-1] + rows[i + 1][1:-1] + here[2:])
                new = solve @ (right + first * (c * here[0]))
                rows[i] = torch.cat((here[:1], new, here[-1:]))
        return torch.mean((torch.stack(rows) - target) ** 2)

    omega = torch.tensor(loops_inputs.GW, dtype=torch.float64)
    return _both(program, (loops_inputs.GU[key], loops_inputs.GG[key], omega), (0, 2))


def _n_body() -> Calls:
    def program(p, v, mass, weights):
        for _ in range(loops_inputs.NT):
            d = p[:, None, :] - p[:, :, None]
            q = torch.sum(d * d, dim=0) + loops_inputs.NE2
            v = v + loops_inputs.NH * torch.sum(mass / (q * torch.sqrt(q)) * d, dim=2)
            p = p + loops_inputs.NH * v
        return torch.sum(weights * p)

    return _both(program, (loops_inputs.NP, loops_inputs.NV, loops_inputs.NM, loops_inputs.NW), (0, 1, 2))


def _hidden_markov() -> Calls:
    observed = torch.from_numpy(np.asarray(loops_inputs.OB))

    def program(initial, transition, emission):
        first, *seen = emission.T[observed].unbind()
        alpha = initial + first
        for here in seen:
            alpha = torch.logsumexp(alpha[:, None] + transition, dim=0) + here
        return torch.logsumexp(alpha, dim=0)

    return _both(program, (loops_inputs.PI, loops_inputs.A, loops_inputs.B), (0, 1, 2))


def _cholesky(size: int) -> Calls:
    def program(matrix):
        whole = torch.tril(matrix) + torch.tril(matrix, -1).T
        return 2.0 * torch.sum(torch.log(torch.diagonal(torch.linalg.cholesky(whole))))

    return _both(program, (loops_inputs.CH[size],), (0,))


def _soft_dtw() -> Calls:
    """Antidiagonal after antidiagonal, each of its own length."""
    n = loops_inputs.DN

    def program(x, y):
        turned = torch.flip((x[:, None] - y) ** 2, (1,))
        far = torch.full((1,), 1e10, dtype=x.dtype)
        two, one = torch.zeros(1, dtype=x.dtype), torch.cat((far, far))
        for k in range(2, 2 * n + 1):
            corner = two if k <= n + 1 else two[1:-1]
            low = -torch.logsumexp(torch.stack((-one[:-1], -one[1:], -corner)), dim=0)
            new = torch.diagonal(turned, n + 1 - k) + low
            two, one = one, torch.cat((far, new, far)) if k <= n else new
        return one[0]

    return _both(program, (loops_inputs.DX, loops_inputs.DY), (0, 1))


def _log_sum_exp(size: int) -> Calls:
    return _both(lambda x: torch.log(torch.sum(torch.exp(x))), (zyg_inputs.LSE[size],), (0,))


def _logistic() -> Calls:
    def program(weights, bias, x):
        return torch.sum(torch.sigmoid(weights @ x + bias))

    return _both(program, (zyg_inputs.LW, zyg_inputs.Lb, zyg_inputs.Lx), (0, 1))


def _network(batch: int) -> Calls:
    def program(w1, b1, w2, b2, x, labels):
        return functional.cross_entropy(torch.addmm(b2, torch.relu(torch.addmm(b1, x, w1)), w2), labels)

    weights = (zyg_inputs.W1, zyg_inputs.b1, zyg_inputs.W2, zyg_inputs.b2)
    return _both(program, (*weights, zyg_inputs.MX[batch], zyg_inputs.MY[batch]), (0, 1, 2, 3))


def _chain() -> Calls:
    arrays = (chain_inputs.CA, chain_inputs.CX, chain_inputs.CB, chain_inputs.CC)
    return _both(lambda a, x, b, c: torch.sum(torch.tanh(a * x + b) * c), arrays, (0, 1, 2, 3))


# ---- recurrent networks ---------------------------------------------------------------------------------------------


def _characters(kind: str) -> Calls:
    weights = nn_inputs.RNN if kind == "rnn" else nn_inputs.LSTM
    read = torch.from_numpy(np.ascontiguousarray(nn_inputs.XI))
    following = torch.from_numpy(np.ascontiguousarray(nn_inputs.YI)).reshape(-1)

    def program(wx, wh, b, wo, bo):
        given = functional.embedding(read, wx) + b
        h = torch.zeros(nn_inputs.Bn, nn_inputs.Hn)
        c = torch.zeros_like(h)
        states = []
        for x in given.unbind():
            gates = torch.addmm(x, h, wh)
            if kind == "rnn":
                h = torch.tanh(gates)
            else:
                i, f, u, o = gates.chunk(4, dim=1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(u)
                h = torch.sigmoid(o) * torch.tanh(c)
            states.append(h)
        return functional.cross_entropy(torch.addmm(bo, torch.cat(states), wo), following)

    return _both(program, weights, tuple(range(5)))


def _tree_lstm() -> Calls:
    """The words at once, then node by node, as a user writes it for trees of any shape."""
    tree = levels()
    pairs = [pair for left, right in tree.parts for pair in zip(left.tolist(), right.tolist(), strict=True)]

    def program(wl, bl, wi, bi, wo, bo, words, labels):
        i, o, u = torch.addmm(bl, words, wl).chunk(3, dim=1)
        cells = torch.sigmoid(i) * torch.tanh(u)
        states = torch.sigmoid(o) * torch.tanh(cells)
        c, h = list(cells.unbind()), list(states.unbind())
        for left, right in pairs:
            i, f, e, o, u = (torch.cat((h[left], h[right])) @ wi + bi).chunk(5)
            new = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f) * c[left] + torch.sigmoid(e) * c[right]
            c.append(new)
            h.append(torch.sigmoid(o) * torch.tanh(new))
        return functional.cross_entropy(torch.addmm(bo, torch.stack(h), wo), labels, reduction="sum")

    return _both(program, (*nn_inputs.TP, tree.words, tree.labels), tuple(range(6)))


_WORKLOADS: dict[str, Callable[[], Calls]] = {
    "sincos": partial(_points, zyg_inputs.X0, 1e-3, 10_000, lambda x: torch.sin(torch.cos(x))),
    "pow": partial(_points, zyg_inputs.POW_X, 1e-9, 100, _power),
    "dd": partial(_points, zyg_inputs.DD_X, 1e-9, 100, _grow_past),
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
