"""Inference: from untyped IR and argument types to a typed Program.  `infer_entry` is the way in."""

from collections.abc import Callable
from types import FunctionType

from pullback.infer import (  # fill the registry
    creation,
    derivatives,
    extrema,
    math_functions,
    numpy_functions,
    python_functions,
    reductions,
    shapes,
)
from pullback.infer.engine import Options, Session
from pullback.infer.entry import Entry, Request, infer_entry
from pullback.infer.ops import Inference
from pullback.infer.registry import public_names
from pullback.ir.node import Function
from pullback.runtime.state import NOTHING_HELD, Held

__all__ = ["Entry", "Options", "Request", "Session", "infer_entry", "new_session", "public_names"]

DEFAULT = Options()
_MEANINGS = (creation, derivatives, extrema, math_functions, numpy_functions, python_functions, reductions, shapes)


def new_session(
    parse: Callable[[FunctionType], Function], options: Options = DEFAULT, held: Held = NOTHING_HELD
) -> Session:
    """A compilation that has seen nothing yet; `parse` is the front end, `held` what places outside hold."""
    return Session(parse, Inference, options, held)
