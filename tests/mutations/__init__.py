"""Small programs that write into arrays, each with arguments to run it on.

    @mutation(args=[(np.array([1.0, 2.0]),)], orders=3)
    def square_first(a):
        a[0] = a[0] * a[0]
        return a[0] * a[1]

CPython with NumPy says what the value is and what the arguments hold afterwards; the dual numbers of ``oracle`` say
what the derivatives are. ``orders`` is the highest derivative to compare; 1 also for results that are not one number.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

from programs import Program

MUTATIONS: list[Program] = []


def mutation(
    *,
    args: Sequence[tuple[Any, ...]],
    argnums: tuple[int, ...] = (0,),
    failing: Sequence[tuple[tuple[Any, ...], type[Exception]]] = (),
    orders: int = 2,
    scale: float = 1.0,
    kink: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function and return it unchanged."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        if any(known.name == name for known in MUTATIONS):
            raise ValueError(f"two programs are called {name}")
        orders_here = orders if argnums else 0
        MUTATIONS.append(
            Program(name, function, tuple(args), argnums, tuple(failing), orders_here, scale, kink, same_as=None)
        )
        return function

    return register


def load() -> list[Program]:
    """Import every category and return all programs."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        importlib.import_module(f"{__name__}.{module.name}")
    return list(MUTATIONS)
