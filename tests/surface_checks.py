"""What is checked of a row: the value against NumPy, derivatives against differences, both on either engine.

    check_value(Interpreted(row), row, Variant(0, "float64"))

Derivatives J of a program at x: forward mode gives J t, which fourth-order central differences of NumPy give too;
reverse mode gives J' c with <c, J t> = <J' c, t>; the derivative of x -> J(x)' c along t, forward over reverse, is
compared with differences of reverse mode.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import api, pipeline, testing
from pullback.diagnostic import CompileError
from pullback.runtime.signatures import describe
from surface import Row, Variant, arguments

DIRECTIONS = 2


# ------------------------------------------------------------------------------------------------------- engines


class Interpreted:
    """A program on the reference interpreter, inferred once for arguments of each type."""

    def __init__(self, row: Row, *, passes: bool = False, verify: bool = True) -> None:
        self.function = row.program
        self.options = pipeline.Options(passes=passes, verify=verify)
        self.known: dict[Any, Any] = {}

    def value(self, arguments: Sequence[Any]) -> Any:
        return self.run("call", self.function, arguments)

    def forward(self, arguments: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return self.run("jvp", self.function, (*arguments, *tangents))[1]

    def reverse(self, arguments: Sequence[Any], cotangent: Any) -> Any:
        return self.run("pullback", self.function, (*arguments, cotangent))

    def forward_reverse(self, arguments: Sequence[Any], cotangent: Any, tangents: Sequence[Any]) -> Any:
        return self.run("jvp", _back(self.function, len(arguments)), (*arguments, cotangent, *tangents))[1]

    def reverse_reverse(self, arguments: Sequence[Any], cotangent: Any, tangents: Sequence[Any]) -> Any:
        outer = (*tangents[:-1],)
        return self.run("pullback", _back(self.function, len(arguments)), (*arguments, cotangent, outer))[:-1]

    def run(self, kind: str, function: Any, given: Sequence[Any]) -> Any:
        key = (kind, function, tuple(map(_signature, given)))
        if key not in self.known:
            names = tuple(f"x{i}" for i in range(len(given)))
            request = pipeline.Request(kind, function, tuple(given), names)
            self.known[key] = pipeline.lower(request, self.options)
        return testing.interpreted(self.known[key], given)


_backs: dict[Any, Any] = {}


def _back(function: Any, count: int) -> Any:
    """(x..., c) -> J(x)' c, as a plain function."""
    if function not in _backs:
        names = ", ".join(f"x{i}" for i in range(count))
        source = f"def make(vjp, function):\n    def back({names}, c):\n"
        source += f"        return vjp(function, {names})[1](c)\n    return back\n"
        _backs[function] = api.from_source(source, "make")(api.vjp, function)
    return _backs[function]


def _signature(value: Any) -> str:
    """What code is inferred for: types, and the values of what is no float or array."""
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(_signature, value))})"
    if isinstance(value, dict):
        return ", ".join(f"{key!r}: {_signature(item)}" for key, item in value.items())
    if isinstance(value, np.ndarray | np.generic):
        return describe(value)
    return type(value).__name__ if isinstance(value, float | complex) else repr(value)


class Compiled:
    """A program as users compile it; what runs natively calls no function of NumPy's."""

    def __init__(self, row: Row) -> None:
        self.function = row.program
        self.jitted = pb.jit(row.program)

    def value(self, arguments: Sequence[Any]) -> Any:
        return self.jitted(*arguments)

    def forward(self, arguments: Sequence[Any], tangents: Sequence[Any]) -> Any:
        return pb.jvp(self.function, tuple(arguments), tuple(tangents))[1]

    def reverse(self, arguments: Sequence[Any], cotangent: Any) -> Any:
        return pb.vjp(self.function, *arguments)[1](cotangent)

    def forward_reverse(self, arguments: Sequence[Any], cotangent: Any, tangents: Sequence[Any]) -> Any:
        back = _back(self.function, len(arguments))
        return pb.jvp(back, (*arguments, cotangent), tuple(tangents))[1]


_MODULES = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg")


@contextlib.contextmanager
def without_numpy() -> Iterator[None]:
    """Every function of NumPy and SciPy raises."""
    saved: list[tuple[Any, str, Any]] = []
    for name in _MODULES:
        module = importlib.import_module(name)
        for key, value in list(vars(module).items()):
            if callable(value) and not isinstance(value, type) and not key.startswith("_"):
                saved.append((module, key, value))
    try:
        for module, key, _ in saved:
            setattr(module, key, _refuse(f"{module.__name__}.{key}"))
        yield
    finally:
        for module, key, value in saved:
            setattr(module, key, value)


def _refuse(name: str) -> Callable[..., Any]:
    def called(*arguments: Any, **keywords: Any) -> Any:
        raise AssertionError(f"compiled code called {name}")

    return called


# ------------------------------------------------------------------------------------------------------- values


def outcome(function: Callable[..., Any], given: Sequence[Any]) -> Any:
    """What a call gives, or the exception it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*given)
        except Exception as error:
            return error


def check_value(engine: Any, row: Row, variant: Variant) -> None:
    """Value, dtype, shape, exception and changed arguments are NumPy's."""
    own, other = arguments(row, variant), arguments(row, variant)
    expected = outcome(row.numpy, other)
    where = f"{row.label} {variant}"
    if isinstance(expected, Exception):
        check_raised(engine, own, expected, row, where)
        return
    scale = largest(arguments(row, variant))
    same(engine.value(own), expected, row, scale, where)
    if isinstance(engine, Compiled):
        again = arguments(row, variant)
        if variant.layout != "swapped":  # such arguments are copied, by NumPy
            with without_numpy():
                result = engine.value(again)
            same(result, expected, row, scale, f"{where}, without NumPy")
    for number, (a, b) in enumerate(zip(own, other, strict=True)):
        same(a, b, row, scale, f"{where}, argument {number} afterwards")


def check_raised(engine: Any, own: Sequence[Any], expected: Exception, row: Row, where: str) -> None:
    """The exception is NumPy's, or the program was refused before it ran."""
    try:
        result = engine.value(own)
    except CompileError:
        return
    except Exception as error:
        assert isinstance(error, type(expected)), f"{where}: {error!r} for {expected!r}"
        assert not row.message or str(error) == str(expected), f"{where}: {error} for {expected}"
        return
    raise AssertionError(f"{where}: {result!r} where NumPy raises {expected!r}")


def same(actual: Any, expected: Any, row: Row, scale: float, where: str) -> None:
    """Same structure, types, dtypes and shapes; floats within the row's tolerance."""
    if isinstance(expected, tuple | list):
        assert isinstance(actual, tuple if isinstance(expected, tuple) else list), f"{where}: {type(actual).__name__}"
        assert len(actual) == len(expected), f"{where}: {len(actual)} items for {len(expected)}"
        for number, (a, b) in enumerate(zip(actual, expected, strict=True)):
            same(a, b, row, scale, f"{where}[{number}]")
        return
    assert type(actual) is type(expected), f"{where}: {type(actual).__name__} for {type(expected).__name__}: {actual}"
    if isinstance(expected, np.ndarray | np.generic):
        assert actual.dtype == expected.dtype.newbyteorder("=") or actual.dtype == expected.dtype, (
            f"{where}: {actual.dtype} for {expected.dtype}"
        )
        assert actual.shape == expected.shape, f"{where}: {actual.shape} for {expected.shape}"
        close(actual, expected, row.tolerance, scale, where)
    elif isinstance(expected, float | complex):
        close(np.asarray(actual), np.asarray(expected), row.tolerance, scale, where)
    else:
        assert actual == expected, f"{where}: {actual!r} for {expected!r}"


def close(actual: Any, expected: Any, tolerance: float, scale: float, where: str) -> None:
    """Elements within so many epsilons of `scale` or the largest; nan and infinities in the same places."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    message = f"{where}:\n{actual}\nfor\n{expected}"
    if expected.dtype.kind not in "fc":
        assert np.array_equal(actual, expected), message
        return
    if expected.dtype.kind == "c":
        close(actual.real, expected.real, tolerance, scale, where)
        close(actual.imag, expected.imag, tolerance, scale, where)
        return
    if tolerance == 0.0:
        assert np.array_equal(actual, expected, equal_nan=True), message
        negative, wanted = np.signbit(actual) & ~np.isnan(actual), np.signbit(expected) & ~np.isnan(expected)
        assert np.array_equal(negative, wanted), message
        return
    finite = np.isfinite(expected)
    assert np.array_equal(actual[~finite], expected[~finite], equal_nan=True), message
    most = float(np.max(np.abs(expected[finite]), initial=scale))
    allowed = tolerance * float(np.finfo(expected.dtype).eps) * most
    assert np.all(np.abs(actual[finite].astype(float) - expected[finite]) <= allowed), message


def largest(given: Sequence[Any]) -> float:
    """The largest finite float among arguments."""
    sizes = [np.abs(np.asarray(leaf)) for leaf in _leaves(tuple(given)) if _floating(leaf)]
    return max((float(np.max(size[np.isfinite(size)], initial=0.0)) for size in sizes), default=0.0)


# -------------------------------------------------------------------------------------------------- derivatives


def check_derivatives(engine: Any, row: Row, variant: Variant, *, second: bool, twice: bool = False) -> None:
    """Forward mode, reverse mode and, if asked, forward over reverse (and reverse over reverse)."""
    given = arguments(row, variant)
    out = outcome(row.numpy, arguments(row, variant))
    if isinstance(out, Exception):
        return
    where = f"{row.label} {variant}"
    rng = np.random.default_rng(len(where))
    cotangent = _random(out, rng)
    single = any(leaf.dtype in (np.float32, np.complex64) for leaf in _arrays(given))
    slope = max(row.slope, 2e-3) if single else row.slope
    back = engine.reverse(arguments(row, variant), cotangent)
    _check_structure(back, given, where)
    for _ in range(DIRECTIONS):
        tangents = _tangents(row, given, rng)
        forward = engine.forward(arguments(row, variant), tangents)
        expected = _differences(lambda *x: outcome(row.numpy, x), _wide(given), tangents)
        near(forward, expected, slope, f"{where}: forward")
        left, right = _pair(cotangent, forward), _pair(back, tangents)
        bound = (1e-4 if slope >= 1e-3 else 1e-10) * max(1.0, _size(cotangent) * _size(forward))
        assert abs(left - right) <= bound, f"{where}: <c, Jt> = {left} but <J'c, t> = {right}"
    if second and row.order > 1 and not single:
        _check_second(engine, row, variant, cotangent, rng, twice)


def _check_second(
    engine: Any, row: Row, variant: Variant, cotangent: Any, rng: np.random.Generator, twice: bool
) -> None:
    given, where = arguments(row, variant), f"{row.label} {variant}"
    tangents = _tangents(row, given, rng)
    still = _zeros(cotangent)
    actual = engine.forward_reverse(arguments(row, variant), cotangent, (*tangents, still))
    expected = _differences(lambda *x: engine.reverse(x, cotangent), given, tangents)
    near(actual, expected, max(row.slope * 10, 1e-5), f"{where}: forward over reverse")
    if twice and row.objects:
        with pytest.raises(CompileError, match="reverse derivative of a pullback of a function of objects"):
            engine.reverse_reverse(arguments(row, variant), cotangent, (*tangents, still))
    elif twice:
        found = engine.reverse_reverse(arguments(row, variant), cotangent, (*tangents, still))
        if not any(leaf.dtype.kind == "c" for leaf in _arrays(given)):
            near(found, actual, 1e-8, f"{where}: reverse over reverse")


def _differences(function: Callable[..., Any], given: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The derivative along the tangents by central differences of fourth order."""
    h = 1e-3

    def at(step: float) -> Any:
        return function(*[_moved(x, t, step) for x, t in zip(given, tangents, strict=True)])

    return _combined([at(h), at(-h), at(2 * h), at(-2 * h)], h)


def _combined(values: Sequence[Any], h: float) -> Any:
    first = values[0]
    if isinstance(first, Exception):
        raise first
    if isinstance(first, tuple | list):
        return [_combined(parts, h) for parts in zip(*values, strict=True)]
    if not _floating(first):
        return None
    a, b, c, d = (np.asarray(value) for value in values)
    with np.errstate(all="ignore"):
        return (8 * (a - b) - (c - d)) / (12 * h)


def near(actual: Any, expected: Any, slope: float, where: str) -> None:
    """Derivatives within `slope` of the largest; what is no float has none."""
    if isinstance(expected, tuple | list):
        for number, (a, b) in enumerate(zip(actual, expected, strict=True)):
            near(a, b, slope, f"{where}[{number}]")
    elif expected is not None:
        actual, expected = np.asarray(actual) * 1, np.asarray(expected) * 1  # bools as ints
        assert actual.shape == expected.shape, f"{where}: {actual.shape} for {expected.shape}"
        known = np.isfinite(expected)  # a line without elements gives nan, whose derivative nobody knows
        bound = slope * max(1.0, float(np.max(np.abs(expected[known]), initial=0.0)))
        assert np.all(np.abs(actual - expected)[known] <= bound), f"{where}:\n{actual}\nfor\n{expected}"


def _floating(value: Any) -> bool:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def _mapped(leaf: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, tuple):
        items = [_mapped(leaf, part) for part in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [_mapped(leaf, part) for part in value]
    if isinstance(value, dict):
        return {key: _mapped(leaf, part) for key, part in value.items()}
    return leaf(value)


def _random(value: Any, rng: np.random.Generator, still: bool = False) -> Any:
    """Numbers like the floats of a value, zeros like its ints."""

    def leaf(item: Any) -> Any:
        if not isinstance(item, np.ndarray | np.generic | float | int | complex):
            return item
        dtype, shape = np.asarray(item).dtype, np.shape(item)
        found = np.zeros(shape, dtype)
        if dtype.kind in "fc" and not still:
            found = rng.uniform(-1.0, 1.0, shape).astype(dtype)
            if dtype.kind == "c":
                found = (found + 1j * rng.uniform(-1.0, 1.0, shape)).astype(dtype)
        if isinstance(item, np.ndarray):
            return np.asarray(found)
        return np.asarray(found)[()] if isinstance(item, np.generic) else type(item)(np.asarray(found)[()])

    return _mapped(leaf, value)


def _zeros(value: Any) -> Any:
    return _random(value, np.random.default_rng(0), still=True)


def _tangents(row: Row, given: Sequence[Any], rng: np.random.Generator) -> tuple[Any, ...]:
    return tuple(
        _random(item, rng, still=row.wrt is not None and number not in row.wrt) for number, item in enumerate(given)
    )


def _wide(value: Any) -> Any:
    """In double precision."""

    def leaf(item: Any) -> Any:
        if isinstance(item, np.ndarray | np.generic) and item.dtype in (np.float32, np.complex64):
            return item.astype(np.complex128 if item.dtype.kind == "c" else np.float64)
        return item

    return _mapped(leaf, tuple(value))


def _moved(value: Any, tangent: Any, step: float) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_moved(v, t, step) for v, t in zip(value, tangent, strict=True))
    if isinstance(value, dict):
        return {key: _moved(part, tangent[key], step) for key, part in value.items()}
    if not _floating(value):
        return value.copy() if isinstance(value, np.ndarray) else value
    moved = value + step * np.asarray(tangent)
    return np.asarray(moved) if isinstance(value, np.ndarray) else type(value)(moved)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    else:
        yield value


def _arrays(value: Any) -> list[Any]:
    return [item for item in _leaves(value) if isinstance(item, np.ndarray | np.generic)]


def _pair(left: Any, right: Any) -> float:
    """The sum of Re(conj(a) b) over all floats."""
    total = 0.0
    for a, b in zip(_leaves(left), _leaves(right), strict=True):
        if _floating(a):
            total += float(np.sum(np.real(np.conj(a) * b)))
    return total


def _size(value: Any) -> float:
    return math.sqrt(sum(float(np.sum(np.abs(leaf) ** 2)) for leaf in _leaves(value) if _floating(leaf)))


def _check_structure(back: Any, given: Sequence[Any], where: str) -> None:
    """A cotangent has the type, dtype and shape of its argument."""
    for cotangent, item in zip(_leaves(back), _leaves(tuple(given)), strict=True):
        if _floating(item):
            assert type(cotangent) is type(item), f"{where}: a cotangent of {type(cotangent).__name__}"
            assert np.asarray(cotangent).dtype == np.asarray(item).dtype, f"{where}: {cotangent.dtype}"
            assert np.shape(cotangent) == np.shape(item), f"{where}: {np.shape(cotangent)} for {np.shape(item)}"
