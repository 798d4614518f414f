"""Tables: rows in the interpreter and compiled, derivatives of every order and mixture, rows that become values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pullback as pb
from ir_text import canonical, parse
from native import Native
from pullback import pipeline
from pullback.ad import expand
from pullback.analysis.cells import Cells, cell_writes
from pullback.diagnostic import InternalError
from pullback.infer.hidden import thread_hidden
from pullback.interp import run
from pullback.ir.check import check_program
from pullback.passes import cse, dce, forward_cells, licm, ownership, promote_tables, release_trips, unused_tables
from random_tables import Maker, derived, taylor

ORDERS = ("r", "f", "rr", "rf", "fr", "ff")
NODE = {"node": "f64; i64"}
FOLD = """
    def fold(t: table node, r: i64) -> f64:
        zero: i64 = const 0
        end: bool = lt r, zero
        s: f64 = if end:
          then:
            z: f64 = const 0.0
            yield z
          else:
            v: f64 = table_get column=0 type=f64 t, r
            p: i64 = table_get column=1 type=i64 t, r
            q: f64 = call callee=fold t, p
            u: f64 = sin v
            w: f64 = add u, q
            yield w
        return s
"""
BUILD = """
    def main(x: f64, n: i64, t: table node) -> f64:
        one: i64 = const 1
        none: i64 = const -1
        head: i64 = for n, none:
          body (k: i64, previous: i64):
            r: i64 = table_rows t, one
            w: f64 = cast to=f64 k
            y: f64 = mul x, w
            z: f64 = mul y, y
            table_set column=0 t, r, z
            table_set column=1 t, r, previous
            yield r
        s: f64 = call callee=fold t, head
        return s
"""


def chain():
    return parse(BUILD, FOLD, tables=NODE)


def lowered(program, *, passes=True):
    """Differentiated, with all passes or none."""
    options = pipeline.Options(passes=passes)
    pipeline._optimise_program(program, options)
    check_program(program, "passes")
    expand(program, optimise=pipeline.optimise if passes else None)
    check_program(program, "ad")
    pipeline._optimise_program(program, options)
    if passes:
        pipeline.inline.prune(program)
        for function, last in itertools.product(list(program.functions.values()), pipeline._LAST):
            last(function, program)
        for function in program.functions.values():
            ownership.run(function, program)
    check_program(program, "the end")
    return program


def answers(program, base, modes, *arguments, passes, native=True):
    """Of the derivative: interpreter, then compiled code."""
    made = lowered(derived(program, base, modes), passes=passes)
    found = [run(made, arguments)[0]]
    return [*found, Native(made)(*arguments)[0]] if native else found


# --------------------------------------------------------------------------------------------------------------- values


def test_a_linked_list_is_folded():
    program = derived(chain(), "main", "")
    expected = sum(math.sin((0.7 * k) ** 2) for k in range(9))
    assert run(program, [0.7, 9]) == pytest.approx([expected])
    assert Native(program)(0.7, 9) == pytest.approx([expected])


def test_all_ops_and_types():
    program = parse(
        """
        def main(x: f64, h: f32, n: i64, p: bool, a: f64[:]) -> f64, f64, f32, i64, bool, f64, i64, i64:
            t: table mixed = table name=mixed
            three: i64 = const 3
            zero: i64 = const 0
            r: i64 = table_rows t, three
            s: i64 = table_rows t, three
            table_set column=0 t, s, x
            old: f64 = table_swap column=0 t, s, x
            table_inc column=0 t, s, x
            table_set column=1 t, s, h
            table_set column=2 t, s, n
            table_set column=3 t, s, p
            table_set column=4 t, s, a
            u: table mixed = table_copy t
            table_inc column=0 t, s, x
            y: f64 = table_get column=0 type=f64 u, s
            g: f32 = table_get column=1 type=f32 u, s
            m: i64 = table_get column=2 type=i64 u, s
            q: bool = table_get column=3 type=bool u, s
            b: f64[:] = table_get column=4 type=f64[:] u, s
            c: f64 = array_get b, zero
            e: f64[:] = table_get column=4 type=f64[:] t, r
            d: i64 = array_size axis=0 e
            l: i64 = table_length t
            return old, y, g, m, q, c, d, l
        """,
        tables={"mixed": "f64; f32; i64; bool; f64[:]"},
    )
    expected = [1.5, 3.0, np.float32(0.1), 7, True, 4.0, 0, 6]
    for answer in (run, lambda p, given: Native(p)(*given)):
        assert answer(program, [1.5, 0.1, 7, True, np.array([4.0, 5.0])]) == expected


def test_the_interpreter_is_strict():
    program = parse(
        """
        def main(r: i64) -> f64:
            t: table node = table name=node
            v: f64 = table_get column=0 type=f64 t, r
            return v
        """,
        tables=NODE,
    )
    with pytest.raises(InternalError, match="row 0 of a table of 0 rows"):
        run(program, [0])


def test_columns_are_checked():
    with pytest.raises(InternalError, match="expected \\['i64'\\], found \\['f64'\\]"):
        parse(
            """
            def main(x: f64, r: i64, t: table node) -> f64:
                table_set column=1 t, r, x
                return x
            """,
            tables=NODE,
        )


def test_hidden_tables_are_made_by_the_entry():
    from pullback.ir.node import Op, Value
    from pullback.prims import get
    from pullback.types import Table

    program = parse(
        "def main(x: f64, t: table node) -> f64:\n    s: f64 = call callee=length x\n    return s",
        """
        def length(x: f64) -> f64:
            return x
        """,
        tables=NODE,
    )
    program.functions["main"].body.params.pop()
    value = Value(Table("node"))
    program.functions["length"].body.ops.append(Op(get("hidden"), [], [value], {"key": ("table", "node")}))
    thread_hidden(program, {})
    check_program(program)
    assert [op.name for op in program.functions["main"].body.ops] == ["table", "call"]
    assert [str(v.type) for v in program.functions["length"].body.params] == ["f64", "table node"]


# ---------------------------------------------------------------------------------------------------------- derivatives


@pytest.mark.parametrize("modes", [*ORDERS, "v", "rv", "vr", "fv", "vv", "rrr"])
def test_derivatives_of_a_recursive_fold(modes):
    expected = taylor_of_chain(0.7, 5)[len(modes)]
    for passes in (False, True):
        found = answers(chain(), "main", modes, 0.7, 5, passes=passes, native=passes)
        assert found == pytest.approx([expected] * len(found), rel=1e-9)


def taylor_of_chain(x, n):
    """Derivatives of the sum of sin((k x)**2)."""
    def one(k):
        a, s, c = k * k, math.sin((k * x) ** 2), math.cos((k * x) ** 2)
        u = 2 * a * x  # the inner derivative; that of u is 2 a
        return [s, c * u, 2 * a * c - s * u * u, -6 * a * s * u - c * u**3]

    return [sum(column) for column in zip(*map(one, range(n)), strict=True)]


ARRAYS = (
    """
    def main(x: f64, n: i64, t: table node) -> f64:
        one: i64 = const 1
        two: i64 = const 2
        zero: i64 = const 0
        none: i64 = const -1
        head: i64 = for n, none:
          body (k: i64, previous: i64):
            r: i64 = table_rows t, one
            a: f64[:]c = array_zeros dtype=f64 two
            table_set column=0 t, r, a
            table_set column=1 t, r, previous
            q: f64 = call callee=touch t, r, x
            yield r
        s: f64 = call callee=touch t, head, x
        a: f64[:]c = table_get column=0 type=f64[:]c t, head
        v: f64 = array_get a, zero
        v2: f64 = array_get a, one
        p: i64 = table_get column=1 type=i64 t, head
        b: f64[:]c = table_get column=0 type=f64[:]c t, p
        table_set column=0 t, head, b
        s2: f64 = call callee=touch t, p, v
        e: f64[:]c = table_get column=0 type=f64[:]c t, head
        v3: f64 = array_get e, zero
        m: f64 = mul v, v2
        m2: f64 = mul m, v3
        m3: f64 = add m2, s2
        return m3
    """,
    """
    def touch(t: table node, r: i64, x: f64) -> f64:
        zero: i64 = const 0
        one: i64 = const 1
        a: f64[:]c = table_get column=0 type=f64[:]c t, r
        v: f64 = array_get a, zero
        u: f64 = sin v
        v2: f64 = add u, x
        o: f64 = array_swap a, zero, v2
        w: f64 = mul v2, x
        o2: f64 = array_swap a, one, w
        return w
    """,
)


@pytest.mark.parametrize("passes", [False, True])
def test_arrays_in_rows_are_changed_through_every_name(passes):
    """One array in two rows, changed by a callee: derivatives against 2-point differences of the order below."""
    program = parse(*ARRAYS, tables={"node": "f64[:]c; i64"})
    (value,) = answers(program, "main", "", 0.7, 4, passes=passes, native=False)
    assert value == pytest.approx(_arrays_in_python(0.7))
    h = 1e-5
    first = (_arrays_in_python(0.7 + h) - _arrays_in_python(0.7 - h)) / (2 * h)
    second = (_arrays_in_python(0.7 + h) - 2 * value + _arrays_in_python(0.7 - h)) / h**2
    for modes in ORDERS:
        found = answers(program, "main", modes, 0.7, 4, passes=passes, native=passes)
        assert found == pytest.approx([[first, second][len(modes) - 1]] * len(found), rel=1e-4)


def _arrays_in_python(x):
    def touch(a, x):
        v = math.sin(a[0]) + x
        a[0], a[1] = v, v * x
        return v * x

    nodes = [[0.0, 0.0] for _ in range(4)]
    for node in (*nodes, nodes[-1]):
        touch(node, x)
    v, v2 = nodes[-1]
    s2 = touch(nodes[-2], v)
    return v * v2 * nodes[-2][0] + s2


@pytest.mark.parametrize("seed", range(10))
def test_random_programs(seed):
    check_random(seed, ORDERS if seed % 2 else ("r", "fr", "v"), passes=False)


@pytest.mark.parametrize("seed", range(100, 104))
def test_random_programs_after_passes(seed):
    check_random(seed, ("r", "rf"), passes=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 400))
def test_more_random_programs(seed):
    for passes in (False, True):
        check_random(seed, (*ORDERS, "v", "fv", "rrr"), passes=passes)


def check_random(seed, orders, *, passes):
    program = Maker(seed).program()
    expected = taylor(program, "main", 0.7, 2, 3)
    for modes in ("", *orders):
        found = answers(program, "main", modes, 0.7, 2, passes=passes, native=modes in ("r", "rf"))
        assert found == pytest.approx([expected[len(modes)]] * len(found), rel=1e-8, abs=1e-8), modes


# ---------------------------------------------------------------------------------------------------- facts and passes


def test_which_writes_only_fill_new_rows():
    program = parse(
        """
        def main(x: f64, p: i64, t: table node) -> f64:
            one: i64 = const 1
            v: f64 = table_get column=0 type=f64 t, p
            r: i64 = table_rows t, one
            table_set column=1 t, r, p
            w: f64 = table_get column=0 type=f64 t, p
            table_set column=0 t, r, w
            table_set column=0 t, r, x
            table_set column=1 t, p, r
            q: i64 = table_get column=1 type=i64 t, p
            s: i64 = table_rows t, one
            y: f64 = call callee=look t, q
            table_set column=0 t, s, y
            return y
        """,
        """
        def look(t: table node, r: i64) -> f64:
            v: f64 = table_get column=0 type=f64 t, r
            return v
        """,
        tables=NODE,
    )
    body = program.functions["main"].body
    cells = Cells(program.functions["main"], cell_writes(program))
    numbered = [op for op in body.ops if op.name == "table_set"]
    assert [op in cells.first for op in numbered] == [True, True, False, False, True]
    assert cell_writes(program)["look"].stored == frozenset()
    assert cell_writes(program)["main"].rewritten == {(2, 0), (2, 1)}


def test_a_loop_tells_its_next_trip_of_a_row():
    program = parse(
        """
        def main(x: f64, p: i64, n: i64, t: table node) -> f64:
            one: i64 = const 1
            r: i64 = table_rows t, one
            table_set column=1 t, r, p
            y: f64 = for n, x:
                body (k: i64, c: f64):
                    q: i64 = table_get column=1 type=i64 t, p
                    v: f64 = call callee=look t, q
                    table_set column=1 t, p, r
                    yield v
            table_set column=0 t, r, y
            return y
        """,
        """
        def look(t: table node, r: i64) -> f64:
            v: f64 = table_get column=0 type=f64 t, r
            return v
        """,
        tables=NODE,
    )
    ops = program.functions["main"].body.ops
    cells = Cells(program.functions["main"], cell_writes(program))
    assert [op in cells.first for op in ops if op.name == "table_set"] == [True, False]


def passed(text, *others, tables=NODE, through=(), names=None):
    program = parse(text, *others, tables=tables)
    before = parse(text, *others, tables=tables)
    for run_pass in through:
        for function in program.functions.values():
            run_pass(function, program)
    check_program(program)
    return before, program


def assert_becomes(text, expected, arguments, *, through, tables=NODE):
    before, after = passed(text, tables=tables, through=through)
    wanted = parse(expected, tables=tables)
    assert canonical(after.functions["main"]) == canonical(wanted.functions["main"])
    for given in arguments:
        assert run(after, given) == run(before, given)


def test_a_local_object_becomes_values_through_branches_and_loops():
    assert_becomes(
        """
        def main(x: f64, n: i64) -> f64:
            t: table node = table name=node
            one: i64 = const 1
            h: f64 = const 0.5
            r: i64 = table_rows t, one
            table_set column=0 t, r, x
            for n:
              body (k: i64):
                v: f64 = table_get column=0 type=f64 t, r
                c: bool = gt v, h
                if c:
                  then:
                    w: f64 = mul v, h
                    table_set column=0 t, r, w
                    yield
                  else:
                    table_inc column=0 t, r, h
                    yield
                yield
            y: f64 = table_get column=0 type=f64 t, r
            return y
        """,
        """
        def main(x: f64, n: i64) -> f64:
            h: f64 = const 0.5
            y: f64 = for n, x:
              body (k: i64, v: f64):
                c: bool = gt v, h
                s: f64 = if c:
                  then:
                    w: f64 = mul v, h
                    yield w
                  else:
                    u: f64 = add v, h
                    yield u
                yield s
            return y
        """,
        [(3.0, 0), (3.0, 5), (0.1, 4)],
        through=(promote_tables.run, dce.run),
    )


def test_objects_that_are_replaced_in_every_trip_become_values():
    """The loop carries the number of the last one; an object in the object goes in the next round."""
    assert_becomes(
        """
        def main(x: f64, n: i64) -> f64:
            t: table node = table name=node
            one: i64 = const 1
            h: f64 = const 0.5
            i: i64 = table_rows t, one
            table_set column=0 t, i, h
            r: i64 = table_rows t, one
            table_set column=0 t, r, x
            table_set column=1 t, r, i
            l: i64 = for n, r:
              body (k: i64, p: i64):
                v: f64 = table_get column=0 type=f64 t, p
                j: i64 = table_get column=1 type=i64 t, p
                f: f64 = table_get column=0 type=f64 t, j
                w: f64 = mul v, f
                g: f64 = add f, w
                m: i64 = table_rows t, one
                table_set column=0 t, m, g
                s: i64 = table_rows t, one
                table_set column=0 t, s, w
                table_set column=1 t, s, m
                yield s
            y: f64 = table_get column=0 type=f64 t, l
            return y
        """,
        """
        def main(x: f64, n: i64) -> f64:
            h: f64 = const 0.5
            y: f64, z: f64 = for n, x, h:
              body (k: i64, v: f64, f: f64):
                w: f64 = mul v, f
                g: f64 = add f, w
                yield w, g
            return y
        """,
        [(3.0, 0), (3.0, 3)],
        through=(promote_tables.run, dce.run),
    )


KNOWN_ELSEWHERE = {
    "a merged row is written": "table_set column=0 t, q, x",
    "its number is stored": "table_set column=1 t, q, r",
    "a callee gets it": "u: f64 = call callee=look t, r",
    "it is a number": "u: i64 = add r, r",
    "another merged row is compared": "u: bool = eq q, s",
}


@pytest.mark.parametrize("reason", KNOWN_ELSEWHERE)
def test_rows_that_others_may_know_stay(reason):
    text = f"""
        def main(x: f64, c: bool) -> f64:
            t: table node = table name=node
            one: i64 = const 1
            r: i64 = table_rows t, one
            s: i64 = table_rows t, one
            table_set column=0 t, r, x
            q: i64 = if c:
              then:
                yield r
              else:
                yield s
            {KNOWN_ELSEWHERE[reason]}
            v: f64 = table_get column=0 type=f64 t, q
            w: f64 = table_get column=0 type=f64 t, r
            y: f64 = add v, w
            return y
    """
    look = "def look(t: table node, r: i64) -> f64:\n    v: f64 = table_get column=0 type=f64 t, r\n    return v"
    before, after = passed(text, look, through=(promote_tables.run,))
    assert sum(op.name == "table_rows" for op in after.functions["main"].body.walk()) == 2
    assert run(after, [2.0, True]) == run(before, [2.0, True])


def test_what_was_stored_is_not_read_again():
    assert_becomes(
        """
        def main(x: f64, p: i64, q: i64, t: table node) -> f64:
            table_set column=0 t, p, x
            v: f64 = table_get column=0 type=f64 t, p
            w: f64 = table_get column=0 type=f64 t, q
            table_set column=0 t, q, v
            u: f64 = table_get column=0 type=f64 t, p
            y: f64 = add w, u
            return y
        """,
        """
        def main(x: f64, p: i64, q: i64, t: table node) -> f64:
            table_set column=0 t, p, x
            w: f64 = table_get column=0 type=f64 t, q
            table_set column=0 t, q, x
            u: f64 = table_get column=0 type=f64 t, p
            y: f64 = add w, u
            return y
        """,
        [],
        through=(forward_cells.run,),
    )


def test_columns_that_are_never_rewritten_are_read_once():
    text = """
        def main(n: i64, p: i64, t: table node) -> f64:
            z: f64 = const 0.0
            y: f64 = for n, z:
              body (k: i64, s: f64):
                v: f64 = table_get column=0 type=f64 t, p
                w: f64 = table_get column=0 type=f64 t, p
                m: f64 = mul v, w
                {write}
                a: f64 = add s, m
                yield a
            return y
    """
    for write, count in (("", 1), ("table_set column=0 t, p, m", 2), ("table_set column=1 t, p, k", 1)):
        _, after = passed(text.format(write=write), through=(cse.run, licm.run))
        (loop,) = (op for op in after.functions["main"].body.ops if op.name == "for")
        reads = [op for op in after.functions["main"].body.walk() if op.name == "table_get"]
        assert len(reads) == count
        assert (reads[0] in loop.blocks[0].ops) == (count == 2)


def test_tables_nobody_looks_into_are_not_handed_on():
    program = parse(
        """
        def main(x: f64) -> f64:
            t: table node = table name=node
            u: table node = table name=node
            y: f64 = call callee=first x, t, u
            z: f64, g: f64 = value_and_grad callee=first wrt=(0, ) outputs=(0, ) y, t, u
            return g
        """,
        """
        def first(x: f64, t: table node, u: table node) -> f64:
            y: f64 = call callee=second x, u, t
            return y
        """,
        """
        def second(x: f64, t: table node, u: table node) -> f64:
            n: i64 = table_length u
            d: f64 = cast to=f64 n
            y: f64 = add x, d
            z: f64 = call callee=third y, t
            return z
        """,
        """
        def third(x: f64, t: table node) -> f64:
            return x
        """,
        tables=NODE,
    )
    unused_tables.run(program)
    check_program(program)
    counts = {name: len(f.body.params) for name, f in program.functions.items()}
    assert counts == {"main": 1, "first": 2, "second": 2, "third": 1}


def test_tables_end_with_the_block_that_makes_them():
    program = parse(
        """
        def main(n: i64) -> i64:
            one: i64 = const 1
            zero: i64 = const 0
            s: table node = table name=node
            m: i64 = for n, zero:
              body (k: i64, a: i64):
                t: table node = table name=node
                r: i64 = table_rows t, n
                l: i64 = table_length t
                b: i64 = add a, l
                yield b
            return m
        """,
        tables=NODE,
    )
    ownership.run(program.functions["main"], program)
    check_program(program)
    frees = [op for op in program.functions["main"].body.walk() if op.name == "free"]
    (loop,) = (op for op in program.functions["main"].body.ops if op.name == "for")
    assert frees == [loop.blocks[0].ops[-1]]
    assert Native(program)(1000) == [1000000]


TRIPS = """
    def main(x: f64, n: i64, t: table node, p: i64, b: buffer<i64>) -> f64:
        one: i64 = const 1
        y: f64, h: i64 = for n, x, p:
          body (k: i64, a: f64, g: i64):
            r: i64 = table_rows t, one
            table_set column=0 t, r, a
            table_set column=1 t, r, k
            c: f64 = call callee=look t, r
            {write}
            yield c, {carried}
        return y
"""
LOOK = """
    def look(t: table node, r: i64) -> f64:
        one: i64 = const 1
        s: i64 = table_rows t, one
        table_set column=1 t, s, r
        v: f64 = table_get column=0 type=f64 t, r
        return v
"""


@pytest.mark.parametrize(
    ("write", "carried", "look", "released"),
    [
        ("", "g", LOOK, True),
        ("table_inc column=0 t, g, c", "k", LOOK, True),
        ("", "r", LOOK, False),
        ("j: i64 = table_get column=1 type=i64 t, g", "j", LOOK, False),
        ("table_set column=1 t, g, r", "g", LOOK, False),
        ("buffer_put b, k, r", "g", LOOK, False),
        ("l: i64 = table_rows t, one", "g", LOOK, True),
        ("l: i64 = table_rows t, one", "k", LOOK, False),
        ("", "g", LOOK.replace("t, s, r", "t, r, s"), False),
    ],
)
def test_rows_of_a_trip_are_given_back_where_nobody_keeps_them(write, carried, look, released):
    text = TRIPS.format(write=write, carried=carried)
    _, after = passed(text, look, through=(release_trips.run,))
    assert any(op.name == "table_cut" for op in after.functions["main"].body.walk()) == released


def test_trips_that_leave_nothing_behind_need_no_more_room():
    program = parse(
        """
        def main(x: f64, n: i64) -> f64, i64:
            one: i64 = const 1
            t: table node = table name=node
            y: f64 = for n, x:
              body (k: i64, a: f64):
                r: i64 = table_rows t, one
                h: f64 = const 0.5
                table_inc column=0 t, r, a
                table_inc column=0 t, r, h
                c: f64 = table_get column=0 type=f64 t, r
                yield c
            l: i64 = table_length t
            return y, l
        """,
        tables=NODE,
    )
    release_trips.run(program.functions["main"], program)
    check_program(program)
    assert run(program, [1.0, 6]) == [4.0, 0]
    assert Native(program)(1.0, 6) == [4.0, 0]


# ------------------------------------------------------------------------------------------------------ Python programs


class Node:
    def __init__(self, value, rest):
        self.value = value
        self.rest = rest


def total(node):
    return 0.0 if node is None else math.sin(node.value) + total(node.rest)


def linked(x, n):
    head = None
    for i in range(n):
        head = Node(x * i, head)
    return total(head)


def test_a_million_nodes_deep():
    n = 10**6
    angles = 1e-6 * np.arange(n)
    assert pb.jit(linked)(1e-6, n) == pytest.approx(np.sin(angles).sum(), rel=1e-9)
    assert pb.grad(linked)(1e-6, n) == pytest.approx((np.arange(n) * np.cos(angles)).sum(), rel=1e-9)


def descent(x, n):
    for _ in range(n):
        x = x - 0.001 * pb.grad(linked)(x, 5)
    return x


def test_inner_gradients_over_objects_in_a_loop():
    value, slope = pb.value_and_grad(descent)(0.3, 7)
    step = 1e-6
    run_ = pb.jit(descent)
    assert value == run_(0.3, 7)
    assert slope == pytest.approx((run_(0.3 + step, 7) - run_(0.3 - step, 7)) / (2 * step), rel=1e-6)
    assert pb.grad(pb.grad(descent))(0.3, 7) == pytest.approx(pb.hessian(descent)(0.3, 7), rel=1e-9)


class Counter:
    def __init__(self, total):
        self.total = total


def pulled_twice(x):
    counter = Counter(x)

    def f(y):
        counter.total = counter.total * y + 1.0
        return counter.total * y

    out, back = pb.vjp(f, x)
    counter.total = 100.0
    return out + 3.0 * back(1.0)[0] + back(2.0)[0]


def test_a_pullback_runs_on_the_objects_as_they_were():
    x = 0.7
    assert pb.jit(pulled_twice)(x) == pytest.approx((x * x + 1.0) * x + 5.0 * (2.0 * x * x + 1.0))
    assert pb.grad(pulled_twice)(x) == pytest.approx(3.0 * x * x + 1.0 + 20.0 * x)
    assert pb.hessian(pulled_twice)(x) == pytest.approx(6.0 * x + 20.0)


def pulled_chain(x, n):
    out, back = pb.vjp(lambda y: linked(y * x, n), x)
    return out * back(1.0)[0] + back(x)[0]


def test_pullbacks_of_recursive_functions_of_objects_are_differentiated():
    step, value = 1e-5, pb.jit(pulled_chain)
    slope = pb.grad(pulled_chain)(0.3, 5)
    assert slope == pytest.approx((value(0.3 + step, 5) - value(0.3 - step, 5)) / (2 * step), rel=1e-6)
    assert pb.grad(pb.grad(pulled_chain))(0.3, 5) == pytest.approx(pb.hessian(pulled_chain)(0.3, 5), rel=1e-9)


def test_nothing_is_left_behind():
    grad = pb.grad(linked)
    grad(0.5, 1000)
    before = pb.stats().live_bytes
    for _ in range(10):
        grad(0.5, 1000)
    assert pb.stats().live_bytes == before


class Unit:
    def __init__(self, state):
        self.state = state
        self.steps = 0

    def update(self, x):
        self.state = self.state * 0.5 + x
        self.steps += 1


def replaced_arrays(x, n):
    one, other = Unit(np.ones(1000)), Unit(np.zeros(1000))
    for i in range(n):
        unit = one if i % 2 else other
        unit.update(x)
    return np.sum(one.state * other.state)


def local_lists(x, n):
    total = 0.0
    for i in range(n):
        values = []
        for j in range(5):
            values.append(x * j)
        total += values[i % 5] + 0.001 * linked(x, 5)
    return total


@pytest.mark.parametrize("function", [replaced_arrays, local_lists, descent])
def test_long_loops_need_no_more_memory_than_short_ones(function):
    compiled = pb.jit(function)
    peaks = []
    for n in (100, 3000):
        compiled(0.3, n)
        pb.stats(reset=True)
        compiled(0.3, n)
        peaks.append(pb.stats().peak_bytes - pb.stats().live_bytes)
    assert peaks[1] <= peaks[0] + 50_000
    assert compiled(0.3, 100) == pytest.approx(function(0.3, 100)) if function is not descent else True
