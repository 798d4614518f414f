"""J of statements that it cannot take op by op: they are typed first, made plain control flow, and lifted.

    try: x = f(y)                        typed ops, in them try{...}       (inference)
    except E: x = y             ->       flags, if, while, f__caught       (`passes.catch`, given by the pipeline)
                                         ops of untyped IR again           (`Lifted`, and the functions that are called)

What an exception leaves undone is then known to every op: a function that raises in the middle has a version that says
so.  The operands of such an op are the values from around that the statement reads, its results those read later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pullback.infer.engine import Branch, Code, Frame
from pullback.infer.lifted import Lifted
from pullback.infer.made import function
from pullback.infer.sensitivities import sensitive
from pullback.infer.shadowed import stripped
from pullback.infer.sites import ShadowsWanted
from pullback.infer.stored import keeps_floats
from pullback.infer.values import AV
from pullback.ir.build import Builder
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.show import show_function
from pullback.ir.walk import clone_function, free_values
from pullback.prims.base import NOT_DIFFERENTIABLE, Prim, get
from pullback.types import ArrayRef, Box, Never, Table, is_float

__all__ = ["statement", "statement_code"]

_HELP = "differentiate it in the default formulation"


def statement(cx: Frame, op: Op, operands: Sequence[AV]) -> list[AV]:
    """py.statement itself: its ops with the operands in the place of what they read."""
    free, own = op.attrs["free"], op.attrs["itself"]
    assert isinstance(free, tuple)
    return _run(cx, op, dict(zip(free, operands, strict=False)), operands[-1] if own else None)


def _run(cx: Frame, op: Op, given: Mapping[Value, AV], itself: AV | None) -> list[AV]:
    ops, outs = op.attrs["ops"], op.attrs["outs"]
    assert isinstance(ops, tuple) and isinstance(outs, tuple)
    cx.env.update(given)
    with _in_primal(cx, itself):
        for inner in ops:
            cx.e.span = cx.seen_at or inner.span
            cx.infer_op(inner)
            if cx.dead:
                return [AV(Never()) for _ in outs]
    return [cx.env[v] for v in outs]


@contextmanager
def _in_primal(cx: Frame, itself: AV | None) -> Iterator[None]:
    """The ops are those of the function itself, not of its version with a backpropagator."""
    code, own = cx.code, cx.self_av
    cx.code, cx.self_av = code.primal or code, itself or own
    try:
        yield
    finally:
        cx.code, cx.self_av = code, own


def statement_code(cx: Frame, op: Op, operands: Sequence[AV], order: int) -> Code | Branch:
    """A function of what the statement reads; or its ops as they are, where nothing in it has a sensitivity."""
    below = [stripped(av, order) for av in operands]
    params = [AV(av.type, cx.fresh(av.type).values, av.literal) for av in below]
    trial = cx.branch(lambda: statement(cx, op, params))
    if trial.dead:
        return cx.branch(lambda: statement(cx, op, below))
    if not keeps_floats(cx, trial) and not any(sensitive(av.type) for av in trial.results):
        if not any("write" in inner.prim.effects for inner in trial.block.walk()):
            return cx.branch(lambda: statement(cx, op, below))
    program = _program(cx, trial, params)
    types = tuple(av.type for av in (*params, *trial.results))
    texts = tuple(show_function(f, source=False) for f in program.functions.values())
    key = ("statement", op, cx.session.shadowed, types, texts)  # one kind of function for one kind of code
    if key not in cx.session.codes:
        assert cx.session.backward is not None
        cx.session.backward.plain(program)
        cx.session.codes[key] = _Statement(cx, program, params, trial).code()
    return cx.session.codes[key]


def _program(cx: Frame, trial: Branch, params: Sequence[AV]) -> Program:
    """The statement as a typed function, and copies of those that it calls."""
    given = [v for av in params for v in av.values]
    results = [v for av in trial.results for v in av.values]
    body = Block(given, trial.block.ops, results)
    tables = [v for v in free_values(body) if isinstance(v.type, Table)]
    body.ops = [*(Op(get("hidden"), (), [v], {"key": ("table", v.type.name)}) for v in tables), *body.ops]  # type: ignore[union-attr]
    main = Function("statement", body, cx.span)
    known = {spec.name: spec.function for spec in cx.session.order}
    found, waiting = {main.name: clone_function(main)}, [main]
    while waiting:
        for op in waiting.pop().body.walk():
            if "callee" not in op.attrs or (name := str(op.attrs["callee"])) in found:
                continue
            callee = known.get(name)
            if callee is None:
                raise _refused(cx, "calls the function that it stands in")
            found[name] = clone_function(callee)
            waiting.append(callee)
    layouts = {str(heap): [heap.columns] for heap in cx.session.heaps.values()}
    return Program(found, main.name, layouts)


def _refused(cx: Frame, why: str) -> Exception:
    return cx.error(f"an exception handler that {why} has no backpropagator in the formulation by closures",
                    "this cannot be differentiated by closures", _HELP)  # fmt: skip


class _Statement(Lifted):
    """Lifts the typed function of a statement and all that it calls."""

    def __init__(self, cx: Frame, program: Program, params: Sequence[AV], trial: Branch) -> None:
        self.program, self.codes = program, dict[str, Code]()
        main = program.functions[program.entry]
        fresh = cx.split([av.type for av in params], main.body.params)
        results = cx.split([av.type for av in trial.results], main.body.results)
        super().__init__(cx, "statement", fresh, Branch(main.body, results, False, trial.emitter))

    def code(self) -> Code:
        made = self.function()
        if made is None:
            odd = next(op for op in self.used() if not self.simple(op))
            raise _refused(self.cx, f"holds `{self._culprit(odd)}`")
        return Code(made, {})

    def _culprit(self, op: Op) -> str:
        for inner in (inner for block in op.blocks for inner in block.ops):
            if not self.simple(inner):
                return self._culprit(inner)
        return str(op.attrs.get("callee", op.name))

    def simple(self, op: Op) -> bool:
        machines = [v.type for v in (*op.operands, *op.results)]
        if any(isinstance(t, ArrayRef) for t in machines) and not self.cx.session.shadowed:
            raise ShadowsWanted(overwrites=False)
        if any(isinstance(t, Box) for t in machines):
            return False
        if op.name in ("for", "while", "if"):
            return all(self.simple(inner) for block in op.blocks for inner in block.ops)
        if op.name == "call":
            return self.liftable(str(op.attrs["callee"]))
        if op.name == "hidden":
            return True
        prim = op.prim
        inert = isinstance(prim, Prim) and prim.derivative == NOT_DIFFERENTIABLE
        return super().simple(op) or (inert and not any(t is not None and is_float(t) for t in machines))

    def liftable(self, name: str) -> bool:
        """Can a function that is called be lifted; of those that call one another, if the others can."""
        if name not in self.codes:
            self.codes[name] = Code(Function(name, Block()), {})
            callee = self.program.functions[name]
            values = [*callee.body.params, *callee.body.results]
            plain = not any(isinstance(v.type, Box | Table) for v in values)
            if not plain or not all(self.simple(op) for op in callee.body.ops):
                return False
            self.codes[name].untyped = self.lifted(callee)
        return True

    def lifted(self, callee: Function) -> Function:
        """A typed function, of one operand for each machine value."""
        params = [Value(None, v.name) for v in callee.body.params]
        builder = Builder(Block(params), callee.span)
        outer, self.values = self.values, dict(zip(callee.body.params, params, strict=True))
        self.ops(builder, callee.body.ops)
        results = [self.values[v] for v in callee.body.results]
        self.values = outer
        if len(results) != 1:
            results = builder.append_untyped(get("py.tuple"), results).results
        return function(callee.name, params, builder, results)

    def ops(self, builder: Builder, ops: Sequence[Op]) -> None:
        for op in ops:
            builder.span = op.span if op.span.line else builder.span
            if op.name == "hidden" and isinstance(op.result.type, Table):
                continue
            rule = {"for": self.stepped, "while": self.repeated}.get(op.name)
            if rule is not None:
                rule(builder, op)
            else:
                super().ops(builder, [op])

    def inside(self, block: Block, params: Sequence[Value], span: Op) -> Block:
        nested = Builder(Block(params), span.span)
        self.values.update(zip(block.params, params, strict=True))
        self.ops(nested, block.ops)
        nested.block.results = [self.values[v] for v in block.results]
        return nested.block

    def stepped(self, builder: Builder, op: Op) -> None:
        """for n, x...      ->      py.for over range(n)"""
        count, *start = (self.values[v] for v in op.operands)
        made = builder.append_untyped(get("py.builtin"), (), attrs={"name": "builtins.range"}).result
        subject = builder.append_untyped(get("py.call"), [made, count], attrs={"keywords": ()}).result
        (body,) = op.blocks
        block = self.inside(body, [Value(None, v.name) for v in body.params], op)
        attrs: dict[str, object] = {"breaks": False}
        loop = builder.append_untyped(get("py.for"), [subject, *start], attrs=attrs, blocks=[block],
                                      results=len(op.results))  # fmt: skip
        self.values.update(zip(op.results, loop.results, strict=True))

    def repeated(self, builder: Builder, op: Op) -> None:
        test, body = (self.inside(block, [Value(None, v.name) for v in block.params], op) for block in op.blocks)
        asked = Builder(test, op.span).append_untyped(get("py.truth"), test.results)
        test.results = [asked.result]
        start = [self.values[v] for v in op.operands]
        loop = builder.append_untyped(get("py.while"), start, blocks=[test, body], results=len(op.results))
        self.values.update(zip(op.results, loop.results, strict=True))

    def call(self, builder: Builder, op: Op) -> None:
        code = self.codes[str(op.attrs["callee"])]
        operands = [self.values[v] for v in op.operands]
        whole = builder.append_untyped(get("py.apply"), operands, attrs={"code": code}).result
        if len(op.results) == 1:
            self.values[op.result] = whole
            return
        for index, value in enumerate(op.results):
            self.values[value] = builder.append_untyped(get("py.part"), [whole], attrs={"index": index}).result
