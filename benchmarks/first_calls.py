"""The first call in a process: compiling, and loading what an earlier process has compiled.

first_calls()       {"30 lines": {"cold": 0.41, "from disk": 0.012, ...}, ...}, seconds of value and gradient

The programs are `thirty_lines` and `long_program`; values are compared with CPython, slopes with differences.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import long_program

__all__ = ["first_call", "first_calls", "thirty_lines"]

HERE = Path(__file__).resolve().parent
_CHILD = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
module, name, arguments = sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
wanted = json.loads(sys.argv[5])
import numpy
numpy_done = time.perf_counter()
import pullback
imported = time.perf_counter()
slopes = pullback.value_and_grad(getattr(__import__(module), name), argnums=tuple(wanted))
import pullback.pipeline, llvmlite.binding
start, worked = time.perf_counter(), time.process_time()
slopes(*arguments)
first, worked = time.perf_counter(), time.process_time() - worked
answer = slopes(*arguments)
second = time.perf_counter()
times = {"import": imported - numpy_done, "first": first - start, "worked": worked, "second": second - first}
print(json.dumps({**times, "compile": times["first"] - times["second"], "answer": answer}, default=float))
"""


def thirty_lines(x, y):
    """An ordinary function with loops, branches and helpers of its own."""
    step = 0.01
    energy = 0.0
    position = x
    speed = y
    damping = 0.1 * x * x + 0.02
    largest = 0.0
    crossings = 0
    trips = 0
    while trips < 200:
        force = -np.sin(position)
        if position > 2.0:
            force = force - 3.0 * (position - 2.0)
        elif position < -2.0:
            force = force - 3.0 * (position + 2.0)
        before = position
        speed = speed + step * (force - damping * speed)
        position = position + step * speed
        if before * position < 0.0:
            crossings += 1
        energy += step * (0.5 * speed * speed + 1.0 - np.cos(position))
        largest = max(largest, abs(position))
        trips += 1
    smooth = 0.0
    for k in range(5):
        smooth += np.exp(-0.5 * k * energy) / (k + 1.0)
    penalty = 0.0
    if crossings > 3:
        penalty = 0.1 * (crossings - 3) * largest
    return energy + smooth + penalty


def first_call(
    module: str, name: str, arguments: tuple, cache: str | None = None, argnums: tuple[int, ...] = (0,)
) -> dict:
    """Times of the first and the second call in a new process; with an empty cache unless one is given."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "PULLBACK_CACHE_DIR": cache or empty}
        command = [sys.executable, "-c", _CHILD, str(HERE), module, name, *map(json.dumps, (arguments, argnums))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def first_calls(repeats: int = 5) -> dict:
    """The least of some processes each, beyond imports; and what importing takes beyond NumPy."""
    programs = {
        "30 lines": ("first_calls", thirty_lines, (1.5, 0.2), (0,)),
        "330 lines": ("long_program", long_program.cost, long_program.ARGUMENTS, (0, 1, 2, 3)),
    }
    return {title: _measured(*program, repeats) for title, program in programs.items()}


def _measured(module: str, function: Callable, arguments: tuple, argnums: tuple[int, ...], repeats: int) -> dict:
    name = function.__name__
    with tempfile.TemporaryDirectory() as cache:
        cold = [first_call(module, name, arguments, None, argnums) for _ in range(repeats)]
        first_call(module, name, arguments, cache, argnums)
        warm = [first_call(module, name, arguments, cache, argnums) for _ in range(repeats)]
    for one in (*cold, *warm):
        _check(function, arguments, argnums, *one["answer"])
    return {
        "cold": min(one["first"] for one in cold),
        "cold, processor time": min(one["worked"] for one in cold),
        "from disk": min(one["first"] for one in warm),
        "from disk, processor time": min(one["worked"] for one in warm),
        "import beyond NumPy": min(one["import"] for one in warm),
    }


def _check(function: Callable, arguments: tuple, argnums: tuple[int, ...], value: float, slopes: list[float]) -> None:
    """Compare with CPython, and the slopes with differences."""
    if not math.isclose(value, function(*arguments), rel_tol=1e-10):
        raise AssertionError(f"{function.__name__}: {value}, CPython says {function(*arguments)}")
    for i, slope in zip(argnums, slopes, strict=True):
        step = 1e-6 * abs(arguments[i])
        above, below = (function(*arguments[:i], arguments[i] + move, *arguments[i + 1 :]) for move in (step, -step))
        difference = (above - below) / (2.0 * step)
        if not math.isclose(slope, difference, rel_tol=1e-4):
            raise AssertionError(f"{function.__name__}: slope {i} is {slope}, differences say {difference}")
