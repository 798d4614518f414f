"""The workloads on structures, all built inside the call: lists that grow, linked lists, trees of nodes, closures.

`benchmarks/README.md` defines them in words.
"""

import ctypes
import math
from dataclasses import dataclass

import pullback as pb
from build import load
from forms import DOUBLE, LONG, POINTER, Form, Rules, Workload, jitted, symbol, value_and_gradient

# ---- the programs, as a user writes them ----------------------------------------------------------------------------


@dataclass
class Link:
    value: float
    next: "Link | None"


def fold_links(link, x):
    return 0.0 if link is None else math.sin(link.value) * x + 0.999 * fold_links(link.next, x)


def fold(x, n):
    head = None
    for i in range(n):
        head = Link(x + 0.001 * i, head)
    return fold_links(head, x)


@dataclass
class Tree:
    value: float
    left: "Tree | None" = None
    right: "Tree | None" = None


def grow(x, depth):
    if depth == 0:
        return Tree(x)
    return Tree(x / (depth + 1), grow(x * 0.9, depth - 1), grow(x * 1.1, depth - 1))


def fold_tree(tree):
    return 0.3 if tree is None else tree.value + 0.5 * math.tanh(fold_tree(tree.left) * fold_tree(tree.right))


def tree(x, depth):
    return fold_tree(grow(x, depth))


def append(x, n):
    items = []
    v = 1.0
    for _ in range(n):
        v = v * x + 0.5
        items.append(v)
    s = 0.0
    for item in items:
        s += item * item
    return s


def compose(f, g):
    return lambda t: f(g(t))


def closures(x, n):
    """The same as `inlined`, through functions that are made and passed around."""
    scale = lambda k: lambda t: k * t  # noqa: E731
    step = compose(compose(math.sin, scale(x)), lambda t: t * t + 0.25)
    total, state = 0.0, 0.5
    for _ in range(n):
        state = step(state)
        total += state
    return total


def inlined(x, n):
    total, state = 0.0, 0.5
    for _ in range(n):
        state = math.sin(x * (state * state + 0.25))
        total += state
    return total


# ---- both sides -----------------------------------------------------------------------------------------------------


def in_c(name: str, program: object, x: float, n: int, rules: Rules) -> list[Form]:
    """A program of a float and a size beside NAME_f and NAME_grad."""
    library = load("structures.c", rules.build)
    slope = ctypes.c_double()
    value = symbol(library, f"{name}_f", DOUBLE, LONG)
    gradient = symbol(library, f"{name}_grad", DOUBLE, LONG, POINTER)

    def both() -> tuple[float, float]:
        return gradient(x, n, ctypes.addressof(slope)), slope.value

    return value_and_gradient(name, program, (x, n), 0, (lambda: value(x, n), both), rules)


def closures_form(rules: Rules) -> list[Form]:
    """Closures against the same program inlined by hand: both sides are ours."""
    x, n = 1.3, 10_000
    ours, theirs = (
        (jitted(program, rules), pb.value_and_grad(jitted(program, rules))) for program in (closures, inlined)
    )
    return [
        Form("closures", kind, lambda k=k: ours[k](x, n), lambda k=k: theirs[k](x, n), rules.build, rules.fastmath)
        for k, kind in enumerate(("value", "gradient"))
    ]


STRUCTURE_WORKLOADS = {
    "fold": Workload(lambda rules: in_c("fold", fold, 0.7, 100_000, rules)),
    "tree": Workload(lambda rules: in_c("tree", tree, 0.8, 14, rules)),
    "append": Workload(lambda rules: in_c("append", append, 0.999, 100_000, rules)),
    "closures": Workload(closures_form),
}
