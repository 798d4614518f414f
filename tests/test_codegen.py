"""Code generation: every primitive and control form as native code against NumPy and the interpreter."""

import ctypes
import itertools
import math
import signal
import time
import warnings
from fractions import Fraction

import numpy as np
import pytest

import programs_ir
from effort import calls_of
from native import Native, either, elementwise, function, inner, loop, program, repeat_while, sizes_of
from pullback import interp
from pullback.codegen import abi, emit, jit, memory, shared, target
from pullback.diagnostic import InternalError, Span
from pullback.ir.check import check_program
from pullback.ir.node import Program
from pullback.prims import REGISTRY
from pullback.prims.base import Elementary, Prim
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import BOOL, F32, F64, I32, I64, ArrayRef, Box, Buffer, DType, Scalar

U64 = Scalar(DType.U64)
V, VS = ArrayRef(DType.F64, 1, True), ArrayRef(DType.F64, 1)
M, MS = ArrayRef(DType.F64, 2, True), ArrayRef(DType.F64, 2)
RNG = np.random.default_rng(20240607)

# ---------------------------------------------------------------------------------------------------- scalars

SAMPLES = {
    DType.F64: [0.0, -0.0, 1.0, -1.5, 0.3, 2.5, 1e300, -1e-310, np.inf, -np.inf, np.nan],
    DType.F32: [0.0, -0.0, 1.0, -1.5, 0.3, 2.5, 1e38, 1e-42, np.inf, -np.inf, np.nan],
    DType.I64: [0, 1, -1, 2, 3, -7, 63, 64, 2**62, 2**63 - 1, -(2**63)],
    DType.I32: [0, 1, -1, 2, 3, -7, 31, 32, 2**30, 2**31 - 1, -(2**31)],
    DType.U64: [0, 1, 2, 3, 63, 2**32 + 1, 2**63, 2**64 - 1],
    DType.BOOL: [False, True],
}
OWN = {"const", "powi", "cast"}


def fused(x, y, z):
    """fma; the interpreter's rounds twice."""
    if not all(map(np.isfinite, (x, y, z))):
        return x * y + z if np.isfinite(x * y) or np.isnan(x * y) or not (np.isfinite(x) and np.isfinite(y)) else z
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    try:
        near = type(x)(float(exact)) if exact else x * y + z
    except OverflowError:
        return type(x)(np.inf if exact > 0 else -np.inf)
    if np.isinf(near) or not exact:
        return near
    # Rounding to float64 before float32 may miss by one.
    beside = [near, *(n for n in np.nextafter(near, np.array([-np.inf, np.inf], near.dtype)) if np.isfinite(n))]
    return min(beside, key=lambda n: abs(Fraction(float(n)) - exact))


def scalar_cases():
    """(primitive, operand types) for all that take scalars."""
    for prim in REGISTRY.values():
        if prim.name in OWN or prim.impl is None or not isinstance(prim, Prim):
            continue
        for types in itertools.chain(
            *(itertools.product([t], repeat=n) for t in (F64, F32, I64, I32, BOOL) for n in (1, 2, 3)),
            [(I64, F64), (I64, F32), (BOOL, F64, F64), (BOOL, I64, I64), (BOOL, F32, F32), (BOOL, BOOL, BOOL),
             (U64, U64), (F64,) * 4, (F32,) * 4],
        ):
            try:
                prim.infer(types, {})
            except (TypeError, KeyError):
                continue
            yield prim, types


@pytest.fixture(scope="module")
def scalars():
    """All scalar primitives at all dtypes in one module."""
    functions, cases = {}, []
    for prim, types in dict.fromkeys(((p.name, t) for p, t in scalar_cases())):
        name = f"{prim}({','.join(map(str, types))})"
        functions[name] = function(types, lambda e, *xs, prim=prim: e(prim, *xs), name)
        cases.append((name, REGISTRY[prim], types))
    return Native(Program(functions, next(iter(functions))), level=1), cases


def test_scalar_primitives(scalars):
    native, cases = scalars
    assert len(cases) > 100
    for name, prim, types in cases:
        impl = fused if prim.name == "fma" else prim.impl
        exact = not any(isinstance(text, Elementary) for text in (prim.lower or {}).values())
        for values in itertools.product(*(SAMPLES[t.dtype] for t in types)):
            if outside(prim.name, values):
                continue
            given = [NUMPY_DTYPES[t.dtype](v) for t, v in zip(types, values, strict=True)]
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                expected = native.program.functions[name].body.results[0].type
                try:
                    expected = NUMPY_DTYPES[expected.dtype](impl(*given))
                except OverflowError:  # of the reference: polygamma near 0
                    continue
            (found,) = native(*given, name=name)
            assert same(found, expected, exact), (name, values, found, expected)


def outside(name, values):
    """Outside the domain of the row, or where the interpreter loses the sign of an overflow."""
    match name:
        case "polygamma":
            return not 0 <= values[0] < 20 or not 1e-9 < abs(values[1]) < 1e9
        case "ult":
            return values[1] < 0
        case "hurwitz":  # SciPy has nan where the limit is 0
            return not all(abs(v) < 1e15 for v in values)
        case "hyp1f1" | "hyp2f1":  # SciPy's own does not end for hyp1f1(1.0, -1.5, 1e300)
            return not all(abs(v) < 1e9 or np.isnan(v) for v in values)
        case "gamma":
            return values[0] == -1e-310
    return False


def same(found, expected, exact):
    if found.dtype.kind != "f":
        return found == expected
    if np.isnan(expected) or np.isnan(found):
        return np.isnan(expected) and np.isnan(found)
    if exact:
        return found == expected and np.signbit(found) == np.signbit(expected)
    return found == expected or abs(found - expected) <= 64 * np.spacing(abs(expected))  # how accurate: test_elementary


def test_no_scalar_primitive_is_left_out():
    """Every row that the interpreter can run on scalars was among the cases."""
    done = {prim.name for prim, _ in scalar_cases()} | OWN
    assert {p.name for p in REGISTRY.values() if p.impl is not None} <= done


@pytest.mark.parametrize("source", [F64, F32, I64, I32, BOOL], ids=str)
def test_cast(source):
    kinds = [F64, F32, I64, I32, BOOL]
    native = Native(program([source], lambda e, x: [e("cast", x, to=t.dtype) for t in kinds]), level=1)
    values = [*SAMPLES[source.dtype]]
    if source.dtype.is_float:
        values += [2.0**31, 2.0**31 - 1, -(2.0**31), -(2.0**31) - 1.5, 2.0**63, -(2.0**63), 2147483647.5, -2147483648.5]
    impl = REGISTRY["cast"].impl
    for value in values:
        given = NUMPY_DTYPES[source.dtype](value)
        for kind, found in zip(kinds, native(given), strict=True):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = impl(given, kind.dtype)
            assert same(found, expected, True), (value, kind, found, expected)


@pytest.mark.parametrize("type_", [F64, F32], ids=str)
def test_powi(type_):
    exponents = [*range(-9, 10), 31, 64, 100]
    native = Native(program([type_], lambda e, x: [e("powi", x, n=n) for n in exponents]), level=1)
    for x in (1.5, -0.75, 0.0, 3.0, np.inf, np.nan):
        x = NUMPY_DTYPES[type_.dtype](x)
        with np.errstate(all="ignore"):
            for n, found in zip(exponents, native(x), strict=True):
                exact = np.power(np.float64(x), float(n))
                assert np.allclose(found, NUMPY_DTYPES[type_.dtype](exact), rtol=8 * abs(n) * np.finfo(x.dtype).eps,
                                   equal_nan=True), (x, n, found)  # fmt: skip


def test_constants():
    values = [0.1, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308]
    native = Native(program([], lambda e: [e.constant(v, F64) for v in values] + [e.constant(v, F32) for v in values]))
    with np.errstate(over="ignore"):
        expected = [np.float64(v) for v in values] + [np.float32(v) for v in values]
    assert [x.tobytes() for x in native()] == [x.tobytes() for x in expected]
    whole = [0, -1, 2**63 - 1, -(2**63)]
    assert Native(program([], lambda e: [e.integer(v) for v in whole] + [e.boolean(True)]))() == [*whole, True]


# ---------------------------------------------------------------------------------------------------- control


def test_if_for_while():
    def build(e, x, n):
        (chosen,) = either(e, e("gt", x, e.constant(0.0)), lambda a: a("mul", x, x), lambda a: a("neg", x))
        total, last = loop(e, n, [chosen, e.integer(-1)], lambda b, k, s, _: [b("add", b("mul", s, x), x), k])
        count, rest = repeat_while(
            e, [e.integer(0), total], lambda c, i, r: c("gt", r, c.constant(1.0)),
            lambda b, i, r: [b("add", i, b.integer(1)), b("mul", r, b.constant(0.5))],
        )  # fmt: skip
        return [total, last, count, rest]

    typed = program([F64, I64], build)
    check_program(typed)
    native = Native(typed)
    for x, n in itertools.product((1.5, -2.0, 0.5), (-3, 0, 1, 2, 7, 300)):
        assert native(x, n) == interp.run(typed, [np.float64(x), np.int64(n)])


@pytest.mark.parametrize("n", [-1, 0, 1, 5, 10**6])
def test_constant_trip_counts(n):
    def build(e, x):
        return loop(e, e.integer(n), [x], lambda b, k, s: [b("add", s, b.constant(1.0))])

    native = Native(program([F64], build))
    assert native(0.0) == [max(n, 0)]


def test_long_loops_cross_strips():
    n = 1_234_567
    native = Native(program([I64], lambda e, n: loop(e, n, [e.integer(0)], lambda b, k, s: [b("add", s, k)])))
    assert native(n) == [n * (n - 1) // 2]


def test_nested_loops_and_branches_carry_arrays():
    """Arrays of all kinds pass through ifs and loops piece by piece."""

    def build(e, a, b, n):
        def swap(i, k, x, y):
            return either(i, i("eq", i("and_", k, i.integer(1)), i.integer(0)), lambda t: [y, x], lambda t: [x, y])

        first, second = loop(e, n, [a, b], swap)
        return [e("array_get", first, e.integer(0)), e("array_size", second, axis=0)]

    native = Native(program([VS, VS, I64], build))
    a, b = np.arange(10.0)[::3], np.arange(5.0) + 50
    assert native(a, b, 1) == [50.0, 4] and native(a, b, 3) == [0.0, 5]


def test_checks():
    def build(e, i, x, y, flag):
        e.span = Span("user.py", 7, 4)
        e.op("check", e("lt", i, e.integer(10)), i, x, y, flag, exception="IndexError", message="{0} {1} {2} {3}")
        e.op("check", e("lt", i, e.integer(5)), exception="ZeroDivisionError", message="plain")
        return i

    typed = program([I64, F64, F32, BOOL], build)
    native = Native(typed)
    assert native(3, 1.0, 2.0, True) == [3]
    with pytest.raises(IndexError, match=r"^12 1.5 0.25 True$") as caught:
        native(12, 1.5, 0.25, True)
    assert caught.value.pullback_span.line == 7
    with pytest.raises(ZeroDivisionError, match="plain"):
        native(7, 0.0, 0.0, False)
    assert [s.exception for s in native.module.sites] == ["IndexError", "ZeroDivisionError"]


def test_check_that_always_fails():
    def build(e, x):
        e.op("check", e.boolean(False), exception="ValueError", message="no")
        return e("add", x, x)

    with pytest.raises(ValueError, match="no"):
        Native(program([F64], build))(1.0)


def call(e, name, arguments, types):
    return e.append(REGISTRY["call"], arguments, attrs={"callee": name}, types=types).results


def fibonacci():
    def build(e, n):
        small = e("lt", n, e.integer(2))

        def recurse(b):
            parts = [call(b, "fib", [b("sub", n, b.integer(i))], [I64])[0] for i in (1, 2)]
            return b("add", *parts)

        return either(e, small, lambda b: n, recurse)

    return function([I64], build, "fib")


def test_calls_and_statuses():
    def callee(e, x, a):
        e.op("check", e("gt", x, e.constant(0.0)), x, exception="ValueError", message="{0} is negative")
        return [e("mul", x, e("array_get", a, e.integer(1))), a, e("gt", x, e.constant(1.0))]

    def caller(e, x, a):
        y, b, flag = call(e, 'odd "name"', [x, a], [F64, V, BOOL])
        return [y, e("array_size", b, axis=0), flag]

    typed = Program({"f": function([F64, V], caller), 'odd "name"': function([F64, V], callee, 'odd "name"')}, "f")
    check_program(typed)
    native = Native(typed)
    assert native(2.0, np.array([1.0, 3.0])) == [6.0, 2, True]
    with pytest.raises(ValueError, match="-2.0 is negative"):
        native(-2.0, np.array([1.0, 3.0]))


def test_recursion_and_its_limit():
    native = Native(Program({"fib": fibonacci()}, "fib"))
    assert native(20) == [6765]
    here = ctypes.addressof(ctypes.c_int64())  # any heap address lies below the stack; the whole stack is past this one
    native.raw([20], 1, stack_limit=2**47)
    assert native.status == abi.TOO_DEEP and here
    native.release()


def test_mutual_recursion_is_found():
    def parity(other):
        return lambda e, n: either(
            e, e("eq", n, e.integer(0)), lambda b: b.boolean(other == "odd"),
            lambda b: call(b, other, [b("sub", n, b.integer(1))], [BOOL]),
        )  # fmt: skip

    functions = {"even": function([I64], parity("odd"), "even"), "odd": function([I64], parity("even"), "odd")}
    native = Native(Program(functions, "even"))
    assert native(1000) == [True] and native(1001) == [False]
    native.raw([5], 1, stack_limit=2**47)
    assert native.status == abi.TOO_DEEP
    native.release()


# ----------------------------------------------------------------------------------------------------- Ctrl-C


def forever(e, x):
    """Three kinds of endless loop, chosen by x."""
    one = e.constant(1.0)
    huge = e.integer(10**15)

    def spin(b):
        return repeat_while(b, [x], lambda c, y: c("gt", y, c.constant(-1.0)), lambda i, y: [i("add", y, one)])

    def count(b):
        return loop(b, huge, [x], lambda i, k, y: [i("add", i("mul", y, y), one)])

    def nested(b):
        def inside(i, k, y):
            return loop(i, i("shr", k, i.integer(60)), [y], lambda j, _, z: [j("add", z, one)])

        return loop(b, huge, [x], inside)

    return either(
        e, e("lt", x, one), spin, lambda b: either(b, b("lt", x, b.constant(2.0)), count, nested)
    )


@pytest.mark.parametrize("kind", [0.0, 1.0, 2.0])
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends signals")
def test_interrupt(kind):
    native = Native(program([F64], forever), level=1)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            native(kind)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert time.perf_counter() - start < 0.5  # 0.15 s on a machine of one's own


# ----------------------------------------------------------------------------------------------------- arrays


def test_elements_and_views():
    def build(e, a, b, i, j):
        row = e("view_index", a, i, axis=0)
        column = e("view_index", a, j, axis=1)
        turned = e("view_transpose", b, perm=(1, 0))
        wide = e("view_expand", row, axis=0)
        tall = e("view_expand", column, axis=1)
        zero = e.integer(0)
        return [
            e("array_get", a, i, j), e("array_get", row, j), e("array_get", column, i), e("array_get", turned, j, i),
            e("array_get", wide, zero, j), e("array_get", tall, i, zero), e("array_size", turned, axis=0),
            e("array_same", a, b), e("array_same", a, a), row, column, turned, wide, tall,
        ]  # fmt: skip

    for type_ in (M, MS):
        native = Native(program([type_, MS, I64, I64], build), level=1)
        a, b = RNG.normal(size=(4, 6)), RNG.normal(size=(8, 18))[::2, ::-3]
        if not type_.contiguous:
            a = np.asfortranarray(a)[::-1]
        got = native(a, b, 2, 3)
        assert got[:6] == [a[2, 3], a[2, 3], a[2, 3], b[2, 3], a[2, 3], a[2, 3]]
        assert got[6:9] == [6, False, True]
        for found, expected in zip(got[9:], [a[2], a[:, 3], b.T, a[2][None], a[:, 3][:, None]], strict=True):
            assert found.shape == expected.shape and (found == expected).all()


@pytest.mark.parametrize("dtype", list(DType), ids=lambda d: d.value)
def test_fresh_arrays_and_inc(dtype):
    def build(e, n, x):
        a = e("array_zeros", n, e.integer(3), dtype=dtype)
        e.op("array_inc", a, e.integer(1), e.integer(2), x)
        e.op("array_inc", a, e.integer(1), e.integer(2), x)
        s = e("view_transpose", a, perm=(1, 0))
        e.op("array_inc", s, e.integer(0), e.integer(1), x)
        b = e("array_empty", dtype=dtype)
        e.op("free", e("array_empty", n, dtype=dtype))
        return [a, e("array_size", b, axis=0) if b.type.rank else e.integer(0)]

    native = Native(program([I64, Scalar(dtype)], build), level=1)
    expected = np.zeros((4, 3), NUMPY_DTYPES[dtype])
    expected[1, 2] += 1
    expected[1, 2] += 1
    expected[1, 0] += 1
    (found, _) = native(4, 1)
    assert found.dtype == expected.dtype and (found == expected).all()
    assert native.context[abi.ALLOCATIONS // 8] == 3


def test_no_memory():
    native = Native(program([I64, I64], lambda e, n, m: e("array_zeros", n, m, dtype=DType.F64)), level=1)
    for sizes in ((2**60, 1), (2**40, 2**40), (-1, 1), (2**62, 8)):
        with pytest.raises(RuntimeError, match=f"status {abi.NO_MEMORY}"):
            native(*sizes)
    assert native(0, 5)[0].shape == (0, 5)


# ---------------------------------------------------------------------------------------------------- kernels


def layouts(shape):
    """Arrays of a shape, laid out in many ways."""
    yield np.array(RNG.normal(size=shape))
    if shape:
        yield np.asfortranarray(RNG.normal(size=shape))
        yield RNG.normal(size=tuple(3 * n for n in shape))[tuple(slice(None, None, 3) for _ in shape)]
        yield RNG.normal(size=shape)[tuple(slice(None, None, -1) for _ in shape)]


SHAPES = [((5, 7), (5, 7)), ((5, 7), (7,)), ((5, 7), (1, 7)), ((5, 7), (5, 1)), ((5, 1), (1, 7)), ((1,), (5, 7)),
          ((40, 50), (40, 50)), ((0, 3), (3,)), ((3, 0), (1,)), ((1, 1), (1, 1)), ((3, 4, 5), (4, 1)),
          ((2000,), (2000,)), ((2000,), (1,)), ((), (3,)), ((), ()), ((1, 1, 2000), (3, 1, 1))]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_elementwise_layouts(shapes):
    """new, sum and inc outputs over broadcast operands, for contiguous and strided arrays."""
    left, right = shapes
    space = np.broadcast_shapes(left, right)

    def build(types):
        def body(e, a, b, s, t, c, *sizes):
            def element(q, x, y, z):
                product = q("add", q("mul", x, y), z)
                return [product, q("mul", product, product), x, y]

            return elementwise(e, sizes, [a, b, c], ["new", "sum", "inc", "inc"], element, [s, t])

        return program([*types, *types, F64, *[I64] * len(space)], body)

    types = {c: [ArrayRef(DType.F64, len(s), c) for s in shapes] for c in (True, False)}
    for contiguous in (True, False):
        native = Native(build(types[contiguous]), level=2)
        variants = zip(layouts(left), layouts(right), strict=False)
        for a, b in itertools.islice(variants, 1 if contiguous else None):
            s, t = np.ones(left), np.ones(right)
            if not contiguous and s.ndim:
                s, t = np.asfortranarray(s), np.repeat(t, 2, axis=-1)[..., ::2] if t.ndim else t
            new, total = native(a, b, s, t, 0.5, *space)
            assert new.shape == space and (new == a * b + 0.5).all()
            assert np.isclose(total, ((a * b + 0.5) ** 2).sum(), rtol=1e-14)
            assert np.allclose(s, 1 + reduced(np.broadcast_to(a, space), left), rtol=1e-13)
            assert np.allclose(t, 1 + reduced(np.broadcast_to(b, space), right), rtol=1e-13)


def reduced(array, shape):
    """The sum over the axes along which `shape` is broadcast."""
    array = array.sum(tuple(range(array.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1)
    return array.sum(axes, keepdims=True)


def test_expanded_operands_are_known_to_broadcast():
    """x[:, None] * y: the inner stride 0 is seen while compiling, for reading and for the sums of rows."""

    def build(e, x, y, dx):
        n, m = e("array_size", x, axis=0), e("array_size", y, axis=0)
        tall, target_ = e("view_expand", x, axis=1), e("view_expand", dx, axis=1)
        return elementwise(e, [n, m], [tall, y], ["new", "inc"], lambda q, a, b: [q("mul", a, b), b], [target_])

    native = Native(program([V, V, V], build))
    x, y, dx = RNG.normal(size=9), RNG.normal(size=1500), np.zeros(9)
    (new,) = native(x, y, dx)
    assert (new == x[:, None] * y).all() and np.allclose(dx, y.sum())


def test_overlapping_targets():
    """A target that overlaps an input is updated element by element, in order."""

    def build(e, a, s):
        elementwise(e, sizes_of(e, a), [a], ["inc"], lambda q, x: [x], [s])
        return []

    native = Native(program([V, V], build))
    memory_ = np.arange(2000.0)
    expected = memory_.copy()
    for i in range(1999):
        expected[i + 1] += expected[i]
    native(memory_[:-1], memory_[1:])
    assert (memory_ == expected).all()
    both = np.arange(100.0)
    native(both, both)
    assert (both == 2 * np.arange(100.0)).all()


def test_one_target_twice():
    def build(e, a, s):
        elementwise(e, sizes_of(e, a), [a], ["inc", "inc"], lambda q, x: [x, q("mul", x, x)], [s, s])
        return []

    native, a, s = Native(program([V, V], build)), RNG.normal(size=100), np.zeros(100)
    native(a, s)
    assert np.allclose(s, a + a * a, rtol=1e-15)


@pytest.mark.parametrize("dtype", [DType.F32, DType.I64, DType.I32, DType.BOOL], ids=lambda d: d.value)
def test_elementwise_dtypes(dtype):
    type_ = ArrayRef(dtype, 1, True)
    numpy_ = NUMPY_DTYPES[dtype]

    def build(e, a, b):
        operation = "and_" if dtype is DType.BOOL else "mul"
        return elementwise(e, sizes_of(e, a), [a, b], ["new", "sum"], lambda q, x, y: [q(operation, x, y), x])

    native = Native(program([type_, type_], build))
    a, b = (RNG.integers(0, 2 if dtype is DType.BOOL else 9, 1000).astype(numpy_) for _ in range(2))
    new, total = native(a, b)
    assert (new == (a & b if dtype is DType.BOOL else a * b)).all() and new.dtype == numpy_
    assert total == (a.any() if dtype is DType.BOOL else a.sum(dtype=numpy_))


def total_of(type_):
    return lambda e, a: elementwise(e, sizes_of(e, a), [a], ["sum"], lambda q, x: [x])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_are_at_least_as_accurate_as_numpy(dtype):
    type_ = V if dtype is np.float64 else ArrayRef(DType.F32, 1, True)
    native = Native(program([type_], total_of(type_)))
    ours, theirs = 0.0, 0.0
    for n in (1, 7, 100, 513, 10_000, 300_000):
        for _ in range(10):
            a = (RNG.normal(size=n) + 0.5).astype(dtype)
            exact = math.fsum(a.astype(np.float64))
            ours += abs(float(native(a)[0]) - exact)
            theirs += abs(float(a.sum()) - exact)
    assert ours <= 1.1 * theirs
    assert native(np.zeros(0, dtype)) == [0.0]
    assert native(np.array([np.inf, 1.0], dtype)) == [np.inf]
    assert np.isnan(native(np.array([np.inf, -np.inf], dtype))[0])
    assert np.isnan(native(np.array([np.nan, 1.0], dtype))[0])


def test_sum_is_repeatable():
    native, a = Native(program([V], total_of(V))), RNG.normal(size=12345)
    shifted = np.concatenate([[0.0], a])[1:]  # another alignment
    assert len({native(x)[0] for x in (a, a, shifted, a.copy())}) == 1


def test_kernels_without_alias_doubt_are_vectorised():
    def build(e, a, b, da, db):
        def element(q, x, y):
            t = q("tanh", q("mul", x, y))
            slope = q("sub", q.constant(1.0), q("mul", t, t))
            return [t, q("mul", slope, y), q("mul", slope, x)]

        return elementwise(e, sizes_of(e, a), [a, b], ["sum", "inc", "inc"], element, [da, db])

    assert "fmul <" in optimised(program([V] * 4, build))


def test_plain_loops_are_vectorised():
    """Polls do not keep LLVM from it: a sum with fastmath, a map into an array without."""

    def total(e, a):
        (n,) = sizes_of(e, a)
        return loop(e, n, [e.constant(0.0)], lambda b, k, s: [b("add", s, b("array_get", a, k))])

    def fill(e, a):
        (n,) = sizes_of(e, a)
        out = e("array_zeros", n, dtype=DType.F64)

        def step(b, k):
            x = b("array_get", a, k)
            b.op("array_inc", out, k, b("mul", x, x))
            return []

        loop(e, n, [], step)
        return out

    def residuals(e, a):
        (n,) = sizes_of(e, a)
        kept = e("buffer", e.integer(0), element=F64)

        def step(b, k):
            b.op("buffer_put", kept, k, b("mul", b("array_get", a, k), b.constant(2.0)))
            return []

        loop(e, n, [], step)
        return e("buffer_get", kept, e("sub", n, e.integer(1)))

    assert "fadd reassoc nsz arcp contract afn <" in optimised(program([V], total), emit.Options(fastmath=True))
    assert "fmul <" in optimised(program([V], fill))
    assert "fmul <" in optimised(program([V], residuals))


def optimised(typed, options=None):
    """LLVM's own text after its passes."""
    module = emit.emit_program(typed, options)
    text = module.text.replace('define internal {', 'define {', 1)
    parsed = target.llvm().parse_assembly(text)
    parsed.verify()
    goal = target.machine(2)
    parsed.triple, parsed.data_layout = goal.triple, str(goal.target_data)
    jit._optimise(target.llvm(), parsed, goal, jit.Options())
    return str(parsed)


# --------------------------------------------------------------------------------------------------- products


@pytest.mark.parametrize("dtype", list(DType), ids=lambda d: d.value)
def test_matmul(dtype):
    type_, numpy_ = ArrayRef(dtype, 2), NUMPY_DTYPES[dtype]

    def build(e, a, b, s):
        c = e("matmul", a, b)
        e.op("matmul_inc", s, a, b)
        return c

    native = Native(program([type_] * 3, build))
    rtol = {DType.F64: 1e-11, DType.F32: 1e-3, DType.F16: 5e-2}.get(dtype, 0)
    sizes = [(2, 3, 4), (1, 1, 1), (5, 7, 1), (1, 7, 5), (1, 50, 60), (50, 60, 1), (1, 900, 1), (40, 1, 30),
             (33, 17, 40), (0, 3, 2), (30, 0, 40)]  # fmt: skip
    for m, k, n in sizes:
        for i, j, l in itertools.product(range(4), range(4), range(4) if (m, k, n) == (33, 17, 40) else (0, 2)):
            a, b = matrix(m, k, i, numpy_), matrix(k, n, j, numpy_)
            s = matrix(m, n, l, numpy_)
            before = s.copy()
            (found,) = native(a, b, s)
            assert np.allclose(found, a @ b, rtol=rtol, atol=rtol), (m, k, n, i, j)
            assert np.allclose(s, before + (a @ b), rtol=rtol, atol=rtol), (m, k, n, i, j, l)
    assert (native.module.sites, native.status) == ((), 0)


def matrix(rows, columns, layout, dtype):
    """Row-major, column-major, spread, reversed."""
    shape = {0: (rows, columns), 1: (columns, rows), 2: (2 * rows, 3 * columns), 3: (rows, columns)}[layout]
    kind = np.dtype(dtype).kind
    a = RNG.normal(size=shape) if kind == "f" else RNG.integers(*((0, 2) if kind == "b" else (-9, 9)), shape)
    a = a.astype(dtype)
    return {0: a, 1: a.T, 2: a[::2, ::3], 3: a[::-1]}[layout]


# ------------------------------------------------------------------------------------------- boxes and buffers


def test_boxes():
    layouts_ = {"tree": [(F64, BOOL, V, I32), (Box("tree"), Box("tree"))], "shadow": [(F64, BOOL, F32)]}

    def build(e, x, flag, a, i):
        leaf = e("box", x, flag, a, i, name="tree", variant=0)
        node = e("box", leaf, leaf, name="tree", variant=1)
        left, _ = e.op("unbox", node, name="tree", variant=1, types=(Box("tree"), Box("tree"))).results
        y, g, b, j = e.op("unbox", left, name="tree", variant=0, types=(F64, BOOL, V, I32)).results
        shadow = e("box", x, flag, e("cast", x, to=DType.F32), name="shadow", variant=0)
        e.op("slot_inc", shadow, y, slot=0)
        third = e("slot_get", shadow, slot=2, type=F32)
        return [e("box_tag", node), e("box_tag", left), y, g, b, j, e("slot_get", shadow, slot=0, type=F64), third]

    native = Native(program([F64, BOOL, V, I32], build, layouts=layouts_))
    a = np.arange(4.0)
    tag, inner_tag, y, flag, array, i, slot, third = native(1.25, True, a, -7)
    assert (tag, inner_tag, y, flag, i, slot, third) == (1, 0, 1.25, True, -7, 2.5, 1.25)
    assert (array == a).all()


@pytest.mark.parametrize("element", [F64, F32, I64, I32, BOOL, V, MS, Box("b"), Buffer(F64)], ids=str)
def test_buffers(element):
    """Elements of every kind, put at the index of the loop (reserved) and at another one (growing)."""

    def value(b, k, source):
        if isinstance(element, Scalar):
            return b("cast", k, to=element.dtype)
        if element == Box("b"):
            return b("box", k, name="b", variant=0)
        if element == Buffer(F64):
            made = b("buffer", b.integer(1), element=F64)
            b.op("buffer_put", made, b.integer(0), b("cast", k, to=DType.F64))
            return made
        return source

    def content(b, found):
        if isinstance(element, Scalar):
            return b("cast", found, to=DType.F64)
        if element == Box("b"):
            return b("cast", b.op("unbox", found, name="b", variant=0, types=(I64,)).result, to=DType.F64)
        if element == Buffer(F64):
            return b("buffer_get", found, b.integer(0))
        return b("array_get", found, *[b.integer(1)] * element.rank)

    def build(e, n, *sources):
        first, second = (e("buffer", e.integer(i), element=element) for i in (3, 0))

        def step(b, k, place):
            b.op("buffer_put", first, k, value(b, k, *sources))
            b.op("buffer_put", second, place, value(b, k, *sources))
            return [b("add", place, b.integer(1))]

        loop(e, n, [e.integer(0)], step)

        def back(b, k, s, t):
            index = b("sub", b("sub", n, b.integer(1)), k)
            x, y = (content(b, b("buffer_get", f, index)) for f in (first, second))
            return [b("add", s, x), b("add", t, y)]

        totals = loop(e, n, [e.constant(0.0)] * 2, back)
        e.op("free", first)
        return totals

    arrays = isinstance(element, ArrayRef)
    types = [I64, *([element] if arrays else [Box("b")])]
    source = {V: np.arange(3.0), MS: np.arange(8.0).reshape(2, 4)}.get(element)
    if not arrays:
        types = [I64, I64]
    native = Native(program(types, build, layouts={"b": [(I64,)]}))
    n = 100
    expected = {BOOL: n - 1, V: n * 1.0, MS: n * 5.0}.get(element, n * (n - 1) / 2)
    assert native(n, 0 if source is None else source) == [expected] * 2
    assert native(0, 0 if source is None else source) == [0.0] * 2


def test_accumulators_and_memory_is_given_back():
    def build(e, n):
        acc = e("buffer_zeros", n, element=F64)

        def step(b, k):
            b.op("buffer_inc", acc, k, b("cast", k, to=DType.F64))
            b.op("buffer_inc", acc, k, b.constant(1.0))
            temporary = b("array_zeros", b.integer(1000), dtype=DType.F64)
            b.op("free", temporary)
            return []

        loop(e, n, [], step)
        total = loop(e, n, [e.constant(0.0)], lambda b, k, s: [b("add", s, b("buffer_get", acc, k))])
        e.op("free", acc)
        return total

    native = Native(program([I64], build))
    taken = native.raw([1000], 1)
    assert np.array(taken).view(np.float64)[0] == 1000 * 999 / 2 + 1000
    assert native.context[abi.LIST // 8] == 0  # nothing is left on the list
    assert native.context[abi.ALLOCATIONS // 8] == 1001
    native.release()


def test_large_blocks_are_kept_and_cleared():
    """A block that was given back serves the next request of about its size, zeroed where that is asked for."""

    def build(e, n):
        first = e("array_empty", n, dtype=DType.F64)
        e.op("array_inc", first, e.integer(5), e.constant(3.0))
        e.op("free", first)
        second = e("array_zeros", e("add", n, e.integer(3)), dtype=DType.F64)
        (total,) = elementwise(e, sizes_of(e, second), [second], ["sum"], lambda q, x: [x])
        e.op("free", second)
        return [e("array_overlap", first, second, ranges=True), total]  # it may begin elsewhere in the same block

    native = Native(program([I64], build))
    for n in (8192, 10_000, 65_536, 100_000, 4_000_000):
        assert native(n) == [True, 0.0], n
    for n in (6, 4095, 8175, 8176, 8177, 4_194_287, 4_194_288, 4_194_289, 6_000_000):  # about the ends of the range
        assert native(n)[1] == 0.0


# ------------------------------------------------------------------------------------------------ whole modules


def everything():
    """A program that uses all helpers and many primitives."""

    def build(e, x, n, m):
        total, *_ = loop(e, n, [x], lambda b, k, s: [b("add", b("sin", s), b("exp", b("mul", s, x)))])
        e.op("check", e("lt", total, e.constant(5.0)), total, exception="ValueError", message="{0}")
        c = e("matmul", m, e("view_transpose", m, perm=(1, 0)))
        kept = e("buffer", e.integer(0), element=F64)
        e.op("buffer_put", kept, e.integer(0), total)
        e.op("free", kept)
        power = e("ipow", n, n)
        over = e("pow_overflows", n, n)
        (s,) = elementwise(e, sizes_of(e, c), [c], ["sum"], lambda q, v: [q("log1p", v)])
        return [s, power, over, *call(e, "fib", [n], [I64])]

    return Program({"f": function([F64, I64, MS], build), "fib": fibonacci()}, "f")


@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "arm64-apple-darwin", "x86_64-pc-windows-msvc"])
def test_objects_for_other_systems(triple):
    """Modules, and the runtime library of each group, become objects for systems where nothing is run."""
    goal, options = target.foreign(triple), jit.Options(large=10**9)
    text = emit.emit_program(everything()).text.replace("define internal", "define")  # nothing is dropped
    assert len(jit.compile_object(text, options, target=goal)) > 2000
    for group in ("memory", "growth", "powers", *(d.value for d in DType)):
        text, *_ = shared.group_text(group, triple)
        if "asm sideeffect" not in text:
            assert len(jit.compile_object(text, options, target=goal)) > 500
            continue
        # llvmlite assembles inline assembly of the host's processor only.
        parsed = target.llvm().parse_assembly(text)
        parsed.triple, parsed.data_layout = triple, str(goal.target_data)
        parsed.verify()
        assert "blr $1" in text
        assert len(jit.compile_object(shared.group_text(group, "")[0], options, target=goal)) > 1000


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed):
    """Native code and the interpreter agree: values, exceptions, messages."""
    typed = programs_ir.Maker(seed).program()
    native = Native(typed, level=seed % 3)
    random = np.random.default_rng(seed)
    for _ in range(6):
        a = random.normal(size=2 * random.integers(0, 9))[::2]
        x, y, n, m = random.normal(), random.normal() * 3, random.integers(-3, 12), random.integers(-3, 9)
        arguments = [np.float64(x), np.float64(y), np.int64(n), np.int64(m), np.bool_(random.random() < 0.5), a]
        expected = outcome(lambda: interp.run(typed, [v.copy() for v in arguments]))
        found = outcome(lambda: native(*arguments))
        assert type(expected) is type(found) and len(expected) == len(found), (expected, found)
        for p, q in zip(expected, found, strict=True):
            close = p == q if isinstance(p, str) else np.allclose(p, q, rtol=1e-9, atol=0, equal_nan=True)
            assert close, (expected, found)


def outcome(run):
    try:
        with np.errstate(all="ignore"):
            return run()
    except InternalError:
        raise
    except Exception as error:
        return (type(error).__name__, str(error))


def test_text_is_fast():
    def build(e, x, y):
        for i in range(250):
            x = e("add", e("mul", x, y), e.constant(float(i)))
        return x

    typed = program([F64, F64], build)
    assert calls_of(lambda: emit.emit_program(typed)) < 40 * 750  # 24 for each of three ops in 250 steps


def test_what_has_no_code_is_reported_with_its_function():
    typed = program([F64], lambda e, x: e.append(REGISTRY["jvp"], [x, x], types=[F64]).result)
    with pytest.raises(InternalError, match=r"f: no code for jvp"):
        emit.emit_program(typed)


def test_runtime_text_is_complete():
    """Every runtime function stands alone with what it calls."""
    for name in (*memory._TEXTS, "pb.relax", "pb.parallel"):
        for triple in ("", "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "arm64-apple-darwin"):
            found = memory.runtime([name], triple)
            text = "\n".join(found.declarations.values()) + found.functions
            target.llvm().parse_assembly(text).verify()


def test_private_stack_switch():
    """pb.poll runs PyErr_CheckSignals on the caller's stack, and pb.on_stack comes back."""
    triple = jit.describe_target().triple
    found = memory.runtime(["pb.on_stack"], triple)
    text = found.functions + (
        "define i64 @go(ptr %top) {\n  %out = alloca i64\n  call void @pb.on_stack(ptr %top, ptr @inside, ptr %out)\n"
        "  %r = load i64, ptr %out\n  ret i64 %r\n}\n"
        "define internal void @inside(ptr %out) noinline {\n  %here = alloca i64\n  store volatile i64 7, ptr %here\n"
        "  %a = ptrtoint ptr %here to i64\n  store i64 %a, ptr %out\n  ret void\n}\n"
    )
    library = jit.link(jit.compile_object(text), found.externals, ["go"])
    stack = ctypes.create_string_buffer(1 << 16)
    base = ctypes.addressof(stack)
    top = (base + (1 << 16) - 64) & ~63
    address = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(library.addresses["go"])(top)
    if triple.startswith(("x86_64", "aarch64", "arm64")) and "windows" not in triple:
        assert base < address < top
    assert inner([], lambda e: []).results == []
