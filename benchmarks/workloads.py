"""The workloads on numbers: the plain Python a user would write, the same thing by hand in C, and the inputs of both.

`benchmarks/README.md` defines them in words; those on arrays are in `array_workloads.py`.
"""

import math
import sys
from collections.abc import Callable

import numpy as np

import pullback as pb
from build import SOURCES, load
from forms import BOTH, DOUBLE, LONG, POINTER, Form, Rules, Workload, address, jitted, symbol, value_and_gradient

sys.path.insert(0, str(SOURCES))
import loops_inputs
import zyg_inputs

# ---- the programs, as a user writes them ----------------------------------------------------------------------------


def sincos(x):
    return math.sin(math.cos(x))


def power(x, n):
    r = 1.0
    for _ in range(n):
        r *= x
    return r


def grow_past(x, limit):
    r = 1.0
    while r < limit:
        r *= x
    return r


def sincos_values(x, step, n):
    total = 0.0
    for i in range(n):
        total += sincos(x + step * i)
    return total


def sincos_slopes(x, step, n):
    slope = pb.grad(sincos)
    total = 0.0
    for i in range(n):
        total += slope(x + step * i)
    return total


def power_values(x, step, n, exponent):
    total = 0.0
    for i in range(n):
        total += power(x + step * i, exponent)
    return total


def power_slopes(x, step, n, exponent):
    slope = pb.grad(power)
    total = 0.0
    for i in range(n):
        total += slope(x + step * i, exponent)
    return total


def grow_past_values(x, step, n, limit):
    total = 0.0
    for i in range(n):
        total += grow_past(x + step * i, limit)
    return total


def grow_past_slopes(x, step, n, limit):
    slope = pb.grad(grow_past)
    total = 0.0
    for i in range(n):
        total += slope(x + step * i, limit)
    return total


def flow(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(theta, steps, h):
    x, y, z = theta[0], theta[1], theta[2]
    sigma, rho, beta = theta[3], theta[4], theta[5]
    for _ in range(steps):
        a1, b1, c1 = flow(x, y, z, sigma, rho, beta)
        a2, b2, c2 = flow(x + h / 2 * a1, y + h / 2 * b1, z + h / 2 * c1, sigma, rho, beta)
        a3, b3, c3 = flow(x + h / 2 * a2, y + h / 2 * b2, z + h / 2 * c2, sigma, rho, beta)
        a4, b4, c4 = flow(x + h * a3, y + h * b3, z + h * c3, sigma, rho, beta)
        x += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        y += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        z += h / 6 * (c1 + 2 * c2 + 2 * c3 + c4)
    return 0.5 * (x * x + y * y + z * z)


def garch(theta, returns):
    variance = 1.0
    total = 0.0
    for t in range(1, len(returns)):
        variance = theta[0] + theta[1] * returns[t - 1] * returns[t - 1] + theta[2] * variance
        total += math.log(variance) + returns[t] * returns[t] / variance
    return 0.5 * total / len(returns)


# ---- both sides -----------------------------------------------------------------------------------------------------


def repeated(
    name: str, programs: tuple[Callable, Callable], arguments: tuple, extra_types: tuple, rules: Rules
) -> list[Form]:
    """A short program repeated inside the compiled code of either side, at slowly changing x."""
    library = load("repeated.c", rules.build)
    types = (DOUBLE, DOUBLE, LONG, *extra_types)
    forms = []
    for kind, suffix, program in zip(("value", "gradient"), "fg", programs, strict=True):
        ours, by_hand = jitted(program, rules), symbol(library, f"{name}_loop_{suffix}", *types)
        sides = (lambda ours=ours: ours(*arguments), lambda by_hand=by_hand: by_hand(*arguments))
        forms.append(Form(name, kind, *sides, rules.build, rules.fastmath, inner=arguments[2]))
    return forms


def sincos_forms(rules: Rules) -> list[Form]:
    """sin(cos(x)) inside a compiled loop."""
    return repeated("sincos", (sincos_values, sincos_slopes), (zyg_inputs.X0, 1e-3, 10_000), (), rules)


def power_forms(rules: Rules) -> list[Form]:
    """x**1000 by a loop of products."""
    arguments = (zyg_inputs.POW_X, 1e-9, 100, zyg_inputs.POW_N)
    return repeated("pow", (power_values, power_slopes), arguments, (LONG,), rules)


def grow_past_forms(rules: Rules) -> list[Form]:
    """A while loop of about 994 trips, decided by the data."""
    arguments = (zyg_inputs.DD_X, 1e-9, 100, zyg_inputs.DD_LIM)
    return repeated("dd", (grow_past_values, grow_past_slopes), arguments, (DOUBLE,), rules)


def lorenz_forms(rules: Rules) -> list[Form]:
    """The Lorenz system, 10,000 steps of RK4, by its start and its constants."""
    library = load("loops.c", rules.build)
    theta, steps, h = loops_inputs.LOR, loops_inputs.LOR_N, loops_inputs.LOR_H
    slope = np.empty(6)
    value_by_hand = symbol(library, "lorenz_f", POINTER, LONG, DOUBLE)
    slope_by_hand = symbol(library, "lorenz_g", POINTER, LONG, DOUBLE, POINTER)
    at, into = address(theta), address(slope)
    by_hand = (lambda: value_by_hand(at, steps, h), lambda: (slope_by_hand(at, steps, h, into), slope))
    # The system is chaotic: what is rounding after one step is 1e-10 of the result only under the same rules.
    tolerance = 1e-10 if rules.build.name == "strict" else 1e-6
    return value_and_gradient("lorenz", lorenz, (theta, steps, h), 0, by_hand, rules, tolerance)


def garch_forms(rules: Rules) -> list[Form]:
    """Mean negative log-likelihood of GARCH(1,1) over 100,000 returns, by its three parameters."""
    library = load("loops.c", rules.build)
    theta, returns = loops_inputs.GTH, loops_inputs.GR
    slope = np.empty(3)
    value_by_hand = symbol(library, "garch_f", POINTER, POINTER, LONG)
    slope_by_hand = symbol(library, "garch_g", POINTER, POINTER, LONG, POINTER)
    at, data, count, into = address(theta), address(returns), len(returns), address(slope)
    by_hand = (lambda: value_by_hand(at, data, count), lambda: (slope_by_hand(at, data, count, into), slope))
    return value_and_gradient("garch", garch, (theta, returns), 0, by_hand, rules)


NUMBER_WORKLOADS: dict[str, Workload] = {
    "sincos": Workload(sincos_forms, BOTH),
    "pow": Workload(power_forms),
    "dd": Workload(grow_past_forms),
    "lorenz": Workload(lorenz_forms),
    "garch": Workload(garch_forms),
}
