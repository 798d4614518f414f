"""J: every function returns its value and a backpropagator, a closure that takes sensitivities back (as in Myia).

    def f(x):                   def f(x):
        y = x * x         ->        y, b1 = with_back(*)(x, x)              b1 knows x and what it needs of it
        return sin(y)               v, b2 = with_back(call)(sin, y)
                                    def back(d):                            captures b1 and b2
                                        _, dy = b2(d)
                                        dx1, dx2 = b1(dy)
                                        return environment(), sum(dx1, dx2)
                                    return v, back

It works on untyped IR, before inference, and what it makes is untyped IR of the same kind: inference specialises it,
passes inline it, and applied to its own output it gives the next order.  A branch yields its backpropagator beside its
values, so an `if` merges closures.  A loop carries the chain of the backpropagators of its trips, and a loop backwards
opens the links one by one.  The sensitivity of a function is the environment of the sensitivities of what it captured.
What is stored in heaps has its sensitivity in their twins (`stored`), what arrays hold, where a program writes to them,
in their shadows (`arrays`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pullback.ad.arrays import TREES, on_arrays, rule_on_arrays
from pullback.ad.backpropagator import Back, Step
from pullback.ad.carried import CARRIED
from pullback.ad.chains import repeated, stepped
from pullback.ad.grouped import grouped, statement
from pullback.ad.rules import BackRule, PrimGuards, back_of_prim
from pullback.ad.stored import sought, stored, twins
from pullback.diagnostic import CompileError, Diagnostic
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Op, Value
from pullback.ir.walk import clone_ops, free_values, substitute
from pullback.prims.base import get
from pullback.types import Array, Closure, Dict, Iterator, List, Number, Transformed, Tuple, Union

__all__ = ["backpropagating"]


# Ops whose results have no sensitivity: constants, truths, indices, and what only checks.
_INERT = frozenset({
    "py.const", "py.global", "py.builtin", "py.import", "py.unbound", "py.truth", "py.compare", "py.slice", "py.raise",
    "py.assert", "py.fstring", "py.is_sequence", "py.is_mapping", "py.zero", "py.seed", "py.is_environment",
    "py.function_of", "py.arity", "py.shadow", "py.shadowed", "py.shadows", "py.bare", "py.fresh", "py.is_context",
    "py.noted",
})  # fmt: skip
# Ops whose meaning, and so whose backpropagator, inference knows from the types of their operands.
_BY_TYPE = frozenset({
    "py.call", "py.binary", "py.unary", "py.inplace", "py.attribute", "py.subscript", "py.unpack", "py.back_of",
    "py.apply", "py.list", "py.dict", "py.dict_of", "py.set", "py.sequence_star", "py.dict_star", "py.unpack_star",
    "py.append", "py.add", "py.setitem", "py.inplace_item", "py.delitem", "py.setattr", "py.delattr", "py.cell",
    "py.cell_get", "py.cell_set", "py.match_position", "py.match_rest", "py.push", "py.copied", "py.call_star",
    "py.delegate", "py.entered", "py.global_set",
})  # fmt: skip


def backpropagating(function: Function) -> Function:
    """The function that returns (value, backpropagator); a backpropagator returns (environment, sensitivities...)."""
    return _Transformer(function).run()


class _Transformer:
    """One function of the source; `values` maps its values to those of the new one."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.root = function.attrs.get("root", function)
        self.values: dict[Value, Value] = {}
        self.inert: set[Value] = set()
        self.guards = PrimGuards(function.body)
        captures = function.attrs.get("captures", ())
        parameters = function.attrs["parameters"]
        assert isinstance(captures, tuple) and isinstance(parameters, tuple)
        defaults = sum(has_default for _, _, has_default in parameters)
        # What the running closure holds: captured values, and defaults of which only their sensitivity has a name.
        self.own = [*function.body.params[: len(captures)], *(Value() for _ in range(defaults))]
        self.count = len(captures)

    def run(self) -> Function:
        source = self.function.body
        self.builder = Builder(Block(), self.function.span)
        params = source.params

        def finish(back: Back) -> list[Value]:
            own = [back.take(v) for v in self.own]
            shares = [back.take(v) for v in params[self.count :]]
            if isinstance(grouped := self.function.attrs.get("grouped"), tuple):
                count, of = grouped
                return [back.one("environment", shares[:count], of=of), *shares[count:]]
            bare = self.function.attrs.get("bare")
            return shares if bare else [back.one("environment", own, of=self.root), *shares]

        block = self.region(source, params, finish)
        builder = Builder(block, self.function.span)
        block.results = [builder.append_untyped(get("py.tuple"), block.results).result]
        attrs = {**self.function.attrs, "root": self.root, "derivative": True}
        return Function(self.function.name, block, self.function.span, attrs)

    def refused(self, what: str, op: Op | None) -> CompileError:
        span = op.span if op is not None else self.function.span
        title = f"{what} has no backpropagator in the formulation by closures"
        help = "differentiate it in the default formulation"
        return CompileError(Diagnostic(title, span, "this cannot be differentiated by closures", help))

    # ------------------------------------------------------------------------------------------------- blocks

    def region(self, source: Block, params: Sequence[Value], finish: Callable[[Back], list[Value]],
               *, outputs: int = 0) -> Block:  # fmt: skip
        """The block with its backpropagator as a further result; `outputs`: the first result that has sensitivities."""
        outer, self.builder = self.builder, Builder(Block(), self.builder.span)
        for param in params:
            self.values[param] = Value(None, param.name)
        self.builder.block.params = [self.values[param] for param in params]
        steps = [step for op in grouped(source) if (step := self.op(op)) is not None]
        back = self.backpropagator(source.results[outputs:], steps, finish)
        block = self.builder.block
        block.results = [*(self.values[v] for v in source.results), back]
        self.builder = outer
        return block

    def backpropagator(
        self, outputs: Sequence[Value], steps: Sequence[Step], finish: Callable[[Back], list[Value]]
    ) -> Value:
        """A closure that runs the steps backwards, from the sensitivity of the outputs (a tuple unless it is one)."""
        given, back = Value(None, "d"), Back(self.inert)
        back.builder.span = self.builder.span
        for index, output in enumerate(outputs):
            back.give(output, given if len(outputs) == 1 else back.one("part", [given], index=index))
        for step in reversed(steps):
            step(back)
        block = back.builder.block
        block.results = [back.one("tuple", finish(back))]
        captured = [v for v in free_values(block) if v is not given]
        inner = {v: Value(None, v.name) for v in captured}
        substitute(block, inner)
        block.params = [*inner.values(), given]
        attrs: dict[str, object] = {
            "python_name": "back", "captures": tuple(v.name for v in captured),
            "parameters": (("d", "positional", False),), "self_name": None, "derivative": True,
        }  # fmt: skip
        function = Function(f"{self.function.name}_back", block, self.function.span, attrs)
        return self.emit("closure", captured, function=function)[0]

    def emit(self, name: str, operands: Sequence[Value] = (), results: int = 1, /, **attrs: object) -> list[Value]:
        return self.builder.append_untyped(get(f"py.{name}"), operands, attrs=attrs, results=results).results[:]

    def op(self, op: Op) -> Step | None:
        """Emit what the op becomes; what its backpropagator does."""
        self.builder.span = op.span
        if op.name in _INERT and not op.attrs.get("assigned"):
            self.copy(op)
            self.inert.update(op.results)
            return None
        if op.name in _BY_TYPE or op.attrs.get("assigned"):  # a global that the program assigns
            return self.with_back(op, op.name, dict(op.attrs), 1, len(op.results))
        rule = _RULES.get(op.name)
        if rule is None:
            raise self.refused(f"`{op.name.removeprefix('py.')}`", op)
        step = rule(self, op)
        always = op.name in _ACTING or "memory" in op.attrs or (op.name == "py.prim" and on_arrays(op))
        return None if step is None else _at(op, step, always=always)

    def copy(self, op: Op) -> Op:
        (copied,) = clone_ops([op], self.values)
        self.builder.block.ops.append(copied)
        return copied

    def mapped(self, values: Iterable[Value]) -> list[Value]:
        return [self.values[v] for v in values]

    def bind(self, op: Op, results: Sequence[Value]) -> None:
        for old, new in zip(op.results, results, strict=True):
            new.name = old.name
            self.values[old] = new

    # -------------------------------------------------------------------------------------------------- rules

    def with_back(self, op: Op, operation: str, attributes: object, order: int, count: int) -> Step:
        found = self.emit("with_back", self.mapped(op.operands), len(op.results) + 1, operation=operation,
                          attributes=attributes, order=order)  # fmt: skip
        *results, back = found
        self.bind(op, results)
        return _at(op, lambda b: b.call(back, b.of_outputs(op.results, count), op.operands), always=True)

    def again(self, op: Op) -> Step:
        """An op with backpropagators gets one more, of one order higher."""
        order = op.attrs["order"]
        assert isinstance(order, int)
        count = len(op.results) - order
        return self.with_back(op, str(op.attrs["operation"]), op.attrs["attributes"], order + 1, count)

    def prim(self, op: Op) -> Step | None:
        if "memory" in op.attrs:
            return stored(self, op)
        if op.attrs["name"] == "hidden":  # from outside: constant
            self.copy(op)
            self.inert.update(op.results)
            return None
        if on_arrays(op):
            return rule_on_arrays(self, op)
        self.copy(op)
        rule = back_of_prim(op, finite=self.guards.finite(op))
        if rule is None:
            self.inert.update(op.results)
            return None
        values = [*self.mapped(op.operands), *self.mapped(op.results)]
        made: BackRule = rule

        def step(back: Back) -> None:
            for index, part in made(back.builder, values, back.take(op.results[0])):
                back.give(op.operands[index], part)

        return step

    def structure(self, op: Op) -> Step:
        self.copy(op)

        def step(back: Back) -> None:
            whole = back.take(op.results[0])
            for index, operand in enumerate(op.operands):
                back.give(operand, back.one("part", [whole], index=index))

        return step

    def tuple(self, op: Op) -> Step:
        """A tuple; one that is a row of a heap is made as what changes is."""
        if op.attrs.get("row"):
            return self.with_back(op, op.name, dict(op.attrs), 1, 1)
        return self.structure(op)

    def as_made(self, op: Op) -> Step:
        """A list or dict, given as it was made, and the items that it was made of."""
        self.copy(op)

        def step(back: Back) -> None:
            whole = back.take(op.results[0])
            places = op.attrs["places"]
            assert isinstance(places, tuple)
            for place, operand in zip(places, op.operands[:-1], strict=True):
                if place is not None:
                    back.give(operand, back.one("part", [whole], index=place))

        return step

    def part(self, op: Op) -> Step:
        self.copy(op)
        index = op.attrs["index"]
        (count,) = self.emit("arity", self.mapped(op.operands))

        def step(back: Back) -> None:
            back.give(op.operands[0], back.one("injected", [back.take(op.results[0]), count], index=index))

        return step

    def injected(self, op: Op) -> Step:
        self.copy(op)
        index = op.attrs["index"]

        def step(back: Back) -> None:
            back.give(op.operands[0], back.one("part", [back.take(op.results[0])], index=index))

        return step

    def same(self, op: Op) -> Step:
        """The op passes the sensitivity of its result on to its first operand."""
        self.copy(op)
        return lambda back: back.give(op.operands[0], back.take(op.results[0]))

    def sum(self, op: Op) -> Step:
        self.copy(op)

        def step(back: Back) -> None:
            whole = back.take(op.results[0])
            for operand in op.operands:
                back.give(operand, whole)

        return step

    def made(self, op: Op) -> Step:
        """A closure or an environment: open its sensitivity."""
        self.copy(op)
        function = op.attrs.get("function")
        if isinstance(function, Function):
            of = function.attrs.get("root", function)
        else:
            of = op.attrs["of"] if op.name == "py.derived" else _sensitivity_of(op.attrs["of"])

        def step(back: Back) -> None:
            items = back.emit("opened", [back.take(op.results[0])], len(op.operands), of=of)
            for operand, item in zip(op.operands, items, strict=True):
                back.give(operand, item)

        return step

    def captured(self, op: Op) -> Step:
        """One of the values that a function captured: of its sensitivity, one item."""
        self.copy(op)
        index, count = op.attrs["index"], op.attrs["count"]
        assert isinstance(count, int)

        def step(back: Back) -> None:
            found = back.take(op.results[0])
            items = [found if i == index else back.one("zero") for i in range(count)]
            back.give(op.operands[0], back.one("environment", items, of=op.attrs["of"]))

        return step

    def opened(self, op: Op) -> Step:
        self.copy(op)
        of = _sensitivity_of(op.attrs["of"])

        def step(back: Back) -> None:
            back.give(op.operands[0], back.one("environment", [back.take(r) for r in op.results], of=of))

        return step

    def running(self, op: Op) -> Step:
        """py.self: the sensitivity of the running closure is one of what it captured."""
        self.copy(op)

        def step(back: Back) -> None:
            items = back.emit("opened", [back.take(op.results[0])], len(self.own), of=self.root)
            for value, item in zip(self.own, items, strict=True):
                back.give(value, item)

        return step

    def flat(self, op: Op) -> Step:
        """Machine values of a value, or sensitivities of them: the other way for sensitivities."""
        self.copy(op)
        attrs, value = {"type": op.attrs["type"], "level": _next_level(op)}, self.told(op, op.operands[0])

        def step(back: Back) -> None:
            parts = back.take(op.results[0])
            back.give(op.operands[0], back.one("regrouped_sensitivity", [parts, *value], **attrs))

        return step

    def regrouped(self, op: Op) -> Step:
        self.copy(op)
        attrs, value = {"type": op.attrs["type"], "level": _next_level(op)}, self.told(op, op.results[0])

        def step(back: Back) -> None:
            parts = back.one("flat_sensitivity", [back.take(op.results[0]), *value], **attrs)
            if op.name == "py.regrouped_sensitivity":
                back.give(op.operands[0], parts)
                return
            for index, operand in enumerate(op.operands):
                back.give(operand, back.one("part", [parts], index=index))

        return step

    def told(self, op: Op, value: Value) -> list[Value]:
        """The value by whose kind sensitivities are told apart: where it may be of several, they are not alike."""
        if op.name in ("py.flat_sensitivity", "py.regrouped_sensitivity"):
            return self.mapped(op.operands[1:])
        return [self.values[value]] if _chosen(op.attrs["type"]) else []

    # --------------------------------------------------------------------------------------------------- control

    def free(self, *blocks: Block) -> list[Value]:
        """What blocks use of values outside, and what the closure holds where they mention it."""
        found = {v: None for block in blocks for v in free_values(block) if v not in self.inert}
        if any(op.name == "py.self" for block in blocks for op in block.walk()):
            found |= dict.fromkeys(self.own)
        return list(found)

    def conditional(self, op: Op) -> Step:
        free = self.free(*op.blocks)
        blocks = [self.region(block, (), lambda back: [back.take(v) for v in free]) for block in op.blocks]
        made = self.builder.append_untyped(get("if"), self.mapped(op.operands), blocks=blocks,
                                           results=len(op.results) + 1)  # fmt: skip
        *results, back = made.results
        self.bind(op, results)

        def step(b: Back) -> None:
            parts = b.one("call", [back, b.of_results(op.results)], keywords=())
            for index, value in enumerate(free):
                b.give(value, self.filled(b, b.one("part", [parts], index=index), value))

        return step

    def filled(self, back: Back, sensitivity: Value, value: Value) -> Value:
        """With zeros in the shape of the value where the sensitivity is merged with others."""
        known = self.values.get(value)
        return sensitivity if known is None else back.one("filled", [sensitivity, known])


def _at(op: Op, step: Step, *, always: bool = False) -> Step:
    """The step with the op's place for what it emits; nothing where no result has a sensitivity.

    always: what the op changes may have one.
    """

    def placed(back: Back) -> None:
        if always or any(v in back.known for v in op.results):
            back.builder.span = op.span
            step(back)

    return placed


def _chosen(type_: object) -> bool:
    """Is the type a union of more than numbers and arrays, or made of such."""
    match type_:
        case Union(items):
            return not all(isinstance(item, Number | Array) for item in items)
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items) | Closure(_, items, _):
            return any(map(_chosen, items))
        case Transformed(_, function, _):
            return _chosen(function)
    return False


def _next_level(op: Op) -> int:
    """Of values, of their sensitivities, of the sensitivities of those."""
    level = op.attrs.get("level")
    return level + 1 if isinstance(level, int) else 0


def _sensitivity_of(of: object) -> object:
    """What tells environments of the sensitivities of an environment from others."""
    return ("sensitivity", of)


# What may change memory, so that its backpropagator runs even where no result has a sensitivity.
_ACTING = frozenset({"if", "py.while", "py.for", "py.with_back", "py.twins", "py.statement", *TREES, *CARRIED})
_Rule = Callable[[_Transformer, Op], Step | None]
_RULES: dict[str, _Rule] = {
    "if": _Transformer.conditional, "py.while": repeated, "py.for": stepped,
    "py.with_back": _Transformer.again, "py.prim": _Transformer.prim, "py.tuple": _Transformer.tuple,
    "py.statement": statement, "py.as_made": _Transformer.as_made, "py.twins": twins, "py.sought": sought,
    "py.closure": _Transformer.made,
    "py.environment": _Transformer.made, "py.opened": _Transformer.opened, "py.self": _Transformer.running,
    "py.part": _Transformer.part, "py.injected": _Transformer.injected, "py.sum": _Transformer.sum,
    "py.check_bound": _Transformer.same, "py.filled": _Transformer.same, "py.gradient_like": _Transformer.same,
    "py.cotangent": _Transformer.same, "py.derived": _Transformer.made, "py.captured": _Transformer.captured,
    "py.kept": _Transformer.same,
    "py.flat": _Transformer.flat, "py.regrouped": _Transformer.regrouped,
    "py.flat_sensitivity": _Transformer.flat, "py.regrouped_sensitivity": _Transformer.regrouped,
    "py.primal": _Transformer.same, "py.numbers": _Transformer.same, "py.pushed": _Transformer.same, **TREES, **CARRIED,
}  # fmt: skip
