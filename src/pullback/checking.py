"""Derivatives compared with central differences.

    check_grads(f, (2.0, a))       silent, or an AssertionError with both numbers where they differ
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pullback.api import grad, jit, jvp, vjp
from pullback.runtime.copies import copied

__all__ = ["check_grads"]


def check_grads(
    fun: Callable[..., Any], args: Sequence[Any], order: int = 1, modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None, rtol: float | None = None, eps: float | None = None,
) -> None:  # fmt: skip
    """Compare derivatives with central differences along random directions, to the given order.

    Raises AssertionError naming mode, order and both numbers where they differ.  Tolerances default to what differences
    in the arguments' precision can show.
    """
    if not isinstance(args, tuple | list):
        raise TypeError(f"check_grads: args is a tuple, one entry per argument, not {type(args).__name__}")
    single = any(_is_single(a) for a in args)
    eps = eps if eps is not None else (1e-2 if single else 1e-5)
    rtol = rtol if rtol is not None else (2e-2 if single else 1e-6)
    atol = atol if atol is not None else rtol
    _check(fun, tuple(args), order, tuple(modes), atol, rtol, eps, fun.__name__ if hasattr(fun, "__name__") else "f")


def _is_single(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_is_single, value))
    if isinstance(value, dict):
        return any(map(_is_single, value.values()))
    return getattr(value, "dtype", None) == np.float32


def _check(
    fun: Any, args: tuple[Any, ...], order: int, modes: tuple[str, ...], atol: float, rtol: float, eps: float, name: str
) -> None:
    rng = np.random.default_rng(0)
    directions = tuple(_mapped(a, lambda leaf: _random(leaf, rng)) for a in args)
    compiled: Any = jit(fun)
    value = compiled(*copied(args))
    weights = _mapped(value, lambda leaf: _random(leaf, rng))
    expected = _difference(fun, args, directions, weights, eps)
    for mode in modes:
        if mode == "fwd":
            actual = _inner(jvp(fun, copied(args), directions)[1], weights)
        elif mode == "rev":
            actual = _inner(vjp(fun, *copied(args))[1](weights), directions)
        else:
            raise ValueError(f'modes are "fwd" and "rev", not {mode!r}')
        if not abs(actual - expected) <= atol + rtol * abs(expected):
            raise AssertionError(f"{mode} derivative of {name}: {actual!r}, central differences give {expected!r}")
    if order > 1:
        floats = tuple(i for i, a in enumerate(args) if _inner(a, a) != 0.0 or _has_float(a))
        _check(grad(fun, floats), args, order - 1, modes, atol, rtol, eps, f"grad of {name}")


def _has_float(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_has_float, value))
    if isinstance(value, dict):
        return any(map(_has_float, value.values()))
    return isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def _random(leaf: Any, rng: np.random.Generator) -> Any:
    if isinstance(leaf, np.ndarray):
        if leaf.dtype.kind != "f":
            return np.zeros_like(leaf)
        return np.asarray(rng.uniform(0.5, 1.5, leaf.shape), leaf.dtype)
    return type(leaf)(rng.uniform(0.5, 1.5)) if isinstance(leaf, float | np.floating) else type(leaf)(0)


def _inner(x: Any, y: Any) -> float:
    if isinstance(x, tuple | list):
        return sum(_inner(a, b) for a, b in zip(x, y, strict=True))
    if isinstance(x, dict):
        return sum(_inner(x[k], y[k]) for k in x)
    if isinstance(x, np.ndarray):
        return float(np.sum(np.asarray(x, np.float64) * y)) if x.dtype.kind == "f" else 0.0
    return float(x) * float(y) if isinstance(x, float | np.floating) else 0.0


def _moved(value: Any, direction: Any, step: float) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_moved(v, d, step) for v, d in zip(value, direction, strict=True))
    if isinstance(value, dict):
        return {k: _moved(value[k], direction[k], step) for k in value}
    if _has_float(value):
        moved = value + step * direction
        return moved.astype(value.dtype) if isinstance(value, np.ndarray) else type(value)(moved)
    return value


def _difference(fun: Any, args: Any, directions: Any, weights: Any, eps: float) -> float:
    compiled: Any = jit(fun)
    up, down = (compiled(*copied(_moved(args, directions, s))) for s in (eps, -eps))
    return (_inner(up, weights) - _inner(down, weights)) / (2.0 * eps)


def _mapped(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_mapped(item, leaf) for item in value)
    if type(value) is dict:
        return {key: _mapped(item, leaf) for key, item in value.items()}
    return leaf(value) if isinstance(value, bool | int | float | np.generic | np.ndarray) else value
