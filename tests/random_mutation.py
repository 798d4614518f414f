"""Random programs that change arrays under several names: `source(seed)` is a function f(x, m, a) -> float.

All arrays but `m` (8 elements) have 4 elements; many are views of `m` that overlap.  Values stay bounded and smooth.
"""

from __future__ import annotations

import random

HELPERS = '''
import math
import numpy as np

def change(p, q, s):
    p[1] = q[2] * s
    q[0] = math.sin(p[3] + q[1])
    return p[1] + q[0]

def larger(p, q, c):
    p[0] = p[0] * 0.5
    if c:
        return p
    return q

def deep(p, s, n):
    if n == 0:
        return p[0] * s
    p[n] = math.sin(p[n] * s) + p[n - 1]
    t = deep(p[::-1], p[n] * 0.5, n - 1)
    p[1] = t * p[2]
    return t + p[n]

'''
WINDOWS = ("m[:4]", "m[2:6]", "m[4:]", "m[::2]", "m[1::2]", "m[::-2]", "m[6:2:-1]")


class Source:
    """One program; arrays and floats are the names that exist at a point."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.budget = 14
        self.count = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def index(self, loops: list[str]) -> str:
        if loops and self.random.random() < 0.6:
            step, shift = self.random.choice((1, 3)), self.random.randint(0, 3)
            return f"({step} * {self.random.choice(loops)} + {shift}) % 4"
        return str(self.random.randint(-4, 3))

    def number(self, arrays: list[str], floats: list[str], loops: list[str], depth: int = 2) -> str:
        kind = self.random.randint(0, 7 if depth else 2)
        if kind < 2:
            return f"{self.random.choice(arrays)}[{self.index(loops)}]"
        if kind == 2:
            return self.random.choice([*floats, "0.7"])
        one = self.number(arrays, floats, loops, depth - 1)
        if kind == 3:
            return f"math.sin({one})"
        if kind == 4:
            return f"0.3 * np.dot({self.random.choice(arrays)}, {self.random.choice(arrays)})"
        other = self.number(arrays, floats, loops, depth - 1)
        return f"math.sin({one} + {other})" if kind == 5 else f"{one} * {other}"

    def array(self, arrays: list[str], floats: list[str], loops: list[str]) -> str:
        one, other = self.random.choice(arrays), self.random.choice(arrays)
        return self.random.choice(
            (f"np.sin({one} * {other})", f"{one} * {self.number(arrays, floats, loops, 1)}", f"0.5 * {one} + {other}",
             one, f"{one}[::-1]", self.number(arrays, floats, loops, 1))
        )  # fmt: skip

    def block(self, indent: str, arrays: list[str], floats: list[str], loops: list[str], size: int) -> None:
        for _ in range(size):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement(indent, arrays, floats, loops)
        self.lines.append(f"{indent}x = x * 1.0")

    def statement(self, indent: str, arrays: list[str], floats: list[str], loops: list[str]) -> None:
        say, choose = self.lines.append, self.random.choice
        target = choose(arrays)
        match self.random.randint(0, 14):
            case 0 | 1 | 2:
                say(f"{indent}{target}[{self.index(loops)}] = math.sin({self.number(arrays, floats, loops)})")
            case 3:
                say(f"{indent}{target}[:] = {self.array(arrays, floats, loops)}")
            case 4:
                say(f"{indent}{target} {choose(('+=', '*=', '-='))} {self.array(arrays, floats, loops)}")
                say(f"{indent}{target} *= 0.5")
            case 5:
                low = self.random.randint(0, 2)
                factor = self.number(arrays, floats, loops, 1)
                say(f"{indent}{target}[{low}:] = {choose(arrays)}[:{4 - low}] * {factor}")
            case 6:
                fresh = self.name("v")
                say(f"{indent}{fresh} = {choose((*WINDOWS, target + '[::-1]', target, target + '.copy()'))}")
                arrays.append(fresh)
            case 7:
                fresh = self.name("s")
                say(f"{indent}{fresh} = math.sin({self.number(arrays, floats, loops)})")
                floats.append(fresh)
            case 8:
                condition = choose(("x > 0.1", "x > 5.0", *(f"{i} % 2 == 0" for i in loops)))
                known = self.random.sample([v for v in arrays if v != "m"], min(2, len(arrays)))
                say(f"{indent}{known[0]} = {known[0]} if {condition} else {choose((known[-1], known[0] + '.copy()'))}")
            case 9 if len(arrays) > 1:
                one, other = self.random.sample(arrays, 2)
                say(f"{indent}{one}, {other} = {other}, {one}")
            case 10:
                s = choose(floats)
                call = choose((f"change({target}, {choose(arrays)}, {s})", f"deep({target}, {s}, 3)"))
                fresh = self.name("s")
                say(f"{indent}{fresh} = math.sin({call})")
                floats.append(fresh)
            case 11:
                fresh = self.name("v")
                condition = choose(("x > 0.1", "x > 5.0", *(f"{i} % 2 == 0" for i in loops)))
                say(f"{indent}{fresh} = larger({target}, {choose(arrays)}, {condition})")
                arrays.append(fresh)
            case 12 if len(loops) < 2:
                i = self.name("i")
                say(f"{indent}for {i} in range({choose((0, 2, 3))}):")
                self.block(indent + "    ", list(arrays), list(floats), [*loops, i], 4)
            case 13:
                say(f"{indent}if {choose(('x > 0.1', 'x > 5.0', *(f'{i} > 0' for i in loops)))}:")
                self.block(indent + "    ", list(arrays), list(floats), loops, 3)
                if self.random.random() < 0.5:
                    say(f"{indent}else:")
                    self.block(indent + "    ", list(arrays), list(floats), loops, 3)
            case _:
                s = choose(floats)
                say(f"{indent}{s} = math.sin({s} + {self.number(arrays, floats, loops)})")

    def text(self) -> str:
        arrays, floats = ["a", "b", "c"], ["x", "s"]
        self.lines = ["def f(x, m, a):", f"    b, c, s = {self.random.choice(WINDOWS)}, a * x, x * x"]
        while self.budget > 0:
            self.block("    ", arrays, floats, [], self.budget)
        terms = [*(f"np.dot({v}, a)" for v in arrays), *floats]
        self.lines.append(f"    return np.sum(m * m) + {' + '.join(terms)}")
        return HELPERS + "\n".join(self.lines) + "\n"


def source(seed: int) -> str:
    return Source(seed).text()
