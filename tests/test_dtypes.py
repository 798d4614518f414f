"""All dtypes of numbers: value, dtype and error of every operation against NumPy, at the edges of the dtypes.

The interpreter runs the whole table on some dtypes each day, compiled code a part of it; `make test-all` runs all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing
from pullback.infer.numbers import float_of, promote
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.types import DType, Number
from surface_turn import SEED

NAMES = [dtype.title for dtype in DType]
INTS = [dtype.title for dtype in DType if dtype.is_int]
Program = Callable[..., Any]

PROGRAMS: list[Program] = [
    lambda a, b: (a + b, a * b, a / b, a // b, a % b, np.maximum(a, b), np.minimum(a, b), abs(a), np.sign(a)),
    lambda a, b: (a < b, a <= b, a == b, a != b, a > b, a >= b, np.where(a > b, a, b), np.logical_and(a, b)),
    lambda a, b: (a - b, -a, np.subtract(a, b), a - 1),
    lambda a, b: (a & b, a | b, a ^ b, ~a),
    lambda a, b: (a << np.minimum(b, 9), a >> np.minimum(b, 9)),
    lambda a, b: (a**2, a**3, np.square(a), a ** np.minimum(np.abs(b), 5)),
    lambda a, b: a ** np.abs(b),
    lambda a, b: (a + 1, a * 2, a // 3, a % 3, a / 2, 7 // (a | 1)),
    lambda a, b: (a + 1.5, a * 0.5, 2.0 - a, a / 4.0, a < 0.5, a == 1.0, a + True, a * False),
    lambda a, b: (a < -1, a > 300, a == 300, a >= 70000, a != -1, -1 < a, 300 == a),
    lambda a, b: (np.sqrt(abs(a)), np.sin(a), np.log1p(abs(a)), np.arctan2(a, b), np.hypot(a, b), np.tanh(a)),
    lambda a, b: (np.floor(a), np.ceil(a), np.trunc(a), np.round(a), np.rint(a), np.isnan(a), np.isfinite(a)),
    lambda a, b: np.fmod(a, b),
    lambda a, b: (a.sum(), a.prod(), a.mean(), a.max(), a.min(), a.argmax(), a.argmin(), a.any(), a.all(), a.var()),
    lambda a, b: (a.reshape(2, -1).sum(axis=0), a.reshape(2, -1).max(axis=1), a.reshape(-1, 2).mean(axis=0),
                  a.reshape(2, -1).prod(axis=1, keepdims=True), a.reshape(-1, 2).min(axis=0)),
    lambda a, b: (np.cumsum(a), np.cumprod(a[:4]), np.add.reduce(a), np.maximum.accumulate(a)),
    lambda a, b: (np.zeros(3, a.dtype), np.ones((2, 2), a.dtype), np.full(2, 1, a.dtype), np.arange(2, dtype=a.dtype),
                  np.empty(0, a.dtype), np.zeros_like(a), np.ones_like(a), np.full_like(a, 2),
                  np.asarray(a, dtype=a.dtype)),
    lambda a, b: (np.array([a[0], a[1]]), np.array([a[0], 2]), np.array([a[0], 2.5]), np.full(3, a[0]),
                  np.array(a[0]), np.array([True, a[0]]), np.array([1, 0, 3], dtype=a.dtype),
                  np.array(a, np.float16), np.array(a, "u1")),
    lambda a, b: (a[0], a[0] + a[1], a[0] * 2, a[0] / a[2], a[0] // a[2], a[0] < a[1], float(a[1]), bool(a[2]),
                  abs(a[0]), max(a[0], a[1]), min(a[0], a[2]), divmod(a[0], b[2]), int(a[6])),
    lambda a, b: (np.arange(40)[np.abs(np.minimum(b, 5)) % 7], np.arange(7.0)[np.abs(b[1]) % 7], a[a > 1]),
    lambda a, b: (a.astype(np.int8), a.astype(bool), a.astype("i2"), a.astype("u2"), a.astype(np.int32), a.astype(int),
                  a.astype("uint32"), a.astype(np.uint64), a.astype("f2"), a.astype(np.dtype("u1")), a.astype(float)),
    lambda a, b: (np.int8(a[6]), np.float16(a), np.uint64(a), np.int16(3), np.uint8(200), np.bool_(a)),
    lambda a, b: (a[:6].reshape(2, 3) @ b[:6].reshape(3, 2), a @ b, np.dot(a, b), np.outer(a, b)),
    lambda a, b: (np.concatenate((a, b)), np.stack((a, b)), np.concatenate((a, np.arange(3))), np.repeat(a, 2)),
    lambda a, b: np.clip(a, 1, 5),
    lambda a, b: (str(a[0]), f"{a[1]}", repr(a[6])),
    lambda a, b: (a.dtype == np.uint8, a.dtype == "float16", a.dtype.itemsize, a.dtype in (np.int8, np.uint8),
                  a.dtype != float, a.dtype.kind, a.dtype.name, a.dtype == b.dtype),
]  # fmt: skip


def written(a: Any, b: Any) -> Any:
    c = a.copy()
    c[0], c[1:3], c[3], c[4] = 1, b[:2], b[3], True
    c[::2] += 1
    c *= 2
    c[5] += b[5]
    c[c > 3] = 1
    c[np.array([0, 1])] = b[:2]
    total = a[0]
    for x in a:
        total = total + x
    return c, total


PROGRAMS.append(written)


def edges(name: str, seed: int = 0) -> np.ndarray[Any, Any]:
    """Twelve numbers, many at the edge of what the dtype holds; the seventh is a small one."""
    dtype, rng = np.dtype(name), np.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.integers(0, 2, 12).astype(bool)
    if dtype.kind == "f":
        return rng.permutation(np.array([0.0, 1.0, -1.5, 2.75, 3.0, 100.25, 2.0, 5.0, 0.5, 8.0, 7.0, 1.25], dtype))
    low, high = DTYPES[name].limits
    numbers = [high, high - 1, high // 2, 0, 1, 2, 3, 4, 7, low, low + 1, max(low, -3)]
    found = np.array([numbers[i] for i in rng.permutation(12)], dtype)
    found[6] = 3
    return found


DTYPES = {dtype.title: dtype for dtype in DType}


def outcome(function: Program, *given: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*given)
        except Exception as error:
            return error


def assert_same(actual: Any, expected: Any) -> None:
    """The same dtype, shape and numbers; floats to a few of their last bits."""
    if isinstance(expected, Exception):
        assert isinstance(actual, pb.CompileError) or type(actual) is type(expected), (actual, expected)
        return
    assert not isinstance(actual, Exception), actual
    if isinstance(expected, tuple):
        for a, b in zip(actual, expected, strict=True):
            assert_same(a, b)
    elif isinstance(expected, np.ndarray | np.generic):
        actual = np.asarray(actual)
        assert actual.dtype == expected.dtype and actual.shape == expected.shape, (actual, expected)
        tolerance = 8 * float(np.finfo(expected.dtype).eps) if expected.dtype.kind in "fc" else 0
        np.testing.assert_allclose(actual, np.asarray(expected), rtol=tolerance, atol=tolerance)
    else:
        assert actual == expected, (actual, expected)


def chosen(names: list[str], number: int, count: int) -> list[str]:
    """Those whose turn it is today."""
    return [names[(SEED + 5 * number + 7 * k) % len(names)] for k in range(count)]


def check(number: int, names: list[str], run: Callable[..., Any]) -> None:
    program = PROGRAMS[number]
    for name in names:
        a, b = edges(name), edges(name, 1)
        assert_same(outcome(run, program, a.copy(), b.copy()), outcome(program, a, b))


def interpreted(program: Program, *given: Any) -> Any:
    return testing.run(program, given, engine="interp", passes=True)


def compiled(program: Program, *given: Any) -> Any:
    return pb.jit(program)(*given)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_interpreted(number: int) -> None:
    check(number, chosen(NAMES, number, 3), interpreted)


@pytest.mark.parametrize("number", [k for k in range(len(PROGRAMS)) if k % 3 == SEED % 3])
def test_compiled(number: int) -> None:
    check(number, chosen(NAMES, number, 1), compiled)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_all(number: int) -> None:
    check(number, NAMES, interpreted)
    check(number, NAMES, compiled)


# ------------------------------------------------------------------------------------------------------- promotion


def test_promotion() -> None:
    """NEP 50, for all pairs and for Python's numbers."""
    for one in DType:
        strong, sample = Number(one, False), np.zeros(1, NUMPY_DTYPES[one])
        for other in DType:
            wanted = np.promote_types(NUMPY_DTYPES[one], NUMPY_DTYPES[other])
            assert np.dtype(NUMPY_DTYPES[promote(strong, Number(other, False)).dtype]) == wanted, (one, other)
        for weak, value in ((DType.I64, 1), (DType.F64, 1.0), (DType.BOOL, True)):
            found = np.dtype(NUMPY_DTYPES[promote(strong, Number(weak)).dtype])
            assert found == np.result_type(sample, value), (one, value)
        assert np.dtype(NUMPY_DTYPES[float_of(strong).dtype]) == np.sqrt(sample).dtype, one


def mixed(a: Any, b: Any) -> Any:
    return a + b, a * b, a / b, a // b, a < b, a == b, a >= b, np.maximum(a, b), np.where(a < b, a, b)


def check_pairs(pairs: list[tuple[str, str]], run: Callable[..., Any]) -> None:
    for one, other in pairs:
        a, b = edges(one), edges(other, 1)
        assert_same(outcome(run, mixed, a, b), outcome(mixed, a, b))


PAIRS = [(one, other) for one in NAMES for other in NAMES]


def test_mixed_pairs() -> None:
    turn = [PAIRS[(SEED * 24 + 5 * k) % len(PAIRS)] for k in range(24)]
    check_pairs(turn, interpreted)
    check_pairs(turn[:4], compiled)


@pytest.mark.slow
@pytest.mark.parametrize("one", NAMES)
def test_all_pairs(one: str) -> None:
    for run in (interpreted, compiled):
        check_pairs([(one, other) for other in NAMES], run)


def compared(a: Any, b: Any) -> Any:
    return a < b, a <= b, a == b, a != b, a > b, a >= b, b < a, b <= a, b == a, b > a


@pytest.mark.parametrize("other", ["int64", "int8", "uint8"])
def test_uint64_is_compared_exactly(other: str) -> None:
    low, high = DTYPES[other].limits
    numbers = [0, 1, 5, high - 1, high, low, low + 1]
    a = np.array([0, 1, 5, high, 2**63 - 1, 2**63, 2**64 - 1], np.uint64).repeat(len(numbers))
    b = np.array(numbers * 7, other)
    for run in (interpreted, compiled):
        assert_same(run(compared, a, b), compared(a, b))
    assert pb.jit(compared)(np.uint64(2**63), -1)[4]


# ------------------------------------------------------------------------------------------------------ conversions


def converted(a: Any) -> Any:
    return (
        a.astype(np.int8), a.astype(np.int16), a.astype(np.int32), a.astype(np.int64), a.astype(np.uint8),
        a.astype(np.uint16), a.astype(np.uint32), a.astype(np.uint64), a.astype(np.bool_),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["float64", "float32", "float16"])
def test_floats_that_fit_no_int_agree_on_both_engines(name: str) -> None:
    """What C leaves undefined is what x86-64 does to single numbers, whoever computes it."""
    numbers = [0.5, -0.5, 1.9, -1.9, 127.5, 128, 255.9, 256, -129, 65536.5, 2.0**31, -(2.0**31) - 1, 2.0**32 + 5,
               2.0**63, 2.0**63 + 2048, 2.0**64, -(2.0**63), -(2.0**64), 1e30, np.nan, np.inf, -np.inf]  # fmt: skip
    with np.errstate(over="ignore"):
        a = np.array(numbers).astype(name)
    given, expected = pb.jit(converted)(a), interpreted(converted, a)
    for x, y in zip(given, expected, strict=True):
        np.testing.assert_array_equal(x, y)


def test_float64_is_rounded_to_float16_once() -> None:
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    between = (halves[:-1] + halves[1:]) / 2
    ends = np.array([65519.9, 65520, np.inf])
    a = np.concatenate((between, -between, np.nextafter(between, 0), np.nextafter(between, 1e9), ends))
    with np.errstate(over="ignore"):
        expected = a.astype(np.float16)
    np.testing.assert_array_equal(pb.jit(lambda a: a.astype(np.float16))(a), expected)


# ------------------------------------------------------------------------------------------- Python's side, errors


@pytest.mark.parametrize("name", NAMES)
def test_scalars_cross_the_boundary(name: str) -> None:
    f = pb.jit(lambda x: (x, x + x, [x], {"x": x * 1}))
    for value in edges(name)[:4]:
        assert_same(f(value)[:2], outcome(lambda x: (x, x + x), value))
        assert type(f(value)[2][0]) is type(value) and f(value)[3]["x"] == value


@pytest.mark.parametrize("name", ["int8", "uint16", "float16", "uint64"])
def test_layouts(name: str) -> None:
    f = pb.jit(lambda a: (a * 2, a.sum(), a[::2]))
    base = edges(name)
    swapped = base.astype(base.dtype.newbyteorder(">"))
    for a in (base[::-3], base.reshape(3, 4).T, swapped, np.broadcast_to(base, (2, 12))):
        assert_same(f(a), outcome(lambda a: (a * 2, a.sum(), a[::2]), a))
    pb.jit(lambda a: a.fill(3))(swapped)
    assert swapped.tolist() == [3] * 12


@dataclass
class Pair:
    x: Any
    y: Any


def kept(a: Any, pair: Any) -> Any:
    """Numbers in lists, dicts, objects, closures and loop-carried variables."""
    squares = []
    for v in a:
        if v > 1:
            squares.append(v * v)
    table = {}
    for i in range(3):
        table[i] = a[i]
    pair.x = pair.x + a[0]
    total = a[0]
    for k in range(5):
        total = total + a[k] if k % 2 else total * a[k]

    def more(y: Any) -> Any:
        return y + total

    return squares, table, pair.x, more(a[1]), np.array(squares), (a[0],), {"k": a[2]}, sorted([a[3], a[1]])


def test_in_objects_and_containers() -> None:
    for name in ("float16", *chosen([n for n in NAMES if n != "bool"], 0, 1)):
        a = np.array([1, 2, 3, 4, 5], name)
        given, spare = Pair(a[1], 1), Pair(a[1], 1)
        expected = outcome(kept, a, spare)
        assert repr(pb.jit(kept)(a, given)) == repr(expected) and repr(given) == repr(spare)


def raises(statement: str) -> Program:
    made: Program = pb.api.from_source(f"import numpy as np\ndef f(a, n):\n    {statement}\n    return a\n", "f")
    return made


@pytest.mark.parametrize(
    ("statement", "name", "number"),
    [
        ("a + n", "uint8", 256), ("a + n", "uint8", -1), ("a * n", "int8", 128), ("a - n", "uint64", -1),
        ("a[0] = n", "uint8", 256), ("a[0] = n", "int16", -40000), ("a += n", "uint16", 70000),
        ("np.uint8(n)", "uint8", 300), ("np.full(2, n, a.dtype)", "int8", 200), ("np.maximum(a, n)", "uint8", 256),
        ("a ** n", "int8", -1), ("int(np.uint64(n) + np.uint64(2**63 - 1))", "uint8", 5),
    ],
)  # fmt: skip
def test_what_does_not_fit_raises(statement: str, name: str, number: int) -> None:
    f, a = raises(statement), np.ones(2, name)
    expected, actual = outcome(f, a.copy(), number), outcome(pb.jit(f), a.copy(), number)
    if statement.startswith("int("):  # Python's ints have 64 bits here
        assert isinstance(actual, OverflowError)
        return
    assert isinstance(expected, Exception) and type(actual) is type(expected) and str(actual) == str(expected)


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "//", "%", "**", "&", "<<"])
def test_operators_in_place_cast_as_numpy(operator: str) -> None:
    f = raises(f"a {operator}= n")
    pairs = [PAIRS[(SEED + 11 * k + len(operator)) % len(PAIRS)] for k in range(4)]
    for one, other in [("uint8", "int8"), ("int32", "float32"), ("float16", "float64"), ("uint8", "uint64"), *pairs]:
        a, n = np.ones(3, one), np.ones(3, other)
        expected, actual = outcome(f, a.copy(), n), outcome(interpreted, f, a.copy(), n)
        if isinstance(expected, Exception):
            assert isinstance(actual, TypeError | pb.CompileError), (one, other, actual)
            if "output from" in str(expected):
                assert str(expected) in str(actual)
        else:
            assert_same(actual, expected)


def limits(a: Any) -> Any:
    info = np.iinfo(a.dtype)
    return info.min, info.bits, np.iinfo(np.int16).max, np.finfo(np.float32).eps, np.finfo(float).max


BYTES = np.dtype("u1")


def test_a_dtype_of_the_module() -> None:
    f: Program = lambda a: (a.astype(BYTES), np.zeros(2, BYTES), a.dtype == BYTES)  # noqa: E731
    assert_same(pb.jit(f)(np.arange(3.0)), f(np.arange(3.0)))


def test_limits_of_dtypes() -> None:
    for name in ("int8", "uint8", "int64", "uint32"):
        assert_same(pb.jit(limits)(np.zeros(1, name)), limits(np.zeros(1, name)))


# ------------------------------------------------------------------------------------------------------- derivatives


def smooth(a: Any) -> Any:
    return np.sum(np.exp(a * 0.5) * np.sin(a)) + np.arctan2(a[0], a[1]) + a[1] ** 1.5 + np.hypot(a[2], a[3])


def rewritten(a: Any) -> Any:
    b = a.copy()
    b[1:] *= a[:-1]
    b[0] = a[0] ** 3
    return b.sum()


def by_matrices(a: Any) -> Any:
    return (a.reshape(2, 3) @ np.tanh(a.reshape(3, 2))).sum() + np.dot(a, a)


def looped(a: Any) -> Any:
    total = a[0] * 0
    for x in a:
        total = total + x * x
    return total


def reduced(a: Any) -> Any:
    return np.max(a) + np.prod(a) + np.mean(a) + np.var(a) + np.sqrt(np.sum(a * a)) + np.sum(a.reshape(2, 3) + a[:3])


def widened(a: Any) -> Any:
    return np.sum(a.astype(np.float32) ** 2) + np.sum(a * np.arange(6.0))


@pytest.mark.parametrize("f", [smooth, rewritten, by_matrices, looped, reduced, widened])
def test_float16_is_differentiated(f: Program) -> None:
    """Computed in float16, so to its precision; gradients have the argument's dtype."""
    a = np.array([0.5, 1.25, 2.0, -0.75, 1.5, 0.25], np.float16)
    wide, ones = a.astype(np.float64), np.ones(6)
    found, expected = pb.grad(f)(a), pb.grad(f)(wide)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, expected, rtol=4e-3, atol=4e-3)
    _, tangent = pb.jvp(f, (a,), (ones.astype(np.float16),))
    np.testing.assert_allclose(tangent, expected.sum(), rtol=4e-3)
    second = pb.hvp(f, (a,), (ones.astype(np.float16),))
    assert second.dtype == np.float16
    np.testing.assert_allclose(second, pb.hvp(f, (wide,), (ones,)), rtol=1e-2, atol=1e-2)


def test_ints_have_no_derivative() -> None:
    f = lambda a, n: np.sum(a * n) + n.sum()  # noqa: E731
    for name in INTS:
        value, gradient = pb.value_and_grad(f)(np.ones(3, np.float32), np.arange(3, dtype=name))
        assert value == 6 and gradient.tolist() == [0, 1, 2] and gradient.dtype == np.float32
        if name in ("uint8", "int64"):
            with pytest.raises(TypeError, match="has no float"):
                pb.grad(f, argnums=1)(np.ones(3), np.arange(3, dtype=name))
