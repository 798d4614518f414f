"""The ops of untyped IR: Python's own operations, before inference gives them a meaning for types.

The front end makes only these and the structured ops; inference consumes them.  None survives into typed IR.

    v = py.const{value}                                int, float, complex, bool, str, None, Ellipsis
    v = py.builtin{name}                               a function by its public name; not from source
    v = py.global{name}                                a global or builtin name
    py.global_set{name}(x)                             assigns a global of the module; py.unbound unsets it
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
                                                       {bound}: an operand for each parameter, in turn
    v = py.tuple(items...)   v = py.list(items...)   v = py.dict{keys}(items...)
    v... = py.unpack{count}(x)
    v... = py.unpack_star{before, after}(x)            before + 1 + after results, the middle one a list
    v = py.closure{function}(captures..., defaults...)    function: ir Function; attrs names: captures, defaults
                                                          (see below)
    v = py.unbound{name, dead}                         the value of a name that is not set; with dead=True one that
                                                       nobody reads
    v = py.check_bound{name}(x)                        x, or UnboundLocalError when it is not set (with free=True,
                                                       a captured name: NameError)
    v = py.self()                                      the closure that is running (a local function that calls itself)
    v = py.object{value}                               an object of Python, made by the entry of a compilation
    v = py.import{module, name}                        `import module` (name "") or `from module import name`
    v = py.raise(exception)                            never yields: v has type Never and stands for whatever is
                                                       merged later
    v = py.raise(exception, cause)                     `raise exception from cause`; the cause may be None
    v = py.reraise(exception)                          the exception of a handler goes on, as from where it was raised
    py.resume(pending)                                 the same, unless `pending` is None
    r... = py.try{guard, names, kinds}(x...) {body: () -> r...} {handler: (exception, x...) -> r...}
                                                       names: of the variables that the body sets and the handler sees;
                                                       kinds: names of the classes it takes (None: not all are names)
    py.mark{guard, slot}(x)                            in the body: variable number `slot` is x from here on
    b = py.catches(exception, class)                   class: an exception class or a tuple of them
    py.assert(condition, [message])                    condition already a truth value
    r... = if(b) {then} {else}
    r... = py.while(init...) {cond: (c...) -> b} {body: (c...) -> next...}
    r... = py.for{breaks}(iterable, init...) {body: (element, c...) -> [go,] next...}

Variables that closures share, because they change after they are captured, live in cells.  `unbound` is the operand of
a cell that is made empty, and of a name that is deleted.

    c = py.cell{name}([x])         x = py.cell_get{name, free}(c)        py.cell_set{name}(c, x)
                                                       cell_get raises as py.check_bound does

Objects, items and displays:

    py.setattr{name}(x, value)     py.delattr{name}(x)     py.delitem(x, index)
    v = py.set(items...)           v = py.dict_of(key, value, key, value, ...)
                                                       displays; literal string keys stay py.dict{keys}
    v = py.sequence_star{kind, stars}(items...)        kind: "list", "tuple", "set"; stars: one bool per item
    v = py.dict_star{kinds}(...)                       kinds: tuple of "item" (key and value), "**" (a mapping)
    v = py.call_star{kinds}(f, args...)                kinds, one per argument in order of evaluation: "positional",
                                                       "*", "**", "=name"
    v = py.fstring{parts}(values...)                   parts: tuple of str | (index, conversion, spec); conversion "",
                                                       "r", "s" or "a"; spec a str, or a tuple of parts again

Comprehensions make an empty container and fill it in nested `py.for`:

    v = py.list{growing=True}()    py.append(v, x)
    v = py.set{growing=True}()     py.add(v, x)
    v = py.dict_of{growing=True}() py.setitem(v, key, x)

What `match` asks of its subject, beside `==`, `in`, isinstance and attributes:

    b = py.is_sequence{least, most}(x)                 may the pattern's items be taken from x (most None: any number)
    b = py.is_mapping(x)
    v = py.match_position{position}(x, class)          the attribute of class.__match_args__; x itself for int...
    v = py.match_rest(x, keys...)                      a new dict without the keys

A generator function (attr generator=True) is pushed: its body takes two more parameters, `consumer` and `state`, which
are not among its `parameters`, and a call of it only keeps the arguments.  What consumes it calls it with a function
and a first state; each `yield x` is (go, state) = consumer(x, state), and it returns (went to its end, value, state).

    v = py.class{name, bases, keywords, names, annotations, doc, key}(bases..., keywords..., values...)
                                                       a class statement; names: those that its body binds
    v = py.own_class{key}()                            in a function of that body: the class, where it is looked up
    v = py.delegate(x, consumer, state)                `yield from x`: the same triple
    v = py.entered{stepped}(x)                         a manager; a generator that cannot be pushed (stepped: any) as an
                                                       object with __enter__ and __exit__
    b = py.is_context(x)                               is it a generator that is a context manager (a constant)
    v = py.pushed(x)                                   such a manager as a plain generator

`py.for` steps through any iterable; with breaks=True the body's first result tells whether to go on (False after break
or return).  An untyped Function's body takes captured values first, then parameters.  Its attrs:
    python_name, qualified_name, captures (names), parameters (tuple of (name, kind, has_default)), kind as in inspect:
    "positional_only", "positional", "keyword_only", "var_positional", "var_keyword"; cells (the captured names whose
    values are cells); generator; catches (it yields inside `try` with handlers); self_name (the name by which a local
    function calls itself: such a capture is not listed, the body uses py.self), code (the code object).
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.prims.base import Attrs, Prim, register
from pullback.types import Machine

__all__ = ["NAMES"]

NAMES = (
    "const", "global", "global_set", "builtin", "binary", "inplace", "unary", "compare", "truth", "attribute",
    "subscript", "setitem",
    "inplace_item", "slice", "call",
    "tuple", "list", "dict", "unpack", "closure", "self", "import", "unbound", "check_bound", "raise", "assert",
    "while", "for", "object",
    "unpack_star", "cell", "cell_get", "cell_set", "setattr", "delattr", "delitem", "set", "dict_of", "sequence_star",
    "dict_star", "call_star", "fstring", "append", "add", "is_sequence", "is_mapping", "match_position", "match_rest",
    "delegate", "is_context", "pushed", "entered", "class", "own_class", "try", "mark", "catches", "reraise", "resume",
)  # fmt: skip


def _untyped(operands: Sequence[Machine], attrs: Attrs) -> tuple[Machine, ...]:
    raise TypeError("ops of untyped IR have no machine types")


for _name in NAMES:
    register(Prim(name=f"py.{_name}", doc="see the module's text", infer=_untyped, effects=frozenset({"call"})))
