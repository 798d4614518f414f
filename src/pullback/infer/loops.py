"""Loops: types of carried values to a fixpoint, and what `for` means for each kind of iterable.

    for x in a:  ...      for k in 0 .. a.shape[0]-1: x = a[k]
    for x in (1, 2.0):    the body once per item
    with break:           while go and k < n
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pullback.infer.arithmetic import OVERFLOW
from pullback.infer.calls import call
from pullback.infer.complexes import complex_of, halves
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Branch, Frame
from pullback.infer.generators import collected, is_pushed, loop_over, nests
from pullback.infer.heaps import kind_of
from pullback.infer.indexing import select_item
from pullback.infer.lattice import WEAK_BOOL, WEAK_INT, join
from pullback.infer.narrowing import restrict
from pullback.infer.numbers import as_number, python_int
from pullback.infer.protocols import iterated
from pullback.infer.records import fields, leaf_of, record_at
from pullback.infer.registry import prelude
from pullback.infer.resumed import is_begun
from pullback.infer.samples import python_error
from pullback.infer.shadowed import bare, inner_array, shadowed_element
from pullback.infer.static import trips
from pullback.infer.texts import character, text_length
from pullback.infer.uses import uses_of
from pullback.infer.values import AV, coerce, items_of
from pullback.infer.views import array_element
from pullback.infer.written_out import is_of_ranks, noted, written_out
from pullback.ir.node import Block, Op, Value
from pullback.prims.base import get
from pullback.runtime.boundary import RECORDS
from pullback.types import (
    NEVER,
    Array,
    Class,
    Complex,
    Constant,
    Dict,
    Iterator,
    List,
    Number,
    Range,
    Record,
    Ref,
    Shadowed,
    Str,
    Table,
    Text,
    Tuple,
    Type,
    Union,
    show,
    slots,
)  # fmt: skip

__all__ = [
    "ITERABLES", "ITERATORS", "PAIRED", "Iterable", "Later", "Steps", "for_loop", "force", "iterable", "lazily",
    "range_value", "steps_of", "while_loop", "writes_to",
]  # fmt: skip

MOST_ROUNDS = 24
MOST_UNROLLED = 16  # items of equal type beyond this are looped over with a run-time index


# How elements are paired with their backpropagators; the room's module for that puts it here.
PAIRED: list[Callable[[Frame, AV, Iterable, int], Iterable]] = []


@dataclass(frozen=True, slots=True)
class Iterable:
    """What a loop steps through: `items` when they are known one by one, else a count and an element by index.

    tables: the tables whose change makes count and element wrong; a loop that changes one goes by `steps`, and so does
    one over what has no count.  back: the steps in the other direction, of what has them.  later: in place of `items`,
    some of which are not computed yet.  attrs: of the loop, as pb.prange and pb.checkpointed ask.
    """

    items: Sequence[AV] | None
    count: Value | None = None
    element: Callable[[Frame, Value], AV] | None = None
    tables: tuple[str, ...] = ()
    steps: Steps | None = None
    back: Steps | None = None
    later: Sequence[AV | Later] | None = None
    attrs: Mapping[str, object] = field(default_factory=dict)

    @property
    def parallel(self) -> bool:
        """Are the trips independent."""
        return bool(self.attrs.get("parallel"))

    @property
    def known(self) -> Sequence[AV | Later] | None:
        """The items, computed or not, where they are known one by one."""
        return self.items if self.items is not None else self.later


@dataclass(frozen=True, slots=True)
class Later:
    """An item that is computed where the loop comes to it, as those of map are."""

    make: Callable[[Frame], AV]


def force(cx: Frame, item: AV | Later) -> AV:
    """The item, computed now if it was not."""
    return item.make(cx) if isinstance(item, Later) else item


@dataclass(frozen=True, slots=True)
class Steps:
    """An iteration as a state: whether there is more, and the next element with the state after it."""

    start: Sequence[AV]
    more: Callable[[Frame, Sequence[AV]], Value]
    take: Callable[[Frame, Sequence[AV]], tuple[AV, list[AV]]]


# How values in heaps are stepped through, by the kind of the heap; the modules of each kind put it here.
ITERABLES: dict[str, Callable[[Frame, AV], Iterable]] = {}
# The kinds of heaps of which each row has items by number.
_SEQUENCES = ("list", "tuple", *RECORDS)
# How lazy iterables are stepped through, by the kind of types.Iterator, from their parts.
ITERATORS: dict[str, Callable[[Frame, Sequence[AV]], Iterable]] = {}


# ------------------------------------------------------------------------------------------------- fixpoint


def _fixpoint(cx: Frame, op: Op, start: Sequence[AV], bodies: Callable[[list[Type]], list[Branch]]) -> tuple[
    list[Type], list[Branch]
]:
    """Widen the carried types until the last branch yields no more than they hold."""
    known = cx.loop_types.get(op, [NEVER] * len(start))
    types = [join(t, av.type) for t, av in zip(known, start, strict=True)]
    for _ in range(MOST_ROUNDS):
        branches = bodies(types)
        wider = [join(t, av.type) for t, av in zip(types, branches[-1].results, strict=True)]
        if wider == types:
            cx.loop_types[op] = types
            return types, branches
        types = cx.widened(wider)
        cx.guard_type_growth(types)
    raise cx.error(
        "the types of the values that this loop carries do not settle", "a value has another type on every trip",
        "keep the type of loop variables fixed",
    )  # fmt: skip


def _params(cx: Frame, block: Branch, avs: Sequence[AV]) -> None:
    block.block.params = [v for av in avs for v in av.values]


def while_loop(cx: Frame, op: Op, start: list[AV]) -> list[AV]:
    """py.while: cond and body blocks over the carried values."""
    cx.loops.append(op)
    try:
        return _while(cx, op, start)
    finally:
        cx.loops.pop()


def _while(cx: Frame, op: Op, start: list[AV]) -> list[AV]:
    cond, body = op.blocks
    asked = cx.session.asked.has("loop", op)
    if op.attrs.get("peel") or asked:
        start, ended = (written_out if asked else _peeled)(cx, op, start)
        if ended:
            return start
    names = [v.name for v in body.params]

    def bodies(types: list[Type]) -> list[Branch]:
        first = _carried(cx, op, types, names)
        test = cx.branch(lambda: cx.run(cond, first)[0])
        _params(cx, test, first)
        second = _carried(cx, op, types, names)
        step = cx.branch(lambda: cx.run(body, _narrowed(cx, cond.params, test, second))[0])
        _params(cx, step, second)
        return [test, step]

    types, (test, step) = _fixpoint(cx, op, start, bodies)
    if not asked and any(map(is_of_ranks, types)) and not any(is_of_ranks(av.type) for av in start):
        start, ended = written_out(cx, op, start)  # each trip for arrays of its own rank, as far as that is known
        if ended:
            return start
        types, (test, step) = _fixpoint(cx, op, start, bodies)
    condition = test.results[0].type
    if condition == Constant(False):
        return start
    results = noted(cx, op, _emit_while(cx, types, start, test, step))
    if condition == Constant(True) or test.dead:
        cx.dead = True
    return results


def _peeled(cx: Frame, op: Op, carried: list[AV]) -> tuple[list[AV], bool]:
    """The trips whose condition is known while compiling, one after the other; whether the loop ends with them."""
    cond, body = op.blocks
    while not cx.dead:
        (condition,) = cx.run(cond, carried)[0]
        if not isinstance(condition.type, Constant):
            return carried, False
        if not condition.type.value:
            break
        carried = cx.run(body, carried)[0]
    return carried, True


def _carried(cx: Frame, op: Op, types: Sequence[Type], names: Sequence[str]) -> list[AV]:
    """What a loop carries, in one of its blocks."""
    return noted(cx, op, [cx.fresh(t, n) for t, n in zip(types, names, strict=True)])


def _narrowed(cx: Frame, params: Sequence[Value], test: Branch, carried: list[AV]) -> list[AV]:
    """What the body of a `while` is given, as far as its condition tells more of it."""
    (condition,) = test.results
    fact = cx.facts.get(condition.value) if len(condition.values) == 1 else None
    known = {one.subject: one.holds for one in (fact, *fact.also)} if fact is not None else {}
    return [restrict(cx, av, known[p]) if p in known else av for p, av in zip(params, carried, strict=True)]


def _emit_while(
    cx: Frame, types: Sequence[Type], start: Sequence[AV], test: Branch, step: Branch, attrs: Mapping[str, object] = {},
) -> list[AV]:  # fmt: skip
    blocks = [cx.close(test, [WEAK_BOOL]), cx.close(step, types)]
    init = [v for av, t in zip(start, types, strict=True) for v in coerce(cx.e, av, t).values]
    op = cx.e.append(
        get("while"), init, attrs=dict(attrs), blocks=blocks, types=[m for t in types for m in slots(t)]
    )
    return cx.split(types, op.results)


# ------------------------------------------------------------------------------------------------------ for


def for_loop(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    """py.for over any iterable; with breaks=True the body's first result tells whether to go on."""
    cx.loops.append(op)
    try:
        return _for(cx, op, operands)
    finally:
        cx.loops.pop()


def _for(cx: Frame, op: Op, operands: list[AV]) -> list[AV]:
    subject, *start = operands
    if isinstance(subject.type, Union):
        return _for_union(cx, op, subject, start)
    subject = _owned(cx, op, subject)
    if (inner := iterated(cx, subject)) is not subject:
        return [AV(NEVER) for _ in op.results] if cx.dead else for_loop(cx, op, [inner, *start])
    if is_pushed(subject.type):
        if not nests(cx, op, subject.type):
            return loop_over(cx, op, subject, start)
        whole = collected(cx, subject)
        return [AV(NEVER) for _ in op.results] if cx.dead else for_loop(cx, op, [whole, *start])
    level = op.attrs.get("indexed")
    before = len(cx.e.block.ops)
    source = iterable(cx, subject) if isinstance(level, int) else lazily(cx, subject)
    if isinstance(level, int):
        cx.noticed.update(cx.e.block.ops[before:])  # what it does to begin is done already (py.stepped)
        source = PAIRED[0](cx, subject, source, level)
    source = _listed(cx, op, source)
    breaks = bool(op.attrs.get("breaks"))
    if source.parallel and breaks:
        raise cx.error(
            "a loop over prange cannot be left before its last trip", "`break` or `return` in it",
            "loop over range, or let every trip run and use `if`",
        )  # fmt: skip
    if source.known is not None:
        return _unrolled(cx, op, source.known, start, breaks)
    if source.count is None:
        assert source.steps is not None
        return _stepping(cx, op, source.steps, start, breaks)
    if source.tables:
        return _while_unchanged(cx, op, source, start, breaks)
    return _breaking(cx, op, source, start) if breaks else _counted(cx, op, source, start)


def _owned(cx: Frame, op: Op, subject: AV) -> AV:
    """A generator that only this loop has ends with it."""
    value = op.operands[0]
    if not is_begun(subject.type) or value.name or uses_of(cx.code.untyped).get(value, 0) > 1:
        return subject
    return call(cx, prelude(cx, "pullback.iterate_dropped"), [subject], {})


def _listed(cx: Frame, op: Op, source: Iterable) -> Iterable:
    """The trips one by one where a number in the loop must be known."""
    count = trips(cx, op, source.count) if source.count is not None and source.known is None else None
    element = source.element
    if count is None or element is None or source.tables:
        return source
    return Iterable(None, later=[Later(lambda cx, k=k: element(cx, cx.e.integer(k))) for k in range(count)])  # type: ignore[misc]


def _while_unchanged(cx: Frame, op: Op, source: Iterable, start: list[AV], breaks: bool) -> list[AV]:
    """By count where the loop does not change what it runs over, else step by step."""
    assert source.steps is not None
    if op not in cx.changing_loops:
        trial = cx.branch(lambda: (_breaking if breaks else _counted)(cx, op, source, start))
        if not writes_to(cx, trial.block, source.tables):
            cx.e.block.ops += trial.block.ops
            cx.dead = cx.dead or trial.dead
            return trial.results
        cx.changing_loops.add(op)
        cx.loop_types.pop(op, None)
    return _stepping(cx, op, source.steps, start, breaks)


def writes_to(cx: Frame, block: Block, tables: Sequence[str]) -> bool:
    """May the code write into one of the tables, itself or in what it calls."""
    types = [Table(name) for name in tables]
    functions = {spec.name: spec.function for spec in cx.session.order}
    seen: set[object] = set()

    def writes(block: Block) -> bool:
        return any(
            (op.name in ("table_set", "table_swap", "table_inc") and op.operands[0].type in types)
            or ("callee" in op.attrs and calls_writer(op.attrs["callee"]))
            for op in block.walk()
        )

    def calls_writer(name: object) -> bool:
        if name in seen:
            return False
        seen.add(name)
        function = functions.get(str(name))
        return function is None or writes(function.body)  # one that is being inferred may do anything

    return writes(block)


def _stepping(cx: Frame, op: Op, steps: Steps, start: list[AV], breaks: bool) -> list[AV]:
    """A loop over what has no count: while there is more (and no break)."""
    width = len(steps.start)
    flag = [AV(WEAK_BOOL, (cx.e.boolean(True),))] if breaks else []
    first = [*steps.start, *flag, *start]
    names = [*("at" for _ in steps.start), *("go" for _ in flag), *(v.name for v in op.blocks[0].params[1:])]

    def bodies(types: list[Type]) -> list[Branch]:
        state = [cx.fresh(t, n) for t, n in zip(types, names, strict=True)]

        def more() -> list[AV]:
            def ask() -> list[AV]:
                return [AV(WEAK_BOOL, (steps.more(cx, state[:width]),))]

            return cx.choose(state[width].value, ask, lambda: [constant_false(cx)]) if breaks else ask()

        test = cx.branch(more)
        _params(cx, test, state)
        inner = [cx.fresh(t, n) for t, n in zip(types, names, strict=True)]

        def step() -> list[AV]:
            element, following = steps.take(cx, inner[:width])
            results = [] if cx.dead else _body(cx, op, element, inner[width + len(flag) :])
            if cx.dead:
                return [AV(NEVER) for _ in inner]
            return [*following, *([as_number(cx, results.pop(0))] if breaks else []), *results]

        branch = cx.branch(step)
        _params(cx, branch, inner)
        return [test, branch]

    types, (test, step) = _fixpoint(cx, op, first, bodies)
    return _emit_while(cx, types, first, test, step)[width + len(flag) :]


def constant_false(cx: Frame) -> AV:
    return AV(WEAK_BOOL, (cx.e.boolean(False),))


def _for_union(cx: Frame, op: Op, subject: AV, start: list[AV]) -> list[AV]:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        results = for_loop(cx, op, [operands[0], *start])
        return AV(Tuple(tuple(r.type for r in results)), tuple(v for r in results for v in r.values))

    whole = dispatch(cx, [subject], rule)
    return items_of(whole) if isinstance(whole.type, Tuple) else [AV(NEVER) for _ in op.results]


def _body(cx: Frame, op: Op, element: AV, carried: Sequence[AV]) -> list[AV]:
    results, _ = cx.run(op.blocks[0], [element, *carried])
    return results


def _unrolled(cx: Frame, op: Op, items: Sequence[AV | Later], carried: list[AV], breaks: bool) -> list[AV]:
    """The body once per item; after a break that depends on data the rest is under an `if`."""
    for position, item in enumerate(items):
        element = force(cx, item)
        results = [] if cx.dead else _body(cx, op, element, carried)
        if cx.dead:
            return [AV(NEVER) for _ in op.results]
        if not breaks:
            carried = results
            continue
        go, *carried = results
        if isinstance(go.type, Constant):
            if not go.type.value:
                return carried
            continue
        rest, now = items[position + 1 :], carried
        if not rest:
            return carried

        def later(rest: Sequence[AV | Later] = rest, now: list[AV] = now) -> list[AV]:
            return _unrolled(cx, op, rest, now, breaks)

        return cx.choose(go.value, later, lambda now=now: now)  # type: ignore[misc]
    return carried


def _counted(cx: Frame, op: Op, source: Iterable, start: list[AV]) -> list[AV]:
    assert source.count is not None and source.element is not None
    element = source.element
    names = [v.name for v in op.blocks[0].params[1:]]

    def bodies(types: list[Type]) -> list[Branch]:
        k, *carried = _carried(cx, op, [WEAK_INT, *types], ["k", *names])
        step = cx.branch(lambda: _body(cx, op, element(cx, k.value), carried))
        _params(cx, step, [k, *carried])
        return [step]

    types, (step,) = _fixpoint(cx, op, start, bodies)
    block = cx.close(step, types)
    init = [v for av, t in zip(start, types, strict=True) for v in coerce(cx.e, av, t).values]
    result = cx.e.append(
        get("for"), [source.count, *init], attrs=dict(source.attrs), blocks=[block],
        types=[m for t in types for m in slots(t)],
    )
    return noted(cx, op, cx.split(types, result.results))


def _breaking(cx: Frame, op: Op, source: Iterable, start: list[AV]) -> list[AV]:
    """A counted loop that may stop early: while go and k < n."""
    assert source.count is not None and source.element is not None
    count, element = source.count, source.element
    names = ["k", "go", *(v.name for v in op.blocks[0].params[1:])]
    first = [AV(WEAK_INT, (cx.e.integer(0),)), AV(WEAK_BOOL, (cx.e.boolean(True),)), *start]

    def bodies(types: list[Type]) -> list[Branch]:
        state = _carried(cx, op, types, names)

        def more() -> list[AV]:
            k, go = state[0].value, state[1].value
            return [AV(WEAK_BOOL, (cx.e("and_", go, cx.e("lt", k, count)),))]

        test = cx.branch(more)
        _params(cx, test, state)
        inner = _carried(cx, op, types, names)

        def step() -> list[AV]:
            k = inner[0].value
            go, *carried = _body(cx, op, element(cx, k), inner[2:])
            if cx.dead:
                return [AV(NEVER) for _ in inner]
            return [AV(WEAK_INT, (cx.e("add", k, cx.e.integer(1)),)), as_number(cx, go), *carried]

        branch = cx.branch(step)
        _params(cx, branch, inner)
        return [test, branch]

    types, (test, step) = _fixpoint(cx, op, first, bodies)
    return noted(cx, op, _emit_while(cx, types, first, test, step, source.attrs))[2:]


# ------------------------------------------------------------------------------------------------ iterables


def range_value(cx: Frame, arguments: Sequence[AV]) -> AV:
    """range(...) as start, trip count, step."""
    e = cx.e
    numbers: list[Value] = []
    for av in arguments:
        av = as_number(cx, av)
        if not isinstance(av.type, Number) or av.type.dtype.is_float:
            raise cx.error(f"range takes ints, not {show(av.type)}", "a count is an int", "convert with int(...)")
        numbers.append(python_int(cx, av))
    zero, one = e.integer(0), e.integer(1)
    start, stop, step = {
        1: lambda: (zero, numbers[0], one),
        2: lambda: (numbers[0], numbers[1], one),
        3: lambda: (numbers[0], numbers[1], numbers[2]),
    }[len(numbers)]()
    if step is one:
        if start is zero:
            return AV(Range(), (start, stop, step))
        cx.check(e("not_", e("sub_overflows", stop, start)), "OverflowError", OVERFLOW)
        return AV(Range(), (start, e("sub", stop, start), step))
    literal = arguments[2].literal
    if not (isinstance(literal, int) and literal != 0):
        cx.check(e("ne", step, zero), "ValueError", "range() arg 3 must not be zero")
    cx.check(e("not_", e("sub_overflows", stop, start)), "OverflowError", OVERFLOW)
    # ceil(distance / step) for either sign: -((start - stop) // step) by floor division
    count = e("neg", e("floordiv", e("sub", start, stop), step))
    return AV(Range(), (start, count, step))


def iterable(cx: Frame, av: AV) -> Iterable:
    """How to step through a value; items that are known one by one are computed now."""
    found = lazily(cx, av)
    if found.later is None:
        return found
    return Iterable([force(cx, item) for item in found.later])


def _is_sequence(type_: Type) -> bool:
    """Has it items by number?"""
    return isinstance(type_, Tuple | List | Dict | Array | Range | Str | Text) or kind_of(type_) in _SEQUENCES


def _one_of(cx: Frame, av: AV) -> Iterable:
    """One of several sequences: by number, for which it is shows at run time."""

    def count(cx: Frame, found: Sequence[AV]) -> AV:
        source = lazily(cx, found[0])
        number = source.count if source.known is None else cx.e.integer(len(source.known))
        assert number is not None
        return AV(WEAK_INT, (number,))

    def element(cx: Frame, found: Sequence[AV], k: Value) -> AV:
        source = iterable(cx, found[0])
        if source.items is None:
            assert source.element is not None
            return source.element(cx, k)
        return select_item(cx, source.items, k) if source.items else cx.stop()

    def length(cx: Frame) -> Value:
        return dispatch(cx, [av], count).value

    def at(cx: Frame, k: Value) -> AV:
        return dispatch(cx, [av], lambda cx, found: element(cx, found, k))

    tables: list[str] = []

    def note_tables(cx: Frame, found: Sequence[AV]) -> AV:
        tables.extend(lazily(cx, found[0]).tables)
        return count(cx, found)

    def more_back(cx: Frame, state: Sequence[AV]) -> Value:
        k = state[0].value
        return cx.e("and_", cx.e("ge", k, zero), cx.e("lt", k, length(cx)))

    def take_back(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        k = state[0].value
        return at(cx, k), [AV(WEAK_INT, (cx.e("sub", k, cx.e.integer(1)),))]

    total, zero = dispatch(cx, [av], note_tables).value, cx.e.integer(0)
    if not tables:
        return Iterable(None, total, at)
    forth = Steps(
        [AV(WEAK_INT, (zero,))],
        lambda cx, state: cx.e("lt", state[0].value, length(cx)),
        lambda cx, state: (at(cx, state[0].value), [_next_index(cx, state[0])]),
    )
    back = Steps([AV(WEAK_INT, (cx.e("sub", total, cx.e.integer(1)),))], more_back, take_back)
    return Iterable(None, total, at, tuple(dict.fromkeys(tables)), forth, back)


def lazily(cx: Frame, av: AV) -> Iterable:
    """How to step through a value; some of its items may be computed later."""
    match av.type:
        case Tuple(_, type()) if (inner := iterated(cx, av)) is not av:
            return lazily(cx, inner)
        case Tuple(items) | List(items):
            if len(items) > MOST_UNROLLED and len(set(items)) == 1:
                found = items_of(av)
                return Iterable(None, cx.e.integer(len(items)), lambda cx, k: select_item(cx, found, k))
            return Iterable(items_of(av))
        case Dict(keys, _):
            return Iterable([AV(Str(key), (), key) for key in keys])
        case Complex(Array(_, rank), _) if rank > 0:
            real, imag = halves(av)
            count = array_sizes(cx, real)[0]
            return Iterable(None, count, lambda cx, k: complex_of(
                array_element(cx, real, k), array_element(cx, imag, k)))  # fmt: skip
        case Record(single=True):
            return Iterable(fields(cx, av))
        case Record(rank=rank) if rank > 0:
            return Iterable(None, array_sizes(cx, leaf_of(av))[0], lambda cx, k: record_at(cx, av, k))
        case Str(text):
            return Iterable([AV(Str(character), (), character) for character in text])
        case Text():
            return Iterable(None, text_length(cx, av).value, lambda cx, k: character(cx, av, k))
        case Range():
            return _range_iterable(cx, av)
        case Array(_, rank, _) if rank > 0:
            return Iterable(None, array_sizes(cx, av)[0], lambda cx, k: array_element(cx, av, k))
        case Shadowed() if inner_array(av.type).rank > 0:
            return Iterable(None, array_sizes(cx, bare(av))[0], lambda cx, k: shadowed_element(cx, av, k))
        case Array() | Shadowed():
            raise cx.error("iteration over a 0-d array", show(av.type))
        case Ref() | Class() if (inner := iterated(cx, av)) is not av:
            return lazily(cx, inner)
        case Ref() if kind_of(av.type) in ITERABLES:
            return ITERABLES[kind_of(av.type)](cx, av)
        case Union(members) if all(map(_is_sequence, members)):
            return _one_of(cx, av)
        case Iterator("generator"):
            return iterable(cx, collected(cx, av))
        case Iterator(kind, _):
            return ITERATORS[kind](cx, items_of(av))
    raise cx.error(f"{show(av.type)} cannot be iterated over", "range, arrays, tuples, enumerate, zip and reversed can",
                   raised=python_error(iter, av.type))  # fmt: skip


def _range_iterable(cx: Frame, av: AV) -> Iterable:
    start, count, step = av.values

    def element(cx: Frame, k: Value) -> AV:
        # No overflow: the last element lies between start and stop.
        return AV(WEAK_INT, (cx.e("add", start, cx.e("mul", k, step)),))

    return Iterable(None, count, element)


def _enumerate(cx: Frame, parts: Sequence[AV]) -> Iterable:
    inner, start = lazily(cx, parts[0]), parts[1]

    def pair(cx: Frame, k: Value, item: AV) -> AV:
        index = cx.e("add", python_int(cx, start), k)
        return AV(Tuple((WEAK_INT, item.type)), (index, *item.values))

    if inner.known is not None:
        return Iterable(None, later=[
            _after(item, lambda cx, item, k=k: pair(cx, cx.e.integer(k), item))  # type: ignore[misc]
            for k, item in enumerate(inner.known)
        ])  # fmt: skip
    steps = None
    if inner.steps is not None:
        stepped = inner.steps

        def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
            item, following = stepped.take(cx, state[1:])
            return pair(cx, state[0].value, item), [_next_index(cx, state[0]), *following]

        first = AV(WEAK_INT, (cx.e.integer(0),))
        steps = Steps([first, *stepped.start], lambda cx, state: stepped.more(cx, state[1:]), take)
    if inner.count is None:
        return Iterable(None, steps=steps)
    assert inner.element is not None
    element = inner.element
    return Iterable(None, inner.count, lambda cx, k: pair(cx, k, element(cx, k)), inner.tables, steps)


def _next_index(cx: Frame, k: AV) -> AV:
    return AV(WEAK_INT, (cx.e("add", k.value, cx.e.integer(1)),))


def _zip(cx: Frame, parts: Sequence[AV]) -> Iterable:
    inner = [lazily(cx, part) for part in parts]
    if all(source.known is not None for source in inner):
        rows = zip(*(source.known or () for source in inner), strict=False)
        return Iterable(None, later=[_row(row) for row in rows])
    steps = _zipped([steps_of(cx, s) for s in inner]) if any(s.steps is not None for s in inner) else None
    if any(source.known is None and source.count is None for source in inner):
        return Iterable(None, steps=steps)
    sources = [_indexed(cx, source) for source in inner]
    count = sources[0][0]
    for other, _ in sources[1:]:
        count = cx.e("minimum", count, other)
    tables = tuple(table for source in inner for table in source.tables)
    return Iterable(
        None, count, lambda cx, k: _tuple_of([element(cx, k) for _, element in sources]), tables, steps
    )  # fmt: skip


def _after(item: AV | Later, rule: Callable[[Frame, AV], AV]) -> AV | Later:
    """What is made of an item, when the item is."""
    return Later(lambda cx: _unless_dead(cx, force(cx, item), rule))


def _unless_dead(cx: Frame, item: AV, rule: Callable[[Frame, AV], AV]) -> AV:
    return item if cx.dead else rule(cx, item)


def _row(items: Sequence[AV | Later]) -> AV | Later:
    known = [item for item in items if isinstance(item, AV)]
    if len(known) == len(items):
        return _tuple_of(known)
    return Later(lambda cx: _forced_row(cx, items))


def _forced_row(cx: Frame, items: Sequence[AV | Later]) -> AV:
    found: list[AV] = []
    for item in items:
        found.append(force(cx, item))
        if cx.dead:
            return found[-1]
    return _tuple_of(found)


def _zipped(parts: Sequence[Steps]) -> Steps:
    """Steps through several at once, as long as each has more."""
    bounds = [0, *itertools.accumulate(len(part.start) for part in parts)]

    def own(state: Sequence[AV], number: int) -> Sequence[AV]:
        return state[bounds[number] : bounds[number + 1]]

    def more(cx: Frame, state: Sequence[AV], number: int = 0) -> Value:
        here = parts[number].more(cx, own(state, number))
        if number == len(parts) - 1:
            return here
        (result,) = cx.choose(
            here, lambda: [AV(WEAK_BOOL, (more(cx, state, number + 1),))], lambda: [constant_false(cx)]
        )  # fmt: skip
        return result.value

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        taken = [part.take(cx, own(state, number)) for number, part in enumerate(parts)]
        return _tuple_of([item for item, _ in taken]), [av for _, following in taken for av in following]

    return Steps([av for part in parts for av in part.start], more, take)


def steps_of(cx: Frame, source: Iterable) -> Steps:
    """Any iterable step by step."""
    if source.steps is not None:
        return source.steps
    count, element = _indexed(cx, source)

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        return element(cx, state[0].value), [_next_index(cx, state[0])]

    start = [AV(WEAK_INT, (cx.e.integer(0),))]
    return Steps(start, lambda cx, state: cx.e("lt", state[0].value, count), take)


def _tuple_of(items: Sequence[AV]) -> AV:
    return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))


def _indexed(cx: Frame, source: Iterable) -> tuple[Value, Callable[[Frame, Value], AV]]:
    """Count and element-by-index, for known items too."""
    if source.known is None:
        assert source.count is not None and source.element is not None
        return source.count, source.element
    items = [force(cx, item) for item in source.known]
    return cx.e.integer(len(items)), lambda cx, k: select_item(cx, items, k) if items else cx.stop()


def _reversed(cx: Frame, parts: Sequence[AV]) -> Iterable:
    inner = iterable(cx, parts[0])
    if inner.items is not None:
        return Iterable(list(reversed(inner.items)))
    count, element = inner.count, inner.element
    if count is None or element is None or (inner.tables and inner.back is None):
        raise cx.type_error(f"{show(parts[0].type)} is not reversible", "only what has a length is")
    length = cx.e("maximum", count, cx.e.integer(0))

    def backwards(cx: Frame, k: Value) -> AV:
        return element(cx, cx.e("sub", cx.e("sub", length, cx.e.integer(1)), k))

    return Iterable(None, length, backwards, inner.tables, inner.back)


ITERATORS.update({
    "enumerate": _enumerate, "zip": _zip, "reversed": _reversed, "iter": lambda cx, parts: iterable(cx, *parts),
})  # fmt: skip
