"""What one call from Python costs: values, arrays and containers, in and out.

call_times()       [{"call": "math.sqrt(float)", "nanoseconds": 31.0}, {"call": "f(float)", ...}, ...]

Best of interleaved batches, the loop around the call taken off; math.sqrt and np.negative stand beside as yardsticks.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import pullback as pb
from workloads import sincos

__all__ = ["call_times"]

_ROUNDS, _COUNT = 25, 10_000


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
