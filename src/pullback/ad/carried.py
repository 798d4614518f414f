"""J of what gradients by trees and lists of objects are made of: floats carried from one walk over objects to another.

    w = py.walked(x...)               back:  nothing: rows and numbers
    c = py.templates(w)               forth: py.mirrored{0}(c) as well, shadows of the arrays in the copies
    py.carried{P, Q}(w, c)            back:  py.carried{Q', P', back, taken}(w, c)      c's numbers = w's; w's += c's,
                                                                                        which become zero
    py.added{P, Q}(w, c)          forth: v, b hold the arrays of w in P', of c in Q'
                                  back:  py.added{(), (), back}(v, b)                   c's arrays += w's; w's += c's
    py.emptied{P}(w)              forth: v holds the arrays of w in P'
                                  back:  py.emptied{()}(v)                              w's arrays = 0
    py.shares{P, Q}(w, c)             forth: py.shares{P', Q'}(w, c) as well            c's arrays are w's

P and Q are paths of twins for numbers, of mirrors for arrays (`stored`): w's numbers are those of the rows of w in the
twins P.  In J each path becomes that of one derivative further in, and P' is the twin of what that is.
Mirrors are there in the forward half only, so what the reverse needs of them is held by copies.
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.ad.backpropagator import Back, Step
from pullback.ad.stored import Path, Transformer, shifted
from pullback.ir.node import Op, Value

__all__ = ["CARRIED"]


def _inert(j: Transformer, op: Op) -> None:
    j.copy(op)
    j.inert.update(op.results)


def _templates(j: Transformer, op: Op) -> None:
    _inert(j, op)
    j.emit("mirrored", j.mapped(op.results), 0, path=(0,))


def _mirrored(j: Transformer, op: Op) -> None:
    path = shifted(op.attrs["path"])
    for one in (path, _twin(path)):
        j.emit("mirrored", j.mapped(op.operands), 0, path=one)


def _shares(j: Transformer, op: Op) -> None:
    source, target = _paths(op)
    for pair in ((source, target), (_twin(source), _twin(target))):
        j.emit("shares", j.mapped(op.operands), 0, source=pair[0], target=pair[1], back=op.attrs["back"])


def _moved(j: Transformer, op: Op) -> Step:
    """Floats go back the way that they came."""
    source, target = _paths(op)
    walks, name = j.mapped(op.operands), op.name.removeprefix("py.")
    turned: dict[str, object] = {key: not op.attrs[key] for key in ("back", "taken") if key in op.attrs}
    j.emit(name, walks, 0, **{**op.attrs, "source": source, "target": target})

    def step(back: Back) -> None:
        back.emit(name, walks, 0, **{**op.attrs, **turned, "source": _twin(target), "target": _twin(source)})

    return step


def _added(j: Transformer, op: Op) -> Step:
    """Arrays are added the other way."""
    paths, walks = _paths(op), j.mapped(op.operands)
    j.emit("added", walks, 0, source=paths[0], target=paths[1], back=op.attrs["back"])
    held = [_held(j, walk, _twin(path)) for walk, path in zip(_in_order(op, walks), paths, strict=True)]

    def step(back: Back) -> None:
        back.emit("added", held, 0, source=(), target=(), back=True)

    return step


def _in_order(op: Op, walks: list[Value]) -> list[Value]:
    """The walk that floats come from, and the one that they go to."""
    return walks[::-1] if op.attrs["back"] else walks


def _held(j: Transformer, walk: Value, path: Path) -> Value:
    """Copies whose arrays are those that a mirror has for a walk."""
    (held,) = j.emit("templates", [walk])
    j.emit("shares", [walk, held], 0, source=path, target=(), back=False)
    return held


def _emptied(j: Transformer, op: Op) -> Step:
    path = shifted(op.attrs["path"])
    walks = j.mapped(op.operands)
    j.emit("emptied", walks, 0, path=path)
    held = _held(j, walks[0], _twin(path))

    def step(back: Back) -> None:
        back.emit("emptied", [held], 0, path=())

    return step


def _last(j: Transformer, op: Op) -> Step:
    """The sensitivity of the result is the last operand's: others say what objects it is of."""
    j.copy(op)
    return lambda back: back.give(op.operands[-1], back.take(op.result))


def _paths(op: Op) -> tuple[Path, Path]:
    return shifted(op.attrs["source"]), shifted(op.attrs["target"])


def _twin(path: Path) -> Path:
    return (0, *path)


CARRIED: dict[str, Callable[[Transformer, Op], Step | None]] = {
    "py.walked": _inert, "py.templates": _templates, "py.mirrored": _mirrored, "py.shares": _shares,
    "py.carried": _moved, "py.added": _added, "py.emptied": _emptied, "py.alike": _inert, "py.apart": _inert,
    "py.merged": _last, "py.likened": _last,
}  # fmt: skip
