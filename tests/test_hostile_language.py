"""Programs made to break it: each gives what CPython gives, an exception of its type included, and nothing crashes."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import pullback as pb


@dataclass
class Node:
    value: float
    children: list = field(default_factory=list)
    parent: Node | None = None


class Odd:
    def __init__(self, v: float) -> None:
        self.v = v

    def __eq__(self, other: Any) -> bool:
        if self.v > 1.0:
            raise ValueError("no comparison")
        return self.v == other.v

    def __lt__(self, other: Any) -> bool:
        if self.v < 0.0:
            raise ZeroDivisionError("no order")
        return self.v < other.v

    def __hash__(self) -> int:
        return 1

    def __bool__(self) -> bool:
        return self.v != 0.0


def grown_while_iterated(x, n):
    items = [x]
    for item in items:
        if len(items) < n:
            items.append(item * 0.5)
    return sum(items)


def shrunk_while_iterated(x, n):
    items = [x * i for i in range(n)]
    seen = 0
    for _ in items:
        items.pop()
        seen += 1
    return seen


def dict_changed_in_loop(x, n):
    table = {i: x for i in range(n)}
    total = 0.0
    for key in table:
        total += table[key]
        table[key + n] = x
    return total


def set_changed_in_loop(x, n):
    items = set(range(n))
    for item in items:
        items.add(item + n)
    return len(items)


def empty_pop(x, n):
    items = [x] * n
    while True:
        items.pop()


def index_far(x, n):
    return [x, x][n * 10**15]


def index_negative(x, n):
    return [x] * n and [x][-n - 2]


def no_key(x, n):
    return {1: x}[n + 7]


def slice_mismatch(x, n):
    items = [x] * 6
    items[::2] = [x] * n
    return items


def remove_missing(x, n):
    items = [x, 2.0]
    items.remove(float(n) + 100.0)
    return items


def unpack_too_many(x, n):
    a, b = [x] * (n + 3)
    return a + b


def unpack_too_few(x, n):
    a, b, *c = [x] * (n % 2)
    return a + b


def deleted_name(x, n):
    y = x
    if n > 0:
        del y
    return y


def unset_field(x, n):
    node = Node(x)
    if n > 0:
        del node.value
    return node.value


def comparison_raises(x, n):
    return Odd(x + n) in [Odd(0.0), Odd(0.5)]


def order_raises(x, n):
    return sorted([Odd(1.0), Odd(-x), Odd(0.25)])[0].v


def key_changes_the_list(x, n):
    items = [3.0, x, 2.0]

    def key(v):
        others.append(v)
        return v

    others = [0.0]
    items.sort(key=key)
    return sum(others) + items[0]


def cycle_walked(x, n):
    a, b = Node(x), Node(2.0 * x)
    a.children.append(b)
    b.children.append(a)
    b.parent, a.parent = a, b
    node, total = a, 0.0
    for _ in range(n):
        total += node.value
        node = node.children[0].parent.children[0]
    return total


def list_in_itself(x, n):
    items = [None, x]
    items[0] = items
    return items[0][0][0][1] + len(items[0])


def aliased_twice(x, n):
    row = [0.0] * 3
    grid = [row] * n
    for i in range(n):
        grid[i][i % 3] += x
    return sum(map(sum, grid))


def huge_shift(x, n):
    return 1 << (n * 63)


def sum_overflows(x, n):
    return sum([2**62] * (n + 1))


def finally_wins(x, n):
    for i in range(n):
        try:
            return x / (i - i)
        finally:
            continue
    return -1.0


def raises_in_finally(x, n):
    try:
        return [x][n]
    finally:
        math.sqrt(-x)


def generator_raises(x, n):
    def values():
        for i in range(n, -2, -1):
            yield x / i

    return sum(values())


def generator_endless(x, n):
    def values():
        k = 0
        while True:
            yield x * k
            k += 1

    total = 0.0
    for v in values():
        if v > n * 10:
            break
        total += v
    return total


def recursion_through_objects(x, n):
    node = Node(x)
    for _ in range(n * 20_000):
        node = Node(x, [node])

    def depth(node):
        return 1 + depth(node.children[0]) if node.children else 1

    return depth(node)


def object_false(x, n):
    return [v.v for v in (Odd(0.0), Odd(x)) if v] + [bool(Odd(0.0) or Odd(x))]


def text_beyond(x, n):
    return str(n)[n]


def closures_share(x, n):
    cells = []
    for i in range(n):
        cells.append(lambda: i * x)
    i = 100
    return [c() for c in cells]


def empty_everything(x, n):
    return sum([]), max([], default=x), list(zip([], [x])), dict(), set(), [*[], *()], "".join([])


def min_of_nothing(x, n):
    return min([v for v in [x] if v > 1e9])


def reduce_shape(x, n):
    return np.zeros((n, 3)) + np.zeros((3 if n == 1 else n, n + 1))


def array_of_uneven(x, n):
    return np.array([[x] * (i + 1) for i in range(n + 1)])


PROGRAMS: list[Callable[..., Any]] = [
    grown_while_iterated, shrunk_while_iterated, dict_changed_in_loop, set_changed_in_loop, empty_pop, index_far,
    index_negative, no_key, slice_mismatch, remove_missing, unpack_too_many, unpack_too_few,
    deleted_name, unset_field, comparison_raises, order_raises, key_changes_the_list, cycle_walked, list_in_itself,
    aliased_twice, finally_wins, raises_in_finally, generator_raises, generator_endless, object_false,
    text_beyond, closures_share, empty_everything, min_of_nothing, reduce_shape, array_of_uneven,
]  # fmt: skip


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_cpython(program: Callable[..., Any], n: int) -> None:
    expected = outcome(lambda: program(0.75, n))
    actual = outcome(lambda: pb.jit(program)(0.75, n))
    if isinstance(expected, type) and isinstance(actual, type):
        assert issubclass(actual, expected), (actual, expected)
    else:
        assert repr(actual) == repr(expected)


@pytest.mark.parametrize("program", [huge_shift, sum_overflows])
def test_ints_have_64_bits(program: Callable[..., Any]) -> None:
    with pytest.raises(OverflowError):
        pb.jit(program)(0.75, 5)


def test_more_than_memory() -> None:
    def program(x, n):
        items = [x] * (10**13 * n)
        items[n] = 2.0
        return sum(items)

    with pytest.raises(MemoryError):
        pb.jit(program)(0.75, 5)


def test_deep_recursion_over_objects() -> None:
    assert pb.jit(recursion_through_objects)(0.75, 5) == 100_001


def test_a_list_that_holds_itself_as_an_argument() -> None:
    items: list[Any] = [1.0, None]
    items[1] = items
    assert pb.jit(lambda a: a[0])(items) == 1.0


def test_deep_nesting_from_python() -> None:
    node = Node(1.0)
    for _ in range(5_000):
        node = Node(1.0, [node])
    length = pb.jit(_length)
    assert length(node) == 5_001
    gradient = pb.grad(_total)(node)
    assert gradient.value == 1.0


def _length(node):
    count = 1
    while node.children:
        node = node.children[0]
        count += 1
    return count


def _total(node):
    total = node.value
    while node.children:
        node = node.children[0]
        total += node.value
    return total


def _changes_then_raises(items, n):
    items.append(2.0)
    items[0] = 7.0
    return items[n]


def test_changes_before_an_exception_are_kept() -> None:
    items = [1.0]
    with pytest.raises(IndexError):
        pb.jit(_changes_then_raises)(items, 99)
    assert items == [7.0, 2.0]


def _count_up(items, n):
    for _ in range(n):
        items[0] += 1.0
    return items[0]


def test_threads_each_with_their_own_list() -> None:
    compiled, lists = pb.jit(_count_up), [[0.0] for _ in range(8)]
    threads = [threading.Thread(target=compiled, args=(items, 20_000)) for items in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lists == [[20_000.0]] * 8


def test_after_a_fork() -> None:
    compiled = pb.jit(_count_up)
    compiled([0.0], 3)
    child = os.fork()
    if child == 0:
        os._exit(0 if compiled([1.0], 4) == 5.0 else 1)
    assert os.waitpid(child, 0)[1] == 0


def _endless(items):
    while items[0] >= 0.0:
        items[0] = _bump(items[0])
    return items[0]


def _bump(v):
    return v + 1.0 if v < 1e300 else v


def test_ctrl_c_in_a_callee() -> None:
    compiled = pb.jit(_endless)
    assert compiled([-1.0]) == -1.0
    items = [0.0]
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        compiled(items)
    timer.join()
    assert items[0] > 0.0
