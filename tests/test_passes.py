"""Scalar rules and simplification: pairs of programs before and after.  See also `test_passes_*.py`."""

import pytest

from ir_text import parse
from meaning import apply, rewrites

# ------------------------------------------------------------------------------------------------- scalar rules

FOLDS = {
    "constants": ("a: f64 = const 2.0\nb: f64 = const 0.1\nr: f64 = mul a, b", "r: f64 = const 0.2"),
    "times one": ("one: f64 = const 1.0\nr: f64 = mul one, x", "x"),
    "over one": ("one: f64 = const 1.0\nr: f64 = div x, one", "x"),
    "times minus one": ("one: f64 = const -1.0\nr: f64 = mul x, one", "r: f64 = neg x"),
    "plus minus zero": ("z: f64 = const -0.0\nr: f64 = add x, z", "x"),
    "minus zero": ("z: f64 = const 0.0\nr: f64 = sub x, z", "x"),
    "plus zero of a square": (
        "z: f64 = const 0.0\ns: f64 = mul x, x\nr: f64 = add s, z", "s: f64 = mul x, x\nr: f64 = s"),
    "neg neg": ("a: f64 = neg x\nr: f64 = neg a", "x"),
    "minus a negative": ("a: f64 = neg y\nr: f64 = sub x, a", "r: f64 = add x, y"),
    "plus a negative": ("a: f64 = neg y\nr: f64 = add a, x", "r: f64 = sub x, y"),
    "signs cancel": ("a: f64 = neg y\nb: f64 = neg x\nr: f64 = mul a, b", "r: f64 = mul y, x"),
    "scale twice": (
        "two: f64 = const 2.0\nthree: f64 = const 3.0\na: f64 = mul x, two\nr: f64 = mul three, a",
        "six: f64 = const 6.0\nr: f64 = mul x, six"),
    "double of a multiple": (
        "three: f64 = const 3.0\na: f64 = mul x, three\nr: f64 = add a, a",
        "six: f64 = const 6.0\nr: f64 = mul x, six"),
    "multiple of a double": (
        "three: f64 = const 3.0\na: f64 = add x, x\nr: f64 = mul a, three",
        "six: f64 = const 6.0\nr: f64 = mul x, six"),
    "double of a threefold": (
        "two: f64 = const 2.0\nthree: f64 = const 3.0\na: f64 = mul x, three\nr: f64 = mul a, two",
        "six: f64 = const 6.0\nr: f64 = mul x, six"),
    "less than itself": ("q: bool = lt x, x\nr: f64 = select q, y, x", "x"),
    "zero of a sensitivity": ("z: f64 = const 0.0\nr: f64 = accumulate z, x", "x"),
    "square": ("two: f64 = const 2.0\nr: f64 = pow x, two", "r: f64 = powi n=2 x"),
    "powi one": ("r: f64 = powi n=1 x", "x"),
    "powi zero": ("r: f64 = powi n=0 x", "r: f64 = const 1.0"),
    "strong zero of a constant": ("c: f64 = const 2.0\nr: f64 = zmul c, x", "c: f64 = const 2.0\nr: f64 = mul x, c"),
    "strong zero of zero": ("c: f64 = const 0.0\nr: f64 = zmul c, x", "r: f64 = const 0.0"),
    "cast back": ("a: f32 = cast to=f32 x\nb: f64 = cast to=f64 a\nc: f32 = cast to=f32 b\nr: f64 = cast to=f64 c",
                  "a: f32 = cast to=f32 x\nr: f64 = cast to=f64 a"),
    "square is not negative": (
        "z: f64 = const 0.0\ns: f64 = mul x, x\nt: f64 = sqrt s\np: bool = lt t, z\nr: f64 = select p, y, x", "x"),
    "select of the opposite": ("q: bool = not_ p\nr: f64 = select q, x, y", "r: f64 = select p, y, x"),
}  # fmt: skip

KEPT = {
    "times zero": "z: f64 = const 0.0\nr: f64 = mul x, z",
    "plus zero": "z: f64 = const 0.0\nr: f64 = add x, z",
    "zero minus": "z: f64 = const 0.0\nr: f64 = sub z, x",
    "self minus self": "r: f64 = sub x, x",
    "divided by three": "c: f64 = const 3.0\nr: f64 = div x, c",
    "scale not exact": "a: f64 = const 3.0\nb: f64 = const 5.0\nc: f64 = mul x, a\nr: f64 = mul c, b",
    "double of a fraction": "a: f64 = const 1.5\nb: f64 = mul x, a\nr: f64 = add b, b",
    "fraction of a double": "a: f64 = const 0.5\nb: f64 = add x, x\nr: f64 = mul b, a",
    "self equal to self": "p: bool = eq x, x\nr: f64 = cast to=f64 p",
    "square root by pow": "h: f64 = const 0.5\nr: f64 = pow x, h",
    "library functions": "one: f64 = const 1.0\nr: f64 = sin one",
    "narrowing": "a: f32 = cast to=f32 x\nr: f64 = cast to=f64 a",
    "not less": "p: bool = lt x, y\nq: bool = not_ p\nr: f64 = cast to=f64 q",
    "strong zero": "r: f64 = zmul x, y",
}


def scalar_function(body):
    lines = [line.strip() for line in body.splitlines()]
    last = lines[-1]
    name = last.split(":")[0] if ":" in last else last
    if last.startswith("r: f64 = ") and last.split(" = ")[1] in ("x", "y", "s"):
        name, lines = last.split(" = ")[1], lines[:-1]
    ops = "".join(f"    {line}\n" for line in lines if " = " in line)
    return f"def f(x: f64, y: f64, p: bool) -> f64:\n{ops}    return {name}\n"


@pytest.mark.parametrize("name", FOLDS)
def test_fold(name):
    before, after = FOLDS[name]
    rewrites("fold dce", scalar_function(before), scalar_function(after))


@pytest.mark.parametrize("name", KEPT)
def test_fold_keeps_what_is_not_exact(name):
    text = scalar_function(KEPT[name])
    program, before = parse(text), parse(text)
    apply(program, "fold", "simplify", "dce")
    names = [[op.name for op in p.functions["f"].body.walk() if op.name != "const"] for p in (program, before)]
    assert names[0] == names[1]


INTEGER_FOLDS = {
    "zero times": ("z: i64 = const 0\nr: i64 = mul i, z", "r: i64 = const 0"),
    "self minus self": ("r: i64 = sub i, i", "r: i64 = const 0"),
    "sums of constants": ("a: i64 = const 1\nb: i64 = add i, a\nc: i64 = add b, a\nr: i64 = sub c, a",
                          "one: i64 = const 1\nr: i64 = add i, one"),
    "there and back": ("a: i64 = add i, j\nr: i64 = sub a, j", "i"),
    "opposite": ("p: bool = lt i, j\nq: bool = not_ p\nr: i64 = cast to=i64 q",
                 "q: bool = ge i, j\nr: i64 = cast to=i64 q"),
    "truth of a bool": (
        "p: bool = lt i, j\na: i64 = cast to=i64 p\nz: i64 = const 0\nq: bool = ne a, z\nr: i64 = cast to=i64 q",
        "p: bool = lt i, j\nr: i64 = cast to=i64 p"),
    "index from the end": ("m: i64 = const -1\nr: i64 = wrap_index m, j", "m: i64 = const -1\nr: i64 = add j, m"),
    "square": ("two: i64 = const 2\nr: i64 = ipow i, two", "r: i64 = mul i, i"),
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGER_FOLDS)
def test_fold_of_integers(name):
    def text(body):
        lines = body.splitlines()
        ops = "".join(f"    {line}\n" for line in lines if " = " in line)
        return f"def f(i: i64, j: i64) -> i64:\n{ops}    return {lines[-1].split(':')[0]}\n"

    before, after = INTEGER_FOLDS[name]
    rewrites("fold dce fold dce", text(before), text(after))


# ------------------------------------------------------------------------------------------------------ structure


def test_a_raising_branch_becomes_a_check():
    rewrites(
        "simplify dce",
        """
        def f(x: f64, c: bool) -> f64:
            no: bool = const False
            zero: f64 = const 0.0
            r: f64 = if c:
              then:
                check exception=ValueError message=bad no
                yield zero
              else:
                y: f64 = exp x
                yield y
            return r
        """,
        """
        def f(x: f64, c: bool) -> f64:
            ok: bool = not_ c
            check exception=ValueError message=bad ok
            y: f64 = exp x
            return y
        """,
    )


def test_small_linear_branches_become_selects():
    rewrites(
        "simplify dce",
        """
        def f(x: f64, y: f64, c: bool) -> f64:
            r: f64 = if c:
              then:
                a: f64 = add x, y
                yield a
              else:
                yield y
            return r
        """,
        """
        def f(x: f64, y: f64, c: bool) -> f64:
            a: f64 = add x, y
            r: f64 = select c, a, y
            return r
        """,
    )


def test_branches_with_products_stay():
    text = """
        def f(x: f64, y: f64, c: bool) -> f64:
            r: f64 = if c:
              then:
                a: f64 = mul x, y
                yield a
              else:
                yield y
            return r
        """
    rewrites("simplify cse dce licm", text, text)


def test_what_a_check_proves_is_known_after_it():
    rewrites(
        "simplify dce",
        """
        def f(x: f64, c: bool) -> f64:
            check exception=ValueError message=bad c
            check exception=TypeError message=worse c
            r: f64 = if c:
              then:
                a: f64 = exp x
                yield a
              else:
                yield x
            return r
        """,
        """
        def f(x: f64, c: bool) -> f64:
            check exception=ValueError message=bad c
            a: f64 = exp x
            return a
        """,
    )


def test_short_circuit_becomes_logic():
    rewrites(
        "simplify dce",
        """
        def f(x: f64, y: f64, c: bool) -> bool:
            no: bool = const False
            r: bool = if c:
              then:
                p: bool = lt x, y
                yield p
              else:
                yield no
            return r
        """,
        """
        def f(x: f64, y: f64, c: bool) -> bool:
            p: bool = lt x, y
            r: bool = and_ c, p
            return r
        """,
    )


def test_carried_values_that_do_not_change():
    rewrites(
        "simplify dce",
        """
        def f(x: f64, y: f64, n: i64) -> f64, f64:
            r: f64, s: f64 = for n, x, y:
              body (k: i64, a: f64, b: f64):
                d: f64 = mul a, b
                yield d, b
            return r, s
        """,
        """
        def f(x: f64, y: f64, n: i64) -> f64, f64:
            r: f64 = for n, x:
              body (k: i64, a: f64):
                d: f64 = mul a, y
                yield d
            return r, y
        """,
    )


def test_equal_carried_values_are_one():
    rewrites(
        "simplify dce",
        """
        def f(x: f64, y: f64, n: i64) -> f64, f64:
            r: f64, s: f64 = for n, x, x:
              body (k: i64, a: f64, b: f64):
                d: f64 = mul a, b
                yield d, d
            return r, s
        """,
        """
        def f(x: f64, y: f64, n: i64) -> f64, f64:
            r: f64 = for n, x:
              body (k: i64, a: f64):
                d: f64 = mul a, a
                yield d
            return r, r
        """,
    )


def test_loops_of_no_and_of_one_trip():
    rewrites(
        "simplify dce",
        """
        def f(x: f64) -> f64, f64:
            none: i64 = const -1
            once: i64 = const 1
            r: f64 = for none, x:
              body (k: i64, a: f64):
                b: f64 = exp a
                yield b
            s: f64 = for once, x:
              body (k: i64, a: f64):
                b: f64 = exp a
                yield b
            return r, s
        """,
        """
        def f(x: f64) -> f64, f64:
            s: f64 = exp x
            return x, s
        """,
    )


def test_records_and_buffers_are_forwarded():
    rewrites(
        "simplify dce",
        """
        def f(x: f64, y: f64, i: i64) -> f64, f64, f64, i64:
            r: box R = box name=R variant=1 x, y
            a: f64, b: f64 = unbox name=R variant=1 types=(f64, f64) r
            t: i64 = box_tag r
            u: buffer<f64> = buffer element=f64 i
            buffer_put u, i, x
            v: f64 = buffer_get u, i
            return a, b, v, t
        """,
        """
        def f(x: f64, y: f64, i: i64) -> f64, f64, f64, i64:
            t: i64 = const 1
            return x, y, x, t
        """,
    )


def test_elements_of_views_are_elements():
    rewrites(
        "simplify dce",
        """
        def f(a: f64[:,:], i: i64, j: i64) -> f64, i64:
            row: f64[:] = view_index axis=0 a, i
            x: f64 = array_get row, j
            n: i64 = array_size axis=0 row
            return x, n
        """,
        """
        def f(a: f64[:,:], i: i64, j: i64) -> f64, i64:
            x: f64 = array_get a, i, j
            n: i64 = array_size axis=1 a
            return x, n
        """,
    )
