"""Jacobians and Hessians as loops over directions, in the accepted Python.  `f` takes one float or array.

    jacobian by forward mode    a column for each element of x
    by reverse mode             a row for each element of f(x)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pullback.prims.prelude.intrinsics import grad, jvp, vjp

__all__ = ["FUNCTIONS"]


def jacfwd_(f: Any, x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        return jvp(f, (x,), (1.0,))[1]
    y = f(x)
    if isinstance(y, np.ndarray):
        columns = np.zeros((y.size, x.size), y.dtype)
        for k in range(x.size):
            direction = np.zeros(x.shape, x.dtype)
            direction.reshape(-1)[k] = 1.0
            columns[:, k] = jvp(f, (x,), (direction,))[1].reshape(-1)
        return columns.reshape(y.shape + x.shape)
    row = np.zeros(x.shape, x.dtype)
    for k in range(x.size):
        direction = np.zeros(x.shape, x.dtype)
        direction.reshape(-1)[k] = 1.0
        row.reshape(-1)[k] = jvp(f, (x,), (direction,))[1]
    return row


def jacrev_(f: Any, x: Any) -> Any:
    y, pull = vjp(f, x)
    if not isinstance(y, np.ndarray):
        return pull(1.0)[0]
    if isinstance(x, np.ndarray):
        rows = np.zeros((y.size, x.size), x.dtype)
        for k in range(y.size):
            cotangent = np.zeros(y.shape, y.dtype)
            cotangent.reshape(-1)[k] = 1.0
            rows[k] = pull(cotangent)[0].reshape(-1)
        return rows.reshape(y.shape + x.shape)
    column = np.zeros(y.shape, y.dtype)
    for k in range(y.size):
        cotangent = np.zeros(y.shape, y.dtype)
        cotangent.reshape(-1)[k] = 1.0
        column.reshape(-1)[k] = pull(cotangent)[0]
    return column


def jacobian_(f: Any, x: Any) -> Any:
    """Forward mode where x has no more elements than f(x), reverse mode otherwise."""
    if not isinstance(x, np.ndarray):
        return jacfwd_(f, x)
    y = f(x)
    if not isinstance(y, np.ndarray):
        return jacrev_(f, x)
    if x.size <= y.size:
        return jacfwd_(f, x)
    return jacrev_(f, x)


def hessian_(f: Any, x: Any) -> Any:
    return jacfwd_(grad(f), x)


def reverse_hessian_(f: Any, x: Any) -> Any:
    """Of a function that may be called but once, as it changes what it is given."""
    return jacrev_(grad(f), x)


FUNCTIONS = {
    "pullback.jacfwd_of": jacfwd_, "pullback.jacrev_of": jacrev_, "pullback.jacobian_of": jacobian_,
    "pullback.hessian_of": hessian_, "pullback.reverse_hessian_of": reverse_hessian_,
}  # fmt: skip
