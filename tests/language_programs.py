"""Programs of one float in every construct of the language; each gives a float."""

import contextlib
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


# ------------------------------------------------------------------------------------------------------------ cells


@program
def counter(x):
    total = 0.0

    def add(k):
        nonlocal total
        total += k * x
        return total

    for i in range(4):
        add(i)
    return total * add(x)


@program
def late_binding(x):
    fs = []
    for i in range(3):
        fs.append(lambda y: i * y * x)
    return sum([f(x) for f in fs])


@program
def assigned_after_capture(x):
    get = lambda: y * y
    y = x
    first = get()
    y = x * first
    return first + get()


@program
def cell_changed_by_a_callee(x):
    state = x

    def twice(f):
        f()
        f()

    def step():
        nonlocal state
        state = state * x + 1.0

    twice(step)
    return state


@program
def cell_that_holds_an_array(x):
    a = np.array([x, 2.0 * x])

    def grow():
        nonlocal a
        a = a * a

    grow()
    return np.sum(a)


@program
def cell_in_recursion(x):
    deepest = 0.0

    def go(k, y):
        nonlocal deepest
        if k == 0:
            return y
        deepest = deepest + y
        return go(k - 1, y * x)

    return go(4, x) + deepest


@program
def cell_may_be_unset(x):
    def get():
        return y

    if x > 0.0:
        y = x * x
    return get() * x


@program
def mutually_recursive_with_state(x):
    calls = 0.0

    def even(k):
        nonlocal calls
        calls += x
        return 1.0 if k == 0 else odd(k - 1)

    def odd(k):
        nonlocal calls
        calls *= x
        return 0.0 if k == 0 else even(k - 1)

    return even(4) + calls


# -------------------------------------------------------------------------------------------------- comprehensions


@program
def comprehension(x):
    return sum([x * i * j for i in range(4) if i != 2 for j in range(i)])


@program
def comprehension_of_arrays(x):
    rows = [np.array([x, i * x]) for i in range(1, 4)]
    return sum([np.sum(r * r) for r in rows])


@program
def walrus_in_comprehension(x):
    last = 0.0
    values = [last := last * x + i for i in range(4)]
    return sum(values) * last


@program
def dict_comprehension(x):
    d = {k: x**k for k in range(1, 5)}
    return sum([k * v for k, v in d.items()])


@program
def nested_comprehension(x):
    return sum([sum([x * i for i in range(j)]) * j for j in range(4)])


@program
def closures_of_a_comprehension(x):
    return sum([f(x) for f in [lambda y: y * i for i in range(3)]])


# ------------------------------------------------------------------------------------------------------ modules


@program
def names_of_other_versions(x):
    power = np.float_power if hasattr(np, "not_a_name") else np.hypot
    unknown = np.not_a_name if hasattr(np, "not_a_name") else 2.0
    return power(x, x * x) * unknown + getattr(np, "not_a_name", np.sin)(x)


# -------------------------------------------------------------------------------------------------------- stars


def weighted(first, *rest, scale=1.0, **more):
    total = first
    for k, v in enumerate(rest):
        total += (k + 2) * v * scale
    return total + sum(more.values())


@program
def star_arguments(x):
    pair = (x, x * x)
    return weighted(*pair, 3.0, *pair, scale=x) + weighted(x, **{"scale": x, "bias": x})


@program
def star_targets(x):
    first, *rest, last = x, 2.0 * x, x * x, 3.0
    (a, *b), c = rest, last
    return first * a * c + sum(b)


@program
def star_displays(x):
    xs = [x, x * x]
    return sum([*xs, 1.0, *xs]) * sum((*xs, x))


# -------------------------------------------------------------------------------------------------- assignment


class Box:
    __match_args__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


@program
def attribute_targets(x):
    b = Box(x, 1.0)
    b.left += x * x
    b.right *= b.left
    c = b
    (c.left, b.right), *d = (b.right, x), x
    b.left *= d[0]
    return c.left * c.right


@program
def deleted_and_set_again(x):
    y = x
    z = y * x
    del y
    if z > 0.0:
        y = z * z
    else:
        y = x
    return y


@program
def while_walrus_else(x):
    y = x
    total = 0.0
    while (y := y * 0.5) > 0.1:
        total += y * y
        if total > 100.0:
            break
    else:
        total *= x
    return total + y


# -------------------------------------------------------------------------------------------------------- match


@dataclass
class Leaf:
    value: float


@dataclass
class Node:
    op: str
    left: "Leaf | Node"
    right: "Leaf | Node"


def evaluated(tree):
    match tree:
        case Leaf(v):
            return v
        case Node("+", a, b):
            return evaluated(a) + evaluated(b)
        case Node(op="*", left=a, right=b):
            return evaluated(a) * evaluated(b)
    raise ValueError("no tree")


@program
def match_trees(x):
    return evaluated(Node("+", Leaf(x), Node("*", Leaf(x), Node("*", Leaf(x), Leaf(2.0)))))


@program
def match_everything(x):
    total = 0.0
    for item in ((1, x), (2, x, x), "ab", None, [x, 3.0, x, 5.0], {"k": x, "z": 1.0}, 4, 2):
        match item:
            case (1, y):
                total += y
            case (2, y, z):
                total += y * z
            case [a, *middle, b]:
                total += a * b + sum(middle)
            case {"k": v, **rest}:
                total += v * v * v + len(rest)
            case str():
                total += 1.0
            case None:
                total += 2.0
            case int(n) if n > 3:
                total += n * x
            case 1 | 2:
                total *= x
    return total


@program
def match_objects(x):
    total = 0.0
    for b in [Box(x, 0), Box(2.0, 1), Box(x * x, 2)]:
        match b:
            case Box(y, 0):
                total += y
            case Box(left=y, right=k) if k > 1:
                total += y * k
                continue
            case _:
                total *= b.left
        total += 0.5 * x
    return total


class Colour(Enum):
    RED = 1
    GREEN = 2


@program
def match_enum(x):
    total = x
    for c in (Colour.RED, Colour.GREEN, Colour.RED):
        match c:
            case Colour.RED:
                total *= x
            case Colour.GREEN:
                total += x
    return total


# --------------------------------------------------------------------------------------------------- generators


def odd_multiples(n, x):
    for i in range(n):
        if i % 2:
            yield i * x
    return x


def in_order(tree):
    if tree is not None:
        left, value, right = tree
        yield from in_order(left)
        yield value
        yield from in_order(right)


@program
def generator_expression(x):
    return sum(x * i for i in range(5)) + sum(v * x for v in (1.0, x))


@program
def generator_with_break(x):
    total = 0.0
    for v in odd_multiples(8, x):
        if v > 4.0 * x:
            break
        total += v * v
    else:
        return 0.0
    return total


@program
def generator_return_from_loop(x):
    for v in odd_multiples(8, x):
        if v > 2.0 * x:
            return v * x
    return 0.0


@program
def recursive_generator(x):
    tree = ((None, x, None), x * x, (None, 2.0, None))
    return sum(k * v for k, v in enumerate(in_order(tree), 1))


@program
def delegation_and_its_value(x):
    def outer(n):
        r = yield from odd_multiples(n, x)
        yield r * 100.0
        yield from (x, 2.0)

    def signed(n):
        for v in outer(n):
            yield v
            yield -0.5 * v

    return sum(signed(5)) * x


@program
def generator_with_state(x):
    def squares():
        nonlocal x
        while x < 50.0:
            yield x
            x = x * x

    total = 0.0
    for v in squares():
        total += v
    return total + x


@program
def generators_in_builtins(x):
    listed = list(odd_multiples(6, x))
    listed.append(x)
    first, *rest = odd_multiples(7, x)
    return (
        sum(listed) + max(odd_multiples(6, x)) * min(v * x for v in odd_multiples(6, x)) + first * sum(rest)
        + next(odd_multiples(5, x)) + next((v for v in odd_multiples(6, x) if v > 100.0), x)
        + (x if any(v > 3.0 for v in odd_multiples(6, x)) else 0.0)
    )  # fmt: skip


@program
def zipped_generators(x):
    total = 0.0
    for a, b in zip(odd_multiples(6, x), [x, 2 * x, 3.0]):
        total += a * b
    for a, b, c in zip((x, 2.0), odd_multiples(6, x), range(5)):
        total += a * b * c
    return total


@program
def generator_over_generator(x):
    total = 0.0
    for v in (w for w in odd_multiples(7, x) if w > x):
        for u in odd_multiples(4, v):
            total += u * v
    return total


@program
def generator_with_finally(x):
    closed = 0.0

    def guarded(n):
        nonlocal closed
        try:
            for i in range(n):
                yield i * x
        finally:
            closed += x

    total = 0.0
    for v in guarded(5):
        if v > 2.5 * x:
            break
        total += v * v
    return total * closed


@program
def generator_in_array(x):
    total = 0.0
    for row in (np.array([x, i]) for i in (1.0, 2.0)):
        total += np.prod(row)
    return total


# --------------------------------------------------------------------------------------- exceptions and contexts


def failing(n, x):
    for i in range(n):
        if i == 3:
            raise KeyError("three")
        yield i * x


@program
def handler_sees_the_loop(x):
    total = 0.0
    try:
        for v in failing(5, x):
            total = total + v * v + 1.0
    except KeyError:
        return total * x
    return -1.0


@program
def consumer_raises(x):
    total = 0.0
    try:
        for v in odd_multiples(9, x):
            total += v
            if v > 2.0 * x:
                raise ValueError("far")
    except ValueError:
        total *= x
    return total


@program
def generator_raises_in_sum(x):
    try:
        return sum(x / (i - 2) for i in range(5))
    except ZeroDivisionError:
        return x * x


class Doubled:
    def __init__(self, box):
        self.box = box

    def __enter__(self):
        self.box.left *= 2.0
        return self.box

    def __exit__(self, kind, value, trace):
        self.box.left += 1.0
        return kind is ZeroDivisionError


@contextmanager
def scaled(box, k):
    old = box.left
    box.left = old * k
    try:
        yield box.left
    finally:
        box.left = old


@program
def context_of_a_class(x):
    b = Box(x, 0.0)
    with Doubled(b) as c, Doubled(c):
        y = c.left * x
    with Doubled(b):
        y = y * y
        y = y / (x - x)
    return y * b.left


@program
def context_of_a_generator(x):
    b = Box(x, 0.0)
    total = 0.0
    for i in range(5):
        with scaled(b, 2.0) as s:
            if i == 1:
                continue
            if i == 3:
                break
            total += b.left * i * s
        total += b.left
    return total


@program
def return_out_of_a_context(x):
    @contextlib.contextmanager
    def shifted(y):
        yield y + x

    with shifted(x) as a, shifted(a) as b:
        return a * b


@program
def exception_through_a_context(x):
    b = Box(x, 0.0)
    y = 1.0
    try:
        with scaled(b, 3.0) as s:
            y = s * s
            if y > 1.0:
                raise ValueError("large")
            y = 0.0
    except ValueError:
        return y * b.left
    return -1.0


@program
def library_contexts(x):
    y = x
    with contextlib.suppress(ZeroDivisionError), contextlib.nullcontext(x) as z:
        y = y * z
        y = 1.0 / (x - x)
    return y * x


# ----------------------------------------------------------------------------------- generators in their turn


def safe(divisors, x):
    for v in divisors:
        try:
            yield x / v
            yield 1.0 / (v - 2.0)
        except ZeroDivisionError:
            yield -x
        finally:
            x = x * 1.5
    return x


@program
def generator_catches_its_own(x):
    return sum(v * v for v in safe((1.0, 0.0, 2.0, 3.0), x))


@program
def generator_does_not_catch_its_consumer(x):
    total = 0.0
    try:
        for v in safe((1.0, 0.0, 2.0), x):
            total = total + v
            if v < 0.0:
                total = total / (x - x)
    except ZeroDivisionError:
        return total * x
    return -5.0


@program
def handlers_on_both_sides(x):
    log = 0.0

    def counted(n):
        nonlocal log
        try:
            for v in failing(n, x):
                yield v * v
        except KeyError:
            log += x
            yield 7.0 * x
        except ValueError:
            yield 1.0e6

    total = sum(counted(5))
    try:
        for v in counted(5):
            total += v
            if v > x:
                raise ValueError("far")
    except ValueError:
        total = total * x
    return total + log


@program
def endless_generators(x):
    def first(n, values):
        k = 0
        for v in values:
            yield v
            k += 1
            if k == n:
                return

    def multiples():
        k = 0.0
        while True:
            yield k
            k += x

    return sum(first(5, multiples())) * sum(first(3, (v * v for v in multiples())))


@program
def generators_that_wrap_themselves(x):
    def tower(n):
        if n > 0:
            yield n * x
            yield from tower(n - 1)
            for v in tower(n - 2):
                yield v * v

    return sum(tower(4))


class Tree:
    def __init__(self, value, children):
        self.value = value
        self.children = children

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child


@program
def iterated_objects(x):
    tree = Tree(x, [Tree(2.0 * x, []), Tree(x * x, [Tree(3.0, [])])])
    total = 0.0
    for i, v in enumerate(tree):
        total += i * v * v
    return total * sum(tree)


@program
def recursion_out_of_a_generator_loop(x):
    def power(n):
        for v in odd_multiples(4, n):
            if v > 1:
                return x * power(v - n - 1)
        return x

    return power(3) + power(2)


# ------------------------------------------------------------------------------------------- what a call spreads


@dataclass
class Point:
    a: float
    b: float
    c: float = 2.0


class Pair(NamedTuple):
    a: float
    b: float


class Kept:
    def __init__(self, first, *rest):
        self.first, self.rest = first, rest


@program
def dataclass_of_a_generator(x):
    point = Point(*(x * k for k in (1.0, 2.0, 3.0)))
    return point.a * point.b + point.c


@program
def objects_of_a_list_of_run_time_length(x):
    items = []
    for k in range(2):
        items.append(x * k + 1.0)
    pair, kept = Pair(*items), Kept(*items)
    return pair.a * pair.b + kept.first * sum(kept.rest) + Pair(*map(lambda v: v * v, items)).b


@program
def spread_that_does_not_fit(x):
    items = []
    for k in range(3):
        items.append(x * k + 1.0)
    total = Kept(*items).rest[1]
    for cut in range(4):
        try:
            total = total * x + Pair(*items[:cut]).b
        except TypeError:
            total += x
        try:
            total = total * x + Kept(*items[:cut]).first
        except TypeError:
            total += x * x
        try:
            total = total * x + Point(*(x,), *items[:cut]).c
        except TypeError:
            total += x**3
    return total


@program
def new_arrays_turned_in_place(x):
    w = np.arange(3.0) * x
    w[::-1] = w
    total = w[1] * 2.0 + np.sum(w * np.array([1.0, 2.0, 4.0]))
    v = w + 1.0
    v[1:] = v[:-1]
    v[:2] += v[1:]
    g = np.outer(w, v)
    g[:] = g.T
    return total + v[2] * v[0] + g[0, 1] * g[2, 0]


@program
def spread_after_all_that_fits(x):
    items = []
    for k in range(2):
        items.append(x * k)
    return Point(x, 2.0 * x, 3.0, *items[2:]).b * Pair(x, x * x, *items[2:]).b


# ----------------------------------------------------------------------------------------- arrays without axes


class Holder:
    def __init__(self, value):
        self.value = value


@program
def arrays_without_axes_in_lists(x):
    items = []
    for k in range(3):
        items.append(np.array(x * (k + 1)))
    for k in range(3):
        items[k] = items[k] * items[(k + 1) % 3]
    return float(items[0] * items[1] + items[2])


@program
def arrays_without_axes_in_dicts_and_objects(x):
    held = {"a": np.array(x * x)}
    held["b" if x > 0.0 else "a"] = np.array(3.0 * x)
    holder = Holder(np.array(x))
    other = holder
    other.value[...] = holder.value * held["a"]
    return float(held["a"] * held["b"] + holder.value * x)
