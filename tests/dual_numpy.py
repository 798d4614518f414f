"""NumPy's functions on duals and arrays of duals: the ``np`` that a rebound program sees, and the arrays' methods.

    NUMPY.sum(dual_array(np.ones((2, 3))), axis=0)     an array of two elements

Shapes, dtypes and exceptions come from NumPy run on the plain numbers. Functions without a rule here refuse arrays.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from dual_arrays import (
    DualArray,
    bases,
    cast,
    cells_of,
    dual_array,
    elementwise,
    filled,
    is_array,
    new_array,
    rearranged,
    wrap,
)
from dual_options import add_at, copyto, differences, in_order, left_out, lines, norm, running, with_options
from duals import (
    PARTIALS,
    Dual,
    Primitive,
    apply,
    base,
    extremum,
    numpy_extremum,
    one,
    plain_literal,
)


def objects(values: list[Any]) -> np.ndarray[Any, Any]:
    out = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        out[position] = value
    return out


# --- creation -------------------------------------------------------------------------------------------------------


def _creation(function: Callable[..., Any]) -> Callable[..., Any]:
    def create(*operands: Any, **options: Any) -> Any:
        return dual_array(function(*bases(operands), **bases(options)))

    return create


def _empty(shape: Any, dtype: Any = float) -> Any:
    """Not-a-numbers, so that what is read before it is written shows."""
    model = np.empty(shape, dtype)
    model[...] = np.nan if model.dtype.kind == "f" else 0
    return dual_array(model)


def _empty_like(array: Any, dtype: Any = None) -> Any:
    model = np.empty_like(bases(array), dtype)
    return filled(model, objects([np.nan if model.dtype.kind == "f" else 0]))


def _full(shape: Any, value: Any, dtype: Any = None) -> Any:
    return filled(np.full(shape, bases(value), dtype), cells_of(value))


def _full_like(array: Any, value: Any, dtype: Any = None) -> Any:
    return filled(np.full_like(bases(array), bases(value), dtype), cells_of(value))


def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    model = np.linspace(base(start), base(stop), num, endpoint=endpoint, dtype=dtype)
    steps = num - 1 if endpoint else num
    values = [start + (stop - start) * np.float64(i) / steps if steps else start for i in range(num)]
    if endpoint and num > 1:
        values[-1] = stop
    return filled(model, objects(values))


def _arange(*bounds: Any, dtype: Any = None) -> Any:
    model = np.arange(*bases(bounds), dtype=dtype)
    start, step = (bounds[0] if len(bounds) > 1 else 0), (bounds[2] if len(bounds) > 2 else 1)
    return filled(model, objects([start + step * i for i in range(len(model))]))


def _copy(array: Any) -> Any:
    return filled(np.copy(bases(array)), cells_of(array))


def _rows(array: Any) -> Any:
    """The method `copy`, which keeps no other order."""
    return filled(bases(array).copy(), cells_of(array))


def _contiguous(array: Any) -> Any:
    same = isinstance(array, DualArray) and array.ndim and array.cells.flags.c_contiguous
    return array if same else filled(np.ascontiguousarray(bases(array)), cells_of(array))


def _as_array(values: Any, dtype: Any = None) -> Any:
    same = isinstance(values, DualArray) and dtype in (None, values.dtype, values.dtype.type)
    return values if same else new_array(values, dtype)


# --- views and structure --------------------------------------------------------------------------------------------


def _view(function: Callable[..., Any]) -> Callable[..., Any]:
    """The result shares memory exactly where NumPy's does, since the cells are laid out as the numbers would be."""

    def call(array: Any, *operands: Any, **options: Any) -> Any:
        if not isinstance(array, DualArray):
            array = new_array(array)
        return wrap(function(array.cells, *bases(operands), **bases(options)), array.dtype)

    return call


def _gathering(function: Callable[..., Any]) -> Callable[..., Any]:
    """concatenate, stack and their like."""

    def call(arrays: Any, **options: Any) -> Any:
        model = function(bases(list(arrays)), **bases(options))
        return filled(model, function([cells_of(array) for array in arrays], **bases(options)))

    return call


def _where(condition: Any, *choices: Any) -> Any:
    """Elementwise selection; what is not selected contributes exactly zero."""
    if not choices:
        return tuple(dual_array(place) for place in np.nonzero(bases(condition)))
    model = np.where(bases(condition), *bases(choices))
    picks, left, right = np.broadcast_arrays(cells_of(condition), *[cells_of(choice) for choice in choices])
    out = np.empty_like(model, dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = cast(left[index] if base(picks[index]) else right[index], model.dtype)
    return DualArray(out, model.dtype) if any(map(is_array, (condition, *choices))) else out[()]


# --- reductions -----------------------------------------------------------------------------------------------------


def _reduction(function: Callable[..., Any], combine: Callable[[list[Any], Any], Any]) -> Callable[..., Any]:
    """``combine`` gives one number from the list of those reduced; NumPy says the shape, the dtype, or why not."""

    def reduce(array: Any, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        if not is_array(array):
            array = new_array(array)
        axis = bases(axis)
        model = function(bases(array), axis=axis, keepdims=keepdims, **options)
        axes = range(array.ndim) if axis is None else np.atleast_1d(axis) % max(1, array.ndim)
        moved = np.moveaxis(cells_of(array), list(axes), range(-len(axes), 0))
        out = np.empty(moved.shape[: moved.ndim - len(axes)], dtype=object)
        for index in np.ndindex(out.shape):
            values = [cast(value, model.dtype) for value in moved[(*index, ...)].ravel()]
            out[index] = cast(combine(values, options), model.dtype)
        return filled(model, out.reshape(model.shape)) if isinstance(model, np.ndarray) else out[()]

    return reduce


def _total(values: list[Any], options: Any) -> Any:
    total: Any = values[0] if values else np.float64(0.0)
    for value in values[1:]:
        total = total + value
    return total


def _product(values: list[Any], options: Any) -> Any:
    total: Any = values[0] if values else np.float64(1.0)
    for value in values[1:]:
        total = total * value
    return total


def _mean(values: list[Any], options: Any) -> Any:
    return _total(values, options) / len(values)


def _variance(values: list[Any], options: Any) -> Any:
    centre = _mean(values, options)
    squares = [(value - centre) * (value - centre) for value in values]
    return _total(squares, options) / (len(values) - options.get("ddof", 0))


def _deviation(values: list[Any], options: Any) -> Any:
    return apply(_SQUARE_ROOT, _variance(values, options))


def _extremum(function: Callable[..., Any]) -> Callable[[list[Any], Any], Any]:
    def combine(values: list[Any], options: Any) -> Any:
        if not any(type(value) is Dual for value in values):
            return function(bases(values))
        return extremum(values, function, function(bases(values)))

    return combine


_SQUARE_ROOT = Primitive("sqrt", np.sqrt, PARTIALS["sqrt"])
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _reduction(np.sum, _total),
    "prod": _reduction(np.prod, _product),
    "mean": _reduction(np.mean, _mean),
    "var": _reduction(np.var, _variance),
    "std": _reduction(np.std, _deviation),
    "max": _reduction(np.max, _extremum(np.max)),
    "min": _reduction(np.min, _extremum(np.min)),
}


def _search(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(array: Any, axis: Any = None, **options: Any) -> Any:
        return rearranged(lambda numbers: function(numbers, axis=bases(axis), **options), array)

    return call


# --- products -------------------------------------------------------------------------------------------------------


def _product_of(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def call(left: Any, right: Any) -> Any:
        model = function(bases(left), bases(right))
        left, right = (new_array(v) if isinstance(v, (list, tuple, range)) else v for v in (left, right))
        if not is_array(left) or not is_array(right):
            return left * right
        if not left.shape[-1]:
            return dual_array(model) if isinstance(model, np.ndarray) else model
        result = function(cells_of(left), cells_of(right))
        return filled(model, result) if isinstance(model, np.ndarray) else cast(result, model.dtype)

    return call


def _outer(left: Any, right: Any) -> Any:
    return _reshape(left, (-1, 1)) * _reshape(right, (1, -1))


def _clip(array: Any, low: Any, high: Any) -> Any:
    """At a bound the array gets no share, nor does a bound written as a number."""
    inside = Primitive("clip", np.clip, (one, None, None))
    at_low, at_high = Primitive("low", lambda x, low: low, (None, one)), Primitive("high", lambda x, h: h, (None, one))

    def choose(value: Any, low: Any, high: Any) -> Any:
        number = base(value)
        if number <= base(low):
            return apply(at_low, value, low)
        return apply(at_high, value, high) if number >= base(high) else apply(inside, value, low, high)

    model = np.clip(bases(array), bases(low), bases(high))
    cells = np.broadcast_arrays(cells_of(array), cells_of(low), cells_of(high))
    out = np.empty_like(model, dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = cast(choose(*[plain_literal(cell[index]) for cell in cells]), model.dtype)
    return DualArray(out, model.dtype) if isinstance(model, np.ndarray) else out[()]


_reshape = _view(np.reshape)
_matmul = _product_of(np.matmul)
_dot = _product_of(np.dot)

# --- the module -----------------------------------------------------------------------------------------------------

VIEWS = (
    "reshape ravel transpose swapaxes moveaxis squeeze expand_dims broadcast_to flip fliplr flipud diagonal "
    "atleast_1d atleast_2d roll repeat tile diag"
).split()
GATHERINGS = "concatenate stack vstack hstack".split()
CREATIONS = "zeros ones eye identity zeros_like ones_like".split()
SEARCHES = "argmax argmin any all nonzero count_nonzero".split()
TESTS = (
    "isfinite isnan isinf logical_and logical_or logical_not logical_xor signbit "
    "less less_equal greater greater_equal equal not_equal"
).split()
OTHER_NAMES = {"abs": "absolute", "fabs": "absolute", "pow": "power", "true_divide": "divide", "mod": "remainder"} | {
    "deg2rad": "radians", "rad2deg": "degrees", "acos": "arccos", "asin": "arcsin", "atan": "arctan",
    "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip


def differentiable(primitive: Primitive) -> Callable[..., Any]:
    return lambda *operands: elementwise(primitive, *operands)


def on_base(function: Callable[..., Any]) -> Callable[..., Any]:
    """For functions whose derivative is zero: works on the plain numbers."""
    return lambda *operands, **options: function(*bases(operands), **bases(options))


def _numpy_module() -> types.SimpleNamespace:
    table: dict[str, Any] = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    names = {name: name for name in PARTIALS if hasattr(np, name)} | OTHER_NAMES
    for name, row in names.items():
        table[name] = differentiable(Primitive(f"np.{name}", getattr(np, name), PARTIALS[row]))
        table[name] = with_options(table[name], getattr(np, name))
    table["add"].at = add_at
    for name in TESTS:
        table[name] = differentiable(Primitive(f"np.{name}", getattr(np, name)))
    for name in ("float64", "float32"):
        table[name] = _Scalar(getattr(np, name))
    for name in ("int64", "int32", "bool_"):
        table[name] = _Scalar(getattr(np, name))
    for name in ("maximum", "minimum", "fmax", "fmin"):
        table[name] = _extreme_pairs(getattr(np, name))
    table |= {name: _view(getattr(np, name)) for name in VIEWS}
    table |= {name: _gathering(getattr(np, name)) for name in GATHERINGS}
    table |= {name: _creation(getattr(np, name)) for name in CREATIONS}
    table |= {name: _search(getattr(np, name)) for name in SEARCHES if name != "nonzero"}
    table |= REDUCTIONS | {"amax": REDUCTIONS["max"], "amin": REDUCTIONS["min"], "nonzero": _where}
    table |= {"empty": _empty, "empty_like": _empty_like, "full": _full, "full_like": _full_like, "copy": _copy}
    table["ascontiguousarray"] = _contiguous
    table |= {"array": new_array, "asarray": _as_array, "linspace": _linspace, "arange": _arange}
    table |= {"cumsum": lines(np.cumsum, running), "diff": lines(np.diff, differences)}
    table |= {"sort": lines(np.sort, in_order)}
    table |= {"copyto": copyto, "linalg": types.SimpleNamespace(**vars(np.linalg) | {"norm": norm})}
    for name, start in (("sum", 0.0), ("max", -np.inf), ("min", np.inf)):
        table[name] = left_out(REDUCTIONS[name], getattr(np, name), start)
    table |= {"where": _where, "clip": with_options(_clip, np.clip), "dot": _dot, "matmul": _matmul, "outer": _outer}
    return types.SimpleNamespace(**table)


class _Scalar:
    """A scalar type: a conversion that keeps duals, and a dtype where NumPy wants one."""

    def __init__(self, scalar: Any) -> None:
        self.dtype = np.dtype(scalar)
        self.primitive = Primitive(scalar.__name__, scalar, PARTIALS["identity"])

    def __call__(self, *operands: Any) -> Any:
        if self.dtype.kind == "f":
            return elementwise(self.primitive, *operands)
        return self.dtype.type(*bases(operands))


def _extreme_pairs(ufunc: Any) -> Callable[[Any, Any], Any]:
    pair = numpy_extremum(ufunc)

    def call(left: Any, right: Any) -> Any:
        if not is_array(left) and not is_array(right):
            return pair(left, right)
        model = ufunc(bases(left), bases(right))
        lefts, rights = np.broadcast_arrays(cells_of(left), cells_of(right))
        out = np.empty_like(model, dtype=object)
        for index in np.ndindex(out.shape):
            out[index] = cast(pair(lefts[index], rights[index]), model.dtype)
        return DualArray(out, model.dtype) if isinstance(model, np.ndarray) else out[()]

    return call


NUMPY = _numpy_module()

# --- methods --------------------------------------------------------------------------------------------------------


def _as_type(array: Any, dtype: Any) -> Any:
    return filled(bases(array).astype(dtype), array.cells)


def _shaped(function: Callable[..., Any]) -> Callable[..., Any]:
    """reshape and transpose take their numbers one by one or in a tuple."""

    def call(array: Any, *numbers: Any) -> Any:
        if not numbers:
            return function(array)
        return function(array, numbers[0] if isinstance(numbers[0], tuple) else numbers)

    return call


def _fill(array: Any, value: Any) -> None:
    array[...] = value


def _install_methods() -> None:
    methods: dict[str, Any] = dict(REDUCTIONS) | {"astype": _as_type, "copy": _rows, "fill": _fill, "clip": _clip}
    methods |= {name: getattr(NUMPY, name) for name in ("ravel", "swapaxes", "squeeze", "diagonal", "dot")}
    methods |= {name: getattr(NUMPY, name) for name in ("argmax", "argmin", "any", "all", "nonzero", "repeat")}
    methods |= {"reshape": _shaped(NUMPY.reshape), "transpose": _shaped(NUMPY.transpose)}
    methods |= {"flatten": lambda array: _copy(NUMPY.ravel(array)), "item": lambda array: array.cells.item()}
    methods |= {"__matmul__": _matmul, "__rmatmul__": lambda self, other: _matmul(other, self)}
    for name, method in methods.items():
        setattr(DualArray, name, method)


_install_methods()
