"""Functions with rules that state their true derivative, beside the plain functions: every derivative must agree.

A `Row` has the plain function, a jvp rule, a forward and a backward rule, and a program that calls what it is given:
`program(h)` is a function of an array of four numbers that returns one number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

__all__ = ["ROWS", "Row"]


@dataclass(frozen=True)
class Row:
    name: str
    plain: Callable[..., Any]
    jvp: Callable[..., Any]
    forward: Callable[..., Any]
    backward: Callable[..., Any]
    program: Callable[..., Any]
    nondiff: tuple[int, ...] = ()

    def ruled(self, kind: str) -> Any:
        """The function with the rules that the kind names."""
        make = pb.custom_vjp if kind == "vjp" else pb.custom_jvp
        found = make(self.plain, nondiff_argnums=self.nondiff)
        if kind in ("jvp", "both"):
            found.defjvp(self.jvp)
        if kind in ("vjp", "both"):
            found.defvjp(self.forward, self.backward)
        return found


# ------------------------------------------------------------------------------------------------------------- numbers


def wave(x: Any) -> Any:
    return math.sin(x) * x


def wave_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return wave(x), (math.cos(x) * x + math.sin(x)) * dx


def wave_forward(x: Any) -> Any:
    return math.sin(x) * x, (x, math.sin(x))


def wave_backward(kept: Any, c: Any) -> Any:
    x, s = kept
    return ((math.cos(x) * x + s) * c,)


def in_loop(h: Any) -> Any:
    def loss(x: Any) -> Any:
        total = 0.5
        for i in range(x.shape[0]):
            if x[i] > 0.0:
                total = h(total * x[i]) + total
            else:
                total += h(x[i]) * total
        return total

    return loss


def in_recursion(h: Any) -> Any:
    def down(x: Any, i: Any) -> Any:
        if i == 4:
            return 1.0
        return h(x[i]) * down(x, i + 1) + h(down(x, i + 1))

    return lambda x: down(x, 1)


def in_try(h: Any) -> Any:
    def loss(x: Any) -> Any:
        total = 0.0
        for i in range(4):
            try:
                y = h(x[i])
                if i == 2:
                    raise ValueError
                total += y * x[1]
            except ValueError:
                total += h(x[i] * 3.0) * x[i]
        return total

    return loss


# ---------------------------------------------------------------------------------------- several arguments and results


def polar(r: Any, phi: Any, n: Any) -> Any:
    return r * math.cos(n * phi), r * math.sin(n * phi), n


def polar_jvp(primals: Any, tangents: Any) -> Any:
    (r, phi, n), (dr, dphi, _) = primals, tangents
    c, s = math.cos(n * phi), math.sin(n * phi)
    return (r * c, r * s, n), (dr * c - r * s * n * dphi, dr * s + r * c * n * dphi, 0)


def polar_forward(r: Any, phi: Any, n: Any) -> Any:
    return polar(r, phi, n), (r, phi, n)


def polar_backward(kept: Any, cotangent: Any) -> Any:
    r, phi, n = kept
    cx, cy, _ = cotangent
    c, s = math.cos(n * phi), math.sin(n * phi)
    return cx * c + cy * s, n * r * (cy * c - cx * s), None


def with_polar(h: Any) -> Any:
    def loss(x: Any) -> Any:
        a, b, n = h(x[0], x[1], 2)
        c, _, _ = h(a * x[2], b + x[3], 3)
        return a * c + b * n * c * c

    return loss


# ------------------------------------------------------------------------------------------------------------- arrays


def gate(a: Any, w: Any) -> Any:
    return np.tanh(a) * w + np.sum(a * a)


def gate_jvp(primals: Any, tangents: Any) -> Any:
    (a, w), (da, dw) = primals, tangents
    t = np.tanh(a)
    return t * w + np.sum(a * a), (1.0 - t * t) * da * w + t * dw + 2.0 * np.sum(a * da)


def gate_forward(a: Any, w: Any) -> Any:
    t = np.tanh(a)
    return t * w + np.sum(a * a), (a, t, w)


def gate_backward(kept: Any, c: Any) -> Any:
    a, t, w = kept
    return (1.0 - t * t) * w * c + 2.0 * np.sum(c) * a, np.sum(t * c)


def overwritten(h: Any) -> Any:
    def loss(x: Any) -> Any:
        a = x * 1.5
        b = h(a, x[0])
        b[0] = b[1] * 2.0
        a[1] = b[2]
        c = h(b[::2], x[1] * x[1])
        b[2] = 7.0
        return np.sum(c) * a[1] + np.sum(a * b)

    return loss


def carried(h: Any) -> Any:
    def loss(x: Any) -> Any:
        a = x
        for i in range(3):
            if x[0] > 0.1:
                a = h(a, x[i])
            a = a * 0.3
        return np.sum(a * a)

    return loss


def checkpointed(h: Any) -> Any:
    step = pb.checkpoint(h)

    def loss(x: Any) -> Any:
        a = x * 1.0
        for _ in range(3):
            a = step(a, x[1]) * 0.5
        return np.sum(a * x)

    return loss


def single(h: Any) -> Any:
    """float32, and an empty array."""

    def loss(x: Any) -> Any:
        b = x.astype(np.float32)
        none = h(b[4:], b[0])
        return float(np.sum(h(b * b, b[1]) * b)) + float(np.sum(none))

    return loss


# --------------------------------------------------------------------------------------------------------- structures


class Layer(NamedTuple):
    scale: Any
    weights: Any


def affine(layer: Any, more: Any) -> Any:
    return {"sum": layer.scale * np.sum(layer.weights) * more[0], "all": layer.weights * layer.scale * more[1]}


def affine_jvp(primals: Any, tangents: Any) -> Any:
    (p, m), (dp, dm) = primals, tangents
    s = np.sum(p.weights)
    ds = dp.scale * s * m[0] + p.scale * np.sum(dp.weights) * m[0] + p.scale * s * dm[0]
    dv = dp.weights * p.scale * m[1] + p.weights * dp.scale * m[1] + p.weights * p.scale * dm[1]
    return affine(p, m), {"sum": ds, "all": dv}


def affine_forward(layer: Any, more: Any) -> Any:
    return affine(layer, more), (layer, more)


def affine_backward(kept: Any, c: Any) -> Any:
    p, m = kept
    s, v = c["sum"], c["all"]
    total = np.sum(p.weights)
    each = v * p.weights
    scale = s * total * m[0] + np.sum(each) * m[1]
    weights = v * p.scale * m[1] + s * p.scale * m[0]
    return Layer(scale, weights), (s * p.scale * total, np.sum(each) * p.scale)


def with_layers(h: Any) -> Any:
    def loss(x: Any) -> Any:
        one = h(Layer(x[0], x[1:]), (x[1], 0.5))
        two = h(Layer(one["sum"], one["all"] * x[2]), (2.0, x[3]))
        return two["sum"] ** 2 + np.sum(two["all"])

    return loss


def square(z: Any) -> Any:
    return z * z * z


def square_jvp(primals: Any, tangents: Any) -> Any:
    return primals[0] ** 3, 3.0 * primals[0] * primals[0] * tangents[0]


def square_forward(z: Any) -> Any:
    return z * z * z, z


def square_backward(z: Any, c: Any) -> Any:
    return (c * 3.0 * (z * z).conjugate(),)


def with_complex(h: Any) -> Any:
    def loss(x: Any) -> Any:
        z = complex(x[0], x[1])
        w = h(z) * complex(x[2], x[3])
        return w.real * w.real + w.imag * z.real

    return loss


# ------------------------------------------------------------------------ arguments without derivative, local memory


def scaled(data: Any, f: Any, x: Any, power: Any = 2) -> Any:
    return f(x) * np.sum(data) + x**power


def scaled_jvp(data: Any, f: Any, primals: Any, tangents: Any) -> Any:
    (x, n), (dx, _) = primals, tangents
    y, dy = pb.jvp(f, (x,), (dx,))
    return y * np.sum(data) + x**n, dy * np.sum(data) + n * x ** (n - 1) * dx


def scaled_forward(data: Any, f: Any, x: Any, power: Any) -> Any:
    return scaled(data, f, x, power), (x, power)


def scaled_backward(data: Any, f: Any, kept: Any, c: Any) -> Any:
    x, n = kept
    return c * pb.grad(f)(x) * np.sum(data) + c * n * x ** (n - 1), None


DATA = np.array([0.3, -0.2, 0.7])


def with_functions(h: Any) -> Any:
    def loss(x: Any) -> Any:
        k = 3.0
        return h(DATA, lambda y: math.sin(k * y) * y, x[0]) * h(DATA, math.cos, x[1] * x[2], 3) + x[3]

    return loss


FACTORS = [0.5, 2.0]


def summed(a: Any) -> Any:
    return FACTORS[0] * np.sum(a * a) * a[0]


def summed_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    parts = []
    for i in range(a.shape[0]):
        parts.append(2.0 * a[i] * da[i] * a[0])
    buffer = np.zeros(2)
    for part in parts:
        buffer[1] += part
    return summed(a), FACTORS[0] * (buffer[1] + np.sum(a * a) * da[0])


def summed_forward(a: Any) -> Any:
    norm = np.zeros(1)
    for item in a:
        norm[0] += item * item
    return FACTORS[0] * norm[0] * a[0], (a, norm)


def summed_backward(kept: Any, c: Any) -> Any:
    a, norm = kept
    out = 2.0 * a * a[0]
    out[0] += norm[0]
    return (out * (FACTORS[0] * c),)


def with_locals(h: Any) -> Any:
    def loss(x: Any) -> Any:
        return h(x) * h(x * x[1]) + h(x[::-2])

    return loss


WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])
LEVELS = [2.0, 3.0]


def outer(a: Any) -> Any:
    return np.sum(a * WEIGHTS) * a[0] * LEVELS[0]


def outer_jvp(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    s = np.sum(a * WEIGHTS)
    return s * a[0] * LEVELS[0], (np.sum(da * WEIGHTS) * a[0] + s * da[0]) * LEVELS[0]


def outer_forward(a: Any) -> Any:
    return np.sum(a * WEIGHTS) * a[0] * LEVELS[0], (a, WEIGHTS, LEVELS[0])


def outer_backward(kept: Any, c: Any) -> Any:
    a, w, level = kept
    found = w * a[0] * level
    found[0] += np.sum(a * w) * level
    return (found * c,)


def written_outside(h: Any) -> Any:
    """What the function and its rules read is overwritten after each call, and so are arguments."""

    def loss(x: Any) -> Any:
        WEIGHTS[1] = 2.0
        a = x * 1.0
        first = h(a)
        WEIGHTS[1], a[2] = 7.0, 0.5
        second = h(a * first)
        WEIGHTS[1] = -1.0
        return second + first

    return loss


def powers(x: Any, n: Any) -> Any:
    terms = []
    for i in range(n):
        terms.append(x**i)
    total = 0.0
    for term in terms:
        total += term
    return total


def powers_jvp(primals: Any, tangents: Any) -> Any:
    (x, n), (dx, _) = primals, tangents
    terms = [i * x ** (i - 1) for i in range(1, n)]
    total = 0.0
    for term in terms:
        total += term
    return powers(x, n), total * dx


def powers_forward(x: Any, n: Any) -> Any:
    return powers(x, n), (x, n)


def powers_backward(kept: Any, c: Any) -> Any:
    return powers_jvp(kept, (c, 0))[1], None


def with_lists(h: Any) -> Any:
    def loss(x: Any) -> Any:
        found = []
        for item in x:
            found.append(h(item, 4) * item)
        return sum(found) * h(found[0], 3)

    return loss


_WAVE = (wave, wave_jvp, wave_forward, wave_backward)
_GATE = (gate, gate_jvp, gate_forward, gate_backward)
ROWS = [
    Row("numbers in a loop", *_WAVE, in_loop),
    Row("numbers in recursion", *_WAVE, in_recursion),
    Row("numbers in try", *_WAVE, in_try),
    Row("several, with ints", polar, polar_jvp, polar_forward, polar_backward, with_polar),
    Row("arrays overwritten", *_GATE, overwritten),
    Row("arrays carried", *_GATE, carried),
    Row("arrays checkpointed", *_GATE, checkpointed),
    Row("float32 and empty", *_GATE, single),
    Row("structures", affine, affine_jvp, affine_forward, affine_backward, with_layers),
    Row("complex", square, square_jvp, square_forward, square_backward, with_complex),
    Row("functions", scaled, scaled_jvp, scaled_forward, scaled_backward, with_functions, (0, 1)),
    Row("written outside", outer, outer_jvp, outer_forward, outer_backward, written_outside),
    Row("lists", powers, powers_jvp, powers_forward, powers_backward, with_lists),
    Row("memory in rules", summed, summed_jvp, summed_forward, summed_backward, with_locals),
]
