"""Rows that say what of NumPy is tested, and how: the table behind `test_surface.py` and `docs/numpy.md`.

    Row("numpy.cumsum ndarray.cumsum", lambda a: np.cumsum(a, axis=0), [X(5), X(2, 3), X(0, 3)])

A row has the public names it covers, a program, and cases: its arguments, or how they are drawn.  NumPy running the
program says what value, dtype, shape and exception are right, differences of it what the derivatives are.
"""

from __future__ import annotations

import importlib
import pkgutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = [
    "ALL", "COMPLEX", "FLOATS", "INTS", "NUMBERS", "B", "N", "P", "Row", "S", "Variant", "X", "arguments", "load",
]  # fmt: skip

FLOATS = "float64 float32"
INTS = "int64 int32"
NUMBERS = f"{FLOATS} {INTS}"
ALL = f"{NUMBERS} bool"
COMPLEX = "complex128 complex64"

LAYOUTS = ("columns", "reversed", "sliced", "read-only", "swapped")
SPECIALS = ("nan", "inf", "ties", "zero")


@dataclass(frozen=True, slots=True)
class Draw:
    """An argument that is drawn: its shape, bounds of its elements, and its dtype, where that is not the variant's.

    The elements are spaced evenly and shuffled, so that none is near another, and arrays are shifted against each
    other: differences do not meet kinks.
    """

    shape: tuple[int, ...]
    low: float = -2.0
    high: float = 2.0
    dtype: str | None = None
    scalar: bool = False

    def array(self, rng: np.random.Generator, dtype: np.dtype[Any]) -> np.ndarray:
        """The elements, row after row."""
        count = int(np.prod(self.shape))
        if dtype.kind == "b":
            return rng.integers(0, 2, self.shape).astype(bool)
        if dtype.kind in "iu":
            return rng.integers(int(max(self.low, 0) if dtype.kind == "u" else self.low), int(self.high) + 1,
                                self.shape).astype(dtype)  # fmt: skip
        parts = [self.low + (self.high - self.low) * (rng.permutation(count) + rng.uniform(0.2, 0.8)) / max(count, 1)]
        if dtype.kind == "c":
            parts.append(1j * rng.permutation(parts[0]))
        return sum(parts).reshape(self.shape).astype(dtype)


def X(*shape: int, low: float = -2.0, high: float = 2.0, dtype: str | None = None) -> Draw:
    """An array of the dtype that is tested (`X()` has rank 0), or of a dtype of its own."""
    return Draw(shape, low, high, dtype)


def P(*shape: int, low: float = 0.2, high: float = 3.0, dtype: str | None = None) -> Draw:
    """An array of positive numbers."""
    return Draw(shape, low, high, dtype)


def S(low: float = -2.0, high: float = 2.0, dtype: str | None = None) -> Draw:
    """A number: a Python float for float64, else a NumPy scalar."""
    return Draw((), low, high, dtype, scalar=True)


def N(*shape: int, low: int = 0, high: int = 2) -> Draw:
    """An int64 array with elements from low to high, both included."""
    return Draw(shape, low, high, "int64")


def B(*shape: int) -> Draw:
    """A bool array."""
    return Draw(shape, dtype="bool")


@dataclass(frozen=True)
class Row:
    """What is tested of one function.

    names: public names, separated by blanks.  cases: arguments of calls, a tuple each (a single one needs no tuple).
    dtypes: of the arrays drawn by `X`, `P` and `S`; derivatives are checked in the floating ones.
    order: the highest derivative that there is.  wrt: which arguments it is taken of (all with floats unless given).
    layouts, specials: of the arguments' memory, and of the data in it, that are tried too.
    tolerance: of values, in epsilons of the dtype, relative to the largest number of arguments and result; 0 asks for
    the same bits.
    slope: of derivatives against differences, relative.  message: exceptions have NumPy's message too.
    reference: what NumPy runs, if not the program.  note: for the page.  objects: the program goes through lists that
    grow, so a pullback of it is not differentiated in reverse again, which is said.
    """

    names: str
    program: Callable[..., Any]
    cases: Sequence[Any]
    dtypes: str = FLOATS
    order: int = 2
    wrt: tuple[int, ...] | None = None
    layouts: Sequence[str] = LAYOUTS
    specials: Sequence[str] = ()
    tolerance: float = 16.0
    slope: float = 1e-6
    message: bool = True
    reference: Callable[..., Any] | None = None
    note: str = ""
    objects: bool = False
    identity: list[str] = field(default_factory=list)  # set when the table is loaded

    @property
    def label(self) -> str:
        """Family, first name and number in its file."""
        return self.identity[0]

    @property
    def numpy(self) -> Callable[..., Any]:
        """What NumPy runs."""
        return self.reference or self.program

    @property
    def kinds(self) -> list[str]:
        """The dtypes."""
        return self.dtypes.split()


@dataclass(frozen=True, slots=True)
class Variant:
    """One call of a row: which case, in which dtype, layout of memory and with which special data."""

    case: int
    dtype: str
    layout: str = "rows"
    special: str = ""

    def __str__(self) -> str:
        return f"case {self.case} {self.dtype} {self.layout} {self.special}".rstrip()


def load() -> list[Row]:
    """All rows of tests/surface_rows."""
    rows: list[Row] = []
    import surface_rows

    for module in sorted(pkgutil.iter_modules(surface_rows.__path__), key=lambda module: module.name):
        family = importlib.import_module(f"surface_rows.{module.name}").ROWS
        for number, row in enumerate(family):
            first = row.names.split()[0].removeprefix("numpy.")
            row.identity[:] = [f"{module.name}-{first}-{number}"]
        rows += family
    return rows


def case_of(row: Row, number: int) -> tuple[Any, ...]:
    """The arguments of a case, as they are written."""
    case = row.cases[number]
    return case if isinstance(case, tuple) else (case,)


def arguments(row: Row, variant: Variant) -> tuple[Any, ...]:
    """Fresh arguments, the same every time."""
    rng = np.random.default_rng(zlib.crc32(f"{row.label} {variant.case}".encode()))
    return tuple(_drawn(item, rng, variant) for item in case_of(row, variant.case))


def _drawn(item: Any, rng: np.random.Generator, variant: Variant) -> Any:
    if isinstance(item, tuple | list):
        return type(item)(_drawn(part, rng, variant) for part in item)
    if isinstance(item, dict):
        return {key: _drawn(part, rng, variant) for key, part in item.items()}
    if isinstance(item, np.ndarray):
        return item.copy(order="K")
    if not isinstance(item, Draw):
        return item
    array = item.array(rng, np.dtype(item.dtype or variant.dtype))
    if item.scalar:
        return array.item() if array.dtype == np.float64 else array[()]
    if item.dtype is None:
        array = _special(array, variant.special, rng)
    return _laid_out(array, variant.layout)


def _special(array: np.ndarray, special: str, rng: np.random.Generator) -> np.ndarray:
    """The array with some elements replaced."""
    if not special or not array.size:
        return array
    flat = array.ravel()
    places = rng.permutation(array.size)[: max(1, array.size // 3)]
    if special == "ties":
        return np.round(array) + array.dtype.type(0)
    if special == "inf":
        flat[places] = np.where(np.arange(len(places)) % 2, -np.inf, np.inf)
    else:
        flat[places] = {"nan": np.nan, "zero": 0}[special]
    return flat.reshape(array.shape)


def _laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """The same elements in memory of another layout."""
    match layout:
        case "columns":
            return np.asfortranarray(array)
        case "reversed":
            whole = (slice(None, None, -1),) * array.ndim
            return np.ascontiguousarray(array[whole])[whole].reshape(array.shape)
        case "sliced":
            if array.ndim == 0:
                return array
            if array.ndim == 1:
                return np.repeat(array, 2)[::2]
            return np.repeat(np.repeat(array, 2, 0), 2, -1)[::2, ..., ::2]
        case "read-only":
            array.setflags(write=False)
        case "swapped":
            return array.astype(array.dtype.newbyteorder("S"))
    return array


def has_arrays(row: Row, number: int) -> bool:
    """Does a case draw arrays, whose layout may vary?"""
    return any(isinstance(item, Draw) and not item.scalar and item.shape for item in _leaves(case_of(row, number)))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    else:
        yield value


def plain_variants(row: Row) -> list[Variant]:
    """Every case in every dtype."""
    return [Variant(case, dtype) for dtype in row.kinds for case in range(len(row.cases))]


def odd_variants(row: Row) -> list[Variant]:
    """Other layouts, in the first dtype, and special data, in the floating ones."""
    cases = range(len(row.cases))
    first = row.kinds[0]
    layouts = [layout for layout in row.layouts if layout != "swapped" or np.dtype(first).kind != "c"]
    found = [Variant(case, first, layout) for case in cases if has_arrays(row, case) for layout in layouts]
    floating = [dtype for dtype in row.kinds if np.dtype(dtype).kind in "fc"]
    return found + [Variant(case, dtype, special=s) for case in cases for dtype in floating for s in row.specials]


def differentiable(row: Row) -> list[Variant]:
    """The cases in the floating dtypes, where there are derivatives."""
    if not row.order:
        return []
    return [variant for variant in plain_variants(row) if np.dtype(variant.dtype).kind in "fc"]
