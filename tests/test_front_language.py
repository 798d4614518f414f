"""Every construct of the language: its untyped IR runs as CPython runs the source, and is what it should be.

PYTEST_DONT_REWRITE: the asserts are part of the programs.
"""

import functools
import textwrap
from dataclasses import dataclass

import pytest

import random_syntax
from pullback import front
from pullback.ir.show import show_function
from untyped import check, note

# ------------------------------------------------------------------------------------------------------------ cells


def counter(n):
    total = 0

    def add(k):
        nonlocal total
        total += note(k)
        return total

    for i in range(n):
        add(i)
    return total, add(10), total


def late_binding(n):
    fs = []
    for i in range(n):
        fs.append(lambda: i)
    return [f() for f in fs]


def late_binding_of_comprehension(n):
    fs = [lambda k: (i, k) for i in range(n)]
    i = -1
    return [f(i) for f in fs]


def assigned_after(x):
    def get():
        return y + x

    y = x * 2
    first = get()
    x = 10
    return first, get()


def unset_when_called(flag):
    def get():
        return y

    if flag:
        y = 3
    try:
        return get()
    except NameError:
        return "unset"


def two_levels(n):
    k = 0

    def outer():
        def inner():
            nonlocal k
            k += 1
            return k

        return inner() + inner()

    return outer(), outer(), k


def shared_by_two(n):
    value = n

    def read():
        return value

    def write(x):
        nonlocal value
        value = x

    write(n + 1)
    a = read()
    value = 7
    return a, read()


def parameter_is_a_cell(x):
    def twice():
        nonlocal x
        x *= 2

    twice()
    twice()
    return x


def recursion_reassigned(n):
    def go(k):
        return 1 if k == 0 else k * go(k - 1)

    keep = go
    go = lambda k: 100
    return keep(n)


def decorated_recursion(n):
    def trace(f):
        def run(k):
            return note(f(k))

        return run

    @trace
    def fact(k):
        return 1 if k == 0 else k * fact(k - 1)

    return fact(n)


def forward_reference(n):
    def first():
        return second() + 1

    third = first

    def second():
        return n

    return third()


def cell_in_a_loop_with_break(n):
    last = None
    for i in range(n):

        def see():
            return last, i

        last = i
        if i == 3:
            break
    else:
        return "whole", see() if n else None
    return see()


def deleted_captured(x):
    def get():
        return x  # noqa: F821

    first = get()
    del x
    try:
        get()
    except NameError:
        return first, "gone"
    return first, "kept"


def augmented_captured(n):
    k = 1
    f = lambda: k
    k += n
    return f()


# ---------------------------------------------------------------------------------------------------- comprehensions


def comprehensions(n):
    x = 100
    a = [x + i for x in range(n) if x % 2 for i in range(x)]
    b = {i % 3 for i in range(n)}
    c = {i: i * i for i in range(n) if i}
    return a, b, c, x


def nested_comprehensions(n):
    return [[i * j for j in range(i)] for i in range(n)], [(i, j) for i, j in [(k, -k) for k in range(n)]]


def walrus_in_comprehension(n):
    y = None
    a = [(y := i * 2) + 1 for i in range(n) if (z := i) != 1]
    return a, y, z if n else None


def walrus_is_kept(n):
    best = 0
    sums = [best := best + i for i in range(n)]
    return sums, best


def walrus_captured(n):
    y = 0
    fs = [lambda: y for i in range(n) if (y := i) >= 0]
    return [f() for f in fs], y


def comprehension_reads_a_changing_variable(n):
    total = 1
    for k in range(n):
        total += sum([total * i for i in range(k)])
    return total


def closure_in_comprehension_sees_changes(n):
    scale = 1
    fs = [lambda i: i * scale for _ in range(n)]
    scale = 5
    return [f(2) for f in fs]


def comprehension_unset(flag):
    if flag:
        y = 2
    try:
        return [y * i for i in range(3)]
    except NameError:
        return "unset"


def comprehension_first_iterable(n):
    i = 3
    return [i for i in range(note(i))], i


def set_and_dict_comprehension_order(n):
    return {note(i): note(-i) for i in range(n)}, len({note(i % 2) for i in range(n)})


# ------------------------------------------------------------------------------------------- displays and stars


def displays(x):
    return {1, x}, {1: x, "a": 2, x: 3}, {}, {"k": x}, {**{"a": 1}, "b": x, **{"a": x}}


def starred_displays(xs):
    return [*xs, 1, *xs], (0, *xs), {*xs, 7}, (*xs,)


def collect(*args, key=0, **options):
    return args, key, options


def everything(a, /, b, *rest, c, d=4, **more):
    return a, b, rest, c, d, more


def starred_calls(xs):
    inner = lambda *ys, **zs: (ys, zs)
    return (
        collect(*xs, 5, *xs, key=1), collect(**{"p": 1}, key=2, **{"q": 3}), inner(1, *xs, z=2),
        everything(1, *xs, c=3, e=5), everything(1, 2, c=3), collect(),
    )  # fmt: skip


def call_order(x):
    return collect(note(1), *note((2, 3)), note(4), key=note(5), **note({"z": 6}))


def star_targets(xs):
    a, *b = xs
    *c, d = xs
    (e, *f), (g, *h, i) = xs, xs
    [j, [k, *m]] = [1, xs]
    return a, b, c, d, e, f, g, h, i, j, k, m


def star_target_error(xs):
    try:
        a, b, *c = xs
        return a, b, c
    except ValueError:
        return "short"


def star_in_for(rows):
    found = []
    for first, *rest in rows:
        found.append((rest, first))
    return found


def parameters(a, b=2, *c, d, e=5, **f):
    return a, b, c, d, e, f


def default_once(x):
    def f(k, seen=[]):  # noqa: B006
        seen.append(k)
        return list(seen)

    return f(x), f(x + 1), f(0, [])


# ------------------------------------------------------------------------------------------------------ statements


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


@dataclass
class Node:
    value: float
    next: "Node | None" = None


def attributes(x):
    p = Point(x, 2)
    p.x += 3
    p.y: int = 9
    q = p
    q.z = p.w = x
    for p.y in range(4):
        pass
    (p.a, q.b), *p.c = (1, 2), 3, 4
    return sorted(vars(p).items())


def augmented_targets(xs):
    p = Point(list(xs), 0)

    def get():
        note("get")
        return p

    get().x[note(0)] += note(5)
    get().y -= note(1)
    get().x += [1]
    return p.x, p.y


def deletions(n):
    x = n
    d = {1: 2, 3: 4}
    xs = [0, 1, 2, 3, 4]
    p = Point(1, 2)
    del d[1], xs[1:3], p.x, (x)
    try:
        return x  # noqa: F821
    except UnboundLocalError:
        return d, xs, vars(p)


def deleted_in_branch(flag):
    x = 1
    if flag:
        del x
    try:
        return x
    except UnboundLocalError:
        return "gone"


def deleted_in_loop(n):
    found = []
    for i in range(n):
        x = i
        found.append(x)
        if i % 2:
            del x
            continue
    try:
        return found, x
    except UnboundLocalError:
        return found, "gone"


def delete_unset(flag):
    if flag:
        x = 1
    try:
        del x
    except UnboundLocalError:
        return "unset"
    return "deleted"


def annotated_only(n):
    x: int
    if n:
        x = n
    y: "nothing" = 3  # noqa: F821
    note.count: int
    try:
        return x + y
    except UnboundLocalError:
        return y


def live_through_annotation(n):
    x = n
    x: int
    return x


def chained_assignment(n):
    a = (b, c) = d = note(n), 2
    e = a[0:1] = [5] if False else None if n else [1]  # noqa: F841
    return a, b, c, d


def chained_items(n):
    xs = [0, 0]
    i = xs[i] = 1  # noqa: F821
    return i, xs


def while_else_walrus(n):
    found = []
    while (k := note(n)) > 3:
        n -= 1
        found.append(k)
        if k == 5:
            break
    else:
        found.append("else")
    return found, k


def while_else_walrus_plain(n):
    while (k := n) > 3:
        n -= 2
    else:
        k = -k
    return k


def walrus_conditions(a, b):
    if (x := note(a)) and (y := note(b)) > 1:
        return x, y
    elif not (z := a) or (x := b):
        return x, z
    return "neither"


def fstrings(x):
    width = 8
    return f"{x}", f"{x!r:>{width}}|{x:.3f}|{{}}{x=}", f"a{'b'}c", f"{x:{'.2'}{'f'}}", f"{note(x)}{note(1)!s}"


def assert_message(x):
    assert x > 0, f"{x} is not positive"
    return x


def complex_literals(x):
    return x * 2j + 1.5


def imports_inside(x):
    if x:
        import math as m
        from os import path
    else:
        import cmath as m

        path = None
    return m.sqrt(4.0), path is None


def conditional_lambda(flag):
    f = (lambda x, k=2: x * k) if flag else lambda x: x
    return f(3), (lambda: (yield_ := 3) + yield_)()


def decorated(x):
    def scaled(k):
        def wrap(f):
            @functools.wraps(f)
            def run(*args, **keywords):
                return k * f(*args, **keywords)

            return run

        return wrap

    @note
    @scaled(note(3))
    @scaled(2)
    def g(a, b=1):
        return a + b + x

    return g(1), g(1, b=2), g.__name__


# -------------------------------------------------------------------------------------------------------------- match


def literals(v):
    match v:
        case 0:
            return "zero"
        case 1 | 2 | True:
            return "few"
        case -1.5:
            return "negative"
        case "a" | "b":
            return "letter"
        case None:
            return "none"
    return "other"


def sequences(v):
    match v:
        case []:
            return "empty"
        case [x]:
            return "one", x
        case [x, y] if x == y:
            return "same", x
        case (x, [y, *z]):
            return "nested", x, y, z
        case [1, *_, 9]:
            return "ends"
        case [first, *middle, last]:
            return first, middle, last
        case str():
            return "text"
        case _:
            return "no sequence"


def mappings(v):
    match v:
        case {"kind": "a", "value": x}:
            return "a", x
        case {"kind": str(k), **rest}:
            return k, rest
        case {}:
            return "mapping"
    return None


def classes(v):
    match v:
        case Point(0, y):
            return "on axis", y
        case Point(x=x, y=int(y)) if x != y:
            return "keywords", x, y
        case Point(x, y=0):
            return "flat", x
        case Node(value, Node(inner, None) as rest):
            return "two", value, inner, rest.value
        case Node(value, next=None):
            return "leaf", value
        case int(n) | float(n):
            return "number", n
        case (Point() | Node()) as p:
            return "some", type(p).__name__
    return "unknown"


def guards(n):
    found = []
    for i in range(n):
        match i % 4:
            case x if note(x) == 3:
                found.append("three")
                continue
            case (0 | 1) as x:
                found.append(x)
            case x if x == 2 and i > 4:
                break
            case _:
                found.append(None)
    else:
        return "whole", found
    return found, x


def match_returns(v):
    total = 0
    while True:
        match v:
            case (0, _):
                return total
            case (n, step):
                total += step
                v = n - 1, step * 2


def match_keeps_names(v):
    x = "before"
    match v:
        case [x, 1]:
            pass
        case [x, 2] if False:
            pass
    return x


def match_constants(v):
    match v:
        case Colours.red:
            return "red"
        case [Colours.green, Colours.red]:
            return "both"
    return None


class Colours:
    red = "r"
    green = "g"


# -------------------------------------------------------------------------------------------------------- generators


def numbers(n):
    k = 0
    while k < n:
        if k == 7:
            return "seven"
        yield k
        k += 1
    return "end"


def chained_generators(n):
    first = yield from numbers(n)
    yield first
    last = yield from [10, 20]
    yield last
    x = yield
    yield x


def generators(n):
    return list(numbers(n)), list(chained_generators(n)), sum(i * n for i in range(n)), any(i for i in (0, n))


def generator_expression_scopes(n):
    i = 5
    total = sum(i * j for j in range(i) for i in range(j))
    return total, i, list((y := k) + i for k in range(n)), y if n else None


def local_generator(n):
    def walk(tree):
        if tree:
            left, value, right = tree
            yield from walk(left)
            yield value
            yield from walk(right)

    return [v for v in walk(((None, 1, None), 2, ((None, 3, None), 4, None)))], n


def generator_with_state(n):
    def running():
        nonlocal n
        while n > 0:
            yield n
            n -= 2

    return list(running()), n


def generator_finally(n):
    def guarded():
        try:
            for i in range(n):
                yield i
        finally:
            note("closed")

    return list(guarded())


# --------------------------------------------------------------------------------------------------------------- with


class Manager:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        note(("enter", self.name))
        return self.name

    def __exit__(self, kind, value, trace):
        note(("exit", self.name, kind and kind.__name__))
        return self.swallow


def managers(n):
    with Manager("a") as a, Manager("b"):
        note(a)
    with Manager("c"):
        if n == 1:
            return "early"
    for i in range(3):
        with Manager(i, swallow=True) as k:
            if i == n - 3:
                break
            if k == 1:
                continue
            raise ValueError("swallowed")
        note("after")
    else:
        return "whole"
    return "broken"


def manager_raises(n):
    try:
        with Manager("a"):
            if n:
                raise ValueError("out")
            return 0
    except ValueError as e:
        return str(e)


def manager_target(n):
    p = Point(0, [0])
    with Manager(n) as p.x, Manager(1) as p.y[0]:
        pass
    return p.x, p.y


PROGRAMS = [
    (counter, (0,), (4,)),
    (late_binding, (3,), (0,)),
    (late_binding_of_comprehension, (3,), (0,)),
    (assigned_after, (3,)),
    (unset_when_called, (True,), (False,)),
    (two_levels, (0,)),
    (shared_by_two, (1,)),
    (parameter_is_a_cell, (3,)),
    (recursion_reassigned, (3,)),
    (decorated_recursion, (3,)),
    (forward_reference, (3,)),
    (cell_in_a_loop_with_break, (0,), (2,), (6,)),
    (deleted_captured, (1,)),
    (augmented_captured, (4,)),
    (comprehensions, (5,), (0,)),
    (nested_comprehensions, (4,)),
    (walrus_in_comprehension, (4,)),
    (walrus_is_kept, (5,), (0,)),
    (walrus_captured, (3,), (0,)),
    (comprehension_reads_a_changing_variable, (5,)),
    (closure_in_comprehension_sees_changes, (2,)),
    (comprehension_unset, (True,), (False,)),
    (comprehension_first_iterable, (0,)),
    (set_and_dict_comprehension_order, (4,)),
    (displays, (3,), (1,)),
    (starred_displays, ((3, 4),), ([],)),
    (starred_calls, ((3, 4),), ([9],)),
    (call_order, (0,)),
    (star_targets, ((1, 2, 3),), ([1, 2],)),
    (star_target_error, ((1, 2),), ((1,),)),
    (star_in_for, ([(1, 2), (3,)],)),
    (default_once, (4,)),
    (attributes, (4,)),
    (augmented_targets, ((1, 2),)),
    (deletions, (1,)),
    (deleted_in_branch, (True,), (False,)),
    (deleted_in_loop, (4,), (3,)),
    (delete_unset, (True,), (False,)),
    (annotated_only, (0,), (2,)),
    (live_through_annotation, (4,)),
    (chained_assignment, (1,)),
    (chained_items, (1,)),
    (while_else_walrus, (9,), (4,), (5,), (0,)),
    (while_else_walrus_plain, (9,), (0,)),
    (walrus_conditions, (1, 2), (1, 0), (0, 3), (1, 1)),
    (fstrings, (2.5,), (-1.0,)),
    (assert_message, (1,), (-1,)),
    (complex_literals, (2.0,)),
    (imports_inside, (1,), (0,)),
    (conditional_lambda, (True,), (False,)),
    (decorated, (1,)),
    (literals, (0,), (1,), (2,), (-1.5,), ("b",), (None,), ("c",), (False,)),
    (sequences, ([],), ((1,),), ((2, 2),), ((1, [2, 3]),), ((1, 2, 9),), ((2, 3, 4, 5),), ("ab",), (5,), ((1, 2),)),
    (mappings, ({"kind": "a", "value": 3},), ({"kind": "b", "z": 1},), ({},), ({"kind": 3},), ([],)),
    (
        classes, (Point(0, 1),), (Point(1, 2),), (Point(2, 2),), (Point(1, 0),), (Node(1),), (Node(1, Node(2)),),
        (Node(1, Node(2, Node(3))),), (3,), (2.5,), ("x",), (Point(1.5, 1.5),),
    ),
    (guards, (3,), (6,), (9,), (0,)),
    (match_returns, ((3, 1),), ((0, 1),)),
    (match_keeps_names, ((5, 1),), ((5, 2),), ((5, 3),)),
    (match_constants, ("r",), (("g", "r"),), ("g",)),
    (generators, (0,), (3,), (9,)),
    (generator_expression_scopes, (3,), (0,)),
    (local_generator, (1,)),
    (generator_with_state, (5,)),
    (generator_finally, (2,)),
    (managers, (1,), (2,), (3,), (4,), (5,), (7,)),
    (manager_raises, (0,), (1,)),
    (manager_target, (3,)),
]  # fmt: skip


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_program_runs_as_in_cpython(case):
    function, *arguments = case
    check(function, *arguments)


def test_parameters_of_every_kind():
    assert front.parse(parameters).attrs["parameters"] == (
        ("a", "positional", False), ("b", "positional", True), ("c", "var_positional", False),
        ("d", "keyword_only", False), ("e", "keyword_only", True), ("f", "var_keyword", False),
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------------- structure


def golden(source, expected):
    text = show_function(front.parse_text(textwrap.dedent(source).lstrip(), "f", "<golden>"), source=False)
    lines = [line.partition("  # ")[0].rstrip() for line in text.splitlines()]
    assert lines == textwrap.dedent(expected).strip().splitlines(), "\n".join(lines)


def test_captured_variables_that_change_are_cells():
    golden(
        """
        def f(x):
            y = x
            def g():
                return y
            y = 2.0
            return g()
        """,
        """
        def f(x):
            y = py.cell name=y
            py.cell_set name=y y, x
            g = py.closure function=g y
            v0 = py.const 2.0
            py.cell_set name=y y, v0
            value = py.call keywords=() g
            return value
        """,
    )


def test_captured_variables_that_do_not_change_are_values():
    golden(
        """
        def f(x):
            y = x * x
            fs = [lambda z: z * y, lambda z: z + y]
            return sum([y * v for v in fs])
        """,
        """
        def f(x):
            y = py.binary operator=* x, x
            v0 = py.closure function=<lambda> y
            v1 = py.closure function=<lambda> y
            fs = py.list v0, v1
            v2 = py.global name=sum
            the result = py.list growing=True
            py.for breaks=False fs:
              body (v3):
                v4 = py.binary operator=* y, v3
                py.append the result, v4
                yield
            value = py.call keywords=() v2, the result
            return value
        """,
    )


def test_comprehensions_do_not_make_cells_of_what_they_read():
    golden(
        """
        def f(xs):
            x = 1.0
            for _ in xs:
                x = x + sum([x * v for v in xs])
            return x
        """,
        """
        def f(xs):
            x = py.const 1.0
            x1 = py.for breaks=False xs, x:
              body (_, x2):
                v0 = py.global name=sum
                the result = py.list growing=True
                py.for breaks=False xs:
                  body (v1):
                    v2 = py.binary operator=* x2, v1
                    py.append the result, v2
                    yield
                v3 = py.call keywords=() v0, the result
                x3 = py.binary operator=+ x2, v3
                yield x3
            return x1
        """,
    )


def test_match_is_a_chain_of_tests():
    golden(
        """
        def f(p):
            match p:
                case [0, y]:
                    return y
                case Point(x=y):
                    return y
        """,
        """
        def f(p):
            v0 = py.is_sequence least=2 most=2 p
            v1 = py.truth v0
            v2, item 3, item 4 = if v1:
              then:
                v3 = py.const 0
                item 31 = py.subscript p, v3
                v4 = py.const True
                v5 = py.const 0
                v6 = py.compare operator=== item 31, v5
                v7 = py.truth v6
                v8, item 41 = if v7:
                  then:
                    v9 = py.const 1
                    item 42 = py.subscript p, v9
                    v10 = py.const True
                    v11 = py.truth v10
                    yield v11, item 42
                  else:
                    v12 = py.const False
                    v13 = py.unbound name=item 4 dead=True
                    yield v12, v13
                yield v8, item 31, item 41
              else:
                v14 = py.const False
                v15 = py.unbound name=item 3 dead=True
                v16 = py.unbound name=item 4 dead=True
                yield v14, v15, v16
            v17 = py.truth v2
            value = if v17:
              then:
                yield item 4
              else:
                v18 = py.import module=builtins name=isinstance
                v19 = py.global name=Point
                v20 = py.call keywords=() v18, p, v19
                v21 = py.truth v20
                v22, field 2 = if v21:
                  then:
                    v23 = py.import module=builtins name=hasattr
                    v24 = py.const 'x'
                    v25 = py.call keywords=() v23, p, v24
                    v26 = py.truth v25
                    v27, field 21 = if v26:
                      then:
                        field 22 = py.attribute name=x p
                        v28 = py.const True
                        v29 = py.truth v28
                        yield v29, field 22
                      else:
                        v30 = py.const False
                        v31 = py.unbound name=field 2 dead=True
                        yield v30, v31
                    yield v27, field 21
                  else:
                    v32 = py.const False
                    v33 = py.unbound name=field 2 dead=True
                    yield v32, v33
                v34 = py.truth v22
                value1 = if v34:
                  then:
                    yield field 2
                  else:
                    value2 = py.const None
                    yield value2
                yield value1
            return value
        """,
    )


def test_generators_call_their_consumer():
    golden(
        """
        def f(x):
            yield x
            return x
        """,
        """
        def f(x, the consumer, the state):
            goes on = py.const True
            the value = py.const None
            v0 = py.call keywords=() the consumer, x, the state
            goes on1, the state1 = py.unpack count=2 v0
            v1 = py.unary operator=not goes on1
            v2 = py.truth v1
            the value1, value = if v2:
              then:
                value1 = py.const None
                yield the value, value1
              else:
                value2 = py.const None
                yield x, value2
            v3 = py.tuple goes on1, the value1, the state1
            return v3
        """,
    )


def test_stars_and_targets():
    golden(
        """
        def f(xs, g):
            a, *b = xs
            g.x += a
            del g.y, b[0]
            return g(1, *b, k=a, **xs[0]), [*b, a], f"{a:.{b}}!"
        """,
        """
        def f(xs, g):
            a, b = py.unpack_star before=1 after=0 xs
            v0 = py.attribute name=x g
            v1 = py.inplace operator=+ v0, a
            py.setattr name=x g, v1
            py.delattr name=y g
            v2 = py.const 0
            py.delitem b, v2
            v3 = py.const 1
            v4 = py.const 0
            v5 = py.subscript xs, v4
            v6 = py.call_star kinds=(positional, *, =k, **) g, v3, b, a, v5
            v7 = py.sequence_star kind=list stars=(True, False) b, a
            v8 = py.fstring parts=((0, , (., (1, , ))), !) a, b
            value = py.tuple display=True v6, v7, v8
            return value
        """,
    )


def test_private_names_of_classes():
    class Account:
        def __init__(self, x):
            self.__x = x

        def twice(self):
            self.__x += self.__x
            return [self.__x for _ in range(2)]

    for method in (Account.__init__, Account.twice):
        ops = list(front.parse(method).body.walk())
        names = {op.attrs["name"] for op in ops if op.name in ("py.attribute", "py.setattr")}
        assert names == {"_Account__x"}


class Base:
    def __init__(self, x):
        self.x = x

    @property
    def doubled(self):
        return [self.x for _ in range(2)]

    @staticmethod
    def plain(x):
        return (lambda: x)()

    @functools.lru_cache  # noqa: B019
    def cached(self):
        return super().__repr__()

    late = lambda self, n: [i for i in range(n)]


FUNCTIONS = [lambda x: x + 1, lambda x: x + 2, *[lambda y, k=k: y * k for k in range(2)]]


def test_the_source_of_every_kind_of_function_is_found():
    functions = [Base.__init__, Base.doubled.fget, Base.plain, Base.cached.__wrapped__, Base.late, *FUNCTIONS]
    for function in functions:
        assert front.parse(function).attrs["qualified_name"] == function.__qualname__
    first, second = (front.parse(f).body for f in FUNCTIONS[:2])
    assert [op.attrs.get("value") for body in (first, second) for op in body.walk()] == [1, None, 2, None]


@pytest.mark.parametrize("block", range(4))
def test_random_syntax(block):
    for seed in range(40 * block, 40 * block + 40):
        wrong, source = random_syntax.differences(seed)
        assert not wrong, f"seed {seed}: {wrong}\n{source}"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_random_syntax_slowly(block):
    for seed in range(1000 + 200 * block, 1200 + 200 * block):
        wrong, source = random_syntax.differences(seed)
        assert not wrong, f"seed {seed}: {wrong}\n{source}"
