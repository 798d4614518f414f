"""Reverse mode by delimited continuations, as in Lantern: operators on run-time values, no tape, plain CPython.

    def energy(x):                        grad(energy)(2.0)
        return x * math.sin(x)            # `math` is this module's

An operation captures the rest of the program, up to the `grad` around it, as a function `k`. It calls `k` with its
result; when `k` comes back the result's adjoint is complete, and the operation passes it on to its operands:

    shift(k):  y = Number(sin(x));  k(y);  x.adjoint += cos(x) * y.adjoint

So the reverse sweep is the way back from the calls of the continuations: the call stack is the only record, and loops,
recursion, closures and exceptions of Python need no rule. A captured continuation is a suspended greenlet. Values and
adjoints may be numbers of an enclosing `grad`, which gives every order. Partials are those of the primitives' rows.
"""

from __future__ import annotations

import itertools
import math as python_math
import operator
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from pullback.prims import REGISTRY
from pullback.prims.base import Partial, Refused

__all__ = ["Number", "grad", "math"]

DEPTH = 10**6  # frames of Python: an operation holds three of them until its adjoint is complete
_levels = itertools.count(1)


class Prompt:
    """One `reset`: runs a program in a greenlet of its own and answers each of its `shift`s, in program order."""

    def __init__(self) -> None:
        try:
            import greenlet
        except ImportError as error:
            raise ImportError("delimited continuations need greenlet: pip install greenlet") from error
        self.greenlet, self.level, self.handler = greenlet, next(_levels), greenlet.getcurrent()

    def reset(self, program: Callable[[], None]) -> None:
        depth = sys.getrecursionlimit()
        sys.setrecursionlimit(max(depth, DEPTH))
        try:
            self.resume(self.greenlet.greenlet(lambda _: program()), None)
        finally:
            sys.setrecursionlimit(depth)

    def resume(self, program: Any, value: Any) -> None:
        """Run the program on until it ends or shifts; a shift's body gets the rest of the program as a function."""
        asked = program.switch(value)
        if asked is not None:
            source, body = asked
            body(lambda result: self.resume(source, result))

    def shift(self, body: Callable[[Callable[[Any], None]], None]) -> Any:
        """Leave the program to `body`; what `body` calls its continuation with is the result here."""
        return self.handler.switch((self.greenlet.getcurrent(), body))


class Number:
    """A float under differentiation by the `grad` that `prompt` belongs to."""

    __slots__ = ("adjoint", "primal", "prompt")

    def __init__(self, prompt: Prompt, primal: Any) -> None:
        self.prompt, self.primal, self.adjoint = prompt, primal, np.float64(0.0)

    def __float__(self) -> float:
        raise TypeError("a number under differentiation cannot become a float without losing its derivative")

    def __hash__(self) -> int:
        return hash(base(self))

    def __pos__(self) -> Number:
        return self

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other


def base(value: Any) -> Any:
    """The plain number under all levels."""
    while type(value) is Number:
        value = value.primal
    return value


def apply(row: str, compute: Callable[..., Any], *operands: Any, **attrs: Any) -> Any:
    """One operation, differentiated by the innermost `grad` that its operands belong to."""
    prompts = [operand.prompt for operand in operands if type(operand) is Number]
    if not prompts:
        return compute(*operands)
    prompt = max(prompts, key=lambda candidate: candidate.level)
    mine = [type(operand) is Number and operand.prompt is prompt for operand in operands]
    below = [operand.primal if own else operand for operand, own in zip(operands, mine, strict=True)]
    primal = apply(row, compute, *below, **attrs)
    rule = REGISTRY[row].derivative
    if not callable(rule):  # steps and comparisons
        return primal

    def body(continuation: Callable[[Any], None]) -> None:
        result = Number(prompt, primal)
        continuation(result)
        strong = [value if type(value) is Number else np.float64(value) for value in below]
        outcome = primal if type(primal) is Number else np.float64(primal)
        op: Any = SimpleNamespace(operands=strong, result=outcome, attrs=attrs)
        partials = rule(EMITTER, op)
        for operand, own, partial in zip(operands, mine, partials, strict=True):
            if not own or partial is None:
                continue
            if isinstance(partial, Refused):
                raise TypeError(partial.title.format(name=row))
            slope = partial.value if isinstance(partial, Partial) else np.float64(partial)
            operand.adjoint = operand.adjoint + EMITTER("zmul", slope, result.adjoint)

    return prompt.shift(body)


class Emitter:
    """What the primitives' rows build their partials with: here an op is not emitted but computed."""

    def __call__(self, row: str, /, *operands: Any, **attrs: Any) -> Any:
        compute = REGISTRY[row].impl
        assert compute is not None
        if row == "select":
            return operands[1] if operands[0] else operands[2]
        return apply(row, lambda *values: compute(*values, **attrs), *operands, **attrs)

    def like(self, value: float, model: Any) -> Any:
        return np.float64(value)

    def integer(self, value: int) -> Any:
        return np.int64(value)


EMITTER: Any = Emitter()


def grad(function: Callable[..., Any], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """The gradient in the structure of the chosen arguments: floats, arrays, tuples, lists and dicts of them."""

    def gradient(*arguments: Any) -> Any:
        prompt, chosen = Prompt(), (argnums,) if isinstance(argnums, int) else argnums
        moved = [mapped(lambda leaf: Number(prompt, leaf), a) if i in chosen else a for i, a in enumerate(arguments)]
        given = [mapped(lambda leaf: leaf, argument) for argument in moved]  # the program may write into its arguments

        def program() -> None:
            result = function(*given)
            if type(result) is Number and result.prompt is prompt:
                result.adjoint = np.float64(1.0)

        with np.errstate(all="ignore"):
            prompt.reset(program)
        adjoints = [mapped(lambda leaf: leaf.adjoint, moved[position]) for position in chosen]
        return adjoints[0] if isinstance(argnums, int) else tuple(adjoints)

    return gradient


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The structure with the function applied to its float leaves."""
    if isinstance(value, dict):
        return {key: mapped(function, item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(function, item) for item in value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fO":
        cells = np.empty(value.shape, object)
        for index in np.ndindex(value.shape):
            cells[index] = function(value[index])
        return cells
    return function(value) if isinstance(value, (float, Number)) else value


# --- the names of Python, of math and of NumPy's ufuncs on arrays of objects ----------------------------------------


def _power(left: Any, right: Any) -> Any:
    if isinstance(right, int):
        return apply("powi", lambda value: value**right, left, n=right)
    return apply("pow", operator.pow, left, right)


def _operator(row: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        if any(isinstance(operand, np.ndarray) for operand in operands):
            return NotImplemented  # NumPy asks again for each element
        return _power(*operands) if row == "pow" else apply(row, compute, *operands)

    return call


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*map(base, operands))


def _log(value: Any, *bases: Any) -> Any:
    logarithm = apply("log", python_math.log, value)
    return logarithm / apply("log", python_math.log, bases[0]) if bases else logarithm


ROWS = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "pow": "pow"}
CONVERSIONS: dict[str, Callable[..., Any]] = {
    "bool": bool, "int": int, "floor": python_math.floor, "ceil": python_math.ceil, "round": round,
}  # fmt: skip
math: Any = SimpleNamespace(**vars(python_math))  # a function without a row refuses a Number, as `float` does


def _install() -> None:
    for name, row in ROWS.items():
        method = _operator(row, getattr(operator, name))
        setattr(Number, f"__{name}__", method)
        setattr(Number, f"__r{name}__", lambda self, other, method=method: method(other, self))
    for name in ("neg", "abs"):
        setattr(Number, f"__{name}__", _operator(name, getattr(operator, name)))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(Number, f"__{name}__", _plain(getattr(operator, name)))
    for name, convert in CONVERSIONS.items():
        setattr(Number, f"__{name}__", _plain(convert))
    for name in ("floor", "ceil", "trunc", "isclose", "isfinite", "isinf", "isnan"):
        setattr(math, name, _plain(getattr(python_math, name)))
    for prim in REGISTRY.values():
        for module, _, name in (public.name.partition(".") for public in prim.public if callable(prim.derivative)):
            if module == "math":
                setattr(math, name, _operator(prim.name, getattr(python_math, name)))
            elif module == "numpy":  # NumPy's ufuncs call these methods of the elements of an array of objects
                setattr(Number, name, _operator(prim.name, getattr(np, name)))
    math.log = _log
    math.hypot = lambda x, y: apply("hypot", python_math.hypot, x, y)


_install()
