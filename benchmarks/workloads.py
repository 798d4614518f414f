"""The workloads: the plain Python a user would write, the same thing by hand in C, and the inputs of both.

A workload is one program with two measured forms, value and derivative; each form is one call on either side that does
`inner` units of work and returns numbers that must agree. `benchmarks/README.md` defines them in words.
"""

import ctypes
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import pullback as pb
from build import SOURCES, load

sys.path.insert(0, str(SOURCES))
import loops_inputs
import zyg_inputs

DOUBLE, LONG, POINTER = ctypes.c_double, ctypes.c_long, ctypes.c_void_p


@dataclass(frozen=True, slots=True)
class Form:
    """One measured form. `ours` is called for the first time by the runner, which times that call too."""

    workload: str
    kind: str
    inner: int
    ours: Callable[[], object]
    by_hand: Callable[[], object]


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


def _function(library: ctypes.CDLL, name: str, *argument_types: object) -> Callable[..., float]:
    function = library[name]
    function.argtypes, function.restype = argument_types, DOUBLE
    return function


def _pointer(array: np.ndarray) -> int:
    return array.ctypes.data


def repeated(name: str, programs: tuple[Callable, Callable], arguments: tuple, extra_types: tuple) -> list[Form]:
    """A short program repeated inside the compiled code of either side, at slowly changing x."""
    library = load("repeated.c")
    types = (DOUBLE, DOUBLE, LONG, *extra_types)
    forms = []
    for kind, suffix, program in zip(("value", "gradient"), "fg", programs, strict=True):
        ours, by_hand = pb.jit(program), _function(library, f"{name}_loop_{suffix}", *types)
        forms.append(
            Form(
                name,
                kind,
                arguments[2],
                lambda ours=ours: ours(*arguments),
                lambda by_hand=by_hand: by_hand(*arguments),
            )
        )
    return forms


def sincos_forms() -> list[Form]:
    """sin(cos(x)) inside a compiled loop."""
    return repeated("sincos", (sincos_values, sincos_slopes), (zyg_inputs.X0, 1e-3, 10_000), ())


def power_forms() -> list[Form]:
    """x**1000 by a loop of products."""
    arguments = (zyg_inputs.POW_X, 1e-9, 100, zyg_inputs.POW_N)
    return repeated("pow", (power_values, power_slopes), arguments, (LONG,))


def grow_past_forms() -> list[Form]:
    """A while loop of about 994 trips, decided by the data."""
    arguments = (zyg_inputs.DD_X, 1e-9, 100, zyg_inputs.DD_LIM)
    return repeated("dd", (grow_past_values, grow_past_slopes), arguments, (DOUBLE,))


def lorenz_forms() -> list[Form]:
    """The Lorenz system, 10,000 steps of RK4, by its start and its constants."""
    library = load("loops.c")
    theta, steps, h = loops_inputs.LOR, loops_inputs.LOR_N, loops_inputs.LOR_H
    slope = np.empty(6)
    value_by_hand = _function(library, "lorenz_f", POINTER, LONG, DOUBLE)
    slope_by_hand = _function(library, "lorenz_g", POINTER, LONG, DOUBLE, POINTER)
    value, slopes = pb.jit(lorenz), pb.value_and_grad(lorenz)
    at, into = _pointer(theta), _pointer(slope)
    return [
        Form("lorenz", "value", 1, lambda: value(theta, steps, h), lambda: value_by_hand(at, steps, h)),
        Form(
            "lorenz",
            "gradient",
            1,
            lambda: slopes(theta, steps, h),
            lambda: (slope_by_hand(at, steps, h, into), slope),
        ),
    ]


def garch_forms() -> list[Form]:
    """Mean negative log-likelihood of GARCH(1,1) over 100,000 returns, by its three parameters."""
    library = load("loops.c")
    theta, returns = loops_inputs.GTH, loops_inputs.GR
    slope = np.empty(3)
    value_by_hand = _function(library, "garch_f", POINTER, POINTER, LONG)
    slope_by_hand = _function(library, "garch_g", POINTER, POINTER, LONG, POINTER)
    value, slopes = pb.jit(garch), pb.value_and_grad(garch)
    at, data, count, into = _pointer(theta), _pointer(returns), len(returns), _pointer(slope)
    return [
        Form("garch", "value", 1, lambda: value(theta, returns), lambda: value_by_hand(at, data, count)),
        Form(
            "garch",
            "gradient",
            1,
            lambda: slopes(theta, returns),
            lambda: (slope_by_hand(at, data, count, into), slope),
        ),
    ]


WORKLOADS: dict[str, Callable[[], list[Form]]] = {
    "sincos": sincos_forms,
    "pow": power_forms,
    "dd": grow_past_forms,
    "lorenz": lorenz_forms,
    "garch": garch_forms,
}
