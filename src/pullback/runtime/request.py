"""What Python asks a compilation for, and what the compilation may vary.

    Request("call", f, (2.0, a), ("x", "a"))         code for f and arguments like these
    Options(error_model="numpy")                     how it behaves

Small, so that calls which need no compilation import nothing of the compiler.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pullback.diagnostic import Span
from pullback.runtime.state import NOTHING_HELD, Held

__all__ = ["DEFAULT", "Options", "Request"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a compilation may vary.

    error_model: "python" (ZeroDivisionError, OverflowError, domain errors of Python scalars) or "numpy" (inf, nan,
    wrapping ints).
    boundscheck: IndexError for indices out of range.  fastmath: reassociation and contraction are allowed,
    values and slopes on the path taken are finite.
    passes: run the optimising passes.  verify: check the IR after every stage.
    parallel: loops over prange and large maps run on several threads.
    formulation: of reverse mode, "ssa" (requests that `ad` expands) or "closures" (functions that return
    backpropagators).
    memory_budget: bytes that residuals of reverse loops may take; None: as `runtime.budget` says when the code runs.
    scheduled: loops keep within that.
    """

    error_model: str = "python"
    boundscheck: bool = True
    fastmath: bool = False
    passes: bool = True
    verify: bool = False
    formulation: str = "ssa"
    parallel: bool = False
    memory_budget: int | None = None
    scheduled: bool = False


DEFAULT = Options()


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What Python asked for.

    kind: "call", or "jvp" (arguments: primals, then tangents) or "pullback" (primals, then one cotangent).
    function: any callable pullback knows, the object of a transformation included.
    arguments: the objects, in order; `names` are their names, the last `keyword_only` of them passed by keyword.
    held: what places outside of the function held when it was called; the entry takes those values after the arguments.
    static: positions of arguments whose ints and bools the code is made for.
    known: what earlier requests for the function found of the objects that were passed; this one adds to it.
    """

    kind: str
    function: Any
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    keyword_only: int = 0
    span: Span | None = None
    held: Held = NOTHING_HELD
    known: dict[Any, Any] = field(default_factory=dict)
    static: tuple[int, ...] = ()

