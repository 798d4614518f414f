"""pb.custom_jvp, pb.custom_vjp: functions of Python with a derivative rule of their own.

    @pb.custom_jvp                                     @pb.custom_vjp
    def log1pexp(x):                                   def clipped(x):
        return math.log(1.0 + math.exp(x))                 return x

    @log1pexp.defjvp                                   clipped.defvjp(
    def rule(primals, tangents):                           lambda x: (x, None),
        (x,), (dx,) = primals, tangents                    lambda kept, c: (min(max(c, -1.0), 1.0),))
        return log1pexp(x), dx / (1.0 + math.exp(-x))
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pullback.prims.stated import Stated, mark, stated
from pullback.runtime.noted import Noted

__all__ = ["CustomRule", "custom_jvp", "custom_vjp"]


class CustomRule(Noted):
    """A function whose derivative is what its rule says, in both modes and to any order.

    Called from Python it is the function, except that it returns arrays of its own.
    """

    def __init__(self, function: types.FunctionType, nondiff: tuple[int, ...]) -> None:
        # The mark is on a copy: who has the function itself has one without a rule.
        copy = types.FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        functools.update_wrapper(copy, function)
        copy.__dict__.pop("__wrapped__")
        mark(copy, Stated(nondiff=nondiff))
        super().__init__(copy, ("jit", copy, ()))

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        return _own(super().__call__(*arguments, **keywords), _arrays((*arguments, *keywords.values())))

    def __repr__(self) -> str:
        return f"<{getattr(self.__wrapped__, '__qualname__', self.__wrapped__)} with a derivative rule>"

    def _state(self, **rules: Any) -> None:
        """Note rules, each of which is stated once: code that was compiled holds on to them."""
        known = stated(self.__wrapped__)
        assert known is not None
        for name, rule in rules.items():
            if not callable(rule):
                raise TypeError(f"the {name} rule of {self.__wrapped__.__name__}() is a function, not {rule!r}")
            if getattr(known, name) is not None:
                raise ValueError(f"{self.__wrapped__.__name__}() has its {name} rule already; decorate it anew")
        mark(self.__wrapped__, replace(known, **rules))

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """State the derivative: jvp(*nondiff, primals, tangents) -> (out, tangent of out); gives `jvp` back.

        It must be linear in the tangents.  Reverse mode is its transpose, unless `defvjp` states another.
        """
        self._state(jvp=jvp)
        return jvp

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """State the derivative: fwd(*arguments) -> (out, residuals); bwd(*nondiff, residuals, cotangent) -> a tuple.

        `bwd` must be linear in the cotangent; it returns one cotangent, or None for zero, for each argument that is not
        in nondiff_argnums.  Forward mode is its transpose, unless `defjvp` states another.
        """
        self._state(forward=fwd, backward=bwd)


def custom_jvp(fun: Callable[..., Any] | None = None, *, nondiff_argnums: int | Sequence[int] = ()) -> Any:
    """A function whose derivative will be stated by `defjvp` (and, if a better one is known for it, `defvjp`).

    nondiff_argnums: arguments without derivative, handed to the rule first.  Arguments and results that have one are
    numbers, arrays, and tuples, dicts and short lists of them; for ints tangents and cotangents are zeros.  Rules are
    ordinary functions of the accepted Python: they are compiled, and differentiated for higher orders.
    """
    return _custom(custom_jvp, fun, nondiff_argnums)


def custom_vjp(fun: Callable[..., Any] | None = None, *, nondiff_argnums: int | Sequence[int] = ()) -> Any:
    """A function whose derivative will be stated by `defvjp` (and, for forward mode, `defjvp`); see `custom_jvp`."""
    return _custom(custom_vjp, fun, nondiff_argnums)


for _decorator in (custom_jvp, custom_vjp):
    _decorator.__dict__["__pullback_builtin__"] = f"pullback.{_decorator.__name__}"


def _custom(decorator: Callable[..., Any], fun: Any, nondiff: int | Sequence[int]) -> Any:
    if fun is None:
        return functools.partial(decorator, nondiff_argnums=nondiff)
    if not isinstance(fun, types.FunctionType):
        raise TypeError(f"{decorator.__name__} takes a function written in Python, not {type(fun).__name__}")
    places = (nondiff,) if isinstance(nondiff, int) else tuple(nondiff)
    count = fun.__code__.co_argcount
    if any(not isinstance(place, int) or not -count <= place < count for place in places):
        raise ValueError(f"nondiff_argnums={nondiff!r}: {fun.__name__}() takes {count} arguments, from number 0")
    return CustomRule(fun, tuple(dict.fromkeys(place % count for place in places)))


def _arrays(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays in a value made of tuples, lists and dicts."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, tuple | list):
        return []
    return [array for item in value for array in _arrays(item)]


def _own(result: Any, known: list[np.ndarray[Any, Any]]) -> Any:
    """The result, with copies of arrays that may share memory with known ones; it gets known too."""
    if isinstance(result, np.ndarray):
        if any(result.dtype == other.dtype and np.may_share_memory(result, other) for other in known):
            result = result.copy()
        known.append(result)
        return result
    if type(result) in (tuple, list):
        return type(result)(_own(item, known) for item in result)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*(_own(item, known) for item in result))
    if type(result) is dict:
        return {key: _own(item, known) for key, item in result.items()}
    return result
