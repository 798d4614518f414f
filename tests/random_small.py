"""Random programs over small arrays of literal shape: `source(seed)` is a function f(x, y, n) -> float.

Vectors have 3 elements, matrices 3 by 3; they are views and aliases of one another, written while other names live,
carried through loops and branches, exchanged, given to functions, captured.  Values stay bounded and smooth.
"""

from __future__ import annotations

import random

HELPERS = """
import math
import numpy as np

def change(p, q, s):
    p[1] = q[2] * s
    q[0] = math.sin(p[2] + q[1])
    return p[1] + q[0]

def larger(p, q, c):
    if c:
        p[0] = p[0] * 0.5
        return p
    return q

def turned(m, v):
    w = np.zeros(3)
    for i in range(3):
        for j in range(3):
            w[i] += 0.3 * m[i, j] * v[j]
    return w

def cross(u, v):
    return np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])

def unit(v):
    return v / np.sqrt(v @ v + 1.0)

"""


class Source:
    """One program; vectors, matrices and floats are the names that exist at a point."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.budget = self.random.choice((6, 10, 14))
        self.count = 0

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def index(self, places: list[str]) -> str:
        if places and self.random.random() < 0.6:
            return self.random.choice(places)
        return str(self.random.randint(-3, 2))

    # ------------------------------------------------------------------------------------------------ expressions

    def number(self, scope: Scope, depth: int = 2) -> str:
        choose = self.random.choice
        kind = self.random.randint(0, 9 if depth else 3)
        if kind < 2:
            return f"{choose(scope.vectors)}[{self.index(scope.places)}]"
        if kind == 2:
            return f"{choose(scope.matrices)}[{self.index(scope.places)}, {self.index(scope.places)}]"
        if kind == 3:
            return choose([*scope.floats, "0.7"])
        one = self.number(scope, depth - 1)
        if kind == 4:
            return f"math.sin({one})"
        if kind == 5:
            return f"0.3 * ({choose(scope.vectors)} @ {choose(scope.vectors)})"
        if kind == 6:
            return f"0.2 * np.sum({self.vector(scope)})"
        if kind == 7 and scope.closures:
            return f"{choose(scope.closures)}({one})"
        other = self.number(scope, depth - 1)
        return f"math.sin({one} + {other})" if kind == 8 else f"{one} * {other}"

    def vector(self, scope: Scope) -> str:
        """A fresh vector, or a view."""
        choose = self.random.choice
        u, v, m = choose(scope.vectors), choose(scope.vectors), choose(scope.matrices)
        k = self.index(scope.places)
        return choose((
            f"np.sin({u} * {v})", f"{u} * {self.number(scope, 1)}", f"0.5 * {u} + {v}", f"0.3 * ({m} @ {u})",
            f"0.3 * ({u} @ {m})", f"turned({m}, {u})", f"0.3 * cross({u}, {v})", f"unit({u})", f"{u}.copy()",
            f"np.array([{self.number(scope, 1)}, x, 0.4])", "np.zeros(3)", u, f"{u}[::-1]", f"{m}[{k}]", f"{m}[:, {k}]",
            f"{m}.T[{k}]", f"np.where({u} > {v}, {u}, 0.5 * {v})", f"np.diagonal({m}) * 1.0",
            f"0.3 * np.sum({m}, axis={choose((0, 1))})",
        ))  # fmt: skip

    def matrix(self, scope: Scope) -> str:
        choose = self.random.choice
        u, v, m, p = choose(scope.vectors), choose(scope.vectors), choose(scope.matrices), choose(scope.matrices)
        return choose((
            f"0.3 * np.outer({u}, {v})", f"0.3 * ({m} @ {p})", f"np.sin({m} * {p})", f"{m}.T", f"{m}.copy()", m,
            "np.eye(3)", "np.zeros((3, 3))", f"{m} * {self.number(scope, 1)}", f"{m} * 0.5 + {u}", f"{m}[::-1]",
            f"np.array([{u}, {v}, {u}])",
        ))  # fmt: skip

    # ------------------------------------------------------------------------------------------------- statements

    def block(self, indent: str, scope: Scope, size: int) -> None:
        for _ in range(size):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.statement(indent, scope)
        self.lines.append(f"{indent}x = x * 1.0")

    def write(self, indent: str, scope: Scope) -> None:
        choose = self.random.choice
        v, m, k = choose(scope.vectors), choose(scope.matrices), self.index(scope.places)
        number = f"math.sin({self.number(scope)})"
        low = self.random.randint(0, 2)
        self.lines.append(indent + choose((
            f"{v}[{k}] = {number}", f"{v}[{k}] += 0.5 * {number}", f"{m}[{k}, {self.index(scope.places)}] = {number}",
            f"{m}[{k}] = {self.vector(scope)}", f"{m}[:, {k}] = {self.vector(scope)}", f"{v}[:] = {self.vector(scope)}",
            f"{v}[{low}:] = {choose(scope.vectors)}[:{3 - low}] * {self.number(scope, 1)}",
            f"{m}[{k}] += 0.3 * {self.vector(scope)}", f"{v} *= {number}", f"{v} += 0.3 * {self.vector(scope)}",
            f"{m} *= 0.5", f"{m} -= 0.3 * {self.matrix(scope)}", f"{m}[:2, 1:] = {self.number(scope, 1)}",
        )))  # fmt: skip

    def statement(self, indent: str, scope: Scope) -> None:
        say, choose = self.lines.append, self.random.choice
        condition = choose(("x > 0.1", "x > 5.0", *(f"{k} % 2 == 0" for k in scope.counters)))
        match self.random.randint(0, 17):
            case 0 | 1 | 2 | 3:
                self.write(indent, scope)
            case 4:
                known = choose(scope.vectors)
                say(f"{indent}{known} = {self.vector(scope)}")
            case 5:
                known = choose(scope.matrices)
                say(f"{indent}{known} = {self.matrix(scope)}")
            case 6:
                fresh = self.name("v")
                say(f"{indent}{fresh} = {self.vector(scope)}")
                scope.vectors.append(fresh)
            case 7:
                fresh = self.name("m")
                say(f"{indent}{fresh} = {self.matrix(scope)}")
                scope.matrices.append(fresh)
            case 8:
                known = choose(scope.vectors)
                other = choose((choose(scope.vectors), f"{known}.copy()"))
                say(f"{indent}{known} = {known} if {condition} else {other}")
            case 9:
                stems = choose((scope.vectors, scope.matrices))
                if len(stems) > 1:
                    one, other = self.random.sample(stems, 2)
                    say(f"{indent}{one}, {other} = {other}, {one}")
            case 10:
                fresh, one, other = self.name("s"), choose(scope.vectors), choose(scope.vectors)
                say(f"{indent}{fresh} = change({one}, {other}, {choose(scope.floats)})")
                scope.floats.append(fresh)
            case 11:
                fresh = self.name("v")
                say(f"{indent}{fresh} = larger({choose(scope.vectors)}, {choose(scope.vectors)}, {condition})")
                scope.vectors.append(fresh)
            case 12:
                self.closure(indent, scope)
            case 13 | 14 if scope.depth < 2:
                self.loop(indent, scope)
            case 15:
                say(f"{indent}if {condition}:")
                self.block(indent + "    ", scope.inner(), 3)
                if self.random.random() < 0.5:
                    say(f"{indent}else:")
                    self.block(indent + "    ", scope.inner(), 3)
            case _:
                s = choose(scope.floats)
                say(f"{indent}{s} = math.sin({s} + {self.number(scope)})")

    def closure(self, indent: str, scope: Scope) -> None:
        """A function that captures an array under a name of its own, and may write into it."""
        say, choose = self.lines.append, self.random.choice
        held, fresh = self.name("c"), self.name("g")
        say(f"{indent}{held} = {choose((self.vector(scope), choose(scope.vectors)))}")
        say(f"{indent}def {fresh}(t{', ' + held + '=' + held if scope.depth else ''}):")
        if self.random.random() < 0.5:
            say(f"{indent}    {held}[{self.random.randint(-3, 2)}] = math.sin(t + {held}[1])")
        say(f"{indent}    return math.sin(t * {held}[0] + {held} @ {held})")
        scope.closures.append(fresh)

    def loop(self, indent: str, scope: Scope) -> None:
        say, inner = self.lines.append, scope.inner()
        inner.depth += 1
        k = self.name("k")
        match self.random.randint(0, 2):
            case 0:
                say(f"{indent}for {k} in range(n):")
                inner.counters.append(k)
            case 1:
                say(f"{indent}for {k} in range(3):")
                inner.counters.append(k)
                inner.places.append(k)
            case _:
                say(f"{indent}{k} = 0")
                say(f"{indent}while {k} < n and {self.number(scope, 1)} < 9.0:")
                say(f"{indent}    {k} += 1")
                inner.counters.append(k)
        self.block(indent + "    ", inner, 4)

    def text(self) -> str:
        scope = Scope(["a", "b"], ["m", "p"], ["x", "y"])
        self.lines = [
            "def f(x, y, n):",
            "    a, b = np.array([x, y, 0.3]), np.array([0.5, x * y, -0.2])",
            "    m, p = np.array([[x, 0.1, 0.2], [0.3, y, 0.4], [0.5, 0.6, x]]), np.eye(3)",
        ]
        while self.budget > 0:
            self.block("    ", scope, self.budget)
        terms = [*(f"np.sum({v} * {v})" for v in scope.vectors), *(f"np.sum({m} * {m}.T)" for m in scope.matrices)]
        self.lines.append(f"    return {' + '.join((*terms, *scope.floats))}")
        return HELPERS + "\n".join(self.lines) + "\n"


class Scope:
    """Names by kind.  places: loop variables that are indices in range; counters: all loop variables."""

    def __init__(self, vectors: list[str], matrices: list[str], floats: list[str]) -> None:
        self.vectors, self.matrices, self.floats = vectors, matrices, floats
        self.closures: list[str] = []
        self.places: list[str] = []
        self.counters: list[str] = []
        self.depth = 0

    def inner(self) -> Scope:
        found = Scope(list(self.vectors), list(self.matrices), list(self.floats))
        found.closures, found.places, found.counters = list(self.closures), list(self.places), list(self.counters)
        found.depth = self.depth
        return found


def source(seed: int) -> str:
    return Source(seed).text()
