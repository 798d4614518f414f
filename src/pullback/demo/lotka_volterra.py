"""The Lotka-Volterra system and the likelihood of populations observed with log-normal noise, in plain Python.

Everything here is ordinary Python: it runs unchanged in CPython and compiled, and its `while` loop takes as many steps
as the parameters ask for.

    pb.value_and_grad(negative_log_likelihood)(theta, times, prey, predator)      # value, gradient by theta

`theta` holds the logarithms of `alpha, beta, delta, gamma` (rates, one per unit of time) and of the two populations at
`times[0]`; every real vector is a valid parameter.

    d prey / dt     = (alpha - beta * predator) * prey
    d predator / dt = (delta * prey - gamma) * predator
"""

import math


def slopes(prey, predator, alpha, beta, delta, gamma):
    """Right-hand side of the system."""
    return (alpha - beta * predator) * prey, (delta * prey - gamma) * predator


def cash_karp(x, y, h, alpha, beta, delta, gamma):
    """One trial step of length h from (x, y): the fifth-order solution and its difference from the fourth-order one.

    The embedded pair of J. R. Cash and A. H. Karp, ACM Transactions on Mathematical Software 16 (1990) 201-222.
    """
    x1, y1 = slopes(x, y, alpha, beta, delta, gamma)
    u = x + h * (x1 / 5.0)
    v = y + h * (y1 / 5.0)
    x2, y2 = slopes(u, v, alpha, beta, delta, gamma)
    u = x + h * (3.0 * x1 + 9.0 * x2) / 40.0
    v = y + h * (3.0 * y1 + 9.0 * y2) / 40.0
    x3, y3 = slopes(u, v, alpha, beta, delta, gamma)
    u = x + h * (3.0 * x1 - 9.0 * x2 + 12.0 * x3) / 10.0
    v = y + h * (3.0 * y1 - 9.0 * y2 + 12.0 * y3) / 10.0
    x4, y4 = slopes(u, v, alpha, beta, delta, gamma)
    u = x + h * (-11.0 / 54.0 * x1 + 5.0 / 2.0 * x2 - 70.0 / 27.0 * x3 + 35.0 / 27.0 * x4)
    v = y + h * (-11.0 / 54.0 * y1 + 5.0 / 2.0 * y2 - 70.0 / 27.0 * y3 + 35.0 / 27.0 * y4)
    x5, y5 = slopes(u, v, alpha, beta, delta, gamma)
    a1, a2, a3, a4, a5 = 1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110592.0, 253.0 / 4096.0
    u = x + h * (a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5)
    v = y + h * (a1 * y1 + a2 * y2 + a3 * y3 + a4 * y4 + a5 * y5)
    x6, y6 = slopes(u, v, alpha, beta, delta, gamma)
    b1, b3, b4, b6 = 37.0 / 378.0, 250.0 / 621.0, 125.0 / 594.0, 512.0 / 1771.0
    e1, e3, e4 = b1 - 2825.0 / 27648.0, b3 - 18575.0 / 48384.0, b4 - 13525.0 / 55296.0
    e5, e6 = -277.0 / 14336.0, b6 - 0.25
    return (
        x + h * (b1 * x1 + b3 * x3 + b4 * x4 + b6 * x6),
        y + h * (b1 * y1 + b3 * y3 + b4 * y4 + b6 * y6),
        h * (e1 * x1 + e3 * x3 + e4 * x4 + e5 * x5 + e6 * x6),
        h * (e1 * y1 + e3 * y3 + e4 * y4 + e5 * y5 + e6 * y6),
    )


def advance(x, y, step, interval, tolerance, alpha, beta, delta, gamma):
    """Carry (x, y) over `interval`, each step's error held under `tolerance` times the populations.

    `step` is the step length to try first; the one that the next interval should try first is returned with the state.
    A relative tolerance alone keeps both populations positive.
    """
    remaining = interval
    while remaining > 0.0:
        trial = min(step, remaining)
        u, v, error_x, error_y = cash_karp(x, y, trial, alpha, beta, delta, gamma)
        error = max(abs(error_x) / (tolerance * abs(x)), abs(error_y) / (tolerance * abs(y)))
        if error <= 1.0:
            x, y = u, v
            remaining -= trial
            longer = trial * (5.0 if error < 1.9e-4 else 0.9 * error**-0.2)
            # A step cut short by the end of the interval says nothing against a longer one.
            step = max(step, longer) if trial < step else longer
        else:
            # Also here when the error is not a number: the trial left the range of floats.
            step = trial * (0.9 * error**-0.25 if error < 400.0 else 0.2)
            if step < 1e-10 * interval:
                raise RuntimeError("the step size of the integrator fell to zero")
    return x, y, step


def negative_log_likelihood(theta, times, prey, predator):
    """Minus the log-likelihood of the observations, up to a constant, the two noise scales at their best values.

    Each observation is the population of the model times a log-normal factor. The best scale of the factor, one for
    each population, is the root mean square of the log-residuals, which leaves n * log(scale) for each.
    """
    alpha = math.exp(theta[0])
    beta = math.exp(theta[1])
    delta = math.exp(theta[2])
    gamma = math.exp(theta[3])
    x = math.exp(theta[4])
    y = math.exp(theta[5])
    count = len(times)
    step = 0.1 / (alpha + gamma)
    squares_x = (math.log(prey[0]) - theta[4]) ** 2
    squares_y = (math.log(predator[0]) - theta[5]) ** 2
    for k in range(1, count):
        interval = float(times[k] - times[k - 1])
        x, y, step = advance(x, y, step, interval, 1e-8, alpha, beta, delta, gamma)
        squares_x += (math.log(prey[k]) - math.log(x)) ** 2
        squares_y += (math.log(predator[k]) - math.log(y)) ** 2
    return 0.5 * count * (math.log(squares_x / count) + math.log(squares_y / count))
