"""Objects, lists and trees given by Python: what compiled code sees, changes, returns, and its derivatives by them.

Every program runs in CPython on a copy of its arguments; results and arguments are compared as graphs, so that identity
and aliasing count.
"""

import copy
import decimal
import gc
import math
import random
import re
import sys
import threading
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import pullback as pb
from pullback import api


class Tree:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right


class Slim:
    __slots__ = ("next", "value")

    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@dataclass
class Params:
    w: np.ndarray
    b: float
    n: int = 3


@dataclass(frozen=True)
class Point:
    x: float
    y: float


@dataclass
class Net:
    layers: list = field(default_factory=list)
    scale: float = 1.0


class Pair(NamedTuple):
    first: float
    second: float


# ------------------------------------------------------------------------------------------------------- comparing


def canonical(value):
    """A value as nested tuples; lists and objects are numbered as they are met, so that aliases show."""
    numbers = {}

    def seen(item, content):
        if id(item) in numbers:
            return ("again", numbers[id(item)])
        numbers[id(item)] = len(numbers)
        return content()

    def form(item):
        if isinstance(item, tuple):
            return (type(item).__name__, *map(form, item))
        if isinstance(item, list):
            return seen(item, lambda: ("list", *map(form, item)))
        if isinstance(item, dict):
            return seen(item, lambda: ("dict", *((form(key), form(value)) for key, value in item.items())))
        if isinstance(item, np.ndarray):
            return seen(item, lambda: ("array", str(item.dtype), item.tolist()))
        if type(item).__module__ == __name__:
            names = getattr(type(item), "__slots__", None) or vars(item)
            return seen(item, lambda: (type(item).__name__, *((name, form(getattr(item, name))) for name in names)))
        return (type(item).__name__, item)

    return form(value)


def outcome(function, arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def agree(function, *arguments, times=2):
    """CPython and compiled code leave results and arguments alike, also when called again."""
    compiled = pb.jit(function)
    plain, given = copy.deepcopy(arguments), copy.deepcopy(arguments)
    for _ in range(times):
        expected = outcome(function, plain)
        found = outcome(compiled, given)
        assert canonical((found, given)) == canonical((expected, plain))


def tree(depth, start=1.0):
    if not depth:
        return Tree(start)
    return Tree(start, tree(depth - 1, start * 0.5), tree(depth - 1, start + 0.25) if depth != 2 else None)


def chain(count):
    head = None
    for k in range(count):
        head = Slim(0.5 + k, head)
    return head


# ----------------------------------------------------------------------------------------------------------- values


def total(t):
    return 0.0 if t is None else t.value + total(t.left) - total(t.right)


def length(h):
    count = 0
    while h is not None:
        count, h = count + 1, h.next
    return count


def grow(t):
    if t.left is None:
        t.left = Tree(t.value * 2.0)
    else:
        grow(t.left)
    return t.left


def swap_sides(t):
    if t is not None:
        t.left, t.right = t.right, t.left
        swap_sides(t.left)
        swap_sides(t.right)


def reverse(h):
    before = None
    while h is not None:
        h.next, before, h = before, h, h.next
    return before


def share(a, b):
    a.left = b
    b.value += 1.0
    return a, b, a.left.value


def double_all(xs):
    for k in range(len(xs)):
        xs[k] = xs[k] * 2.0
    return xs


def append_pop(xs):
    xs.append(xs[0] + 1.0)
    last = xs.pop(1)
    return last, len(xs)


def crossed(m):
    m[0].append(m[1][0])
    m[1] = m[0]
    return m


def new_pair(p):
    return Point(p.y, p.x), [p, Point(p.x, p.x)]


def of_array(p):
    p.w[0] = p.b
    p.b = p.b + np.sum(p.w)
    p.w = p.w * 2.0
    return p.w


def cycle(t):
    t.left.left = t
    t.value += 1.0
    return t.left.left.left.value


def optional(t):
    return t.left if t.value > 2.0 else None


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (total, (tree(4),)),
        (length, (chain(7),)),
        (grow, (Tree(1.0),)),
        (swap_sides, (tree(3),)),
        (reverse, (chain(5),)),
        (share, (Tree(1.0), Tree(2.0))),
        (double_all, ([1.0, 2.0, 3.0],)),
        (append_pop, ([1.0, 2.0, 3.0],)),
        (crossed, ([[1.0], [2.0]],)),
        (new_pair, (Point(1.0, 2.0),)),
        (of_array, (Params(np.arange(3.0), 2.0),)),
        (cycle, (Tree(1.0, Tree(2.0)),)),
        (optional, (Tree(1.0, Tree(2.0)),)),
        (optional, (Tree(3.0, Tree(2.0)),)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_results_and_arguments_are_as_in_cpython(function, arguments):
    agree(function, *arguments)


def test_aliases_among_arguments():
    t = Tree(1.0, Tree(5.0))
    agree(share, t, t)
    agree(share, t, t.left)
    xs = [1.0, 2.0]

    def both(a, b):
        a.append(b[0])
        b[0] = 7.0
        return len(b), a[0]

    agree(both, xs, xs)
    compiled = pb.jit(both)
    compiled([1.0], [2.0])
    same = [1.0]
    assert compiled(same, same) == (2, 7.0)
    assert same == [7.0, 1.0]


def test_objects_that_hold_themselves():
    knot = Tree(1.0)
    knot.left = knot
    agree(lambda t: (t.left.left.value, t.left), knot)
    loop = [1.0]
    loop.append(loop)
    assert pb.jit(lambda xs: xs[1] is xs)(loop)


def test_identity_of_results():
    t = tree(3)
    assert pb.jit(lambda t: t.left)(t) is t.left
    assert pb.jit(lambda t: [t, t.right])(t)[1] is t.right
    xs, d = [1.0, 2.0], {"a": 1.0}
    assert pb.jit(lambda xs, d: (xs, [d], xs))(xs, d)[0] is xs
    assert pb.jit(lambda xs, d: (xs, [d], xs))(xs, d)[1][0] is d
    assert pb.grad(lambda xs: xs[0] * xs[1])(xs) == [2.0, 1.0]
    one, two = pb.jit(lambda x: (Point(x, x),) * 2)(1.0)
    assert one is two
    assert type(one) is Point


def test_what_was_done_before_an_exception_stays():
    def fails(t, xs):
        t.value = 7.0
        xs.append(1.0)
        t.left = Tree(3.0)
        return 1 // len(xs[:0])

    t, xs = Tree(1.0), [2.0]
    with pytest.raises(ZeroDivisionError):
        pb.jit(fails)(t, xs)
    assert (t.value, t.left.value, xs) == (7.0, 3.0, [2.0, 1.0])


def test_one_compilation_for_all_shapes():
    compiled = pb.jit(total)
    compiled(tree(2))
    before = api.compilations()
    for depth in range(6):
        assert compiled(tree(depth)) == pytest.approx(total(tree(depth)))
    assert api.compilations() == before


def test_other_content_of_fields_compiles_once_more():
    compiled = pb.jit(lambda p: p.x * 2)
    assert compiled(Point(1.5, 0.0)) == 3.0
    found = compiled(Point(2, 0.0))
    assert found == 4
    assert type(found) is int
    assert compiled(Point(2.5, 0.0)) == 5.0
    assert len(compiled.specializations) == 2


def test_long_chains_and_lists_need_no_stack():
    head = chain(50_000)
    compiled = pb.jit(lambda h: length(h))
    assert compiled(head) == 50_000
    assert pb.jit(lambda xs: sum(xs))([0.5] * 20_000) == 10_000.0
    made = pb.jit(chain)(30_000)
    assert length(made) == 30_000
    for h in (head, made):
        while h is not None:  # CPython frees long chains by recursion
            h.next, h = None, h.next


GLOBAL = Tree(1.0, Tree(2.0))
NUMBERS = [1.0, 2.0]


def test_objects_in_globals_and_cells():
    def reads(x):
        GLOBAL.value += x
        NUMBERS.append(x)
        return GLOBAL.left.value * x + len(NUMBERS)

    compiled = pb.jit(reads)
    first, before = GLOBAL.value, len(NUMBERS)
    assert compiled(2.0) == 4.0 + before + 1
    assert GLOBAL.value == first + 2.0
    assert len(NUMBERS) == before + 1
    held = Tree(3.0)

    def captured(x):
        held.value = held.value * x
        return held

    assert pb.jit(captured)(2.0) is held
    assert held.value == 6.0


def test_strings_enums_and_constants_in_fields():
    class Named:
        def __init__(self, name, flag):
            self.name = name
            self.flag = flag

    def score(n):
        return (2.0 if n.name == "long" else 1.0) + (0.5 if n.flag else 0.0)

    compiled = pb.jit(score)
    for name, flag in (("long", True), ("short", False), ("other", None)):
        assert compiled(Named(name, flag)) == score(Named(name, flag))


class Cached:
    def __init__(self, x):
        self.x = x


def cached(c):
    if not hasattr(c, "y"):
        c.y = c.x * 2.0
    return c.y


def forgets(c):
    del c.x
    return 1.0


def test_fields_that_are_not_always_set():
    agree(cached, Cached(3.0), times=3)
    agree(forgets, Cached(3.0), times=1)
    compiled, other = pb.jit(cached), Cached(1.0)
    other.y = 7.0
    assert [compiled(Cached(2.0)), compiled(other), compiled(Cached(5.0))] == [4.0, 7.0, 10.0]
    bare = Slim.__new__(Slim)
    bare.value = 1.0
    assert not pb.jit(lambda s: hasattr(s, "next"))(bare)


@pytest.mark.parametrize("other", [re.compile("a"), random.Random(1), threading.Lock(), decimal.Decimal(1), b"a"])
def test_fields_of_other_kinds_matter_where_they_are_read(other):
    class Model:
        def __init__(self):
            self.x = 2.0
            self.words = {"a"}
            self.other = other

    m = Model()
    assert pb.jit(lambda m: m.x * 2.0)(m) == 4.0
    assert pb.grad(lambda m: m.x**2)(m).x == 4.0
    with pytest.raises(pb.CompileError, match="the field 'other' cannot be used"):
        pb.jit(lambda m: m.other)(m)


# ------------------------------------------------------------------------------------------------------------ dicts


def tally(counts, keys):
    for key in keys:
        if key in counts:
            counts[key] += 1
        else:
            counts[key] = 1
    return len(counts)


def move(d):
    d["c"] = d.pop("a") + 1.0
    return d["c"]


def inverted(d):
    return {value: key for key, value in d.items()}


def stored(d):
    d["list"] = [d["x"], 2.0]
    d["same"] = d["list"]
    return d


def unique(xs):
    return set(xs), frozenset(xs)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (tally, ({"a": 1}, ("a", "b", "c"))),
        (tally, ({3: 2}, [1, 3, 3])),
        (tally, ({(1, 2): 1}, [(1, 2), (3, 4)])),
        (move, ({"a": 1.0, "b": 2.0},)),
        (inverted, ({1: 2.0, 3: 4.0},)),
        (stored, ({"x": 1.0},)),
        (unique, ([3, 1, 3, 2],)),
    ],
    ids=["strings", "ints", "tuples", "pop", "new", "aliases", "sets"],
)
def test_dicts_and_sets(function, arguments):
    agree(function, *arguments)


def test_many_keys_and_dicts_in_fields():
    big = {k: float(k) for k in range(3000)}
    assert pb.jit(lambda d, keys: sum(d[k] for k in keys))(big, list(range(0, 3000, 3))) == sum(range(0, 3000, 3))

    class Model:
        def __init__(self):
            self.p = {"w": 2.0, "b": np.ones(2)}

    def loss(m):
        return m.p["w"] ** 2 * np.sum(m.p["b"])

    gradient = pb.grad(loss)(Model())
    assert gradient.p["w"] == 8.0
    assert gradient.p["b"].tolist() == [4.0, 4.0]

    def grows(m, x):
        m.p["z"] = x
        return m.p["w"] * x

    class Plain:
        def __init__(self):
            self.p = {"w": 2.0}

    m = Plain()
    assert pb.jit(grows)(m, 3.0) == 6.0
    assert m.p == {"w": 2.0, "z": 3.0}
    gradient = pb.grad(grows)(Plain(), 3.0)
    assert gradient.p == {"w": 3.0}


# ------------------------------------------------------------------------------------------------------ derivatives


def polynomial(t):
    return 1.0 if t is None else t.value * polynomial(t.left) + polynomial(t.right) * t.value**2


def weighted(p, x):
    return np.sum(np.tanh(p.w * x)) * p.b**2


def network(net, x):
    h = x
    for w in net.layers:
        h = np.tanh(w @ h) * net.scale
    return np.sum(h)


def squares(xs):
    s = 0.0
    for x in xs:
        s += x * x * x
    return s


def numbers_of(value):
    """The places of floats in a graph: (get, set) pairs."""
    found, seen = [], set()

    def visit(item):
        if isinstance(item, (list, dict, np.ndarray)) or type(item).__module__ == __name__:
            if id(item) in seen:
                return
            seen.add(id(item))
        if isinstance(item, np.ndarray):
            found.extend((item, index) for index in np.ndindex(item.shape))
        elif isinstance(item, (list, dict)):
            for k, inner in enumerate(item) if isinstance(item, list) else item.items():
                found.append((item, k)) if isinstance(inner, float) else visit(inner)
        elif type(item).__module__ == __name__:
            for name in getattr(type(item), "__slots__", None) or vars(item):
                inner = getattr(item, name)
                found.append((item, name)) if isinstance(inner, float) else visit(inner)

    visit(value)
    return found


def fetch(place):
    holder, name = place
    return getattr(holder, name) if isinstance(name, str) else holder[name]


def put(place, number):
    holder, name = place
    object.__setattr__(holder, name, number) if isinstance(name, str) else holder.__setitem__(name, number)


def slopes(function, argument, *rest):
    """Central differences by every float of the argument."""
    found = []
    for k in range(len(numbers_of(argument))):
        pair = []
        for step in (1e-5, -1e-5):
            moved = copy.deepcopy(argument)
            place = numbers_of(moved)[k]
            put(place, float(fetch(place)) + step)
            pair.append(function(moved, *rest))
        found.append((pair[0] - pair[1]) / 2e-5)
    return found


CASES = [
    (polynomial, tree(3), ()),
    (weighted, Params(np.linspace(0.1, 0.5, 3), 1.5), (np.arange(3.0),)),
    (network, Net([np.eye(2) * 0.5, np.array([[0.3, -0.2], [0.1, 0.4]])], 1.3), (np.array([0.4, -0.7]),)),
    (squares, [0.5 + 0.1 * k for k in range(20)], ()),
    (lambda d: sum(x**3 for x in d.values()) * d[7], {k: 0.5 + 0.1 * k for k in range(5, 15)}, ()),
    (lambda h: h.value * h.next.value**2 + h.next.next.value, chain(3), ()),
]
NAMES = ["tree", "params", "network", "list", "dict", "chain"]


@pytest.mark.parametrize(("function", "argument", "rest"), CASES, ids=NAMES)
def test_gradients_have_the_structure_of_the_argument(function, argument, rest):
    value, gradient = pb.value_and_grad(function)(argument, *rest)
    assert value == pytest.approx(function(argument, *rest))
    assert type(gradient) is type(argument)
    found = [float(fetch(place)) for place in numbers_of(gradient)]
    assert found == pytest.approx(slopes(function, argument, *rest), rel=1e-6, abs=1e-8)
    assert canonical(argument) == canonical(copy.deepcopy(argument))


@pytest.mark.parametrize(("function", "argument", "rest"), CASES, ids=NAMES)
def test_forward_pullback_and_second_order_agree(function, argument, rest):
    tangent = copy.deepcopy(argument)
    for k, place in enumerate(numbers_of(tangent)):
        put(place, math.sin(k + 1.0))
    directions = [math.sin(k + 1.0) for k in range(len(numbers_of(argument)))]
    gradient = [float(fetch(place)) for place in numbers_of(pb.grad(function)(argument, *rest))]
    zeros = [np.zeros_like(x) for x in rest]
    value, slope = pb.jvp(function, (argument, *rest), (tangent, *zeros))
    assert value == pytest.approx(function(argument, *rest))
    assert slope == pytest.approx(np.dot(gradient, directions))
    again, pull = pb.vjp(function, argument, *rest)
    assert again == pytest.approx(value)
    for factor in (2.0, -1.0):
        pulled = pull(factor)[0]
        assert [float(fetch(p)) for p in numbers_of(pulled)] == pytest.approx([factor * g for g in gradient])
    curved = pb.hvp(function, (argument, *rest), (tangent, *zeros))
    curved = curved[0] if rest else curved
    expected = []
    for sign in (1e-5, -1e-5):
        moved = copy.deepcopy(argument)
        for place, direction in zip(numbers_of(moved), directions, strict=True):
            put(place, float(fetch(place)) + sign * direction)
        expected.append([float(fetch(p)) for p in numbers_of(pb.grad(function)(moved, *rest))])
    difference = [(a - b) / 2e-5 for a, b in zip(*expected, strict=True)]
    assert [float(fetch(p)) for p in numbers_of(curved)] == pytest.approx(difference, rel=1e-5, abs=1e-6)


def test_reverse_over_reverse():
    def inner(t):
        g = pb.grad(polynomial)(t)
        return g.value + 2.0 * g.left.value

    t = tree(2)
    found = [fetch(place) for place in numbers_of(pb.grad(inner)(t))]
    assert found == pytest.approx(slopes(inner, t), rel=1e-6, abs=1e-8)


def test_a_node_reached_twice_is_one_node_of_the_gradient():
    shared = Tree(2.0)
    gradient = pb.grad(polynomial)(Tree(3.0, shared, shared))
    assert gradient.left is gradient.right
    # 3 * (v + v^2) + 9 * (v + v^2), by v at 2
    assert gradient.left.value == pytest.approx(12.0 * 5.0)


def test_gradients_are_of_the_state_at_entry():
    def changes(t):
        t.value = t.value * t.value
        t.left = Tree(t.value)
        return t.value * t.left.value

    t = Tree(1.5, Tree(9.0))
    gradient = pb.grad(changes)(t)
    assert gradient.value == pytest.approx(4 * 1.5**3)
    assert gradient.left.value == 0.0
    assert t.value == 2.25
    assert t.left.value == 2.25

    def pops(xs):
        last = xs.pop()
        xs.append(last * xs[0])
        return xs[-1] * last

    xs = [2.0, 3.0]
    assert pb.grad(pops)(xs) == [9.0, 12.0]
    assert xs == [2.0, 6.0]


def test_ints_bools_and_what_is_no_number_in_gradients():
    class Mixed:
        def __init__(self):
            self.x = 2.0
            self.n = 3
            self.flag = True
            self.name = "m"
            self.child = None

    gradient = pb.grad(lambda m: m.x**m.n)(Mixed())
    assert (gradient.x, gradient.n, gradient.flag, gradient.name, gradient.child) == (12.0, 0, False, "m", None)


def test_float32_fields():
    p = Params(np.ones(3, np.float32), 2.0)
    gradient = pb.grad(lambda p: np.sum(p.w) * p.b)(p)
    assert gradient.w.dtype == np.float32
    assert gradient.w.tolist() == [2.0] * 3
    assert gradient.b == 3.0


def test_objects_as_results_of_forward_mode_and_pullbacks():
    def squared(t):
        return None if t is None else Tree(t.value * t.value, squared(t.left), squared(t.right))

    t = tree(2)
    one = copy.deepcopy(t)
    for place in numbers_of(one):
        put(place, 1.0)
    value, tangent = pb.jvp(squared, (t,), (one,))
    assert canonical(value) == canonical(squared(t))
    assert [fetch(p) for p in numbers_of(tangent)] == pytest.approx([2.0 * fetch(p) for p in numbers_of(t)])
    _, pull = pb.vjp(squared, t)
    (back,) = pull(one)
    assert [fetch(p) for p in numbers_of(back)] == pytest.approx([2.0 * fetch(p) for p in numbers_of(t)])


def test_a_loop_of_gradients_inside_compiled_code():
    def descend(p, x):
        for _ in range(5):
            g = pb.grad(weighted)(p, x)
            p.w = p.w - 0.1 * g.w
            p.b -= 0.1 * g.b
        return p.b

    p, x = Params(np.linspace(0.1, 0.5, 3), 1.5), np.arange(3.0)
    q = copy.deepcopy(p)
    found = pb.jit(descend)(p, x)
    assert found == pytest.approx(descend(q, x))
    assert p.w == pytest.approx(q.w)


# ----------------------------------------------------------------------------------------------------------- errors


def test_what_cannot_be_differentiated_is_refused():
    class Count:
        def __init__(self):
            self.n = 3

    with pytest.raises(TypeError, match="no float"):
        pb.grad(lambda c: c.n * 1.0)(Count())
    with pytest.raises(TypeError, match="tangent"):
        pb.jvp(polynomial, (tree(1),), (Point(1.0, 2.0),))


def test_tangents_of_another_structure_are_refused():
    compiled = (polynomial, (tree(2),), (tree(1),))
    with pytest.raises(ValueError, match="structure"):
        pb.jvp(*compiled)


# ------------------------------------------------------------------------------------------------------------ leaks


def test_nothing_leaks():
    t, xs = tree(3), [1.0, 2.0]
    compiled, gradient = pb.jit(swap_sides), pb.grad(polynomial)

    def fails(t, xs):
        t.left = Tree(1.0)
        return xs[len(xs) + 3]

    failing = pb.jit(fails)

    def calls(times):
        for _ in range(times):
            compiled(t)
            gradient(t)
            try:
                failing(Tree(1.0), xs)
            except IndexError:
                continue

    def counts():
        gc.collect()
        return sys.getrefcount(t), sys.getrefcount(t.left), sys.getrefcount(None), len(gc.get_objects())

    calls(10)
    before, native = counts(), pb.stats().live_bytes
    calls(1000)
    assert all(abs(a - b) < 200 for a, b in zip(counts(), before, strict=True))
    assert pb.stats().live_bytes == native
