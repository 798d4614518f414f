"""The front end: its IR runs as CPython runs the source, is clean where it should be, and refuses with a reason.

An evaluator of untyped IR on real Python objects (`untyped`) stands in for the rest of the compiler.
"""

import functools
import linecache
import random
import textwrap
import warnings

import pytest

import programs
from pullback import front
from pullback.diagnostic import CompileError
from pullback.ir.show import show_function
from untyped import NOTES, check, compiled, note, outcome

# ------------------------------------------------------------------------------------------------------- control flow


def nested_breaks(n, m):
    total = 0
    for i in range(n):
        for j in range(m):
            if note(j) > i:
                break
            total += 1
        else:
            total += 100
            continue
        total += 1000
    else:
        total = -total
    return total, i


def return_from_depth(n):
    k = 0
    while k < n:
        for i in range(k):
            while True:
                k += 1
                if k == 7:
                    return note("deep"), i, k
                if k % 3 == 0:
                    break
        k += 1
    return "end", k


def return_in_else(n):
    for i in range(n):
        if i == 3:
            break
    else:
        return note("whole")
    return i


def loop_else_chain(n):
    while n > 0:
        n -= 1
        if n == 4:
            break
    else:
        for i in range(2):
            if n:
                break
        else:
            n = 50
    return n


def break_in_else(n):
    for i in range(n):
        for j in range(i):
            pass
        else:
            if i == 2:
                break
            if i == 1:
                continue
        note(i)
    return i


def condition_not_evaluated(n):
    while note(n) > 0:
        n -= 1
        if n == 2:
            break
    return n


def maybe_set(a, b):
    if a:
        x = 1
    if b:
        return x
    x = 2
    return x


def unset_after_loop(n):
    for i in range(n):
        last = i
        if last == 5:
            return last
    return last


def never_set(n):
    if n:
        y = z  # noqa: F821
        return y
    z = 3
    return z


def set_by_break(n):
    while True:
        n += 1
        x = n * 2
        if x > 7:
            break
    return x


def chained(a, b, c):
    return note(a) < note(b) <= note(c) != note(a), (a < b) is (b < c), 1 < note(b) in (2, 3)


def logic(a, b, c):
    x = note(a) and note(b) or note(c)
    y = not (note(a) or note(b))
    if note(a) and (note(b) or not note(c)):
        x = x, "taken"
    return x, y, a if note(b) else c


def order(a, b):
    x, (y, z) = note(a), (note(b), note(3))
    x, y = y, x
    t = p, q = note((x, y))
    s = [note(1), note(2)]
    return dict(k=note(4), l=note(5)), x, y, z, t, p, q, s, (note(6) if a else 0, note(7))[note(0)]


def swap_unpack(t):
    (a, b), c = t
    for a, (b, d) in ((1, (2, 3)), (a, (b, c))):
        c += d
    return a, b, c


def unpack_error(t):
    a, b = t
    return a + b


def augmented(x, n):
    x += note(1)
    x -= 2
    x *= n
    x **= 2
    x //= 3
    x %= 100
    x <<= 2
    x |= 1
    x ^= 5
    x &= 31
    x >>= 1
    return x


def walrus(n):
    if (half := n // 2) > 2 and (quarter := half // 2):
        return half, quarter
    while (n := n - 1) > 0:
        if n == 3:
            continue
        if n == 1:
            break
    return half, n


def slices(t, i):
    return t[i:], t[:i], t[::2], t[i:-1:1], t[-1], {"a": t, "b": i}["a"][i]


def closure_in_branch(x, flag):
    if flag:
        f = lambda y, z=note(2): x + y * z
    elif x:
        def f(y, *, k=3):
            return y - k - x
    else:
        f = note
    return f(10)


def recursion(n):
    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)

    fib = lambda k: k if k < 2 else fib(k - 1) + fib(k - 2)
    return fact(n), fib(n)


def family(n, step):
    def even(k):
        """Docstring."""
        return True if k <= 0 else odd(k - step)

    def odd(k):
        return False if k <= 0 else (lambda m: even(m - step))(k)

    def third(k):
        return even(k), odd(k)

    return third(n)


def captured_unset(flag):
    if flag:
        x = 5
    f = lambda: x + 1
    return f()


def capture_levels(a):
    def one(b):
        def two(c):
            return lambda d: (a, b, c, d)

        return two(b + 1)

    return one(2)(3)


def decorated_inner(x):
    def twice(f):
        return lambda y: f(f(y))

    @twice
    @note
    def g(y):
        return y * x

    return g(3) if x > 99 else g(1)


def keywords(x):
    def f(a, /, b, c=3, *, d, e=5):
        return a, b, c, d, e

    return f(note(x), d=note(1), b=note(2)), f(1, 2, 3, d=4, e=5)


def imports(x):
    import math
    import os.path
    import xml.dom as dom
    from math import floor as down

    return math.ceil(x), down(x), os.path.basename("a/b"), dom.__name__


def constants():
    return None, True, ..., "a" "b", -1, +2.5, -0.0, ~3, not 0, 1_000, -9223372036854775808


def empty_return(x):
    if x:
        return
    "a string"
    pass
    note(x)


def dead_code(x):
    return x
    y = x
    while True:
        del y


def raising(x):
    if x < 0:
        raise ValueError("negative")
    elif x == 0:
        raise KeyError
    for i in range(x):
        if i == 3:
            raise RuntimeError("three") from None
    return i


def raise_in_all_branches(x):
    while True:
        if x > 3:
            raise ValueError("big")
        elif x < 0:
            raise ValueError("small")
        else:
            x += 2


def endless(n):
    for i in range(n):
        while True:
            if i == 2:
                return note(i)
            break
        note(i)
    while True:
        n += 1
        if n > 10:
            return n


def annotated(x: int, y: "unknown" = 2) -> float:  # noqa: F821
    z: int = x
    w: undefined  # noqa: F821, F842
    z += y
    return z


def global_read(x):
    global NOTES
    return len(NOTES) + x


def many_exits(x, n):
    for i in range(n):
        if x > 5:
            return x * i
        if x < -5:
            continue
        if i == 20:
            break
        x = x * 1.1 + 0.01 * i
    else:
        return -1.0
    return x * x


def both_fall_through(a, b):
    if a:
        if b:
            return 1
        x = 2
    elif b:
        x = 3
    else:
        if a is None:
            return 4
        x = 5
    note(x)
    if x == 5:
        return x
    for i in range(2):
        if b:
            if i:
                break
            x += 1
        note(i)
    return x + i


def variable_reused(n):
    total = 0
    for i in range(n):
        t = i
        if t % 2:
            t = -t
            if t < -3:
                break
        total += t
    t = "other"
    return total, t


def loop_in_loop_else_return(n):
    for i in range(n):
        for j in range(i):
            if j == 2:
                return "two"
        else:
            if i == 5:
                return "five"
    return "none"


def same_value_both_ways(c, x):
    y = 0
    if c:
        y = x
    else:
        y = x
    return y


def return_condition_in_while(n):
    while n:
        if n == 3:
            return "three"
        n -= 1
    else:
        n = "done"
    return n


def nested_function_exits(n):
    def search(limit):
        for i in range(n):
            if i * i > limit:
                return i
        return None

    found = search(10)
    return "none" if found is None else found


def ternary_chain(x):
    return "a" if x < 1 else "b" if x < 2 else "c" if note(x) < 3 else "d"


def not_in_condition(a, b):
    n = 0
    while not (a > 3 or n > 5):
        a += b
        n += 1
    return a, n


def continue_in_while(n):
    total = 0
    while n > 0:
        n -= 1
        if n % 2:
            continue
        elif n == 4:
            total += 100
            continue
        total += n
    return total


def for_variable_kept(n):
    i = "before"
    for i in range(n):
        pass
    return i


def string_and_tuple_iteration(s):
    out = ()
    for c in s:
        if c in "aeiou":
            continue
        for d in (c, c):
            out = out + (d,)
            if len(out) > 4:
                return out
    return out


def items(n):
    a = [0, 1, 2, 3]
    note(a)[note(1)] = note(n)
    note(a)[note(2)] += note(5)
    a[0], b, a[n] = n, a, note(7)
    for a[3] in range(2):
        b[1] -= 1
    a[1:3] = note(a[2:])
    a[9 if n > 2 else 0] = 1
    return a, b


PROGRAMS = [
    (items, (1,), (0,), (3,)),
    (nested_breaks, (0, 0), (3, 2), (4, 4), (2, 0)),
    (return_from_depth, (0,), (3,), (9,), (20,)),
    (return_in_else, (2,), (6,), (0,)),
    (loop_else_chain, (0,), (3,), (9,)),
    (break_in_else, (5,), (1,), (0,)),
    (condition_not_evaluated, (5,), (1,), (2,)),
    (maybe_set, (1, 1), (0, 1), (0, 0), (1, 0)),
    (unset_after_loop, (0,), (3,), (9,)),
    (never_set, (0,), (1,)),
    (set_by_break, (0,), (10,)),
    (chained, (1, 2, 3), (2, 1, 3), (1, 1, 1), (1, 3, 3)),
    (logic, (0, 1, 2), (1, 0, 2), (0, 0, 0), (1, 1, 0), (1, 0, 0)),
    (order, (1, 2), (0, 2)),
    (swap_unpack, (((1, 2), 3),), ((1, 2),)),
    (unpack_error, ((1, 2),), ((1, 2, 3),), (5,)),
    (augmented, (5, 3), (-7, 2)),
    (walrus, (10,), (20,), (3,), (0,)),
    (slices, ((1, 2, 3, 4), 1), ((1, 2), 5)),
    (closure_in_branch, (1, True), (1, False), (0, False)),
    (recursion, (0,), (6,)),
    (family, (5, 1), (6, 1), (7, 2)),
    (captured_unset, (True,), (False,)),
    (capture_levels, (1,)),
    (decorated_inner, (2,)),
    (keywords, (9,)),
    (imports, (2.5,)),
    (constants, ()),
    (empty_return, (0,), (1,)),
    (dead_code, (4,)),
    (raising, (-1,), (0,), (2,), (5,)),
    (raise_in_all_branches, (0,), (9,), (-9,)),
    (endless, (1,), (4,), (0,)),
    (annotated, (1,), (1, 5)),
    (global_read, (1,)),
    (many_exits, (0.5, 30), (9, 3), (-9, 4), (1.0, 0)),
    (both_fall_through, (1, 1), (1, 0), (0, 1), (0, 0), (None, 0)),
    (variable_reused, (0,), (3,), (12,)),
    (loop_in_loop_else_return, (2,), (9,), (3,), (0,)),
    (same_value_both_ways, (0, 7), (1, 8)),
    (return_condition_in_while, (0,), (2,), (5,)),
    (nested_function_exits, (2,), (9,)),
    (ternary_chain, (0,), (1,), (2,), (7,)),
    (not_in_condition, (0, 1), (5, 1), (0, 0)),
    (continue_in_while, (9,), (0,)),
    (for_variable_kept, (0,), (3,)),
    (string_and_tuple_iteration, ("hello",), ("", ), ("ae",)),
]  # fmt: skip


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_program_runs_as_in_cpython(case):
    function, *arguments = case
    check(function, *arguments)


def test_registered_programs_run_as_in_cpython():
    for program in programs.load():
        if program.same_as is not None:  # differentiates, which this evaluator cannot
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(program.function, *program.arguments, *(arguments for arguments, _ in program.failing))


# ----------------------------------------------------------------------------------------------------- random programs


class Writer:
    """Random functions of nested statements with jumps, walrus, closures, asserts, and names that may be unset."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = "abcd"
        self.count = 0

    def name(self):
        return self.random.choice(self.names)

    def expression(self, depth=2):
        inner = lambda: self.expression(depth - 1)
        kind = self.random.randrange(12 if depth else 3)
        self.count += 1
        match kind:
            case 0:
                return str(self.random.randrange(-2, 4))
            case 3:
                return f"note({inner()})"
            case 4:
                return f"({inner()} {self.random.choice('+-*')} {inner()})"
            case 5:
                return f"({inner()} {self.random.choice(['and', 'or'])} {inner()})"
            case 6:
                return f"(not {inner()})"
            case 7:
                return f"({inner()} if {inner()} else {inner()})"
            case 8:
                count = self.random.randrange(1, 4)
                rest = [f" {self.random.choice(['<', '<=', '==', '!=', '>'])} {inner()}" for _ in range(count)]
                return f"({inner()}{''.join(rest)})"
            case 9:
                return f"tag({self.count}, {inner()})"
            case 10 if self.random.random() < 0.2:
                return f"(lambda p, q={inner()}: p + {self.random.choice(['q', self.name()])})({inner()})"
            case 11 if self.random.random() < 0.3:
                return f"({self.name()} := {inner()})"
        return self.name()

    def block(self, depth, in_loop):
        lines = [line for _ in range(self.random.randrange(1, 4)) for line in self.statement(depth, in_loop)]
        return textwrap.indent("\n".join(lines), "    ").split("\n")

    def statement(self, depth, in_loop):
        kind = self.random.randrange(16 if depth else 9)
        self.count += 1
        if kind >= 13:
            return self.loop(depth, in_loop, kind)
        if kind >= 9:
            lines = [f"if {self.expression()}:", *self.block(depth - 1, in_loop)]
            if self.random.random() < 0.3:
                lines += [f"elif {self.expression()}:", *self.block(depth - 1, in_loop)]
            if self.random.random() < 0.5:
                lines += ["else:", *self.block(depth - 1, in_loop)]
            return lines
        match kind:
            case 3:
                return [f"{self.name()} += {self.expression()}"]
            case 4:
                return [f"{self.name()}, {self.name()} = {self.expression(1)}, {self.expression(1)}"]
            case 5:
                return [f"note({self.expression()})"]
            case 6 if in_loop:
                return [self.random.choice(["break", "continue"])]
            case 7 if self.random.random() < 0.5:
                return [f"return {self.expression()}"]
            case 8 if self.random.random() < 0.3:
                return [f"assert {self.expression()}, 'm{self.count}'"]
            case 8 if self.random.random() < 0.2:
                return [f"raise ValueError('v{self.count}')"]
            case 8 if self.random.random() < 0.3:
                return ["def g(x):", f"    return x + {self.name()}", f"{self.name()} = g(tag({self.count}, 1))"]
        return [f"{self.name()} = {self.expression()}"]

    def loop(self, depth, in_loop, kind):
        if kind < 15:
            length = self.random.randrange(4)
            source = self.random.choice([f"range(tag({self.count}, {length}))", f"(1, {self.expression(1)})"])
            lines = [f"for {self.name()} in {source}:", *self.block(depth - 1, True)]
        else:
            test = self.random.choice(["True", f"fuel() and {self.expression()}", f"fuel({self.expression(1)})"])
            lines = [f"while {test}:", "    fuel()", *self.block(depth - 1, True)]
        if self.random.random() < 0.3:
            lines += ["else:", *self.block(depth - 1, in_loop)]
        return lines

    def program(self):
        return "\n".join(["def f(a, b, c):", *self.block(3, False), *self.block(3, False)]) + "\n"


FUEL = [0]


def fuel(x=1):
    FUEL[0] += 1
    if FUEL[0] > 60:
        raise RuntimeError("too many trips")
    return x


def tag(number, value):
    NOTES.append(("tag", number))
    return value


def define(source, name="f", file="<program>", namespace=None):
    """The function that `source` defines, with its text where Python looks for it."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"note": note, "tag": tag, "fuel": fuel, **(namespace or {})}
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize("block", range(4))
def test_random_programs(block):
    for seed in range(block * 80, block * 80 + 80):
        source = Writer(seed).program()
        function = define(source, file=f"<random {seed}>")
        run = compiled(function)
        linecache.cache.pop(f"<random {seed}>")
        for arguments in ((1, 2, 0), (0, -1, 5), (3, 0, -2)):
            results = []
            for callee in (function, run):
                NOTES.clear()
                FUEL[0] = 0
                results.append((outcome(callee, *arguments), list(NOTES)))
            assert results[0] == results[1], source


# ------------------------------------------------------------------------------------------------------------- goldens


def text_of(source, name="f"):
    return show_function(front.parse_text(textwrap.dedent(source).lstrip(), name, "<golden>"), source=False)


def golden(source, expected):
    lines = [line.partition("  # ")[0] for line in text_of(source).splitlines()]
    assert lines == textwrap.dedent(expected).strip().splitlines()


def test_returns_in_branches_need_no_flags():
    golden(
        """
        def f(x):
            if x > 0.0:
                return x
            y = -x
            return y
        """,
        """
        def f(x):
            v0 = py.const 0.0
            v1 = py.compare operator=> x, v0
            v2 = py.truth v1
            value = if v2:
              then:
                yield x
              else:
                y = py.unary operator=- x
                yield y
            return value
        """,
    )


def test_only_live_variables_are_carried():
    golden(
        """
        def f(xs):
            total = 0.0
            t = 1.0
            for x in xs:
                t = x * x
                if t:
                    continue
                total += t
            return total
        """,
        """
        def f(xs):
            total = py.const 0.0
            t = py.const 1.0
            total1 = py.for breaks=False xs, total:
              body (x, total2):
                t1 = py.binary operator=* x, x
                v0 = py.truth t1
                total3 = if v0:
                  then:
                    yield total2
                  else:
                    total4 = py.inplace operator=+ total2, t1
                    yield total4
                yield total3
            return total1
        """,
    )


def test_break_in_while_guards_the_condition():
    golden(
        """
        def f(x):
            while x < 9.0:
                x = x * x
                if x == 4.0:
                    break
            return x
        """,
        """
        def f(x):
            v0 = py.const True
            x1, go = py.while x, v0:
              cond (x2, go1):
                v1 = py.truth go1
                v2 = if v1:
                  then:
                    v3 = py.const 9.0
                    v4 = py.compare operator=< x2, v3
                    v5 = py.truth v4
                    yield v5
                  else:
                    v6 = py.const False
                    yield v6
                v7 = py.truth v2
                yield v7
              body (x3, go2):
                x4 = py.binary operator=* x3, x3
                v8 = py.const 4.0
                v9 = py.compare operator=== x4, v8
                v10 = py.truth v9
                go3 = if v10:
                  then:
                    v11 = py.const False
                    yield v11
                  else:
                    v12 = py.const True
                    yield v12
                yield x4, go3
            return x1
        """,
    )


def test_return_in_for_carries_the_value():
    golden(
        """
        def f(xs):
            for x in xs:
                if x:
                    return x
            return 0
        """,
        """
        def f(xs):
            v0 = py.const False
            v1 = py.unbound name=return value
            returned, value = py.for breaks=True xs, v0, v1:
              body (x, returned1, value1):
                v2 = py.truth x
                value2, returned2 = if v2:
                  then:
                    v3 = py.const True
                    yield x, v3
                  else:
                    v4 = py.unbound name=return value
                    v5 = py.const False
                    yield v4, v5
                v6 = py.unary operator=not returned2
                v7 = py.truth v6
                yield v7, returned2, value2
            v8 = py.truth returned
            value3 = if v8:
              then:
                value4 = py.check_bound name=return value value
                yield value4
              else:
                value5 = py.const 0
                yield value5
            return value3
        """,
    )


def test_set_names_are_not_checked():
    assert "check_bound" not in text_of("def f(n):\n    x = 1\n    for i in range(n):\n        x += i\n    return x\n")
    assert "check_bound" in text_of("def f(n):\n    for i in range(n):\n        x = i\n    return x\n")


def test_a_checked_name_is_checked_once():
    source = "def f(c):\n    if c:\n        x = 1\n    return x + x * x\n"
    assert text_of(source).count("check_bound") == 1


def test_attributes_of_functions():
    function = front.parse(recursion)
    assert function.attrs["parameters"] == (("n", "positional", False),)
    assert function.attrs["code"] is recursion.__code__
    inner = next(op for op in function.body.ops if op.name == "py.closure").attrs["function"]
    assert (inner.attrs["self_name"], inner.attrs["captures"]) == ("fact", ())
    assert inner.attrs["qualified_name"] == "recursion.<locals>.fact"
    assert inner.attrs["code"] in recursion.__code__.co_consts


def test_parsed_once():
    assert front.parse(recursion) is front.parse(recursion)


def test_spans():
    function = front.parse_text("def f(x):\n    return (x +\n            x * x)\n", "f", "<spans>")
    add, multiply = function.body.ops[1], function.body.ops[0]
    assert [multiply.name, add.name] == ["py.binary", "py.binary"]
    assert (add.span.line, add.span.column, add.span.end_line, add.span.end_column) == (2, 12, 3, 17)
    span = multiply.span
    assert (span.line, span.column, span.file, span.function) == (3, 12, "<spans>", "f")


def test_every_op_has_a_span():
    for function, *_ in PROGRAMS:
        for op in front.parse(function).body.walk():
            assert op.span.line > 0 and op.span.function, op


# -------------------------------------------------------------------------------------------------------------- source


def test_lambdas_on_one_line():
    f, g, h = (lambda x: x + 1), (lambda x: x + 2), lambda x: lambda y: (x, y)
    for function, argument in ((f, 1), (g, 1), (h(5), 2), (lambda x: x + 1, 3)):
        check(function, (argument,))


def test_same_lambda_twice_on_a_line():
    f, g = (lambda x: x), (lambda x: x)
    check(f, (1,))
    check(g, (2,))


def test_decorated_function_and_method():
    def plain(f):
        return f

    @plain
    @functools.lru_cache
    @plain
    def f(x):
        return x * 2

    class Model:
        rate = 2

        def scaled(self, x):
            return self.rate * x

    check(f.__wrapped__, (3,))
    check(Model.scaled, (Model(), 4))


def exec_function():
    namespace = {}
    exec("def f(x):\n    return x\n", namespace)
    return namespace["f"]


def test_no_source():
    with pytest.raises(CompileError, match="source of f cannot be found") as error:
        front.parse(exec_function())
    assert "write the function in a .py file" in str(error.value)


def test_changed_source(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("def f(x):\n    return x + 1.0\n")
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    path.write_text("def f(x):\n    return x + 2.0\n")
    linecache.checkcache()
    with pytest.raises(CompileError, match="source of f changed after import"):
        front.parse(namespace["f"])


@pytest.mark.parametrize("text", ["-0.0", "0.0", "0", "1", "True", "1.0", "(0.0, 1)"])
def test_constants_that_look_alike_are_told_apart(text):
    others = ["-0.0", "0.0", "0", "1", "True", "1.0", "(0.0, 1)", "(0, 1)", "(-0.0, 1)"]
    file = "<alike>"
    function = define(f"def f(x):\n    return {text}\n", file=file)
    assert front.parse(function)
    for other in others:
        again = define(f"def f(x):\n    return {text}\n", file=file)
        linecache.cache[file] = (1, None, ["def f(x):\n", f"    return {other}\n"], file)
        if other == text:
            assert front.parse(again)
        else:
            with pytest.raises(CompileError, match="changed after import"):
                front.parse(again)


def test_renamed_global_is_a_change():
    function = define("def f(x):\n    return alpha(x)\n", file="<global>")
    linecache.cache["<global>"] = (1, None, ["def f(x):\n", "    return beta(x)\n"], "<global>")
    with pytest.raises(CompileError, match="changed after import"):
        front.parse(function)


def test_imports_and_future_annotations_do_not_matter():
    source = """
    from __future__ import annotations
    try:
        import numpy as np
    except ImportError:
        np = None

    def outer(k):
        def f(x: float) -> float:
            return np.sin(x) * k
        return f

    f = outer(2)
    """
    check(define(textwrap.dedent(source), file="<future>"), (0.5,))


def test_self_reference_of_a_closure():
    def go(k):
        return 1 if k == 0 else k * go(k - 1)

    assert front.parse(go).attrs["captures"] == ("go",)
    check(go, (5,))


def test_doctest_and_crlf_sources():
    check(define("def f(x):\r\n    # é ü\r\n    return 'é', x\r\n", file="<crlf>"), (1,))


# -------------------------------------------------------------------------------------------------------------- errors

REFUSED = {
    "async def g(): pass": ("`async def` cannot be compiled", "async def g"[:11]),
    "g = lambda: (yield x)": ("`yield` cannot stand inside an expression", "yield x"),
    "g = [lambda: (yield y) for y in x]": ("`yield` cannot stand inside an expression", "yield y"),
    "g = (a async for a in x)": ("`async for` cannot be compiled", "(a async for a in x)"),
    "raise": ("a bare `raise`", "raise"),
    "return b'a'": ("bytes constants", "b'a'"),
    "return 100000000000000000000": ("does not fit 64 bits", "100000000000000000000"),
    "from . import y": ("relative imports", "from . import y"),
}


@pytest.mark.parametrize("body", REFUSED)
def test_refused_with_reason_caret_and_help(body):
    title, marked = REFUSED[body]
    source = "def f(x):\n" + textwrap.indent(body, "    ") + "\n"
    with pytest.raises(CompileError) as error:
        front.parse_text(source, "f", f"<refused {body!r}>")
    diagnostic = error.value.diagnostic
    span = diagnostic.span
    line = source.splitlines()[span.line - 1]
    assert title in diagnostic.title
    assert line[span.column : span.end_column] == marked
    assert diagnostic.label and diagnostic.help
    assert "^" * len(marked) in str(error.value)


def test_coroutine_is_refused():
    function = define("async def f(x):\n    return x\n", file="<coroutine>")
    with pytest.raises(CompileError, match="`async def` cannot be compiled"):
        front.parse(function)


def test_captures_that_cannot_change_are_accepted():
    accepted = [
        "if x:\n    f = lambda: x\n    return f()\nx = 3\nreturn x",
        "y = 0\nfor i in x:\n    y += i\nreturn (lambda: y)()",
        "for i in x:\n    g = lambda y, i=i: y * i\n    x = g(x)\nreturn x",
        "while True:\n    y = x\n    f = lambda: y\n    return f()",
    ]
    for number, body in enumerate(accepted):
        source = "def f(x):\n" + textwrap.indent(body, "    ") + "\n"
        assert front.parse_text(source, "f", f"<accepted {number}>")


def test_deep_nesting_is_an_error_not_a_crash():
    source = "def f(x):\n    return " + "-".join(["x"] * 2000) + "\n"
    with pytest.raises(CompileError, match="nests too deeply"):
        front.parse_text(source, "f", "<deep>")
