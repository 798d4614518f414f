"""`grad`, `vjp` and `jvp` used inside programs; ``same_as`` is the same value worked out by hand."""

import math

import numpy as np

import pullback as pb
from programs import program


def cube(x):
    return x * x * x


@program(args=[(2.0,), (-1.0,)], same_as=lambda x: 3.0 * x * x)
def grad_of_helper(x):
    return pb.grad(cube)(x)


@program(args=[(2.0,), (-1.0,)], same_as=lambda x: 6.0 * x)
def grad_of_grad(x):
    return pb.grad(pb.grad(cube))(x)


@program(args=[(2.0, 3.0)], argnums=(0, 1), same_as=lambda x, y: 2.0 * x * y * x)
def grad_captures(x, y):
    return pb.grad(lambda a: a * a * y)(x) * x


@program(args=[(1.0,), (2.0,)], same_as=lambda x: x * 2.0)
def perturbations_stay_apart(x):
    return x * pb.grad(lambda y: x * y + y)(x) - x * x + x


@program(args=[(2.0,), (0.5,)], same_as=lambda x: x * (2.0 * x + 1.0) + x * 0.0)
def inner_gradient_by_captured(x):
    return x * pb.grad(lambda y: (x + y) * y - x * y + y)(x)


@program(args=[(2.0, 3.0)], argnums=(0, 1), same_as=lambda x, y: 2.0 * x * y + x * x * 3.0)
def grad_two_arguments(x, y):
    dx, dy = pb.grad(lambda a, b: a * a * b, argnums=(0, 1))(x, y)
    return dx + dy * 3.0


@program(args=[(0.7,)], same_as=lambda x: math.sin(x) + x * math.cos(x))
def value_and_gradient(x):
    value, slope = pb.value_and_grad(lambda a: math.sin(a))(x)
    return value + x * slope


@program(args=[(0.7, 2.0)], argnums=(0, 1), same_as=lambda x, t: math.sin(x) + math.cos(x) * t)
def jvp_inside(x, t):
    value, tangent = pb.jvp(math.sin, (x,), (t,))
    return value + tangent


@program(args=[(0.7, 2.0)], argnums=(0, 1), same_as=lambda x, y: x * y + y * 3.0 + x * 3.0)
def vjp_inside(x, y):
    value, pullback = pb.vjp(lambda a, b: a * b, x, y)
    dx, dy = pullback(3.0)
    return value + dx + dy


@program(args=[(0.7,)], same_as=lambda x: 2.0 * x + 4.0 * x)
def pullback_called_twice(x):
    value, pullback = pb.vjp(lambda a: a * a, x)
    (first,) = pullback(1.0)
    (second,) = pullback(2.0)
    return first + second


def power_by_loop(x, n):
    result = 1.0
    for _ in range(n):
        result *= x
    return result


@program(args=[(1.5, 4), (1.5, 1), (1.5, 0), (0.0, 3)], same_as=lambda x, n: n * x ** (n - 1) if n > 0 else x * 0.0)
def grad_through_loop(x, n):
    return pb.grad(power_by_loop)(x, n)


@program(args=[(1.5, 4), (0.5, 2)], same_as=lambda x, n: n * (n - 1) * x ** (n - 2))
def second_grad_through_loop(x, n):
    return pb.grad(pb.grad(power_by_loop))(x, n)


@program(args=[(1.5,), (0.3,)], same_as=lambda x: -x * math.sin(x) if x > 1.0 else 3.0 * x * x)
def grad_through_branch(x):
    def f(y):
        if y > 1.0:
            return math.cos(y)
        return cube(y)

    return pb.grad(f)(x) * x if x > 1.0 else pb.grad(f)(x)


@program(args=[(2.0,), (10.0,)], same_as=lambda a: math.sqrt(a))
def newton_by_grad(a):
    f = lambda x: x * x - a
    x = a
    for _ in range(12):
        x = x - f(x) / pb.grad(f)(x)
    return x


@program(args=[(0.5, 3)], same_as=lambda x, n: x * (1.0 - 0.2) ** n)
def descent_by_grad(x, n):
    for _ in range(n):
        x = x - 0.1 * pb.grad(lambda y: y * y)(x)
    return x


@program(args=[(np.array([0.5, -1.5, 2.0]),)], same_as=lambda a: np.sum(4.0 * a * a))
def grad_by_array(a):
    g = pb.grad(lambda v: np.sum(v * v))(a)
    return np.sum(g * g)


@program(args=[(0.7, 2.0)], argnums=(0, 1), same_as=lambda x, k: k * math.cos(x) - k * k * x * math.sin(k * x))
def grad_in_helper(x, k):
    return slope_of(lambda y: math.sin(y) * k, x) + x * slope_of(lambda y: math.cos(k * y), x) * k


def slope_of(f, x):
    return pb.grad(f)(x)


@program(args=[(0.7,)], same_as=lambda x: -math.sin(x))
def forward_over_reverse(x):
    return pb.jvp(pb.grad(math.sin), (x,), (1.0,))[1]


@program(args=[(0.7,)], same_as=lambda x: -math.sin(x))
def reverse_over_forward(x):
    return pb.grad(lambda y: pb.jvp(math.sin, (y,), (1.0,))[1])(x)


@program(args=[(0.7,)], same_as=lambda x: -math.cos(x))
def third_order_mixed(x):
    return pb.grad(lambda z: pb.jvp(lambda y: pb.jvp(math.sin, (y,), (1.0,))[1], (z,), (1.0,))[1])(x)


@program(args=[(0.7, 2.0)], argnums=(0, 1), same_as=lambda x, y: math.exp(x * y) * (1.0 + x * y))
def mixed_partial(x, y):
    return pb.grad(lambda a: pb.grad(lambda b: math.exp(a * b))(y))(x)


@program(args=[(1.5, 3)], same_as=lambda x, n: 3.0 * x * x)
def grad_of_recursion(x, n):
    def power(y, k):
        return 1.0 if k == 0 else y * power(y, k - 1)

    return pb.grad(power)(x, n)


@program(args=[(1.5, 2.0)], argnums=(0, 1), same_as=lambda x, y: 2.0 * x + y + x)
def grad_of_tuple(x, y):
    g = pb.grad(lambda t: t[0] * t[0] + t[0] * t[1])((x, y))
    return g[0] + g[1]


@program(args=[(1.5,)], same_as=lambda x: 2.0 * x + math.sin(x))
def grad_has_aux(x):
    g, aux = pb.grad(lambda y: (y * y, math.sin(y)), has_aux=True)(x)
    return g + aux


@program(args=[(2.0,)], same_as=lambda x: (x**2 - 1.0) * 4.0 * x)
def jit_inside(x):
    return pb.grad(pb.jit(lambda y: (y**2 - 1.0) ** 2))(x)
