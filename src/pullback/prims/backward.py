"""The ops of untyped IR that backpropagators are made of (`ad.closures` makes them, inference gives them meaning).

    v..., b = py.with_back{operation, attributes, order}(operands...)
                                 the results of the op and its backpropagator: b(sensitivity of v) is a tuple with one
                                 sensitivity per operand.  Of order n: n backpropagators, each that of all before it
    v... = py.prim{name, attributes, types, results}(numbers...)       a primitive of typed IR, as it is
    t = py.back_of{function}(operands..., d)       the sensitivities of a function that is differentiated as a whole
    s = py.zero()          no sensitivity          s = py.sum(s, t)
    v... = py.apply{code}(operands...)             a call of a function of this module's kind, whose backpropagator
                                                   answers for its operands alone
    s = py.part{index}(t)  one of a tuple's        t = py.injected{index}(s, n)   a tuple of n with one that is not zero
    n = py.arity(t)        how many items a tuple has, as a type
    e = py.environment{of}(items...)               the sensitivities of what a function captured, as a value of the
                                                   kind of functions: recursive ones are references like them
    items... = py.opened{of}(e)                    b = py.is_environment{of}(e)
    s = py.filled(s, x)    zeros of the shape of x where s is zero and x an array
    s = py.seed(x)         the sensitivity 1       g = py.gradient_like(s, x)     s in the structure of x, for the user
    s = py.cotangent(c, x) what a user passes as the cotangent of x, as a sensitivity
    y = py.kept(x)         x with its arrays copied
    t = py.flat{type}(x)   the machine values of x, a tuple        x = py.regrouped{type}(values...)
    t = py.flat_sensitivity{type, level}(s)                        s = py.regrouped_sensitivity{type, level}(t)
                                                   level 0: of a value of the type, 1: of a sensitivity of one
    v = py.captured{index, count, of}(f)           one of the values that a function captured
    f = py.function_of{code}()                     a function without captured values
    g = py.derived{code, of}(captures...)          a function with a backpropagator: g(x) is the pair
    v = py.prim{..., memory: (heap, path)}(row, ...)     the same on a table or one of its twins (`ad.stored`)
    py.twins{path, zero}() where twins of zeros are made, or (zero) cleared; py.twins{path, mirrors}() where mirrors are
    s = py.sought(a, s)    the shadow of an array a that a cell held, zeros where none was stored
    y = py.stepped{loop}(x)                        what a loop steps through: a list of what a generator gives, or x
    In programs that write to arrays these are pairs of the array and its shadow (`infer.shadowed`, `ad.arrays`):
    p = py.primal(a)       s = py.shadow(a)        a = py.shadowed(p, s)
    y = py.dressed{order}(x)       x with a shadow of zeros for each array in it, in code of `order` derivatives
    t = py.shadows(x)      the shadows of all arrays in x, in the structure of its sensitivity; of such a tree too
    py.increased(t, u)     the arrays of t += those of u           py.cleared(t)     zeros in all arrays of t
    u = py.numbers(t)      a sensitivity without its arrays        y = py.copied(x)  x with its arrays copied
    y = py.bare(x)         x without any shadow, for what only reads
    py.fresh(y, x...)      guard: y is new memory
    y = py.outside()       what the program finds outside, with shadows
    py.noted(x...)         guard: the arrays in x, which have shadows of their own, are none of these
    r... = py.statement{ops, free, outs, itself}(x..., [self])      statements as a whole, `try`: of what they read from
                           around (free) to what is read later (outs); itself: they mention py.self
    r = py.push(f, x..., consumer, state)          the call of a generator function with what consumes it
    y = py.as_made{places}(x..., y)                a list or dict: which of its items each operand is, or None
    In gradients by trees and lists of objects (`ad.carried`, `infer.carried`):
    w = py.walked(x...)    a walk over the objects in x...         c = py.templates(w)     blank copies of them, a walk
    py.carried{source, target, back, taken}(w, c)  numbers from the rows of w in one twin of the tables to those of c
                           in another; back: from c's to w's; taken: they are added, and zero is left
    py.added{source, target, back}(w, c)           the same for arrays, which are added
    py.shares{source, target, back}(w, c)          the rows of c get the arrays of w, or those of w the arrays of c
    py.mirrored{path}(c)   the arrays of c get shadows             py.emptied{path}(c)     the arrays of c become zero
    py.alike(w, c)         guard: the objects of c are as those of w
    py.apart(w, x...)      guard: no array in the objects shares memory with another, or with one in x...
    y = py.merged(c, x)    x with the objects of c                 y = py.likened(x, c)    c in the types of x

A sensitivity is a number, an array, a tuple (for a tuple, list or dict), an environment (for a function), or zero.
`py.while{peel}` runs its trips while compiling as long as its condition is known; the elements of `py.for{indexed}` are
pairs of an element and its backpropagator, nested as often as `indexed` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.ir.build import Builder
from pullback.ir.node import Op, Value
from pullback.prims.base import Attrs, Prim, get, register
from pullback.types import Machine, Table

__all__ = ["NAMES", "lift"]

NAMES = (
    "with_back", "prim", "back_of", "zero", "sum", "part", "injected", "environment", "opened", "is_environment",
    "filled", "seed", "gradient_like", "cotangent", "flat", "regrouped", "flat_sensitivity", "regrouped_sensitivity",
    "function_of", "apply", "derived", "arity", "kept", "twins", "as_made",
    "stepped", "push", "primal", "shadow", "shadowed", "dressed", "shadows", "increased", "cleared", "numbers",
    "copied", "bare", "fresh", "statement", "sought", "walked", "templates", "mirrored", "shares", "carried", "added",
    "emptied", "alike", "apart", "merged", "likened", "outside", "noted", "captured",
)  # fmt: skip


def _untyped(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    raise TypeError("ops of untyped IR have no machine types")


for _name in NAMES:
    register(Prim(name=f"py.{_name}", doc="see the module's text", infer=_untyped, effects=frozenset({"call"})))


def lift(builder: Builder, op: Op, values: Mapping[Value, Value]) -> list[Value]:
    """A typed op on scalars as an op of untyped IR; `values` are the untyped ones of its operands."""
    first, *_ = (*op.operands, None)
    table = first.type if first is not None and isinstance(first.type, Table) else None
    given = op.operands if table is None else op.operands[1:]
    attrs: dict[str, object] = {
        "name": op.name, "attributes": dict(op.attrs), "types": tuple(v.type for v in given),
        "results": tuple(v.type for v in op.results),
    }  # fmt: skip
    if table is not None:
        attrs["memory"] = (table.name, ())
    if op.name == "elementwise":
        attrs["block"] = op.blocks[0]
    builder.span = op.span if op.span.line else builder.span
    operands = [values[v] for v in given]
    return builder.append_untyped(get("py.prim"), operands, attrs=attrs, results=len(op.results)).results
