"""What one call from Python costs: values, arrays and containers, in and out.

call_times()       [{"call": "math.sqrt(float)", "nanoseconds": 31.0}, {"call": "f(float)", ...}, ...]

node_times()       nanoseconds for each node of a tree or list that is an argument, read only and written back

Best of interleaved batches, the loop around the call taken off; math.sqrt and np.negative stand beside as yardsticks.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import pullback as pb
from structure_workloads import Link, Tree
from workloads import sincos

__all__ = ["call_times", "node_times"]

_ROUNDS, _COUNT = 25, 10_000
_DEPTH, _NODE_ROUNDS = 16, 15


@dataclass
class Point:
    x: float
    y: float


def first(a):
    return a[0] * 2.0


def doubled(a):
    return a * 2.0


def of_tuple(p):
    return p[0] * p[1] + p[2]


def of_dict(p):
    return p["w"] * p["b"]


def of_object(p):
    return p.x * p.y


def of_list(p):
    return p[0] * p[1]


def of_nested(p):
    return p["w"][0] * p["more"]["b"] + p["w"][1]


_ARRAY = np.ones(4)
_GIVEN = {
    "float": (sincos, 0.7),
    "array": (first, _ARRAY),
    "tuple": (of_tuple, (1.0, 2.0, 3.0)),
    "dict": (of_dict, {"w": 1.0, "b": 2.0}),
    "dataclass": (of_object, Point(1.0, 2.0)),
    "list": (of_list, [1.0, 2.0]),
    "nested": (of_nested, {"w": (1.0, 2.0), "more": {"b": 3.0}}),
}


def _calls() -> Iterator[tuple[str, Callable[[], Callable], object]]:
    """Name, what makes the function, its argument."""
    yield "math.sqrt(float)", lambda: math.sqrt, 0.7
    yield "np.negative(array)", lambda: np.negative, _ARRAY
    yield "plain Python sin(cos(float))", lambda: sincos, 0.7
    yield "f(array) -> array", lambda: pb.jit(doubled), _ARRAY
    for name, (function, value) in _GIVEN.items():
        yield f"f({name})", lambda function=function: pb.jit(function), value
        yield f"gradient, {name}", lambda function=function: pb.grad(function), value
        yield f"value and gradient, {name}", lambda function=function: pb.value_and_grad(function), value


def call_times() -> list[dict]:
    """Nanoseconds of one call of each kind; prints them."""
    ready, rows = [], []
    for name, make, value in _calls():
        try:
            function = make()
            function(value)
            ready.append((name, function, value))
        except Exception as error:
            rows.append({"call": name, "failed": f"{type(error).__name__}: {error}"})
            print(f"{name:44} {rows[-1]['failed']}", flush=True)
    best = [math.inf] * len(ready)
    empty = math.inf
    for _ in range(_ROUNDS):
        empty = min(empty, _batch(None, None))
        best = [min(old, _batch(function, value)) for old, (_, function, value) in zip(best, ready, strict=True)]
    for seconds, (name, _, _) in zip(best, ready, strict=True):
        rows.append({"call": name, "nanoseconds": (seconds - empty) / _COUNT * 1e9})
        print(f"{name:44} {rows[-1]['nanoseconds']:9.1f} ns", flush=True)
    return rows


def _batch(function: Callable | None, value: object) -> float:
    repeats = range(_COUNT)
    began = time.perf_counter()
    if function is None:
        for _ in repeats:
            pass
    else:
        for _ in repeats:
            function(value)
    return time.perf_counter() - began


# ---- nodes of trees and lists ----------------------------------------------------------------------------------------


def tree_of(depth):
    return Tree(0.5 * depth, *((tree_of(depth - 1), tree_of(depth - 1)) if depth else ()))


def total(tree):
    return 0.0 if tree is None else tree.value + total(tree.left) + total(tree.right)


def scale(tree, factor):
    tree.value *= factor
    if tree.left is not None:
        scale(tree.left, factor)
    if tree.right is not None:
        scale(tree.right, factor)


def list_of(count):
    head = None
    for i in range(count):
        head = Link(0.5 * i, head)
    return head


def total_of_links(link):
    found = 0.0
    while link is not None:
        found += link.value
        link = link.next
    return found


def scale_links(link, factor):
    while link is not None:
        link.value *= factor
        link = link.next


def node_times() -> list[dict]:
    """Nanoseconds of processor time for each node, the walk itself included; plain Python beside; prints them."""
    count = 2 ** (_DEPTH + 1) - 1
    rows = []
    kinds = (("tree", tree_of(_DEPTH), total, scale), ("linked list", list_of(count), total_of_links, scale_links))
    for kind, value, reads, writes in kinds:
        compiled, changing, before = pb.jit(reads), pb.jit(writes), reads(value)
        changing(value, 2.0)
        if not (math.isclose(compiled(value), 2.0 * before) and math.isclose(reads(value), 2.0 * before)):
            raise AssertionError(f"{kind}: {compiled(value)}, CPython says {reads(value)}, twice {before}")
        sides = {
            "read": lambda f=compiled, v=value: f(v),
            "read and written back": lambda f=changing, v=value: f(v, -1.0),
            "read, plain Python": lambda f=reads, v=value: f(v),
            "written, plain Python": lambda f=writes, v=value: f(v, -1.0),
        }
        for name, seconds in _best(sides).items():
            rows.append({"call": f"{kind} of {count:,} nodes, {name}", "nanoseconds": seconds / count * 1e9})
            print(f"{rows[-1]['call']:60} {rows[-1]['nanoseconds']:9.1f} ns a node", flush=True)
    return rows


def _best(sides: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least processor time of one call of each, in turn."""
    best = dict.fromkeys(sides, math.inf)
    for _ in range(_NODE_ROUNDS):
        for name, call in sides.items():
            began = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - began)
    return best
