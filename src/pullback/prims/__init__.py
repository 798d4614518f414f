"""The primitives: one record each, read by inference, interpreter, checker, AD, code generator, docs and tests."""

from pullback.prims import array, backward, budget, control, data, elementary, python, raising, scalar, table, text
from pullback.prims.base import REGISTRY, Emitter, Prim, get

__all__ = [
    "REGISTRY", "Emitter", "Prim", "array", "backward", "budget", "control", "data", "elementary", "get", "python",
    "raising", "scalar", "table", "text",
]  # fmt: skip
