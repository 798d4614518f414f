"""Calls of compiled code on hostile arrays, to be run under valgrind by `test_valgrind.py`; not a test by itself.

    python tests/valgrind_calls.py             runs every call; what is compiled stays in the cache on disk
    valgrind python tests/valgrind_calls.py    the same again, without LLVM: everything is found in that cache
    ... tests/valgrind_calls.py 40             from number 40 on
    ... tests/valgrind_calls.py outside        one call that reads outside of an array

Valgrind knows no AVX-512, so code is made for a processor without it, in both runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as binding
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

FEATURES = "avx avx2 bmi bmi2 cmov cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3"


def pretend_haswell() -> None:
    features = binding.FeatureMap(dict.fromkeys(FEATURES.split(), True))
    binding.get_host_cpu_name = lambda: "haswell"
    binding.get_host_cpu_features = lambda: features


pretend_haswell()

import pullback as pb  # noqa: E402
from hostile import add_into, cut, double, first, get, outcome, paste, put, shift, total, update, whole  # noqa: E402


def tanh_sum(a: Any) -> Any:
    return np.sum(np.tanh(a) * a)


def rows(m: Any) -> Any:
    s = 0.0
    for row in m:
        row *= 2.0
        s += np.sum(row)
    return s


def stencil(a: Any, n: Any) -> Any:
    b = np.zeros_like(a)
    for _ in range(n):
        b[1:-1] = 0.5 * (a[2:] + a[:-2])
        a[1:-1] = b[1:-1]
    return np.sum(a * a)


def product(a: Any, b: Any) -> Any:
    return np.sum(a @ b)


def masked(a: Any) -> Any:
    a[a > 1.5] = 0.25
    return np.sum(a[a < 1.0] ** 2)


def gathered(a: Any, i: Any) -> Any:
    return np.sum(a[i] ** 2)


def scattered(a: Any, i: Any) -> Any:
    b = a * 1.0
    b[i] = b[i] * 3.0
    return np.sum(b * b)


def joined(a: Any, b: Any) -> Any:
    return np.concatenate((a, b, a))[::-1]


def extremes(m: Any) -> Any:
    return np.max(m, axis=1), np.argmin(m, axis=0), np.sum(m, axis=0)


def pairs(m: Any, i: Any, j: Any) -> Any:
    m[i, j] = 7.0
    return m[i, j]


def to_ints(a: Any) -> Any:
    return a.astype(np.int64), a.astype(np.int32)


def spread(a: Any, b: Any) -> Any:
    return a[:, None] * b[None] + a[:, None]


def kept(a: Any) -> Any:
    return a[1:], a.reshape(-1)[::2], np.stack((a, a))


A = np.linspace(-2.0, 3.0, 37)  # no multiple of a vector's width
ODD = np.zeros(8 * 11 + 1, np.uint8)[1:].view(np.float64)
SWAPPED = np.arange(13.0).astype(">f8")
PACKED = np.zeros(9, [("c", "u1"), ("y", ">f8")])["y"]
MATRIX = np.linspace(0.0, 1.0, 7 * 5).reshape(7, 5)
INDEX = np.array([0, 36, -1, 5, 5, -37])
BAD = np.array([0, 36, 37])
MASK = np.arange(37) % 3 == 0

CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (pb.jit(whole), (A,)),
    (pb.jit(whole), (A[::-1],)),
    (pb.jit(whole), (A[::3],)),
    (pb.jit(whole), (A.astype(np.float32),)),
    (pb.jit(whole), (np.zeros(0),)),
    (pb.jit(whole), (np.array(2.0),)),
    (pb.jit(whole), (np.broadcast_to(np.float64(2.0), (5, 5)),)),
    (pb.jit(whole), (np.lib.stride_tricks.as_strided(A, (33, 5), (8, 8)),)),
    (pb.jit(whole), (np.ones((2, 1, 3) + (1,) * 12 + (2,)),)),
    (pb.jit(total), (A[1::2],)),
    (pb.jit(double), (A,)),
    (pb.jit(double), (MATRIX.T[1:, ::-2],)),
    (pb.jit(double), (np.arange(5),)),
    (pb.jit(shift), (A,)),
    (pb.jit(shift), (A[::-1],)),
    (pb.jit(first), (A[36:],)),
    (pb.jit(double), (ODD,)),
    (pb.jit(double), (SWAPPED,)),
    (pb.jit(shift), (SWAPPED[::-2],)),
    (pb.jit(kept), (PACKED,)),
    (pb.jit(update), (A[1:], A[:-1])),
    (pb.jit(update), (A, A[::-1])),
    (pb.jit(add_into), (MATRIX, MATRIX[0])),
    (pb.jit(add_into), (A, np.zeros(36))),
    (pb.jit(get), (A, 37)),
    (pb.jit(get), (A, -(2**63))),
    (pb.jit(get), (A, INDEX)),
    (pb.jit(get), (A, BAD)),
    (pb.jit(get), (A, MASK)),
    (pb.jit(put), (A, INDEX, np.arange(6.0))),
    (pb.jit(put), (A, BAD, 1.0)),
    (pb.jit(put), (A, MASK, 2.0)),
    (pb.jit(put), (np.array([2, 0, 1]), np.array([2, 0, 1]), 5)),
    (pb.jit(cut), (A, 36, None, -7)),
    (pb.jit(cut), (A, 2**62, -(2**62), -(2**62))),
    (pb.jit(paste), (A, 1, 37, 2, A[:18])),
    (pb.jit(paste), (A, 1, 37, 2, A[:17])),
    (pb.jit(pairs), (MATRIX, np.array([6, -7, 0]), np.array([4, 0, -5]))),
    (pb.jit(rows), (MATRIX,)),
    (pb.jit(rows), (np.zeros((3, 0)),)),
    (pb.jit(product), (MATRIX, MATRIX.T)),
    (pb.jit(product), (np.zeros((2, 0)), np.zeros((0, 3)))),
    (pb.jit(joined), (A[:7], A[::5])),
    (pb.jit(extremes), (MATRIX,)),
    (pb.jit(spread), (A, A[:5])),
    (pb.jit(to_ints), (np.array([np.nan, np.inf, 1e300, -2.5, 2.0**31]),)),
    (pb.jit(kept), (A,)),
    (pb.jit(masked), (A,)),
    (pb.grad(tanh_sum), (A,)),
    (pb.grad(tanh_sum), (A[::-2],)),
    (pb.grad(stencil), (A, 4)),
    (pb.grad(masked), (A,)),
    (pb.grad(gathered), (A, INDEX)),
    (pb.grad(scattered), (A, INDEX)),
    (pb.grad(scattered), (A, BAD)),
    (pb.grad(product, argnums=(0, 1)), (MATRIX, MATRIX.T)),
    (pb.grad(whole), (SWAPPED,)),
]


def read_outside() -> None:
    """What valgrind must find: without bounds checks, an element far behind the end of an array."""
    print(pb.jit(get, boundscheck=False)(np.zeros(1000), 1003))


def main(start: int = 0) -> None:
    from mutating import fresh

    for number, (function, arguments) in list(enumerate(CALLS))[start:]:
        for _ in range(2):  # the second call takes memory that the first gave back
            shown = repr(outcome(function, fresh(arguments))).replace("\n", " ")
        print(number, function.__name__, shown[:60])
    print("done", pb.stats().live_bytes)


if __name__ == "__main__":
    read_outside() if sys.argv[1:] == ["outside"] else main(*map(int, sys.argv[1:]))
