"""Hashes of keys: CPython's own for ints, whole floats and tuples of them, so that sets have its order.

    hash_of(key)        for sets
    hash_in(d, key)     for dicts, whose order is that of insertion: mixed, so that the low bits of all keys differ
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

from pullback.diagnostic import CompileError
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.heaps import heap_of_type, kind_of
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import convert, python_int
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV, coerce, items_of
from pullback.ir.node import Value
from pullback.types import (
    NEVER,
    NONE,
    Array,
    Builtin,
    Class,
    Closure,
    Constant,
    Dict,
    DType,
    List,
    Member,
    NoneType,
    Number,
    Ref,
    Str,
    Text,
    Tuple,
    Type,
    Union,
    show,
)  # fmt: skip

__all__ = ["key_type_of"]

MODULUS = 2**61 - 1  # of hashes of numbers
_P1, _P2, _P5 = 11400714785074694791, 14029467366897019727, 2870177450012600261  # xxHash's, as tuples use them
UNHASHABLE = ("list", "dict", "defaultdict", "Counter", "OrderedDict", "set", "deque")


def key_type_of(type_: Type) -> Type:
    """What is known of the keys of a dict or set."""
    heap = heap_of_type(type_)
    store = None if heap is None else heap_of_type(heap.known("entries" if heap.known("entries") != NEVER else "table"))
    return NEVER if store is None else store.known("key")


def _hash_of(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """hash_of(key)."""
    return dispatch(cx, arguments, lambda cx, operands: AV(WEAK_INT, (_hash(cx, operands[0], True),)))


def _hash_in(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """hash_in(d, key): strings that are all known while compiling need no object at run time."""
    owner, key = arguments
    texts = _holds_text(key_type_of(owner.type)) or _holds_text(key.type)
    return dispatch(cx, [key], lambda cx, operands: AV(WEAK_INT, (_mixed(cx, _hash(cx, operands[0], texts)),)))


def _holds_text(type_: Type) -> bool:
    match type_:
        case Text():
            return True
        case Tuple(items) | Union(items):
            return any(map(_holds_text, items))
    return False


def _mixed(cx: Frame, value: Value) -> Value:
    """All bits have a say in the lowest."""
    spread = cx.e("mul", value, cx.e.integer(-7046029254386353131))
    return cx.e("xor_", spread, cx.e("shr", spread, cx.e.integer(32)))


def _hash(cx: Frame, av: AV, texts: bool) -> Value:
    match av.type:
        case Constant(value):
            return cx.e.integer(int(value))
        case Number(dtype, _):
            return _hash_of_float(cx, av) if dtype.is_float else _hash_of_int(cx, python_int(cx, av))
        case Str(text):
            return coerce(cx.e, av, Text()).value if texts else cx.e.integer(zlib.crc32(text.encode()))
        case Ref() if kind_of(av.type) not in UNHASHABLE:
            return av.value
        case Text():
            return av.value
        case NoneType():
            return cx.e.integer(0)
        case Tuple():
            return _hash_of_tuple(cx, av, texts)
        case Member() | Builtin() | Class() | Closure():
            return cx.e.integer(zlib.crc32(show(av.type).encode()))
    raise _unhashable(cx, av.type)


def _unhashable(cx: Frame, type_: Type) -> CompileError:
    name = {List: "list", Dict: "dict", Array: "numpy.ndarray"}.get(type(type_)) or kind_of(type_) or show(type_)
    title = f"unhashable type: '{name}'"
    help = "use a tuple" if name == "list" else ""
    return cx.error(title, "a key must be hashable", help, raised=("TypeError", title))


def _hashable(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """hashable(key): refuses a key that has no hash; where it may have one, the path of the others raises."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        type_ = operands[0].type
        if isinstance(type_, List | Dict | Array) or kind_of(type_) in UNHASHABLE:
            raise _unhashable(cx, type_)
        return AV(NONE)

    return dispatch(cx, arguments, rule)


def _hash_of_int(cx: Frame, value: Value) -> Value:
    """The remainder by 2**61 - 1, of the int's sign; never -1."""
    e = cx.e
    modulus, zero = e.integer(MODULUS), e.integer(0)
    rest = e("mod", value, modulus)
    below = e("and_", e("lt", value, zero), e("ne", rest, zero))
    signed = e("select", below, e("sub", rest, modulus), rest)
    return e("select", e("eq", signed, e.integer(-1)), e.integer(-2), signed)


def _hash_of_float(cx: Frame, av: AV) -> Value:
    """A whole float has the hash of the int it equals; that of others is not CPython's."""
    e = cx.e
    x = convert(cx, av, DType.F64)
    zero, limit = e.like(0.0, x), e.like(2.0**62, x)
    small = e("lt", e("abs", x), limit)  # not nan, nor an infinity
    tame = e("select", small, x, zero)
    whole = e("floor", tame)
    rest = e("mul", e("sub", tame, whole), e.like(2.0**53, x))
    return e("xor_", _hash_of_int(cx, e("cast", whole, to=DType.I64)), e("cast", rest, to=DType.I64))


def _signed(value: int) -> int:
    value %= 2**64
    return value - 2**64 if value >= 2**63 else value


def _hash_of_tuple(cx: Frame, av: AV, texts: bool) -> Value:
    """xxHash of the items' hashes."""
    e, items = cx.e, items_of(av)
    total = e.integer(_signed(_P5))
    for item in items:
        lane = dispatch(cx, [item], lambda cx, operands: AV(WEAK_INT, (_hash(cx, operands[0], texts),)))
        total = e("add", total, e("mul", lane.value, e.integer(_signed(_P2))))
        high = e("and_", e("shr", total, e.integer(33)), e.integer(2**31 - 1))
        total = e("or_", e("shl", total, e.integer(31)), high)
        total = e("mul", total, e.integer(_signed(_P1)))
    total = e("add", total, e.integer(_signed(len(items) ^ (_P5 ^ 3527539))))
    return e("select", e("eq", total, e.integer(-1)), e.integer(1546275796), total)


HANDLERS.update({"pullback.hash_of": _hash_of, "pullback.hash_in": _hash_in, "pullback.hashable": _hashable})
