"""Nouns of containers: lists, dicts and sets that programs build, index and change."""

from __future__ import annotations

import math

import numpy as np

from nouns import noun


@noun("list literal", args=[(0.7,)])
def list_literals(x):
    values = [x, x * x, 2.0]
    nested = [[x], [], [1.0, x]]
    return values[0] * values[-1] + nested[2][1] * len(nested[1] + nested[0])


@noun("list comprehension", args=[(0.7, 4), (0.7, 0)])
def list_comprehensions(x, n):
    squares = [x * i * i for i in range(n)]
    table = [[a * j for j in range(i)] for i, a in enumerate(squares) if i % 2]
    return sum(squares) * x + sum(sum(row) for row in table) + len(table)


@noun("list append", args=[(0.7, 5), (0.7, 0)])
def list_append(x, n):
    values = []
    for i in range(n):
        values.append(x * i)
    total = x
    for value in values:
        total = total * 0.5 + value * value
    return total


@noun("list extend", args=[(0.7, 3)])
def list_extend(x, n):
    values = [x]
    for i in range(n):
        values.extend([x * i, 1.0])
        values += (values[-2], x)
    return sum(v * v for v in values)


@noun("list insert", args=[(0.7, 3)])
def list_insert(x, n):
    values = [1.0]
    for i in range(n):
        values.insert(0, x * i)
        values.insert(-1, x * x)
    return sum(v * (k + 1) for k, v in enumerate(values))


@noun("list pop", args=[(0.7, 4)])
def list_pop(x, n):
    stack = [x, 2.0 * x]
    total = 0.0
    for i in range(n):
        stack.append(stack[-1] * x + i)
    while len(stack) > 1:
        total = total * 0.5 + stack.pop()
    return total * stack.pop(0)


@noun("list remove", args=[(0.7, 2)])
def list_remove(x, k):
    numbers = [3, 1, 2, 1]
    numbers.remove(k)
    numbers.remove(1)
    values = [x, 2.0, x * x]
    values.remove(2.0)
    return sum(values) * numbers[0] + numbers[1] * x


@noun("list reverse", args=[(0.7, 4)])
def list_reverse(x, n):
    values = [x**i for i in range(n)]
    values.reverse()
    total = 0.0
    for i, v in enumerate(reversed(values)):
        total += v * values[i] * i
    return total


@noun("list sort", args=[(0.7, 3), (-1.3, 3)])
def list_sort(x, n):
    values = [x, x * x, 0.3, -x]
    values.sort()
    pairs = [(i % 2, x * i) for i in range(n)]
    pairs.sort(key=lambda pair: -pair[0])
    values.sort(key=lambda v: abs(v), reverse=True)
    return values[0] * values[1] + values[-1] + pairs[0][1] * pairs[-1][1]


@noun("list index", args=[(0.7, 2)])
def list_index(x, k):
    return [x, x * x, 3.0][[4, k, 1].index(k)] * ["a", "b"].index("b")


@noun("list count", args=[(0.7, 2)])
def list_count(x, k):
    return x ** [1, k, 2, 2].count(2) + [x, 1.0, x].count(x) * x


@noun("list slices", args=[(0.7, 2)])
def list_slices(x, k):
    values = [x * i for i in range(6)]
    copy = values[:]
    copy[0] = 5.0
    return sum(values[k:]) * sum(values[::2]) + sum(values[-3:-1]) + values[::-1][0] * copy[0] + values[0]


@noun("slice assignment", args=[(0.7, 2)])
def slice_assignment(x, k):
    values = [x * i for i in range(6)]
    values[1:3] = [x, x * x, 1.0]
    values[::3] = [2.0, x, 3.0]
    del values[:1]
    return sum(v * (i + 1) for i, v in enumerate(values)) * len(values)


@noun("list repetition", args=[(0.7, 3)])
def list_repetition(x, n):
    values = [x, 1.0] * n
    values[0] = x * x
    zeros = [0.0] * n
    zeros[n - 1] += x
    return sum(values) * len(values) + sum(zeros)


@noun("list concatenation", args=[(0.7, 3)])
def list_concatenation(x, n):
    values = [x * i for i in range(n)]
    both = values + [x] + values
    values.append(9.0)
    return sum(both) * len(both) * x


@noun("in a list", args=[(0.7, 3), (0.7, 9)])
def in_list(x, k):
    keys = [i * i for i in range(4)]
    return x * x if k in keys else (x if k not in keys + [3] else math.sin(x))


@noun("nested lists", args=[(0.7, 3)])
def nested_lists(x, n):
    grid = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            grid[i][j] = x * i + (grid[i - 1][j] * x if i > 0 else j)
    row = grid[1]
    row[0] = x * x
    grid.append(row)
    return sum(sum(r) for r in grid) * grid[-1][0]


@noun("lists of arrays", args=[(0.7, 3), (np.array([0.5, 2.0]), 2)])
def lists_of_arrays(x, n):
    arrays = [np.array([1.0, 2.0]) * x]
    for i in range(n):
        arrays.append(arrays[-1] * 0.5 + i)
    arrays[1][0] = 3.0
    return sum(np.sum(a * a) for a in arrays)


@noun("lists of tuples", args=[(0.7, 3)])
def lists_of_tuples(x, n):
    pairs = [(i, x * i) for i in range(n)]
    pairs.append((7, x * x))
    return sum(i * a for i, a in pairs) * pairs[-1][1]


@noun("lists of closures", args=[(0.7, 3)])
def lists_of_closures(x, n):
    steps = [lambda a: a * x]
    for i in range(n):
        steps.append(lambda a, k=i: a + k * x)
    y = x
    for step in steps:
        y = step(y)
    return y * steps[-1](1.0)


@noun("dict literal", args=[(0.7, 1), (0.7, 3)])
def dict_literals(x, k):
    table = {1: x, 3: x * x}
    names = {"a": x, "b": {"c": 2.0 * x}}
    return table[k] * names["b"]["c"] + len(table) * names["a"]


@noun("dict comprehension", args=[(0.7, 4)])
def dict_comprehensions(x, n):
    table = {i * i: x * i for i in range(n) if i != 2}
    return sum(k * v for k, v in table.items()) * table[1]


@noun("dict with string keys", args=[(0.7, "b")])
def string_keys(x, name):
    table = {"a": x}
    table["b"] = x * x
    table[name] += 1.0
    return table["a"] * table["b"] + (x if name in table else 0.0)


@noun("dict with integer keys", args=[(0.7, 5)])
def integer_keys(x, n):
    memo = {}
    memo[0] = x
    memo[1] = x * x
    for i in range(2, n):
        memo[i] = memo[i - 1] * 0.5 + memo[i - 2] * x
    return memo[n - 1]


@noun("dict run-time keys", args=[(0.7, 6)])
def run_time_keys(x, n):
    counts = {}
    for i in range(n):
        key = i * i % 5
        counts[key] = counts.get(key, 0.0) + x * i
    return sum(k * v * v for k, v in counts.items())


@noun("dict get", args=[(0.7, 1), (0.7, 4)])
def dict_get(x, k):
    table = {1: x * x, 2: 2.0}
    found = table.get(k)
    return table.get(k, x) * (3.0 if found is None else found)


@noun("dict setdefault", args=[(0.7, 4)])
def dict_setdefault(x, n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 2, []).append(x * i)
    return sum(groups[0]) * len(groups[1]) + sum(groups[1]) ** 2


@noun("dict pop", args=[(0.7, 2)])
def dict_pop(x, k):
    table = {1: x, 2: x * x, 3: 4.0}
    a = table.pop(k)
    b = table.pop(9, x)
    return a * b + len(table) * sum(table.values())


@noun("dict items", args=[(0.7, 3)])
def dict_items(x, n):
    table = {f"k{i}": x * i for i in range(n)}
    total = 0.0
    for i, (key, value) in enumerate(table.items()):
        total += value * (i + 1) * (2.0 if key == "k1" else 1.0)
    return total * x


@noun("dict keys", args=[(0.7, 3)])
def dict_keys(x, n):
    table = {i + 2: x for i in range(n)}
    return sum(k * x for k in table.keys()) + sum(x * x for k in table if k > 2) + (1.0 if 3 in table.keys() else 0.0)


@noun("dict values", args=[(0.7, 3)])
def dict_values(x, n):
    table = {i: x**i for i in range(n)}
    return sum(table.values()) * max(table.values()) * len(list(table.values()))


@noun("dict update", args=[(0.7, 3)])
def dict_update(x, n):
    table = {0: 1.0, 1: x}
    table.update({i: x * i * i for i in range(1, n)})
    table.update([(7, x)])
    both = table | {0: x}
    return sum(table.values()) * table[7] + both[0]


@noun("in a dict", args=[(0.7, 3), (0.7, 4)])
def in_dict(x, k):
    table = {i * 2: x for i in range(4)}
    return x * x if k in table else (x if k + 1 not in table else table[k + 1] * 3.0)


@noun("dict insertion order", args=[(0.7, 3)])
def insertion_order(x, n):
    table = {}
    for i in (5, 1, 3, 1):
        table[i] = x * i + len(table)
    del table[1]
    table[1] = x
    total = 0.0
    for key, value in table.items():
        total = total * x + value * key
    return total


@noun("set of ints", args=[(0.7, 6)])
def sets_of_ints(x, n):
    seen = set()
    total = 0.0
    for i in range(n):
        key = i * i % 4
        if key in seen:
            continue
        seen.add(key)
        total = total + x * key
    odd = {1, 3, 5} & {i for i in range(n)}
    odd.discard(5)
    return total * len(seen) + len(odd | seen) * x + sum(x for _ in odd - {1})


@noun("set of strings", args=[(0.7, "b"), (0.7, "z")])
def sets_of_strings(x, name):
    names = {"a", "b"}
    names.add("c")
    y = x * x if name in names else x
    return y * len(names | {"a", "d"})
