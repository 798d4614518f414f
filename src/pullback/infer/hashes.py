"""Hashes of keys: CPython's own for numbers and tuples of them, so that sets have its order.

    hash_of(key)        for sets
    hash_in(d, key)     for dicts, whose order is that of insertion: mixed, so that the low bits of all keys differ
    id(x)               another number for each object, the same for as long as the call runs
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Mapping, Sequence

from pullback.diagnostic import CompileError
from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call
from pullback.infer.classes import instance_class, is_generated, member
from pullback.infer.containers import changed
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.heaps import heap_of_type, kind_of
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import convert, python_int
from pullback.infer.objects import object_attribute
from pullback.infer.protocols import call_special, has_special, is_of_user
from pullback.infer.registry import HANDLERS, prelude
from pullback.infer.values import AV, coerce, items_of
from pullback.ir.node import Value
from pullback.runtime.boundary import RECORDS
from pullback.types import (
    F64,
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
    slots,
)  # fmt: skip

__all__ = ["key_type_of"]

MODULUS = 2**61 - 1  # of hashes of numbers
INFINITE = 314159  # the hash of infinity
_P1, _P2, _P5 = 11400714785074694791, 14029467366897019727, 2870177450012600261  # xxHash's, as tuples use them
_HEAP_BITS = 24  # of an id; the rest is the row
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
        case Tuple() if not has_special(cx, av.type, "__hash__") and not _is_unhashable(cx, av.type):
            return _hash_of_tuple(cx, av, texts)
        case Ref() | Tuple() if not _is_unhashable(cx, av.type):
            return _hash_of_reference(cx, av)
        case Text():
            return av.value
        case NoneType():
            return cx.e.integer(0)
        case Member() | Builtin() | Class() | Closure():
            return cx.e.integer(zlib.crc32(show(av.type).encode()))
    raise _unhashable(cx, av.type)


def _hash_of_reference(cx: Frame, av: AV) -> Value:
    """What has an equality of its own has a hash that goes with it; other things are equal to themselves alone."""
    kind = kind_of(av.type)
    cls = instance_class(av.type)
    if kind in ("tuple", "frozenset", *RECORDS) and not has_special(cx, av.type, "__hash__"):
        name = "tuple" if kind in RECORDS else kind  # a tuple may hold tuples without end: the prelude's call ends it
        known = call(cx, prelude(cx, f"pullback.hash_of_{name}"), [av], {})
        return cx.e.integer(0) if cx.dead else python_int(cx, known)
    found = None if cls is None else member(cx, cls, "__hash__")
    if found is None:
        return av.value
    owner, function = found
    if is_generated(function) and dataclasses.is_dataclass(owner):
        names = [f.name for f in dataclasses.fields(owner) if (f.compare if f.hash is None else f.hash)]
        values = [object_attribute(cx, av, name) for name in names]
        return _hash_of_tuple(cx, pack_tuple([value for value in values if value is not None]), True)
    result = call_special(cx, "__hash__", av)
    if cx.dead or result is None:
        return cx.e.integer(0)
    if not isinstance(result.type, Number | Constant) or slots(result.type) == (F64,):
        title = "__hash__ method should return an integer"
        raise cx.error(title, f"this one returns {show(result.type)}", raised=("TypeError", title))
    number = python_int(cx, result)
    return cx.e("select", cx.e("eq", number, cx.e.integer(-1)), cx.e.integer(-2), number)


def _is_unhashable(cx: Frame, type_: Type) -> bool:
    """Has it no hash: a container that changes, or an object whose class has an equality and no hash to go with it."""
    if isinstance(type_, List | Dict | Array) or kind_of(type_) in UNHASHABLE:
        return True
    cls = instance_class(type_)
    found = None if cls is None else member(cx, cls, "__hash__")
    if isinstance(type_, Tuple) and (found is None or not is_of_user(found[0])):
        return any(_is_unhashable(cx, item) for item in type_.items)
    return found is not None and found[1] is None


def _unhashable(cx: Frame, type_: Type) -> CompileError:
    if isinstance(type_, Tuple) and any(_is_unhashable(cx, item) for item in type_.items):
        type_ = next(item for item in type_.items if _is_unhashable(cx, item))
        return _unhashable(cx, type_)
    name = {List: "list", Dict: "dict", Array: "numpy.ndarray"}.get(type(type_))
    cls = instance_class(type_)
    name = name or (kind_of(type_) if cls is None else cls.__name__) or show(type_)
    title = f"unhashable type: '{name}'"
    help = "use a tuple" if name == "list" else ""
    return cx.error(title, "a key must be hashable", help, raised=("TypeError", title))


def _hashable(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """hashable(key): refuses a key that has no hash; where it may have one, the path of the others raises."""

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        type_ = operands[0].type
        if _is_unhashable(cx, type_):
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
    """The remainder by 2**61 - 1 of fraction * 2**exponent: the fraction, turned within 61 bits."""
    e = cx.e
    x = convert(cx, av, DType.F64)
    bits = e("cast", e("order_bits", e("abs", x)), to=DType.I64)
    exponent = e("and_", e("shr", bits, e.integer(52)), e.integer(0x7FF))
    normal = e("ne", exponent, e.integer(0))
    fraction = e("and_", bits, e.integer(2**52 - 1))
    fraction = e("select", normal, e("or_", fraction, e.integer(2**52)), fraction)
    turn = e("mod", e("sub", e("select", normal, exponent, e.integer(1)), e.integer(1075)), e.integer(61))
    high = e("and_", e("shl", fraction, turn), e.integer(MODULUS))
    rest = e("or_", high, e("shr", fraction, e("sub", e.integer(61), turn)))
    rest = e("select", e("eq", exponent, e.integer(0x7FF)), e.integer(INFINITE), rest)
    signed = e("select", e("lt", x, e.like(0.0, x)), e("neg", rest), rest)
    return e("select", e("eq", signed, e.integer(-1)), e.integer(-2), signed)


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


def _python_hash(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """hash(x)"""
    if len(arguments) != 1 or keywords:
        raise cx.type_error("hash() takes exactly one argument", f"{len(arguments) + len(keywords)} are given")
    return _hash_of(cx, arguments, keywords)


def _id(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """id(x): the row of an object, list, dict or set, and which table it is a row of."""
    if len(arguments) != 1 or keywords:
        raise cx.type_error("id() takes exactly one argument", f"{len(arguments) + len(keywords)} are given")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        (subject,) = operands
        if isinstance(subject.type, List | Dict):
            changed(cx, subject, "asked for its id()")
        heap = heap_of_type(subject.type)
        if heap is None or kind_of(subject.type) in ("tuple", *RECORDS):
            raise cx.error(f"{show(subject.type)} has no identity in compiled code", "id() is of objects, lists, dicts "
                           "and sets", "compare by value, `==`, or use it as a key itself")  # fmt: skip
        row = cx.e("shl", subject.value, cx.e.integer(_HEAP_BITS))
        return AV(WEAK_INT, (cx.e("or_", row, cx.e.integer(heap.number % (1 << _HEAP_BITS))),))

    return dispatch(cx, arguments, rule)


HANDLERS.update({
    "builtins.hash": _python_hash, "builtins.id": _id, "pullback.hash_of": _hash_of, "pullback.hash_in": _hash_in,
    "pullback.hashable": _hashable,
})  # fmt: skip
