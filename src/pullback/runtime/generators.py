"""numpy.random.Generators in arguments: their states go into compiled code and come back.

    draws(rng, 5)       what is passed is a generator of the prelude with the state of rng; the state is written back
    draws(sim, 5)       of a generator in sim, in an object, list, dict or tuple: its twin stands there during the call

The same generator met twice is one inside, too.  A new one that compiled code returns, or puts into what was passed, is
one of NumPy's afterwards: code that may do so has a guard by which it runs in `call` only.  Only PCG64, which
default_rng gives, is known.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from pullback.runtime.boundary import Guard

if TYPE_CHECKING:
    from pullback.prims.prelude.random_generator import Generator

__all__ = ["IN_CALL", "call", "guard", "needed", "wanted"]

IN_CALL = 0
"""1 while generators are translated: what code that hands them out asks for."""

_LOW_64, _LOW_32 = 2**64 - 1, 2**32 - 1
_PLAIN = (int, float, complex, str, bytes, bool, type(None), np.ndarray, np.generic, type)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, ModuleType)


def needed(values: Sequence[object]) -> bool:
    """Is a generator among the arguments or in what they hold; numpy.random is not loaded for the question."""
    return "numpy.random._generator" in sys.modules and any(map(_is_generator, _walk(values)))


def _is_generator(value: object) -> bool:
    return type(value).__name__ == "Generator" and type(value).__module__.startswith("numpy.random")


def guard() -> Guard:
    """What code that hands generators to Python asks for."""
    return Guard("global", globals(), "IN_CALL", 1)


def wanted(entries: Sequence[Any]) -> bool:
    """Does the code that was installed last hand generators to Python."""
    return bool(entries) and any(container is globals() for _, container, _ in entries[0].places)


def call(function: Callable[..., object], values: Sequence[Any]) -> object:
    """The function's result for generators of the prelude in the places of NumPy's; their states are written back, on
    an exception too."""
    twins = _Twins()
    given = twins.swap(values, twins.twin)
    try:
        with _Open():
            result = function(*given)
    finally:
        twins.write_back()
        twins.swap(given, twins.original)
    return twins.swap((result,), twins.original)[0]


class _Open:
    """Lets code run that hands out generators, in all threads that are in such a call."""

    lock = threading.Lock()
    depth = 0

    def __enter__(self) -> None:
        self._change(1)

    def __exit__(self, *found: object) -> None:
        self._change(-1)

    def _change(self, by: int) -> None:
        global IN_CALL
        with _Open.lock:
            _Open.depth += by
            IN_CALL = int(_Open.depth > 0)


# ----------------------------------------------------------------------------------------------------------- places


def _walk(root: object) -> Iterator[object]:
    """A value and all that lies in it: lists, dicts, tuples, deques and objects are looked into once."""
    waiting, seen = [root], set()
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, _PLAIN) or id(value) in seen or _is_generator(value):
            continue
        seen.add(id(value))
        waiting += [item for _, item in _places(value)]


def _places(value: Any) -> list[tuple[Any, object]]:
    """Keys, and what lies there; attributes by name."""
    if isinstance(value, list | tuple | deque):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, _FUNCTIONS) or type(value).__module__.partition(".")[0] in ("numpy", "pullback"):
        return []
    slots = [name for kind in type(value).__mro__ for name in _names(vars(kind).get("__slots__", ()))]
    return [*getattr(value, "__dict__", {}).items(), *((name, getattr(value, name)) for name in slots
                                                       if name != "__dict__" and hasattr(value, name))]  # fmt: skip


def _names(slots: Any) -> Sequence[str]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _put(container: Any, key: Any, value: object) -> None:
    if isinstance(container, list | dict | deque):
        container[key] = value
    else:
        object.__setattr__(container, key, value)  # a frozen one too


class _Twins:
    """The generators of one call and what stands for them.  Tuples are made anew where they hold one, and the old ones
    are put back afterwards."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, Generator, int]] = {}  # by the original's identity; how often it had spawned
        self.originals: dict[int, tuple[Any, Any]] = {}  # by the twin's identity: it and the original
        self.tuples: dict[int, tuple[Any, Any]] = {}  # by the new one's identity: it and the old one

    def swap(self, values: Sequence[Any], rule: Callable[[Any], Any]) -> tuple[Any, ...]:
        """The values with what the rule gives in the place of each thing it changes, in whatever they hold."""
        found = tuple(self._of(value, rule) for value in values)
        for container in _walk(found):
            if isinstance(container, (tuple, *_PLAIN)) or _is_generator(container):
                continue
            for key, item in _places(container):
                new = self._of(item, rule)
                if new is not item:
                    _put(container, key, new)
        return found

    def _of(self, value: Any, rule: Callable[[Any], Any]) -> Any:
        if not isinstance(value, tuple):
            return rule(value)
        known = self.tuples.get(id(value))
        if known is not None:
            return known[1]
        items = [self._of(item, rule) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        made = type(value)._make(items) if hasattr(value, "_make") else tuple(items)
        self.tuples[id(made)] = made, value
        return made

    def twin(self, value: Any) -> Any:
        """The generator of the prelude that stands for one of NumPy's."""
        if not _is_generator(value):
            return value
        if id(value) not in self.known:
            made = _twin(value)
            self.known[id(value)] = value, made, made.children
            self.originals[id(made)] = made, value
        return self.known[id(value)][1]

    def original(self, value: Any) -> Any:
        """The generator of NumPy's that one of the prelude stands for; a new one for one that compiled code made."""
        from pullback.prims.prelude.random_generator import Generator  # not at the top: few programs come here

        if type(value) is not Generator:
            return value
        if id(value) not in self.originals:
            self.originals[id(value)] = value, _made(value)
        return self.originals[id(value)][1]

    def write_back(self) -> None:
        """Bring the states into the caller's generators."""
        for original, twin, spawned in self.known.values():
            _write_back(original.bit_generator, twin)
            if twin.children > spawned:
                original.bit_generator.seed_seq.spawn(twin.children - spawned)  # so that the next are other ones


# ----------------------------------------------------------------------------------------------------------- states


def _twin(generator: Any) -> Generator:
    from pullback.prims.prelude.random_generator import Generator  # not at the top: few programs come here

    source = generator.bit_generator
    if type(source).__name__ != "PCG64":
        raise TypeError(
            f"a Generator over {type(source).__name__} is not supported: only PCG64 is known\n"
            "  help: write np.random.default_rng(seed)"
        )
    twin = object.__new__(Generator)
    twin.words, twin.children = _words(source.seed_seq), int(source.seed_seq.n_children_spawned)
    state = source.state
    twin.half, twin.has_half = np.uint64(state["uinteger"]), bool(state["has_uint32"])
    twin.high, twin.low = _parts(state["state"]["state"])
    twin.add_high, twin.add_low = _parts(state["state"]["inc"])
    return twin


def _made(twin: Generator) -> Any:
    """A generator of NumPy's in the state of one that compiled code made; its children are the same, too."""
    from numpy.random import PCG64, SeedSequence
    from numpy.random import Generator as NumPyGenerator

    seeds = SeedSequence([int(word) for word in twin.words], n_children_spawned=int(twin.children))
    made = NumPyGenerator(PCG64(seeds))
    _write_back(made.bit_generator, twin)
    return made


def _parts(number: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(number >> 64), np.uint64(number & _LOW_64)


def _words(seeds: Any) -> Any:
    """The entropy of a SeedSequence as words of 32 bits, then the numbers of the children that it comes from."""
    entropy = seeds.entropy if isinstance(seeds.entropy, Sequence | np.ndarray) else [seeds.entropy]
    words = [word for number in entropy for word in _words_of(int(number))]
    if seeds.spawn_key:
        words += [0] * (4 - len(words))
    words += [word for number in seeds.spawn_key for word in _words_of(int(number))]
    return np.array(words, np.uint64)


def _words_of(number: int) -> list[int]:
    words = [number & _LOW_32]
    while number := number >> 32:
        words.append(number & _LOW_32)
    return words


def _write_back(target: Any, twin: Generator) -> None:
    state = target.state
    state["state"] = {
        "state": (int(twin.high) << 64) + int(twin.low), "inc": (int(twin.add_high) << 64) + int(twin.add_low)
    }  # fmt: skip
    state["has_uint32"], state["uinteger"] = int(twin.has_half), int(twin.half)
    target.state = state
