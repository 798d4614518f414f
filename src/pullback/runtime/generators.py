"""numpy.random.Generator as an argument: its state goes into compiled code and comes back.

    draws(rng, 5)       what is passed is a generator of the prelude with the state of rng; the state is written back

The same generator given twice is one inside, too.  Only PCG64, which default_rng gives, is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pullback.prims.prelude.random_generator import Generator

__all__ = ["call", "needed"]

_LOW_64, _LOW_32 = 2**64 - 1, 2**32 - 1


def needed(values: Sequence[object]) -> bool:
    """Is a generator among the arguments; numpy.random is not loaded for the question."""
    return any(type(value).__name__ == "Generator" and _is_generator(value) for value in values)


def _is_generator(value: object) -> bool:
    return type(value).__module__.startswith("numpy.random")


def call(function: Callable[..., object], values: Sequence[Any]) -> object:
    """The function's result for generators of the prelude in their places; their states are written back, on an
    exception too."""
    known: dict[int, tuple[Any, Generator]] = {}
    given = [_twin(value, known) if _is_generator(value) else value for value in values]
    children = {key: twin.children for key, (_, twin) in known.items()}
    try:
        return function(*given)
    finally:
        for key, (original, twin) in known.items():
            _write_back(original.bit_generator, twin, twin.children - children[key])


def _twin(generator: Any, known: dict[int, tuple[Any, Generator]]) -> Generator:
    """The generator of the prelude that stands for one of NumPy's."""
    from pullback.prims.prelude.random_generator import Generator  # not at the top: few programs come here

    if id(generator) in known:
        return known[id(generator)][1]
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
    known[id(generator)] = generator, twin
    return twin


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


def _write_back(target: Any, twin: Generator, spawned: int) -> None:
    state = target.state
    state["state"] = {
        "state": (int(twin.high) << 64) + int(twin.low), "inc": (int(twin.add_high) << 64) + int(twin.add_low)
    }  # fmt: skip
    state["has_uint32"], state["uinteger"] = int(twin.has_half), int(twin.half)
    target.state = state
    if spawned:
        target.seed_seq.spawn(spawned)  # so that the next children are other ones
