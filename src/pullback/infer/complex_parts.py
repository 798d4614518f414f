"""Functions that act on the real and on the imaginary parts alike, and where their arguments are numbers.

    np.roll(z, 1)           both parts rolled
    np.append(z, 1.0)       append(re, 1.0) and append(im, 0.0)
    np.nonzero(z)           np.nonzero(z != 0)
"""

from __future__ import annotations

__all__ = ["BOTH", "BY_TRUTH", "EACH", "NUMERIC_KEYWORDS", "OWN", "numeric_arguments"]

BOTH = frozenset({
    "append", "around", "array", "array_split", "asarray", "ascontiguousarray", "atleast_1d", "atleast_2d",
    "atleast_3d", "block", "broadcast_arrays", "broadcast_to", "choose", "column_stack", "compress", "concatenate",
    "copy", "cumsum", "delete", "diag", "diagflat", "diagonal", "diff", "dsplit", "dstack", "empty_like",
    "expand_dims", "extract", "fill_diagonal", "flatten", "flip", "fliplr", "flipud", "hsplit", "hstack", "insert",
    "linspace", "matrix_transpose", "mean", "meshgrid", "moveaxis", "nan_to_num", "pad", "place", "put",
    "put_along_axis", "putmask", "ravel", "repeat", "reshape", "resize", "roll", "rollaxis", "rot90", "round",
    "row_stack", "select", "sliding_window_view", "split", "squeeze", "stack", "sum", "swapaxes", "take",
    "take_along_axis", "tile", "transpose", "tril", "triu", "vsplit", "vstack", "where", "zeros_like",
})  # fmt: skip

BY_TRUTH = frozenset({"nonzero", "flatnonzero", "argwhere", "any", "all", "count_nonzero", "logical_not"})

OWN = frozenset(f"numpy.{name}" for name in (
    "allclose", "array_equal", "copyto", "iscomplex", "iscomplexobj", "isclose", "isreal", "isrealobj", "isscalar",
    "ndim", "piecewise", "real_if_close",
))  # fmt: skip

NUMERIC_KEYWORDS = frozenset({"constant_values", "default", "end_values", "val", "values", "vals", "v", "choicelist",
                              "prepend", "append"})  # fmt: skip

EACH = ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "meshgrid")  # give one result for each argument
_POSITIONS = {
    "append": (0, 1), "choose": (1,), "compress": (1,), "diff": (0, 3, 4), "extract": (1,), "fill_diagonal": (0, 1),
    "insert": (0, 2),
    "linspace": (0, 1), "place": (0, 2), "put": (0, 2), "put_along_axis": (0, 2), "putmask": (0, 2), "select": (1, 2),
    "where": (1, 2),
}  # fmt: skip


def numeric_arguments(name: str, count: int) -> tuple[int, ...]:
    """Which arguments by position are numbers or arrays of them, and not axes, shapes, indices."""
    return tuple(range(count)) if name in EACH else _POSITIONS.get(name, (0,))
