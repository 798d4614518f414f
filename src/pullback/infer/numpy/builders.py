"""Objects of NumPy that make arrays of what they are indexed with: r_, c_, s_, index_exp, mgrid, ogrid.

    np.r_[1:4, 0, a]           np.concatenate((np.arange(1, 4), [0], a))
    np.mgrid[0:2, 0:1:5j]      the grids of arange(0, 2) and linspace(0, 1, 5), stacked
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call_builtin
from pullback.infer.complexes import halves
from pullback.infer.creation import array_like, cast
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number, convert
from pullback.infer.numpy.axes import expanded, rank_of
from pullback.infer.numpy.grids import placed
from pullback.infer.numpy.repeats import dtype_in, spread_to
from pullback.infer.registry import HANDLERS, Handler
from pullback.infer.values import AV, items_of
from pullback.types import Array, Complex, DType, NoneType, Slice, Str, Tuple, show

__all__: list[str] = []


def _parts(index: AV) -> list[AV]:
    return items_of(index) if isinstance(index.type, Tuple) else [index]


def _range(cx: Frame, av: AV) -> AV:
    """The numbers that a slice names: so far apart, or (with an imaginary step) so many, both ends among them."""
    start, stop, step = items_of(av)
    if isinstance(start.type, NoneType):
        start = AV(WEAK_INT, (cx.e.integer(0),), 0)
    if isinstance(stop.type, NoneType):
        raise cx.error("a slice of a grid needs an end", show(av.type))
    if isinstance(step.type, Complex):
        number = halves(step)[1]
        count = AV(WEAK_INT, (convert(cx, call_builtin(cx, "builtins.abs", [number], {}), DType.I64),))
        return call_builtin(cx, "numpy.linspace", [start, stop, count], {})
    if isinstance(step.type, NoneType):
        step = AV(WEAK_INT, (cx.e.integer(1),), 1)
    return call_builtin(cx, "numpy.arange", [start, stop, step], {})


def _piece(cx: Frame, name: str, av: AV) -> AV:
    if isinstance(av.type, Str):
        raise cx.error(f"np.{name} with a string is not supported", show(av.type), "use np.concatenate and np.stack")
    if isinstance(av.type, Slice):
        return _range(cx, av)
    if isinstance(av.type, Complex):
        return call_builtin(cx, "numpy.atleast_1d", [av], {})
    found = array_like(cx, as_number(cx, av))
    return expanded(cx, found, 0) if rank_of(found) == 0 else found


def _joined(name: str) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        pieces = [_piece(cx, name, av) for av in _parts(given[0])]
        if name == "c_":
            pieces = [expanded(cx, av, 1) if isinstance(av.type, Array) and rank_of(av) == 1 else av for av in pieces]
        last = AV(WEAK_INT, (cx.e.integer(-1),), -1)
        first = AV(WEAK_INT, (cx.e.integer(0),), 0)
        return call_builtin(cx, "numpy.concatenate", [pack_tuple(pieces), last if name == "c_" else first], {})

    return handler


def _grid(name: str) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        parts = _parts(given[0])
        for av in parts:
            if not isinstance(av.type, Slice):
                raise cx.error(f"np.{name} is indexed with slices", show(av.type), f"write np.{name}[0:n, 0:m]")
        rows = [_range(cx, av) for av in parts]
        if not isinstance(given[0].type, Tuple):
            return rows[0]
        dtype = DType.F64 if any(dtype_in(row).is_float for row in rows) else DType.I64
        rows = [row if dtype_in(row) is dtype else cast(cx, row, dtype) for row in rows]
        sizes = [array_sizes(cx, row)[0] for row in rows]
        axes = [placed(cx, row, k, len(rows)) for k, row in enumerate(rows)]
        if name == "ogrid":
            return pack_tuple(axes)
        return call_builtin(cx, "numpy.stack", [pack_tuple([spread_to(cx, av, sizes) for av in axes])], {})

    return handler


def _index(as_tuple: bool) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        (index,) = given
        return pack_tuple([index]) if as_tuple and not isinstance(index.type, Tuple) else index

    return handler


def _no_call(name: str) -> Handler:
    def handler(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        title = f"np.{name} is not callable"
        raise cx.error(title, "it is indexed", f"write np.{name}[...]", raised=("TypeError", title))

    return handler


_OBJECTS: dict[str, Handler] = {
    "r_": _joined("r_"), "c_": _joined("c_"), "mgrid": _grid("mgrid"), "ogrid": _grid("ogrid"), "s_": _index(False),
    "index_exp": _index(True),
}  # fmt: skip
HANDLERS.update({f"numpy.{name}": _no_call(name) for name in _OBJECTS})
HANDLERS.update({f"numpy.{name}.__getitem__": handler for name, handler in _OBJECTS.items()})
