"""Inference: from untyped IR and argument types to a typed Program.  `infer_entry` is the way in."""

from collections.abc import Callable
from types import FunctionType

from pullback.infer import (  # fill the registry
    checkpointed,
    complex_functions,
    construct,
    container_texts,
    copying,
    creation,
    derivatives,
    dict_makers,
    dicts,
    elements,
    extrema,
    hashes,
    iteration,
    kinds,
    library,
    linearized,
    list_makers,
    list_methods,
    math_functions,
    numpy_functions,
    object_texts,
    parallel,
    python_functions,
    reductions,
    sets,
    shapes,
    stopped,
    texts,
)
from pullback.infer.backward import Backward
from pullback.infer.engine import Options, Session
from pullback.infer.entry import Entry, Request, infer_entry
from pullback.infer.ops import Inference
from pullback.infer.registry import public_names
from pullback.ir.node import Function
from pullback.runtime.state import NOTHING_HELD, Held

__all__ = ["Entry", "Options", "Request", "Session", "infer_entry", "new_session", "public_names"]

DEFAULT = Options()
_MEANINGS = (
    checkpointed, complex_functions, construct, container_texts, copying, creation, derivatives, dict_makers, dicts,
    elements, extrema, hashes, iteration, kinds, library, linearized, list_makers, list_methods, math_functions,
    numpy_functions, object_texts, parallel, python_functions, reductions, sets, shapes, stopped, texts,
)  # fmt: skip


def new_session(
    parse: Callable[[FunctionType], Function], options: Options = DEFAULT, held: Held = NOTHING_HELD,
    transform: Callable[[Function], Function] | None = None,
) -> Session:  # fmt: skip
    """A compilation that has seen nothing yet; `parse` is the front end, `held` what places outside hold.

    transform: makes functions return backpropagators, where derivatives are to be closures.
    """
    return Session(parse, Inference, options, held, backward=None if transform is None else Backward(transform))
