"""Small programs in the accepted language, each with arguments to run it on.

    @program(args=[(2.0,), (-1.0,)], argnums=(0,))
    def square(x):
        return x * x

CPython says what the value is, the dual numbers of ``oracle`` what its derivatives are, so a program states neither.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Program:
    """One program: ``failing`` pairs arguments with the exception they raise; ``scale`` bounds intermediate magnitudes.

    ``same_as`` is a plain function with the same value, for programs that differentiate and so cannot run on duals.
    ``kink`` marks arguments at which finite differences do not apply. ``orders`` is the highest derivative to compare.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[tuple[Any, ...], ...]
    argnums: tuple[int, ...]
    failing: tuple[tuple[tuple[Any, ...], type[Exception]], ...]
    orders: int
    scale: float
    kink: bool
    same_as: Callable[..., Any] | None

    @property
    def reference(self) -> Callable[..., Any]:
        return self.same_as or self.function


REGISTRY: list[Program] = []


def program(
    *,
    args: Sequence[tuple[Any, ...]],
    argnums: tuple[int, ...] = (0,),
    failing: Sequence[tuple[tuple[Any, ...], type[Exception]]] = (),
    orders: int = 2,
    scale: float = 1.0,
    kink: bool = False,
    same_as: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function and return it unchanged."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        if any(known.name == name for known in REGISTRY):
            raise ValueError(f"two programs are called {name}")
        REGISTRY.append(
            Program(
                name, function, tuple(args), argnums, tuple(failing), orders if argnums else 0, scale, kink, same_as
            )
        )
        return function

    return register


def load() -> list[Program]:
    """Import every category and return all programs."""
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        importlib.import_module(f"{__name__}.{module.name}")
    return list(REGISTRY)
