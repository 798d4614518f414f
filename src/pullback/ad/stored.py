"""J of what is stored in heaps: sensitivities of cells lie in twins of their tables, under the same row numbers.

    x = py.prim{table_get, T}(row)             back:  py.prim{table_inc, T'}(row, dx)
    py.prim{table_set, T}(row, x)              back:  dx = py.prim{table_swap, T'}(row, zero)
    py.prim{table_inc, T}(row, x)              back:  dx = py.prim{table_get, T'}(row)
    old = py.prim{table_swap, T}(row, x)       back:  dx = py.prim{table_swap, T'}(row, dold)
    py.twins{path}()                           back:  py.twins{path', zero}()

A table is named by its heap and a path: which derivatives it is a twin for, the outermost as 0.  J counts one more from
outside, so the twin of T is T{0}, what was T{0} becomes T{1}, and its own twin is T{0, 1}.  Twins are touched in the
reverse half only, and made where that begins (`py.twins`): nothing that an earlier derivative left is in them.

Of arrays in cells, mirrors hold the shadows, under the same row numbers.  They are made where the forward half begins
and written there; the sensitivities of elements lie in the shadows, so there is nothing to do backwards:

    a = py.prim{table_get, T}(row)      p = table_get T(row); a = py.shadowed(p, py.sought(p, table_get T'(row)))
    py.prim{table_set, T}(row, a)       table_set T(row, py.primal(a)); table_set T'(row, py.shadow(a))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from pullback.ad.backpropagator import Back, Step
from pullback.ir.node import Op, Value
from pullback.types import ArrayRef, is_float

__all__ = ["Path", "Transformer", "shifted", "sought", "stored", "twins"]

Path = tuple[int, ...]


class Transformer(Protocol):
    """What is asked of J of a function (`closures`)."""

    values: dict[Value, Value]
    inert: set[Value]

    def copy(self, op: Op) -> Op: ...
    def emit(self, name: str, operands: Sequence[Value] = (), results: int = 1, /, **attrs: object) -> list[Value]: ...
    def mapped(self, values: Sequence[Value]) -> list[Value]: ...
    def bind(self, op: Op, results: Sequence[Value]) -> None: ...


def shifted(path: object) -> Path:
    """The path inside one more derivative."""
    assert isinstance(path, tuple)
    return tuple(level + 1 for level in path)


def stored(j: Transformer, op: Op) -> Step | None:
    """A `py.prim` on a table."""
    memory = op.attrs["memory"]
    assert isinstance(memory, tuple)
    name, path = memory[0], shifted(memory[1])
    rule = _RULES.get(str(op.attrs["name"]))
    types, results = op.attrs["types"], op.attrs["results"]
    assert isinstance(types, tuple) and isinstance(results, tuple)
    cell = results[0] if results else types[-1]
    if isinstance(cell, ArrayRef) and is_float(cell):
        _mirrored(j, op, (name, path), (name, (0, *path)))
        return None
    copied = j.copy(op)
    copied.attrs["memory"] = (name, path)
    if rule is None or not is_float(cell):
        j.inert.update(op.results)
        return None
    row = j.values[op.operands[0]]

    def access(back: Back, kind: str, *operands: Value) -> Value | None:
        """An access to the twin's cell."""
        written = kind in ("table_inc", "table_swap")
        attrs: dict[str, object] = {
            "name": kind, "attributes": {**op.attrs["attributes"], "type": cell},  # type: ignore[dict-item]
            "types": (types[0], cell) if written else (types[0],), "results": () if kind == "table_inc" else (cell,),
            "memory": (name, (0, *path)),
        }  # fmt: skip
        found = back.emit("prim", [row, *operands], 0 if kind == "table_inc" else 1, **attrs)
        return found[0] if found else None

    return rule(op, access)


def _mirrored(j: Transformer, op: Op, table: tuple[str, Path], mirror: tuple[str, Path]) -> None:
    """An access to a cell that holds an array, and to the one that holds its shadow."""
    row, *arrays = j.mapped(op.operands)
    halves = [[j.emit(half, [array])[0] for array in arrays] for half in ("primal", "shadow")]
    found, shadow = (
        j.emit("prim", [row, *half], len(op.results), **{**op.attrs, "memory": memory})
        for half, memory in zip(halves, (table, mirror), strict=True)
    )
    if op.results:
        shadow = j.emit("sought", [*found, *shadow])
        j.bind(op, j.emit("shadowed", [*found, *shadow]))
    j.inert.update(op.results)


def sought(j: Transformer, op: Op) -> None:
    """The shadow of what a cell held: zeros, where the cell knows none, have zeros for a shadow themselves."""
    found, mirror = j.mapped(op.operands)
    (array,) = j.emit("primal", [found])
    halves = [j.emit("sought", [array, *j.emit(half, [mirror])])[0] for half in ("primal", "shadow")]
    j.bind(op, j.emit("shadowed", halves))
    j.inert.update(op.results)


Access = Callable[..., Value | None]


def _get(op: Op, access: Access) -> Step:
    def step(back: Back) -> None:
        if op.result in back.known:
            access(back, "table_inc", back.take(op.result))

    return step


def _set(op: Op, access: Access) -> Step:
    def step(back: Back) -> None:
        found = access(back, "table_swap", back.one("zero"))
        assert found is not None
        back.give(op.operands[1], found)

    return step


def _swap(op: Op, access: Access) -> Step:
    def step(back: Back) -> None:
        found = access(back, "table_swap", back.take(op.result))
        assert found is not None
        back.give(op.operands[1], found)

    return step


def _inc(op: Op, access: Access) -> Step:
    def step(back: Back) -> None:
        found = access(back, "table_get")
        assert found is not None
        back.give(op.operands[1], found)

    return step


_RULES: dict[str, Callable[[Op, Access], Step]] = {
    "table_get": _get, "table_set": _set, "table_swap": _swap, "table_inc": _inc,
}  # fmt: skip


def twins(j: Transformer, op: Op) -> Step | None:
    """Where twins of zeros are made or cleared: their own twins are cleared.  Where mirrors are, theirs are made."""
    copied = j.copy(op)
    copied.attrs["path"] = path = shifted(op.attrs["path"])
    if op.attrs.get("mirrors"):
        j.emit("twins", (), 0, path=(0, *path), mirrors=True)
        return None

    def step(back: Back) -> None:
        back.emit("twins", (), 0, path=(0, *path), zero=True)

    return step
