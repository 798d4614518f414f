"""Strings of compiled code are strings of Python: compiled code holds their addresses and asks here for all else.

    spec "format\x1fd,t\x1ft\x1fx={0:.2f} {1}"   on a float and a string   ->   the address of "x=1.50 abc"

A `Texts` belongs to one call of compiled code.  It keeps the strings of the call alive, each once, so that equal
strings have equal addresses.
"""

from __future__ import annotations

import builtins
import ctypes
import operator
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS", "KINDS", "SEPARATOR", "Texts", "decoded", "dispatch", "evaluate", "new_texts", "specification"]

SEPARATOR = "\x1f"

KINDS = {
    "d": "float", "i": "int", "b": "bool", "t": "a string", "z": "complex", "Z": "np.complex128", "w": "np.complex64",
    "D": "np.float64", "f": "np.float32", "e": "np.float16", "B": "np.bool_", "g": "np.int8", "h": "np.int16",
    "j": "np.int32", "I": "np.int64", "u": "np.uint8", "v": "np.uint16", "U": "np.uint32", "V": "np.uint64",
}  # fmt: skip
"""Kinds of operands and results, a machine word each; of a complex number the imaginary part follows.  An array
("af64:2") has its address, sizes and byte strides."""

_FLOATS: dict[str, type[np.floating]] = {"D": np.float64, "f": np.float32, "e": np.float16}
_INTS: dict[str, type[np.generic]] = {
    "B": np.bool_, "g": np.int8, "h": np.int16, "j": np.int32, "I": np.int64, "u": np.uint8, "v": np.uint16,
    "U": np.uint32, "V": np.uint64,
}  # fmt: skip


class Texts:
    """The strings of one call, by address."""

    __slots__ = ("_at", "_known")

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._at: dict[int, str] = {}

    def keep(self, text: str) -> int:
        """The address of the one string of the call that equals `text`."""
        kept = self._known.setdefault(text, text)
        address = id(kept)
        self._at[address] = kept
        return address

    def at(self, address: int) -> str:
        """The string of an address; "" for the placeholder of a value that is never used."""
        return self._at.get(address, "")


def new_texts() -> Texts:
    """Called by compiled code before its first string."""
    return Texts()


def specification(function: str, kinds: Sequence[str], result: str, constant: str) -> str:
    """The text by which compiled code names what it wants."""
    return SEPARATOR.join((function, ",".join(kinds), result, constant))


def dispatch(texts: Texts, spec: str, *cells: int) -> int:
    """Called by compiled code: operands and result as machine words."""
    function, kinds, result, constant = spec.split(SEPARATOR, 3)
    values, position = [], 0
    given = kinds.split(",") if kinds else []
    for kind in given:
        width = width_of(kind)
        values.append(_value(texts, kind, cells[position : position + width]))
        position += width
    found = FUNCTIONS[function](constant, *_joined(given, values))
    if result == "t":
        return texts.keep(found)
    if result == "d":
        return int(struct.unpack("<q", struct.pack("<d", found))[0])
    return int(found) if result else 0


def evaluate(texts: Texts, function: str, kinds: Sequence[str], constant: str, values: Sequence[Any]) -> Any:
    """The same on NumPy scalars, with strings as addresses: the interpreter's way."""
    given = [decoded(texts, kind, value) for kind, value in zip(kinds, values, strict=True)]
    found = FUNCTIONS[function](constant, *_joined(kinds, given))
    return texts.keep(found) if isinstance(found, str) else found


def _joined(kinds: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """The values with both parts of a complex number made one."""
    found: list[Any] = []
    parts = iter(zip(kinds, values, strict=True))
    for kind, value in parts:
        if kind in _COMPLEX:
            value = _COMPLEX[kind](complex(float(value), float(next(parts)[1])))
        found.append(value)
    return found


_COMPLEX: dict[str, Callable[[complex], Any]] = {"z": complex, "Z": np.complex128, "w": np.complex64}


def decoded(texts: Texts, kind: str, value: Any) -> Any:
    """The Python object that a NumPy scalar stands for."""
    if kind == "t":
        return texts.at(int(value))
    return value if kind in (*_FLOATS, *_INTS, *_COMPLEX) or kind.startswith("a") else value.item()


def width_of(kind: str) -> int:
    """How many machine words an operand takes."""
    return 1 + 2 * int(kind.partition(":")[2]) if kind.startswith("a") else 1


def _value(texts: Texts, kind: str, cells: Sequence[int]) -> Any:
    if kind.startswith("a"):
        return _array(kind, cells)
    (cell,) = cells
    if kind == "t":
        return texts.at(cell)
    if kind in ("d", *_FLOATS, *_COMPLEX):
        number = struct.unpack("<d", struct.pack("<q", cell))[0]
        return _FLOATS[kind](number) if kind in _FLOATS else number
    if kind in "ib":
        return cell if kind == "i" else bool(cell)
    return _INTS[kind](cell % 2**64 if kind == "V" else cell)


def _element(name: str) -> np.dtype:
    """The dtype of that short name: "f64", "u8", "bool"."""
    return np.dtype(np.bool_ if name == "bool" else f"{name[0]}{int(name[1:]) // 8}")


def _array(kind: str, cells: Sequence[int]) -> Any:
    """An array of compiled code, copied."""
    name, _, rank = kind[1:].partition(":")
    dtype, count = _element(name), int(rank)
    sizes, strides = cells[1 : 1 + count], cells[1 + count :]
    if not all(sizes):
        return np.empty(sizes, dtype)
    reach = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    memory = (ctypes.c_char * (high - low + dtype.itemsize)).from_address(cells[0] + low)
    return np.ndarray(tuple(sizes), dtype, memoryview(memory), -low, tuple(strides)).copy()


# ----------------------------------------------------------------------------------------------- what they compute


def _print(flush: str, text: str) -> None:
    builtins.print(text, end="", flush=flush == "flush")


def _item(_: str, text: Sequence[str], index: int) -> str:
    return text[index] if -len(text) <= index < len(text) else ""


def _slice(given: str, text: str, *bounds: int) -> str:
    """`given`: which of start, stop and step there are."""
    values = iter(bounds)
    return text[slice(*(next(values) if flag == "1" else None for flag in given))]


@lru_cache(maxsize=8)  # compiled code asks for one piece after the other
def _pieces(how: str, text: str, *given: Any) -> Sequence[str]:
    """`how`: a method of str, with " None" where it is told no separator."""
    name, none, _ = how.partition(" ")
    return getattr(text, name)(None, *given) if none else getattr(text, name)(*given) if given[:1] != ("",) else ()


def _parses(kind: str, text: str, *base: int) -> bool:
    try:
        value = {"int": int, "float": float}[kind](text, *base)
    except ValueError:
        return False
    return kind == "float" or -(2**63) <= value < 2**63


def _parsed(kind: str, text: str, *base: int) -> Any:
    return {"int": int, "float": float}[kind](text, *base) if _parses(kind, text, *base) else 0


def _method(name: str, text: str, *arguments: Any) -> Any:
    """A method of str; of a placeholder it may fail, and nobody reads what it gives."""
    try:
        return getattr(text, name)(*arguments)
    except ValueError:
        return -1


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "value": lambda constant: constant,
    "concat": lambda _, *parts: "".join(parts),
    "repeat": lambda _, text, count: text * count,
    "format": lambda template, *values: template.format(*values),
    "percent": lambda template, *values: template % values,
    "compare": lambda name, a, b: getattr(operator, name)(a, b),
    "contains": lambda _, text, part: part in text,
    "length": lambda _, text: len(text),
    "item": _item,
    "slice": _slice,
    "method": _method,
    "pieces": lambda how, text, *given: len(_pieces(how, text, *given)),
    "piece": lambda how, index, text, *given: _item("", _pieces(how, text, *given), index),
    "parses": _parses,
    "parsed": _parsed,
    "ord": lambda _, text: ord(text) if len(text) == 1 else 0,
    "chr": lambda _, number: chr(number) if 0 <= number < 0x110000 else "",
    "print": _print,
}
