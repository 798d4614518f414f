"""The primitives: one record each, read by inference, interpreter, checker, AD, code generator, docs and tests."""

from pullback.prims import (
    array,
    backward,
    budget,
    control,
    data,
    elementary,
    lapack,
    ordering,
    python,
    raising,
    scalar,
    special,
    table,
    text,
)  # fmt: skip
from pullback.prims.base import REGISTRY, Emitter, Prim, get

__all__ = [
    "REGISTRY", "Emitter", "Prim", "array", "backward", "budget", "control", "data", "elementary", "get",
    "lapack", "ordering", "python", "raising", "scalar", "special", "table", "text",
]  # fmt: skip
