"""The ops of untyped IR: Python's own operations, before inference gives them a meaning for types.

The front end makes only these and the structured ops; inference consumes them.  None survives into typed IR.

    v = py.const{value}                                int, float, bool, str, None, Ellipsis
    v = py.global{name}                                a global or builtin name
    v = py.binary{operator}(x, y)                      operator: "+", "-", "*", "/", "//", "%", "**", "@", "&", "|",
                                                       "^", "<<", ">>"
    v = py.inplace{operator}(x, y)                     the augmented form
    v = py.unary{operator}(x)                          "-", "+", "~", "not"
    v = py.compare{operator}(x, y)                     "==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"
    b = py.truth(x)                                    bool(x) as a condition of if/while
    v = py.attribute{name}(x)
    v = py.subscript(x, index)     v = py.slice(lo, hi, step)
    py.setitem(x, index, value)                        x[index] = value
    py.inplace_item{operator}(x, index, old, value)    x[index] operator= value; old = x[index], read before value
    v = py.call{keywords}(f, args...)                  keywords: names of the trailing operands, a tuple of str
    v = py.tuple(items...)   v = py.list(items...)   v = py.dict{keys}(items...)
    v... = py.unpack{count}(x)
    v = py.closure{function}(captures..., defaults...)    function: ir Function; attrs names: captures, defaults
                                                          (see below)
    v = py.unbound{name}                               the value of a name that is not set
    v = py.check_bound{name}(x)                        x, or UnboundLocalError when it is not set (with free=True,
                                                       a captured name: NameError)
    v = py.self()                                      the closure that is running (a local function that calls itself)
    v = py.import{module, name}                        `import module` (name "") or `from module import name`
    v = py.raise(exception)                            never yields: v has type Never and stands for whatever is
                                                       merged later
    py.assert(condition, [message])                    condition already a truth value
    r... = if(b) {then} {else}
    r... = py.while(init...) {cond: (c...) -> b} {body: (c...) -> next...}
    r... = py.for{breaks}(iterable, init...) {body: (element, c...) -> [go,] next...}

`py.for` steps through any iterable; with breaks=True the body's first result tells whether to go on (False after break
or return).  An untyped Function's body takes captured values first, then parameters.  Its attrs:
    python_name, qualified_name, captures (names), parameters (tuple of (name, kind, has_default)), kind as in inspect:
    "positional_only", "positional", "keyword_only"; self_name (the name by which a local function calls itself: such a
    capture is not listed, the body uses py.self), code (the code object).
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import Machine

__all__ = ["NAMES"]

NAMES = (
    "const", "global", "binary", "inplace", "unary", "compare", "truth", "attribute", "subscript", "setitem",
    "inplace_item", "slice", "call",
    "tuple", "list", "dict", "unpack", "closure", "self", "import", "unbound", "check_bound", "raise", "assert",
    "while", "for",
)  # fmt: skip


def _untyped(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    raise TypeError("ops of untyped IR have no machine types")


for _name in NAMES:
    register(Prim(name=f"py.{_name}", doc="see the module's text", infer=_untyped, effects=frozenset({"call"})))
