"""Compare one thread with several: the same compiled function, interleaved in one process, results bit for bit equal.

    python benchmarks/threads.py                  two threads against one
    python benchmarks/threads.py --threads 4 --only bodies maps --rounds 9

Prints a row for each program and its gradient: median times, the median of the ratios of neighbouring runs, and whether
the results are identical; writes the same as JSON into benchmarks/results/.  Exit status 1 if any result differed.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import pullback as pb

RESULTS = Path(__file__).resolve().parent / "results"


def heat_slices(u, steps):
    """Explicit steps of the heat equation, written with slices."""
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
        u = new
    return np.sum(u * u)


def heat_loops(u, steps):
    """The same, element by element."""
    n, m = u.shape
    for _ in range(steps):
        new = u.copy()
        for i in pb.prange(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = u[i, j] + 0.1 * (u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1] - 4.0 * u[i, j])
        u = new
    return np.sum(u * u)


def bodies(x, mass):
    """Accelerations of bodies that attract each other; the sum of their squares."""
    n = len(mass)
    a = np.zeros((n, 3))
    for i in pb.prange(n):
        ax = ay = az = 0.0
        for j in range(n):
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            square = dx * dx + dy * dy + dz * dz + 0.01
            w = mass[j] / (square * np.sqrt(square))
            ax += w * dx
            ay += w * dy
            az += w * dz
        a[i, 0], a[i, 1], a[i, 2] = ax, ay, az
    return np.sum(a * a)


def maps(a, b):
    """One pass over two arrays, and a sum."""
    return np.sum(np.sin(a) * b + np.exp(-a))


def programs():
    """Program and arguments by name."""
    rng = np.random.default_rng(0)
    return {
        "heat, slices": (heat_slices, (rng.random((1024, 1024)), 20)),
        "heat, loops": (heat_loops, (rng.random((1024, 1024)), 20)),
        "bodies": (bodies, (rng.random((1024, 3)), rng.random(1024))),
        "maps": (maps, (rng.random(10**7), rng.random(10**7))),
    }


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = programs()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", nargs="+", choices=[*known], default=[*known])
    options = parser.parse_args()
    rows = []
    for name in options.only:
        function, arguments = known[name]
        parallel = pb.jit(function, parallel=True)
        for kind, call in (("value", parallel), ("gradient", pb.grad(parallel))):
            rows.append({"program": name, "of": kind, **measured(call, arguments, options.threads, options.rounds)})
            print("{program:14} {of:9} {one:9.2f} ms {several:9.2f} ms   {ratio:5.2f}x   {state}".format(
                **rows[-1], state="identical" if rows[-1]["identical"] else "DIFFERENT"), flush=True)  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"threads-{time.strftime('%Y%m%d-%H%M%S')}.json"
    path.write_text(json.dumps({"threads": options.threads, "rows": rows}, indent=1))
    return int(not all(row["identical"] for row in rows))


def measured(call, arguments, threads, rounds):
    """Median times in milliseconds, the median ratio of neighbouring runs, and whether results are the same."""
    results, times = {}, {1: [], threads: []}
    for round_ in range(rounds + 1):
        for count in times:
            pb.set_num_threads(count)
            start = time.perf_counter()
            results[count] = np.asarray(call(*arguments))
            if round_:
                times[count].append((time.perf_counter() - start) * 1e3)
    ratios = [one / several for one, several in zip(times[1], times[threads], strict=True)]
    return {
        "one": statistics.median(times[1]), "several": statistics.median(times[threads]),
        "ratio": statistics.median(ratios), "identical": bool(np.array_equal(results[1], results[threads])),
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
