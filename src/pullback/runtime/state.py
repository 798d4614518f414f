"""What places outside of a function held at some moment, for code that is to see that and not what they hold later.

    lr = 0.5                                     f reads the global lr and calls the global g
    state, values = remembered(places)           values (0.5,); state: the place of lr, and that g was this function
    state.changed()                              the same places, and of the constants those that are others now
    Held(((place of lr, 0.5),), ())              what a compilation for this state looks at
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from types import CellType

import numpy as np

from pullback.runtime.boundary import Place, read
from pullback.runtime.objects import is_user_object

__all__ = ["NOTHING_HELD", "NO_STATE", "Held", "State", "is_value", "remembered"]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What a compilation finds in places.

    values: numbers, arrays and containers; the code takes them as its last arguments.
    constants: everything else, known while compiling.
    """

    values: tuple[tuple[Place, object], ...] = ()
    constants: tuple[tuple[Place, object], ...] = ()

    def knows(self, container: object, key: object) -> bool:
        """Is it known what the place held."""
        return any(_same_place(place, container, key) for place, _ in (*self.values, *self.constants))

    def read(self, kind: str, container: object, key: object = None) -> object:
        """What the place held; if that is not known, what it holds now."""
        for place, value in (*self.values, *self.constants):
            if _same_place(place, container, key):
                return value
        return read(kind, container, key)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Places at some moment: those of values, which are arguments of code for this state, and those of constants, with
    what they held."""

    places: tuple[Place, ...] = ()
    constants: tuple[tuple[Place, object], ...] = ()

    def changed(self) -> State:
        """Only the constants that are others now: code looks itself whether the rest is as it was."""
        others = tuple((place, value) for place, value in self.constants if not _is(read(*place), value))
        return State(self.places, others)

    def key(self) -> tuple[object, ...]:
        """Equal for states that the same code is for."""
        places = [(id(container), name) for _, container, name in self.places]
        return (*places, *((id(container), name, id(value)) for (_, container, name), value in self.constants))


NOTHING_HELD = Held()
NO_STATE = State()


def remembered(places: Iterable[Place]) -> tuple[State, tuple[object, ...]]:
    """The state of places now, and the values in those of values (not copied)."""
    found = [(place, read(*place)) for place in places]
    values = [(place, value) for place, value in found if is_value(value)]
    constants = tuple((place, value) for place, value in found if not is_value(value))
    return State(tuple(place for place, _ in values), constants), tuple(value for _, value in values)


def _same_place(place: Place, container: object, key: object) -> bool:
    return place[1] is container and place[2] == key


def is_value(value: object) -> bool:
    """Does compiled code take it anew at each call: a number, an array, an object or a container of them."""
    plain = isinstance(value, int | float | complex | np.generic | np.ndarray)
    held = isinstance(value, tuple | list | dict | set | frozenset | deque | CellType)  # a cell that is assigned
    return is_user_object(value) or held or (plain and type(value) is not bool)


def _is(found: object, value: object) -> bool:
    return found is value or (type(found) is type(value) is str and found == value)
