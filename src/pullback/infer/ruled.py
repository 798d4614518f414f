"""Functions with a derivative rule of their own: the rule's functions, specialised beside each version of the function.

    f(float) with jvp(primals, tangents)      f_1{rule: f_1_jvp}(x):  y = call f_1_plain(x)
                                              f_1_jvp(x, dx):         (y, dy) = call jvp_1(x, dx)

Where a derivative is asked for anywhere, this runs once the rest is inferred, since rules call the functions they are
for.  What the rules return is brought into the types of the function here, so that differentiation only moves values.
See `ir.rule` for the parameters of these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call
from pullback.infer.derivatives import like_primal
from pullback.infer.engine import Code, Frame, Session, Specialization
from pullback.infer.fitted import by_value, differentiable, fitted, gradients, own, tangent_machine
from pullback.infer.names import object_value
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV, items_of, zero
from pullback.ir.node import Block, Function, Value
from pullback.ir.rule import RULE, Rule
from pullback.prims.base import get
from pullback.prims.stated import Stated
from pullback.types import ArrayRef, Closure, List, Machine, Never, Tuple, Type, is_float, show, slots

__all__ = ["complete"]

_REQUESTS = frozenset({"value_and_grad", "jvp", "vjp", "pullback"})
_STRUCTURE = "rules are for numbers, arrays, and tuples, dicts and short lists of them"
_BY_POSITION = ("positional_only", "positional")


def complete(session: Session) -> dict[str, tuple[Type, ...]]:
    """Make the functions with rules of a session whose entry has been inferred, and what their rules need.

    The names of these functions, and of those of their rules, each with the types of the function's arguments.
    """
    known: dict[Specialization, Rule | None] = {}
    looked_at, asked = 0, False
    while looked_at < len(session.order):
        new = session.order[looked_at:]
        looked_at = len(session.order)
        asked = asked or any(op.name in _REQUESTS for spec in new for op in _body(spec).walk())
        waiting = [s for s in session.order if s not in known and s.code.stated is not None and s.result != Never()]
        for spec in waiting if asked else ():
            known[spec] = _Maker(session, spec).rule()
    for spec in session.order:
        if spec.code.stated is not None and spec.result != Never():
            known.setdefault(spec, None)  # nothing is differentiated
    found: dict[str, tuple[Type, ...]] = {}
    for spec, rule in known.items():
        spec.function = _wrapped(session, spec, rule)
        found |= dict.fromkeys([spec.name, *(() if rule is None else rule.names)], spec.parameters)
    return found


def _outside(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    raise cx.error("custom_jvp() and custom_vjp() cannot be called in compiled code",
                   "a derivative rule is stated where the function is defined",
                   "decorate the function outside of functions that are compiled, and call it here")  # fmt: skip


def _body(spec: Specialization) -> Block:
    return Block() if spec.function is None else spec.function.body


def _wrapped(session: Session, spec: Specialization, rule: Rule | None) -> Function:
    """The function that has the rule: it calls the one that was inferred, and returns arrays of its own."""
    plain = spec.function
    assert plain is not None
    name = spec.name
    plain.name = session.unique(f"{name}_plain")
    session.ruled[plain.name] = plain
    cx = _frame(session, spec, Block([Value(v.type, v.name) for v in plain.body.params]))
    params = cx.e.block.params
    types = [v.type for v in plain.body.results if v.type is not None]
    results = cx.e.append(get("call"), params, attrs={"callee": plain.name}, types=types).results
    attrs: dict[str, object] = {"python_name": spec.code.name} | ({} if rule is None else {RULE: rule})
    return _function(cx, name, params, own(cx, results, params), attrs)


def _frame(session: Session, spec: Specialization, block: Block) -> Frame:
    span = spec.seen_at or spec.code.untyped.span
    cx = session.frame(session, Code(Function("rule", Block(), span), spec.code.globals), spec.seen_at)
    cx.e.block, cx.e.span = block, span
    return cx


def _function(
    cx: Frame, name: str, params: Sequence[Value], results: Sequence[Value], attrs: dict[str, object]
) -> Function:
    body = Block(params, [*cx.tables.values(), *cx.e.block.ops], results)
    return Function(name, body, cx.e.span, attrs)


class _Maker:
    """The rule of one specialization."""

    def __init__(self, session: Session, spec: Specialization) -> None:
        self.session, self.spec, self.name = session, spec, spec.code.name
        stated = spec.code.stated
        assert stated is not None
        self.stated: Stated = stated
        self.cx = _frame(session, spec, Block())
        parameters = spec.code.untyped.attrs["parameters"]
        assert isinstance(parameters, tuple)
        self.parameters: list[str] = [name for name, _, _ in parameters]
        self._refuse([kind for _, kind, _ in parameters])

    def _refuse(self, kinds: Sequence[str]) -> None:
        stated, cx, name = self.stated, self.cx, self.name
        if not stated.functions:
            help = f"call {name}.defjvp(rule), or {name}.defvjp(forward, backward)"
            raise cx.error(f"{name}() is to have a derivative rule, but none is stated", "this is differentiated", help)
        if any(kind not in _BY_POSITION for kind in kinds):
            raise cx.error(f"{name}() has a derivative rule, and takes arguments that are not positional",
                           "a rule is given the arguments in turn", "write plain parameters: no *, no **")  # fmt: skip
        outside = [place for place in stated.nondiff if not 0 <= place < len(kinds)]
        if outside:
            raise cx.error(f"nondiff_argnums: {name}() has no argument number {outside[0]}",
                           f"it takes {len(kinds)}, from number 0")  # fmt: skip
        for place, (parameter, type_) in enumerate(zip(self.parameters, self.spec.parameters, strict=True)):
            if place not in stated.nondiff and not differentiable(type_):
                help = f"pass the numbers and arrays in it, or name it in nondiff_argnums=({place},)"
                raise cx.error(f"{name}() has a derivative rule, and its argument '{parameter}' is {show(type_)}",
                               _STRUCTURE, help)  # fmt: skip
        if not differentiable(self.spec.result):
            raise cx.error(f"{name}() has a derivative rule, and returns {show(self.spec.result)}",
                           _STRUCTURE, "return the numbers and arrays in it")  # fmt: skip

    # ------------------------------------------------------------------------------------------------- one by one

    def rule(self) -> Rule:
        """The rule, once its functions are made."""
        machine = [m for t in self.spec.parameters for m in slots(t)]
        stated = self.stated
        jvp = None if stated.jvp is None else self.jvp(stated.jvp)
        forward = backward = None
        if stated.forward is not None and stated.backward is not None:
            forward, backward = self.both(stated.forward, stated.backward)
        outputs = tuple(i for i, m in enumerate(slots(self.spec.result)) if is_float(m))
        return Rule(self.name, len(machine), self.inputs(), outputs, jvp, forward, backward)

    def inputs(self) -> tuple[int, ...]:
        """The positions of float slots of arguments that have a derivative."""
        places: list[int] = []
        start = 0
        for number, type_ in enumerate(self.spec.parameters):
            if number not in self.stated.nondiff:
                places += [start + i for i, m in enumerate(slots(type_)) if is_float(m)]
            start += len(slots(type_))
        return tuple(places)

    def arguments(self, cx: Frame) -> list[AV]:
        """New parameters of the function's types."""
        pairs = zip(self.spec.parameters, self.parameters, strict=True)
        found = [cx.fresh(type_, name) for type_, name in pairs]
        cx.e.block.params += [v for av in found for v in av.values]
        return found

    def split(self, items: Iterable[AV]) -> tuple[list[AV], list[AV]]:
        """Arguments without a derivative, in the order in which they are named, and those with one."""
        every = list(items)
        return [every[i] for i in self.stated.nondiff], [a for i, a in enumerate(every) if i not in self.stated.nondiff]

    def begin(self) -> Frame:
        return _frame(self.session, self.spec, Block())

    def end(self, cx: Frame, suffix: str, results: Sequence[Value]) -> str:
        """Close a function of the rule; its name."""
        name = self.session.unique(f"{self.spec.name}_{suffix}")
        params = list(cx.e.block.params)
        self.session.ruled[name] = _function(cx, name, params, results, {"python_name": f"{self.name}.{suffix}"})
        return name

    def call(self, cx: Frame, rule: Callable[..., Any], what: str, arguments: Sequence[AV]) -> AV:
        """A function of the rule, called; errors from here on point at it."""
        function = object_value(cx, rule, "constant", rule, None, what)
        result = call(cx, function, arguments, {})
        code = function.type.code if isinstance(function.type, Closure) else None
        if isinstance(code, Code) and self.spec.seen_at is None:
            cx.e.span = code.untyped.span
        return result

    def pair(self, cx: Frame, given: AV, what: str, second: str) -> tuple[AV, AV]:
        """The two items that a rule must return."""
        if isinstance(given.type, Tuple | List) and len(given.type.items) == 2:
            one, two = items_of(given)
            return one, two
        raise cx.type_error(f"the {what} rule of {self.name}() returns {show(given.type)}",
                            f"it must return a pair: what {self.name}() returns, and {second}")  # fmt: skip

    def raising(self, cx: Frame, suffix: str, machine: Iterable[Machine]) -> str:
        """Close a function that only raises."""
        return self.end(cx, suffix, [zero(cx.e, m) for m in machine])

    def jvp(self, rule: Callable[..., Any]) -> str:
        cx = self.begin()
        arguments = self.arguments(cx)
        nondiff, primals = self.split(arguments)
        tangents = [_like(cx, av, "d") for av in primals]
        cx.e.block.params += [v for _, floats in tangents for v in floats]
        given = self.call(cx, rule, "jvp", [*nondiff, pack_tuple(primals), pack_tuple([av for av, _ in tangents])])
        machine = [tangent_machine(m) for m in slots(self.spec.result) if is_float(m)]
        if cx.dead:
            return self.raising(cx, "jvp", [*slots(self.spec.result), *machine])
        out, tangent = self.pair(cx, given, "jvp", "its tangent")
        title = f"the jvp rule of {self.name}() returns"
        value = fitted(cx, title, out, self.spec.result)
        sizes = _sizes(cx, value.values)
        floats = gradients(cx, title, [("", self.spec.result)], [tangent], sizes)
        return self.end(cx, "jvp", own(cx, [*value.values, *floats], cx.e.block.params))

    def both(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> tuple[str, str]:
        cx = self.begin()
        arguments = self.arguments(cx)
        given = self.call(cx, forward, "forward", arguments)
        if cx.dead:
            return self.raising(cx, "forward", slots(self.spec.result)), self._unreached()
        out, kept_av = self.pair(cx, given, "forward", "what the backward rule needs")
        if not by_value(kept_av.type):
            raise cx.error(f"the forward rule of {self.name}() keeps {show(kept_av.type)}",
                           "it can keep numbers, arrays, and tuples, dicts and short lists of them",
                           "keep the numbers and arrays in it")  # fmt: skip
        value = fitted(cx, f"the forward rule of {self.name}() returns", out, self.spec.result)
        nondiff, primals = self.split(arguments)
        extra = [*(v for av in nondiff for v in av.values), *_sizes(cx, [v for av in primals for v in av.values])]
        extra += [v for v in value.values if v.type is not None and not is_float(v.type)]
        results = own(cx, value.values, cx.e.block.params)
        name = self.end(cx, "forward", [*results, *kept_av.values, *extra])
        return name, self._backward(backward, arguments, kept_av.type, extra)

    def _backward(self, rule: Callable[..., Any], arguments: Sequence[AV], kept: Type, extra: Sequence[Value]) -> str:
        """backward(residuals, nondiff arguments, sizes of the others, what of the result is no float; cotangents)."""
        cx = self.begin()
        residuals = cx.fresh(kept, "kept")
        more = [Value(v.type, v.name) for v in extra]
        cx.e.block.params += [*residuals.values, *more]
        left = iter(more)
        nondiff, primals = self.split(arguments)
        given = [AV(av.type, tuple(next(left) for _ in av.values)) for av in nondiff]
        sizes = [next(left) for _ in range(_ranks(v for av in primals for v in av.values))]
        machine = slots(self.spec.result)
        floats = [Value(tangent_machine(m), "c") for m in machine if is_float(m)]
        cx.e.block.params += floats
        cotangent = self._cotangent(cx, machine, iter(floats), left)
        answer = self.call(cx, rule, "backward", [*given, residuals, cotangent])
        names, types = self._differentiated()
        if cx.dead:
            return self.raising(cx, "backward", _floats(types))
        if not isinstance(answer.type, Tuple | List) or len(answer.type.items) != len(types):
            one = len(types) == 1
            raise cx.type_error(
                f"the backward rule of {self.name}() returns {show(answer.type)}",
                f"it must return a tuple of {len(types)} cotangent{'' if one else 's'}, one for each of its arguments",
                f"write return ({', '.join(f'c_{name}' for name in names)}{',' if one else ''})",
            )
        title = f"the backward rule of {self.name}() returns"
        pairs = list(zip(names, types, strict=True))
        results = gradients(cx, title, pairs, items_of(answer), sizes)
        return self.end(cx, "backward", own(cx, results, cx.e.block.params))

    def _unreached(self) -> str:
        """The backward function where the forward one only raises."""
        cx = self.begin()
        cx.e.block.params += [Value(m, "c") for m in _floats([self.spec.result])]
        return self.raising(cx, "backward", _floats(self._differentiated()[1]))

    def _differentiated(self) -> tuple[list[str], list[Type]]:
        places = [i for i in range(len(self.parameters)) if i not in self.stated.nondiff]
        return [self.parameters[i] for i in places], [self.spec.parameters[i] for i in places]

    def _cotangent(self, cx: Frame, machine: Sequence[Machine], floats: Iterator[Value], rest: Iterator[Value]) -> AV:
        """The cotangent of a result: its floats, and zeros for what is none."""
        values: list[Value] = []
        given: list[Value | None] = []
        for m in machine:
            given.append(next(floats) if is_float(m) else None)
            values.append(given[-1] or next(rest, None) or zero(cx.e, m))
        typed = [v if v.type == m else cx.e("view_relax", v) for v, m in zip(values, machine, strict=True)]
        return like_primal(cx, AV(self.spec.result, tuple(typed)), given)


def _floats(types: Iterable[Type]) -> list[Machine]:
    """The machine types of tangents of values of these types."""
    return [tangent_machine(m) for t in types for m in slots(t) if is_float(m)]


def _like(cx: Frame, primal: AV, prefix: str) -> tuple[AV, list[Value]]:
    """A tangent of the structure of a value, and its floats, which are new."""
    given = [
        Value(tangent_machine(v.type), f"{prefix}{v.name}") if v.type is not None and is_float(v.type) else None
        for v in primal.values
    ]
    return like_primal(cx, primal, given), [v for v in given if v is not None]


def _sizes(cx: Frame, values: Iterable[Value]) -> list[Value]:
    """The sizes of the float arrays among values, axis by axis."""
    return [
        cx.e("array_size", v, axis=axis)
        for v in values if isinstance(v.type, ArrayRef) and v.type.dtype.is_float
        for axis in range(v.type.rank)
    ]  # fmt: skip


def _ranks(values: Iterable[Value]) -> int:
    return sum(v.type.rank for v in values if isinstance(v.type, ArrayRef) and v.type.dtype.is_float)


HANDLERS["pullback.custom_jvp"] = HANDLERS["pullback.custom_vjp"] = _outside
