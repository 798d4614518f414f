"""Derived functions: the joint form, and the split form whose halves are joined by a record.

    f(x, n) -> r                                       wrt x, outputs r
    joint     f.grad(x, n) -> r, gx                    forward and reverse in one block, residuals are plain values
    split     f.aug(x, n, shadows..) -> r, shadows.., record
              f.pull(record, cr.., accumulators..) -> gx..
    vjp       as split, but the pull makes the gradients of arrays itself and may be called many times
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.ad.checkpoints import is_checkpointed
from pullback.ad.dead import remove_dead
from pullback.ad.primal import Derivations, Mask, Primal, SplitCall, keep_apart, prepare_copy
from pullback.ad.replaced import put_back
from pullback.ad.residuals import Closer
from pullback.ad.reverse import Reverse
from pullback.ad.shadows import (
    add_into,
    array_sizes,
    coerce,
    copy_array,
    is_float_scalar,
    make_record,
    open_record,
    scalar_zero,
    zero_array,
)  # fmt: skip
from pullback.ad.sweep import sweep, tracked_inputs
from pullback.analysis.alias import Aliases, overlapping_pairs, record_links
from pullback.analysis.effects import ALLOCATIONS, is_reference
from pullback.ir.node import Block, Function, Value
from pullback.ir.rule import mentioned_by_rule
from pullback.ir.walk import substitute
from pullback.prims.base import Emitter
from pullback.types import ArrayRef, Box, Machine, Scalar, Table, is_float

__all__ = ["again", "joint", "split", "vjp"]


def _reversed(
    primal: Primal, seed: Callable[[Reverse], None], finish: Callable[[Reverse], None] | None = None, *,
    gradients: bool = True, tame: bool = True,
) -> Reverse:  # fmt: skip
    """Emit the reverse half, `seed` before it and `finish` after it.

    `gradients`: of every input, arrays too; otherwise of scalars only.  `tame`: the cotangents that come in are finite.
    """
    reverse = Reverse(primal, tame=tame)
    frame = reverse.frame
    reverse.reverse_of[primal.body] = frame.block
    seed(reverse)
    reverse.run()
    if finish is not None:
        finish(reverse)
    for value in primal.inputs:
        if is_float_scalar(value.type):
            found = reverse.cotangent(value)
            frame.block.results.append(scalar_zero(frame.e, value.type) if found is None else found)
        elif gradients:
            frame.block.results.append(_array_gradient(reverse, value))
    frame.finish()
    remove_dead(frame.block)
    standing = set(frame.block.walk())
    reverse.pairs[:] = [pair for pair in reverse.pairs if pair.reverse in standing]  # nothing is kept for the others
    return reverse


def _array_gradient(reverse: Reverse, value: Value) -> Value:
    primal = reverse.primal
    if isinstance(value.type, Table):
        twin = reverse.shadow(value)
        for first in primal.firsts.get(value, ()):
            put_back(reverse.e, twin, first)
        return twin
    found = primal.zeros.get(value) or reverse.existing(value)
    if found is not None:
        return found
    e = Emitter(Block())
    sizes = primal.sizes.get(value) or array_sizes(e, value)
    primal.append(primal.body, e.block.ops)
    assert isinstance(value.type, ArrayRef)
    return zero_array(reverse.e, value.type, sizes)


def joint(
    derivations: Derivations, function: Function, wrt: Sequence[int], outputs: Sequence[int], *, seeded: bool = False
) -> Function:
    """Results, then the gradient of the sum of `outputs` with respect to each parameter of `wrt`.

    seeded: the cotangents of `outputs` are further parameters, and need not be finite.
    """
    primal = Primal(derivations, function, wrt, outputs)
    primal.keep_apart()
    sweep(primal)
    if seeded:
        wanted = [primal.results[i] for i in outputs]
        incoming = [Value(v.type, "c") for v in wanted]
        primal.tables.home.update(dict.fromkeys(incoming, primal.body))
        made = _join(primal, lambda reverse: _seed_all(reverse, wanted, incoming), primal.results, tame=False)
        made.body.params += incoming
        return made

    def seed(reverse: Reverse) -> None:
        for place in outputs:
            one = reverse.e.like(1.0, primal.results[place])
            reverse.ones.add(one)
            reverse.add(primal.results[place], one)

    return _join(primal, seed, primal.results)


def _join(
    primal: Primal, seed: Callable[[Reverse], None], results: Sequence[Value], *, tame: bool = True
) -> Function:
    reverse = _reversed(primal, seed, tame=tame)
    closer = Closer(reverse, release=True)
    closer.close_loops()
    block = reverse.frame.block
    closer.close_function(block)
    primal.body.ops += block.ops
    primal.body.results = [*results, *block.results]
    remove_dead(primal.body)
    return primal.function


def _float_results(function: Function) -> list[int]:
    return [i for i, v in enumerate(function.body.results) if v.type is not None and is_float(v.type)]


# ------------------------------------------------------------------------------------------------------------- split


def split(derivations: Derivations, function: Function, mask: Mask, names: SplitCall) -> tuple[Function, Function]:
    """The halves that a call inside differentiated code uses."""
    reverse, params = _called(Primal(derivations, function, *_active(mask), mask=mask))
    primal = reverse.primal
    active = [primal.results[i] for i in _active(mask)[1]]
    shadows = [primal.mirrors[v] for v in active if primal.types.mirrored(v.type) or v in primal.tracked]
    tables = primal.tables_for_reverse(primal.params)
    _finish_split(reverse, names, params, [*primal.results, *shadows], tables=tables)
    pull = Function(names.pull, reverse.frame.block, function.span)
    return Function(names.augmented, primal.body, function.span), pull


def again(derivations: Derivations, function: Function, mask: Mask, name: str) -> Function:
    """Both halves in one, for a call that is run again: its parameters are those of the halves.

    The cotangents of numbers so far are parameters too, so that sums are taken in the order of the trips.
    """
    reverse, params = _called(Primal(derivations, function, *_active(mask), mask=mask, alone=True), onward=True)
    primal, block = reverse.primal, reverse.frame.block
    closer = Closer(reverse, release=True)
    closer.close_loops()
    closer.close_function(block)
    primal.body.params += params
    primal.body.ops += block.ops
    primal.body.results = block.results
    remove_dead(primal.body)
    return Function(name, primal.body, function.span)


def _active(mask: Mask) -> tuple[list[int], list[int]]:
    """The parameters and results through which derivative flows."""
    found = ([i for i, active in enumerate(flags) if active] for flags in (mask.params, mask.results))
    return next(found), next(found)


def _called(primal: Primal, *, onward: bool = False) -> tuple[Reverse, list[Value]]:
    """The reverse half of a function that is called, and what it gets: cotangents, shadows of results, of arguments.

    Shadows that the forward half needs are parameters of that already.  `onward`: last come the cotangents that the
    arguments have so far, to be added to.
    """
    assert primal.mask is not None
    mirrors = [Value(primal.types.machine(v.type), v.name) for v in tracked_inputs(primal)]
    primal.body.params += mirrors
    for value in mirrors:
        primal.tables.home[value] = primal.body
    sweep(primal, mirrors)
    active = [primal.results[i] for i in _active(primal.mask)[1]]
    incoming = [Value(v.type, "c") for v in active if is_float_scalar(v.type)]
    returned = [v for v in active if isinstance(v.type, ArrayRef) and v not in primal.tracked]
    added = [v for v in primal.inputs if _is_accumulated(primal, v)]
    arrays = [Value(v.type, "c") for v in returned]
    accumulators = [Value(primal.types.machine(v.type), f"s{v.name}") for v in added]

    numbers = [v for v in primal.inputs if onward and is_float_scalar(v.type)]
    before = [Value(v.type, "c") for v in numbers]

    def seed(reverse: Reverse) -> None:
        for value, c in zip(numbers, before, strict=True):
            reverse.add(value, reverse.wild.note(c, True))
        reverse.frame.shadows.update(zip(added, accumulators, strict=True))
        for value, c in zip((v for v in active if is_float_scalar(v.type)), incoming, strict=True):
            reverse.add(value, reverse.wild.note(c, True))
        for value, c in zip(returned, arrays, strict=True):
            reverse.take(value, c)

    def finish(reverse: Reverse) -> None:
        for value, accumulator in zip(added, accumulators, strict=True):
            if primal.mirrored(value):  # followed in here only
                add_into(reverse.e, accumulator, primal.mirrors[value])

    reverse = _reversed(primal, seed, finish, gradients=False, tame=False)
    return reverse, [*incoming, *arrays, *accumulators, *before]


def _is_accumulated(primal: Primal, value: Value) -> bool:
    """Does the reverse half get the shadow of an input."""
    table = isinstance(value.type, Table) and not primal.types.mirrored(value.type)
    return table or (isinstance(value.type, ArrayRef) and value not in primal.tracked)


def _finish_split(
    reverse: Reverse, names: SplitCall, params: Sequence[Value], results: Sequence[Value], *, stable: bool = True,
    tables: Sequence[Value] = (),
) -> None:  # fmt: skip
    """Close both halves over the record.  Not `stable`: arrays of the caller are copied into it.

    `tables`: what the reverse half gets besides.
    """
    primal, block = reverse.primal, reverse.frame.block
    closer = Closer(reverse, release=False)
    closer.close_loops()
    block.params = list(params)
    kept = closer.close_function(block, Box(names.box), tables)
    e = Emitter(primal.body)
    if not stable:
        kept = [_private(primal, e, v) for v in kept]
    layout = tuple(v.type for v in kept if v.type is not None)
    primal.derivations.program.layouts[names.box] = [layout]
    primal.body.results = [*results, make_record(e, names.box, 0, kept)]
    remove_dead(primal.body)


def _private(primal: Primal, e: Emitter, value: Value) -> Value:
    """The array, or a copy in its type if the caller's memory may be behind it."""
    if not isinstance(value.type, ArrayRef):
        return value
    known = (v for v in (*primal.params, *primal.results) if is_reference(v.type))
    if all(primal.aliases.apart(value, v) for v in known):
        return value
    return coerce(e, copy_array(e, value), value.type)


# --------------------------------------------------------------------------------------------------------------- vjp


def vjp(
    derivations: Derivations, function: Function, wrt: Sequence[int], names: SplitCall, *, tame: bool = True
) -> tuple[Function, Function]:
    """The halves behind `vjp` and `pullback`; the pull may be called any number of times."""
    if _reruns(derivations, function):
        return _rerun(derivations, function, wrt, names, tame=tame)
    outputs = _float_results(function)
    made = {v for op in function.body.ops if op.name in ALLOCATIONS for v in op.results}
    merged = [v for v in function.body.results if isinstance(v.type, ArrayRef) and v not in made]
    escaping = [v for v in merged if v not in function.body.params]
    primal = Primal(derivations, function, wrt, outputs, escaping=escaping, anytime=True)
    primal.keep_apart()
    sweep(primal)
    wanted = [primal.results[i] for i in outputs]
    incoming = [Value(v.type, "c") for v in wanted]

    def seed(reverse: Reverse) -> None:
        _seed_all(reverse, wanted, incoming)

    reverse = _reversed(primal, seed, tame=tame)
    _finish_split(reverse, names, incoming, primal.results, stable=False)
    pull = Function(names.pull, reverse.frame.block, function.span)
    return Function(names.augmented, primal.body, function.span), pull


def _seed_all(reverse: Reverse, results: Sequence[Value], incoming: Sequence[Value]) -> None:
    for value, c in zip(results, incoming, strict=True):
        if isinstance(value.type, Scalar):
            reverse.add(value, c)
        elif reverse.primal.active(value):
            reverse.take(value, copy_array(reverse.e, c))  # what the caller hands over is never written


def _reruns(derivations: Derivations, function: Function) -> bool:
    """Must a pullback run the function again: what one run leaves behind serves one pullback, or is the caller's."""
    program, links = derivations.program, record_links(derivations.program)
    arrays = any(isinstance(v.type, ArrayRef | Box) for v in function.body.params)
    seen: set[str] = set()
    pending = [function]
    while pending:
        current = pending.pop()
        if Aliases(prepare_copy(current), derivations.written, links).follows():
            return True
        for op in current.body.walk():
            if op.name in ("box", "box_null", "unbox", "slot_get", "slot_inc") or is_checkpointed(op):
                return True
            if any(derivations.types.mirrored(v.type) for v in (*op.results, *op.operands)):
                return True
            if arrays and any(isinstance(v.type, ArrayRef) for block in op.blocks for v in block.params):
                return True
            if op.name == "call":
                callee = str(op.attrs["callee"])
                if arrays:
                    return True
                reached = program.functions[callee]
                rules = [program.functions[name] for name in mentioned_by_rule(reached)]
                if any(isinstance(v.type, Table) for rule in rules for v in rule.body.params):
                    return True
                new = {f.name: f for f in (reached, *rules) if f.name not in seen}
                seen.update(new)
                pending += new.values()
    return False


def _rerun(
    derivations: Derivations, function: Function, wrt: Sequence[int], names: SplitCall, *, tame: bool
) -> tuple[Function, Function]:
    """The record holds the arguments; the pull runs forward and reverse."""
    forward = prepare_copy(function)
    primal = Primal(derivations, function, wrt, _float_results(function))
    aliases = Aliases(forward, derivations.written, record_links(derivations.program))
    keep_apart(forward, aliases, primal.active, derivations.declared(function.name), all_pairs=True)
    primal.aliases.separate(list(overlapping_pairs(primal.aliases, primal.params)))  # the copies do not overlap
    e = Emitter(Block(), function.span)
    kept = [_copied(e, v) for v in forward.body.params]  # as they are before the function changes them
    for value in forward.body.params:
        if isinstance(value.type, Table) and aliases.written(value):
            none = e("eq", e("table_length", value), e.integer(0))
            e.op("check", none, exception="ValueError", message=_HELD)
    forward.body.ops[:0] = e.block.ops
    e = Emitter(forward.body, function.span)
    types: tuple[Machine, ...] = tuple(v.type for v in kept if v.type is not None)
    derivations.program.layouts[names.box] = [types]
    forward.body.results.append(make_record(e, names.box, 0, kept))
    sweep(primal)
    wanted = [primal.results[i] for i in _float_results(function)]
    incoming = [Value(v.type, "c") for v in wanted]
    for value in incoming:
        primal.tables.home[value] = primal.body
    pull = _join(primal, lambda reverse: _seed_all(reverse, wanted, incoming), [], tame=tame)
    record = Value(Box(names.box), "record")
    opening = Emitter(Block(), function.span)
    opened = list(open_record(opening, record, 0, types))
    for place, param in enumerate(primal.params):
        if isinstance(param.type, Table) or primal.aliases.written(param):  # the record serves more than one pullback
            opened[place] = _copied(opening, opened[place])
    substitute(pull.body, dict(zip(primal.params, opened, strict=True)))
    pull.body.ops[0:0] = opening.block.ops
    pull.body.params = [record, *incoming]
    return Function(names.augmented, forward.body, function.span), Function(names.pull, pull.body, function.span)


_HELD = "cannot make a pullback: the function changes arrays in place, and objects that it is given may hold them"


def _copied(e: Emitter, value: Value) -> Value:
    if isinstance(value.type, Table):
        return e("table_copy", value)
    return coerce(e, copy_array(e, value), value.type) if isinstance(value.type, ArrayRef) else value
