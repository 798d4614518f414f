"""Functions with a derivative rule of their own: the derived functions are made of the rule's (see `ir.rule`).

    f.jvp(x, dx):  call f_jvp(x, dx)                 f.aug(x):      y, kept = call f_forward(x);  y, box kept
                                                     f.pull(r, c):  call f_backward(unbox r, c)

A rule for one mode gives the other, since both halves are linear.  With `jvp` alone, the cotangents are those of its
tangents, at any tangents: reverse mode of `jvp`, in which nothing else is active.  With `backward` alone, the tangent
is the derivative of <backward(kept, c), dx> by c: reverse mode of `backward`, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from pullback.ad.primal import Derivations, Mask, SplitCall
from pullback.ad.shadows import (
    add_into,
    array_sizes,
    coerce,
    copy_array,
    make_record,
    open_record,
    scalar_zero,
    zero_array,
)  # fmt: skip
from pullback.analysis.alias import NO_WRITES
from pullback.diagnostic import CompileError, Diagnostic
from pullback.ir.node import Block, Function, Program, Value
from pullback.ir.rule import RULE, Rule, rule_of
from pullback.prims.base import Emitter, get
from pullback.types import ArrayRef, Box, Machine, Scalar, Table

__all__ = ["around", "forget_rules", "reject_writes", "split", "tangent"]


def around(function: Function) -> Function:
    """A function that calls this one: what is differentiated where a request names a function with a rule."""
    e = Emitter(Block([Value(v.type, v.name) for v in function.body.params]), function.span)
    e.block.results = _call(e, function.name, e.block.params, function.body.results)
    return Function(f"{function.name}.called", e.block, function.span)


def forget_rules(program: Program) -> None:
    """After differentiation a function with a rule is like any other."""
    for function in program.functions.values():
        function.attrs.pop(RULE, None)


def reject_writes(derivations: Derivations) -> None:
    """What a function with a rule, or the rule itself, writes to what it is given would have no derivative."""
    program = derivations.program
    for function in program.functions.values():
        rule = rule_of(function)
        if rule is None:
            continue
        for name in (function.name, *rule.names):
            places = derivations.written.get(name, NO_WRITES).written
            params = program.functions[name].body.params if name in program.functions else []
            written = [params[i] for i in sorted(places) if isinstance(params[i].type, ArrayRef)]
            if written:
                whose = f"{rule.title}()" if name == function.name else f"the derivative rule of {rule.title}()"
                which = f": {written[0].name}" if written[0].name else ""
                label = "a function with a derivative rule of its own must not"
                title, span = f"{whose} changes an array that it is given{which}", program.functions[name].span
                raise CompileError(Diagnostic(title, span, label, "change a copy, and return it"))


def _call(e: Emitter, name: str, operands: Sequence[Value], results: Sequence[Value]) -> list[Value]:
    types = [v.type for v in results if v.type is not None]
    return e.append(get("call"), operands, attrs={"callee": name}, types=types).results


class _Ruled:
    """One derivation: the function, its rule, and which of its parameters and results are active."""

    def __init__(self, derivations: Derivations, function: Function, mask: Mask) -> None:
        self.derivations, self.function, self.mask = derivations, function, mask
        rule = rule_of(function)
        assert rule is not None
        self.rule: Rule = rule
        self._refuse()
        body = function.body
        self.params = [Value(v.type, v.name) for v in body.params]
        self.declared, self.hidden = self.params[: rule.declared], self.params[rule.declared :]
        self.e = Emitter(Block(list(self.params)), function.span)

    def _refuse(self) -> None:
        rule, span = self.rule, self.function.span
        end = len(self.function.body.results) - rule.states
        if any(self.mask.results[end:]):
            title = f"what {rule.title}() raises carries a derivative, for which its derivative rule has nothing"
            raise CompileError(Diagnostic(title, span, "", "do not compute with numbers of the exception"))
        for place, (value, active) in enumerate(zip(self.function.body.params, self.mask.params, strict=True)):
            if active and place not in rule.inputs:
                declared = place < rule.declared and value.name
                name = f"'{value.name}'" if declared else "a value that it reads from outside"
                title = f"{rule.title}() is differentiated by {name}, for which its derivative rule has nothing"
                label = "the rule gives derivatives by the other arguments only"
                help = "pass it as an argument that the rule is for, or through pb.stop_gradient"
                raise CompileError(Diagnostic(title, span, label, help))

    # ---------------------------------------------------------------------------------------------------- places

    def active_inputs(self) -> list[int]:
        return [i for i in self.rule.inputs if self.mask.params[i]]

    def active_outputs(self) -> list[int]:
        return [i for i in self.rule.outputs if self.mask.results[i]]

    def tracked(self, place: int) -> bool:
        return place in self.mask.tracked

    def tracked_result(self, place: int) -> bool:
        return place + len(self.params) in self.mask.tracked

    def body_of(self, name: str) -> Block:
        return self.derivations.program.functions[name].body

    @property
    def width(self) -> int:
        """How many results the function has, without those that tell what it has raised."""
        return len(self.function.body.results) - self.rule.states

    def parts(self, results: Sequence[Value], count: int | None = None) -> tuple[list[Value], list[Value]]:
        """Results of a function of the rule: those of the function, and the `count` others."""
        width, states = self.width, len(results) - self.rule.states
        out, more = [*results[:width], *results[states:]], list(results[width:states])
        assert count is None or len(more) == count
        return out, more

    def called(
        self, name: str, operands: Sequence[Value], halves: SplitCall | None = None, e: Emitter | None = None
    ) -> list[Value]:
        """A function of the rule, whose last parameters are the hidden ones; or its augmented form, and its record."""
        callee, e = self.body_of(name), e or self.e
        every = [coerce(e, v, p.type) for v, p in zip([*operands, *self.hidden], callee.params, strict=True)]
        if halves is None:
            return _call(e, name, every, callee.results)
        return _call(e, halves.augmented, every, [*callee.results, Value(Box(halves.box))])

    def zero(self, value: Value) -> Value:
        return _zero(self.e, value)

    # --------------------------------------------------------------------------------------------------- tangents

    def tangent(self, name: str) -> Function:
        body, e = self.function.body, self.e
        given = {i: Value(body.params[i].type, f"d{body.params[i].name}") for i in self.active_inputs()}
        e.block.params += given.values()
        tangents = [given[i] if i in given else self.zero(self.params[i]) for i in self.rule.inputs]
        if self.rule.jvp is not None:
            found = self.called(self.rule.jvp, [*self.declared, *tangents])
            out, floats = self.parts(found, len(self.rule.outputs))
        else:
            out, floats = self.by_backward(tangents)
        moved = dict(zip(self.rule.outputs, floats, strict=True))
        e.block.results = [
            *(coerce(e, v, w.type) for v, w in zip(out, body.results, strict=True)),
            *(coerce(e, moved[i], body.results[i].type) for i in self.active_outputs()),
        ]
        return Function(name, e.block, self.function.span)

    def by_backward(self, tangents: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        """The value and its tangents: `backward` is linear in the cotangents, and its transpose is the derivative."""
        e, rule, backward = self.e, self.rule, self.rule.backward
        assert rule.forward is not None and backward is not None
        found = self.called(rule.forward, self.declared)
        out, kept = self.parts(found)
        callee = self.body_of(backward)
        end = len(kept) + len(rule.outputs)
        inner = self.derivations.split(backward, _mask(callee, range(len(kept), end), range(len(callee.results))))
        values = [out[i] for i in rule.outputs]

        def transposed(e: Emitter) -> list[Value]:
            operands = [*kept, *(_zero(e, v) for v in values)]
            record = self.called(backward, operands, inner, e)[-1]
            seeds = [v if isinstance(v.type, Scalar) else copy_array(e, v) for v in tangents]
            accumulators = {i: _zero(e, v) for i, v in enumerate(values) if isinstance(v.type, ArrayRef)}
            numbers = [v for v in values if isinstance(v.type, Scalar)]
            tables = [v for v in self.hidden if isinstance(v.type, Table)]
            pulled = iter(_pulled(e, inner, record, seeds, list(accumulators.values()), numbers, tables))
            return [accumulators[i] if i in accumulators else next(pulled) for i in range(len(values))]

        if not rule.states:
            return out, transposed(e)
        return out, _if_returned(e, out[self.width], transposed, lambda e: [_zero(e, v) for v in values])

    # ---------------------------------------------------------------------------------------------------- reverse

    def split(self, names: SplitCall) -> tuple[Function, Function]:
        e, body = self.e, self.function.body
        followed = [i for i in self.active_inputs() if self.tracked(i)]
        mirrors = [Value(body.params[i].type, f"s{body.params[i].name}") for i in followed]
        e.block.params += mirrors
        out, kept = self.by_jvp() if self.rule.backward is None else self.by_forward()
        returned = [i for i in self.active_outputs() if self.tracked_result(i)]
        made = [coerce(e, self.zero(out[i]), body.results[i].type) for i in returned]
        # The record: what the rule keeps, what it reads from outside, and shadows that the forward half has.
        parts = (kept, [self.private(v) for v in self.hidden if not isinstance(v.type, Table)], mirrors, made)
        record = [v for part in parts for v in part]
        layout = tuple(v.type for v in record if v.type is not None)
        self.derivations.program.layouts[names.box] = [layout]
        results = [coerce(e, v, w.type) for v, w in zip(out, body.results, strict=True)]
        e.block.results = [*results, *made, make_record(e, names.box, 0, record)]
        augmented = Function(names.augmented, e.block, self.function.span)
        return augmented, _Pull(self, names, layout, [len(part) for part in parts]).function(followed, returned)

    def by_forward(self) -> tuple[list[Value], list[Value]]:
        """The value, and what `backward` needs: what is kept, sizes of results without a cotangent, the state."""
        assert self.rule.forward is not None
        found = self.called(self.rule.forward, self.declared)
        out, kept = self.parts(found)
        kept = [self.private(v) for v in kept]
        unused = [out[i] for i in self.rule.outputs if not self.mask.results[i]]
        kept += [size for v in unused if isinstance(v.type, ArrayRef) for size in array_sizes(self.e, v)]
        return out, [*kept, *out[self.width : self.width + 1]]

    def private(self, value: Value) -> Value:
        """What is kept, or a copy of an array that the caller may write before the reverse half runs."""
        if not isinstance(value.type, ArrayRef) or not self.mask.unsettled:
            return value
        return coerce(self.e, copy_array(self.e, value), value.type)

    def by_jvp(self) -> tuple[list[Value], list[Value]]:
        """The value, and the record of the reverse mode of `jvp`."""
        assert self.rule.jvp is not None
        tangents = [self.zero(self.params[i]) for i in self.rule.inputs]
        *found, record = self.called(self.rule.jvp, [*self.declared, *tangents], self.linear())
        return self.parts(found)[0], [record]

    def linear(self) -> SplitCall:
        """Both halves of `jvp` where only the tangents are active; what memory changes is as for the function."""
        rule, mask = self.rule, self.mask
        assert rule.jvp is not None
        callee, width = self.body_of(rule.jvp), self.width
        params = [rule.declared + k for k, i in enumerate(rule.inputs) if self.mask.params[i]]
        results = [width + k for k, i in enumerate(rule.outputs) if self.mask.results[i]]
        count, more = len(self.params), len(callee.params) - len(self.params)

        def place(i: int) -> int:
            return i if i < rule.declared else i + more

        return self.derivations.split(rule.jvp, replace(
            _mask(callee, params, results),
            unsettled=frozenset(place(i) for i in mask.unsettled if i < count + width),
            rewritten=frozenset((place(i), column) for i, column in mask.rewritten),
        ))  # fmt: skip


class _Pull:
    """The reverse half: it is given the record, cotangents, accumulators and the tables, in this order."""

    def __init__(self, ruled: _Ruled, names: SplitCall, layout: Sequence[Machine], widths: Sequence[int]) -> None:
        self.ruled, self.rule, self.names = ruled, ruled.rule, names
        record = Value(Box(names.box), "record")
        self.e = Emitter(Block([record]), ruled.function.span)
        opened = iter(open_record(self.e, record, 0, layout) if layout else ())
        self.kept, hidden, self.mirrors, self.made = ([next(opened) for _ in range(width)] for width in widths)
        self.tables = [Value(v.type, v.name) for v in ruled.hidden if isinstance(v.type, Table)]
        left, tables = iter(hidden), iter(self.tables)
        self.hidden = [next(tables) if isinstance(v.type, Table) else next(left) for v in ruled.hidden]

    def function(self, followed: Sequence[int], returned: Sequence[int]) -> Function:
        """`followed` inputs and `returned` outputs have shadows from the forward half."""
        body, ruled, params = self.ruled.function.body, self.ruled, self.e.block.params
        cotangents: dict[int, Value] = {i: Value(body.results[i].type, "c") for i in ruled.active_outputs()}
        params += [v for v in cotangents.values() if isinstance(v.type, Scalar)]
        params += [v for i, v in cotangents.items() if isinstance(v.type, ArrayRef) and i not in returned]
        cotangents.update(zip(returned, self.made, strict=True))
        accumulators = {i: Value(body.params[i].type, "s") for i in ruled.active_inputs()}
        accumulators = {i: v for i, v in accumulators.items() if isinstance(v.type, ArrayRef)}
        params += [v for i, v in accumulators.items() if i not in followed]
        params += self.tables
        accumulators.update(zip(followed, self.mirrors, strict=True))
        if self.rule.backward is None:
            self.by_jvp(cotangents, accumulators, set(returned))
        else:
            self.by_backward(cotangents, accumulators)
        return Function(self.names.pull, self.e.block, ruled.function.span)

    def by_backward(self, cotangents: Mapping[int, Value], accumulators: Mapping[int, Value]) -> None:
        rule, e, body = self.rule, self.e, self.ruled.function.body
        assert rule.backward is not None
        callee = self.ruled.body_of(rule.backward)
        count = len(callee.params) - len(rule.outputs) - len(self.hidden)
        kept, sizes = self.kept[:count], iter(self.kept[count:])
        given: list[Value] = []
        for i in rule.outputs:
            type_ = body.results[i].type
            if i in cotangents:
                given.append(cotangents[i])
            elif isinstance(type_, ArrayRef):
                given.append(zero_array(e, type_, [next(sizes) for _ in range(type_.rank)]))
            else:
                given.append(scalar_zero(e, type_))
        operands = [coerce(e, v, p.type) for v, p in zip([*kept, *given, *self.hidden], callee.params, strict=True)]
        numbers = [body.params[i] for i in self.ruled.active_inputs() if i not in accumulators]

        def added(e: Emitter) -> list[Value]:
            return self.added(e, operands, accumulators)

        if rule.states:  # where the function has raised nothing was kept
            e.block.results = _if_returned(e, self.kept[-1], added, lambda e: [_zero(e, v) for v in numbers])
        else:
            e.block.results = added(e)

    def added(self, e: Emitter, operands: Sequence[Value], accumulators: Mapping[int, Value]) -> list[Value]:
        """Call `backward`: cotangents of arrays are added to their accumulators, those of active numbers returned."""
        assert self.rule.backward is not None
        found = _call(e, self.rule.backward, operands, self.ruled.body_of(self.rule.backward).results)
        numbers: list[Value] = []
        for i, part in zip(self.rule.inputs, found, strict=True):
            if i in accumulators:
                add_into(e, accumulators[i], part)
            elif self.ruled.mask.params[i]:
                numbers.append(part)
        return numbers

    def by_jvp(
        self, cotangents: Mapping[int, Value], accumulators: Mapping[int, Value], shared: Collection[int]
    ) -> None:
        e, rule, body = self.e, self.rule, self.ruled.function.body
        assert rule.jvp is not None
        callee = self.ruled.body_of(rule.jvp)
        tangents = dict(zip(rule.inputs, callee.params[rule.declared :], strict=False))
        results = dict(zip(rule.outputs, callee.results[self.ruled.width :], strict=False))
        own = [
            coerce(e, copy_array(e, v) if i in shared and isinstance(v.type, ArrayRef) else v, results[i].type)
            for i, v in cotangents.items()
        ]
        # Tangents of arrays with strides are contiguous, and so are their accumulators.
        given = {i: v if v.type == tangents[i].type else _zero(e, v) for i, v in accumulators.items()}
        numbers = [body.params[i] for i in self.ruled.active_inputs() if i not in accumulators]
        e.block.results = _pulled(e, self.ruled.linear(), self.kept[0], own, list(given.values()), numbers, self.tables)
        for i, made in given.items():
            if made is not accumulators[i]:
                add_into(e, accumulators[i], made)


def _mask(callee: Block, params: Collection[int], results: Collection[int]) -> Mask:
    return Mask(
        tuple(i in params for i in range(len(callee.params))), tuple(i in results for i in range(len(callee.results)))
    )


def _pulled(
    e: Emitter, halves: SplitCall, record: Value, cotangents: Sequence[Value], accumulators: Sequence[Value],
    numbers: Sequence[Value], tables: Sequence[Value],
) -> list[Value]:  # fmt: skip
    """The cotangents of numbers by a reverse half; those of arrays it adds to their accumulators."""
    scalars = [v for v in cotangents if isinstance(v.type, Scalar)]
    arrays = [v for v in cotangents if isinstance(v.type, ArrayRef)]
    return _call(e, halves.pull, [record, *scalars, *arrays, *accumulators, *tables], numbers)


def _if_returned(
    e: Emitter, state: Value, then: Callable[[Emitter], list[Value]], other: Callable[[Emitter], list[Value]]
) -> list[Value]:
    """What `then` emits where the function has returned, else what `other` does."""
    condition = e("eq", state, e.integer(0))
    blocks: list[Block] = []
    for make in (then, other):
        inner = Emitter(Block(), e.span)
        inner.block.results = make(inner)
        blocks.append(inner.block)
    types = [v.type for v in blocks[0].results if v.type is not None]
    return e.append(get("if"), [condition], blocks=blocks, types=types).results


def _zero(e: Emitter, value: Value) -> Value:
    """A tangent or cotangent of zeros for a value."""
    if isinstance(value.type, ArrayRef):
        return zero_array(e, value.type, array_sizes(e, value))
    return scalar_zero(e, value.type)


def tangent(derivations: Derivations, function: Function, mask: Mask, name: str) -> Function:
    """As `forward.tangent_function`, of a function with a rule."""
    return _Ruled(derivations, function, mask).tangent(name)


def split(derivations: Derivations, function: Function, mask: Mask, names: SplitCall) -> tuple[Function, Function]:
    """As `derive.split`, of a function with a rule."""
    return _Ruled(derivations, function, mask).split(names)
