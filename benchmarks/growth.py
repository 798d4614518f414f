"""How time grows with the number of trips, and that the time to compile does not.

for n in 100, 1000, ..., 10_000_000: one gradient of a loop of n trips
slope of log(time) over log(n), from 1,000 trips on: 1 for linear time
"""

import math
import time

import numpy as np

import pullback as pb
from first_calls import first_call

__all__ = ["growth"]

FROM, LARGEST = 1_000, 10_000_000  # trips of the first point of the slope, and of the last
ENOUGH_SECONDS = 0.2


def counted(x, n):
    """A loop whose trips are counted; its reverse needs two numbers of each."""
    s = 0.5
    for _ in range(n):
        s = math.sin(s * x) + 0.25 * s
    return s


def until(x, n):
    """A loop that stops when the data say so."""
    s, k = 0.5, 0.0
    while k < n:
        s = math.sin(s * x) + 0.25 * s
        k += 1.0
    return s


def growth(largest: int = LARGEST) -> list[dict]:
    """For each program: seconds of a gradient and of compiling it afresh by n, and the slope."""
    sizes = [10**k for k in range(2, int(math.log10(largest)) + 1)]
    return [_curve(name, program, sizes) for name, program in (("counted", counted), ("until", until))]


def _curve(name: str, program: object, sizes: list[int]) -> dict:
    slopes = pb.grad(program)
    slopes(0.9, sizes[0])
    before = pb.stats().specializations
    times = [_seconds(slopes, n) for n in sizes]
    compiled = pb.stats().specializations - before
    compiling = [(n, first_call("growth", name, (0.9, n))["compile"]) for n in sizes[::2]]
    long = [(n, t) for n, t in zip(sizes, times, strict=True) if n >= FROM]
    slope = float(np.polyfit(*np.log(np.array(long)).T, 1)[0])
    return {
        "program": name,
        "trips": sizes,
        "seconds": times,
        "compile_seconds": compiling,
        "slope": slope,
        "compilations_for_other_sizes": compiled,
    }


def _seconds(slopes: object, n: int) -> float:
    """The best of some calls."""
    best, spent, calls = math.inf, 0.0, 0
    while calls < 3 or spent < ENOUGH_SECONDS:
        began = time.thread_time()  # of this thread: what else runs on the machine does not count
        slopes(0.9, n)
        taken = time.thread_time() - began
        best, spent, calls = min(best, taken), spent + taken, calls + 1
    return best
