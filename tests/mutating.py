"""What the tests of mutation share: fresh arguments for every run, the state a program captures, and every engine.

    first = fresh((a, a[1:]))                         copies that share memory as the originals do
    with restored(f): f(*first)                       arrays that f captures hold afterwards what they held before
    derivative(f, (a,), (0,), "rr", [v], "compiled")  flat leaves, and what the arguments held after the run

Modes name the transformations from the outermost inwards: ``frr`` is forward over reverse over reverse.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import pullback as pb
from adapter import fill, leaves, tangents, units
from dual_arrays import byte_bounds, root_of
from oracle import flatten, names_read

Function = Callable[..., Any]
THIRD_ORDER = ("rrr", "fff", "frr")

# --- arguments ------------------------------------------------------------------------------------------------------


def fresh(value: Any, known: dict[int, Any] | None = None) -> Any:
    """A copy with the same aliasing, strides, dtype and flags; containers are copied too."""
    known = {} if known is None else known
    if isinstance(value, dict):
        return {key: fresh(item, known) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(fresh(item, known) for item in value)
    if type(value) is not np.ndarray:
        return value
    if id(value) not in known:
        known[id(value)] = copied(value, known)
    return known[id(value)]


def copied(array: np.ndarray[Any, Any], known: dict[int, Any]) -> np.ndarray[Any, Any]:
    root = root_of(array)
    low, high = byte_bounds(root)
    if root is array and array.flags.c_contiguous:
        return with_flags(array.copy(), array)
    if ("root", id(root)) not in known:
        memory = np.empty(high - low, np.uint8)
        known["root", id(root)] = memory  # type: ignore[index]
        np.ndarray(root.shape, root.dtype, memory, address(root) - low, root.strides)[...] = root
    memory = known["root", id(root)]  # type: ignore[index]
    view = np.ndarray(array.shape, array.dtype, memory, address(array) - low, array.strides)
    return with_flags(view, array)


def with_flags(copy: np.ndarray[Any, Any], array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    copy.flags.writeable = array.flags.writeable
    return copy


def address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def arrays_in(value: Any) -> list[np.ndarray[Any, Any]]:
    if isinstance(value, dict):
        return [array for item in value.values() for array in arrays_in(item)]
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


# --- captured state -------------------------------------------------------------------------------------------------


def captured(function: Function, seen: set[int] | None = None) -> list[np.ndarray[Any, Any]]:
    """Every array that a plain function reaches through globals, cells and defaults."""
    seen = set() if seen is None else seen
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return []
    seen.add(id(function))
    reached = [function.__globals__.get(name) for name in names_read(function.__code__)]
    reached += [cell.cell_contents for cell in function.__closure__ or ()]
    reached += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    found = []
    for value in reached:
        found += captured(value, seen) if callable(value) else arrays_in(value)
    return found


@contextmanager
def restored(function: Function) -> Iterator[list[np.ndarray[Any, Any]]]:
    """What the function captures is as before after the block; gives those arrays."""
    arrays = [array for array in captured(function) if array.flags.writeable]
    before = [array.copy() for array in arrays]
    try:
        yield arrays
    finally:
        for array, content in zip(arrays, before, strict=True):
            array[...] = content


# --- engines --------------------------------------------------------------------------------------------------------


class Compiled:
    """The public api: native code with all passes."""

    def call(self, function: Function, arguments: tuple[Any, ...]) -> Any:
        return pb.jit(function)(*arguments)

    def jvp(self, function: Function, arguments: tuple[Any, ...], moved: tuple[Any, ...]) -> Any:
        return pb.jvp(function, arguments, moved)

    def pull(self, function: Function, arguments: tuple[Any, ...], cotangent: Any) -> Any:
        return pb.vjp(function, *arguments)[1](cotangent)


class Hooked:
    """An engine behind the hooks of the test suite."""

    def __init__(self, engine: str, passes: bool) -> None:
        self.engine, self.passes = engine, passes

    def request(self, kind: str, function: Function, arguments: tuple[Any, ...]) -> Any:
        from pullback import testing

        return testing.call(kind, function, arguments, engine=self.engine, passes=self.passes)

    def call(self, function: Function, arguments: tuple[Any, ...]) -> Any:
        return self.request("call", function, arguments)

    def jvp(self, function: Function, arguments: tuple[Any, ...], moved: tuple[Any, ...]) -> Any:
        return self.request("jvp", function, (*arguments, *moved))

    def pull(self, function: Function, arguments: tuple[Any, ...], cotangent: Any) -> Any:
        return self.request("pullback", function, (*arguments, cotangent))


ENGINES: dict[str, Any] = {
    "compiled": Compiled(),
    "interpreter": Hooked("interp", True),
    "plain": Hooked("native", False),
}

# --- derived functions ----------------------------------------------------------------------------------------------


def along(function: Function, moved: tuple[Any, ...]) -> Function:
    """The derivative of a function in one direction, as a plain function of as many parameters."""
    return generated("jvp(function, ({xs},), ({ts},))[1]", pb.jvp, function, len(moved), moved)


def curved(function: Function, arity: int, argnums: tuple[int, ...], parts: tuple[Any, ...]) -> Function:
    """The Hessian times a direction by reverse over reverse: one result per argnum."""
    picks = "".join(f"products[{position}], " for position in argnums)
    return generated(
        f"({picks})", pb.vjp, pb.grad(function, argnums=argnums), arity, parts,
        before="    products = jvp(function, {xs})[1](({ts},))\n",
    )  # fmt: skip


def generated(
    result: str, transform: Any, function: Function, arity: int, moved: tuple[Any, ...], before: str = ""
) -> Function:
    from pullback import api

    names = {"xs": ", ".join(f"x{i}" for i in range(arity)), "ts": ", ".join(f"t{i}" for i in range(len(moved)))}
    body = before.replace("    ", "        ") + f"        return {result}\n"
    source = "def make(jvp, function, {ts}):\n    def derived({xs}):\n" + body + "    return derived\n"
    for key, text in names.items():
        source = source.replace("{" + key + "}", text)
    return api.from_source(source, "make")(transform, function, *moved)  # type: ignore[no-any-return]


# --- modes ----------------------------------------------------------------------------------------------------------


class Run:
    """One derivative of one program on one engine; remembers what each run left in the arguments."""

    def __init__(
        self, function: Function, arguments: tuple[Any, ...], argnums: tuple[int, ...], engine: str, cotangent: Any
    ) -> None:
        self.function, self.arguments, self.argnums = function, arguments, argnums
        self.engine, self.cotangent = ENGINES[engine], cotangent
        self.left: list[tuple[Any, ...]] = []

    def given(self) -> tuple[Any, ...]:
        self.left.append(fresh(self.arguments))
        return self.left[-1]

    def _do(self, action: Callable[..., Any], function: Function, *more: Any) -> Any:
        with restored(self.function):
            return action(function, self.given(), *more)

    def moved(self, direction: Sequence[float]) -> tuple[Any, ...]:
        return tangents(self.arguments, self.argnums, direction)

    def parts(self, direction: Sequence[float]) -> tuple[Any, ...]:
        moved = self.moved(direction)
        return tuple(moved[position] for position in self.argnums)

    def flat(self, gradients: Sequence[Any]) -> list[Any]:
        return leaves(gradients, self.arguments, self.argnums)

    def chosen(self, cotangents: Sequence[Any]) -> list[Any]:
        return self.flat([cotangents[position] for position in self.argnums])

    def gradient(self, function: Function) -> list[Any]:
        return self.flat(self._do(self.engine.call, pb.grad(function, argnums=self.argnums)))

    def forward(self, function: Function, cotangent: Any = None) -> list[Any]:
        results = []
        for unit in units(self.arguments, self.argnums):
            value, tangent = self._do(self.engine.jvp, function, unit)
            weights = [1.0] if cotangent is None else flatten(cotangent, value)
            moved = flatten(tangent, value) or [0.0] * len(weights)
            results.append(sum(float(weight) * float(leaf) for weight, leaf in zip(weights, moved, strict=True)))
        return results

    def r(self) -> list[Any]:
        if self.cotangent is None:
            return self.gradient(self.function)
        return self.chosen(self._do(self.engine.pull, self.function, self.cotangent))

    def f(self) -> list[Any]:
        return self.forward(self.function, self.cotangent)

    def rr(self, v: Sequence[float]) -> list[Any]:
        gradient = pb.grad(self.function, argnums=self.argnums)
        return self.chosen(self._do(self.engine.pull, gradient, self.parts(v)))

    def fr(self, v: Sequence[float]) -> list[Any]:
        gradient = pb.grad(self.function, argnums=self.argnums)
        return self.flat(self._do(self.engine.jvp, gradient, self.moved(v))[1])

    def rf(self, v: Sequence[float]) -> list[Any]:
        return self.gradient(along(self.function, self.moved(v)))

    def ff(self, v: Sequence[float]) -> list[Any]:
        return self.forward(along(self.function, self.moved(v)))

    def product(self, v: Sequence[float]) -> Function:
        return curved(self.function, len(self.arguments), self.argnums, self.parts(v))

    def rrr(self, v: Sequence[float], w: Sequence[float]) -> list[Any]:
        return self.chosen(self._do(self.engine.pull, self.product(v), self.parts(w)))

    def frr(self, v: Sequence[float], w: Sequence[float]) -> list[Any]:
        return self.flat(self._do(self.engine.jvp, self.product(v), self.moved(w))[1])

    def fff(self, v: Sequence[float], w: Sequence[float]) -> list[Any]:
        return self.forward(along(along(self.function, self.moved(v)), self.moved(w)))


def derivative(
    function: Function,
    arguments: tuple[Any, ...],
    argnums: tuple[int, ...],
    mode: str,
    directions: Sequence[Sequence[float]],
    engine: str,
    cotangent: Any = None,
) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """The float leaves of the derivative, and what every run left in its arguments."""
    run = Run(function, arguments, argnums, engine, cotangent)
    return getattr(run, mode)(*directions), run.left


def cotangent_like(result: Any) -> Any:
    """A cotangent with a different weight for every float leaf of a result."""
    return fill(result, [0.5 + 0.25 * position for position in range(len(flatten(result)))])
