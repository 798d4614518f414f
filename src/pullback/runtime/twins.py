"""Arrays that compiled code cannot read where they lie, and the native copies that it is given in their place.

    def double(a): a *= 2.0; return a[1:]
    x = np.arange(3.0).astype(">f8")
    jit(double)(x)       a twin of x is doubled; x takes over its elements; the result is x[1:], a view of x

Byte-swapped and misaligned arrays have twins.  Arrays of one kind that share memory have twins that share memory in the
same way: an image holds every element of theirs, at its old place times a scale that makes room for alignment.  An
array that shares memory with one of another kind is passed read-only, so that what would go wrong is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pullback.runtime.layout import NUMPY_SCALARS

__all__ = ["call", "native", "needed"]

_NATIVE = frozenset(np.dtype(scalar) for scalar in NUMPY_SCALARS.values())
_BITS = {8: np.uint64, 4: np.uint32, 2: np.uint16, 1: np.uint8}
_MOST_WORK = 10_000  # for NumPy's exact test whether two arrays share memory; past it they count as sharing
_READ_ONLY = "assignment destination is read-only"
_SHARED = ("an argument that is written shares memory with one of another byte order, alignment or dtype: "
           "pass a copy of one of them")  # fmt: skip


def needed(arguments: Sequence[object]) -> bool:
    """Is there an array among the arguments, or in containers among them, that needs a twin."""
    return any(map(_is_foreign, _arrays(arguments)))


def native(arguments: Sequence[object]) -> tuple[object, ...]:
    """The arguments with twins in place of the arrays that need them."""
    return _Twins(arguments).arguments if needed(arguments) else tuple(arguments)


def call(function: Callable[..., Any], arguments: Sequence[object]) -> Any:
    """function(*arguments), by way of twins where needed: the arguments take over their changes, also if it raises."""
    if not needed(arguments):
        return function(*arguments)
    twins = _Twins(arguments)
    try:
        result = function(*twins.arguments)
    except ValueError as error:
        if twins.refused and str(error) == _READ_ONLY:
            raise ValueError(_SHARED) from error
        raise
    finally:
        twins.write_back()
    return twins.translated(result)


def _is_foreign(array: np.ndarray[Any, Any]) -> bool:
    dtype = array.dtype
    if dtype.isnative and array.flags.aligned:
        return False
    return dtype.newbyteorder("=") in _NATIVE


def _arrays(value: object) -> Iterable[np.ndarray[Any, Any]]:
    """The arrays in a value, in the order they are met; a list or dict is looked at once."""
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        if type(item) is np.ndarray:
            yield item
        elif type(item) is tuple:
            waiting += reversed(item)
        elif type(item) in (list, dict) and id(item) not in seen:
            seen.add(id(item))
            waiting += reversed(_content(item))


def _content(value: Any) -> list[Any]:
    return list(value.values()) if type(value) is dict else list(value)


class _Mapping:
    """Values with other arrays in them: a rule is applied to each.  Lists and dicts are made anew, each once.

    made: by the identity of the old list or dict, it and the new one.
    """

    def __init__(self, rule: Callable[[Any], object]) -> None:
        self.rule = rule
        self.made: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """The value with other arrays."""
        if type(value) is np.ndarray:
            return self.rule(value)
        if type(value) is tuple:
            return tuple(map(self.of, value))
        if type(value) not in (list, dict):
            return value
        if id(value) not in self.made:
            new: Any = type(value)()
            self.made[id(value)] = value, new
            if type(value) is list:
                new.extend(map(self.of, value))
            else:
                new.update((key, self.of(item)) for key, item in value.items())
        return self.made[id(value)][1]


# ------------------------------------------------------------------------------------------------------ memory


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _bounds(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The address of the lowest element and the one past the highest."""
    low = high = _address(array)
    for size, stride in zip(array.shape, array.strides, strict=True):
        low += min(0, (size - 1) * stride)
        high += max(0, (size - 1) * stride)
    return low, high + array.itemsize


def _share(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    exactly: Any = np.shares_memory  # NumPy's own types know two values of max_work
    try:
        return bool(exactly(a, b, max_work=_MOST_WORK))
    except np.exceptions.TooHardError:
        return True


def _groups(arrays: Iterable[np.ndarray[Any, Any]]) -> list[list[np.ndarray[Any, Any]]]:
    """Arrays that share memory, directly or through others, together."""
    groups: list[list[np.ndarray[Any, Any]]] = []
    for array in arrays:
        meeting = [group for group in groups if any(_share(array, other) for other in group)]
        groups = [group for group in groups if group not in meeting]
        groups.append([array, *(other for group in meeting for other in group)])
    return groups


def _steps(array: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """Size and stride of the axes along which there is a second element."""
    return [(size, stride) for size, stride in zip(array.shape, array.strides, strict=True) if size > 1 and stride]


def _places(arrays: Iterable[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The addresses of all elements, sorted."""
    found = []
    for array in arrays:
        places = np.array([_address(array)])
        for size, stride in _steps(array):
            places = (places[:, None] + np.arange(size) * stride).reshape(-1)
        found.append(places)
    return np.unique(np.concatenate(found))


def _once(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view that skips repetitions along axes of stride 0."""
    steps = zip(array.shape, array.strides, strict=True)
    return array[(*(slice(0, 1) if size > 1 and not stride else slice(None) for size, stride in steps), ...)]


@dataclass(frozen=True, slots=True)
class _Window:
    """Memory given to compiled code that stands for the caller's: address - start = (the caller's - low) * scale."""

    base: np.ndarray[Any, Any]
    start: int
    end: int
    low: int
    scale: int

    def original(self, view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The view of the caller's memory that a view of this window stands for."""
        place = self.low + (_address(view) - self.start) // self.scale
        strides = tuple(stride // self.scale for stride in view.strides)
        return np.asarray(_Reference(self.base, place, view.shape, strides))


class _Reference:
    """What NumPy makes a view from; it keeps the array alive whose memory it refers to."""

    def __init__(self, base: np.ndarray[Any, Any], place: int, shape: Sequence[int], strides: Sequence[int]) -> None:
        self.base = base
        self.__array_interface__ = {
            "version": 3, "typestr": base.dtype.str, "data": (place, not base.flags.writeable),
            "shape": tuple(shape), "strides": tuple(strides),
        }  # fmt: skip


class _Image:
    """The elements of arrays of one dtype, in native form, where views of them may share them."""

    def __init__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        self.arrays = arrays
        self.dtype = arrays[0].dtype.newbyteorder("=")
        size = self.dtype.itemsize
        bounds = [_bounds(array) for array in arrays]
        self.low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        distances = [stride for array in arrays for _, stride in _steps(array)]
        self.scale = size // math.gcd(size, *distances, *(_address(array) - self.low for array in arrays))
        memory = np.zeros((high - self.low - size) * self.scale + size + 64, np.uint8)
        skipped = -_address(memory) % 64
        self.memory = memory[skipped : len(memory) - 64 + skipped]
        self.twins = [self.view(array, self.memory) for array in arrays]
        for array, twin in zip(arrays, self.twins, strict=True):
            _once(twin)[...] = _once(array)
        self.before = self.memory.copy()

    def view(self, array: np.ndarray[Any, Any], memory: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array's elements in memory laid out as this image."""
        steps = zip(array.shape, array.strides, strict=True)
        strides = tuple(stride * self.scale if size > 1 else self.dtype.itemsize for size, stride in steps)
        offset = (_address(array) - self.low) * self.scale
        return np.ndarray(array.shape, self.dtype, memory.data, offset, strides)

    @property
    def window(self) -> _Window:
        start = _address(self.memory)
        return _Window(self.arrays[0], start, start + len(self.memory), self.low, self.scale)

    def is_writable(self) -> bool:
        """May the elements be written back: no two of them overlap in part."""
        return self.scale == 1 or bool(np.all(np.diff(_places(self.arrays)) >= self.dtype.itemsize))

    def write_back(self) -> None:
        """Bring what has changed into the arrays."""
        bits = _BITS[self.dtype.itemsize]
        changes = []
        for array, twin in zip(self.arrays, self.twins, strict=True):
            before, now = _once(self.view(array, self.before)), _once(twin)
            if np.any(_once(array).astype(self.dtype).view(bits) != before.view(bits)):
                raise ValueError("an argument was changed from elsewhere while compiled code used a native copy of it")
            changed = now.view(bits) != before.view(bits)
            if np.any(changed):
                changes.append((_once(array), now, changed))
        for array, now, changed in changes:
            np.copyto(array, now, where=changed)


def _held(value: Any) -> list[Any]:
    """What a list or dict holds, keys too."""
    return [part for item in value.items() for part in item] if type(value) is dict else list(value)


def _alike(left: list[Any], right: list[Any]) -> bool:
    return len(left) == len(right) and all(map(operator.is_, left, right))


@dataclass(slots=True)
class _Twins:
    """The arguments of one call, and the way back.

    refused: some arrays are passed as read-only although the caller's are not.
    """

    given: Sequence[object]
    arguments: tuple[object, ...] = ()
    refused: bool = False
    images: list[_Image] = field(default_factory=list)
    windows: list[_Window] = field(default_factory=list)
    known: dict[int, tuple[Any, Any]] = field(default_factory=dict)  # by the array's identity: it and its twin
    containers: list[tuple[Any, Any, list[Any]]] = field(default_factory=list)  # original, copy, what it held

    def __post_init__(self) -> None:
        arrays = {id(array): array for array in _arrays(self.given)}
        for array in [array for array in arrays.values() if not array.size and _is_foreign(array)]:
            self._keep(array, np.empty(array.shape, array.dtype.newbyteorder("=")), array.flags.writeable)
        for group in _groups(array for array in arrays.values() if array.size):
            if any(map(_is_foreign, group)):
                self._stand_in(group)
        twins = {key: twin for key, (_, twin) in self.known.items()}
        mapping = _Mapping(lambda a: twins.get(id(a), a))
        self.arguments = tuple(map(mapping.of, self.given))
        self.containers = [(old, new, _held(new)) for old, new in mapping.made.values()]

    def _keep(self, array: np.ndarray[Any, Any], twin: np.ndarray[Any, Any], writeable: bool) -> None:
        twin.flags.writeable = writeable
        self.refused |= bool(array.flags.writeable) and not writeable
        self.known[id(array)] = array, twin

    def _stand_in(self, group: list[np.ndarray[Any, Any]]) -> None:
        """Twins for a group; read-only ones where its members cannot share an image."""
        alike = len({array.dtype for array in group}) == 1 and all(map(_is_foreign, group))
        for part in [group] if alike else [[array] for array in group]:
            if not _is_foreign(part[0]):
                view = part[0].view()
                low, high = _bounds(view)
                self.windows.append(_Window(part[0], low, high, low, 1))
                self._keep(part[0], view, False)
                continue
            image = _Image(part)
            self.windows.append(image.window)
            writable = alike and image.is_writable()
            if writable:
                self.images.append(image)
            for array, twin in zip(part, image.twins, strict=True):
                self._keep(array, twin, writable and array.flags.writeable)

    def write_back(self) -> None:
        """Bring what has changed into the caller's arrays, lists and dicts."""
        for image in self.images:
            image.write_back()
        for old, new, before in self.containers:
            if not _alike(_held(new), before):
                now = self.translated(type(new)(new))
                if type(old) is list:
                    old[:] = now
                else:
                    old.clear()
                    old.update(now)

    def translated(self, result: object) -> Any:
        """The result with the caller's arrays, and views of them, in place of the twins and their views."""
        originals = {id(array): array for array in _arrays(self.given)}
        originals |= {id(twin): array for array, twin in self.known.values()}

        def original(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            found = originals.get(id(array))
            if found is not None:
                return found
            place = _address(array)
            for window in self.windows:
                if array.size and window.start <= place < window.end:
                    return window.original(array)
            return array

        mapping = _Mapping(original)
        mapping.made = {id(new): (new, old) for old, new, _ in self.containers}
        return mapping.of(result)
