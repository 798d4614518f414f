"""Random loops over prange: what compiles gives the same in any order of its trips.

The oracle is the program itself in Python, with `prange` handing out its numbers in other orders.
"""

import linecache
import random

import numpy as np
import pytest

import pullback as pb
from pullback import CompileError

INDICES = (
    "i", "i + 1", "i - 1", "2 * i", "2 * i + 1", "n - 1 - i", "-1 - i", "i * 5 + j", "i * n + j", "i + j", "j",
    "j * 5 + i", "i // 2", "i % 3", "3", "i * i", "n + i", "p[i]", "i + n * j",
)  # fmt: skip
ROWS = ("i", "i + 1", "i - 1", "j", "i // 2", "n - i", "2 * i + 1", "2")
VALUES = ("a[{k}] + 1.0", "b[{k}] * 0.5", "float(i)", "a[{k}] - b[{l}]", "m[{r}, {q}]")
HEADS = ("range(3)", "range(i)", "range(i, i + 2)", "range(0, 4, 2)", "range(5)")
LOOPS = ("n", "1, n", "0, n, 2", "n, 0, -1", "low, n")


class _Shuffled:
    """Stands for `pullback` where the program runs in Python: `prange` in an order of its own."""

    def __init__(self, order):
        self.order = order

    def prange(self, *bounds):
        return self.order(list(range(*bounds)))


def text(rng):
    """A program."""

    def index():
        return rng.choice(INDICES)

    def value():
        names = {"k": index(), "l": index(), "r": rng.choice(ROWS), "q": rng.choice(ROWS)}
        return rng.choice(VALUES).format(**names)

    def statement():
        target = rng.choice((f"b[{index()}]", f"b[{index()}]", f"m[{rng.choice(ROWS)}, {rng.choice(ROWS)}]"))
        if rng.random() < 0.15:
            return f"m[{rng.choice(ROWS)}] {rng.choice(('=', '+='))} {value()}"
        if rng.random() < 0.15:
            low = rng.choice(ROWS)
            return f"b[{low} : {low} + {rng.choice((1, 2))}] = {value()}"
        return f"{target} {rng.choice(('=', '=', '+='))} {value()}"

    lines = ["def f(a, b, m, p, n, low):", "    s = 0.0", f"    for i in pb.prange({rng.choice(LOOPS)}):"]
    lines.append(f"        for j in {rng.choice(HEADS)}:")
    for _ in range(rng.choice((1, 1, 2))):
        lines.append(f"            {statement()}")
    if rng.random() < 0.3:
        lines.append(f"        s += {value().replace('i + j', 'i').replace('j', '1')}")
    return "\n".join((*lines, "    return s", ""))


def made(source, module):
    file = f"<random {abs(hash(source))}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"pb": module, "np": np, "__name__": "random_program"}
    exec(compile(source, file, "exec"), scope)
    return scope["f"]


def arguments(low):
    rng = np.random.default_rng(3)
    return [rng.random(120), rng.random(120), rng.random((40, 40)), rng.integers(0, 9, 40), 8, low]


def outcome(function, low):
    given = arguments(low)
    try:
        return [np.asarray(function(*given)), *given[1:3]]
    except IndexError:
        return None


def check(seed):
    """Whether the program of the seed compiles; if so, it must not matter in which order its trips run."""
    rng = random.Random(seed)
    source = text(rng)
    compiled = pb.jit(made(source, pb))
    try:
        compiled.lower(*arguments(1))
    except CompileError as error:
        assert "prange" in str(error), source
        return False
    for low in (0, 1, -3):
        orders = (list, lambda x: x[::-1], lambda x: rng.sample(x, len(x)))
        found = [outcome(made(source, _Shuffled(order)), low) for order in orders]
        if any(one is None for one in found):
            continue
        if "low" in source and low < 0:
            continue  # then the trips run in order: numbers from the end may meet those from the start
        for other in found[1:]:
            for one, two in zip(found[0], other, strict=True):
                np.testing.assert_allclose(one, two, rtol=1e-9, err_msg=source)
    return True


def test_random_loops():
    accepted = sum(check(seed) for seed in range(25))
    assert 2 < accepted < 25


@pytest.mark.slow
def test_many_random_loops():
    accepted = sum(check(seed) for seed in range(1000, 1400))
    assert accepted > 40
