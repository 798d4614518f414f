"""Inference: from untyped IR and argument types to a typed Program.  `infer_entry` is the way in."""

from collections.abc import Callable
from types import FunctionType

from pullback.infer import (  # fill the registry
    caches,
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
    object_texts,
    parallel,
    python_functions,
    record_writes,
    sets,
    stopped,
    text_pieces,
    texts,
)
from pullback.infer.backward import Backward
from pullback.infer.engine import Options, Session
from pullback.infer.entry import Entry, Request, infer_entry
from pullback.infer.numpy import (
    array_attributes,
    axes,
    builders,
    clipping,
    closeness,
    complex_arrays,
    complex_reductions,
    complex_sorting,
    complex_statistics,
    complex_views,
    contract,
    conversions,
    cumulative,
    dtype_functions,
    einsum,
    emath_functions,
    float_functions,
    grids,
    histograms,
    joining,
    lapack,
    linalg,
    mapping,
    norms,
    numpy_functions,
    outputs,
    padding,
    quantiles,
    ramps,
    random_numbers,
    record_arrays,
    record_functions,
    record_shapes,
    reductions,
    repeats,
    scipy_linalg,
    selecting,
    shapes,
    sliding,
    sorting,
    special_functions,
    splitting,
    statistics,
    ufunc_methods,
    ufuncs,
)
from pullback.infer.ops import Inference
from pullback.infer.registry import public_names
from pullback.ir.node import Function
from pullback.runtime.state import NOTHING_HELD, Held

__all__ = ["Backward", "Entry", "Options", "Request", "Session", "infer_entry", "new_session", "public_names"]

DEFAULT = Options()
_MEANINGS = (
    array_attributes, axes, builders, caches, checkpointed, clipping, closeness, complex_arrays, complex_functions,
    complex_reductions, complex_sorting, complex_statistics, complex_views, construct, container_texts, contract,
    conversions, copying, creation, cumulative, derivatives, dict_makers, dicts, dtype_functions, einsum,
    emath_functions, elements, extrema, float_functions, grids, hashes, histograms, iteration, joining, kinds, lapack,
    library, linalg, linearized, list_makers, list_methods, mapping, math_functions, norms, numpy_functions,
    object_texts, outputs, padding, parallel, python_functions, quantiles, ramps, random_numbers, record_arrays,
    record_functions, record_shapes, record_writes, reductions, repeats, scipy_linalg, selecting, sets, shapes,
    sliding, sorting, special_functions, splitting, statistics, stopped, text_pieces, texts, ufunc_methods, ufuncs,
)  # fmt: skip


def new_session(
    parse: Callable[[FunctionType], Function], options: Options = DEFAULT, held: Held = NOTHING_HELD,
    backward: Backward | None = None,
) -> Session:  # fmt: skip
    """A compilation that has seen nothing yet; `parse` is the front end, `held` what places outside hold.

    backward: how functions return backpropagators, where derivatives are to be closures.
    """
    return Session(parse, Inference, options, held, backward=backward)
