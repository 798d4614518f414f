"""Programs in which ints decide the structure of what is computed, each with the arguments it is run with.

Every function takes an array first and returns numbers or arrays, so that the sum of squares of what it gives can be
differentiated by that array.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = ["ROWS", "Row"]


@dataclass(frozen=True)
class Row:
    """A program and the arguments after the array, whose shape is `shape`, of each run."""

    function: Callable[..., Any]
    shape: tuple[int, ...] = (2, 3, 4)
    runs: tuple[tuple[Any, ...], ...] = ((),)

    @property
    def name(self) -> str:
        return self.function.__name__.strip("_")


AXIS = 1
AXES = (0, 2)


class Settings(NamedTuple):
    axis: int
    scale: float


class Reducer:
    def __init__(self, weight):
        self.weight = weight

    def along(self, a, axis):
        return self.weight * a.sum(axis=axis)

    @staticmethod
    def largest(a, axis=0):
        return a.max(axis=axis)

    @classmethod
    def make(cls, a, axis):
        return cls(2.0).along(a, axis)


def total(a, axis):
    return a.sum(axis=axis)


def norm(a, axis):
    return a / a.sum(axis=axis, keepdims=True)


def last(a):
    return a.ndim - 1


def before(n, k):
    return n - k


def called(a):
    return norm(a, 1)


def parameter(a, axis=0):
    return a.max(axis=axis)


def tuple_parameter(a, axes=(0, 1)):
    return np.sum(a, axis=axes)


def flag(a, keep):
    return a.mean(axis=1, keepdims=keep)


def rank(a):
    return a.sum(axis=a.ndim - 1)


def reversed_axes(a):
    return np.transpose(a, tuple(range(a.ndim))[::-1])


def reversed_range(a):
    return np.transpose(a, tuple(reversed(range(a.ndim))))


def listed_range(a):
    return np.transpose(a, list(range(a.ndim))[::-1])


def arithmetic(a, n):
    return a.sum(axis=(n * 2 + 1) % a.ndim) * a.sum(axis=-(-n // 2) - 1).sum() + a.sum(axis=abs(n) - n).sum()


def extremes(a, n):
    return a.sum(axis=min(n, a.ndim - 1, 9)) + a.sum(axis=max(n, 2, -1)) * 0.5


def quotient(a, n):
    first, second = divmod(n, 2)
    return a.sum(axis=first).sum(axis=second)


def chain(a, axis):
    return outer_call(a, axis + 1) + 1.0


def outer_call(a, k):
    return total(a, k - 1)


def computed_by_call(a, n):
    return a.sum(axis=before(n, 1)) + a.sum(axis=last(a)).sum()


def captured(a, axis):
    def inner(x):
        return x.sum(axis=axis)

    return inner(a)


def captured_twice(a, axis):
    def outer():
        return lambda x: x.sum(axis=axis)

    return outer()(a)


def handed_on(a, axis):
    def apply(f):
        return f(a)

    return apply(lambda x: total(x, axis))


def partial_inside(a):
    return functools.partial(total, axis=1)(a)


along_two = functools.partial(total, axis=2)


def partial_outside(a):
    return along_two(a)


def mapped(a):
    first, second = tuple(map(lambda axis: np.sum(a.sum(axis=axis) ** 2), (0, 1)))
    return first * second


def star(a, *axes):
    return a.sum(axis=axes)


def star_call(a):
    return star(a, *AXES)


def keywords(a, **options):
    return a.sum(**options)


def keyword_call(a, axis):
    return keywords(a, axis=axis, keepdims=True)


def keyword_only(a, *, axis=0):
    return a.sum(axis=axis)


def of_global(a):
    return a.sum(axis=AXIS)


def of_global_tuple(a):
    return a.sum(axis=AXES)


def of_named_tuple(a, settings):
    return a.sum(axis=settings.axis) * settings.scale


def of_dict(a, options):
    return a.sum(axis=options["axis"])


def of_method(a, axis):
    return Reducer(3.0).along(a, axis) + Reducer.largest(a, axis) + Reducer.make(a, axis)


def loop(a):
    result = 0.0
    for i in range(a.ndim):
        result += np.sum(a.sum(axis=i) ** 2)
    return result


def nested_loops(a):
    result = 0.0
    for i in range(a.ndim):
        for j in range(i):
            result += np.sum(a.sum(axis=(i, j)) ** 2)
    return result


def stopped_loop(a, n):
    result = 0.0
    for i in range(a.ndim):
        if i == n:
            break
        if i == 1:
            continue
        result += np.sum(a.sum(axis=i) ** 2)
    else:
        result += 1.0
    return result


def stopped_by_data(a):
    result = 0.0
    for i in range(a.ndim):
        result += np.sum(a.sum(axis=i) ** 2)
        if result > 20.0:
            break
    return result


def while_loop(a):
    result, i = 0.0, 0
    while i < a.ndim:
        result += np.sum(a.sum(axis=i) ** 2)
        i += 1
    return result


def endless_loop(a, n):
    result, i = 0.0, 0
    while True:
        result += np.sum(a.sum(axis=i) ** 2)
        i += 1
        if i > n:
            return result


def one_after_the_other(a):
    while a.ndim > 1:
        a = a.max(axis=0)
    return a


def enumerated(a):
    result = 0.0
    for i, size in enumerate(a.shape):
        result += np.sum(a.sum(axis=i) ** 2) / size
    return result


def others(a, axis):
    return a.sum(axis=tuple(i for i in range(a.ndim) if i != axis))


def others_listed(a, axis=-1):
    if axis < 0:
        axis += a.ndim
    return np.transpose(a, [i for i in range(a.ndim) if i != axis] + [axis])


def sorted_axes(a, i, j):
    low, high = sorted((i, j))
    return np.sum(np.sum(a, axis=high), axis=low) + a.sum(axis=tuple(sorted(k % 3 for k in (i, j)))) * 2.0


def shape_without(a, axis):
    return np.ones(a.shape[:axis] + a.shape[axis + 1 :]) * a.max()


def shape_with(a, axis):
    return a.reshape(a.shape[:axis] + (1,) + a.shape[axis:])


def grown_shape(a):
    return np.zeros([n + 1 for n in a.shape]) + a.sum()


def whole_slices(a, axis, i):
    return a[(slice(None),) * axis + (i,)]


def written_slices(a, axis):
    a = a.copy()
    a[(slice(None),) * axis + (0,)] *= 3.0
    return a


def several_types(a, i):
    return (1.5, a, 2)[i]


def chosen(a, first):
    return a.sum(axis=0 if first else 1)


def chosen_type(a, axis):
    if axis in (0, 2):
        return a.sum()
    return a.sum(axis=axis)


def recursion(a, k):
    if k == a.ndim:
        return 0.0
    return np.sum(a.sum(axis=k) ** 2) + recursion(a, k + 1)


def inside_branches(a, axis):
    if a[0, 0, 0] > 0.0:
        return total(a, axis)
    return -total(a, axis)


def inside_try(a, axis):
    try:
        return total(a, axis) / (a[0, 0, 0] - 50.0)
    except ZeroDivisionError:
        return total(a, axis)


def inside_loop(a, axis, n):
    for _ in range(n):
        a = norm(a, axis) * 2.0
    return a


def generator(a):
    def pieces(first):
        for k in range(2):
            yield a.sum(axis=first) * float(k + 1)

    result = 0.0
    for piece in pieces(1):
        result += np.sum(piece**2)
    return result


def run_time_too(a, k):
    """The same number as an axis and as data."""
    return a.sum(axis=k) * k + np.arange(4.0)[k]


class Along:
    def __init__(self, axis, weight):
        self.axis = axis
        self.weight = weight

    def __call__(self, a):
        return self.weight * a.sum(axis=self.axis)


def of_object(a, axis):
    return Along(axis, 2.0)(a)


def of_objects(a):
    first, second = Along(0, 2.0), Along(1, 3.0)
    return np.sum(first(a)) * second(a)


ROWS = [
    Row(of_object, runs=((0,), (2,))), Row(of_objects),
    Row(called), Row(parameter, runs=((), (1,), (-1,), (np.int64(2),))),
    Row(tuple_parameter, runs=((), ((0, 2),), ((-1,),), (1,))), Row(flag, runs=((True,), (False,))), Row(rank),
    Row(reversed_axes), Row(reversed_axes, (3, 2)), Row(reversed_range), Row(listed_range),
    Row(arithmetic, (3, 3, 3), ((1,), (4,))), Row(extremes, (3, 3, 3), ((1,), (2,))), Row(quotient, runs=((2,), (3,))),
    Row(chain, runs=((1,),)), Row(computed_by_call, (3, 3, 3), ((2,),)), Row(captured, runs=((2,), (0,))),
    Row(captured_twice, runs=((1,),)), Row(handed_on, runs=((1,),)), Row(partial_inside), Row(partial_outside),
    Row(mapped), Row(star, runs=((0, 2), (1,))), Row(star_call), Row(keyword_call, runs=((1,),)), Row(keyword_only),
    Row(of_global), Row(of_global_tuple), Row(of_named_tuple, runs=((Settings(1, 2.5),), (Settings(0, 2.5),))),
    Row(of_dict, runs=(({"axis": 2},),)), Row(of_method, runs=((1,),)), Row(loop), Row(nested_loops),
    Row(stopped_loop, runs=((2,), (7,))), Row(stopped_by_data), Row(while_loop), Row(endless_loop, runs=((1,),)),
    Row(one_after_the_other, (2, 3)), Row(enumerated), Row(others, runs=((1,), (2,))),
    Row(others_listed, runs=((), (0,))),
    Row(sorted_axes, (3, 3, 3), ((2, 0), (0, 1))), Row(shape_without, runs=((1,), (0,))),
    Row(shape_with, runs=((2,), (0,))), Row(grown_shape), Row(whole_slices, runs=((1, 2), (0, 0), (2, -1))),
    Row(written_slices, runs=((1,), (2,))), Row(several_types, runs=((0,), (1,), (2,))),
    Row(chosen, runs=((True,), (False,))), Row(chosen_type, runs=((1,), (2,))), Row(recursion, runs=((0,), (2,))),
    Row(inside_branches, runs=((1,),)), Row(inside_try, runs=((1,),)), Row(inside_loop, runs=((1, 3),)),
    Row(generator), Row(run_time_too, runs=((1,), (2,))),
    Row(called, (0, 3)), Row(loop, (1, 1)), Row(reversed_axes, ()), Row(tuple_parameter, (3, 0), (((0, 1),),)),
]  # fmt: skip
