"""Primitives that prelude functions use by name.  In plain Python they are ordinary functions of the same value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = [
    "at", "at_end", "attach", "copy_row", "field", "fma", "grad", "hash_in", "hash_of", "hashable", "jvp", "new_set",
    "outlined", "put_at", "put_field", "raise_with", "rint", "row", "rows", "sized", "stop", "structural",
    "text_piece", "text_pieces", "vjp",
]  # fmt: skip


def stop(x: Any) -> Any:
    """x, without its derivative."""
    return x


def attach(y: Any, x: Any, w: Any) -> Any:
    """y; its derivative is dy + w * dx."""
    return y


def fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z with one rounding (here with two)."""
    return x * y + z


def rint(x: Any) -> Any:
    """x rounded to the nearest whole float, ties to even."""
    return float(round(x))


# ----------------------------------------------------------------------- rows of heaps, which plain Python has not


def structural(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that only moves rows: it has no checks, so one version serves all lines that call it."""
    function.__dict__["__pullback_structural__"] = True
    return function


def outlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a structural function that stays one: it is long, or seldom called."""
    function.__dict__["__pullback_outlined__"] = True
    return structural(function)


def _only_compiled(*arguments: Any) -> Any:
    raise NotImplementedError("this has a meaning in compiled code only")


def field(x: Any, name: str) -> Any:
    """What stands in a field of a row."""
    return _only_compiled()


def put_field(x: Any, name: str, value: Any) -> None:
    """Store into a field of a row."""
    _only_compiled()


def row(x: Any, k: int) -> Any:
    """The row k rows after x, of the same heap."""
    return _only_compiled()


def rows(x: Any, n: int) -> Any:
    """n new rows of the heap of x; the first of them."""
    return _only_compiled()


def at_end(x: Any, n: int) -> bool:
    """Are the n rows from x the last of their heap."""
    return bool(_only_compiled())


def copy_row(x: Any, y: Any) -> None:
    """Every field of x becomes that of y, a row of the same heap."""
    _only_compiled()


def at(items: Any, k: int) -> Any:
    """The k-th item from a first one."""
    return _only_compiled()


def put_at(items: Any, k: int, item: Any) -> None:
    """Store the k-th item from a first one."""
    _only_compiled()


def hash_in(d: Any, key: Any) -> int:
    """A hash of the key; equal keys of a dict have equal ones."""
    return int(_only_compiled())


def hash_of(key: Any) -> int:
    """The hash of a key of a set."""
    return int(_only_compiled())


def hashable(key: Any) -> None:
    """Refuses a key that has no hash."""
    _only_compiled()


def new_set(s: Any) -> Any:
    """A new empty set of the kind of s."""
    return _only_compiled()


def sized(n: int) -> Any:
    """A new list of n items that are not set yet."""
    return _only_compiled()


def raise_with(ok: bool, exception: str, message: str, *values: Any) -> None:
    """Raise unless ok; in the message {} stands for repr() of the values."""
    _only_compiled()


def text_pieces(text: Any, *separator: Any) -> Any:
    """How many parts text.split(*separator) has."""
    return len(text.split(*separator))


def text_piece(text: Any, index: Any, *separator: Any) -> Any:
    """Part number `index` of text.split(*separator)."""
    return text.split(*separator)[index]


for _function in (
    stop, attach, fma, rint, field, put_field, row, rows, at_end, copy_row, at, put_at, hash_in, hash_of, hashable,
    new_set,    sized, raise_with, text_piece, text_pieces,
):  # fmt: skip
    _function.__dict__["__pullback_builtin__"] = f"pullback.{_function.__name__}"


# ------------------------------------------------------------------------------------------------------ derivatives


def grad(f: Any) -> Any:
    """pullback.grad in compiled code."""
    return _only_compiled()


def jvp(f: Any, primals: Any, tangents: Any) -> Any:
    """pullback.jvp in compiled code."""
    return _only_compiled()


def vjp(f: Any, *primals: Any) -> Any:
    """pullback.vjp in compiled code."""
    return _only_compiled()


for _derivative in (grad, jvp, vjp):
    _derivative.__dict__["__pullback_builtin__"] = f"pullback.{_derivative.__name__}"
