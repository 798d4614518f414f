"""PolyBench and small applications: compiled against NumPy running the same source, in turn, one thread.

    OPENBLAS_NUM_THREADS=1 python benchmarks/kernels.py                    all, at both sizes
    python benchmarks/kernels.py --only gemm cavity --rounds 9 --gradients

Results are compared first.  Prints for each the median ratio of times (NumPy / compiled) with quartiles, and the
geometric means; with --gradients also the time of the gradient in times of the compiled value.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import pullback as pb
from applications import APPLICATIONS
from polybench import KERNELS, Kernel

LEAST_SECONDS = 0.002


def leaves(result: Any) -> list[Any]:
    """The arrays and numbers of a result."""
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, tuple) else [result]


def timed(function: Callable[..., Any], arguments: tuple[Any, ...], times: int) -> float:
    """Seconds of one call; each gets arguments of its own, which are made before."""
    given = [copy.deepcopy(arguments) for _ in range(times)]
    start = time.perf_counter()
    for one in given:
        function(*one)
    return (time.perf_counter() - start) / times


def ratios(numpy: Callable[..., Any], ours: Callable[..., Any], arguments: tuple[Any, ...], rounds: int) -> list[float]:
    """Times of NumPy in times of ours, both sides measured in turn."""
    slow, fast = (max(1, int(LEAST_SECONDS / timed(f, arguments, 1))) for f in (numpy, ours))
    return [timed(numpy, arguments, slow) / timed(ours, arguments, min(fast, 100)) for _ in range(rounds)]


def checked(kernel: Kernel, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The compiled function, after its results and what it left in its arguments were compared."""
    ours = pb.jit(kernel.function)
    python, mine = copy.deepcopy(arguments), copy.deepcopy(arguments)
    wanted, found = leaves(kernel.function(*python)), leaves(ours(*mine))
    for got, want in zip([*found, *mine], [*wanted, *python], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-10)
    return ours


def gradient_times(kernel: Kernel, ours: Callable[..., Any], arguments: tuple[Any, ...], rounds: int) -> float:
    """The time of value and gradient in times of the compiled value."""
    floats = tuple(i for i, v in enumerate(arguments) if np.asarray(v).dtype == np.float64)
    function = kernel.function

    def total(*xs: Any) -> Any:
        return np.sum(function(*xs))

    def first(*xs: Any) -> Any:
        return np.sum(function(*xs)[0])

    loss = first if isinstance(ours(*copy.deepcopy(arguments)), tuple) else total
    gradient = pb.value_and_grad(loss, argnums=floats)
    gradient(*copy.deepcopy(arguments))
    return statistics.median(ratios(gradient, ours, arguments, rounds))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[*KERNELS, *APPLICATIONS])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--gradients", action="store_true")
    options = parser.parse_args()
    medians: dict[str, list[float]] = {"small": [], "medium": []}
    print(f"{'kernel':24}{'size':>8}{'NumPy / compiled':>20}{'quartiles':>20}" + "   gradient" * options.gradients)
    for name in options.only:
        kernel = {**KERNELS, **APPLICATIONS}[name]
        for size in ("small", "medium"):
            arguments = kernel.arguments(np.random.default_rng(1), getattr(kernel, size))
            ours = checked(kernel, arguments)
            found = ratios(kernel.function, ours, arguments, options.rounds)
            low, middle, high = np.percentile(found, [25, 50, 75])
            medians[size].append(middle)
            line = f"{name:24}{size:>8}{middle:20.2f}{f'{low:.2f} to {high:.2f}':>20}"
            if options.gradients and kernel.real:
                line += f"{gradient_times(kernel, ours, arguments, options.rounds):11.1f}"
            print(line, flush=True)
    for size, found in medians.items():
        mean, slower = statistics.geometric_mean(found), sum(ratio < 1.0 for ratio in found)
        print(f"{size}: geometric mean {mean:.1f}, {slower} of {len(found)} slower than NumPy")


if __name__ == "__main__":
    main()
