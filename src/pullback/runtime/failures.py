"""Exception objects made of what compiled code says of them: their class, arguments and attributes.

    Failure("model:Diverged", (Str("no end"), float)), numbers (0.5,)     ->     Diverged("no end", 0.5)

The class's own __init__ has run in compiled code already; what it set is set again here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

from pullback.diagnostic import InternalError
from pullback.prims.exceptions import CAUSE, class_of
from pullback.runtime.layout import NUMPY_SCALARS
from pullback.types import (
    Constant,
    Dict,
    DType,
    Failure,
    List,
    NoneType,
    Number,
    Ref,
    Str,
    Template,
    Text,
    Tuple,
    Type,
    Unbound,
    Union,
    slot_positions,
    slots,
)  # fmt: skip

__all__ = ["exception_of", "not_carried"]

_PYTHON: dict[DType, type] = {DType.BOOL: bool, DType.I64: int, DType.F64: float}
_UNSET = object()


def not_carried(failure: Failure) -> Type | None:
    """The type of something in the failure that Python cannot be given; None if there is nothing of that kind."""
    held = (*failure.args, *(type_ for name, type_ in failure.fields if name not in ("", CAUSE)))
    return next((type_ for type_ in held if not _carried(type_)), None)


def _carried(type_: Type) -> bool:
    match type_:
        case Number() | Constant() | Str() | Text() | NoneType() | Unbound() | Template():
            return True
        case Tuple(items) | List(items) | Dict(_, items) | Union(items):
            return all(map(_carried, items))
    return False


def exception_of(failure: Failure, numbers: Sequence[Any], filled: str = "") -> BaseException:
    """The exception; `filled` is the text of a template with its numbers put in."""
    cls = class_of(failure.kind)
    if cls is None:
        return InternalError(f"a check raises the unknown exception {failure.kind}")
    values = iter(numbers)
    args = tuple(_value(type_, values, filled) for type_ in failure.args)
    error = cls.__new__(cls, *args)
    error.args = args
    if isinstance(error, StopIteration | SystemExit):
        error.__init__(*args)  # type: ignore[misc]
    for name, type_ in failure.fields:
        value = _value(type_, values, filled)
        if name and value is not _UNSET:
            setattr(error, name, value)
    return error


def _value(type_: Type, values: Iterator[Any], filled: str) -> Any:
    match type_:
        case Number(dtype, weak):
            return (_PYTHON[dtype] if weak else NUMPY_SCALARS[dtype])(next(values))
        case Constant(value) | Str(value):
            return value
        case Text():
            return _string(int(next(values)))
        case Template():
            for _ in slots(type_):
                next(values)
            return filled
        case NoneType():
            return None
        case Unbound():
            return _UNSET
        case Ref():
            next(values)
            return None
        case Failure():  # a cause: it is linked where the exception is raised
            for _ in slots(type_):
                next(values)
            return _UNSET
        case Tuple(items, python):
            found = [_value(item, values, filled) for item in items]
            return tuple(found) if python is None else python(*found)
        case List(items):
            return [_value(item, values, filled) for item in items]
        case Dict(keys, items):
            return dict(zip(keys, [_value(item, values, filled) for item in items], strict=True))
        case Union(members):
            given = [next(values) for _ in slots(type_)]
            member = members[int(given[0])]
            return _value(member, iter([given[i] for i in slot_positions(type_, member)]), filled)
    raise InternalError(f"{type_} leaves compiled code with an exception")


def _string(address: int) -> str:
    """The string that lies there; the running call keeps it alive."""
    return str(ctypes.cast(address, ctypes.py_object).value) if address else ""
