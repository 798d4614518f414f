"""Nouns of effects: mutation in every place and through every alias, print, exceptions."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass

import numpy as np

from nouns import noun


@dataclass
class Box:
    value: float


@noun("mutation of arrays in loops", args=[(0.7, 4)])
def arrays_in_loops(x, n):
    a = np.zeros(n)
    for i in range(n):
        a[i] = x * i
        a[i // 2] += a[i] * x
    return np.sum(a * a)


@noun("mutation of lists in callees", args=[(0.7, 4)])
def lists_in_callees(x, n):
    def push(values, a):
        values.append(a)
        values[0] *= x

    values = [1.0]
    for i in range(n):
        push(values, x * i)
    return sum(values) * values[0]


@noun("mutation of dicts in callees", args=[(0.7, 4)])
def dicts_in_callees(x, n):
    def count(table, key, a):
        table[key] = table.get(key, 1.0) * a

    table = {}
    for i in range(n):
        count(table, i % 2, x + i)
    return table[0] * table[1] + sum(table.values())


@noun("mutation of objects in callees", args=[(0.7, 4)])
def objects_in_callees(x, n):
    def bump(box, a):
        box.value = box.value * x + a

    box = Box(x)
    for i in range(n):
        bump(box, i * x)
    return box.value**2


@noun("mutation of cells in closures", args=[(0.7, 4)])
def cells_in_closures(x, n):
    state = x
    calls = 0

    def step(a):
        nonlocal state, calls
        state = math.sin(state) + a
        calls += 1

    def twice(a):
        step(a)
        step(state * a)

    for i in range(n):
        twice(x * i)
    return state * calls


@noun("mutation of arrays in closures", args=[(0.7, 3)])
def arrays_in_closures(x, n):
    a = np.array([x, 1.0, 2.0])

    def rotate():
        last = a[-1] * x
        a[1:] = a[:-1] * x
        a[0] = last

    for _ in range(n):
        rotate()
    return np.sum(a * np.array([1.0, 2.0, 3.0]))


@noun("mutation through aliases", args=[(0.7, 1), (0.7, 0)])
def through_aliases(x, k):
    a, b = [x, 2.0], [1.0, x]
    chosen = a if k else b
    chosen[0] = x * x
    chosen.append(x)
    grid = np.array([[x, 1.0], [2.0, x]])
    row = grid[k]
    row *= x
    table = {"a": a}
    table["a"][1] += 1.0
    return sum(a) * sum(b) + np.sum(grid**2)


@noun("print", args=[(0.7, 2)], interpreter=False)
def printing(x, n):
    for i in range(n):
        print("step", i, x * i, sep=", ")
    print(f"{x:.3f}|{n:>4}", end="!\n")
    print((1, 2.5), [True, None], "text", {"k": x})
    return x * x


@noun("try", args=[(0.7, 0), (0.7, 2), (0.7, 9)])
def trying(x, k):
    values = [x, x * x, 2.0]
    try:
        y = values[k] / k
    except ZeroDivisionError:
        y = x * 3.0
    except IndexError:
        y = math.sin(x)
    return y * x


@noun("else of try", args=[(0.7, 0), (0.7, 2)])
def try_else(x, k):
    y = x
    try:
        y = y / k
    except ZeroDivisionError:
        y = y * 2.0
    else:
        y = y * y
    return y


@noun("finally", args=[(0.7, 0), (0.7, 2), (0.7, 7)])
def finally_clauses(x, k):
    log = [x]

    def attempt(i):
        try:
            if i == 0:
                return x * x
            log[i] = 2.0
            return log[1]
        except IndexError:
            return x * 3.0
        finally:
            log.append(x * i)

    y = attempt(k)
    for i in range(3):
        try:
            if i == 1:
                break
            y += x
        finally:
            y = y * x
    return y + sum(log)


@noun("exception by raise", args=[(0.7,), (1.7,)])
def by_raise(x):
    try:
        y = x * x
        if y > 1.0:
            raise ValueError("too large", y)
        y = y + 1.0
    except ValueError as error:
        y = error.args[1] * 0.5
    return y * x


@noun("exception by an index", args=[(0.7, 1), (0.7, 5)])
def by_index(x, k):
    a = np.array([x, x * x])
    try:
        return a[k] * 1.0
    except IndexError:
        return np.sum(a)


@noun("exception by a division", args=[(0.7, 0), (0.7, 3)])
def by_division(x, k):
    try:
        return x / k + x * (7 // k)
    except ZeroDivisionError as error:
        return x * x if "division" in str(error) else x


@noun("exception by a callee", args=[(0.7, 5), (1.7, 5)])
def by_callee(x, n):
    def check(a, k):
        if a > 3.0:
            raise OverflowError(k)
        return check(a * x + 1.0, k + 1) if k < n else a

    try:
        return check(x, 0)
    except (OverflowError, KeyError) as error:
        return x * error.args[0] + 1.0


class StepError(Exception):
    pass


@noun("raise from", args=[(0.7, 0), (0.7, 2)])
def raise_from(x, k):
    def inner():
        try:
            return x / k
        except ZeroDivisionError as error:
            raise StepError("step") from error

    try:
        return inner() * x
    except StepError as error:
        return x * x if isinstance(error.__cause__, ZeroDivisionError) else x


class Diverged(ValueError):
    def __init__(self, last, trips):
        super().__init__(f"no convergence after {trips}")
        self.last = last
        self.trips = trips


@noun("user exception classes", args=[(0.7,), (2.9,)])
def user_exceptions(x):
    def iterate(a):
        for k in range(6):
            a = a * 0.5 + x
            if a > 2.0:
                raise Diverged(a, k)
        return a

    try:
        return iterate(x)
    except Diverged as error:
        return error.last * x + error.trips


@noun("re-raise", args=[(0.7, 0), (0.7, 1)])
def raised_again(x, k):
    log = []
    try:
        try:
            y = x / k
        except ZeroDivisionError:
            log.append(x)
            raise
    except ArithmeticError:
        y = x * x + sum(log)
    with contextlib.suppress(KeyError):
        y = y * x
        y = {1: 2.0}[k + 1] * y
    return y


@noun("mutation before an exception is kept", args=[(0.7, 3)])
def kept_mutation(x, n):
    values, box, a = [x], Box(1.0), np.zeros(3)
    for i in range(n):
        try:
            values.append(x * i)
            box.value *= x
            a[i] = x
            a[i + 1] = values[i] * x
            if i == 1:
                raise RuntimeError
            values[0] += a[9]
        except (RuntimeError, IndexError):
            values[-1] *= 2.0
    return sum(values) * box.value + np.sum(a * a)
