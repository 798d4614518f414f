"""Programs with lists that change, tuples of run-time length, iterators and the libraries for them."""

from __future__ import annotations

import bisect
import functools
import heapq
import itertools
import math
import operator
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {}
FAILING: dict[str, Any] = {}


def case(*arguments: Any) -> Any:
    """Note a program with the arguments it is run with."""

    def note(function: Any) -> Any:
        CASES[function.__name__] = function, arguments or (1.5,)
        return function

    return note


def fails(function: Any) -> Any:
    """Note a program that raises for 1.5."""
    FAILING[function.__name__] = function
    return function


@case()
def append_loop(x):
    xs = [x, 2.0]
    for i in range(3):
        xs.append(x * i)
    total = 0.0
    for v in xs:
        total += v * v
    return total + xs[-1]


@case()
def methods(x):
    xs = [3.0 * x, x, 2.0]
    xs.insert(1, x * x)
    xs.insert(-1, 5.0)
    a = xs.pop()
    b = xs.pop(0)
    xs.extend([1.0, x])
    xs.remove(5.0)
    xs.reverse()
    xs += [7.0]
    ys = xs.copy()
    ys.append(4.0)
    n = len(xs) * 10 + len(ys)
    return a * b + xs[0] * xs[1] + xs[-1] * n + ys.count(1.0) + ys.index(7.0) * x


@case()
def sorting(x):
    xs = [3.0 * x, x, 2.0, -x]
    xs.sort()
    ys = sorted(xs, key=lambda v: -v * v)
    zs = sorted((4, 2, 3), reverse=True)
    return xs[0] * xs[1] + ys[0] * 3.0 + ys[-1] + zs[0]


@case()
def comps(x):
    a = [x * i for i in (1, 2, 3)]
    b = [x * i for i in range(5) if i % 2 == 0]
    c = [[x + i * j for j in range(3)] for i in range(2)]
    s = 0.0
    for row in c:
        for v in row:
            s += v * v
    return s + a[1] * len(b) + b[2] ** 2


@case()
def slices(x):
    xs = [x * i for i in range(10)]
    ys = xs[2:7:2]
    zs = xs[::-1]
    xs[1:3] = [x * x, 1.0, 2.0, 3.0]
    xs[::4] = [x, x, x]
    del xs[0]
    del xs[1:5:2]
    t = 0.0
    for i, v in enumerate(xs):
        t += i * v * v
    return t + ys[1] * zs[0] + len(xs) + len(ys)


@case()
def alias(x):
    xs = [x]
    ys = xs
    def add(v):
        ys.append(v * x)
    add(2.0)
    xs[0] += 3.0
    add(xs[0])
    return xs[0] * ys[1] * xs[2] + len(xs)


@case()
def nested(x):
    m = []
    for i in range(3):
        m.append([x * i])
        m[i].append(x + i)
    m[0][1] *= 2.0
    s = 0.0
    for r in m:
        s += r[0] * r[1]
    return s


@case()
def growing(x):
    xs = [x]
    for v in xs:
        if len(xs) < 5:
            xs.append(v * 2.0)
    s = 0.0
    while xs:
        s = s * 0.5 + xs.pop()
    return s


@case()
def concat(x):
    xs = [1.0, x] + [2.0]
    ys = xs + [x * i for i in range(3)]
    zs = ys * 2
    n = len(zs)
    t = (x, 2.0) * (n // 6)
    return sum(zs) + sum(t) + (1.0 if x in zs else 0.0) + (xs == [1.0, x, 2.0]) + (ys < zs)


@case()
def unpack(x):
    xs = [x * i for i in range(5)]
    a, *b, c = xs
    d, e, f = b
    return a + sum(b) * c + d * e * f


@case()
def of_tuples(x):
    xs = []
    for i in range(4):
        xs.append((x * i, i))
    best = sorted(xs, key=lambda p: -p[0])[0]
    ys = [a * b for a, b in xs]
    return best[0] * best[1] + max(ys) + min(ys)


@case()
def maps(x):
    a = list(map(lambda v: v * x, [1.0, 2.0, 3.0]))
    b = list(filter(lambda v: v > 2.0, a))
    c = functools.reduce(lambda p, q: p * q, a, 1.0)
    d = sum(map(lambda p, q: p * q, a, (3.0, 2.0, 1.0)))
    return sum(b) + c + d + len(b) + functools.reduce(operator.add, (x, 2.0, 3.0))


@case()
def iters(x):
    s = 0.0
    for a in itertools.accumulate([x, 2.0, 3.0]):
        s += a * a
    for a in itertools.accumulate((x, 2.0, 3.0), operator.mul):
        s += a
    for a in itertools.chain([x], (2.0, x), [3.0 * x for _ in range(2)]):
        s = s * 0.9 + a
    for a, b in itertools.product([x, 1.0], range(3)):
        s += a * b
    for a in itertools.takewhile(lambda v: v < 3.0, [1.0, x, 5.0, 2.0]):
        s += a
    for a in itertools.dropwhile(lambda v: v < 3.0, [1.0, x, 5.0, 2.0]):
        s += a * x
    for i, v in zip(itertools.count(2), [x, x]):
        s += i * v
    for v in itertools.islice(itertools.count(1), 2, 9, 3):
        s += v * x
    return s


@case()
def lists_that_a_recursion_joins(x):
    def flat(n, z):
        return [] if n == 0 else [z] + flat(n - 1, z * 0.9)

    def rows(n, z):
        return [] if n == 0 else [[z, z + n]] + rows(n - 1, z * 0.9)

    fs = [lambda t, v=v: t * v for v in heapq.merge(*rows(3, x))]
    return sum(flat(3, x)) * x + sum(a * b for a, b in rows(4, x)) + sum(f(x) * (k + 1) for k, f in enumerate(fs))


@case()
def places_of_run_time_size(x):
    xs, s = [x, 2.0, 3.0 * x, 0.5], 0.0
    for size in range(len(xs) + 2):
        for row in itertools.combinations(xs, size):
            s = s * 0.9 + sum(row) + len(row)
        for row in itertools.permutations(xs, size):
            s = s * 0.99 + (row[0] * row[-1] if row else x)
        for row in itertools.combinations_with_replacement(xs[:3], size):
            s = s * 0.9 + math.prod(row)
    for order in itertools.permutations(range(len(xs))):
        s = s * 0.9 + sum([xs[k] * x**i for i, k in enumerate(order)])
    for a, b, c in itertools.permutations(range(3)):
        s += a * x + b * xs[c]
    for _ in itertools.permutations([]):
        s += x
    for k in range(-1, 1):
        try:
            for row in itertools.combinations(xs, k):
                s += x * len(row) + 1.0
        except ValueError as error:
            s += len(str(error))
    return s


@case()
def combos(x):
    s = 0.0
    xs = [x, 2.0, 3.0 * x, 4.0]
    for a, b in itertools.combinations(xs, 2):
        s += a * b
    for a, b in itertools.permutations((x, 2.0, 3.0), 2):
        s = s * 0.9 + a / b
    for a, b in itertools.pairwise(xs):
        s += a - b * x
    for a, b in itertools.zip_longest([1.0, x, 2.0], [x], fillvalue=0.5):
        s += a * b
    for k, g in itertools.groupby([1, 1, 2, 2, 2, 3]):
        s += k * len(list(g)) * x
    n = 0
    for v in itertools.cycle([1.0, x]):
        s += v
        n += 1
        if n == 5:
            break
    return s + sum(itertools.repeat(x, 3)) + sum(itertools.starmap(operator.mul, [(x, 2.0), (3.0, x)]))


@case()
def keyed(x):
    ps = [("a", x), ("b", -x), ("c", 2.0)]
    m = max(ps, key=lambda p: p[1])
    n = min(ps, key=operator.itemgetter(1))
    xs = []
    for i in range(4):
        xs.append(x * i - 1.0)
    middle = sorted(ps, key=operator.itemgetter(1))[1]
    return m[1] * n[1] + max(xs) * min(xs) + max(xs, key=lambda v: -v) + max([], default=x) + middle[1]


@case()
def heaps(x):
    h = []
    for i in range(7):
        heapq.heappush(h, x * ((i * 5) % 7))
    s = 0.0
    while h:
        s = s * 1.5 + heapq.heappop(h)
    xs = [1.0, 2.0, 4.0]
    bisect.insort(xs, x)
    return s + xs[1] * bisect.bisect_left(xs, 2.0)


@case()
def deques(x):
    d = deque([x, 2.0])
    d.append(x * x)
    d.appendleft(3.0)
    a = d.popleft() * d.pop()
    d.appendleft(a)
    d.extend([1.0, x])
    w = deque(maxlen=2)
    for v in d:
        w.append(v)
    return a + sum(d) * d[1] + sum(w) + len(d)


@case()
def iterators(x):
    it = iter([x, 2.0, 3.0, 4.0])
    a = next(it)
    b = next(it)
    r = sum(it)
    c = next(it, 7.0)
    p = iter([1.0, x, 3.0, x])
    s = 0.0
    for u, v in zip(p, p):
        s += u * v
    return a * b + r * c + s


@case()
def arrays(x):
    xs = []
    for i in range(5):
        xs.append(x * i)
    a = np.array(xs)
    b = np.array([[x * i * j for j in range(3)] for i in range(4)])
    return np.sum(a * a) + np.sum(xs) + b[3, 2] * np.mean(b) + math.fsum(xs) + math.prod(xs[1:])


@case()
def of_arrays(x):
    rows = []
    for i in range(3):
        rows.append(np.array([x, x * i]))
    rows[0][1] = 5.0
    rows[1] += 1.0
    last = rows.pop()
    s = 0.0
    for r in rows:
        s += np.sum(r * r)
    rows[0] = rows[1]
    rows[0][0] *= 2.0
    return s + last[1] + rows[1][0] * len(rows)


@case()
def closures(x):
    fs = []
    for i in range(4):
        fs.append(lambda v, i=i: v * x + i)
    s = 1.0
    for f in fs:
        s = f(s)
    g = [math.sin, math.cos]
    g.append(math.sin)
    for f in g:
        s = f(s)
    return s + fs[2](x)


@case()
def optionals(x):
    xs = [None, x]
    xs.append(None)
    xs.append(2.0 * x)
    s = 0.0
    for v in xs:
        if v is not None:
            s += v * v
    return s


@case()
def mixed(x):
    xs = [1, x]
    xs.append(2)
    return sum(xs) * xs[1] + xs[0]


@case()
def queue(x):
    todo = [(x, 3)]
    total = 0.0
    while todo:
        v, n = todo.pop()
        total += v
        if n > 0:
            todo.append((v * 0.5, n - 1))
            todo.append((v * x, n - 1))
    return total


@case()
def primes(x):
    found = []
    n = 2
    while len(found) < 20:
        if all(n % p for p in found):
            found.append(n)
        n += 1
    return x * sum(found) + found[-1]


@case()
def quicksort(x):
    def qs(v):
        if len(v) <= 1:
            return v
        p = v[0]
        return qs([a for a in v[1:] if a < p]) + [p] + qs([a for a in v[1:] if a >= p])
    s = qs([3.0, x, 2.0, x * x, 0.5, 7.0])
    t = 0.0
    for i, v in enumerate(s):
        t += i * v
    return t


@case()
def matrix(x):
    n = 4
    m = [[x if i == j else 0.1 * (i + j) for j in range(n)] for i in range(n)]
    for i in range(n):
        for j in range(i):
            m[i][j], m[j][i] = m[j][i] + x, m[i][j]
    t = list(zip(*[m[0], m[1]]))
    d = 1.0
    for i in range(n):
        d *= m[i][i]
    return d + m[3][1] * m[1][3] + t[2][0] + sum(sum(r) for r in m)


@case()
def returned(x):
    def build(n):
        out = []
        for i in range(n):
            out.append(x ** i)
        return out
    a, b = build(4), build(3)
    a.extend(b)
    return a[-1] * a[3] + len(a)


@case()
def newton(x):
    trail = [x]
    while abs(trail[-1] ** 2 - 2.0) > 1e-9:
        trail.append(0.5 * (trail[-1] + 2.0 / trail[-1]))
    return sum(trail)


@case()
def alias_rows(x):
    m = [[x, 1.0]] * 2
    m[0][1] = 5.0
    m[0].append(x * x)
    return m[1][1] * m[1][2] + len(m[1]) + (m[0] is m[1]) + (m[0] == [x, 5.0, x * x])


@case()
def stable(x):
    ps = [(1, x), (0, 2.0), (1, 3.0), (0, x * x)]
    ps.sort(key=lambda p: p[0])
    qs = sorted(ps, key=lambda p: p[0], reverse=True)
    rs = sorted(ps)
    t = 0.0
    for k, (a, b) in enumerate(ps + qs + rs):
        t += k * b + a
    return t


@case()
def bykey(x):
    ws = ["pear", "fig", "apple", "kiwi"]
    ws.sort(key=lambda w: (len(w), w))
    s = 0.0
    for i, w in enumerate(ws):
        s += i * len(w) * x
    return s + (1.0 if ws[0] == "fig" else 0.0) + (ws[1] == "kiwi")


@case()
def compare(x):
    a = [1.0, x]
    b = [1.0, x]
    b.append(2.0)
    n = (a < b) + 2 * (a == b) + 4 * (a <= [1.0, x]) + 8 * (b > a) + 16 * (a != b) + 32 * (a is a) + 64 * (a is b)
    return n * x + (x in a) + (7.0 not in b)


@case()
def removing(x):
    xs = [x * i for i in range(8)]
    for v in xs[:]:
        if v > 3.0:
            xs.remove(v)
    for i in reversed(range(len(xs))):
        if i % 2:
            del xs[i]
    return sum(xs) + len(xs)


@case()
def during(x):
    xs = [1.0, x, 2.0, x, 3.0]
    n = 0.0
    for i, v in enumerate(xs):
        n = n * 2.0 + v
        if i == 1:
            xs.pop(0)
        if len(xs) < 7:
            xs.append(v * 0.5)
    for v in reversed(xs):
        n = n * 0.5 + v
    return n


@case()
def mutable_default(x):
    def add(v, acc=[]):
        acc.append(v)
        return acc
    add(x)
    add(2.0)
    return sum(add(x * x)) + len(add(0.0))


@case()
def bool_list(x):
    seen = [False] * 10
    n = 0
    i = 1
    while not seen[i]:
        seen[i] = True
        i = (i * 3) % 10
        n += 1
    return n * x + sum(seen)


@case()
def swap(x):
    xs = [x, 2.0, 3.0, 4.0]
    xs[0], xs[3] = xs[3], xs[0]
    i = 0
    i, xs[i] = 2, xs[1] * x
    xs[1:1] = [7.0, x]
    xs[2] *= 3.0
    return xs[0] + 2 * xs[1] + 3 * xs[2] + 4 * xs[-1] + i


@case()
def callee(x):
    def push(l, v):
        l.append(v)
        return len(l)
    def fill(l, n):
        if n == 0:
            return 0.0
        push(l, x * n)
        return l[-1] + fill(l, n - 1)
    xs = []
    s = fill(xs, 4)
    return s * xs[0] + len(xs)


@case()
def conditional(x):
    xs = []
    if x > 1.0:
        xs = [x, x * x]
    ys = xs if x > 0.0 else [1.0]
    ys.append(3.0)
    zs = [2.0] if x > 100.0 else xs
    zs.append(x)
    return sum(xs) * len(ys) + zs[-1]


@case()
def ranges(x):
    a = list(range(5))
    b = tuple(range(3))
    a.append(7)
    c = [*range(2, 4)]
    t = tuple(a)
    return x * sum(a) + sum(b) + sum(c) * len(t) + t[-1] + (3 in t) + t.index(7) + t.count(1) + (t[1:3] == (1, 2))


@case()
def tuple_loop(x):
    n = int(x * 3)
    t = tuple(x * i for i in range(n))
    u = t[1:] + (x,)
    a, b, *c = u
    s = 0.0
    for p, q in zip(t, u):
        s += p * q
    return s + a * b + sum(c) + max(u) + min(t) + len(u[::-1])


@case(np.float32(1.5))
def float_list32(x):
    xs = []
    for i in range(4):
        xs.append(x * np.float32(i))
    s = np.float32(0.0)
    for v in xs:
        s = s + v * v
    return s


@case(np.array([3.0, 1.0, 2.5]))
def from_array(a):
    xs = list(a)
    xs.append(a[0] * 2.0)
    xs.sort()
    t = 0.0
    for i, v in enumerate(xs):
        t += i * v
    return t + max(xs) * min(xs) + sum(xs[1:3])


@case([1.0, 2.0, 3.0])
def arg_list(xs):
    ys = [v * 2.0 for v in xs]
    ys.append(xs[0])
    ys.extend(xs)
    return sum(v * v for v in ys) + len(ys)


@dataclass
class Bag:
    items: list
    total: float = 0.0
    def add(self, v):
        self.items.append(v)
        self.total += v


@case()
def in_object(x):
    b = Bag([x])
    b.add(x * x)
    c = Bag([])
    c.add(2.0)
    c.items = b.items
    c.add(x)
    return sum(b.items) * b.total + c.total + len(b.items)


@case()
def cells(x):
    xs = []
    def note(v):
        xs.append(v)
        return v * x
    total = note(x) + note(2.0)
    xs = [total]
    note(3.0)
    return sum(xs) + len(xs)


@case()
def two_returns(x):
    def pick(flag):
        if flag:
            return [x, 1.0]
        out = []
        out.append(x * x)
        return out
    return sum(pick(True)) + sum(pick(False)) * 2.0


@case()
def union_items(x):
    xs = []
    for i in range(4):
        xs.append(i if i % 2 else x * i)
    return sum(xs) * xs[2]


@case()
def recursive_list(x):
    def depth(t):
        if isinstance(t, list):
            return 1 + max([depth(c) for c in t], default=0)
        return 0
    def total(t):
        if isinstance(t, list):
            s = 0.0
            for c in t:
                s += total(c)
            return s
        return t * t
    t = [x, [2.0, [x, x]], []]
    return total(t) + depth(t)


@case()
def tree_lists(x):
    def build(n):
        if n == 0:
            return (x, [])
        return (x * n, [build(n - 1), build(n - 1)])
    def fold(t):
        v, kids = t
        s = v * v
        for k in kids:
            s += 0.5 * fold(k)
        return s
    return fold(build(3))


@case()
def tuple_chain(x):
    def build(n):
        if n == 0:
            return None
        return (x * n, build(n - 1))
    def total(t):
        s = 0.0
        while t is not None:
            v, t = t
            s += v * v
        return s
    return total(build(4))


@case()
def tuple_linked(x):
    node = None
    for i in range(5):
        node = (x * i, node)
    s = 0.0
    while node is not None:
        s = s * 0.5 + node[0]
        node = node[1]
    return s


@case()
def tuple_tree(x):
    def build(n):
        return (x, None, None) if n == 0 else (x * n, build(n - 1), build(n - 1))
    def fold(t):
        if t is None:
            return 1.0
        v, l, r = t
        return v * fold(l) + fold(r)
    a, b = build(3), build(3)
    return fold(a) + (a == b) + len(a) + isinstance(a, tuple) + sum(1.0 for k in a if k is not None)


@case()
def tuple_leaves(x):
    def build(n):
        return x * (n + 1) if n == 0 else (build(n - 1), build(n - 1))
    def fold(t):
        if isinstance(t, tuple):
            return fold(t[0]) * 0.5 + fold(t[1])
        return t * t
    return fold(build(3))


@case()
def in_range(x):
    n = int(x * 4)
    return x * ((3 in range(n)) + (7 in range(0, 20, 2)) + (8 in range(0, 20, 2)) + (n in range(3, 9)))


@case()
def stacked(x):
    rows = []
    for i in range(3):
        rows.append(np.array([x * i, 1.0]))
    a = np.stack(rows)
    b = np.concatenate(rows)
    return np.sum(a * a) + b[2] * b[4] + a[1, 0]


@case()
def flatten(x):
    m = [[x * i * j for j in range(3)] for i in range(3)]
    f = [v for row in m for v in row if v > 1.0]
    g = list(itertools.chain.from_iterable(m))
    h = sum(m, [])
    t = list(map(list, zip(*m[:2])))
    return sum(f) + g[4] * h[5] + len(t)


@case()
def slidings(x):
    w = deque([0.0] * 3, maxlen=3)
    s = 0.0
    for i in range(6):
        w.append(x * i)
        s += sum(w) / len(w)
    w.rotate(1)
    return s + w[0] * w[-1]


@case()
def early(x):
    xs = []
    for i in range(10):
        if i == 3:
            continue
        xs.append(x * i)
        if len(xs) > 4:
            break
    else:
        xs.append(100.0)
    for v in xs:
        if v > 2.0:
            return v + len(xs)
    return 0.0


@case()
def gen_in_list(x):
    def evens(n):
        for i in range(n):
            if i % 2 == 0:
                yield x * i
    xs = list(evens(7))
    xs.append(sum(evens(4)))
    ys = sorted(evens(5), reverse=True)
    d = {k: v for k, v in enumerate(evens(5))}
    return sum(xs) + ys[0] * d[1] + max(evens(3))


@case()
def walrus(x):
    xs = [x, 2.0, -1.0, 4.0]
    it = iter(xs)
    s = 0.0
    while (v := next(it, None)) is not None:
        s = s * 0.5 + v
    ys = [w for v in xs if (w := v * 2.0) > 0.0]
    return s + sum(ys)


@case()
def empty(x):
    xs = []
    d = {}
    s = set()
    n = (not xs) + (not d) + (not s) + (xs == []) + (d == {})
    return x * (len(xs) + len(d) + len(s)) + n + sum(xs) + sum(d.values())


@case()
def star_args(x):
    def f(a, *rest, **more):
        s = a
        for r in rest:
            s = s * 0.5 + r
        for k in more:
            s += more[k]
        return s
    xs = [x, 2.0]
    xs.append(3.0)
    return f(1.0, x, 2.0, z=x) + f(*[x, 1.0], **{"k": 2.0}) + f(*tuple([x, 2.0]))


@case()
def stars_of_builtins(x):
    xs = [x * k for k in range(1, 5)]
    some = [v for v in xs if v > 2.0]
    total = math.atan2(*xs[:2]) * max(*some) + math.hypot(*xs) - min(*some) * math.hypot(*some[:1])
    total += operator.mul(*some[1:]) * math.copysign(*xs[:1], -x)
    quotient, rest = divmod(*reversed(xs[2:]))
    return total + quotient * rest * x + np.hypot(*np.array(xs[1:3])) * np.arctan2(some[0], *xs[3:])


@case()
def one_of_several_lists(x):
    rows = [[x * x, x], [x]]
    row = rows[0 % len(rows)]
    total = 0.0
    for i, item in enumerate(row):
        total = total * x + item * i
    for a, b in zip(row, row, strict=True):
        total = total * x + a * b
    for item in reversed(row):
        total = total * x + item
    return total + sum(v * v for v in row) + sum(map(math.sin, row))


@case()
def cached_recursion(x):
    asked = []

    @functools.cache
    def term(n, scale):
        asked.append(n * x)
        return x * scale if n < 2 else term(n - 1, scale) * 0.5 + term(n - 2, scale) * x

    return term(10, 1.0) + term(10, 2.0) + sum(asked) + len(asked)


@dataclass(frozen=True)
class Sides:
    a: float
    b: float


@case()
def keys_that_are_equal_by_value(x):
    by_sides, by_tuple, by_set = {}, {}, {}
    for i in range(20):
        by_sides[Sides(i % 12, 0.5)] = x * i
        by_tuple[(Sides(0.5, i % 11), i % 2)] = x * x * i
        by_tuple[(Sides(0.5, i % 11), 3)] = x * i
        by_set[frozenset([i % 5, i % 3])] = x * i
    rows = {tuple([i % 4, *range(i % 3)]) for i in range(40)}
    total = by_sides[Sides(7, 0.5)] + by_tuple[(Sides(0.5, 9), 1)] + by_set[frozenset([2])]
    return total * (len(by_sides) + 100 * len(by_tuple) + 10000 * len(by_set)) + len(rows)


class Named:
    def __init__(self, name, scale):
        self.name, self.scale = name, scale

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash((self.name, 3))


@case()
def keys_with_a_hash_of_their_own(x):
    found = {Named(i % 11, x): x * i for i in range(30)}
    scales = {Named(i % 4, i * x) for i in range(30)}
    return sum(found.values()) * len(found) + sum([named.scale for named in scales]) + found[Named(3, 0.0)]


@case()
def order_of_fractions_in_a_set(x):
    total = 0.0
    for value in {0.1 * i for i in range(-7, 12)} | {1e300, 1e-310, math.inf, -0.75}:
        total = total * 0.9 + math.sin(x * min(value, 9.0))
    return total + hash(0.3) % 1000 + hash((1.25, 3, -1)) % 1000 + hash(-2.5) % 7


@case()
def cached_with_room_for_two(x):
    asked = []

    @functools.lru_cache(2)
    def term(n):
        asked.append(n * x)
        return math.sin(n * x)

    total = 0.0
    for k in (1, 2, 1, 3, 2, 1):
        total = total * 0.5 + term(k)
    return total + sum(asked) + len(asked)


@fails
def index_beyond(x):
    xs = [x]
    xs.append(2.0)
    return xs[5]


@fails
def assign_beyond(x):
    xs = [x]
    xs.append(2.0)
    xs[-3] = 1.0
    return x


@fails
def pop_empty(x):
    xs = [x]
    xs.pop()
    return xs.pop()


@fails
def pop_beyond(x):
    xs = [x]
    xs.append(1.0)
    return xs.pop(7)


@fails
def remove_missing(x):
    xs = [x]
    xs.remove(9.0)
    return xs[0]


@fails
def index_missing(x):
    xs = [x, 2.0]
    xs.append(2.0)
    return xs.index(9.5)


@fails
def unpack_too_many(x):
    xs = [x] * int(x + 2)
    a, b = xs
    return a


@fails
def unpack_too_few(x):
    xs = [x] * int(x)
    a, b = xs
    return a


@fails
def unpack_star_too_few(x):
    xs = [x] * int(x)
    a, *b, c = xs
    return a


@fails
def star_of_one_for_max(x):
    return max(*[x * k for k in range(int(x))])


@fails
def star_of_none_for_min(x):
    return min(*[x * k for k in range(int(x) - 1)])


@fails
def slice_step_zero(x):
    xs = [i * x for i in range(9)]
    return xs[:: int(x - 1.5)][0]


@fails
def extended_slice_size(x):
    xs = [i * x for i in range(9)]
    xs[::2] = [x, x]
    return xs[0]


@fails
def delete_beyond(x):
    xs = [i * x for i in range(9)]
    del xs[9]
    return xs[0]


@fails
def max_of_nothing(x):
    return max([v for v in (x, 2.0) if v > 100.0])


@fails
def tuple_beyond(x):
    t = tuple([x * i for i in range(int(x * 2))])
    return t[10]


@fails
def next_of_nothing(x):
    it = iter([x])
    next(it)
    return next(it)


@fails
def deque_empty(x):
    d = deque()
    return d.popleft() + x


@case()
def list_of_ranges_that_may_be_empty(x):
    return ranges_to(x, int(2 * x - 1)) + ranges_to(x * x, int(6 * x - 1))


def ranges_to(x, n):
    r = range(5, n)
    s = 0.0
    try:
        s += r[0]
    except IndexError:
        s -= x
    try:
        s += r[-1]
    except IndexError:
        s -= 2 * x
    backwards = range(n, 3, -1)
    s += x * sum(r[1:]) + sum(r[::-1]) + len(r[:2]) + 3 * sum(backwards[:-1:2]) + len(backwards[n:1:-2])
    return s * x + len(np.array(r)) + np.sum(np.array(range(0, n, 3)) * x) + np.mean(range(1, 5))


@case(1.7)
def list_as_index_of_arrays(x):
    places = list(range(3))
    places[0], places[2] = places[2], places[0]
    a = np.array([x, 2 * x, x * x])
    b = a[places]
    b[places] += np.array([1.0, 2.0, x])
    m = np.outer(a, b)
    some = [i for i in range(3) if i != 1]
    s = np.sum(m[some] * 2) + np.sum(m[:, some][0]) + m[some, some][1]
    s += np.sum(a[[v > 3.0 for v in [x, 2 * x, x * x]]]) + a[range(2)].sum()
    m[some] = 0.5 * x
    m[1, places] *= a
    return s + np.sum(m) + len(a[[i for i in range(3) if i > 5]])


@case(1.7)
def list_and_range_for_arrays(x):
    xs = [x, 2 * x, 3 * x]
    xs.append(0.5)
    n = len(xs)
    s = np.dot(range(n), xs) + np.sum(np.arange(5.0)[[i for i in range(n)]]) * x
    return s + np.sum(np.exp(np.array(range(3)) * x))


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __iter__(self):
        return iter((self.x, self.y))


class Doubling:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        yield self.x
        yield 2 * self.x


@case()
def list_unpacks_what_loops_run_over(x):
    a, b = Pair(x, x * x)
    c, d = Doubling(b)
    e, f = map(lambda t: t * a, [1.0, d])
    (g, h), (i, j) = zip([x, 2.0], [3.0, x])
    k, m = reversed([x, c])
    (_, n), o = enumerate([e, f * x])
    p, q = "ab"
    r, *s = range(int(4 * x))
    try:
        t, u, v = Pair(x, x)
    except ValueError:
        t = u = v = 0.5 * x
    return a * b + c * d + e * f + g * h + i * j + k * m + n * o[1] + (p < q) + r + len(s) + t * u * v
