"""Programs whose tuples get longer with every trip or call, and comparisons with what is empty."""

from __future__ import annotations

import math


def joined(x, n):
    t = ()
    for k in range(n):
        t = t + (x * k,)
    total = 0.0
    for v in t:
        total = total * 0.5 + v * v
    return total + len(t) * x


def joined_in_place(x, n):
    t, k = (x,), 0
    while k < n:
        t += (t[-1] * 1.1, float(k))
        k += 1
    return sum(t) + t[-1] * t[0] + max(t)


def starred(x, n):
    t = (x,)
    for _ in range(n):
        t = (*t, t[-1] * x)
    first, *rest = t
    return first * sum(rest) + (1.0 if t == tuple(t) else 2.0) * t[n // 2]


def called(x, n):
    def follow(path, k):
        if k == 0:
            return sum(path) * path[0]
        return follow(path + (math.sin(path[-1]),), k - 1)

    return follow((x,), n)


def best_of(x, n):
    best = (0.0, ())
    for k in range(n):
        found = [(best[0] + x * j, best[1] + (j,)) for j in range(3)]
        found.sort(key=lambda c: c[0], reverse=k % 2 == 0)
        best = found[0]
    return best[0] * x + 0.1 * sum(best[1]) * x


def keys(x, n):
    paths = {(): x}
    for _ in range(n):
        paths = {p + (b,): v * (0.5 if b else x) for p, v in paths.items() for b in (0, 1)}
    return sum(paths.values()) + paths[(0,) * n]


def words(x, n):
    s = ("a",)
    for k in range(n):
        s = s + ("b" if k % 2 else "a",)
    return x * sum(1 for c in s if c == "a") + x**2 * len(s)


def walks(x, n):
    out = []

    def go(path, d):
        if d == 0:
            out.append(path)
            return
        for s in (-1.0, 1.0):
            go(path + (path[-1] + s * x,), d - 1)

    go((0.0,), n)
    return sum(p[-1] ** 2 for p in out) + len(out[0]) * x


def beams(x, n):
    moves = {("N", "V"): x, ("V", "N"): 0.35, ("N", "N"): -0.3, ("V", "V"): -1.0}
    scores = [{"N": 0.5, "V": x * 0.35}, {"N": -0.2, "V": 0.4}, {"N": 0.35, "V": 0.1}, {"N": 0.3, "V": x}]
    kept = [(0.0, ("N",)), (0.1, ("V",))]
    for k in range(n):
        found = []
        for score, path in kept:
            for tag in "NV":
                found.append((score + moves[path[-1], tag] + scores[k % 4][tag], path + (tag,)))
        found.sort(key=lambda c: c[0], reverse=True)
        kept = found[:3]
    best, path = kept[0]
    return best * x + 0.1 * sum(1 for t in path if t == "N") + sum(s for s, _ in kept)


GROWING = [
    joined, joined_in_place, starred, called, best_of, keys, words, walks, beams,
]  # fmt: skip


def made(x, n):
    return [x * k for k in range(n)]


def tuples_and_nothing(x, n):
    t = tuple(made(x, n))
    return t == (), () == t, t != (), t < (), () < t, () <= t, () in [t], t in [()], hash(t) == hash(())


def lists_and_nothing(x, n):
    a = made(x, n)
    a.append(x)
    a.pop()
    return a == [], [] == a, a != [], a < [x], a > [], [] <= a, [] >= a, a <= [], a in [[], [x]], [] in [a]


def keys_and_nothing(x, n):
    t, d = tuple(made(x, n)), {}
    d[t], d[()], d[(0.0,)] = x, 2 * x, 3 * x
    return len(d), d[()], d.get(t), d.get((0.0,), 7.0), () in d, {t, ()} == {()}


COMPARED = [
    tuples_and_nothing, lists_and_nothing, keys_and_nothing,
]  # fmt: skip


def dict_of_trip(x, n):
    """Lists and dicts that are written one by one are of one kind, so which it is may be known at run time alone."""
    rates, shapes = [{"a": x, "b": 1.0}, {"a": 2.0 * x, "b": x}], [[x, 1.0], [2.0, x]]
    total = 0.0
    for k in range(n):
        total += rates[k % 2]["a"] * rates[(k + 1) % 2]["b"] + shapes[k % 2][k % 2]
    return total


GROWING.append(dict_of_trip)


def returned(x, n):
    found, deep, texts = (), x, ()
    for k in range(n):
        found, deep, texts = found + (x * k,), (deep, x), texts + (str(k),)
    return found, deep, texts


def cell_that_grows(x, n):
    kept = ()

    def keep():
        nonlocal kept
        kept = kept + (x,)

    for _ in range(n):
        keep()
    return kept[-1] if kept else kept, len(kept)


RETURNED = [
    (returned, (2.0, 3)), (returned, (2.0, 0)), (cell_that_grows, (2.0, 9)), (cell_that_grows, (2.0, 0)),
]  # fmt: skip


def caught(x, n):
    """Exceptions beside tuples of closures that grow; the closures see the last tuple."""
    t, functions = (), ()
    for k in range(n):
        try:
            t = t + (x * k,)
            if t[-1] > 1.0:
                raise ValueError(k)
            functions = (*functions, lambda z, k=k: z * t[k])
        except ValueError:
            t = t[:-1] + (x * x,)
    return sum(f(x) for f in functions) + sum(t) + x


GROWING.append(caught)


def product_of_polynomials(x, n):
    """Coefficients as tuples, of a length that is known at first and not later."""

    def product(p, q):
        r = (0.0,) * (len(p) + len(q) - 1)
        for i, a in enumerate(p):
            for j, b in enumerate(q):
                r = r[: i + j] + (r[i + j] + a * b,) + r[i + j + 1 :]
        return r

    p = (1.0,)
    for k in range(n):
        p = product(p, (x, 0.5 * k))
    return sum(c * 0.5**i for i, c in enumerate(p))


GROWING.append(product_of_polynomials)


def one_of_several_sequences(x, n):
    """A loop over a value that is one of several kinds of sequences, in zip, enumerate and reversed."""
    values = [x, 2.0 * x]
    for k in range(n % 5):
        values.append(x * k)
    total = 0.0
    for k in range(4):
        held = (1.0, x) if k == 0 else values if k == 1 else (x,) * (n % 3 + 1) if k == 2 else range(n % 4)
        for i, v in enumerate(held):
            total += v * (i + 1) * x
        for v, w in zip(held, [x, x * x, 2.0], strict=False):
            total = total * 0.9 + v * w
        for v in reversed(held):
            total = total * 0.9 + v * x
    return total


GROWING.append(one_of_several_sequences)


def longer_while_it_runs(x, n):
    held = [x] if n > 1 else (x, x)
    total = 0.0
    for i, v in enumerate(held):
        total += v * (i + 1)
        if isinstance(held, list) and len(held) < n:
            held.append(v * x)
    return total


GROWING.append(longer_while_it_runs)
