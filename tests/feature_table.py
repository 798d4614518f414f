"""Programs for every pair of a control form and a data form, made of templates.

    source_of("while", "list")        def program(x, n): ...: a while loop that changes a list

A data form says how its state is made, changed, read and walked; a control form says when. All are smooth in x.
"""

from __future__ import annotations

import linecache
import sys
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HEAD = """import math

import numpy as np


class Box:
    def __init__(self, a):
        self.a = a


class Node:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right


def fold(node):
    if node is None:
        return 0.5
    return node.value + 0.3 * fold(node.left) * fold(node.right)


def named(name, s):
    if name == "sin":
        return math.sin(s)
    return math.cos(s) * 1.5 if name == "cos" else s


def program(x, n):
"""


@dataclass(frozen=True, slots=True)
class Data:
    """Lines that make the state from x, lines that change it by x and K, the number it means, what a loop walks over.

    ``names`` are rebound by a change, so that a function inside must declare them nonlocal.
    """

    make: str
    change: str
    read: str
    walk: str
    names: str = ""


DATA = {
    "scalar": Data("s = x * x", "s = math.sin(s) * x + K * 0.5", "s * s", "(s, x)", "s"),
    "tuple": Data("t = (x, x * x)", "t = (t[1] * 0.5 + K, math.sin(t[0]) * x)", "t[0] * t[1]", "t", "t"),
    "array element": Data(
        "a = np.array([x, 1.0, x * x])", "a[K % 3] = math.sin(a[(K + 1) % 3]) * x + K * 0.25",
        "float(math.sin(a[0]) * a[1] + a[2])", "a"
    ),
    "array slice": Data(
        "a = np.array([1.0, x, 2.0, x * x])\nv = a[1:]", "v[:] = v * x + a[K % 4] * 0.5\na[::2] += x",
        "float(np.sum(a * v[0]))", "v",
    ),
    "list": Data("l = [x, 1.0]", "l.append(l[-1] * x + K)\nl[0] = l[0] * 0.5 + x", "sum(l) * math.sin(l[0])", "l[:]"),
    "dict": Data(
        "d = {0: x}", "d[K] = d.get(K - 1, 0.5) * x + K * 0.5", "sum(math.sin(v) * v * (q + 1) for q, v in d.items())",
        "list(d.values())",
    ),
    "object attribute": Data(
        "b = Box(x)\nalias = b", "b.a = math.sin(alias.a) * x + K * 0.5", "alias.a * b.a", "(b.a, alias.a)"
    ),
    "cell": Data(
        "c = x\ndef bump(k):\n    nonlocal c\n    c = math.sin(c) * x + k * 0.5\n    return c", "bump(K)", "c * c",
        "(c, x)",
    ),
    "nested list": Data(
        "g = [[x, 1.0], [x * x]]", "g[K % 2].append(g[0][-1] * x + 0.5)\ng[1][0] += K * x",
        "sum(sum(r) * r[0] for r in g)", "[r[0] for r in g]",
    ),
    "tree": Data(
        "tree = Node(x)", "tree = Node(tree.value * x + 0.5 * K, tree, Node(x) if K % 2 else None)",
        "math.sin(fold(tree)) + 1.0",
        "(tree.value, fold(tree))", "tree",
    ),
    "string dispatch": Data(
        's = x\nname = "sin"', 's = named(name, s) * x + K * 0.5\nname = "cos" if K % 2 else "sin"', "s * s", "(s, x)",
        "s, name",
    ),
}  # fmt: skip

CONTROL = {
    "straight": "CHANGE(1)\nCHANGE(2)\nreturn READ",
    "if": "if x > 0.5:\n    CHANGE(1)\nelse:\n    CHANGE(2)\nreturn READ * x",
    "nested if": (
        "if x > 0.5:\n    if n > 2:\n        CHANGE(1)\n    else:\n        CHANGE(2)\n"
        "elif READ > 0.1:\n    CHANGE(3)\nreturn READ"
    ),
    "for range": "for k in range(n):\n    CHANGE(k)\nreturn READ",
    "for over data": (
        "total = 0.0\nfor i, e in enumerate(WALK):\n    total = total * x + e * e * (i + 1)\nCHANGE(1)\n"
        "for e in WALK:\n    total += math.sin(e)\nreturn total + READ"
    ),
    "while": "k = 0\nwhile k < n and READ < 40.0:\n    k += 1\n    CHANGE(k)\nreturn READ + k * x",
    "break": "for k in range(n + 3):\n    CHANGE(k)\n    if READ > 1.2:\n        break\nreturn READ * x + k",
    "continue": "for k in range(n + 1):\n    if k % 2 == 1:\n        continue\n    CHANGE(k)\nreturn READ",
    "early return": "for k in range(n + 2):\n    CHANGE(k)\n    if READ > 0.9:\n        return READ * x\nreturn READ",
    "recursion": (
        "def go(k):\n    NONLOCAL\n    if k <= 0:\n        return READ\n    CHANGE(k)\n    return go(k - 1) * x + k\n"
        "return go(n) + READ"
    ),
    "try": (
        "for k in range(n):\n    try:\n        CHANGE(k)\n        if k % 2 == 1:\n            raise ValueError(k)\n"
        "        CHANGE(k + 1)\n    except ValueError:\n        CHANGE(2)\nreturn READ"
    ),
    "generator": (
        "def steps():\n    NONLOCAL\n    for k in range(n):\n        CHANGE(k)\n        yield READ\n"
        "total = 0.0\nfor value in steps():\n    total = total * 0.5 + value * x\nreturn total + READ"
    ),
    "comprehension": "CHANGE(1)\nvalues = [READ * k for k in range(n) if k != 1]\nreturn sum(values) * x + READ",
    "closure": (
        "def act(k):\n    NONLOCAL\n    CHANGE(k)\n    return READ * x\ntotal = act(1)\nCHANGE(2)\n"
        "return total + act(3) * READ"
    ),
    "match": (
        "for k in range(n):\n    match k % 3:\n        case 0:\n            CHANGE(1)\n"
        "        case 1 | 2 if x > 0.5:\n            CHANGE(k)\n        case _:\n            CHANGE(2)\nreturn READ"
    ),
}
MODES = ("ff", "fr", "rf", "rr", "rrr")
ARGUMENTS = ((0.7, 3), (0.4, 2))


def source_of(control: str, data: str) -> str:
    """The text of one cell's program."""
    form = DATA[data]
    lines = form.make.splitlines()
    for line in CONTROL[control].splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        word = line.strip()
        if word.startswith("CHANGE("):
            number = word[len("CHANGE(") : -1]
            number = f"({number})" if " " in number else number
            lines += [indent + part.replace("K", number) for part in form.change.splitlines()]
        elif word == "NONLOCAL":
            lines += [f"{indent}nonlocal {form.names}"] if form.names else []
        else:
            lines.append(line.replace("READ", f"({form.read})").replace("WALK", form.walk))
    return HEAD + textwrap.indent("\n".join(lines), "    ") + "\n"


def function_of(control: str, data: str) -> Callable[..., Any]:
    """The program of one cell, whose source the front end finds."""
    text, file = source_of(control, data), f"<feature table: {control}, {data}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType(f"feature_table_{control}_{data}".replace(" ", "_"))
    sys.modules[module.__name__] = module
    exec(compile(text, file, "exec", dont_inherit=True), vars(module))
    return module.program  # type: ignore[no-any-return]
