"""Functions compiled for the types they are called with: where code is asked for, shared, kept and counted.

    Compiled(f, ("jit", f, ()), Options())      an object; nothing is compiled yet
    compiled(2.0)                               compiled for a float, then called; the next float is a call of 20 ns
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pullback.diagnostic import CompileError, InternalError
from pullback.runtime import generators, twins
from pullback.runtime.budget import EXCEEDED, take_exceeded
from pullback.runtime.callobject import LONGEST, MISS, CallObject
from pullback.runtime.fixed import Path
from pullback.runtime.request import Options, Request
from pullback.runtime.signatures import describe, why
from pullback.runtime.state import NO_STATE, Held, State
from pullback.runtime.static_arguments import NOTHING_STATIC, require_hashable

if TYPE_CHECKING:
    from pullback import pipeline
    from pullback.codegen.counters import Stats

__all__ = ["LOCK", "Compiled", "answer", "call_once", "compilations", "helpers_of", "lowered", "request_of", "stats"]

LOCK = threading.RLock()
_counter = {"compilations": 0, "before reset": 0}


def compilations() -> int:
    """How many specializations this process has compiled or loaded."""
    return _counter["compilations"]


def stats(*, reset: bool = False) -> Stats:
    """What compiled code, of all functions and threads, has done since the last reset.

        pb.stats(reset=True)            reads, then begins anew
        gradient(a, x)
        pb.stats().bytes_allocated      what that call asked for; the memory of the compiler itself is not counted

    bytes_allocated, allocations: memory asked for.  live_bytes: arrays made by compiled code that Python holds now.
    peak_bytes: the most in use at one time, those included; after a reset it begins at live_bytes, the others at 0.
    kernels: loops over whole arrays.  matrix_products: products of matrices.  Small arrays that live in registers and
    chains that were fused do not show: that is what the counts are for.
    specializations: versions of functions that were compiled, or loaded from disk.  Each further version of a function
    is also logged, with the reason, by the logger "pullback" (level INFO); sizes of arrays never are one.
    """
    from pullback.codegen import counters

    found = replace(counters.read(reset=reset), specializations=compilations() - _counter["before reset"])
    if reset:
        _counter["before reset"] = compilations()
    return found


class Compiled(CallObject):
    """A function that is compiled for the types it is called with.  `kind`: "call", "jvp" or "pullback" requests."""

    def __init__(
        self, function: Callable[..., Any], transform: tuple[str, Any, tuple[tuple[str, Any], ...]],
        options: Options, kind: str = "call", recipe: Any = None, state: State = NO_STATE,
    ) -> None:  # fmt: skip
        super().__init__(function, _specialise, recipe)
        self.__pullback__ = transform
        self.options = options
        self.kind = kind
        self.state = state
        self.named: tuple[str, ...] = ()  # the keywords of the last arguments, for functions with *args or **kwargs
        self.static = NOTHING_STATIC
        self.signatures: list[tuple[str, ...]] = []

    @property
    def specializations(self) -> tuple[str, ...]:
        """The argument types this object has been compiled for, in order."""
        return tuple(map(", ".join, self.signatures))

    def lower(self, *arguments: Any, **keywords: Any) -> pipeline.Lowered:
        """Every stage for these arguments, without running anything."""
        bound = self.bind(arguments, keywords) if self._binder is not None else arguments
        return lowered(request_of(self, bound), self.options)


def lowered(request: Request, options: Options) -> pipeline.Lowered:
    """Every stage of a request."""
    from pullback import pipeline

    return pipeline.lower(request, options, keep=True)


def request_of(compiled: Any, arguments: tuple[Any, ...]) -> Request:
    """What has to be compiled for a call of an object with these arguments."""
    places = compiled.state.places
    count = len(arguments) - len(places)
    names, keyword_only = _names(compiled, count)
    held = Held(tuple(zip(places, arguments[count:], strict=True)), compiled.state.constants)
    given = twins.native(arguments[:count])
    known = helpers_of(_bottom(compiled)).setdefault("known", {})
    static = compiled.static.positions(names)
    require_hashable(given, static)
    return Request(compiled.kind, compiled, given, names, keyword_only, held=held, known=known, static=static)


def _bottom(compiled: Any) -> Any:
    """The function below all transformations."""
    while isinstance(compiled, Compiled):
        compiled = compiled.__pullback__[1]
    return compiled


def _names(compiled: Any, count: int) -> tuple[tuple[str, ...], int]:
    code = getattr(compiled._python, "__code__", None)
    if compiled.named:
        return (*(f"x{i}" for i in range(count - len(compiled.named))), *compiled.named), len(compiled.named)
    if code is None or compiled.kind != "call" or compiled._binder is None:
        return tuple(f"x{i}" for i in range(count)), 0
    if code.co_argcount + code.co_kwonlyargcount != count:
        return tuple(f"x{i}" for i in range(count)), 0
    return code.co_varnames[:count], code.co_kwonlyargcount


def _specialise(compiled: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Compile for these arguments, install the code, give the result."""
    if keywords and compiled._python is None:
        raise TypeError(f"{compiled.__name__} takes no keyword arguments {', '.join(keywords)}")
    if keywords:
        helper, values = _by_name(compiled, tuple(keywords)), (*arguments, *keywords.values())
        found = helper.call_bound(*values)
        return found if found is not MISS else _specialise(helper, values, {})
    return answer(compiled, arguments, lambda: compiled.call_bound(*arguments))


def _by_name(compiled: Any, names: tuple[str, ...]) -> Any:
    """The object for calls of a function with *args or **kwargs that give these keywords, as its last arguments."""
    known = vars(compiled).setdefault("_by_name", {})
    if names not in known:
        helper = Compiled(compiled, compiled.__pullback__, compiled.options, compiled.kind, state=compiled.state)
        helper.named, helper.static = names, compiled.static
        known[names] = helper
    return known[names]


def answer(compiled: Any, arguments: tuple[Any, ...], attempt: Callable[[], Any]) -> Any:
    """What `attempt`, a call of the object with these arguments, gives once there is code for them.

    A call that would not have kept within the memory budget comes here too.
    """
    exceeded = take_exceeded()
    if not exceeded and _install_shared(compiled):
        found = attempt()
        if found is not MISS:
            compiled.signatures.append(_signature(compiled, arguments))
            return found
    with LOCK:
        found = attempt() if compiled.entries and not exceeded else MISS
        if found is not MISS:  # another thread compiled it meanwhile
            return found
        exceeded = take_exceeded() or exceeded
        if exceeded:
            _log_exceeded(compiled.__name__)
        options = replace(compiled.options, scheduled=True) if exceeded else compiled.options
        request = request_of(compiled, arguments)
        start = time.perf_counter()
        kept = _install_kept(compiled, request, options)
        if not kept:
            _install(compiled, _compile(request, options))
        _note(compiled, request.names, _signature(compiled, arguments), time.perf_counter() - start, bool(kept))
    result = attempt()
    if result is MISS and not compiled.translates and generators.wanted(compiled.entries):
        compiled.translates = True
        return generators.call(compiled._with_states, arguments)
    if result is MISS and not options.scheduled and take_exceeded():
        EXCEEDED.value = 1
        return answer(compiled, arguments, attempt)
    if result is MISS and kept:  # what the guards ask for has changed since the code was kept
        with LOCK:
            compiled.remove(kept)
            known = _shared(compiled)
            known[:] = [entry for entry in known if entry is not kept]
            _install(compiled, _compile(request, options))
        result = attempt()
    if result is MISS:
        raise InternalError(f"{compiled.__name__}: the code just compiled does not accept its own arguments")
    return result


def _signature(compiled: Any, arguments: tuple[Any, ...]) -> tuple[str, ...]:
    """What the code that was installed last is for, with the numbers that it is made for."""
    fixed: dict[int, list[Path]] = {}
    for position, path, _ in compiled.entries[0].numbers if compiled.entries else ():
        fixed.setdefault(position, []).append(path)
    return tuple(describe(value, fixed=fixed.get(i, ())) for i, value in enumerate(arguments))


def _log_exceeded(name: str) -> None:
    import logging  # not at the top: most processes never come here

    logging.getLogger("pullback").info("%s: over the memory budget; it gets code that keeps snapshots", name)


def _note(compiled: Any, names: tuple[str, ...], signature: tuple[str, ...], seconds: float, loaded: bool) -> None:
    """Remember what the object has been compiled for, and log why that was needed once more."""
    if compiled.signatures:
        import logging  # not at the top: most processes never come here

        how = "loaded" if loaded else "compiled"
        message = "%s: specialization %d, %s in %.3f s: %s"
        reason = why(names, compiled.signatures, signature)
        number = len(compiled.signatures) + 1
        logging.getLogger("pullback").info(message, compiled.__name__, number, how, seconds, reason)
    compiled.signatures.append(signature)


def _shared(compiled: Any) -> list[Any]:
    """The code that all objects of the same transformations of a function have in common, kept with the function."""
    path: list[object] = [compiled._python is None]
    fun: Any = compiled
    while isinstance(fun, Compiled):
        name, inner, settings = fun.__pullback__
        path.append((name, settings, fun.options, fun.kind, fun.state.key(), fun.named, fun.static))
        fun = inner
    known: list[Any] = helpers_of(fun).setdefault(("code", getattr(fun, "__code__", None), *path), [])
    return known


def _install(compiled: Any, entry: Any) -> None:
    """Install code, and let other objects know of it."""
    compiled.install(entry)
    known = _shared(compiled)
    known.append(entry)
    del known[:-LONGEST]


def _install_shared(compiled: Any) -> bool:
    """Install what another object of the same kind has been compiled for meanwhile; is there any."""
    with LOCK:
        others = [entry for entry in _shared(compiled) if entry not in compiled.entries]
        for entry in others:
            compiled.install(entry)
    return bool(others)


def _install_kept(compiled: Any, request: Request, options: Options) -> Any:
    """Install code that an earlier process left; None where there is none."""
    from pullback.codegen import manifest

    entry = manifest.load(manifest.key(request, options), request.function, request.arguments)
    if entry is not None:
        _counter["compilations"] += 1
        _install(compiled, entry)
    return entry


def _compile(request: Request, options: Options) -> Any:
    from pullback import pipeline  # not at the top: most processes find their code on disk

    _counter["compilations"] += 1
    try:
        return pipeline.compile_entry(request, options)
    except CompileError as error:
        raise error.with_traceback(None) from None  # the message names the place; the compiler's own frames do not help


def call_once(request: Request, options: Options) -> Any:
    """Compile a request and call it once with its own arguments."""
    compiled = Compiled(_anything, ("jit", request.function, ()), options, request.kind)
    with LOCK:
        compiled.install(_compile(request, options))
    result = compiled.call_bound(*request.arguments)
    if result is MISS and take_exceeded():
        compiled.install(_compile(request, replace(options, scheduled=True)))
        result = compiled.call_bound(*request.arguments)
    if result is MISS:
        raise InternalError("the code just compiled does not accept its own arguments")
    return result


def _anything(*arguments: Any) -> Any:
    """The function of call objects that take any number of arguments."""
    raise AssertionError("never called")


def helpers_of(fun: Any) -> dict[Any, Any]:
    """Call objects derived from a function, kept in its own dictionary so that they live as long as it does."""
    known: dict[Any, Any]
    try:
        owner, known = vars(fun).get("_pullback_helpers", (None, {}))
        if owner != id(fun):  # none yet, or copied from a wrapped function
            known = {}
            fun._pullback_helpers = (id(fun), known)
    except (TypeError, AttributeError):  # builtins have no dictionary: made anew each time
        return {}
    return known
