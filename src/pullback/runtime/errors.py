"""The exceptions that compiled code raises: of the right type, with a traceback that ends at the user's line.

A failed check of line 12 of model.py, in `loss`, looks as if CPython had raised it there:

    Traceback (most recent call last):
      File "run.py", line 3, in <module>
        loss(0.0)
      File "model.py", line 12, in loss
        y = 1.0 / x
            ~~~~^~~
    ZeroDivisionError: float division by zero
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Protocol

from pullback.diagnostic import InternalError, Span
from pullback.prims.exceptions import REPR, class_of
from pullback.runtime.failures import exception_of
from pullback.types import DType, Failure

__all__ = ["REPR", "Site", "argument_of", "exception_at", "make_error", "raise_at"]

FAILED, TOO_DEEP, NO_MEMORY = 1, 3, 4


class Site(Protocol):
    """What a failed check raises: codegen.abi.ErrorSite."""

    @property
    def exception(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def span(self) -> Span: ...
    @property
    def payload(self) -> tuple[DType, ...]: ...
    @property
    def failure(self) -> Failure | None: ...
    @property
    def cause(self) -> Site | None: ...
    @property
    def suppress(self) -> bool: ...


def make_error(sites: Sequence[Site], span: Span, status: int, number: int, *payload: int) -> BaseException:
    """The exception for a status of compiled code, with its traceback.  Called by compiled code, which raises it.

    `sites` are the checks of the program and `number` the one that failed (status 1); `span` is the called function.
    """
    if status == FAILED and 0 <= number < len(sites):
        site = sites[number]
        return _raised(site, [_value(dtype, bits) for dtype, bits in zip(site.payload, payload, strict=False)])
    if status == TOO_DEEP:
        return raise_at(span, RecursionError("maximum recursion depth exceeded"))
    if status == NO_MEMORY:
        return raise_at(span, MemoryError("out of memory in compiled code"))
    return InternalError(f"compiled code of {span.function or '?'} returned status {status}, check {number}")


def _raised(site: Site, values: Sequence[object]) -> BaseException:
    """The exception of a site with its traceback, and with that which it was raised from."""
    return raise_at(site.span, _whole(site, values)) if site.span.line else _whole(site, values)


def _whole(site: Site, values: Sequence[object]) -> BaseException:
    """The exception with its cause.  No variable holds either, for tracebacks lead to this frame: see `raise_at`."""
    if site.cause is None:
        return _linked(exception_at(site, values), None, site.suppress)
    own = len(values) - len(site.cause.payload)
    return _linked(exception_at(site, values[:own]), _raised(site.cause, values[own:]), True)


def _linked(error: BaseException, cause: BaseException | None, suppress: bool) -> BaseException:
    error.__cause__ = cause
    error.__suppress_context__ = suppress
    return error


def exception_at(site: Site, values: Sequence[object]) -> BaseException:
    """The exception of a site, from what goes with it."""
    message = _fill(site.message, values)
    if site.failure is not None:
        return exception_of(site.failure, values, message)
    kind = class_of(site.exception)
    if kind is None:
        return InternalError(f"a check raises the unknown exception {site.exception}: {message}")
    return kind(argument_of(message)) if message else kind()


_NUMBERS = {"nan": float("nan"), "inf": float("inf")}


def argument_of(message: str) -> object:
    """What an exception is made with: its text, or the object whose repr() follows the mark."""
    if not message.startswith(REPR):
        return message
    try:
        return eval(message.removeprefix(REPR), {"__builtins__": {}}, _NUMBERS)  # a repr() made by compiled code
    except (ValueError, SyntaxError, NameError):
        return message.removeprefix(REPR)


def _value(dtype: DType, bits: int) -> object:
    if dtype.is_float:
        return struct.unpack("<d", struct.pack("<q", bits))[0]
    if dtype.is_unsigned:
        return bits % 2**64
    return bool(bits) if dtype is DType.BOOL else bits


def _fill(message: str, values: Sequence[object]) -> str:
    """Put values for {0}, {1}, ..., and strings of compiled code for {0!t} or, quoted, {0!r}; other braces stay."""

    def put(found: re.Match[str]) -> str:
        number = int(found[1])
        if number >= len(values):
            return found[0]
        value = values[number]
        return str(value) if not found[2] else _TEXTS[found[2]](_string_at(value))

    return re.sub(r"\{(\d+)(![tr])?\}", put, message)


_TEXTS: dict[str, Callable[[str], str]] = {"!t": str, "!r": repr}


def _string_at(address: object) -> str:
    """The string of compiled code, which its call still keeps alive."""
    assert isinstance(address, int)
    found = ctypes.cast(address, ctypes.py_object).value
    assert isinstance(found, str)
    return found


def raise_at(span: Span, error: BaseException) -> BaseException:
    """Give an exception a traceback of one frame: the function, file and line of `span`.  Returns the exception.

    The frame leads back to this function's own: neither may keep the exception alive, or each error would be a cycle.
    """
    scope: dict[str, object] = {"error": error}
    try:
        exec(_code_at(span), scope)
    except BaseException as caught:
        if caught is not error:
            raise
        assert caught.__traceback__ is not None
        error.__traceback__ = caught.__traceback__.tb_next  # the entry before is of this function
        error.__context__ = error.__cause__
    try:
        return error
    finally:
        scope.clear()
        del error


_RAISE = compile("raise error", "<pullback>", "exec")


def _code_at(span: Span) -> CodeType:
    """Code that raises the global `error`, and says that it stands at `span`."""
    if not span.line:
        return _RAISE
    name = span.function or "<module>"
    table = _locations(len(_RAISE.co_code) // 2, span)
    return _RAISE.replace(
        co_filename=span.file,
        co_firstlineno=span.line,
        co_name=name.rpartition(".")[2],
        co_qualname=name,
        co_linetable=table,
    )


def _locations(units: int, span: Span) -> bytes:
    """A location table (PEP 657's format) that puts every instruction of a code object at `span`."""
    several = span.end_line >= span.line and span.end_column > 0
    kind = 14 if several else 13  # with columns, without
    table = bytearray()
    while units > 0:
        length = min(units, 8)
        table.append(0x80 | kind << 3 | length - 1)
        table += _varint(0)  # lines from the line before, signed
        if several:
            table += _varint(span.end_line - span.line) + _varint(span.column + 1) + _varint(span.end_column + 1)
        units -= length
    return bytes(table)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 64:
        parts.append(0x40 | value & 63)
        value >>= 6
    parts.append(value)
    return bytes(parts)
