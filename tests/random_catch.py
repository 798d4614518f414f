"""Random programs about exceptions: nested `try`, every clause, raises of all kinds, loops, callees, recursion.

    sample = random_catch(17)
    print(sample.source)          # exception classes, helpers, and `def program(x, y, n, a): ...`

Whatever leaves a program in CPython is part of what it means.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from random_programs import Sample, function_of

__all__ = ["random_catch"]

HEAD = '''import math

import numpy as np


class Oops(Exception):
    pass


class Worse(Oops):
    pass


class Carry(ValueError):
    def __init__(self, v, k):
        super().__init__("carry")
        self.v = v
        self.k = k


'''
CATCHES = (
    "ZeroDivisionError", "ValueError", "IndexError", "(ZeroDivisionError, IndexError)", "ArithmeticError", "Exception",
    "LookupError", "Oops", "Worse", "(Oops, ValueError)", "Carry", "(KeyError, Carry, Worse)", "UnboundLocalError",
)  # fmt: skip
RAISES = (
    'ValueError("v")', 'KeyError("k")', "Oops({0})", "Worse({0}, {1})", "Carry({0}, {2})", "IndexError", "Worse(1.5)",
)  # fmt: skip
FLOATS = ("s", "t", "u")


class Writer:
    """Writes one function body; `budget` bounds the statements, `depth` the nesting."""

    def __init__(self, draw: random.Random, helpers: Sequence[str]) -> None:
        self.draw = draw
        self.helpers = helpers
        self.lines: list[str] = []
        self.budget = 0
        self.loops = 0
        self.handling: list[str | None] = []
        self.count = 0

    def body(self, indent: int, budget: int) -> list[str]:
        self.lines, self.budget, self.handling = [], budget, []
        self.block(indent, 0, False)
        return self.lines

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    # ------------------------------------------------------------------------------------------------ expressions

    def name(self) -> str:
        return self.draw.choice(FLOATS)

    def tame(self) -> str:
        x, y = self.name(), self.name()
        return self.draw.choice(
            [f"math.sin({x})", f"0.5 * {x}", f"{x} * math.cos({y})", f"{x} - 0.25 * {y}", f"math.tanh({x}) + {y}",
             "x", "y", f"{x} + k"]
        )  # fmt: skip

    def risky(self) -> str:
        x = self.name()
        number = self.draw.randint(0, 3)
        choices = [
            f"1.0 / (k - {number})", "float(a[k])", f"math.sqrt({x})", f"math.log({x} + {number})", f"{x} / (n - k)",
            f"float(a[n]) * {x}", f"float(b[k + {number}]) + {x}", f"float(7 // (k - {number}))",
            f"{x} / (x - {number})",
        ]  # fmt: skip
        choices += [f"{helper}({self.tame()}, {self.draw.choice(['k', 'n', 'n - 1'])}, a)" for helper in self.helpers]
        return self.draw.choice(choices)

    def value(self) -> str:
        return self.risky() if self.draw.random() < 0.5 else self.tame()

    def test(self) -> str:
        bound, number = self.draw.choice(["0.0", "0.5", "y"]), self.draw.randint(0, 3)
        return self.draw.choice([f"{self.name()} > {bound}", f"k == {number}", "n > 1", "k < n"])

    # ------------------------------------------------------------------------------------------------- statements

    def block(self, indent: int, depth: int, loop: bool) -> None:
        for _ in range(self.draw.randint(1, 3)):
            self.statement(indent, depth, loop)

    def statement(self, indent: int, depth: int, loop: bool) -> None:
        self.budget -= 1
        kinds = ["assign"] * 5 + ["add", "store", "count"] + ["unset"] * (self.draw.random() < 0.3)
        if self.budget > 0 and depth < 4:
            kinds += ["try"] * 5 + ["if", "if", "loop", "closure"]
        if depth > 0:
            kinds += ["raise", "return"] + (["jump", "jump"] if loop else [])
        if self.handling and self.handling[-1] is not None:
            kinds += ["use", "use"]
        if self.handling:
            kinds += ["bare"]
        getattr(self, "put_" + self.draw.choice(kinds))(indent, depth, loop)

    def put_assign(self, indent: int, depth: int, loop: bool) -> None:
        target = self.name() if self.draw.random() < 0.95 else "w"
        self.put(indent, f"{target} = {self.value()}")

    def put_unset(self, indent: int, depth: int, loop: bool) -> None:
        """A name that may not be set."""
        self.put(indent, f"{self.name()} = w * 0.5" if any("w = " in line for line in self.lines) else "w = x")

    def put_add(self, indent: int, depth: int, loop: bool) -> None:
        self.put(indent, f"{self.name()} += {self.value()}")

    def put_store(self, indent: int, depth: int, loop: bool) -> None:
        self.put(indent, f"b[{self.draw.choice(['k', 'n', '0', '1'])}] += {self.value()}")

    def put_count(self, indent: int, depth: int, loop: bool) -> None:
        self.put(indent, f"k = (k + {self.draw.randint(1, 2)}) % 5")

    def put_raise(self, indent: int, depth: int, loop: bool) -> None:
        text = self.draw.choice(RAISES).format(self.tame(), self.name(), "k")
        if self.handling and self.handling[-1] is not None and self.draw.random() < 0.3:
            text += f" from {self.handling[-1]}"
        self.guarded(indent, f"raise {text}")

    def put_return(self, indent: int, depth: int, loop: bool) -> None:
        self.guarded(indent, f"return {self.value()}")

    def put_jump(self, indent: int, depth: int, loop: bool) -> None:
        self.guarded(indent, self.draw.choice(["break", "continue"]))

    def put_bare(self, indent: int, depth: int, loop: bool) -> None:
        self.guarded(indent, "raise")

    def put_use(self, indent: int, depth: int, loop: bool) -> None:
        name = self.handling[-1]
        self.guarded(indent, f"{self.name()} += 0.5 if len({name}.args) > 1 else 0.25")
        kinds = self.draw.choice(CATCHES)
        self.put(indent, f"{self.name()} = {self.name()} * 0.5 + (1.0 if isinstance({name}, {kinds}) else 2.0)")

    def guarded(self, indent: int, text: str) -> None:
        """A jump, mostly under a condition."""
        if self.draw.random() < 0.75:
            self.put(indent, f"if {self.test()}:")
            indent += 1
        self.put(indent, text)

    def put_if(self, indent: int, depth: int, loop: bool) -> None:
        self.put(indent, f"if {self.test()}:")
        self.block(indent + 1, depth + 1, loop)
        if self.draw.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 1, depth + 1, loop)

    def put_loop(self, indent: int, depth: int, loop: bool) -> None:
        self.loops += 1
        if self.loops > 2:
            return self.put_assign(indent, depth, loop)
        if self.draw.random() < 0.6:
            self.put(indent, self.draw.choice(["for k in range(n + 1):", "for k in range(3):", "for v in a:"]))
            if "v in a" in self.lines[-1]:
                self.put(indent + 1, f"{self.name()} = float(v) * 0.5 + {self.name()} * 0.25")
        else:
            self.count += 1
            counter = f"c{self.count}"
            self.put(indent, f"{counter} = 0")
            self.put(indent, f"while {counter} < n + 1:")
            self.put(indent + 1, f"{counter} += 1")
        saved, self.handling = self.handling, []
        self.block(indent + 1, depth + 1, True)
        self.handling = saved
        if self.draw.random() < 0.2:
            self.put(indent, "else:")
            self.put(indent + 1, f"{self.name()} = {self.tame()}")
        return None

    def put_closure(self, indent: int, depth: int, loop: bool) -> None:
        self.count += 1
        name = f"g{self.count}"
        self.put(indent, f"def {name}(v, m):")
        self.put(indent + 1, "try:")
        self.put(indent + 2, f"return v / (m - {self.draw.randint(0, 2)}) + x * 0.5")
        self.put(indent + 1, f"except {self.draw.choice(CATCHES[:6])}:")
        self.put(indent + 2, self.draw.choice(["return v * x", "raise", 'raise Worse(v)']))
        self.put(indent, f"{self.name()} = {name}({self.tame()}, k)")

    def put_try(self, indent: int, depth: int, loop: bool) -> None:
        self.put(indent, "try:")
        self.block(indent + 1, depth + 1, loop)
        form = self.draw.random()
        if form < 0.85:
            for _ in range(self.draw.choice([1, 1, 2])):
                named = self.draw.random() < 0.5
                self.count += 1
                name = f"e{self.count}"
                self.put(indent, f"except {self.draw.choice(CATCHES)}" + (f" as {name}:" if named else ":"))
                self.handling.append(name if named else None)
                self.block(indent + 1, depth + 1, loop)
                self.handling.pop()
            if self.draw.random() < 0.3:
                self.put(indent, "else:")
                self.block(indent + 1, depth + 1, loop)
        if form >= 0.85 or self.draw.random() < 0.3:
            self.put(indent, "finally:")
            if self.draw.random() < 0.2:
                self.block(indent + 1, depth + 1, loop)
            else:
                self.put(indent + 1, f"{self.name()} += {self.tame()}")


def random_catch(seed: int) -> Sample:
    """The program of a seed."""
    draw = random.Random(seed)
    text = HEAD
    helpers: list[str] = []
    for number in range(draw.randint(0, 2)):
        name = f"helper{number}"
        recursive = [name] if draw.random() < 0.3 else []
        writer = Writer(draw, helpers)
        text += f"def {name}(x, n, a):\n    y = 0.5\n    s, t, u, k = x, 0.5 * x, 1.0, n\n    b = np.zeros(3)\n"
        if recursive:
            text += f"    if n > 0:\n        t = {name}(x * 0.5 - 0.25, n - 1, a) * 0.5\n"
        text += "\n".join(writer.body(1, draw.randint(1, 3))) + "\n    return s + 0.5 * t + b[1]\n\n\n"
        helpers.append(name)
    writer = Writer(draw, helpers)
    text += "def program(x, y, n, a):\n    s, t, u, k = x, y, 1.5, 0\n    b = np.zeros(4)\n"
    text += "\n".join(writer.body(1, draw.choice([4, 6, 9])))
    text += "\n    return s + 0.5 * t - u * 0.25 + b[0] + 2.0 * b[1] + b[2] * b[3]\n"
    arguments = tuple(
        (draw.choice([0.0, 1.0, 2.0, -1.0, draw.gauss(0, 1)]), draw.gauss(0, 1), draw.randint(0, 3),
         np.array([draw.gauss(0, 1) for _ in range(draw.randint(1, 4))]))
        for _ in range(3)
    )  # fmt: skip
    return Sample(seed, text, function_of(text, 1_000_000 + seed), arguments, (0, 1, 3))
