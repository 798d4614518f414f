"""How machine values and compiled functions look to LLVM: what the emitter and the wrapper around it both rely on.

    f64                  ->  double
    f64[:,:]             ->  ptr, i64, i64, i64, i64          data, sizes, byte strides
    f64[:,:]c            ->  ptr, i64, i64                    contiguous: the strides follow from the sizes
    box b, buffer<f64>   ->  ptr

    def f(x: f64, a: f64[:]c) -> f64     ->     define internal {i32, double} @"pb.f.f"(ptr %context, double, ptr, i64)

The first member of the result is the status.  Unless it is `FINE` the other members are zero, and for `FAILED` the
context says which check failed and with what payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pullback.diagnostic import Span
from pullback.prims.control import MOST_PAYLOAD
from pullback.types import ArrayRef, DType, Failure, Machine, Scalar

__all__ = [
    "ADDS_IN_PLACE", "ALLOCATED", "ALLOCATIONS", "CALLER_STACK", "CHUNK", "CLOCK", "CONTEXT_SIZE", "EXCEPTION",
    "FAILED", "FINE", "FUEL", "KERNELS", "LIST", "LLVM", "MASKED", "MEMORY", "NO_MEMORY", "OVER_BUDGET", "PAYLOAD",
    "PAYLOAD_COUNT", "PRODUCTS", "REGION", "ROOM", "ROOM_END", "SITE", "STACK_LIMIT", "TEXTS", "THREAD", "TOO_DEEP",
    "UNMASKED", "ErrorSite", "Module", "Record", "all_pieces", "function_symbol", "pieces", "record", "result_type",
]  # fmt: skip

# Statuses.
FINE, FAILED, EXCEPTION, TOO_DEEP, NO_MEMORY, OVER_BUDGET = range(6)

# Byte offsets in the context record.
SITE = 0  # i64: index into Module.sites, set with FAILED
PAYLOAD = 8  # PAYLOAD_COUNT cells of 8 bytes: i64, or the bits of a double; a bool is 0 or 1
PAYLOAD_COUNT = MOST_PAYLOAD
LIST = PAYLOAD + 8 * PAYLOAD_COUNT  # ptr: the allocation made last (they are linked)
STACK_LIMIT = LIST + 8  # ptr: recursive functions return TOO_DEEP below this address; null: no check
FUEL = LIST + 16  # i64: work left until the next poll
CALLER_STACK = LIST + 24  # ptr: the caller's stack pointer while on a private stack, else null
ALLOCATED = LIST + 32  # i64: bytes allocated so far
ALLOCATIONS = LIST + 40  # i64: allocations so far
TEXTS = LIST + 48  # ptr: the strings of the call (runtime.texts.Texts), null before the first
ROOM = LIST + 56  # ptr: where the next record goes, and the end of the room for records
ROOM_END = LIST + 64
CHUNK = LIST + 72  # i64: the size of the allocation that this room is part of
REGION = LIST + 80  # i64: 1 in the caller of a parallel loop while it runs, 2 in its worker threads, else 0
THREAD = LIST + 88  # ptr: the thread's state in Python while the call has given the GIL away, else null
CLOCK = LIST + 96  # i64: nanoseconds, when signals were last looked at
CONTEXT_SIZE = LIST + 104

# Cells of the process-wide counts pb.work.
KERNELS, PRODUCTS = 0, 1  # loop nests of `elementwise`, products of matrices

# Lines by which a module says what `jit` should know: a loop adds to elements of arrays; loops under masks, or not.
ADDS_IN_PLACE = "!pb.adds_in_place = !{}"
MASKED = '!{!"llvm.loop.vectorize.predicate.enable", i1 true}'
UNMASKED = MASKED.replace("true", "false")

LLVM = {DType.BOOL: "i1", DType.F16: "half", DType.F32: "float", DType.F64: "double",
        **{dtype: f"i{8 * dtype.bytes}" for dtype in DType if dtype.is_int}}  # fmt: skip
MEMORY = {**LLVM, DType.BOOL: "i8"}  # how an element is kept in memory
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-<>()[], ")
_SIZES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "half": 2, "float": 4, "double": 8, "ptr": 8}


@dataclass(frozen=True, slots=True)
class ErrorSite:
    """One `check`: what to raise.  `message` holds {0}, {1}, ... for the payload, whose types are `payload`."""

    exception: str
    message: str
    span: Span
    payload: tuple[DType, ...] = ()  # of its own, then of its cause
    failure: Failure | None = None  # the structure of the exception, where it is more than a text
    cause: ErrorSite | None = None
    suppress: bool = False  # raised `from None`


@dataclass(frozen=True, slots=True)
class Module:
    """LLVM text of a Program and what goes with it.

    `definitions` are the functions, constants and metadata; `declarations` the declarations they need, by symbol, so
    that text added to the module can avoid declaring one twice; `text` is both.  Text that is added may use metadata
    numbers from 100000 on.  `externals` are addresses to import under the names in the text; `exported` are the names
    with external linkage.
    """

    definitions: str
    declarations: dict[str, str]
    sites: tuple[ErrorSite, ...]
    externals: dict[str, int]
    exported: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.declarations.values()) + "\n" + self.definitions


def pieces(machine: Machine) -> tuple[str, ...]:
    """LLVM types of the pieces of a machine value."""
    if isinstance(machine, Scalar):
        return (LLVM[machine.dtype],)
    if isinstance(machine, ArrayRef):
        return ("ptr", *("i64",) * (machine.rank if machine.contiguous else 2 * machine.rank))
    return ("ptr",)


def all_pieces(machines: Iterable[Machine]) -> tuple[str, ...]:
    """LLVM types of the pieces of several machine values."""
    return tuple(piece for machine in machines for piece in pieces(machine))


def function_symbol(name: str) -> str:
    """The LLVM name, with its @, of the compiled function of that name."""
    escaped = "".join(chr(b) if chr(b) in _PLAIN else f"\\{b:02x}" for b in name.encode())
    return f'@"pb.f.{escaped}"'


def result_type(results: Iterable[Machine]) -> str:
    """The LLVM type that a compiled function returns."""
    return "{" + ", ".join(("i32", *all_pieces(results))) + "}"


@dataclass(frozen=True, slots=True)
class Record:
    """Where the pieces of a sequence of machine values lie in memory.

    `offsets[i]` are the byte offsets of the pieces of value number i; every piece is aligned to its own size.
    """

    offsets: tuple[tuple[int, ...], ...]
    size: int
    alignment: int


def record(machines: Sequence[Machine], start: int = 0) -> Record:
    """The layout of values one after the other, from offset `start`; the size is a multiple of the alignment."""
    offsets: list[tuple[int, ...]] = []
    position, alignment = start, 8 if start else 1
    for machine in machines:
        places: list[int] = []
        for piece in pieces(machine):
            size = _SIZES[piece]
            position = -(-position // size) * size
            places.append(position)
            position += size
            alignment = max(alignment, size)
        offsets.append(tuple(places))
    return Record(tuple(offsets), max(1, -(-position // alignment) * alignment), alignment)
