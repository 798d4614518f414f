"""Calls of Python's own functions with arguments that these do not take are refused, whatever they mean here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pullback as pb

HEAD = """import bisect, collections, copy, functools, heapq, itertools, math, operator
import numpy as np


def f(x):
    xs = [1.0, 2.0]
    CALL
    return x
"""
REFUSED = """
xs.append(x, 2) | xs.pop(0, 1) | xs.sort(1) | xs.reverse(1) | xs.extend(xs, 1) | xs.insert(1) | xs.count(1, 2)
[1].index(1, 0, 2, 3) | (1, 2).index(1, 0, 2, 3) | list(xs, bogus=1) | tuple(xs, 3) | set(xs, 3)
frozenset(xs, 1) | {"a": x}.get("a", 1, 2) | {1: 2}.keys(1) | {1: 2}.pop(1, 2, 3) | {}.update({}, {})
dict([("a", x)], [1]) | {1}.add(1, 2) | {1}.clear(1) | {1}.union([1], bogus=2) | {1}.issubset({1}, {2})
collections.deque([1]).append(1, 2) | collections.deque([1]).popleft(1) | collections.deque(xs, 3, 4)
collections.Counter("ab", 2) | "a b".split(" ", 1, 2) | "x".upper(1) | "a".find("a", 0, 1, 2)
"a".join(["b"], 1) | int("11", 2, 3) | int(x, bogus=1) | int(base=2) | float("1", 1) | bool(x, 1)
complex(1, 2, 3) | ord("a", 1) | chr(97, 1) | len(xs, 1) | abs(x, bogus=1) | hash(3, 4) | divmod(x, 2, 3)
pow(2, 3, 5, 7) | pow(2, exp=3, bogus=1) | round(x, 1, 2) | next(iter(xs), 1, 2) | sorted(xs, bogus=1)
reversed(xs, 1) | enumerate(xs, 0, 1) | zip(xs, bogus=1) | range(1, 2, 3, 4) | any(xs, 1) | sum(xs, 0, 1)
min(xs, bogus=1) | isinstance(x, float, int) | callable(x, 1) | id(x, 1) | print(x, bogus=1)
math.hypot(x, bogus=1) | math.sqrt(x, 1) | math.isclose(x, x, 1) | itertools.pairwise(xs, bogus=1)
itertools.cycle(xs, 2) | itertools.chain(xs, bogus=1) | heapq.heappush(xs, 1.0, 2)
bisect.bisect(xs, x, 0, 2, 3, 4) | copy.copy(xs, 1) | operator.add(1, 2, 3) | functools.partial(abs)(x, 2)
np.sin(x, bogus=1) | np.zeros(3, bogus=1) | np.full(3, x, bogus=2) | np.where(x > 0, x, 1.0, 2)
np.array(xs).fill(1.0, 2) | np.array(xs).sum(bogus=1) | np.dot(xs, xs, None, 1)
"""
CALLS = [call.strip() for line in REFUSED.strip().splitlines() for call in line.split(" | ")]


@pytest.mark.parametrize("call", CALLS)
def test_refused_as_in_python(call: str, tmp_path: Path) -> None:
    path = tmp_path / "called.py"
    path.write_text(HEAD.replace("CALL", call))
    known: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), known)
    with pytest.raises(TypeError):
        known["f"](0.5)
    with pytest.raises((pb.CompileError, TypeError)):
        pb.jit(known["f"])(0.5)
