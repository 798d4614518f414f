"""Programs of tuples that hold tuples of their own making, and of NamedTuples with methods of their own."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

import pullback as pb


class Leaf(NamedTuple):
    value: float


class Split(NamedTuple):
    threshold: float
    left: Leaf | Split
    right: Leaf | Split


class Link(NamedTuple):
    v: float
    rest: Link | None = None

    def total(self):
        return self.v * self.v + (self.rest.total() if self.rest is not None else 0.0)

    @property
    def last(self):
        return self.rest.last if self.rest else self.v

    def __str__(self):
        return f"link of {self.v}"

    def __add__(self, other):
        return Link(self.v + other.v, self.rest)

    @classmethod
    def many(cls, n, x):
        return cls(x * n, cls.many(n - 1, x) if n > 1 else None)


class Own(NamedTuple):
    """Fixed structure, methods in place of those of tuples."""

    x: float
    y: float

    def __repr__(self):
        return "own " + str(self.x)

    def __len__(self):
        return 7

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return 3

    def __contains__(self, item):
        return item == 7


def build(xs, depth):
    if depth == 0 or len(xs) < 2:
        return Leaf(sum(xs))
    m = len(xs) // 2
    return Split(xs[m], build(xs[:m], depth - 1), build(xs[m:], depth - 1))


def tree(x, depth=2):
    return build([x * k for k in range(7)], depth)


def plain(n, x):
    return (x,) if n == 0 else (x, plain(n - 1, x), plain(n - 2 if n > 1 else 0, 2 * x))


def chain(n, x):
    return (x * n, chain(n - 1, x)) if n else None


def arrays(n, x):
    return Link(x * n, arrays(n - 1, x + 1.0)) if n else None


# ------------------------------------------------------------------------------------ values that are differentiated


def folded(node):
    match node:
        case Leaf(v):
            return v
        case Split(threshold=t, left=left, right=right):
            return t * folded(left) + folded(right)


def walked(x):
    node = tree(x)
    while isinstance(node, Split):
        node = node.left if x < node.threshold else node.right
    return node.value * x


def matched(x):
    return folded(tree(x, 3))


def replaced(x):
    t = tree(x)
    n = t._replace(left=Leaf(x * 3))
    threshold, left, right = t
    order = 100.0 if t < n else 10.0
    return folded(n) + n.threshold * len(n) + folded(right) + n[0] * folded(left) + order * (2.0 if t != n else 1.0)


def of_methods(x):
    link = Link.many(4, x)
    return link.total() * link.last + (link + link).total()


def in_loop(x):
    head = None
    for k in range(5):
        head = Link(x * k, head)
    total = 0.0
    while head is not None:
        match head:
            case Link(v, None):
                total += v
            case Link(v=v, rest=Link(w)):
                total += v * w
        head = head.rest
    return total


def keys(x):
    scores = {tree(1.0, 1): x, tree(2.0, 1): x * x, plain(1, 2.0): 3.0 * x}
    return scores[tree(2.0, 1)] * scores[plain(1, 2.0)] + scores[tree(1.0, 1)]


def largest(x):
    best, least = max(tree(x), tree(2 * x)), min([tree(x, 1), tree(2 * x, 1)])
    return folded(best) + folded(least) + folded(sorted([tree(3 * x, 1), tree(x, 1)])[0])


def parts(x):
    t = plain(2, x)
    return t[1:][0][0] + (t + (x,))[-1] * (2 * t)[3] + t[::-1][2] + t.count(x) + t.index(x) + len(t[1:])


def of_arrays(x):
    node, total = arrays(3, np.array([x, 2.0 * x])), 0.0
    while node is not None:
        total = total + np.sum(node.v * node.v)
        node = node.rest
    return total


DIFFERENTIABLE = [
    walked, matched, replaced, of_methods, in_loop, keys, largest, parts, of_arrays,
]  # fmt: skip


# ------------------------------------------------------------------------------------------------- what Python gets


def returned(x):
    return tree(x), plain(2, x), chain(2, x), Link.many(2, x), [tree(x, 1)], {"a": plain(1, x)}


def shown(x):
    t = tree(x)
    return f"{t} {t!r} {t.left}", str(plain(2, x)), repr(Link.many(2, x)), f"{Link(x)} {[Link(x)]}", t._fields


def compared(x):
    a, b, c = plain(2, x), plain(1, x), plain(2, 2 * x)
    return (
        a == b, a != b, a < b, b < a, a <= c, a > c, b == plain(1, x), b != plain(1, x), a == None, None != a,  # noqa: E711
        a == [1], (x, (x,), (2 * x,)) == b, b < (x, (x,), (3 * x,)), tuple([q for q in (x,)]) == plain(0, x),
    )  # fmt: skip


def compared_by_name(x):
    t = tree(x)
    n = t._replace(right=Leaf(x * 3))
    return t == n, t != n, t < n, t >= n, t == tree(x), Leaf(x) == (x,), Leaf(x) != t, t == None, n in [t, n], x in t  # noqa: E711


def as_dicts(x):
    t = tree(x)
    return t._asdict(), Link(x)._asdict(), hash(t) == hash(tree(x)), list(t), tuple(t), isinstance(t, tuple)


def own_methods(x):
    a, b = Own(x, 1.0), Own(x, 2.0)
    return str(a), repr(a), f"{a}", [a], len(a), a == b, {a: 1.0}[b], 7 in a, x in a, a.index(x), a.count(5.0)


def unequal(x):
    """What is known to be unlike while compiling."""
    a = [1.0, x] != ["x"], [k * x for k in range(3)] != ["x" for k in range(3)], {k: x for k in range(2)} != {"a": 1.0}
    return a, [(k,) for k in range(3)] != [(1, 2) for k in range(3)], plain(1, x) != plain(0, x), (1, x) == (1, x, 2)


VALUES = [
    returned, shown, compared, compared_by_name, as_dicts, own_methods, unequal, *DIFFERENTIABLE,
]  # fmt: skip


# -------------------------------------------------------------------- derivatives by tuples and by unions of objects


def squares(node):
    return 0.0 if node is None else node[0] * node[0] + squares(node[1])


def squares_of_arrays(node):
    return 0.0 if node is None else np.sum(node.v * node.v) + squares_of_arrays(node.rest)


def squares_below(node):
    return node.value**2 if isinstance(node, Leaf) else node[0] ** 2 + squares_below(node[1]) + squares_below(node[2])


def by_chain(x):
    return squares(pb.grad(squares)(chain(3, x)))


def by_tree(x):
    return squares_below(pb.grad(squares_below)(tree(x)))


def by_arrays(x):
    return squares_of_arrays(pb.grad(squares_of_arrays)(arrays(2, np.array([x, 1.0]))))


class Node:
    def __init__(self, v, rest):
        self.v, self.rest = v, rest


def nodes(n, x):
    return Node(x * n, nodes(n - 1, x)) if n else None


def ending_in_number(n, x):
    return Node(x, ending_in_number(n - 1, 2 * x)) if n else x * 3


def squares_of_nodes(node):
    if node is None:
        return 0.0
    return node.v * node.v + squares_of_nodes(node.rest) if isinstance(node, Node) else node * node


def by_nodes(x):
    return squares_of_nodes(pb.grad(squares_of_nodes)(nodes(3, x)))


def by_nodes_or_numbers(x):
    return squares_of_nodes(pb.grad(squares_of_nodes)(ending_in_number(2, x)))


def by_pullback(x):
    value, pull = pb.vjp(squares_of_nodes, nodes(3, x))
    return squares_of_nodes(pull(1.0)[0]) + 0.0 * value


FOUR_TIMES = [
    (by_chain, lambda x: squares(chain(3, x))), (by_tree, lambda x: squares_below(tree(x))),
    (by_arrays, lambda x: squares_of_arrays(arrays(2, np.array([x, 1.0])))),
    (by_nodes, lambda x: squares_of_nodes(nodes(3, x))),
    (by_nodes_or_numbers, lambda x: squares_of_nodes(ending_in_number(2, x))),
    (by_pullback, lambda x: squares_of_nodes(nodes(3, x))),
]  # fmt: skip
"""Sums of squares of the gradients of sums of squares, and what these are four times of."""


class Stepped(NamedTuple):
    """Fixed structure, with ways of its own to be read."""

    x: float
    y: float

    def __iter__(self):
        return iter([self.x * 10, self.y * 10, 1.0])

    def __getitem__(self, k):
        return "item"

    def __bool__(self):
        return False

    def __lt__(self, other):
        return self.y > other.y

    def __call__(self, z):
        return self.x * z

    def __mul__(self, other):
        return Stepped(self.x * other, self.y)


def own_ways(x):
    t = Stepped(x, 2.0)
    p, q, r = t
    read = [v for v in t], t[0], t[5], list(t), sum(t), [*t], tuple(t), p, q, r
    return read, bool(t), 1 if t else 2, t < Stepped(x, 1.0), t(3.0), (t * 2).x, sorted([t, Stepped(2.0, 4 * x)])[0].y


VALUES.append(own_ways)


def order_of_first(x):
    """The first items that differ decide, so that later ones need have no order."""
    t, u = (x, ("a",) if x > 0.2 else (1.0,)), (2.0, ("b",) if x > 0.9 else (2.0,))
    return t < u, u > t, t < (x, t[1]), t <= (x, t[1]), max(t, u)[0], sorted([u, t])[0][0], (x, 1) < (x, 2.5), t == u


VALUES.append(order_of_first)


def written_through_views(x):
    node, total = arrays(3, np.array([x, 2.0 * x, 1.0])), 0.0
    first = node
    while node is not None:
        view = node.v[::2]
        view *= x
        node.v[0] += view[1]
        node = node.rest
    while first is not None:
        total, first = total + np.sum(first.v * first.v), first.rest
    return total


DIFFERENTIABLE.append(written_through_views)


def huffman(x):
    """Entries of a heap hold trees of tuples; trees have no order among themselves, and are never asked for one."""
    heap = [(x, 0, ("a",)), (2.0 - x, 1, ("b",)), (0.3, 2, ("c",)), (x * x, 3, ("d",))]
    heapq.heapify(heap)
    count, total = len(heap), 0.0
    while len(heap) > 1:
        first, _, a = heapq.heappop(heap)
        second, _, b = heapq.heappop(heap)
        total += first + second
        heapq.heappush(heap, (first + second, count, (a, b)))
        count += 1

    def depths(tree, depth):
        return depth if len(tree) == 1 else depths(tree[0], depth + 1) + depths(tree[1], depth + 1)

    return total * x + depths(heap[0][2], 0)


VALUES.append(huffman)
DIFFERENTIABLE.append(huffman)


def unordered_later(x):
    """Items without an order fail where the items before them are equal, and only there."""
    nodes = [(x, Stepped), (2.0, None), (0.3 * x, (1,))]
    best, found = max((x, None), (2.0, (1,))), []
    for pair in nodes:
        for other in nodes:
            try:
                found.append(pair < other)
            except TypeError as error:
                found.append(str(error)[:15])
    return best[0], found


VALUES.append(unordered_later)


def deep_and_equal(x):
    """Tuples of fixed structure, so deep that they become rows: largest, equal, in others."""
    t, u = (x, 1), (x + 1, 1)
    for k in range(6):
        t = (t, k)
    for k in range(6):
        u = (u, k)
    a, b = (x, None), (x + 1, None)
    for k in range(5):
        a, b = (a, (k, a) if k % 2 else None), (b, None)
    return t < u, t == u, max(t, u) == u, a == b, a in [b, a], (a, 1) == (a, 1), (1, a) < (1, b), max(a, b) == b


VALUES.append(deep_and_equal)
