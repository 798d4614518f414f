"""The primitives: one record each, read by inference, interpreter, checker, AD, code generator, docs and tests."""

from pullback.prims import array, control, data, elementary, python, scalar
from pullback.prims.base import REGISTRY, Emitter, Prim, get

__all__ = ["REGISTRY", "Emitter", "Prim", "array", "control", "data", "elementary", "get", "python", "scalar"]
