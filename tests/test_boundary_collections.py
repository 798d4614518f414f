"""Sets and the containers of `collections` as arguments and results: of their kind, with identity, written back."""

import copy
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field

import pytest

import pullback as pb

COLOURS = {"red", "green"}
SMALL = frozenset({1, 2, 3, 200})


@dataclass
class Graph:
    edges: dict = field(default_factory=lambda: defaultdict(list))
    seen: set = field(default_factory=set)
    queue: deque = field(default_factory=deque)


def grow(s, x):
    s.add(7)
    s.discard(3)
    return len(s), 7 in s, sum(s), x


def order(s):
    found = []
    for k in s:
        found.append(k)
    return found


def texts(s):
    s.add("new")
    return "red" in s, "blue" in s, len(s)


def only_look(s):
    return 2 in s, "x" in COLOURS, "red" in COLOURS, 200 in SMALL, len(SMALL)


def push(d, x):
    d.append(x)
    d.popleft()
    d.appendleft(2.0 * x)
    return sum(d), len(d)


def window(d, x):
    total = 0.0
    for k in range(5):
        d.append(x * k)
        total += sum(d)
    return total


def tally(c, words):
    for w in words:
        c[w] += 1
    return c["a"], len(c)


def group(d, x):
    d["b"].append(x)
    d["c"].append(2.0 * x)
    return sum([sum(v) for v in d.values()])


def ordered(d, x):
    d["z"] = x
    d["a"] = d.pop("a") + 1.0
    return list(d.keys()), sum(d.values())


def touch(d, x):
    d["b"] = x
    return d["b"]


def frozen(f):
    return sum(f), 3 in f


def itself(s):
    return s


def mixed(s):
    s.discard(5)
    s.add(6)
    s.add("blue")
    return "red" in s, 1 in s, 6 in s, "green" in s, len(s)


def walk(g, start):
    g.queue.append(start)
    total = 0.0
    while g.queue:
        k = g.queue.popleft()
        if k not in g.seen:
            g.seen.add(k)
            total += 1.5 * k
            for n in g.edges[k]:
                g.queue.append(n)
    return total


def graph():
    edges = defaultdict(list)
    edges[1] += [2, 3]
    edges[3] += [4, 1]
    return Graph(edges, {9}, deque())


moved = OrderedDict([("a", 1.0), ("b", 2.0), ("c", 3.0)])
moved.move_to_end("b")
big = set(range(0, 4000, 7))
for k in range(0, 4000, 21):
    big.discard(k)

CASES = [
    (grow, {1, 3, 5}, 0.5), (grow, {3}, 0.5), (order, big), (order, {10, 3, 7}), (texts, {"red", "green"}),
    (only_look, {1, 2}), (push, deque([1.0, 2.0, 3.0]), 0.5), (push, deque([1.0]), 0.5),
    (window, deque([1.0], maxlen=3), 0.5), (window, deque(maxlen=2), 0.5), (tally, Counter("abca"), ["a", "z", "a"]),
    (tally, Counter(), ["a", "z"]), (group, defaultdict(list, {"a": [1.0], "b": [2.0]}), 0.5),
    (ordered, copy.copy(moved), 4.0), (touch, OrderedDict(moved), 4.0), (touch, OrderedDict(a=1.0, b=2.0), 2.0),
    (frozen, frozenset({3, 4})), (texts, {f"word {k}" for k in range(50)}), (mixed, {1, "red", 5}),
    (mixed, {"red"}), (mixed, {3, 4}), (walk, graph(), 1),
]  # fmt: skip


def facts(value):
    """What must be equal, with kinds and orders."""
    match value:
        case Graph(edges, seen, queue):
            return [facts(edges), facts(seen), facts(queue)]
        case dict():
            more = value.default_factory if isinstance(value, defaultdict) else None
            return type(value), more, [(k, facts(v)) for k, v in value.items()]
        case deque():
            return deque, value.maxlen, list(value)
        case set() | frozenset():
            return type(value), set(value)
        case list() | tuple():
            return type(value), [facts(item) for item in value]
    return type(value), value


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case[0].__name__}-{type(case[1]).__name__}{len(str(case[1]))}"
)
def test_arguments_are_as_in_python(case):
    function, *arguments = case
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    compiled = pb.jit(function)
    for _ in range(2):
        assert facts(compiled(*mine)) == facts(function(*theirs))
        assert facts(mine) == facts(theirs)


@pytest.mark.parametrize(
    "value",
    [{1, 2}, {"a"}, frozenset({1}), deque([1.0]), Counter("ab"), OrderedDict(a=1.0), defaultdict(float, a=1.0)],
    ids=lambda value: type(value).__name__ + str(len(str(value))),
)  # fmt: skip
def test_what_is_given_is_what_comes_back(value):
    assert pb.jit(itself)(value) is value


def test_one_set_behind_two_fields():
    shared = {1}
    first, second = Graph(seen=shared), Graph(seen=shared)

    @pb.jit
    def note(a, b):
        a.seen.add(5)
        return len(b.seen)

    assert note(first, second) == 2 and shared == {1, 5}


def test_new_ones_are_of_their_kind():
    @pb.jit
    def make(x):
        d = deque([x, 2.0 * x], maxlen=4)
        c = Counter(["a", "b", "a"])
        o = OrderedDict()
        o["k"] = x
        g = defaultdict(float)
        g["m"] += x
        return d, c, o, g, frozenset((1, 2)), {"s"}

    found = make(1.5)
    known = (
        deque([1.5, 3.0], 4),
        Counter(a=2, b=1),
        OrderedDict(k=1.5),
        defaultdict(float, m=1.5),
        frozenset((1, 2)),
        {"s"},
    )
    assert facts(found) == facts(known)
    assert found[3]["missing"] == 0.0


def test_globals_are_read_at_each_call(monkeypatch):
    @pb.jit
    def look(x):
        return x if "red" in COLOURS else -x

    assert look(2.0) == 2.0
    monkeypatch.setitem(globals(), "COLOURS", {"blue"})
    assert look(2.0) == -2.0
    COLOURS.add("red")
    assert look(2.0) == 2.0


def test_derivatives_beside_them():
    def loss(x, d, s, c):
        total = 0.0
        for v in d:
            total += x * v
        for k in s:
            total += x**k
        return total + x * c["a"]

    arguments = 1.5, deque([1.0, 2.0]), {1, 2, 3}, Counter("aab")
    assert pb.grad(loss)(*arguments) == pytest.approx(3.0 + 1.0 + 3.0 + 3 * 1.5**2 + 2.0)
    assert pb.grad(pb.grad(loss))(*arguments) == pytest.approx(2.0 + 6 * 1.5)


@pytest.mark.parametrize(
    "value",
    [deque([1.5, 2.0], maxlen=5), OrderedDict(a=1.5, b=2.0), defaultdict(float, a=1.5, b=2.0), Counter(a=1.5, b=2.0)],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_derivatives_by_them(value):
    def loss(c):
        total = 0.0
        for v in c.values() if isinstance(c, dict) else c:
            total += v**3
        return total

    before = copy.deepcopy(value)
    found = pb.grad(loss)(value)
    assert type(found) is type(value) and facts(value) == facts(before)
    items = found.values() if isinstance(found, dict) else found
    assert list(items) == pytest.approx([3 * 1.5**2, 12.0])
    assert getattr(found, "maxlen", None) == getattr(value, "maxlen", None)


@dataclass
class Model:
    weights: list
    names: set
    bias: float = 1.0


def test_derivatives_by_objects_that_hold_sets():
    def loss(m, s):
        return m.bias**2 + sum([w**3 for w in m.weights]) * len(m.names) + len(s)

    model = Model([1.0, 2.0], {"a", "b"})
    found = pb.grad(loss)(model, frozenset({1}))
    assert (found.bias, found.weights, found.names) == (2.0, [6.0, 24.0], {"a", "b"})
    assert pb.jvp(loss, (model, frozenset({1})), (Model([1.0, 0.0], {"a", "b"}, 0.0), frozenset({1})))[1] == 6.0


def test_a_packed_object_has_containers_of_its_own():
    given = graph()
    packed = pb.pack(given)
    walked = pb.jit(walk)
    assert walked(packed, 1) == walk(copy.deepcopy(given), 1)
    assert given.seen == {9} and given.queue == deque() and packed.unpack().seen == {9, 1, 2, 3, 4}


def test_an_exception_leaves_them_as_python_does():
    def fail(s, d):
        s.add(4)
        d.append(1.0)
        raise ValueError("stop")

    s, d = {1}, deque([0.5])
    with pytest.raises(ValueError, match="stop"):
        pb.jit(fail)(s, d)
    assert s == {1, 4} and d == deque([0.5, 1.0])


@pytest.mark.parametrize(
    "value", [{0.5}, {(1, 2)}, {None}, {object()}], ids=lambda value: type(next(iter(value))).__name__
)
def test_items_of_other_kinds_are_refused(value):
    with pytest.raises(TypeError, match="not all ints or strings"):
        pb.jit(itself)(value)


def test_an_int_beyond_64_bits_in_a_set_is_refused():
    with pytest.raises(OverflowError, match="64 bits"):
        pb.jit(itself)({1, 2**70})
