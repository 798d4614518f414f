"""Functions of Python, math and NumPy written in the accepted Python itself; compiled on demand like user code.

`FUNCTIONS` maps public names to them.  They may use the helpers of `prelude.intrinsics`.  Where the derivative of the
body is not the one to take (a kink, a call of LAPACK, a better conditioned form), a function states its own:

    def _tangent_of_softplus(primals, tangents):
        (x,), (dx,) = primals, tangents
        return softplus(x), dx / (1.0 + math.exp(-x))

    @ruled(jvp=_tangent_of_softplus)
    def softplus(x):
        return max(x, 0.0) + math.log1p(math.exp(-abs(x)))

Reverse mode and higher orders follow from that rule.  Where reverse mode has a better one of its own, both are stated,
`@ruled(jvp=..., vjp=(forward, backward))`; arguments without derivative are named in `nondiff`, and come first in `jvp`
and `backward`.  Rules call the functions they are for, and one another; see `intrinsics.ruled`.

What decides the structure of an array is plain Python as well.  A parameter that reaches an axis, a rank, keepdims or
the length of a tuple becomes known while compiling, by itself: the function is compiled for each value it is called
with.  Where such numbers are computed, arithmetic, comparisons, tuples, slices of tuples, `sorted`, comprehensions and
loops over `range(a.ndim)` may be used (not `append` and `insert`: such lists are of run-time length), and helpers:

    def rollaxis(a, axis, start=0):
        axis = axis_of(axis, a.ndim)
        rest = [k for k in range(a.ndim) if k != axis]
        return np.transpose(a, rest[:start] + [axis] + rest[start:])

In a handler of `infer`, `static.static_int`, `static_flag` and `static_items` ask for what must be known.
"""

from __future__ import annotations

from types import FunctionType

from pullback.prims.prelude import (
    arrays,
    axes,
    banded,
    bits,
    builtin,
    caches,
    complexes,
    derivatives,
    dicts,
    floats,
    fourier,
    generators,
    grids,
    iteration,
    lambert,
    library,
    linalg,
    lines,
    lists,
    matrix_powers,
    numbers,
    objects,
    observations,
    orders,
    orthogonal,
    polynomials,
    products,
    random_generator,
    resumed,
    scipy_linalg,
    scipy_matrices,
    sequences,
    sets,
    shapes,
    sorting,
    special,
    statistics,
    text,
    transforms,
    windows,
)

__all__ = ["FUNCTIONS"]

_FAMILIES = (
    builtin, caches, complexes, generators, numbers, objects, observations, arrays, axes, products, scipy_linalg,
    scipy_matrices, lists, dicts, sequences, sets, orders, sorting, statistics, iteration, library, linalg,
    matrix_powers, lines, floats, grids, shapes, special, fourier, transforms, polynomials, orthogonal, bits,
    random_generator, windows, text, derivatives, resumed, banded, lambert,
)  # fmt: skip

FUNCTIONS: dict[str, FunctionType] = {name: f for family in _FAMILIES for name, f in family.FUNCTIONS.items()}
