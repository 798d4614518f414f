"""Programs with dicts and sets that change."""

from __future__ import annotations

import heapq
from collections import Counter, OrderedDict, defaultdict
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
def dict_basic(x):
    d = {"a": x, "b": 2.0}
    d["c"] = x * x
    d["a"] += 1.0
    s = 0.0
    for k in d:
        s += d[k]
    for k, v in d.items():
        s += v * len(k)
    return s + len(d) + d.get("zz", 5.0) + ("c" in d)


def _weighed(first, *rest, scale=1.0, **options):
    total = first * scale
    for value in rest:
        total = total * 0.5 + value
    for name, value in options.items():
        total += value * (2.0 if name == "p" else 1.0)
    return total


@case()
def dict_of_run_time_keys_as_keywords(x):
    options = {"p": x, "q": x * x}
    options["p"] += x
    total = _weighed(x, x * x, **options)
    options["scale"] = x
    return total + _weighed(x, r=x, **options) * len(options)


@case()
def dict_of_run_time_keys_for_defaults(x):
    def product(a, b=2.0, *, c=3.0):
        return a * b + c

    given = {}
    given["a"] = x
    total = product(**given)
    for k in range(2):
        given["c" if k else "b"] = x * x
        total = total * x + product(**given)
    given["d"] = x
    try:
        total += product(**given)
    except TypeError:
        total *= x
    return total


@case()
def dict_of_run_time_keys_for_objects(x):
    class_options = {"u": x}
    class_options["v"] = x * x
    made = _Pair(**class_options)
    weight = {}
    weight["k"] = x
    return made.weighed(x, **weight)


class _Pair:
    def __init__(self, u, v=1.0):
        self.u = u
        self.v = v

    def weighed(self, w, *, k=2.0):
        return self.u * w + self.v * k


@case()
def dict_ints(x):
    d = {}
    for i in range(20):
        d[i * 7 % 5] = d.get(i * 7 % 5, 0.0) + x * i
    s = 0.0
    n = 0
    for k, v in d.items():
        s = s * 1.1 + v * k
        n = n * 10 + k
    del d[3]
    d[3] = x
    for k in d:
        n = n * 10 + k
    return s + n + d.pop(0) + d.pop(77, x) + d.setdefault(9, x * x) + len(d)


@case()
def dict_big(x):
    d = {i: x * i for i in range(100)}
    for i in range(0, 100, 3):
        del d[i]
    for i in range(1000, 1050):
        d[i] = x
    s = 0.0
    for k, v in d.items():
        s += v * (k % 7)
    return s + len(d) + d[1] + d[1049]


@case()
def dict_tuple_keys(x):
    d = {}
    for i in range(4):
        for j in range(4):
            d[i, j] = x * (i + 2 * j)
    return d[1, 2] * d[3, 3] + len(d) + (d.get((9, 9)) is None)


@case()
def dict_memo(x):
    cache = {}
    def fib(n):
        if n in cache:
            return cache[n]
        r = x * n if n < 2 else fib(n - 1) + fib(n - 2)
        cache[n] = r
        return r
    return fib(15) + len(cache)


@case()
def dict_merge(x):
    a = {"p": x, "q": 2.0}
    b = {**a, "q": x * x, "r": 1.0}
    c = a | {"z": x}
    c.update(b)
    c.update(w=3.0)
    return sum(c.values()) + b["q"] + len(c) + (a == {"q": 2.0, "p": x}) + sum(sorted(b.values()))


@case()
def dict_fixed(x):
    d = {"a": x, "b": 2.0}
    return d["a"] * d["b"] + sum(d.values()) + len(d.keys())


@case()
def dict_groups(x):
    g = {}
    for i in range(6):
        g.setdefault(i % 3, []).append(x * i)
    s = 0.0
    for k in sorted(g, key=lambda k: -k):
        s = s * 2.0 + sum(g[k])
    while g:
        k, v = g.popitem()
        s += k * v[0]
    return s


@case()
def set_basic(x):
    s = {1, 2, 3}
    s.add(10)
    s.add(2)
    s.discard(77)
    s.remove(1)
    t = 0.0
    for k in s:
        t = t * 2.0 + k * x
    return t + len(s) + (3 in s) + (99 in s)


@case()
def set_order(x):
    s = set()
    for i in range(200):
        s.add(i * i * 37 % 1013)
    n = 0
    for k in s:
        n = (n * 31 + k) % 1000003
    for i in range(0, 100):
        s.discard(i * 3)
    for k in s:
        n = (n * 31 + k) % 1000003
    t = {k % 17 for k in s}
    for k in t:
        n = (n * 31 + k) % 1000003
    while len(t) > 3:
        n = (n * 31 + t.pop()) % 1000003
    return n * x


@case()
def set_operators(x):
    a = {i * 5 for i in range(9)}
    b = {i * 3 for i in range(20)}
    n = 0
    for s in (a | b, a & b, a ^ b, b - a):
        for k in s:
            n = (n * 31 + k) % 1000003
    a |= {100, 200}
    a &= set(range(0, 201, 10))
    a -= {10}
    for k in a:
        n = (n * 31 + k) % 1000003
    wanted = {0, 20, 30, 40, 100, 200}
    return n * x + (a <= b) + (a == wanted) + ({1} < {1, 2}) + a.issubset([*wanted, 7])


@case()
def set_tuples(x):
    seen = set()
    i, j = 0, 0
    n = 0
    while (i, j) not in seen:
        seen.add((i, j))
        i, j = (i * 3 + 1) % 7, (j + i) % 5
        n += 1
    m = 0
    for a, b in seen:
        m = (m * 31 + a * 5 + b) % 1000003
    return n * x + m


@case()
def set_frozen(x):
    f = frozenset([3, 1, 2])
    d = {f: x, frozenset((1,)): 2.0}
    g = f | {7}
    return sum(g) * x + len(d) + sum({float(k) for k in f}) + sum(sorted(f))


@case()
def counters(x):
    c = Counter([1, 2, 2, 3, 3, 3])
    d = defaultdict(float)
    for i in range(6):
        d[i % 2] += x * i
    e = defaultdict(list)
    for i in range(6):
        e[i % 3].append(x * i)
    k, n = c.most_common(1)[0]
    return d[0] * d[1] + k * n + sum(e[2]) + c[9]


@case()
def dict_strings(x):
    words = ["a", "bb", "a", "ccc", "bb", "a"]
    n = {}
    for w in words:
        n[w] = n.get(w, 0) + 1
    s = 0.0
    for w, c in n.items():
        s = s * 2.0 + len(w) * c * x
    return s + n["a"]


@case()
def dict_comprehensions(x):
    d = {k: x * k for k in range(4)}
    e = {v: k for k, v in d.items()}
    f = [(i, j) for i in range(3) for j in range(i)]
    s = {i % 3 for i in range(10)}
    g = sum(v * v for v in d.values() if v > 1.0)
    return g + len(e) + len(f) + len(s) + sum(a * b for a, b in f) + d[3]


@case()
def dict_of_dicts(x):
    d = {}
    for i in range(3):
        for j in range(3):
            d.setdefault(i, {})[j] = x * i * j
    s = 0.0
    for i, row in d.items():
        for j in row:
            s += row[j] * (i + j)
    return s + len(d) + sum(len(r) for r in d.values())


@case()
def dict_arrays(x):
    d = {}
    for i in range(3):
        d[i] = np.array([x, x * i])
    d[1] += d[2]
    d[2] = d[1] * 2.0
    e = dict(d)
    e[0][0] = 9.0
    return np.sum(d[1]) + d[2][1] + d[0][0] * x


@case()
def dict_edit(x):
    d = {"a": x, "b": 1.0, "c": 3.0}
    e = {k: v * 2 for k, v in d.items() if k != "b"}
    del d["b"]
    d["b"] = x * x
    s = 0.0
    for i, (k, v) in enumerate(d.items()):
        s += i * v
    for k in list(d):
        if d[k] > 2.0:
            del d[k]
    return s + e["c"] + len(d) + ("a" in d) + sum(sorted(d.values()))


@case()
def dict_run_key(x):
    d = {"up": x, "down": -2.0}
    s = 0.0
    for k in ["up", "down", "up"]:
        s = s * 0.5 + d[k]
    m = {True: 1.0, False: x}
    return s + m[x > 1.0] * m[x > 100.0]


@case()
def set_strings(x):
    s = {"a", "b"}
    s.add("c")
    t = s | {"d"}
    return x * len(t) + ("c" in s) + ("z" in t) + (s < t) + len(t - s) + len(s & {"a", "zz"})


@case()
def set_dedup(x):
    xs = [3, 1, 3, 2, 1]
    out = []
    seen = set()
    for v in xs:
        if v not in seen:
            seen.add(v)
            out.append(v)
    return x * sum(out) + out[1] + len(set(xs)) + sorted(set(xs))[0]


@dataclass
class Held:
    value: float


@dataclass
class Other:
    value: float


@case()
def dict_by_identity(x):
    a, b, c = Held(x), Held(x), Other(x)
    seen = {}
    for o in [a, b, a, c, c, a]:
        seen[id(o)] = seen.get(id(o), 0.0) + o.value
    s = 0.0
    for i, v in enumerate(seen.values()):
        s += v * v * (i + 1)
    one, two = [x], [x]
    same = one
    s += 100 * (id(a) == id(b)) + 10 * (id(one) == id(same)) + 1000 * (id(one) == id(two))
    return s + len({id(a), id(c), id(a)})


@case(0.7)
def dict_of_unlike_dicts_by_keys_of_the_run(x):
    graph = {"s": {"k": x, "l": 2.0}, "t": {"m": x * x}, "q": {}}
    waiting = ["s"]
    s = 0.0
    while waiting:
        u = waiting.pop()
        for v in graph[u].values():
            s += v
            if v == 2.0:
                waiting.append("t")
                waiting.append("q")
        for k in graph[u]:
            s += graph[u][k]
        for k in sorted(graph[u].keys()):
            s += graph[u].get(k, 0.0) + graph[u].get("m", x)
        s += sum(w for w in graph[u].values()) + len(graph[u])
        s += max([w for _, w in graph[u].items()], default=x)
        if "m" in graph[u]:
            s *= 2
    return s


@case(0.7)
def dict_shortest_paths(x):
    graph = {"s": {"p": x, "q": 2.0}, "p": {"t": 2.7, "q": 0.1}, "q": {"t": x * 0.9}, "t": {}}
    distance = {k: float("inf") for k in graph}
    distance["s"] = 0.0
    queue = [(0.0, "s")]
    while queue:
        d, u = heapq.heappop(queue)
        if d > distance[u]:
            continue
        for v, w in graph[u].items():
            if d + w < distance[v]:
                distance[v] = d + w
                heapq.heappush(queue, (d + w, v))
    return distance["t"] + 0.1 * sum(v for v in distance.values())


@case(0.7)
def dict_views_that_a_branch_chose(x):
    d = {"k": x, "l": 2.0} if x > 0.5 else {"m": x}
    items = iter(d.items()) if x > 0 else iter({}.items())
    s = 0.0
    for k, v in items:
        s += v * len(k)
    for k, v in zip({"a": x, "b": s}, [1.0, 2.0]) if s > x else zip({"u": x}, (3.0,)):
        s += v * len(k) * x
    return s

@case()
def dict_graph(x):
    edges = {0: [(1, x), (2, 4.0)], 1: [(2, x), (3, 5.0)], 2: [(3, 1.0)], 3: []}
    dist = {0: 0.0}
    todo = [0]
    while todo:
        u = todo.pop(0)
        for v, w in edges[u]:
            if v not in dist or dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
                todo.append(v)
    return dist[3] * dist[2]


@case()
def dict_nested(x):
    d = {"xs": [x, 2.0], "sub": {"k": [1.0]}}
    d["xs"].append(x * x)
    d["sub"]["k"].append(d["xs"][-1])
    d["sub"]["n"] = [3.0]
    return sum(d["xs"]) * d["sub"]["k"][1] + d["sub"]["n"][0]


@case()
def dict_views(x):
    d = {}
    for i in range(4):
        d[i] = x * i
    e = {2: 1.0, 7: x}
    n = len(d.keys()) + len(d.items())
    n += (3 in d.keys()) + (x * 2 in d.values()) + ((1, x) in d.items())
    both = d.keys() & e.keys()
    s = 0.0
    for k in reversed(d):
        s = s * 2.0 + d[k]
    for k, v in reversed(d.items()):
        s += k * v
    top = max(d, key=d.get)
    low = min(d.values())
    f = dict(zip([1, 2], [x, 2.0]))
    g = dict([(5, x), (6, 1.0)])
    first = sorted(d.items(), key=lambda p: -p[1])[0]
    return s + n + len(both) + top + low + f[1] * g[5] + first[1] + list(d.values())[1]


@case()
def dict_ordered(x):
    d = OrderedDict()
    for i in range(5):
        d[i] = x * i
    d.move_to_end(1)
    k, v = d.popitem(last=False)
    return v + list(d)[-1] * d[1] + len(d)


@case()
def counter_updates(x):
    c = Counter([1, 2, 2])
    c.update([2, 3])
    c[9] += 2
    return x * c[2] + c.total() + len(c) + c[9]


@case()
def dict_errors_caught(x):
    d = {1: x}
    s = 0.0
    for k in (1, 2, 3):
        try:
            s += d[k]
        except KeyError:
            s += 0.5 * x
            d[k] = s
    xs = [x]
    try:
        xs.append(5.0)
        s += xs[7]
    except IndexError as e:
        s += 2.0 * len(xs)
    return s + d[3] + len(d)


@fails
def key_text(x):
    d = {"a": x}
    d["b"] = 2.0
    return d["zz"]


@fails
def key_int(x):
    d = {1: x}
    d[2] = 3.0
    return d[7]


@fails
def key_tuple(x):
    d = {(1, 2): x}
    return d[3, 4]


@fails
def delete_missing(x):
    d = {1: x}
    del d[5]
    return x


@fails
def pop_missing(x):
    d = {1: x}
    return d.pop(5)


@fails
def set_remove_missing(x):
    s = {1, 2}
    s.remove(5)
    return x


@fails
def popitem_empty(x):
    d = {}
    d[1] = x
    d.popitem()
    return d.popitem()[1]


@fails
def set_pop_empty(x):
    s = {1}
    s.pop()
    return s.pop() * x


@fails
def dict_grows_in_loop(x):
    d = {1: x, 2: x}
    for k in d:
        d[k + 10] = x
    return x


@fails
def set_grows_in_loop(x):
    s = {1, 2}
    for k in s:
        s.add(k + 10)
    return x
