"""What a workload consists of: forms, each measured on two sides, and the calls that make up those sides.

value_and_gradient("garch", garch, (theta, returns), 0, (value_by_hand, slope_by_hand), Rules(STRICT))
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import pullback as pb
from build import FAST, STRICT, Build

DOUBLE, FLOAT, INT, LONG, POINTER = ctypes.c_double, ctypes.c_float, ctypes.c_int, ctypes.c_long, ctypes.c_void_p


@dataclass(frozen=True, slots=True)
class Form:
    """One measured form. `ours` is called for the first time by the runner, which times that call too.

    Each side does `inner` units of work in one call and returns numbers that agree within `tolerance`.
    """

    workload: str
    kind: str
    ours: Callable[[], object]
    by_hand: Callable[[], object]
    build: Build
    fastmath: bool
    inner: int = 1
    tolerance: float = 1e-10


@dataclass(frozen=True, slots=True)
class Rules:
    """How floating point may be computed on either side: the build of C, and whether `jit` is told `fastmath=True`."""

    build: Build
    fastmath: bool = False


EXACT = (Rules(STRICT),)
# Array code is held against vector C as well, by its default rules.
BOTH = (Rules(STRICT), Rules(FAST))


@dataclass(frozen=True, slots=True)
class Workload:
    """A program with its forms under given rules, and the rules it is measured under by default."""

    make: Callable[[Rules], list[Form]]
    rules: tuple[Rules, ...] = EXACT


def symbol(library: ctypes.CDLL, name: str, *types: object, result: object = DOUBLE) -> Callable[..., float]:
    """A function of the C side with its types."""
    function = library[name]
    function.argtypes, function.restype = types, result
    return function


def address(array: np.ndarray) -> int:
    """Where C finds the numbers of an array, which the caller keeps alive."""
    if not array.flags.c_contiguous:
        raise ValueError("C wants contiguous arrays")
    return array.ctypes.data


def made_like(*arrays: np.ndarray) -> tuple[tuple[np.ndarray, ...], tuple[int, ...]]:
    """Arrays of the same shapes for C to write into, with their addresses."""
    made = tuple(np.zeros_like(array) for array in arrays)
    return made, tuple(map(address, made))


def jitted(program: Callable, rules: Rules) -> Callable:
    """Our side under these rules."""
    return pb.jit(fastmath=True)(program) if rules.fastmath else pb.jit(program)


def value_and_gradient(
    name: str,
    program: Callable,
    arguments: tuple,
    argnums: int | tuple[int, ...],
    by_hand: tuple[Callable[[], object], Callable[[], object]],
    rules: Rules,
    tolerance: float = 1e-10,
) -> list[Form]:
    """The two forms of most workloads: one call of the program, and one of its value and gradient."""
    ours = jitted(program, rules)
    slopes = pb.value_and_grad(ours, argnums)
    sides = (("value", lambda: ours(*arguments)), ("gradient", lambda: slopes(*arguments)))
    return [
        Form(name, kind, side, other, rules.build, rules.fastmath, tolerance=tolerance)
        for (kind, side), other in zip(sides, by_hand, strict=True)
    ]
