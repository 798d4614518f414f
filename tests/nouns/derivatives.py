"""Nouns of derivatives inside programs: confusion of perturbations, inner gradients, transformations."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import pullback as pb
from nouns import noun


@noun("no perturbation confusion over closures", args=[(0.7,), (1.3,)])
def no_confusion(x):
    inner = pb.grad(lambda y: x * y * y + math.sin(x))(2.0 * x)
    return inner * x + pb.grad(lambda y: pb.grad(lambda z: x * y * z * z)(y))(x)


@noun("no perturbation confusion over mutated captured state", args=[(0.7,), (1.3,)])
def no_confusion_of_state(x):
    state = [x, 1.0]

    def f(y):
        state[0] = state[0] * y
        return state[0] * y

    slope = pb.grad(f)(x)
    total = 0.0

    def add(y):
        nonlocal total
        total = total + y * x
        return total * y

    return slope * state[0] + pb.grad(add)(2.0) * total


@noun("grad in a loop", args=[(0.7, 3), (0.2, 4)])
def gradient_in_loop(x, n):
    y = x
    for i in range(n):
        y = y - 0.1 * pb.grad(lambda a: math.sin(a) * a + i * x * a)(y)
    return y * y


@noun("Newton's method on an inner grad", args=[(1.7,), (0.9,)])
def newton(x):
    def objective(a):
        return a**4 / 4.0 - x * a

    slope = pb.grad(objective)
    curvature = pb.grad(slope)
    a = 1.0
    for _ in range(12):
        step = slope(a) / curvature(a)
        a = a - step
        if abs(step) < 1e-13:
            break
    return a * x


@noun("force as the gradient of a potential", args=[(0.7, 5)])
def particle(x, n):
    def potential(q):
        return 0.5 * x * q * q + 0.1 * q**4

    q, p, h = 1.0, 0.0, 0.1
    for _ in range(n):
        p = p - h * pb.grad(potential)(q)
        q = q + h * p
    return q * q + p


@dataclass
class Particle:
    q: float
    p: float

    def step(self, force, h):
        self.p += h * force(self.q)
        self.q += h * self.p


@noun("grad of a local closure in an object", args=[(0.7, 4)])
def particle_object(x, n):
    force = lambda q: -pb.grad(lambda a: x * a**2 + math.cos(a))(q)
    particle = Particle(1.0, x)
    for _ in range(n):
        particle.step(force, 0.2)
    return particle.q * particle.p


@noun("stop_gradient", args=[(0.7,), (1.3,)])
def stopped(x):
    scale = pb.stop_gradient(x * x)
    pair = pb.stop_gradient((x, 2.0))
    return x * scale + math.sin(pair[0]) * x


@noun("hessian", args=[(np.array([0.7, -0.4]),)])
def inner_hessian(v):
    h = pb.hessian(lambda a: a[0] ** 2 * a[1] + np.sum(a * a * a))(v)
    return h[0, 0] * h[1, 1] - h[0, 1] ** 2


@noun("jacobian", args=[(np.array([0.7, -0.4]),)])
def inner_jacobian(v):
    j = pb.jacobian(lambda a: np.array([a[0] * a[1], np.sin(a[0])]))(v)
    return j[0, 0] * j[1, 0] + j[0, 1] * 2.0


@noun("hvp", args=[(np.array([0.7, -0.4]),)])
def inner_hvp(v):
    h = pb.hvp(lambda a: np.sum(a**3) + a[0] * a[1] ** 2, (v,), (np.array([1.0, 2.0]),))
    return np.sum(h * v)


@noun("linearize", args=[(0.7,), (1.3,)])
def linearized(x):
    y, along = pb.linearize(lambda a: math.sin(a) * x, x * x)
    return y * along(2.0) + along(x)


@noun("jvp and vjp inside", args=[(0.7,), (1.3,)])
def inner_modes(x):
    y, tangent = pb.jvp(lambda a, b: a * math.sin(b), (x, 2.0 * x), (1.0, x))
    z, pullback = pb.vjp(lambda a: a**3 + x * a, x)
    return y * tangent + pullback(x)[0] * z


@noun("grad of a recursive function", args=[(0.7, 4)])
def gradient_of_recursion(x, n):
    def power(a, k):
        return 1.0 if k == 0 else a * power(a * x, k - 1)

    return pb.grad(power)(x, n) + pb.grad(lambda a: power(2.0, 2) * a)(x)
