"""What users call: jit, grad, value_and_grad, vjp, jvp, hessian, hvp, check_grads, explain.

    g = pb.grad(loss)          an object; nothing is compiled yet
    g(2.0)                     compiled for a float, then called; the next float is a call of 20 ns
"""

from __future__ import annotations

import functools
import linecache
import threading
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from pullback import pipeline
from pullback.codegen import counters
from pullback.diagnostic import CompileError, InternalError
from pullback.runtime.callobject import MISS, CallObject
from pullback.runtime.copies import copied

__all__ = [
    "Explanation", "Pullback", "call_once", "check_grads", "compilations", "explain", "from_source", "grad", "hessian",
    "hvp", "jit", "jvp", "stats", "value_and_grad", "vjp",
]  # fmt: skip

P = ParamSpec("P")
R = TypeVar("R")

_lock = threading.RLock()
_counter = {"compilations": 0}


def compilations() -> int:
    """How many specializations this process has compiled or loaded."""
    return _counter["compilations"]


def stats(*, reset: bool = False) -> counters.Stats:
    """What compiled code did since the last reset: memory, loops, matrix products; `reset=True` begins anew after this.

    Of the counts, `bytes_allocated`, `allocations`, `kernels` and `matrix_products` begin at 0, `peak_bytes` at
    `live_bytes`, the memory in use: arrays made by compiled code that Python still holds.
    """
    return counters.read(reset=reset)


def from_source(text: str, name: str) -> Any:
    """A function made from source text, findable by the front end."""
    file = f"<pullback source {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {"__name__": "pullback.generated"}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


class Compiled(CallObject):
    """A function that is compiled for the types it is called with.  `kind`: "call", "jvp" or "pullback" requests."""

    def __init__(
        self, function: Callable[..., Any], transform: tuple[str, Any, tuple[tuple[str, Any], ...]],
        options: pipeline.Options, kind: str = "call", recipe: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(function, _specialise, recipe)
        self.__pullback__ = transform
        self.options = options
        self.kind = kind
        self.reasons: list[str] = []

    @property
    def specializations(self) -> tuple[str, ...]:
        """The argument types this object has been compiled for, in order."""
        return tuple(self.reasons)

    def lower(self, *arguments: Any, **keywords: Any) -> pipeline.Lowered:
        """Every stage for these arguments, without running anything."""
        bound = self.bind(arguments, keywords) if self._binder is not None else arguments
        return pipeline.lower(_request(self, bound), self.options, keep=True)


def _request(compiled: Any, arguments: tuple[Any, ...]) -> pipeline.Request:
    names, keyword_only = _names(compiled, len(arguments))
    return pipeline.Request(compiled.kind, compiled, arguments, names, keyword_only)


def _names(compiled: Any, count: int) -> tuple[tuple[str, ...], int]:
    code = getattr(compiled._python, "__code__", None)
    if compiled.kind != "call" or code is None or code.co_argcount + code.co_kwonlyargcount != count:
        return tuple(f"x{i}" for i in range(count)), 0
    return code.co_varnames[:count], code.co_kwonlyargcount


def _specialise(compiled: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Compile for these arguments, install the code, give the result."""
    if keywords:
        raise TypeError(f"{compiled.__name__} takes no keyword arguments {', '.join(keywords)}")
    with _lock:
        found = compiled.call_bound(*arguments) if compiled.entries else MISS
        if found is not MISS:  # another thread compiled it meanwhile
            return found
        request = _request(compiled, arguments)
        kept = _install_kept(compiled, request)
        if not kept:
            compiled.install(_compile(request, compiled.options))
        compiled.reasons.append(", ".join(type(a).__name__ for a in arguments))
    result = compiled.call_bound(*arguments)
    if result is MISS and kept:  # what the guards ask for has changed since the code was kept
        with _lock:
            compiled.remove(kept)
            compiled.install(_compile(request, compiled.options))
        result = compiled.call_bound(*arguments)
    if result is MISS:
        raise InternalError(f"{compiled.__name__}: the code just compiled does not accept its own arguments")
    return result


def _install_kept(compiled: Any, request: pipeline.Request) -> Any:
    """Install code that an earlier process left; None where there is none."""
    entry = pipeline.load_entry(request, compiled.options)
    if entry is not None:
        _counter["compilations"] += 1
        compiled.install(entry)
    return entry


def _compile(request: pipeline.Request, options: pipeline.Options) -> Any:
    _counter["compilations"] += 1
    try:
        return pipeline.compile_entry(request, options)
    except CompileError as error:
        raise error.with_traceback(None) from None  # the message names the place; the compiler's own frames do not help


def call_once(request: pipeline.Request, options: pipeline.Options) -> Any:
    """Compile a request and call it once with its own arguments."""
    compiled = Compiled(_anything, ("jit", request.function, ()), options, request.kind)
    with _lock:
        compiled.install(_compile(request, options))
    result = compiled.call_bound(*request.arguments)
    if result is MISS:
        raise InternalError("the code just compiled does not accept its own arguments")
    return result


def _anything(*arguments: Any) -> Any:
    """The function of call objects that take any number of arguments."""
    raise AssertionError("never called")


def _callable(fun: Any, what: str) -> Any:
    if not callable(fun):
        raise TypeError(f"{what} takes a function, not {type(fun).__name__}")
    return fun


# ------------------------------------------------------------------------------------------------ decorators


@overload
def jit(fun: Callable[P, R]) -> Callable[P, R]: ...
@overload
def jit(
    fun: None = None, *, error_model: str = ..., boundscheck: bool = ..., fastmath: bool = ...
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(
    fun: Callable[..., Any] | None = None, *, error_model: str = "python", boundscheck: bool = True,
    fastmath: bool = False,
) -> Any:  # fmt: skip
    """Compile a function for the types it is called with.

    error_model: "python" raises ZeroDivisionError, OverflowError and domain errors as CPython does for Python scalars;
        "numpy" gives inf and nan, and ints wrap.  boundscheck=False drops index checks: an index out of range is then
        undefined.  fastmath=True allows reassociation and contraction.
    """
    if fun is None:
        return functools.partial(jit, error_model=error_model, boundscheck=boundscheck, fastmath=fastmath)
    options = _options(error_model, boundscheck, fastmath)
    target = _callable(fun, "jit")
    make = functools.partial(jit, error_model=error_model, boundscheck=boundscheck, fastmath=fastmath)
    return Compiled(target, ("jit", target, ()), options, recipe=(make, (fun,)))


def _options(error_model: str, boundscheck: bool, fastmath: bool) -> pipeline.Options:
    if error_model not in ("python", "numpy"):
        raise ValueError(f'error_model is "python" or "numpy", not {error_model!r}')
    return pipeline.Options(error_model=error_model, boundscheck=boundscheck, fastmath=fastmath)


def _inherited(fun: Any) -> pipeline.Options:
    return fun.options if isinstance(fun, Compiled) else pipeline.Options()


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



def _helpers_of(fun: Any) -> dict[str, Any]:
    """Call objects derived from a function, kept in its own dictionary so that they live as long as it does."""
    known: dict[str, Any]
    try:
        owner, known = vars(fun).get("_pullback_helpers", (None, {}))
        if owner != id(fun):  # none yet, or copied from a wrapped function
            known = {}
            fun._pullback_helpers = (id(fun), known)
    except (TypeError, AttributeError):  # builtins have no dictionary: made anew each time
        return {}
    return known


def _helper(fun: Any, kind: str) -> Compiled:
    """The call object behind jvp or a pullback of a function."""
    with _lock:
        known = _helpers_of(fun)
        if kind not in known:
            known[kind] = Compiled(_Named(fun), ("jit", fun, ()), _inherited(fun), kind)
        return known[kind]  # type: ignore[no-any-return]


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
    kept = copied(primals)  # as they are before the function changes them
    value = _jitted(target)(*primals)
    if not has_aux:
        return value, Pullback(target, kept, None)
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError("vjp: with has_aux=True the function returns (value, aux)")
    return value[0], Pullback(target, kept, (value[1],)), value[1]


def _jitted(fun: Any) -> Any:
    return fun if isinstance(fun, Compiled) and fun.kind == "call" else _helper_jit(fun)


def _helper_jit(fun: Any) -> Any:
    with _lock:
        known = _helpers_of(fun)
        if "jit" not in known:
            known["jit"] = Compiled(fun, ("jit", fun, ()), pipeline.Options())
        return known["jit"]


class Pullback:
    """cotangent -> one cotangent per primal.  It runs the function again, on copies of the primals it was made for."""

    def __init__(self, fun: Any, primals: tuple[Any, ...], aux: tuple[Any] | None) -> None:
        self._fun = fun
        self._primals = primals
        self._aux = aux

    def __call__(self, cotangent: Any) -> tuple[Any, ...]:
        if self._aux is not None:
            cotangent = (cotangent, _zeros(self._aux[0]))
        return _helper(self._fun, "pullback")(*copied(self._primals), cotangent)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<pullback of {getattr(self._fun, '__name__', self._fun)!s}>"


def _zeros(value: Any) -> Any:
    return _like(value, lambda leaf: np.zeros_like(leaf) if isinstance(leaf, np.ndarray) else type(leaf)(0))


def _like(value: Any, leaf: Callable[[Any], Any]) -> Any:
    if type(value) in (tuple, list):
        return type(value)(_like(item, leaf) for item in value)
    if type(value) is dict:
        return {key: _like(item, leaf) for key, item in value.items()}
    return leaf(value) if isinstance(value, bool | int | float | np.generic | np.ndarray) else value


def hvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Hessian of `fun` times `tangents`, forward over reverse; one entry per primal (itself if there is only one)."""
    _, tangent = jvp(_gradient_of(fun, tuple(range(len(primals)))), primals, tangents)
    return tangent[0] if len(primals) == 1 else tangent


def _gradient_of(fun: Any, argnums: Any) -> Any:
    key = f"grad{argnums}"
    with _lock:
        known = _helpers_of(fun)
        if key not in known:
            known[key] = grad(fun, argnums)
        return known[key]


def hessian(fun: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """x -> the Hessian: a float for a float argument, an array of shape x.shape + x.shape for an array of floats."""
    gradient = _gradient_of(_callable(fun, "hessian"), argnums)

    @functools.wraps(fun)
    def hessian_of(*arguments: Any) -> Any:
        if not -len(arguments) <= argnums < len(arguments):
            raise TypeError(f"hessian: there is no argument number {argnums} among {len(arguments)}")
        x = arguments[argnums]
        if isinstance(x, float | np.floating):
            return _along(gradient, arguments, argnums, type(x)(1.0))
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
            given = type(x).__name__
            raise TypeError(f"hessian: argument {argnums} must be a float or an array of floats, not {given}")
        rows = np.empty((x.size, *x.shape), x.dtype)
        for k in range(x.size):
            direction = np.zeros_like(x, order="C", subok=False)
            direction.reshape(-1)[k] = 1.0
            rows[k] = _along(gradient, arguments, argnums, direction)
        return rows.reshape(x.shape + x.shape)

    return hessian_of


def _along(gradient: Any, arguments: tuple[Any, ...], argnums: int, direction: Any) -> Any:
    tangents = [_zeros(a) if i != argnums % len(arguments) else direction for i, a in enumerate(arguments)]
    return jvp(gradient, arguments, tangents)[1]


# --------------------------------------------------------------------------------------------------- checking


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
    directions = tuple(_like(a, lambda leaf: _random(leaf, rng)) for a in args)
    value = _jitted(fun)(*args)
    weights = _like(value, lambda leaf: _random(leaf, rng))
    expected = _difference(fun, args, directions, weights, eps)
    for mode in modes:
        if mode == "fwd":
            actual = _inner(jvp(fun, args, directions)[1], weights)
        elif mode == "rev":
            actual = _inner(vjp(fun, *args)[1](weights), directions)
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
    jitted = _jitted(fun)
    up, down = (jitted(*_moved(args, directions, s)) for s in (eps, -eps))
    return (_inner(up, weights) - _inner(down, weights)) / (2.0 * eps)


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


def explain(fun: Callable[..., Any], *, error_model: str | None = None) -> Callable[..., Explanation]:
    """explain(f)(*args): the IR after every stage for these arguments, with the user's lines; nothing runs."""
    target: Any = _callable(fun, "explain")
    compiled = target if isinstance(target, Compiled) else Compiled(target, ("jit", target, ()), pipeline.Options())

    def show(*arguments: Any, **keywords: Any) -> Explanation:
        options = compiled.options
        if error_model is not None:
            options = _options(error_model, options.boundscheck, options.fastmath)
        bound = compiled.bind(arguments, keywords) if compiled._binder is not None else arguments
        lowered = pipeline.lower(_request(compiled, bound), options, keep=True)
        return Explanation(compiled.__name__, lowered.stages)

    return show


for _function, _name in ((jit, "jit"), (grad, "grad"), (value_and_grad, "value_and_grad"), (jvp, "jvp"), (vjp, "vjp")):
    _function.__dict__["__pullback_builtin__"] = f"pullback.{_name}"

