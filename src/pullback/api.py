"""What users call: jit, grad, value_and_grad, vjp, jvp, linearize, jacobian, hessian, hvp, explain, stats.

    g = pb.grad(loss)          an object; nothing is compiled yet
    g(2.0)                     compiled for a float, then called; the next float is a call of 20 ns
"""

from __future__ import annotations

import functools
import linecache
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from pullback.compiled import (
    LOCK,
    Compiled,
    answer,
    call_once,
    compilations,
    helpers_of,
    lowered,
    request_of,
    stats,
)
from pullback.runtime import closures, twins
from pullback.runtime.budget import checked
from pullback.runtime.callobject import MISS
from pullback.runtime.checkpointed import Checkpointed
from pullback.runtime.copies import copied, zeros
from pullback.runtime.request import Options
from pullback.runtime.state import NO_STATE, State, remembered
from pullback.runtime.static_arguments import static_arguments

__all__ = [
    "Explanation", "Linear", "Pullback", "call_once", "checkpoint", "compilations", "explain", "from_source", "grad",
    "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jit", "jvp", "linearize", "stats", "stop_gradient",
    "value_and_grad", "vjp",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

def from_source(text: str, name: str) -> Any:
    """A function made from source text, findable by the front end."""
    file = f"<pullback source {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"__name__": "pullback.generated"}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def _returned(kind: str, fun: Any, options: tuple[tuple[str, Any], ...]) -> Any:
    """A function that compiled code returns, transformed or not."""
    return jit(fun) if kind == "jit" else _transform_of(kind)(fun, **dict(options))


def _transform_of(kind: str) -> Callable[..., Any]:
    return globals()[kind]  # type: ignore[no-any-return]


closures.connect(_returned)


def _callable(fun: Any, what: str) -> Any:
    if not callable(fun):
        raise TypeError(f"{what} takes a function, not {type(fun).__name__}")
    return fun


# ------------------------------------------------------------------------------------------------ decorators


@overload
def jit(fun: Callable[P, R]) -> Callable[P, R]: ...
@overload
def jit(
    fun: None = None, *, error_model: str = ..., boundscheck: bool = ..., fastmath: bool = ..., parallel: bool = ...,
    memory_budget: int | None = ..., static_argnums: int | Sequence[int] = ...,
    static_argnames: str | Sequence[str] = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(
    fun: Callable[..., Any] | None = None, *, error_model: str = "python", boundscheck: bool = True,
    fastmath: bool = False, parallel: bool = False, memory_budget: int | None = None,
    static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
) -> Any:  # fmt: skip
    """Compile a function for the types it is called with.

    error_model: "python" raises ZeroDivisionError, OverflowError and domain errors as CPython does for Python scalars;
        "numpy" gives inf and nan, and ints wrap.  boundscheck=False drops index checks: an index out of range is then
        undefined.  fastmath=True allows reassociation and contraction, and takes for granted that values and slopes on
        the path taken are finite: where they are not, a derivative may be nan.  What `where` or an `if` with a constant
        leaves out still counts for nothing.  parallel=True runs loops over `prange`, and large maps and reductions, on
        several threads (`set_num_threads`); results do not depend on how many.
    memory_budget: bytes that loops may keep for the reverse pass of a derivative of the function, in place of what
        `set_memory_budget` says; a loop that needs more keeps snapshots and runs trips again.
    static_argnums, static_argnames: arguments whose values the code is made for, once for each: ints and bools, and
        tuples of them.  (Strings, None and functions always are known while compiling, and ints that must be, axes and
        the like, become so by themselves.)  Other numbers stay run-time values.  ValueError for unhashable ones.
    """
    make = functools.partial(
        jit, error_model=error_model, boundscheck=boundscheck, fastmath=fastmath, parallel=parallel,
        memory_budget=memory_budget, static_argnums=static_argnums, static_argnames=static_argnames,
    )  # fmt: skip
    if fun is None:
        return make
    options = _options(error_model, boundscheck, fastmath, parallel)
    if memory_budget is not None:
        options = replace(options, memory_budget=checked(memory_budget, "memory_budget"))
    target = _callable(fun, "jit")
    compiled = Compiled(target, ("jit", target, ()), options, recipe=(make, (fun,)))
    compiled.static = static_arguments(compiled._python, static_argnums, static_argnames)
    return compiled


def _options(error_model: str, boundscheck: bool, fastmath: bool, parallel: bool) -> Options:
    if error_model not in ("python", "numpy"):
        raise ValueError(f'error_model is "python" or "numpy", not {error_model!r}')
    return Options(error_model=error_model, boundscheck=boundscheck, fastmath=fastmath, parallel=parallel)


def _inherited(fun: Any) -> Options:
    return fun.options if isinstance(fun, Compiled) else Options()


def _transform(kind: str, fun: Any, argnums: int | Sequence[int], has_aux: bool, argnames: Any) -> Any:
    target = _callable(fun, kind)
    numbers = _numbers(argnums)
    names = argnames if isinstance(argnames, str) or argnames is None else tuple(argnames)
    settings: dict[str, Any] = {"argnums": numbers, "has_aux": bool(has_aux)}
    if names:
        settings["argnames"] = names
        if numbers == 0:
            del settings["argnums"]
    make = functools.partial({"grad": grad, "value_and_grad": value_and_grad}[kind], argnames=argnames)
    recipe = (make, (fun, argnums, has_aux))
    return Compiled(target, (kind, target, tuple(sorted(settings.items()))), _inherited(fun), recipe=recipe)


def _numbers(argnums: Any) -> int | tuple[int, ...]:
    if isinstance(argnums, int):
        return argnums
    if isinstance(argnums, tuple | list) and all(isinstance(number, int) for number in argnums):
        return tuple(argnums)
    hint = f"\n  help: to choose by name write argnames={argnums!r}" if isinstance(argnums, str) else ""
    raise TypeError(f"argnums is an int or a sequence of ints, not {argnums!r}{hint}")


def grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, *,
    argnames: str | Sequence[str] | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """The gradient of a function of one float result, with the structure of the chosen argument(s).

    argnums: an int (one gradient) or a sequence (a tuple of gradients); argnames: the same by name.
    has_aux: the function returns (value, aux), the result is (gradient, aux).
    Raises TypeError for an argument without floats or a result that is not one float.
    """
    return _transform("grad", fun, argnums, has_aux, argnames)  # type: ignore[no-any-return]


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, *,
    argnames: str | Sequence[str] | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """As `grad`, with the value first: (value, gradient); with has_aux ((value, aux), gradient)."""
    return _transform("value_and_grad", fun, argnums, has_aux, argnames)  # type: ignore[no-any-return]


# ----------------------------------------------------------------------------------------------- jvp and vjp



def _helper(fun: Any, kind: str, state: State = NO_STATE) -> Compiled:
    """The call object behind vjp, jvp or a pullback of a function."""
    with LOCK:
        known = helpers_of(fun)
        key = (kind, *state.key())
        if key not in known:
            known[key] = Compiled(_Named(fun), ("jit", fun, ()), _inherited(fun), kind, state=state)
        return known[key]  # type: ignore[no-any-return]


class _Named:
    """A stand-in that carries a function's name for a call object of any number of arguments."""

    def __init__(self, fun: Any) -> None:
        self.__name__ = getattr(fun, "__name__", "function")
        self.__doc__ = fun.__doc__

    def __call__(self, *arguments: Any) -> Any:
        raise AssertionError("never called")


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """(value, tangent) of `fun` at `primals` along `tangents`, forward mode.  Tangents have the primals' structures."""
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise TypeError("jvp: primals and tangents are tuples, one entry per argument")
    if len(primals) != len(tangents):
        raise TypeError(f"jvp: {len(primals)} primals but {len(tangents)} tangents")
    return _helper(_callable(fun, "jvp"), "jvp")(*primals, *tangents)  # type: ignore[no-any-return]


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(value, pullback): pullback(cotangent) gives a tuple with a cotangent per primal, any number of times.

    has_aux: the function returns (value, aux) and the result is (value, pullback, aux).
    """
    target = _callable(fun, "vjp")
    value, kept, state = twins.call(lambda *given: _remembered(target, given), primals)
    if not has_aux:
        return value, Pullback(target, kept, state, None)
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError("vjp: with has_aux=True the function returns (value, aux)")
    return value[0], Pullback(target, kept, state, (value[1],)), value[1]


def _remembered(fun: Any, primals: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...], State]:
    """The value of a call, and all that it depends on as it was before: copies of the primals and of captured values
    (these follow the primals), and the places that hold the latter and constants."""
    compiled = _helper(fun, "call")
    kept: tuple[Any, ...] = ()
    state = NO_STATE

    def attempt() -> Any:
        nonlocal kept, state
        entries: Any = compiled.entries
        places = {(id(place[1]), place[2]): place for entry in entries for place in entry.places}
        state, values = remembered(places.values())
        kept = copied((*primals, *values))  # before the function changes them
        return compiled.call_bound(*primals)

    value = attempt() if compiled.entries else MISS
    return (answer(compiled, primals, attempt) if value is MISS else value), kept, state


class Pullback:
    """cotangent -> one cotangent per primal.  It runs the function again, in the state in which it was made.

    kept: copies of the primals and of what the function captured, in the places of `state`.
    """

    def __init__(self, fun: Any, kept: tuple[Any, ...], state: State, aux: tuple[Any] | None) -> None:
        self._fun = fun
        self._kept = kept
        self._state = state
        self._aux = aux

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        if self._aux is not None:
            cotangent = (cotangent, zeros(self._aux[0]))
        count = len(self._kept) - len(self._state.places)
        given = copied(self._kept)
        arguments = (*given[:count], cotangent, *given[count:])
        return _helper(self._fun, "pullback", self._state.changed())(*arguments)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<pullback of {getattr(self._fun, '__name__', self._fun)!s}>"


def stop_gradient(x: Any) -> Any:
    """x without its derivative: numbers, arrays (copied), and tuples, lists and dicts of them."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if type(x) in (tuple, list):
        return type(x)(map(stop_gradient, x))
    if type(x) is dict:
        return {key: stop_gradient(item) for key, item in x.items()}
    return x


def checkpoint(fun: Callable[P, R]) -> Callable[P, R]:
    """`fun`, of which the reverse pass keeps only the arguments: it runs the function once more when it gets there.

    For Python it is `fun` itself.  Numbers do not change, memory does: of a call nothing stays but copies of the arrays
    among its arguments that are overwritten later.  What is run again prints nothing, and no write of it is seen.
    """
    return Checkpointed(_callable(fun, "checkpoint"))


def hvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Hessian of `fun` times `tangents`, forward over reverse; one entry per primal (itself if there is only one)."""
    _, tangent = jvp(_gradient_of(fun, tuple(range(len(primals)))), primals, tangents)
    return tangent[0] if len(primals) == 1 else tangent


def _gradient_of(fun: Any, argnums: Any) -> Any:
    key = f"grad{argnums}"
    with LOCK:
        known = helpers_of(fun)
        if key not in known:
            known[key] = grad(fun, argnums)
        return known[key]


def _directions(kind: str, fun: Any, argnums: int | Sequence[int]) -> Any:
    """The object behind hessian, jacobian, jacfwd and jacrev."""
    target, numbers = _callable(fun, kind), _numbers(argnums)
    recipe = (_DIRECTIONS[kind], (fun, argnums))
    return Compiled(target, (kind, target, (("argnums", numbers),)), _inherited(fun), recipe=recipe)


def hessian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """x -> the Hessian, forward over reverse: a float for a float, an array of shape x.shape + x.shape for an array.

    argnums: a sequence gives a tuple of tuples, one for each pair of arguments.
    """
    return _directions("hessian", fun, argnums)  # type: ignore[no-any-return]


def jacobian(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """x -> the Jacobian, of shape f(x).shape + x.shape, by the mode that takes fewer passes.

    Where f(x) or x is a tuple, list or dict, the result is a structure of Jacobians: that of f(x), then that of x.
    argnums: a sequence gives a tuple, one entry per argument.
    """
    return _directions("jacobian", fun, argnums)  # type: ignore[no-any-return]


def jacfwd(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """As `jacobian`, in forward mode: one pass for each element of x."""
    return _directions("jacfwd", fun, argnums)  # type: ignore[no-any-return]


def jacrev(fun: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """As `jacobian`, in reverse mode: one pass for each element of f(x)."""
    return _directions("jacrev", fun, argnums)  # type: ignore[no-any-return]


_DIRECTIONS: dict[str, Callable[..., Any]] = {
    "hessian": hessian, "jacobian": jacobian, "jacfwd": jacfwd, "jacrev": jacrev,
}  # fmt: skip


class Linear:
    """tangents -> the tangent of the value, in the state in which it was made."""

    def __init__(self, fun: Any, kept: tuple[Any, ...], state: State) -> None:
        self._fun = fun
        self._kept = kept
        self._state = state

    def __call__(self, *tangents: Any) -> Any:
        count = len(self._kept) - len(self._state.places)
        if len(tangents) != count:
            raise TypeError(f"the linear function takes {count} tangents, one per primal, not {len(tangents)}")
        given = copied(self._kept)
        arguments = (*given[:count], *tangents, *given[count:])
        return _helper(self._fun, "jvp", self._state.changed())(*arguments)[1]

    def __repr__(self) -> str:
        return f"<linear map of {getattr(self._fun, '__name__', self._fun)!s}>"


def linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Linear]:
    """(value, f): f(*tangents) is the tangent of `fun` at `primals`, any number of times; one tangent per primal."""
    target = _callable(fun, "linearize")
    value, kept, state = twins.call(lambda *given: _remembered(target, given), primals)
    return value, Linear(target, kept, state)


# ---------------------------------------------------------------------------------------------------- explain


class Explanation:
    """The text of every stage; `stages` maps its name to its text."""

    def __init__(self, name: str, stages: dict[str, str]) -> None:
        self.name = name
        self.stages = stages

    def __str__(self) -> str:
        parts = [f"{'=' * 10} {self.name}: {stage} {'=' * 10}\n{text}" for stage, text in self.stages.items()]
        return "\n\n".join(parts)

    __repr__ = __str__


def explain(
    fun: Callable[..., Any], *, error_model: str | None = None, residuals: bool = False
) -> Callable[..., Explanation]:
    """explain(f)(*args): the IR after every stage for these arguments, with the user's lines; nothing runs.

    residuals: instead, what the reverse passes in it keep of the forward passes, where, how much, and why; of a
    function without derivatives, what its gradient by the first argument keeps.
    """
    target: Any = _callable(fun, "explain")
    compiled = target if isinstance(target, Compiled) else Compiled(target, ("jit", target, ()), Options())

    def show(*arguments: Any, **keywords: Any) -> Explanation:
        options = compiled.options
        if error_model is not None:
            options = _options(error_model, options.boundscheck, options.fastmath, options.parallel)
        bound = compiled.bind(arguments, keywords) if compiled._binder is not None else arguments
        found = lowered(request_of(compiled, bound), options)
        if not residuals:
            return Explanation(compiled.__name__, found.stages)
        if not found.differentiates:
            found = lowered(request_of(grad(target), bound), options)
        return Explanation(compiled.__name__, {"residuals": found.kept})

    return show


for _function in (
    jit, grad, value_and_grad, jvp, vjp, checkpoint, stop_gradient, hessian, jacobian, jacfwd, jacrev, hvp, linearize,
):
    _function.__dict__["__pullback_builtin__"] = f"pullback.{_function.__name__}"
