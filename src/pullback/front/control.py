"""Loops: the variables they carry, and jumps out of them as flags.

    while x < n:                       x = py.while(x, True)
        if x == 7: break       ->        cond (x, go): if(go) {truth(x < n)} {False}     not evaluated after a break
        x += 1                           body (x, go): ... yield x, go

A loop carries the names that it assigns and that are live at its head or after it, then the flags it needs: `go` (a
`while` with jumps; a `for` whose `else` depends on it), `returned`, and the return value.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pullback.front.flow import breaks, endless, returns
from pullback.front.scope import own_nodes, stores_in
from pullback.front.state import RETURN, Binding, Branch, State
from pullback.front.statements import Statements
from pullback.ir.node import Block, Op, Value

__all__ = ["Control"]


class Control(Statements):
    """The part of the walk that lowers loops."""

    def loop(self, s: ast.For | ast.While) -> tuple[bool | Value, bool | Value]:
        frame = _Frame(s, self.carried(s))
        iterable = self.expression(s.iter) if isinstance(s, ast.For) else None
        inits = [self.raw(name) for name in frame.names]
        deleted = {n.id for n in own_nodes(s.body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Del)}
        entry = {n: maybe or n in deleted for n, (_, maybe) in zip(frame.names, inits, strict=True)}
        values = [value for value, _ in inits] + self.flag_inits(s, frame)
        if isinstance(s, ast.For):
            assert iterable is not None
            op = self.for_(s, frame, entry, iterable, values)
        else:
            op = self.while_(s, frame, entry, values)
        return self.finish(s, frame, entry, op)

    def carried(self, s: ast.For | ast.While) -> list[str]:
        """Names assigned in the loop and read at its head or after it, in order of assignment."""
        live = self.flow.head[s] | self.flow.exit[s]
        return [name for name in self.assigned(s) if name in live]

    def assigned(self, s: ast.For | ast.While) -> list[str]:
        first = [s.target] if isinstance(s, ast.For) else [s.test]
        names = dict.fromkeys(name for name, _ in stores_in(own_nodes([*first, *s.body])))
        return [name for name in names if self.is_carried(name)]

    def flag_inits(self, s: ast.stmt, frame: _Frame) -> list[Value]:
        values = [self.constant(s, flag == "go") for flag in frame.flags]
        if frame.returns:
            values.append(self.make(s, "py.unbound", name=RETURN))
        return values

    # ------------------------------------------------------------------------------------------------ bodies

    def for_(self, s: ast.For, frame: _Frame, entry: dict[str, bool], iterable: Value, values: list[Value]) -> Op:
        element = Value(None, s.target.id if isinstance(s.target, ast.Name) else "element")
        params = frame.params()

        def work() -> list[Value]:
            self.enter_trip(frame, entry, params)
            self.store(s.target, element)
            return self.trip(s, frame)

        body = self.branch(work, Block([element, *params]))
        leaves = breaks(s) or frame.returns
        go: list[Value] = []
        if leaves:
            with self.inside(body.block):
                self.at(s)
                go = [self.truth(s, self.goes_on(body, frame))]
        body.block.results = [*go, *body.values]
        op = self.op(s, "py.for", iterable, *values, results=len(params), blocks=[body.block], names=frame.result_names)
        op.attrs["breaks"] = leaves
        return op

    def while_(self, s: ast.While, frame: _Frame, entry: dict[str, bool], values: list[Value]) -> Op:
        params, body_params = frame.params(), frame.params()

        def test() -> list[Value]:
            self.enter_trip(frame, entry, params)
            if "go" not in frame.flags:
                return [self.condition(s.test)]
            go = self.truth(s, params[len(frame.names) + frame.flags.index("go")])
            if endless(s):
                return [go]
            then = self.branch(lambda: [self.condition(s.test)])
            other = self.branch(lambda: [self.constant(s.test, False)])
            return [self.truth(s.test, self.merge(s.test, go, then, other)[0])]

        def work() -> list[Value]:
            self.enter_trip(frame, entry, body_params)
            return self.trip(s, frame)

        cond = self.branch(test, Block(params))
        body = self.branch(work, Block(body_params))
        cond.block.results, body.block.results = list(cond.values), list(body.values)
        blocks = [cond.block, body.block]
        return self.op(s, "py.while", *values, results=len(params), blocks=blocks, names=frame.result_names)

    def enter_trip(self, frame: _Frame, entry: dict[str, bool], params: Sequence[Value]) -> None:
        """The state at the head: carried names are parameters, other assigned names are dead, no flag is set."""
        self.state = State(dict(self.state.names))
        self.state.bury(self.assigned(frame.loop))
        self.state.names.update({n: Binding(p, entry[n]) for n, p in zip(frame.names, params, strict=False)})
        self.state.names.pop(RETURN, None)

    def trip(self, s: ast.For | ast.While, frame: _Frame) -> list[Value]:
        """Lower the body and give the next values of what is carried."""
        outside, self.in_loop = self.in_loop, True
        wanted = ["go"] if breaks(s) and isinstance(s, ast.For) else []
        self.block(s.body, self.flow.head[s] | self.flow.exit[s], {*wanted, *frame.flags})
        self.in_loop = outside
        self.at(s)
        never = self.state.never
        if never is not None:
            return [never] * len(frame.result_names)
        values = [self.raw(name)[0] for name in frame.names]
        values += [self.flag(self.state.flags[flag]) for flag in frame.flags]
        if frame.returns:
            values.append(self.raw(RETURN)[0])
        return values

    def goes_on(self, body: Branch, frame: _Frame) -> Value:
        """Whether a `for` takes the next element."""
        if body.state.never is not None:
            return self.constant(None, False)
        if breaks(frame.loop):
            return self.flag(body.state.flags["go"])
        returned = body.state.flags["returned"]
        if isinstance(returned, bool):
            return self.constant(None, not returned)
        return self.make(None, "py.unary", self.flag(returned), operator="not")

    # ------------------------------------------------------------------------------------------------ after

    def finish(
        self, s: ast.For | ast.While, frame: _Frame, entry: dict[str, bool], op: Op
    ) -> tuple[bool | Value, bool | Value]:
        """Bind the results; whether the loop ended by itself, and whether the function has returned."""
        self.state.bury(self.assigned(s))
        for name, value in zip(frame.names, op.results, strict=False):
            self.state.names[name] = Binding(value, entry[name])
        flags = dict(zip(frame.flags, op.results[len(frame.names) :], strict=False))
        if frame.returns:
            self.state.names[RETURN] = Binding(op.results[-1], True)
        returned: bool | Value = False
        if frame.returns:
            known = flags.get("returned")
            returned = known or self.make(s, "py.unary", flags["go"], operator="not")
        if endless(s):
            return False, returned
        if breaks(s) and s.orelse:
            return flags["go"], returned
        return True, returned  # a loop without `break` that did not return ended by itself


class _Frame:
    """What a loop carries: names, flags, and the return value."""

    def __init__(self, loop: ast.For | ast.While, names: list[str]) -> None:
        self.loop = loop
        self.names = names
        self.returns = returns(loop.body)
        own = breaks(loop)
        if isinstance(loop, ast.While):
            self.flags = (["go"] if own or self.returns else []) + (["returned"] if own and self.returns else [])
        else:
            self.flags = (["go"] if own and loop.orelse else []) + (["returned"] if self.returns else [])
        self.result_names = [*names, *self.flags, *(["value"] if self.returns else [])]

    def params(self) -> list[Value]:
        """Fresh parameters of a block."""
        return [Value(None, name) for name in self.result_names]
