"""The demo from file to picture: fit, standard errors, a table of times, a PNG.

    run(Path("examples/hudson_bay.csv"), Path("hudson_bay.png"), print)
"""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from tqdm import tqdm

import pullback as pb

from .data import Observations, read_observations
from .fit import Fit, Vector, maximise_likelihood, standard_errors, starting_points
from .lotka_volterra import advance, negative_log_likelihood

matplotlib.use("Agg")

# The unit of a parameter: "per time", or per time and animal, or a population.
PARAMETERS = (
    ("alpha", "growth of {prey}, per {time}"),
    ("beta", "{prey} lost to each {predator}, per {time}"),
    ("delta", "growth of {predator} from each {prey}, per {time}"),
    ("gamma", "loss of {predator}, per {time}"),
    ("prey at start", "{prey}, {start:g}"),
    ("predator at start", "{predator}, {start:g}"),
)


def run(source: Path, picture: Path, say: Callable[[str], None]) -> None:
    """Read `source`, estimate, report through `say`, and draw the fit into `picture`.

    DataError for a bad file, FitError where nothing fits, OSError where the picture cannot be written.
    """
    observations = read_observations(source)
    data = (observations.times, observations.prey, observations.predator)
    say(f"{source}: {len(data[0])} rows, {observations.names[0]} {data[0][0]:g} to {data[0][-1]:g}")

    value_and_grad = pb.value_and_grad(negative_log_likelihood)
    starts = starting_points(observations)
    began = time.perf_counter()
    value_and_grad(starts[0], *data)
    say(f"compiled the likelihood and its gradient in {time.perf_counter() - began:.2f} s")

    fit = _fit_with_progress(lambda theta: value_and_grad(theta, *data), starts)
    hessian = np.asarray(pb.hessian(negative_log_likelihood)(fit.theta, *data))
    errors = standard_errors(fit.theta, hessian)
    say("\n".join(_parameter_lines(observations, fit, errors)))
    say("\n".join(_time_lines(fit.theta, data, value_and_grad)))
    _draw(observations, fit, picture)
    say(f"wrote {picture}")


def _fit_with_progress(value_and_gradient: Callable[[Vector], tuple[float, Vector]], starts: list[Vector]) -> Fit:
    with tqdm(desc="fitting", unit=" iterations", leave=True) as bar:

        def on_iteration(start: int, lowest: float) -> None:
            bar.update()
            bar.set_postfix_str(f"start {start + 1} of {len(starts)}, -log L {lowest:.4f}", refresh=False)

        return maximise_likelihood(value_and_gradient, starts, on_iteration)


def _parameter_lines(observations: Observations, fit: Fit, errors: Vector) -> list[str]:
    start = observations.times[0]
    words = dict(zip(("time", "prey", "predator"), observations.names, strict=True), start=start)
    lines = ["", f"{'parameter':18} {'estimate':>12} {'std. error':>12}"]
    for (name, meaning), value, error in zip(PARAMETERS, np.exp(fit.theta), errors, strict=True):
        lines.append(f"{name:18} {value:12.5g} {error:12.3g}   {meaning.format(**words)}")
    if np.any(np.isnan(errors)):
        lines.append("no standard errors: the Hessian at the estimate is not positive definite")
    scales = noise_scales(fit.theta, observations)
    noise = ", ".join(f"{name} {scale:.3f}" for name, scale in zip(observations.names[1:], scales, strict=True))
    lines.append(f"log-normal noise    {noise}")
    ending = "converged" if fit.converged else "stopped early"
    lines.append(f"minus log-likelihood {fit.value:.6f} after {fit.evaluations} gradients ({ending})")
    return lines


def _time_lines(
    theta: Vector, data: tuple[Vector, Vector, Vector], value_and_grad: Callable[..., tuple[float, Vector]]
) -> list[str]:
    """Plain Python by central differences against the compiled program, and how far the two gradients differ."""
    plain: Callable[..., float] = negative_log_likelihood
    compiled = pb.jit(plain)
    sides = (
        ("plain Python", lambda: plain(theta, *data), lambda: finite_differences(theta, data)),
        ("compiled", lambda: compiled(theta, *data), lambda: value_and_grad(theta, *data)),
    )
    rows = [(name, median_seconds(value), median_seconds(gradient)) for name, value, gradient in sides]
    lines = ["", f"{'':14} {'value':>12} {'value+gradient':>15}"]
    for name, value, gradient in rows:
        lines.append(f"{name:14} {value * 1e6:9.1f} us {gradient * 1e6:12.1f} us")
    lines.append(f"{'ratio':14} {rows[0][1] / rows[1][1]:11.0f}x {rows[0][2] / rows[1][2]:14.0f}x")
    # Away from the optimum, where the gradient is not zero.
    aside = theta + 0.05
    exact, approximate = value_and_grad(aside, *data)[1], finite_differences(aside, data)[1]
    difference = np.max(np.abs(exact - approximate)) / np.max(np.abs(exact))
    lines += [f"finite differences agree with the compiled gradient to {difference:.1e}", ""]
    return lines


def finite_differences(theta: Vector, data: tuple[Vector, Vector, Vector]) -> tuple[float, Vector]:
    """Value and gradient in plain Python by central differences: what one does without derivatives."""
    width = 1e-5
    gradient = np.empty_like(theta)
    for i, offset in enumerate(width * np.eye(len(theta))):
        above = negative_log_likelihood(theta + offset, *data)
        below = negative_log_likelihood(theta - offset, *data)
        gradient[i] = (above - below) / (2.0 * width)
    return float(negative_log_likelihood(theta, *data)), gradient


def median_seconds(call: Callable[[], object], budget: float = 0.5) -> float:
    """Median time of one call, over as many calls as fit the budget (3 at least, 200 at most)."""
    call()
    samples: list[float] = []
    while len(samples) < 3 or (sum(samples) < budget and len(samples) < 200):
        began = time.perf_counter()
        call()
        samples.append(time.perf_counter() - began)
    return median(samples)


def trajectory(theta: Vector, times: Vector) -> tuple[Vector, Vector]:
    """Populations of the model at increasing `times`, the first of which is its start."""
    alpha, beta, delta, gamma, x, y = np.exp(theta).tolist()
    step = 0.1 / (alpha + gamma)
    points = [(x, y)]
    for interval in np.diff(times).tolist():
        x, y, step = advance(x, y, step, interval, 1e-8, alpha, beta, delta, gamma)
        points.append((x, y))
    prey, predator = np.array(points).T
    return prey, predator


def noise_scales(theta: Vector, observations: Observations) -> tuple[float, float]:
    """Root mean squares of the log-residuals: the maximum-likelihood noise scales of prey and predator."""
    prey, predator = trajectory(theta, observations.times)
    return _spread(observations.prey / prey), _spread(observations.predator / predator)


def _spread(factors: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.log(factors) ** 2)))


def _draw(observations: Observations, fit: Fit, picture: Path) -> None:
    times = observations.times
    fine = np.linspace(times[0], times[-1], 400)
    prey, predator = trajectory(fit.theta, fine)
    scales = noise_scales(fit.theta, observations)
    figure = Figure(figsize=(9.0, 4.5), layout="constrained")
    axes = figure.add_subplot()
    curves = ((prey, observations.prey, "tab:blue"), (predator, observations.predator, "tab:red"))
    for (curve, data, colour), name, scale in zip(curves, observations.names[1:], scales, strict=True):
        axes.fill_between(fine, curve * np.exp(-scale), curve * np.exp(scale), color=colour, alpha=0.15, linewidth=0)
        axes.plot(fine, curve, color=colour, label=f"{name}, fit")
        axes.plot(times, data, "o", color=colour, markersize=4, label=f"{name}, data")
    axes.set_xlabel(observations.names[0])
    axes.set_ylabel("population")
    axes.set_title("Lotka-Volterra by maximum likelihood (band: one noise scale)")
    axes.legend(ncols=2)
    axes.margins(x=0.01)
    axes.xaxis.set_major_locator(MaxNLocator(integer=bool(np.all(times == np.round(times)))))
    figure.savefig(picture, format="png", dpi=150)
