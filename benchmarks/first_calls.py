"""The first call in a process: compiling, and loading what an earlier process has compiled.

first_calls()       {"cold": 0.41, "from disk": 0.012, ...}, seconds of value and gradient of a function of 30 lines
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

__all__ = ["first_call", "first_calls", "thirty_lines"]

HERE = Path(__file__).resolve().parent
_CHILD = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
module, name, arguments = sys.argv[2], sys.argv[3], json.loads(sys.argv[4])
import numpy
numpy_done = time.perf_counter()
import pullback
imported = time.perf_counter()
slopes = pullback.value_and_grad(getattr(__import__(module), name))
import pullback.pipeline, llvmlite.binding
start, worked = time.perf_counter(), time.process_time()
slopes(*arguments)
first, worked = time.perf_counter(), time.process_time() - worked
slopes(*arguments)
second = time.perf_counter()
times = {"import": imported - numpy_done, "first": first - start, "worked": worked, "second": second - first}
print(json.dumps({**times, "compile": times["first"] - times["second"]}))
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


def first_call(module: str, name: str, arguments: tuple, cache: str | None = None) -> dict:
    """Times of the first and the second call in a new process; with an empty cache unless one is given."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "PULLBACK_CACHE_DIR": cache or empty}
        command = [sys.executable, "-c", _CHILD, str(HERE), module, name, json.dumps(arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def first_calls(repeats: int = 5) -> dict:
    """The least of some processes each, beyond imports; and what importing takes beyond NumPy."""
    with tempfile.TemporaryDirectory() as cache:
        cold = [first_call("first_calls", "thirty_lines", (1.5, 0.2)) for _ in range(repeats)]
        first_call("first_calls", "thirty_lines", (1.5, 0.2), cache)
        warm = [first_call("first_calls", "thirty_lines", (1.5, 0.2), cache) for _ in range(repeats)]
    return {
        "cold": min(one["first"] for one in cold),
        "cold, processor time": min(one["worked"] for one in cold),
        "from disk": min(one["first"] for one in warm),
        "from disk, processor time": min(one["worked"] for one in warm),
        "import beyond NumPy": min(one["import"] for one in warm),
    }
