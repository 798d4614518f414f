"""`try`: two blocks and a description of what the second sees of the first.

    try:                             r, ok = py.try{guard, names: (x), kinds: (ValueError)}(x before)
        x = f(a)                         body: ... py.mark{guard, slot: 0}(x) after each assignment; yield ...
    except ValueError as e:      ->      handler (exception, x): if(py.catches(exception, ValueError)) {...}
        x = g(x, e)                                              else {py.reraise(exception)}
    else: ...                        if ok: the statements of `else`

    try: A                           pending = py.try{...}() {A; yield None} {(exception): yield exception}
    finally: B                   ->  B; py.resume(pending); then the jump out of A, if there was one

An exception may be raised anywhere in the body, so what the handler sees of a name that the body assigns is not one
value: `py.mark` says from where on it has which.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any

from pullback.front.flow import Facts, Known, jumps
from pullback.front.generators import OWN
from pullback.front.scope import own_nodes, stores_in
from pullback.front.state import FLAGS, RETURN, Binding, Guard
from pullback.front.targets import Targets
from pullback.ir.node import Block, Value

__all__ = ["Exceptions"]


Values = Sequence[Value]


class Exceptions(Targets):
    """The part of the walk that lowers `try`; a context manager is a `try` that its maker writes out."""

    @abstractmethod
    def block(self, body: Sequence[ast.stmt], end: Facts, wanted: Collection[str]) -> None:
        """Lower a list of statements."""

    def try_statement(self, s: ast.Try, end: Facts, wanted: Collection[str]) -> list[ast.stmt]:
        """Lower a `try`; what of it is still to be lowered goes before the statements that follow it."""
        if s.finalbody:
            self.try_finally(s, end, wanted)
            return []
        return self.try_except(s, end, wanted)

    def try_except(self, s: ast.Try, end: Facts, wanted: Collection[str]) -> list[ast.stmt]:
        """Handlers; `else` is left to do where the body came to its end."""
        inside = self.flow.head[s] | self.flow.exit[s] | end
        otherwise = self.flow.between[s] if s.orelse else None
        outcome = [True, False] if s.orelse else []

        def body() -> Values:
            self.block(s.body, inside | (otherwise or frozenset()), wanted)
            return [self.constant(s, flag) for flag in outcome[:1]]

        def handle(exception: Value) -> Values:
            self.handlers(s, exception, 0, end | self.flow.exit[s], wanted)
            return [self.constant(s, flag) for flag in outcome[1:]]

        found = self.protect(s, body, handle, inside, wanted, otherwise)
        if not s.orelse:
            return []
        if self.state.never is not None or self.state.flags["done"] is True:
            return []
        test = ast.copy_location(Known(), s)
        self.known[test] = found[0]
        pending = ast.copy_location(ast.If(test=test, body=s.orelse, orelse=[]), s)
        self.flow.after[pending] = self.flow.after[s]
        return [pending]

    def try_finally(self, s: ast.Try, end: Facts, wanted: Collection[str]) -> None:
        """The statements of `finally` once, whatever the body did; then what it did goes on."""
        inside = self.flow.head[s] | end
        flags = {*wanted, *FLAGS} if jumps(s.body) else wanted

        def body() -> Values:
            self.block(s.body, inside, flags)
            return [self.constant(s, None)]

        own = OWN if self.scope.generator else None
        pending = self.protect(s, body, lambda exception: [exception], inside, flags, own)[0]
        saved, value = dict(self.state.flags), self.state.names.get(RETURN)
        self.state.flags = {"done": False, "go": True, "returned": False}
        leaves = jumps(s.finalbody)
        self.block(s.finalbody, self.flow.exit[s] | end, {*wanted, "done"} if leaves else wanted)
        done = self.state.flags["done"]
        if done is True:
            return

        def resume() -> None:
            self.state.flags = dict(saved)
            if value is not None:
                self.state.names[RETURN] = value
            self.op(s, "py.resume", pending, results=0)

        if done is False:
            return resume()
        condition = self.truth(s, self.flag(done))
        left = self.branch(lambda: None)
        on = self.branch(resume)
        self.merge(s, condition, left, on, self.flow.exit[s] | end, wanted)
        return None

    # ------------------------------------------------------------------------------------------------ both kinds

    def protect(
        self,
        s: ast.Try,
        body: Callable[[], Values],
        handle: Callable[[Value], Values],
        live: Facts,
        wanted: Collection[str],
        otherwise: Facts | None = None,
    ) -> list[Value]:
        """The op of both blocks; the values that they yield, merged.  `otherwise`: what `else` reads after the body."""
        names = self.changed(s)
        self.guard_count += 1
        guard = Guard(self.guard_count, names)
        inits = [self.raw(name) for name in names]
        exception = Value(None, "exception")
        params = [Value(None, name) for name in names]

        def guarded() -> Values:
            self.guards.append(guard)
            try:
                return body()
            finally:
                self.guards.pop()

        def handler() -> Values:
            self.state.bury(name for name, _ in stores_in(own_nodes(s.body)) if self.is_carried(name))
            for name, param, (_, maybe) in zip(names, params, inits, strict=True):
                self.state.names[name] = Binding(param, maybe or deleted)
            return handle(exception)

        deleted = any(isinstance(node, ast.Delete) for node in own_nodes(s.body))
        sides = self.branch(guarded), self.branch(handler, Block([exception, *params]))
        attrs: dict[str, Any] = {"guard": guard.key, "names": names, "kinds": self.kinds(s)}
        return self.merge(s, [value for value, _ in inits], *sides, live, wanted, "py.try", otherwise, **attrs)

    def changed(self, s: ast.Try) -> tuple[str, ...]:
        """Names that the body assigns and the other part may read."""
        live = self.flow.head[s]
        names = dict.fromkeys(name for name, _ in stores_in(own_nodes(s.body)))
        kept = OWN if s.finalbody else frozenset()  # what a generator has at its end does not matter after an exception
        return tuple(name for name in names if name in live and self.is_carried(name) and name not in kept)

    def kinds(self, s: ast.Try) -> tuple[str, ...] | None:
        """The names of the classes that the handlers take; None: not all are names."""
        found: list[str] = []
        for handler in s.handlers:
            types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            for type_ in types:
                if type_ is None:
                    found.append("BaseException")
                elif isinstance(type_, ast.Name) and type_.id not in self.scope.locals | self.captures:
                    found.append(type_.id)
                else:
                    return None
        return tuple(found)

    # ------------------------------------------------------------------------------------------------ handlers

    def handlers(self, s: ast.Try, exception: Value, number: int, end: Facts, wanted: Collection[str]) -> None:
        """The first handler from `number` on that takes the exception; it goes on if there is none."""
        if number == len(s.handlers):
            self.state.never = self.make(s, "py.reraise", exception)
            self.state.flags["done"] = True
            return
        handler = s.handlers[number]
        if handler.type is None:
            return self.handler(handler, exception, end, wanted)
        kind = self.expression(handler.type)
        condition = self.truth(handler.type, self.make(handler.type, "py.catches", exception, kind))
        then = self.branch(lambda: self.handler(handler, exception, end, wanted))
        other = self.branch(lambda: self.handlers(s, exception, number + 1, end, wanted))
        self.merge(s, condition, then, other, end, wanted)

    def handler(self, handler: ast.ExceptHandler, exception: Value, end: Facts, wanted: Collection[str]) -> None:
        """The statements of one handler; its name is unset after them."""
        around, self.handling = self.handling, exception
        if handler.name is not None:
            self.assign_name(ast.copy_location(ast.Name(id=handler.name, ctx=ast.Store()), handler), exception)
        self.block(handler.body, end, wanted)
        if handler.name is not None and self.state.never is None:
            self.unset(handler, handler.name)
        self.handling = around

    def unset(self, node: ast.AST, name: str) -> None:
        """`del name`, where it may be unset already."""
        if self.scope.declared.get(name) == "global":
            self.set_global(name, self.make(node, "py.unbound", name=name))
            return
        if name in self.cells:
            self.bind(name, self.make(node, "py.unbound", name=name))
            return
        self.state.names.pop(name, None)
        self.mark(name, self.make(node, "py.unbound", name=name))
