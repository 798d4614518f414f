"""J of what is stored in heaps: sensitivities of cells lie in twins of their tables, under the same row numbers.

    x = py.prim{table_get, T}(row)             back:  py.prim{table_inc, T'}(row, dx)
    py.prim{table_set, T}(row, x)              back:  dx = py.prim{table_swap, T'}(row, zero)
    py.prim{table_inc, T}(row, x)              back:  dx = py.prim{table_get, T'}(row)
    old = py.prim{table_swap, T}(row, x)       back:  dx = py.prim{table_swap, T'}(row, dold)
    py.twins{path}()                           back:  py.twins{path', zero}()

A table is named by its heap and a path: which derivatives it is a twin for, the outermost as 0.  J counts one more from
outside, so the twin of T is T{0}, what was T{0} becomes T{1}, and its own twin is T{0, 1}.  Twins are touched in the
reverse half only, and made where that begins (`py.twins`): nothing that an earlier derivative left is in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from pullback.ad.backpropagator import Back, Step
from pullback.ir.node import Op, Value
from pullback.types import is_float

__all__ = ["stored", "twins"]

Path = tuple[int, ...]


class Transformer(Protocol):
    """What is asked of J of a function (`closures`)."""

    values: dict[Value, Value]
    inert: set[Value]

    def copy(self, op: Op) -> Op: ...


def shifted(path: object) -> Path:
    """The path inside one more derivative."""
    assert isinstance(path, tuple)
    return tuple(level + 1 for level in path)


def stored(j: Transformer, op: Op) -> Step | None:
    """A `py.prim` on a table."""
    memory = op.attrs["memory"]
    assert isinstance(memory, tuple)
    name, path = memory[0], shifted(memory[1])
    copied = j.copy(op)
    copied.attrs["memory"] = (name, path)
    rule = _RULES.get(str(op.attrs["name"]))
    types, results = op.attrs["types"], op.attrs["results"]
    assert isinstance(types, tuple) and isinstance(results, tuple)
    cell = results[0] if results else types[-1]
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


def twins(j: Transformer, op: Op) -> Step:
    """Where twins of zeros are made or cleared: their own twins are cleared."""
    copied = j.copy(op)
    copied.attrs["path"] = path = shifted(op.attrs["path"])

    def step(back: Back) -> None:
        back.emit("twins", (), 0, path=(0, *path), zero=True)

    return step
