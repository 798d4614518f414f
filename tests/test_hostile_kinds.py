"""Inputs that are not what they seem: many axes, liars, foreign classes, bytes that are no bools, ints that trap."""

from __future__ import annotations

import collections
import ctypes
import gc
import mmap
import warnings
from typing import Any

import numpy as np
import pytest

import pullback as pb
from hostile import agrees, assert_ordinary, compiled, double, first, outcome, same, total, whole


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


class Refuses(np.ndarray):
    def __array_finalize__(self, other: Any) -> None:
        if type(other) is Refuses:
            raise RuntimeError("no copies of me")

    def __array_ufunc__(self, *arguments: Any, **keywords: Any) -> Any:
        raise RuntimeError("no ufuncs of me")


class Liar:
    """Says that it is an array."""

    def __init__(self, **interface: Any) -> None:
        self.__array_interface__ = {"version": 3, **interface}


class Pretender:
    dtype, shape, ndim, size, strides = np.dtype(np.float64), (3,), 1, 3, (8,)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("not really")

    def __dlpack__(self, **keywords: Any) -> Any:
        raise RuntimeError("not really")

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError("not really")


class Text(str):
    pass


MEMORY = np.arange(4.0)
POINT = collections.namedtuple("POINT", "x y")


KINDS: dict[str, Any] = {
    "64 axes": np.ones((1,) * 64),
    "33 axes of which one is long": np.ones((1,) * 32 + (5,)),
    "nothing beside a great deal": np.zeros((0, 2**40)),
    "nothing on many axes": np.zeros((3, 0, 5, 0)),
    "what a liar says": np.asarray(Liar(typestr="<f8", data=(MEMORY.ctypes.data, False), shape=(2,), strides=(16,))),
    "a liar": Liar(typestr="<f8", data=(8, False), shape=(2**40,), strides=None),
    "a pretender": Pretender(),
    "a class that refuses": MEMORY.view(Refuses),
    "char array": np.char.array(["a", "b"]),
    "record of no fields": np.zeros(3, np.dtype([])),
    "record inside a record": np.zeros(3, [("p", [("x", "f8")])]),
    "masked and structured": np.ma.zeros(3, [("x", "f8")]),
    "masked constant": np.ma.masked,
    "not a time": np.array(["NaT"], "M8[s]"),
    "dtype with metadata": np.arange(3.0).view(np.dtype("f8", metadata={"unit": "m"})),
    "empty of objects": np.zeros(0, object),
    "objects that are arrays": np.array([np.zeros(1), None], object),
    "bytes that are no bools": np.array([0, 1, 2, 255, 128], np.uint8).view(bool),
    "half": np.array([1.0, np.inf], np.float16),
    "complex single": np.zeros(3, np.complex64),
    "long double": np.zeros(3, np.longdouble),
    "small ints": np.arange(3, dtype=np.int8),
    "swapped half": np.zeros(3, ">f2"),
    "swapped complex": np.zeros(3, ">c16"),
    "strings of any length": np.array(["a", "bc"], np.dtypes.StringDType()),
    "subclass of float": type("F", (float,), {})(2.0),
    "subclass of int": type("I", (int,), {})(2),
    "an enum": __import__("enum").IntEnum("E", "A").A,
    "subclass of list": type("L", (list,), {})([1.0]),
    "subclass of dict": collections.OrderedDict(a=1.0),
    "subclass of str": Text("x"),
    "named tuple": POINT(1.0, 2.0),
    "dict of ints": {1: 2.0},
    "huge int": 2**63,
    "deep nesting": [[[[[[1.0]]]]]],
    "iterator": iter([1.0]),
    "slice": slice(0, 1),
    "ellipsis": ...,
    "not implemented": NotImplemented,
    "a class": Liar,
    "a decimal": __import__("decimal").Decimal(1),
    "a fraction": __import__("fractions").Fraction(1, 3),
    "an array module": __import__("array").array("d", [1.0, 2.0]),
    "a ctypes array": (ctypes.c_double * 3)(1.0, 2.0, 3.0),
    "a flat iterator": MEMORY.flat,
    "a dtype": np.dtype("f8"),
    "a weak reference": __import__("weakref").ref(MEMORY),
}


def agree(actual: Any, expected: Any) -> bool:
    if isinstance(expected, np.ndarray | np.void) and expected.dtype.names:  # NumPy has no tolerance for records
        return actual.dtype == expected.dtype and actual.tolist() == expected.tolist()
    return bool(same(actual, expected) or actual == expected)


@pytest.mark.parametrize("name", KINDS)
def test_kinds(name: str) -> None:
    value = KINDS[name]
    for function in (total, whole, double, first):
        given, spare = (v.copy() if type(v) is np.ndarray else v for v in (value, value))
        actual = outcome(pb.jit(function), (given,))
        if isinstance(actual, Exception):
            assert_ordinary(actual)
        else:
            expected = outcome(function, (spare,))
            assert not isinstance(expected, Exception), repr(actual)
            assert agree(actual, expected), f"{actual!r} for {expected!r}"
    actual = outcome(pb.grad(whole), (value,))
    if isinstance(actual, Exception):
        assert_ordinary(actual)
    else:
        assert actual.shape == value.shape


def test_memory_of_others() -> None:
    store = bytearray(np.arange(4.0).tobytes())
    pb.jit(double)(np.frombuffer(store))
    assert np.frombuffer(store).tolist() == [0.0, 2.0, 4.0, 6.0]
    view = pb.jit(lambda a: a[1:])(np.frombuffer(store))
    with pytest.raises(BufferError):
        store.extend(b"more")
    assert view.tolist() == [2.0, 4.0, 6.0]
    with mmap.mmap(-1, 64) as shared:
        pb.jit(double)(np.frombuffer(shared))
        gc.collect()
    numbers = (ctypes.c_double * 3)(1.0, 2.0, 3.0)
    pb.jit(double)(np.ctypeslib.as_array(numbers))
    assert list(numbers) == [2.0, 4.0, 6.0]


def test_an_array_that_was_resized() -> None:
    array = np.arange(10.0)
    f = compiled(whole)
    f(array)
    for size in (5, 1000, 0, 3):
        array.resize(size, refcheck=False)
        agrees(whole, array)
    view = pb.jit(lambda a: a[1:])(array)
    with pytest.raises(ValueError, match="resize"):
        array.resize(10**6)
    assert view.tolist() == array[1:].tolist()


# --- bools and ints -------------------------------------------------------------------------------------------------

BYTES = np.array([0, 1, 2, 255, 128], np.uint8).view(bool)


def test_bytes_that_are_no_bools() -> None:
    for function in (
        lambda a: (np.sum(a), np.any(a), np.all(a), np.mean(a), np.max(a)),
        lambda a: (~a, a ^ True, a < True, a[2], a == a[::-1]),
        lambda a: (a.astype(np.int64), a * 1.0, np.where(a, 1.0, 2.0), np.arange(5.0)[a]),
    ):
        agrees(function, BYTES)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_ints_that_trap(dtype: Any) -> None:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = np.array([least, least, least, most, 0, 5, -5, 7], dtype)
    b = np.array([-1, 0, least, -1, 0, 0, 0, -3], dtype)
    for function in (
        lambda a, b: (a // b, a % b, a / b, np.fmod(a, b)),
        lambda a, b: (a * b, a - b, -a, abs(a), np.sign(a), ~a),
        lambda a, b: (a << abs(b % 70), a >> abs(b % 70), a ** abs(b % 3)),
        lambda a, b: (a[0] // b[0], a[0] % b[0], a[5] // b[4], a[5] % b[4]),
        lambda a, b: (np.sum(a), np.prod(a), a @ b, np.mean(a)),
    ):
        agrees(function, a, b)


def divide_into(a: Any, b: Any) -> Any:
    a //= b
    return a


def test_ints_that_trap_in_place() -> None:
    a = np.array([-(2**63), -(2**63), 5, 0])
    agrees(divide_into, a, np.array([-1, 0, 0, 0]))
    agrees(divide_into, a, -1)
    agrees(divide_into, a, np.int64(0))
    for n, m in ((-(2**63), -1), (5, 0)):
        assert isinstance(outcome(pb.jit(lambda n, m: (n // m, n % m)), (n, m)), ArithmeticError)


UFUNCS = ("add", "multiply", "maximum", "minimum", "absolute", "fabs", "floor_divide", "remainder", "fmod", "square",
          "power", "float_power", "negative", "subtract", "positive", "sign", "bitwise_xor", "less", "sqrt", "arctan2",
          "left_shift", "hypot")  # fmt: skip


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_of_all_dtypes(name: str) -> None:
    ufunc: Any = getattr(np, name)
    parameters = "ab"[: ufunc.nin]
    text = f"import numpy as np\ndef f({','.join(parameters)}):\n    return np.{name}({','.join(parameters)})\n"
    f = pb.api.from_source(text, "f")
    for dtype in (np.bool_, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64):
        base = np.array([5, 1, 3]).astype(dtype) if dtype is not np.bool_ else np.array([True, False, True])
        arguments = (base, base[::-1])[: ufunc.nin]
        expected, actual = outcome(f, arguments), outcome(pb.jit(f), arguments)
        if isinstance(expected, Exception):
            assert isinstance(actual, TypeError | pb.CompileError), repr(actual)
            continue
        assert actual.dtype == expected.dtype, f"{actual!r} for {expected!r}"
        tolerance = 1e-3 if expected.dtype == np.float16 else 1e-6
        np.testing.assert_allclose(actual, expected, rtol=tolerance)
