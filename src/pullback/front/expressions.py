"""Expressions to ops, in Python's order of evaluation.

    a < f(x) < b and g or d       f(x) once; b, g, d only where Python evaluates them; the value is an operand's

`condition` lowers an expression of which only the truth matters and yields a `py.truth`.
"""

from __future__ import annotations

import ast
import sys
from abc import abstractmethod
from collections.abc import Sequence
from typing import NoReturn

from pullback.front.context import Context
from pullback.front.refusals import EXPRESSIONS
from pullback.front.trees import Ask, Bound, Comprehension, Known, Maker, Refused, Unchecked
from pullback.ir.node import Value

__all__ = ["OPERATORS", "Expressions"]

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not",
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_LITERALS = (bool, int, float, complex, str)
_CONVERSIONS = {-1: "", ord("s"): "s", ord("r"): "r", ord("a"): "a"}

# Of an f-string: text, or the number of a value with its conversion and its format.
Part = str | tuple[int, str, "str | tuple[Part, ...]"]


def _logical(node: ast.expr) -> bool:
    """Whether only the truth of the operand's own operands matters for its truth."""
    return isinstance(node, ast.BoolOp | ast.IfExp)


class Expressions(Context):
    """The part of the walk that lowers expressions."""

    @abstractmethod
    def assign_name(self, target: ast.Name, value: Value) -> None:
        """Bind a name of this function."""

    @abstractmethod
    def closure(self, node: Maker) -> Value:
        """A function made here."""

    @abstractmethod
    def comprehension(self, node: Comprehension | ast.GeneratorExp) -> Value:
        """A list, set or dict that a comprehension fills in place."""

    @abstractmethod
    def forward(self, node: ast.AST, name: str) -> Value:
        """A function of `self.forwards`, made anew where it is read."""

    def expression(self, node: ast.expr) -> Value:
        """Lower an expression that yields a value."""
        match node:
            case Known():
                return self.known[node]
            case ast.Constant():
                return self.literal(node, node.value)
            case ast.Name():
                return self.read(node)
            case ast.BinOp():
                left = self.expression(node.left)
                right = self.expression(node.right)
                return self.make(node, "py.binary", left, right, operator=OPERATORS[type(node.op)])
            case ast.UnaryOp():
                return self.unary(node)
            case ast.Compare():
                return self.comparison(node)
            case ast.BoolOp():
                return self.logic(node.values, isinstance(node.op, ast.And))
            case ast.IfExp():
                condition = self.condition(node.test)
                then = self.branch(lambda: [self.expression(node.body)])
                other = self.branch(lambda: [self.expression(node.orelse)])
                return self.merge(node, condition, then, other)[0]
            case ast.Attribute():
                return self.make(node, "py.attribute", self.expression(node.value), name=self.private(node))
            case ast.Subscript():
                value = self.expression(node.value)
                index = self.expression(node.slice)
                return self.make(node, "py.subscript", value, index)
            case ast.Slice():
                return self.slice(node)
            case ast.Tuple() | ast.List() | ast.Set():
                return self.sequence(node)
            case ast.Dict():
                return self.dictionary(node)
            case ast.Call():
                return self.call(node)
            case ast.Lambda():
                return self.closure(node)
            case ast.NamedExpr():
                value = self.expression(node.value)
                self.assign_name(node.target, value)
                return value
            case ast.JoinedStr():
                return self.joined(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                return self.comprehension(node)
            case ast.GeneratorExp():
                iterable = self.expression(node.generators[0].iter)
                return self.make(node, "py.call", self.closure(node), iterable, keywords=())
            case Ask():
                operands = [self.expression(operand) for operand in node.operands]
                return self.make(node, node.prim, *operands, **node.attrs)
            case Bound():
                for binding in node.bindings:
                    self.expression(binding)
                return self.constant(node, True)
            case Unchecked():
                return self.raw(node.name.id)[0]
            case Refused():
                self.refuse(node, *node.row)
        self.unsupported(node)

    def unsupported(self, node: ast.AST) -> NoReturn:
        row = EXPRESSIONS.get(type(node).__name__)
        if row is None:
            self.refuse(node, f"{type(node).__name__} expressions are not supported", "cannot be compiled")
        self.refuse(node, *row)

    # ------------------------------------------------------------------------------------------------ simple ones

    def private(self, node: ast.Attribute) -> str:
        """The name of an attribute as the class around means it."""
        return self.unit.found.mangled(node.attr)

    def literal(self, node: ast.AST, value: object) -> Value:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            self.refuse(
                node, f"the integer {value} does not fit 64 bits", "compiled ints have 64 bits",
                "write a float: 1e20 instead of 100000000000000000000",
            )  # fmt: skip
        if value is not None and value is not Ellipsis and not isinstance(value, _LITERALS):
            kind = type(value).__name__
            self.refuse(node, f"{kind} constants are not supported", f"a {kind}", "use a str or a number")
        return self.constant(node, value)

    def read(self, node: ast.Name) -> Value:
        """The value of a name: local, captured, the function itself, or global."""
        name = node.id
        if name in self.scope.locals:
            return self.checked(node, name)
        if name in self.captures:
            return self.checked(node, name, free=True)
        if name == self.self_name:
            return self.make(node, "py.self")
        if name in self.forwards:
            return self.forward(node, name)
        if name == "__debug__":
            return self.constant(node, not sys.flags.optimize)
        return self.make(node, "py.global", name=self.unit.found.mangled(name))

    def unary(self, node: ast.UnaryOp) -> Value:
        """A sign of a number stays a literal: -1.0 is one constant."""
        operand = node.operand
        if isinstance(node.op, ast.Not):
            value = self.condition(operand) if _logical(operand) else self.expression(operand)
            return self.make(node, "py.unary", value, operator="not")
        number = operand.value if isinstance(operand, ast.Constant) else None
        if isinstance(number, int | float) and type(number) is not bool and not isinstance(node.op, ast.Invert):
            return self.literal(node, -number if isinstance(node.op, ast.USub) else number)
        return self.make(node, "py.unary", self.expression(operand), operator=OPERATORS[type(node.op)])

    def slice(self, node: ast.Slice) -> Value:
        parts = (node.lower, node.upper, node.step)
        values = [self.constant(node, None) if p is None else self.expression(p) for p in parts]
        return self.make(node, "py.slice", *values)

    def sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        """A display; with starred items the number of its items depends on theirs."""
        kind = type(node).__name__.lower()
        stars = tuple(isinstance(item, ast.Starred) for item in node.elts)
        items = [self.expression(item.value if isinstance(item, ast.Starred) else item) for item in node.elts]
        if any(stars):
            return self.make(node, "py.sequence_star", *items, kind=kind, stars=stars)
        written = {"display": True} if kind == "tuple" else {}  # inference makes rows of a heap of some
        return self.make(node, f"py.{kind}", *items, **written)

    def dictionary(self, node: ast.Dict) -> Value:
        """A display: of literal strings, of any keys, or with mappings in it."""
        literal = [key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        if len(literal) == len(node.keys):
            return self.make(node, "py.dict", *map(self.expression, node.values), keys=tuple(literal))
        pairs = [(key, value) for key, value in zip(node.keys, node.values, strict=True)]
        operands = [self.expression(part) for pair in pairs for part in pair if part is not None]
        if None not in node.keys:
            return self.make(node, "py.dict_of", *operands)
        kinds = tuple("**" if key is None else "item" for key in node.keys)
        return self.make(node, "py.dict_star", *operands, kinds=kinds)

    def joined(self, node: ast.JoinedStr) -> Value:
        """An f-string; one without values is a constant."""
        values: list[Value] = []
        parts = self.parts(node, values)
        if all(isinstance(part, str) for part in parts):
            return self.constant(node, "".join(map(str, parts)))
        return self.make(node, "py.fstring", *values, parts=parts)

    def parts(self, node: ast.JoinedStr, values: list[Value]) -> tuple[Part, ...]:
        """The parts in order; their values are added to `values`."""
        found: list[Part] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                index = len(values)
                values.append(self.expression(part.value))
                spec: str | tuple[Part, ...] = ""
                if isinstance(part.format_spec, ast.JoinedStr):
                    inner = self.parts(part.format_spec, values)
                    spec = inner if any(not isinstance(p, str) for p in inner) else "".join(map(str, inner))
                found.append((index, _CONVERSIONS[part.conversion], spec))
            elif isinstance(part, ast.Constant):
                found.append(str(part.value))
        return tuple(found)

    def call(self, node: ast.Call) -> Value:
        function = self.expression(node.func)
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return self.make(node, "py.call", function, *self.present_class(), keywords=())
        stars = [a for a in node.args if isinstance(a, ast.Starred)]
        if stars or any(k.arg is None for k in node.keywords):
            return self.starred_call(node, function)
        keywords = tuple(str(k.arg) for k in node.keywords)
        first = node.args[0] if node.args else None
        if isinstance(first, ast.GeneratorExp) and first in self.scope.listed:
            values = [self.comprehension(first), *(self.expression(k.value) for k in node.keywords)]
            return self.make(node, "py.call", function, *values, keywords=keywords, listed=True)
        values = [self.expression(a) for a in node.args] + [self.expression(k.value) for k in node.keywords]
        return self.make(node, "py.call", function, *values, keywords=keywords)

    def starred_call(self, node: ast.Call, function: Value) -> Value:
        """A call with `*` or `**`: the arguments in the order in which Python evaluates them."""
        kinds = ["*" if isinstance(a, ast.Starred) else "positional" for a in node.args]
        kinds += ["**" if k.arg is None else f"={k.arg}" for k in node.keywords]
        values = [self.expression(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        values += [self.expression(k.value) for k in node.keywords]
        return self.make(node, "py.call_star", function, *values, kinds=tuple(kinds))

    def present_class(self) -> list[Value]:
        """What `super()` means in a method: the class around and the first argument."""
        first = next((a.arg for a in self.scope.arguments), None)
        if first is None or "__class__" not in self.captures:
            return []
        return [self.checked(None, "__class__"), self.checked(None, first)]

    # ------------------------------------------------------------------------------------------------ logic

    def logic(self, values: Sequence[ast.expr], both: bool) -> Value:
        """`and` (both) or `or`: the value of the operand that decides."""
        first = self.expression(values[0])
        if len(values) == 1:
            return first
        condition = self.truth(values[0], first)
        go_on = self.branch(lambda: [self.logic(values[1:], both)])
        stop = self.branch(lambda: [first])
        then, other = (go_on, stop) if both else (stop, go_on)
        return self.merge(values[0], condition, then, other)[0]

    def comparison(self, node: ast.Compare) -> Value:
        return self.chain(node, self.expression(node.left), 0)

    def chain(self, node: ast.Compare, left: Value, i: int) -> Value:
        """`a < b < c`: each operand once, the rest only while the comparisons hold."""
        right = self.expression(node.comparators[i])
        value = self.make(node, "py.compare", left, right, operator=OPERATORS[type(node.ops[i])])
        if i + 1 == len(node.ops):
            return value
        condition = self.truth(node, value)
        then = self.branch(lambda: [self.chain(node, right, i + 1)])
        other = self.branch(lambda: [value])
        return self.merge(node, condition, then, other)[0]

    def condition(self, node: ast.expr) -> Value:
        """The truth of an expression, as the condition of an op."""
        match node:
            case ast.BoolOp():
                return self.truth(node, self.short_circuit(node.values, isinstance(node.op, ast.And)))
            case ast.IfExp():
                test = self.condition(node.test)
                then = self.branch(lambda: [self.condition(node.body)])
                other = self.branch(lambda: [self.condition(node.orelse)])
                return self.truth(node, self.merge(node, test, then, other)[0])
            case _:
                return self.truth(node, self.expression(node))

    def short_circuit(self, values: Sequence[ast.expr], both: bool) -> Value:
        if both and isinstance(values[0], Bound) and len(values) > 1:  # true, so the others are evaluated
            self.expression(values[0])
            return self.short_circuit(values[1:], both)
        first = self.condition(values[0])
        if len(values) == 1:
            return first
        go_on = self.branch(lambda: [self.short_circuit(values[1:], both)])
        stop = self.branch(lambda: [self.constant(values[0], not both)])
        then, other = (go_on, stop) if both else (stop, go_on)
        return self.merge(values[0], first, then, other)[0]
