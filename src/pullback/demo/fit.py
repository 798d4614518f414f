"""Maximum likelihood for any negative log-likelihood that comes with its gradient, from several starting points.

    fit = maximise_likelihood(value_and_grad, starting_points(observations), on_iteration=...)
    errors = standard_errors(fit.theta, hessian(fit.theta))
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from .data import Observations

Vector = NDArray[np.float64]
ValueAndGradient = Callable[[Vector], tuple[float, Vector]]

# What a trial point counts at which the model itself cannot be evaluated: far worse than any other, yet finite.
HOPELESS = 1e10


class FitError(RuntimeError):
    """No estimate was found; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The best point found, its value, and what the search took."""

    theta: Vector
    value: float
    evaluations: int
    converged: bool


def starting_points(observations: Observations) -> list[Vector]:
    """Guesses from the data: a period, and the averages, which are the fixed point (gamma/delta, alpha/beta).

    The likelihood has one valley for each number of cycles in the record, so periods around the likeliest are tried.
    """
    prey, predator = observations.prey, observations.predator
    period = _likeliest_period(observations)
    points = []
    for factor in (1.0, 0.85, 1.2, 0.7, 1.5):
        rate = 2.0 * np.pi / (period * factor)
        guess = [rate, rate / np.mean(predator), rate / np.mean(prey), rate, prey[0], predator[0]]
        points.append(np.log(np.array(guess, dtype=np.float64)))
    return points


def _likeliest_period(observations: Observations) -> float:
    """The period whose sine and cosine explain most of the logarithms of both populations (Lomb-Scargle)."""
    times = observations.times - observations.times[0]
    span = times[-1]
    series = [np.log(p) - np.mean(np.log(p)) for p in (observations.prey, observations.predator)]
    periods = span / np.linspace(1.0, max(2.0, len(times) / 4.0), 200)
    powers = []
    for period in periods:
        basis = np.stack([np.sin(2 * np.pi * times / period), np.cos(2 * np.pi * times / period)], axis=1)
        fitted = [basis @ np.linalg.lstsq(basis, s, rcond=None)[0] for s in series]
        powers.append(sum(float(f @ f) for f in fitted))
    return float(periods[int(np.argmax(powers))])


def maximise_likelihood(
    value_and_gradient: ValueAndGradient, starts: Sequence[Vector], on_iteration: Callable[[int, float], None]
) -> Fit:
    """Minimise by L-BFGS-B from every start and keep the lowest end; `on_iteration(start number, lowest so far)`."""
    lowest = HOPELESS
    fits: list[Fit] = []
    for number, start in enumerate(starts):

        def on_value(value: float, number: int = number) -> None:
            nonlocal lowest
            lowest = min(lowest, value)
            on_iteration(number, lowest)

        fits.append(_minimise(value_and_gradient, start, on_value))
    best = min(fits, key=lambda fit: fit.value)
    if best.value >= HOPELESS:
        raise FitError("the model could not be evaluated near any of the starting points")
    return Fit(best.theta, best.value, sum(fit.evaluations for fit in fits), best.converged)


def _minimise(value_and_gradient: ValueAndGradient, start: Vector, on_value: Callable[[float], None]) -> Fit:
    """One local search; `on_value(value)` after each iteration. Points the model fails at count as hopeless."""

    def guarded(theta: Vector) -> tuple[float, Vector]:
        try:
            value, gradient = value_and_gradient(theta)
        except (ArithmeticError, ValueError, RuntimeError):
            return HOPELESS, np.zeros_like(theta)
        usable = np.isfinite(value) and bool(np.all(np.isfinite(gradient)))
        return (float(value), gradient) if usable else (HOPELESS, np.zeros_like(theta))

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        on_value(float(intermediate_result.fun))

    # Within a factor of 20 of the guess; far outside, one evaluation can take millions of steps.
    bounds = [(middle - 3.0, middle + 3.0) for middle in start]
    result = minimize(guarded, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=after_iteration)
    return Fit(np.asarray(result.x), float(result.fun), int(result.nfev), bool(result.success))


def standard_errors(theta: Vector, hessian: NDArray[np.float64]) -> Vector:
    """Standard errors of exp(theta) by the delta method; nan for all where the Hessian is not positive definite.

    The inverse Hessian of the negative log-likelihood is the covariance of theta, and d exp(theta) = exp(theta) dtheta.
    """
    symmetric = 0.5 * (hessian + hessian.T)
    if not np.all(np.isfinite(symmetric)) or np.linalg.eigvalsh(symmetric)[0] <= 0.0:
        return np.full_like(theta, np.nan)
    return np.asarray(np.exp(theta) * np.sqrt(np.diag(np.linalg.inv(symmetric))))
