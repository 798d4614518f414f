"""Hares and lynxes of Hudson Bay, 1900-1920: maximum likelihood with exact derivatives, the short form.

Run with `python examples/lotka_volterra.py`; `pullback demo` does the same with progress, times and a picture.
The model (an adaptive Runge-Kutta integrator in plain Python) is `pullback/demo/lotka_volterra.py`.
"""

from pathlib import Path

import numpy as np
from scipy.optimize import minimize

import pullback as pb
from pullback.demo.lotka_volterra import negative_log_likelihood

# Columns: year, thousands of hare pelts, thousands of lynx pelts.
years, hares, lynxes = np.loadtxt(
    Path(__file__).with_name("hudson_bay.csv"), delimiter=",", skiprows=1, unpack=True, ndmin=2
).copy()

# theta: logarithms of alpha, beta, delta, gamma and of the two populations in 1900.
start = np.log([0.6, 0.03, 0.02, 0.6, 30.0, 4.0])
fit = minimize(
    pb.value_and_grad(negative_log_likelihood),
    start,
    args=(years, hares, lynxes),
    jac=True,
    method="L-BFGS-B",
)

# The inverse Hessian is the covariance of theta; d exp(theta) = exp(theta) dtheta.
hessian = pb.hessian(negative_log_likelihood)(fit.x, years, hares, lynxes)
errors = np.exp(fit.x) * np.sqrt(np.diag(np.linalg.inv(hessian)))

print(f"minus log-likelihood {fit.fun:.6f} after {fit.nfev} gradients")
names = ("alpha", "beta", "delta", "gamma", "hares", "lynxes")
for name, value, error in zip(names, np.exp(fit.x), errors, strict=True):
    print(f"{name:8} {value:10.5f} +- {error:.5f}")
