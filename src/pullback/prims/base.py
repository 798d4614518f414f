"""The record of a primitive, the registry, and the emitter that builds typed ops by name.

    e = Emitter(block)
    y = e("mul", e("sin", x), e.constant(2.0, F64))

A scalar primitive is one row: how it is typed, computed by the interpreter (`impl`), differentiated (`partials`, from
which both modes follow) and lowered (`lower`, LLVM text templates that the code generator fills).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pullback.diagnostic import UNKNOWN, Span
from pullback.ir.build import Builder
from pullback.ir.node import Block, Op, Value
from pullback.types import BOOL, F64, I64, DType, Machine, Scalar

__all__ = [
    "NOT_DIFFERENTIABLE", "REGISTRY", "Elementary", "Emitter", "Linear", "Partial", "Prim", "PublicName", "Refused",
    "array_types", "get", "register",
]  # fmt: skip

Attrs = Mapping[str, object]
Infer = Callable[[Sequence[Machine], Attrs], tuple[Machine, ...]]


@dataclass(frozen=True, slots=True)
class Partial:
    """One partial derivative: a value or a float constant.  `strong`: may not be finite, so multiply by `zmul`."""

    value: Value | float
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """In place of a partial that has no formula: differentiating by the operand is a CompileError."""

    title: str
    help: str


# Partials(emit, op) -> one entry per operand; None means no derivative with respect to that operand.
Partials = Callable[["Emitter", Op], Sequence[Partial | Refused | float | None]]


@dataclass(frozen=True, slots=True)
class Linear:
    """A derivative stated directly, for ops that are linear in their float operands (select, cast).

    pushforward(emit, op, tangents): tangent of the result; a tangent is None where it is zero.
    transpose(emit, op, cotangent): a cotangent (or None) per operand.
    """

    pushforward: Callable[[Emitter, Op, Sequence[Value | None]], Value | None]
    transpose: Callable[[Emitter, Op, Value], Sequence[Value | None]]


NOT_DIFFERENTIABLE = "not differentiable"  # integers, booleans, kinks everywhere: derivative zero, no tangent


@dataclass(frozen=True, slots=True)
class Elementary:
    """Lowered to a call of the elementary-function library, `name` of one dtype."""

    name: str


@dataclass(frozen=True, slots=True)
class PublicName:
    """A Python name for a scalar primitive.

    kind "math": arguments become Python floats, errors as the math module; "ufunc": NumPy promotion, maps over arrays.
    `overflow`: math raises OverflowError (else ValueError) when a finite argument gives an infinity.
    """

    name: str
    kind: str
    overflow: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prim:
    """A primitive.  `derivative`: Partials, a Linear, NOT_DIFFERENTIABLE, or "structural" (a rule of `ad`).

    `lower`: LLVM text by kind of the first operand ("bool", "int", "float", or a dtype) with {0} {1} operands, {T} the
    LLVM type, {t} its overload suffix (f64, i64), {R} the result's LLVM type, {name} temporaries; several lines
    allowed, the last is the result's right-hand side.  None where the code generator has its own method for it.
    `samples`: the domain tests draw operands from.
    """

    name: str
    doc: str
    infer: Infer
    effects: frozenset[str] = frozenset()
    impl: Callable[..., Any] | None = None
    derivative: Partials | Linear | str = NOT_DIFFERENTIABLE
    lower: Mapping[str, str | Elementary] | None = None
    public: tuple[PublicName, ...] = ()
    samples: str = "real"
    dtypes: tuple[DType, ...] = ()
    commutative: bool = False

    def result_types(self, operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
        return self.infer(operands, attrs)

    @property
    def pure(self) -> bool:
        return not self.effects


REGISTRY: dict[str, Prim] = {}


def register(prim: Prim) -> Prim:
    """Add a record; names are unique."""
    if prim.name in REGISTRY:
        raise ValueError(f"primitive {prim.name} is registered twice")
    REGISTRY[prim.name] = prim
    return prim


def get(name: str) -> Prim:
    """The record of that name."""
    return REGISTRY[name]


class Emitter(Builder):
    """A builder that knows primitives by name.  `e("add", x, y)` appends the op and returns its only result."""

    __slots__ = ("_constants",)

    def __init__(self, block: Block | None = None, span: Span = UNKNOWN) -> None:
        super().__init__(block, span)
        self._constants: dict[tuple[str, str, Machine], Value] = {}

    def __call__(self, name: str, /, *operands: Value, **attrs: object) -> Value:
        return self.append(get(name), operands, attrs=attrs).result

    def op(self, name: str, /, *operands: Value, **attrs: object) -> Op:
        """Append and return the op (any number of results)."""
        return self.append(get(name), operands, attrs=attrs)

    def constant(self, value: bool | int | float, type_: Machine = F64) -> Value:
        """A scalar constant of the machine type, made once per emitter."""
        if not isinstance(type_, Scalar):
            raise TypeError(f"no constants of type {type_}")
        python: bool | int | float
        python = bool(value) if type_ == BOOL else float(value) if type_.dtype.is_float else int(value)
        key = (type(python).__name__, repr(python), type_)
        found = self._constants.get(key)
        if found is None:
            found = self.append(get("const"), (), attrs={"value": python, "type": type_}, types=(type_,)).result
            self._constants[key] = found
        return found

    def integer(self, value: int) -> Value:
        return self.constant(value, I64)

    def boolean(self, value: bool) -> Value:
        return self.constant(value, BOOL)

    def like(self, value: float, model: Value) -> Value:
        """A constant of the model's scalar type."""
        assert model.type is not None
        return self.constant(value, model.type)


def array_types(operands: Sequence[Machine]) -> None:
    """Guard: raise TypeError unless every operand is a scalar."""
    for operand in operands:
        if not isinstance(operand, Scalar):
            raise TypeError(f"a scalar is needed, not {operand}")
